"""Judging events that overlap in time: any order that the clocks permit may be the true one."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from busproof.judging.judge import Violation
from busproof.judging.linearization.decompose import merged, parts
from busproof.judging.linearization.message_subhistories import impossible_topic
from busproof.judging.linearization.search import Ended, Search
from busproof.oracle.state import fresh_namespace
from busproof.vocabulary.observability import Observability
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Clock, RuleId

__all__ = ["Judged", "judged", "judged_part"]

STEPS_AN_EVENT: Final = 200
STEPS_AT_LEAST: Final = 20_000
STEPS_AT_MOST: Final = 2_000_000
"""How many steps the search for an order may take before it gives up as inconclusive.

So many take some three minutes; beyond them each event of a longer history has two.
"""

PATIENCE: Final = 3_000
"""How many steps the search may take without coming further before smaller parts are looked at."""


@attrs.frozen(kw_only=True)
class Judged:
    """What judging a run of events found.

    Attributes:
        evidence: rule id to how many events it decided.
        violation: the event that nothing allowed, in any order.
        decided: the rules that decided each event of `order` but one that was not allowed.
        order: the order in which the events were judged, as indices; of a violation, those that
            show it, the last one being what nothing allowed.
        exhausted: why there is no verdict, if there is none.
        steps: how many events were tried to find the order.
    """

    evidence: Counter[RuleId]
    decided: tuple[tuple[RuleId, ...], ...] = ()
    violation: Violation | None = None
    order: tuple[int, ...] = ()
    exhausted: str = ""
    steps: int = 0


def judged(events: Sequence[Event], profile: Profile, observability: Observability) -> Judged:
    """Judge events in whichever permitted order allows them all.

    Each part that has nothing to do with the others is judged by itself, see `parts`. Where no
    order of a part is found soon, smaller topics of it are looked at, of which one that has no
    order proves that the part has none, see `topics`. Whatever stays open when the budget ends is
    no verdict.
    """
    if observability.clock is Clock.VIRTUAL:
        return judged_part(events, profile, observability)
    found = []
    for indices in parts(events):
        part = judged_part([events[index] for index in indices], profile, observability)
        order = tuple(indices[each] for each in part.order)
        found.append(attrs.evolve(part, order=order))
    return _together(events, found)


def _together(events: Sequence[Event], found: list[Judged]) -> Judged:
    evidence: Counter[RuleId] = Counter()
    for part in found:
        evidence.update(part.evidence)
    broken = [part for part in found if part.violation is not None]
    if broken:
        shortest = min(broken, key=lambda part: len(part.order))
        return attrs.evolve(shortest, evidence=evidence)
    exhausted = next((part.exhausted for part in found if part.exhausted), "")
    order = merged(events, [part.order for part in found])
    rules = {
        index: decided
        for part in found
        for index, decided in zip(part.order, part.decided, strict=True)
    }
    decided = tuple(rules[index] for index in order)
    steps = sum(part.steps for part in found)
    return Judged(evidence=evidence, decided=decided, order=order, exhausted=exhausted, steps=steps)


def judged_part(events: Sequence[Event], profile: Profile, observability: Observability) -> Judged:
    """Judge a part as it is; events of a whole history go to `judged`."""
    ordered = observability.clock is Clock.VIRTUAL
    search = Search(events, (fresh_namespace(profile, observability),), ordered=ordered)
    steps = _allowed(len(events))
    ended = search.run(steps, PATIENCE)
    if ended is not Ended.FOUND and search.had_choices:
        topic = impossible_topic(events, profile, observability, search.stuck_at)
        if topic is not None:
            order, violation = topic
            return Judged(evidence=_evidence(search.rules), violation=violation, order=order)
        if ended is Ended.GAVE_UP:
            ended = search.run(steps, steps)
    if ended is Ended.IMPOSSIBLE:
        return _failed(search)
    order = tuple(search.order)
    exhausted = "" if ended is Ended.FOUND else _too_many(search)
    return Judged(
        evidence=_evidence(search.rules),
        decided=tuple(search.rules),
        order=order,
        exhausted=exhausted,
        steps=search.spent,
    )


def _allowed(events: int) -> int:
    """Return how many steps may be taken to find an order of so many events."""
    return max(STEPS_AT_LEAST, min(STEPS_AN_EVENT * events, STEPS_AT_MOST + 2 * events))


def _too_many(search: Search) -> str:
    return (
        "the overlapping requests have too many possible orders to try them all; "
        f"none was found that goes on after {len(search.order)} events"
    )


def _failed(search: Search) -> Judged:
    end = search.told()
    why = end.why()
    violation = Violation(index=len(end.order) - 1, rules=why.rules, allowed=why.allowed)
    return Judged(
        evidence=_evidence(end.rules), decided=end.rules, violation=violation, order=end.order
    )


def _evidence(decided: Iterable[tuple[RuleId, ...]]) -> Counter[RuleId]:
    evidence: Counter[RuleId] = Counter()
    for rules in decided:
        evidence.update(rules)
    return evidence
