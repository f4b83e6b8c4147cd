"""Parts that all forms of the report share: counts, families, claims, causes, citations."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.errors import UsageError
from busproof.history.conformance import (
    Conformance,
    ExitCode,
    Explored,
    KnownFailure,
    RuleVerdict,
    Subject,
    Unjudged,
    Verdict,
)
from busproof.history.records import ScenarioVerdict
from busproof.history.render.phrases import seconds
from busproof.spec import Catalogue, Rule

__all__ = [
    "Claim",
    "FamilyVerdicts",
    "applicable",
    "citations",
    "clock_words",
    "conclusion",
    "explored_words",
    "families",
    "find_rule",
    "group_by_cause",
    "headline",
    "id_words",
    "known_words",
    "links",
    "profile_words",
    "provenance",
    "reading_words",
    "scenario_words",
    "tallies",
    "terms_words",
    "unshown_claims",
    "violations",
]

_NO_CAUSE: Final = "no cause given"

_CONCLUSIONS: Final = {
    ExitCode.OK: "every applicable rule was shown",
    ExitCode.VIOLATION: "a rule was violated",
    ExitCode.USAGE: "the run was not asked for rightly",
    ExitCode.INCOMPLETE: "the run is incomplete, inconclusive or errored",
    ExitCode.STALE: "the list of known failures is out of date",
}


@attrs.frozen(kw_only=True)
class FamilyVerdicts:
    """The verdicts on the rules of one family."""

    id: str
    title: str
    rules: tuple[RuleVerdict, ...]

    @property
    def summary(self) -> str:
        """Return a summary such as `20 of 22 shown`."""
        count = applicable(self.rules)
        return (
            f"{_count_shown(self.rules)} of {count} shown"
            if count
            else Verdict.NOT_APPLICABLE.value
        )


@attrs.frozen(kw_only=True)
class Claim:
    """A declared capability, and the rules about it that were not shown."""

    capability: str
    rules: tuple[RuleVerdict, ...]

    @property
    def words(self) -> str:
        """Return text such as `KEY-08 violated; TXN-01 to TXN-05 not shown`."""
        verdicts = dict.fromkeys(rule.verdict for rule in self.rules)
        return "; ".join(
            f"{id_words(rule.id for rule in self.rules if rule.verdict is verdict)} {verdict.value}"
            for verdict in verdicts
        )


def explored_words(explored: Explored) -> str:
    """Return text such as `80 sequences, 4476 events, 400 metamorphic variants, seed 17`."""
    words = f"{explored.sequences} sequences, {explored.events} events"
    if explored.metamorphic:
        words += f", {explored.metamorphic} metamorphic variants"
    return words if explored.seed is None else f"{words}, seed {explored.seed}"


def applicable(rules: Iterable[RuleVerdict]) -> int:
    """Return the number of rules that have another verdict than `not applicable`."""
    return sum(rule.verdict is not Verdict.NOT_APPLICABLE for rule in rules)


def headline(rules: tuple[RuleVerdict, ...]) -> str:
    """Return text such as `41 of 52 applicable rules shown`."""
    count = applicable(rules)
    return f"{_count_shown(rules)} of {count} applicable {'rule' if count == 1 else 'rules'} shown"


def tallies(conformance: Conformance) -> dict[Verdict, int]:
    """Return the number of rules with each verdict except `shown`, worst first.

    Known failures are counted if the run had a list of them.
    """
    order = (
        Verdict.VIOLATED,
        *((Verdict.KNOWN_FAILURE,) if conformance.known_failures else ()),
        Verdict.NOT_SHOWN,
        Verdict.INCONCLUSIVE,
        Verdict.ERRORED,
        Verdict.NOT_APPLICABLE,
    )
    return {verdict: conformance.counted(verdict) for verdict in order}


def conclusion(conformance: Conformance) -> str:
    """Return the result of the run as a sentence, with its meaning."""
    code = conformance.exit_code
    known = conformance.counted(Verdict.KNOWN_FAILURE)
    but = ""
    if known and code is ExitCode.OK:
        but = f", except {known} known {'failure' if known == 1 else 'failures'}"
    of_some = "every rule that was asked for and applies was shown"
    words = of_some if conformance.only and code is ExitCode.OK else _CONCLUSIONS[code]
    return f"Exit code {code.value}: {words}{but}."


def provenance(conformance: Conformance) -> dict[str, str]:
    """Return the time and origin of a run; unknown values are left out."""
    subject = conformance.subject
    took = "" if conformance.seconds is None else f", {conformance.seconds} s"
    facts = {
        "limited to": ", ".join(conformance.only),
        "commit": subject.commit,
        "url": subject.url,
        "contact": subject.contact,
        "run at": f"{conformance.at}{took}" if conformance.at else "",
        "again": conformance.again,
    }
    return {name: text for name, text in facts.items() if text}


def known_words(known: KnownFailure) -> str:
    """Return why a rule is a known failure, and until when."""
    until = f"until {known.expires}" if known.expires else ""
    return ", ".join(part for part in (known.reason, known.link, until) if part)


def unjudged_amount(unjudged: Unjudged) -> str:
    """Return how many events, entities and rules were not judged for one reason."""
    counts = [
        (unjudged.events, "event", "events"),
        (unjudged.entities, "entity", "entities"),
        (unjudged.rules, "rule", "rules"),
    ]
    return ", ".join(
        f"{count} {one if count == 1 else many}" for count, one, many in counts if count
    )


def unjudged_words(unjudged: Unjudged) -> str:
    """Return why events were not judged, of which entities, and what would make them judged."""
    others = unjudged.entities - len(unjudged.names)
    more = f" and {others} others" if others > 0 else ""
    named = f" ({', '.join(unjudged.names)}{more})" if unjudged.names else ""
    return f"{unjudged.reason}{named}; to judge it: {unjudged.remedy}"


def families(conformance: Conformance, catalogue: Catalogue) -> Iterator[FamilyVerdicts]:
    """Yield the verdicts by family, in the catalogue's order, unknown families last."""
    members: dict[str, list[RuleVerdict]] = defaultdict(list)
    for rule in conformance.rules:
        members[rule.id.partition("-")[0]].append(rule)
    titles = {family.id: family.title for family in catalogue.families}
    for family in (*titles, *sorted(members.keys() - titles.keys())):
        if family in members:
            title = titles.get(family, "rules that this catalogue does not have")
            yield FamilyVerdicts(id=family, title=title, rules=tuple(members[family]))


def violations(conformance: Conformance) -> tuple[RuleVerdict, ...]:
    """Return the verdicts on the rules that were violated."""
    return tuple(rule for rule in conformance.rules if rule.verdict is Verdict.VIOLATED)


def unshown_claims(conformance: Conformance, catalogue: Catalogue) -> tuple[Claim, ...]:
    """Return the declared capabilities that have an applicable rule that was not shown."""
    claims = []
    for capability in conformance.subject.capabilities:
        rules = tuple(
            verdict
            for verdict in conformance.rules
            if verdict.verdict not in (Verdict.SHOWN, Verdict.NOT_APPLICABLE)
            and capability in _needs(find_rule(catalogue, verdict.id))
        )
        if rules:
            claims.append(Claim(capability=capability, rules=rules))
    return tuple(claims)


def group_by_cause(rules: Iterable[RuleVerdict]) -> dict[str, tuple[v.RuleId, ...]]:
    """Return the ids of rules by the cause of their verdict."""
    causes: dict[str, tuple[v.RuleId, ...]] = {}
    for rule in rules:
        cause = rule.cause or _NO_CAUSE
        causes[cause] = (*causes.get(cause, ()), rule.id)
    return causes


def find_rule(catalogue: Catalogue, rule: v.RuleId) -> Rule | None:
    """Return the rule with this id; `None` if the catalogue does not have it."""
    try:
        return catalogue.rule(rule)
    except UsageError:
        return None


def citations(catalogue: Catalogue, rule: Rule, edition: str) -> dict[tuple[str, ...], str]:
    """Return where a rule is stated: editions and other sources, by their sections or titles.

    The edition of the run comes first.
    """
    titles = {source.id: source.title for source in catalogue.sources}
    places: dict[str, str] = {}
    for citation in sorted(rule.citations, key=lambda citation: citation.source != edition):
        place = citation.anchor or titles.get(citation.source, citation.source)
        known = places.get(citation.source)
        places[citation.source] = f"{known}, {place}" if known else place
    return {
        tuple(source for source, other in places.items() if other == place): place
        for place in dict.fromkeys(places.values())
    }


def links(catalogue: Catalogue, rule: v.RuleId, edition: str) -> dict[str, str]:
    """Return the addresses of a rule's statements, in this edition and outside the editions.

    The keys are names for people. A statement in another language also has the address of an
    English text.
    """
    known = find_rule(catalogue, rule)
    cited = () if known is None else known.citations
    others = {other.id for other in catalogue.editions} - {edition}
    addresses: dict[str, str | None] = {}
    for citation in cited:
        if citation.source not in others:
            name = f"{citation.source} {citation.anchor or ''}".strip()
            addresses[name] = catalogue.link(citation)
            if catalogue.english(citation) != addresses[name]:
                addresses[f"{name}, in English"] = catalogue.english(citation)
    return {name: address for name, address in addresses.items() if address is not None}


def id_words(rules: Iterable[v.RuleId]) -> str:
    """Return the ids in words; three or more in a row become `KEY-04 to KEY-09`."""
    runs: list[list[v.RuleId]] = []
    for rule in rules:
        if runs and _follows(rule, runs[-1][-1]):
            runs[-1].append(rule)
        else:
            runs.append([rule])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)


def profile_words(subject: Subject) -> str:
    """Return the profile of the implementation in words."""
    whole = "namespace of " if subject.namespace_partitions > 1 else ""
    units = f", {subject.messaging_units} messaging units" if subject.messaging_units > 1 else ""
    return (
        f"edition {subject.edition}, tier {subject.tier}, {whole}{subject.partitions} partitions"
        f"{units}"
    )


def terms_words(conformance: Conformance, catalogue: Catalogue) -> str:
    """Return the terms that two runs must share for their verdicts to be comparable."""
    subject = conformance.subject
    oracle, clock = f"{conformance.oracle} oracle", clock_words(subject)
    readings = f"readings: {reading_words(subject, catalogue)}"
    return "; ".join((profile_words(subject), oracle, clock, readings))


def reading_words(subject: Subject, catalogue: Catalogue) -> str:
    """Return the readings that are not the catalogue's defaults."""
    defaults = {ambiguity.id: ambiguity.default for ambiguity in catalogue.ambiguities}
    others = {
        name: reading for name, reading in subject.readings.items() if defaults.get(name) != reading
    }
    words = ", ".join(f"{name}={reading}" for name, reading in others.items())
    return words or "the default of every ambiguity"


def scenario_words(conformance: Conformance) -> str:
    """Return how the scenarios ended, such as `60 passed, 2 failed`."""
    # A report that was read from a file may have any order.
    names = dict.fromkeys((*map(str, ScenarioVerdict), *sorted(conformance.scenarios)))
    counts = [
        f"{conformance.scenarios[name]} {name}" for name in names if conformance.scenarios.get(name)
    ]
    return ", ".join(counts) or "none"


def clock_words(subject: Subject) -> str:
    """Return the clock in words, such as `real clock, slack 2 s`."""
    slack = f", slack {seconds(subject.slack)}" if subject.slack else ""
    return f"{subject.clock} clock{slack}"


def _count_shown(rules: Iterable[RuleVerdict]) -> int:
    return sum(rule.verdict is Verdict.SHOWN for rule in rules)


def _needs(rule: Rule | None) -> frozenset[str]:
    needs = () if rule is None else rule.needs
    return frozenset(capability for need in needs for capability in need.split("|"))


def _follows(rule: v.RuleId, before: v.RuleId) -> bool:
    family, _, number = rule.partition("-")
    last_family, _, last = before.partition("-")
    plain = number.isdecimal() and last.isdecimal()
    return family == last_family and plain and int(number) == int(last) + 1
