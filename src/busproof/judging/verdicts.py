"""Verdicts on all rules from a recorded history."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.history.conformance import (
    Conformance,
    ExitCode,
    Explored,
    RuleVerdict,
    Subject,
    Unjudged,
    Verdict,
    is_asked_for,
)
from busproof.history.records import Header, History, Oracle, Scenario
from busproof.judging.applicability import Terms
from busproof.judging.begun.reasons import Reason
from busproof.judging.coverage_goals import counted, missed
from busproof.judging.scenario_result import Checker
from busproof.judging.summary import EXHAUSTED, UNBLAMED, OfRule, Remark, Summary, in_order
from busproof.spec import Catalogue, Rule

__all__ = ["Hearing", "conformance", "exit_code", "verdicts"]

NEVER_AROSE = "the situation never arose"
PROMOTED = (
    "it would be violated, but a forced change of region may have lost or doubled messages "
    "(REGION-CHANGE)"
)
NEVER_JUDGED = f"{NEVER_AROSE} in what was judged of a history that begins in the middle"

NAMED: Final = 5
"""Maximum number of entities that are named beside a reason."""


class Hearing:
    """Judgement of scenarios as they come, and the verdicts on them.

    Args:
        header: the header of the recording.
        catalogue: the catalogue of rules.
        oracle: the oracle; by default the one in the header, or the one that the capabilities
            allow.
        cores: how many processes may judge one long history.

    Raises:
        UsageError: the header names an edition, ambiguity or reading that does not exist.
    """

    def __init__(
        self,
        header: Header,
        catalogue: Catalogue,
        oracle: Oracle | None = None,
        *,
        cores: int = 1,
    ) -> None:
        self._header = header
        self._checker = Checker(header, catalogue, oracle, cores=cores)
        self._scenarios: list[Scenario] = []
        self._summary = Summary()

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """The scenarios so far, in order."""
        return tuple(self._scenarios)

    def hear(self, scenario: Scenario) -> None:
        """Judge the next scenario."""
        self._summary.add(len(self._scenarios), self._checker.check(scenario))
        self._scenarios.append(scenario)

    def conformance(self, *, cut: bool = False) -> Conformance:
        """Return a verdict on every rule that can be shown, from the scenarios so far.

        Args:
            cut: whether the last line of the history was incomplete and left out.
        """
        self._summary.cut = cut
        return verdicts(self._header, self._checker.terms, self._summary)


def conformance(
    history: History, catalogue: Catalogue, oracle: Oracle | None = None, *, cores: int = 1
) -> Conformance:
    """Return a verdict on every rule that can be shown, from a whole history.

    Args:
        history: the history.
        catalogue: the catalogue of rules.
        oracle: the oracle; by default the one in the header, or the one that the capabilities
            allow.
        cores: how many processes may judge one long history.

    Raises:
        UsageError: the history names an edition, ambiguity or reading that does not exist.
    """
    hearing = Hearing(history.header, catalogue, oracle, cores=cores)
    for scenario in history.scenarios:
        hearing.hear(scenario)
    return hearing.conformance(cut=history.cut)


def verdicts(
    header: Header, terms: Terms, summary: Summary, more: Sequence[str] = ()
) -> Conformance:
    """Return a verdict on every rule that can be shown, from the summary of all scenarios.

    Args:
        header: the header of the recording.
        terms: the terms of judging.
        summary: the summary.
        more: sentences about further reasons why the run is incomplete.
    """
    explored = _find_explored(header, summary, terms)
    unreached = {} if explored is None else missed(explored.goals)
    every = (
        _with_aim(_verdict(rule, terms, summary.rules.get(rule.id, OfRule())), unreached)
        for rule in terms.catalogue.rules
        if rule.shown_by != "never"
    )
    # A violation is reported even if the run was limited to other rules.
    rules = tuple(
        rule
        for rule in every
        if is_asked_for(rule.id, header.rules) or rule.verdict is Verdict.VIOLATED
    )
    messages = (
        *_problems(summary, header.planned),
        *_sentences_of_unanswered(rules, header.rules),
        *more,
    )
    problems = tuple(dict.fromkeys(messages))
    if header.began is not None:
        rules = tuple(map(_of_a_middle, rules))
    return Conformance(
        catalogue=terms.catalogue.version,
        subject=subject_of(header, terms),
        oracle=terms.oracle.value,
        rules=rules,
        scenarios=summary.ended(),
        events=summary.events,
        exit_code=exit_code(rules, problems),
        problems=problems,
        explored=explored,
        unjudged=tuple(_count_unjudged(summary, rules)),
        only=header.rules,
    )


def _of_a_middle(rule: RuleVerdict) -> RuleVerdict:
    return attrs.evolve(rule, cause=NEVER_JUDGED) if rule.cause == NEVER_AROSE else rule


def _count_unjudged(summary: Summary, rules: Sequence[RuleVerdict]) -> Iterator[Unjudged]:
    """Yield what was not judged, by reason, in the order of the reasons."""
    for reason in Reason:
        counts = summary.unjudged.get(reason.name)
        if not counts:
            continue
        names = sorted(counts, key=lambda name: (-counts[name], name))
        unshown = sum(rule.verdict is Verdict.NOT_SHOWN for rule in rules)
        yield Unjudged(
            reason=reason.why,
            remedy=reason.remedy,
            events=sum(counts.values()),
            entities=len(counts),
            names=tuple(names[:NAMED]),
            rules=unshown if reason is Reason.BEGUN else 0,
        )


def _find_explored(header: Header, summary: Summary, terms: Terms) -> Explored | None:
    """Return what the run explored, with the coverage goals; `None` if it did not explore."""
    if not summary.sequences:
        return None
    return Explored(
        seed=header.seed,
        sequences=summary.sequences,
        events=summary.explored,
        metamorphic=summary.metamorphic,
        goals=counted(summary.goals, terms),
    )


def _with_aim(verdict: RuleVerdict, unreached: Mapping[v.RuleId, str]) -> RuleVerdict:
    """Return the verdict, changed from shown to not shown if the rule's goal was never reached."""
    if verdict.verdict is not Verdict.SHOWN or verdict.id not in unreached:
        return verdict
    cause = f"the run never reached {unreached[verdict.id]}"
    return attrs.evolve(verdict, verdict=Verdict.NOT_SHOWN, cause=cause)


def _verdict(rule: Rule, terms: Terms, summary: OfRule) -> RuleVerdict:
    open_yet = RuleVerdict(
        id=rule.id, title=rule.title, verdict=Verdict.NOT_SHOWN, oracle=terms.oracle.value
    )
    if cause := terms.inapplicable(rule):
        return attrs.evolve(open_yet, verdict=Verdict.NOT_APPLICABLE, cause=cause, oracle="")
    scenarios = tuple(in_order(summary.breaking if summary.broken else summary.deciding))
    open_yet = attrs.evolve(open_yet, events=summary.events, scenarios=scenarios)
    if summary.broken and terms.profile.may_have_lost:
        return attrs.evolve(open_yet, verdict=Verdict.INCONCLUSIVE, cause=PROMOTED)
    if summary.broken:
        return _as_violated(open_yet, summary)
    verdict, cause = _unbroken(summary.own, summary.events)
    return attrs.evolve(open_yet, verdict=verdict, cause=cause)


def _as_violated(open_yet: RuleVerdict, summary: OfRule) -> RuleVerdict:
    if summary.shortest is None:
        raise AssertionError("a broken rule has a counterexample")
    cause = f"{summary.broken} counterexample{'s' if summary.broken > 1 else ''}"
    if summary.broken_again < summary.replays:
        cause += f"; flaky: {summary.broken_again} of {summary.replays} replays broke it again"
    return attrs.evolve(
        open_yet,
        verdict=Verdict.VIOLATED,
        cause=cause,
        counterexample=summary.shortest.counterexample,
    )


def _unbroken(own: Mapping[str, Remark], events: int) -> tuple[Verdict, str]:
    # If one of the rule's own scenarios could not finish, evidence from others does not count.
    """Return the verdict on a rule that was not broken, with the cause if it is not shown."""
    if broke_off := own.get("errored") or own.get("interrupted"):
        return Verdict.ERRORED, broke_off.text
    if EXHAUSTED in own:
        return Verdict.INCONCLUSIVE, own[EXHAUSTED].text
    if UNBLAMED in own:
        cause = "each answer was permitted, but together they are not what the scenario expects"
        return Verdict.INCONCLUSIVE, f"{cause}: {own[UNBLAMED].text}"
    if "inconclusive" in own and not (events and "passed" in own):
        return Verdict.INCONCLUSIVE, own["inconclusive"].text
    return (Verdict.SHOWN, "") if events else (Verdict.NOT_SHOWN, NEVER_AROSE)


def _problems(summary: Summary, planned: int | None) -> list[str]:
    problems = []
    if summary.cut:
        problems.append("the history's last line is cut off; everything before it was judged")
    if not summary.scenarios:
        problems.append("the history has no events; nothing was judged")
    if summary.uncreated:
        names = [*in_order(summary.uncreated)]
        others = f" and {len(names) - NAMED} others" if len(names) > NAMED else ""
        problems.append(
            f"the history uses {', '.join(names[:NAMED])}{others} and never creates them, so they "
            "did not exist; if they were there before, judge it with --began unknown"
        )
    begun = sum(summary.ended().values())
    if planned is not None and begun < planned:
        problems.append(f"the run stopped after {begun} of {planned} scenarios")
    return [*problems, *in_order(summary.interrupted), *in_order(summary.exhausted)]


def _sentences_of_unanswered(rules: Sequence[RuleVerdict], only: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each requested rule or family that does not apply: it did not pass."""
    for name in only:
        of_it = [rule for rule in rules if is_asked_for(rule.id, (name,))]
        if all(rule.verdict is Verdict.NOT_APPLICABLE for rule in of_it):
            cause = f": {of_it[0].cause}" if of_it else ""
            yield f"{name} was asked for, and does not apply{cause}"


def exit_code(rules: Sequence[RuleVerdict], problems: Sequence[str]) -> ExitCode:
    """Return the exit code for these verdicts and problems."""
    reached = {rule.verdict for rule in rules}
    if Verdict.VIOLATED in reached:
        return ExitCode.VIOLATION
    incomplete = {Verdict.NOT_SHOWN, Verdict.INCONCLUSIVE, Verdict.ERRORED}
    return ExitCode.INCOMPLETE if problems or reached & incomplete else ExitCode.OK


def subject_of(header: Header, terms: Terms) -> Subject:
    """Return the bus that was judged, and the terms that applied to it."""
    implementation = header.implementation
    return Subject(
        name=implementation.get("name", "unnamed"),
        version=implementation.get("version", ""),
        language=implementation.get("language", ""),
        **{name: implementation.get(name, "") for name in ("commit", "url", "contact")},
        adapter=header.adapter,
        capabilities=tuple(sorted(header.capabilities)),
        clock=header.clock.value,
        slack=header.slack,
        edition=terms.profile.edition,
        tier=terms.profile.tier.value,
        partitions=terms.profile.partitions,
        namespace_partitions=terms.profile.namespace_partitions,
        messaging_units=terms.profile.messaging_units,
        readings=dict(sorted(terms.profile.readings.items())),
    )
