"""Result of judging one scenario, without its events: all that its verdicts need.

A scenario of a production history may be judged in parts, by several processes. This module joins
the results of the parts.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.history.conformance import Counterexample
from busproof.history.packed import Reordered
from busproof.history.records import (
    AGAIN,
    EXPLORATION,
    METAMORPHIC,
    SENTENCE,
    Ended,
    Header,
    Oracle,
    Scenario,
    ScenarioVerdict,
)
from busproof.history.render.outcomes import outcome_words
from busproof.judging.applicability import Terms, auto_oracle, profile_of
from busproof.judging.begun.entities import Entities
from busproof.judging.begun.judge import judged_begun
from busproof.judging.coverage_goals import Met, met
from busproof.judging.judge import Judge, observability_for
from busproof.judging.linearization.overlap import Judged, judged, judged_part, result_of
from busproof.judging.replay.explanation import Explanation, explain
from busproof.judging.replay.orders import follow_one_another
from busproof.judging.violation import compare_answers
from busproof.judging.witnesses import with_late_witnesses
from busproof.spec import Catalogue

__all__ = ["Checker", "Heard", "Part", "add_counts", "joined", "to_blame"]

_AT_LEAST: Final = "LIFE-01"
"""Rule that counts as broken if no rule about an answer applies and forbids anything."""

NAMED: Final = 20
"""Maximum number of entities to name that were never created."""

_Judge = Callable[[Sequence[v.Event], v.Profile, v.Observability, int], Judged]


@attrs.frozen(kw_only=True)
class Heard:
    """Result of judging one scenario.

    Attributes:
        name: the scenario's name.
        feature: the feature that it belongs to.
        about: the rules that it is tagged with.
        ending: how it ended, in one word.
        explanation: how it ended, in a sentence.
        events: how many events it has.
        evidence: rule to the number of events that it decided.
        blamed: the rules that the scenario breaks.
        counterexample: the events that show it.
        shown: the indices of these events in the scenario.
        exhausted: why there is no verdict; empty if there is one.
        goals: the coverage goals that its events reached.
        unjudged: the name of a reason to each entity with how many of its events it concerns.
        uncreated: entities that are used and never created, although nothing says that they were
            there before.
    """

    name: str = ""
    feature: str = ""
    about: tuple[v.RuleId, ...] = ()
    ending: str = ""
    explanation: str = ""
    events: int = 0
    evidence: dict[v.RuleId, int] = attrs.field(factory=dict)
    blamed: tuple[v.RuleId, ...] = ()
    counterexample: Counterexample | None = None
    shown: tuple[int, ...] = ()
    exhausted: str = ""
    goals: Met = attrs.field(factory=Met)
    unjudged: dict[str, dict[str, int]] = attrs.field(factory=dict)
    uncreated: tuple[str, ...] = ()

    @property
    def is_sequence(self) -> bool:
        """Whether the scenario is a sequence of the exploration."""
        return self.feature in (EXPLORATION, METAMORPHIC, AGAIN)

    @property
    def title(self) -> str:
        """The scenario's name; all sequences of the exploration have the same."""
        return "Exploration" if self.is_sequence else self.name


@attrs.frozen(kw_only=True)
class Part:
    """Result of judging a part of a scenario.

    Attributes:
        at: the index of the part's first event in the scenario.
        heard: the result of the part.
        usable: whether every line of the part could be read.
    """

    at: int
    heard: Heard
    usable: bool = True


def joined(one: Part, other: Part) -> Part:
    """Join the results of two parts of one scenario; if either broke a rule, the whole did.

    Of several violations the one with the fewest events counts, then the first, as in `judged`.
    """
    first, second = sorted((one, other), key=lambda part: part.at)
    evidence = dict(first.heard.evidence)
    for rule, number in second.heard.evidence.items():
        evidence[rule] = evidence.get(rule, 0) + number
    events = first.heard.events + second.heard.events
    broken = [part for part in (first, second) if part.heard.counterexample is not None]
    if broken:
        part = min(broken, key=lambda candidate: (len(candidate.heard.shown), candidate.at))
        heard = attrs.evolve(
            part.heard, evidence=evidence, events=events, **_not_judged(first, second)
        )
        return Part(at=part.at, heard=heard, usable=one.usable and other.usable)
    goals = Met()
    goals.add(first.heard.goals)
    goals.add(second.heard.goals)
    heard = attrs.evolve(
        first.heard,
        evidence=evidence,
        events=events,
        exhausted=first.heard.exhausted or second.heard.exhausted,
        goals=goals,
        **_not_judged(first, second),
    )
    return Part(at=first.at, heard=heard, usable=one.usable and other.usable)


def _not_judged(first: Part, second: Part) -> dict[str, Any]:
    """Return what was not judged of two parts."""
    unjudged = {reason: dict(counts) for reason, counts in first.heard.unjudged.items()}
    add_counts(unjudged, second.heard.unjudged)
    uncreated = dict.fromkeys((*first.heard.uncreated, *second.heard.uncreated))
    return {"unjudged": unjudged, "uncreated": tuple(uncreated)}


def add_counts(to: dict[str, dict[str, int]], more: Mapping[str, Mapping[str, int]]) -> None:
    """Add the events that were not judged, by reason and entity."""
    for reason, counts in more.items():
        mine = to.setdefault(reason, {})
        for entity, events in counts.items():
            mine[entity] = mine.get(entity, 0) + events


class Checker:
    """Judge of the scenarios of one recording, one by one.

    Args:
        header: the header of the recording.
        catalogue: the catalogue of rules.
        oracle: the oracle; by default the one in the header, or the one that the capabilities
            allow.
        cores: how many processes may judge one long history.

    Attributes:
        terms: the terms of judging.

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
        profile = profile_of(catalogue, header)
        chosen = oracle or header.oracle or auto_oracle(header.capabilities)
        self.terms = Terms.of(catalogue, header, profile, chosen)
        recorded = v.observability_from(header.clock, header.slack, header.capabilities)
        self._observability = observability_for(recorded, chosen)
        self._began = header.began
        self._cores = cores
        # A run of busproof creates what it uses.
        self._is_own = header.planned is not None

    def check(self, scenario: Scenario) -> Heard:
        """Judge a whole scenario."""
        return self._check_with(scenario, judged)

    def explanation(self, scenario: Scenario) -> Explanation:
        """Return an execution of the reference model that explains a scenario, if there is one."""
        return explain(scenario.events, self.terms.profile, self._observability)

    @property
    def sees_partitions(self) -> bool:
        """Whether the oracle sees partitions."""
        return self._observability.partitions

    def check_part(self, scenario: Scenario) -> Heard:
        """Judge a scenario with the events of one independent part only (`decompose`)."""
        return self._check_with(scenario, judged_part)

    def heard(self, scenario: Scenario, judge: Judge | None) -> Heard:
        """Return the result of a scenario that was judged while it ran, without judging it again.

        It is judged again only where the judge of a run knows less than that of a recording: if
        requests overlap, or if it gave up.

        Args:
            scenario: the whole scenario.
            judge: the judge of its events; `None` if it has none.
        """
        events = scenario.events
        if _has_nothing_to_judge(scenario):
            return _heard(scenario)
        real = self._observability.clock is v.Clock.REAL
        if judge is None or judge.exhausted or (real and not follow_one_another(events)):
            return self.check(scenario)
        found = result_of(judge)
        return self._result(scenario, attrs.evolve(found, overdue=None) if real else found)

    def _check_with(self, scenario: Scenario, judge: _Judge) -> Heard:
        if _has_nothing_to_judge(scenario):
            return _heard(scenario)
        events: Sequence[v.Event] = scenario.events
        if self.terms.profile.numbers_name_partitions:
            events = with_late_witnesses(events)
        profile = self.terms.profile
        seen = self._observability
        if self._began is None:
            heard = self._result(scenario, judge(events, profile, seen, self._cores))
            return attrs.evolve(heard, uncreated=self._find_uncreated(events))
        result, counts = judged_begun(events, profile, seen, self._began)
        unjudged: dict[str, dict[str, int]] = {}
        for (reason, path), count in counts.items():
            unjudged.setdefault(reason.name, {})[path] = count
        return attrs.evolve(self._result(scenario, result), unjudged=unjudged)

    def _find_uncreated(self, events: Sequence[v.Event]) -> tuple[str, ...]:
        """Return entities that a foreign history uses and does not create."""
        if self._is_own:
            return ()
        return tuple(sorted(Entities(events, witness=False).proven)[:NAMED])

    def _result(self, scenario: Scenario, judged: Judged) -> Heard:
        heard = _heard(scenario)
        in_order = _in_order(scenario.events, judged.order)
        heard = attrs.evolve(
            heard,
            evidence=dict(judged.evidence),
            exhausted=judged.exhausted,
            goals=met(in_order, judged.decided),
        )
        failed = _has_failed(scenario)
        overdue = judged.overdue
        if overdue is not None and judged.violation is None and not judged.exhausted:
            # A scenario that failed by waiting says which rule it is about.
            own = self._of_a_step(scenario) if failed else ()
            overdue = attrs.evolve(overdue, rules=own or overdue.rules)
            order = range(overdue.index + 1)
            judged = attrs.evolve(judged, violation=overdue, order=order)
        if judged.violation is not None:
            return attrs.evolve(
                heard,
                blamed=(to_blame(judged.violation.rules, scenario.rules, self.terms),),
                counterexample=_of_violation(scenario, judged),
                shown=tuple(judged.order),
            )
        if failed and scenario.ended is not None:
            return attrs.evolve(
                heard,
                blamed=self._of_a_step(scenario),
                counterexample=_of_literal(scenario, scenario.ended),
                shown=tuple(range(len(scenario.events))),
            )
        return heard

    def _of_a_step(self, scenario: Scenario) -> tuple[v.RuleId, ...]:
        """Return the rule that a failed step breaks: the first of the scenario's that one can."""
        can = [rule for rule in scenario.rules if not _permits(rule, self.terms)]
        return tuple(can[:1])

    def unchecked(self, scenario: Scenario, why: str) -> Heard:
        """Return the result of a scenario whose judging was interrupted."""
        return attrs.evolve(_heard(scenario), exhausted=why)


def _has_nothing_to_judge(scenario: Scenario) -> bool:
    return not scenario.events and not _has_failed(scenario)


def _has_failed(scenario: Scenario) -> bool:
    return scenario.ended is not None and scenario.ended.verdict is ScenarioVerdict.FAILED


def _in_order(events: Sequence[v.Event], order: Sequence[int]) -> Sequence[v.Event]:
    """Return the events in the order of judging, without copying them."""
    if isinstance(order, range) and len(order) == len(events):
        return events
    return Reordered(events, order)


def _heard(scenario: Scenario) -> Heard:
    return Heard(
        name=scenario.name,
        feature=scenario.feature,
        about=scenario.rules,
        ending=_ending(scenario),
        explanation=_explanation(scenario),
        events=len(scenario.events),
    )


def _ending(scenario: Scenario) -> str:
    if scenario.ended is not None:
        return scenario.ended.verdict.value
    return "interrupted" if scenario.name else "recorded"


def _explanation(scenario: Scenario) -> str:
    if scenario.ended is None:
        return f"the run stopped in the middle of {scenario.name!r}"
    return scenario.ended.cause or scenario.ended.verdict.value


def _permits(rule: v.RuleId, terms: Terms) -> bool:
    """Return whether a rule only permits an answer, so that no answer can break it."""
    return terms.catalogue.rule(rule).shown_by == "allowed"


def to_blame(rules: Sequence[v.RuleId], about: Sequence[v.RuleId], terms: Terms) -> v.RuleId:
    """Return the rule to charge: one that the scenario is about, or else the first applicable."""
    rules = [*(rule for rule in rules if not _permits(rule, terms)), _AT_LEAST]
    applicable = [rule for rule in rules if not terms.inapplicable(terms.catalogue.rule(rule))]
    own = [rule for rule in applicable if rule in about]
    return (*own, *applicable, *rules)[0]


def _of_violation(scenario: Scenario, judged: Judged) -> Counterexample:
    events = tuple(scenario.events[index] for index in judged.order)
    assert judged.violation is not None  # noqa: S101 - it is asked for nothing else
    seen, allowed = compare_answers(judged.violation, events[-1])
    return Counterexample(
        scenario=scenario.name,
        events=events,
        seen=seen,
        allowed=allowed,
        about=_about(scenario),
    )


def _about(scenario: Scenario) -> str:
    """Return the sentence of a distilled sequence: its first step without its name."""
    steps = () if scenario.ended is None else scenario.ended.steps
    if not steps or steps[0].keyword != SENTENCE:
        return ""
    return steps[0].text.removeprefix(f"{scenario.name}. ")


def _of_literal(scenario: Scenario, ended: Ended) -> Counterexample:
    """Return the last answer beside the sentence of the step that it did not meet."""
    failed = [step.text for step in ended.steps if step.result == "failed"]
    events = tuple(scenario.events)
    return Counterexample(
        scenario=scenario.name,
        events=events,
        seen=outcome_words(events[-1].outcome) if events else ended.detail,
        allowed=tuple(failed[-1:]),
        is_judged=False,
    )
