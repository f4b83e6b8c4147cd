"""From a recorded history to a verdict on every rule."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from busproof.history.conformance import (
    Conformance,
    Counterexample,
    ExitCode,
    Explored,
    RuleVerdict,
    Subject,
    Verdict,
)
from busproof.history.outcome_words import outcome_words
from busproof.history.records import (
    AGAIN,
    EXPLORATION,
    REPEATED,
    Header,
    History,
    Oracle,
    Scenario,
    ScenarioVerdict,
)
from busproof.judging.applicability import Terms, auto_oracle
from busproof.judging.goals import counted, missed
from busproof.judging.judge import vantage_of
from busproof.judging.overlap import Judged, judged
from busproof.judging.witnesses import with_late_witnesses
from busproof.spec import Catalogue, Rule
from busproof.vocabulary.observability import observability_from
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.profile import Profile, profile_for
from busproof.vocabulary.values import RuleId

__all__ = [
    "NEVER_AROSE",
    "Hearing",
    "conformance",
    "exit_code",
    "profile_of",
    "subject_of",
    "to_blame",
]

NEVER_AROSE = "the situation never arose"
_AT_LEAST: Final = "LIFE-01"
"""What an answer breaks that only a reading forbids, of which no rule but a permission speaks."""


@attrs.frozen(kw_only=True)
class _Heard:
    """One scenario, judged: what it says of which rules."""

    scenario: Scenario
    found: Judged
    blamed: tuple[RuleId, ...] = ()
    counterexample: Counterexample | None = None


def profile_of(catalogue: Catalogue, header: Header) -> Profile:
    """The profile that a history was recorded under, with the rules in force filled in.

    Raises:
        UsageError: the history names an edition, ambiguity or reading that does not exist.
    """
    recorded = header.profile
    return profile_for(
        catalogue,
        edition=recorded.edition,
        tier=recorded.tier.value,
        readings=dict(recorded.readings),
        partitions=recorded.partitions,
    )


def _witnessed(scenario: Scenario, profile: Profile) -> Sequence[Event]:
    """The events, with what their sequence numbers tell of partitions, if they tell any."""
    told = profile.numbers_name_partitions
    return with_late_witnesses(scenario.events) if told else scenario.events


class Hearing:
    """Scenarios judged one after the other, and what they come to together.

    Args:
        header: what they were recorded under.
        catalogue: the rules they are held to.
        oracle: how they are judged; by default as the header says, or its capabilities allow.

    Raises:
        UsageError: the header names an edition, ambiguity or reading that does not exist.
    """

    def __init__(self, header: Header, catalogue: Catalogue, oracle: Oracle | None = None) -> None:
        profile = profile_of(catalogue, header)
        chosen = oracle or header.oracle or auto_oracle(header.capabilities)
        self._header = header
        self._terms = Terms.of(catalogue, header, profile, chosen)
        recorded = observability_from(header.clock, header.slack, header.capabilities)
        self._vantage = vantage_of(recorded, chosen)
        self._heard: list[_Heard] = []

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """What was judged, in that order."""
        return tuple(each.scenario for each in self._heard)

    def hear(self, scenario: Scenario) -> None:
        """Judge one scenario more."""
        profile = self._terms.profile
        found = judged(_witnessed(scenario, profile), profile, self._vantage)
        self._heard.append(_hear(scenario, found, self._terms))

    def conformance(self, *, cut: bool = False) -> Conformance:
        """A verdict on every rule that can be shown, from what was heard and nothing else.

        Args:
            cut: whether the last line of the history was cut off and left out.
        """
        explored = _explored(self._header, self._heard, self._terms)
        unreached = {} if explored is None else missed(explored.goals)
        rules = tuple(
            _aimed(_verdict(rule, self._terms, self._heard), unreached)
            for rule in self._terms.catalogue.rules
            if rule.shown_by != "never"
        )
        problems = _problems(self._heard, planned=self._header.planned, cut=cut)
        return Conformance(
            catalogue=self._terms.catalogue.version,
            subject=subject_of(self._header, self._terms),
            oracle=self._terms.oracle.value,
            rules=rules,
            scenarios=dict(Counter(_endings(self.scenarios))),
            events=sum(len(each.scenario.events) for each in self._heard),
            exit_code=exit_code(rules, problems),
            problems=problems,
            explored=explored,
        )


def conformance(
    history: History, catalogue: Catalogue, oracle: Oracle | None = None
) -> Conformance:
    """A verdict on every rule that can be shown, from a whole history and nothing else.

    Raises:
        UsageError: the history names an edition, ambiguity or reading that does not exist.
    """
    hearing = Hearing(history.header, catalogue, oracle)
    for scenario in history.scenarios:
        hearing.hear(scenario)
    return hearing.conformance(cut=history.cut)


def _endings(scenarios: Sequence[Scenario]) -> list[str]:
    """How the scenarios ended; of one that was tried again the latest counts."""
    endings: list[str] = []
    places: dict[str, int] = {}
    for each in scenarios:
        if each.feature == REPEATED and each.name in places:
            endings[places[each.name]] = _ending(each)
        elif not _is_sequence(each):
            places[each.name] = len(endings)
            endings.append(_ending(each))
    return endings


def _is_sequence(scenario: Scenario) -> bool:
    """Whether the exploration made it up."""
    return scenario.feature in (EXPLORATION, AGAIN)


def _explored(header: Header, heard: Sequence[_Heard], terms: Terms) -> Explored | None:
    """What the run explored, with the goals that apply to it."""
    sequences = [each for each in heard if each.scenario.feature == EXPLORATION]
    if not sequences:
        return None
    runs = [
        ([each.scenario.events[index] for index in each.found.order], each.found.decided)
        for each in heard
    ]
    return Explored(
        seed=header.seed,
        sequences=len(sequences),
        events=sum(len(each.scenario.events) for each in sequences),
        goals=counted(runs, terms),
    )


def _aimed(told: RuleVerdict, unreached: Mapping[RuleId, str]) -> RuleVerdict:
    """A rule whose goal never happened is not shown, whatever else has shown it."""
    if told.verdict is not Verdict.SHOWN or told.id not in unreached:
        return told
    cause = f"the run never came to {unreached[told.id]}"
    return attrs.evolve(told, verdict=Verdict.NOT_SHOWN, cause=cause)


def _hear(scenario: Scenario, found: Judged, terms: Terms) -> _Heard:
    if found.violation is not None:
        rules = found.violation.rules
        blamed = (to_blame(rules, scenario.rules, terms),)
        return _Heard(
            scenario=scenario,
            found=found,
            blamed=blamed,
            counterexample=_of_violation(scenario, found),
        )
    if scenario.ended is not None and scenario.ended.verdict is ScenarioVerdict.FAILED:
        return _Heard(
            scenario=scenario,
            found=found,
            blamed=tuple(rule for rule in scenario.rules if not _permits(rule, terms)),
            counterexample=_of_literal(scenario, scenario.ended.detail),
        )
    return _Heard(scenario=scenario, found=found)


def _permits(rule: RuleId, terms: Terms) -> bool:
    """Whether a rule permits answers and forbids none, so that nothing breaks it."""
    return terms.catalogue.rule(rule).shown_by == "allowed"


def to_blame(rules: Sequence[RuleId], about: Sequence[RuleId], terms: Terms) -> RuleId:
    """The rule broken that a scenario is about, or else the most specific one that applies."""
    rules = [rule for rule in rules if not _permits(rule, terms)] or [_AT_LEAST]
    applicable = [rule for rule in rules if not terms.inapplicable(terms.catalogue.rule(rule))]
    own = [rule for rule in applicable if rule in about]
    return (*own, *applicable, *rules)[0]


def _of_violation(scenario: Scenario, found: Judged) -> Counterexample:
    events = tuple(scenario.events[index] for index in found.order)
    violation = found.violation
    allowed = () if violation is None else violation.allowed
    return Counterexample(
        scenario=scenario.name,
        events=events,
        seen=outcome_words(events[-1].outcome),
        allowed=tuple(dict.fromkeys(outcome_words(each.outcome) for each in allowed)),
    )


def _of_literal(scenario: Scenario, detail: str) -> Counterexample:
    failed = (
        [step.text for step in scenario.ended.steps if step.result == "failed"]
        if (scenario.ended is not None)
        else []
    )
    return Counterexample(
        scenario=scenario.name,
        events=scenario.events,
        seen=detail,
        allowed=tuple(failed[-1:]),
    )


def _verdict(rule: Rule, terms: Terms, heard: Sequence[_Heard]) -> RuleVerdict:
    told = RuleVerdict(
        id=rule.id, title=rule.title, verdict=Verdict.NOT_SHOWN, oracle=terms.oracle.value
    )
    if cause := terms.inapplicable(rule):
        return attrs.evolve(told, verdict=Verdict.NOT_APPLICABLE, cause=cause, oracle="")
    own = [each for each in heard if rule.id in each.scenario.rules]
    deciding = [each for each in heard if each.found.evidence[rule.id]]
    told = attrs.evolve(
        told,
        events=sum(each.found.evidence[rule.id] for each in deciding),
        scenarios=tuple(dict.fromkeys(_name(each.scenario) for each in deciding)),
    )
    breaking = [each for each in heard if rule.id in each.blamed]
    if breaking:
        return _flaky(_violated(told, breaking), heard)
    verdict, cause = _unbroken(told, own)
    return attrs.evolve(told, verdict=verdict, cause=cause)


def _violated(told: RuleVerdict, breaking: Sequence[_Heard]) -> RuleVerdict:
    found = [each.counterexample for each in breaking if each.counterexample is not None]
    shortest = min(found, key=lambda each: len(each.events))
    return attrs.evolve(
        told,
        verdict=Verdict.VIOLATED,
        cause=f"{len(found)} counterexample{'s' if len(found) > 1 else ''}",
        scenarios=tuple(dict.fromkeys(_name(each.scenario) for each in breaking)),
        counterexample=shortest,
    )


def _name(scenario: Scenario) -> str:
    """The scenario's name; all sequences of the exploration share one."""
    return "Exploration" if _is_sequence(scenario) else scenario.name


def _flaky(told: RuleVerdict, heard: Sequence[_Heard]) -> RuleVerdict:
    """Tell of a violation that the exploration found and could not repeat each time."""
    again = [
        each for each in heard if each.scenario.feature == AGAIN and told.id in each.scenario.rules
    ]
    times = sum(told.id in each.blamed for each in again)
    if times == len(again):
        return told
    return attrs.evolve(
        told, cause=f"{told.cause}; flaky: {times} of {len(again)} replays broke it again"
    )


def _unbroken(told: RuleVerdict, own: Sequence[_Heard]) -> tuple[Verdict, str]:
    """The verdict on a rule that nothing broke: what its own scenarios came to, then evidence."""
    endings = defaultdict(list)
    for each in own:
        endings[_ending(each.scenario)].append(each)
    if broken := endings["errored"] + endings["interrupted"]:
        return Verdict.ERRORED, _said(broken[0].scenario)
    exhausted = [each.found.exhausted for each in own if each.found.exhausted]
    if exhausted:
        return Verdict.INCONCLUSIVE, exhausted[0]
    unblamed = [each.scenario for each in own if each.counterexample and not each.blamed]
    if unblamed:
        cause = "each answer was permitted, and together they are not what the scenario expects"
        return Verdict.INCONCLUSIVE, f"{cause}: {unblamed[0].name}"
    if endings["inconclusive"] and not endings["passed"]:
        return Verdict.INCONCLUSIVE, _said(endings["inconclusive"][0].scenario)
    if told.events:
        return Verdict.SHOWN, ""
    return Verdict.NOT_SHOWN, NEVER_AROSE


def _ending(scenario: Scenario) -> str:
    if scenario.ended is not None:
        return scenario.ended.verdict.value
    return "interrupted" if scenario.name else "recorded"


def _said(scenario: Scenario) -> str:
    if scenario.ended is None:
        return f"the run stopped in the middle of {scenario.name!r}"
    return scenario.ended.cause or scenario.ended.verdict.value


def _problems(heard: Sequence[_Heard], *, planned: int | None, cut: bool) -> tuple[str, ...]:
    problems = []
    if cut:
        problems.append("the history's last line is cut off; what stands before it was judged")
    if not heard:
        problems.append("the history has no events; nothing was judged")
    begun = len(_endings([each.scenario for each in heard]))
    if planned is not None and begun < planned:
        problems.append(f"the run stopped after {begun} of {planned} scenarios")
    interrupted = [each for each in heard if _ending(each.scenario) == "interrupted"]
    problems += [_said(each.scenario) for each in interrupted]
    problems += [each.found.exhausted for each in heard if each.found.exhausted]
    return tuple(dict.fromkeys(problems))


def exit_code(rules: Sequence[RuleVerdict], problems: Sequence[str]) -> ExitCode:
    """What a command ends with that came to these verdicts and met these problems."""
    verdicts = {rule.verdict for rule in rules}
    if Verdict.VIOLATED in verdicts:
        return ExitCode.VIOLATION
    incomplete = {Verdict.NOT_SHOWN, Verdict.INCONCLUSIVE, Verdict.ERRORED}
    return ExitCode.INCOMPLETE if problems or verdicts & incomplete else ExitCode.OK


def subject_of(header: Header, terms: Terms) -> Subject:
    """Who was recorded, and held to what."""
    told = header.implementation
    return Subject(
        name=told.get("name", "unnamed"),
        version=told.get("version", ""),
        language=told.get("language", ""),
        adapter=header.adapter,
        capabilities=tuple(sorted(header.capabilities)),
        clock=header.clock.value,
        slack=header.slack,
        edition=terms.profile.edition,
        tier=terms.profile.tier.value,
        partitions=terms.profile.partitions,
        readings=dict(sorted(terms.profile.readings.items())),
    )
