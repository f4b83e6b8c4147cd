"""Judging of overlapping events: any order that their times permit may be the true one."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from operator import le
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.history.packed import Reordered
from busproof.judging.decompose import merged, parts
from busproof.judging.garbage import seldom_collected
from busproof.judging.judge import Judge
from busproof.judging.linearization.message_subhistories import impossible_subhistory
from busproof.judging.linearization.search import Ended, Search
from busproof.judging.replay import search as replay
from busproof.judging.replay.explanation import (
    Explanation,
    explanation_by,
    hasty_budget,
    is_replayed,
    look_alike,
    too_many_alike,
)
from busproof.judging.second_opinion import too_many_states
from busproof.judging.violation import Violation
from busproof.oracle.state import fresh_namespace

__all__ = ["Judged", "judged", "judged_part", "result_of", "searched"]

STEPS_AN_EVENT: Final = 200
STEPS_AT_LEAST: Final = 20_000
STEPS_AT_MOST: Final = 2_000_000
"""Maximum number of search steps before a search is inconclusive.

They take about three minutes. Each event of a longer history adds two steps.
"""

_OF_ALL: Final = (v.ListQueues, v.ListTopics)
"""Requests about all entities, which change nothing."""

PATIENCE: Final = 3_000
"""Number of search steps without progress before subhistories are tried."""


@attrs.frozen(kw_only=True)
class Judged:
    """Result of judging a sequence of events.

    Attributes:
        evidence: rule to the number of events that it decided.
        violation: the violation, if no order allows all events.
        decided: for each event of `order`, the rules that decided it; for a violation, the last
            event has none.
        order: the indices of the events in the order of judging; for a violation, the events that
            show it, with the wrong one last.
        exhausted: why there is no verdict; empty if there is one.
        steps: how many events the search tried.
        is_unexplained: whether the events are allowed, but only the oracle says so.
        overdue: the first violation that only the time between allowed events shows; only on a
            virtual clock.
    """

    evidence: Counter[v.RuleId]
    decided: Sequence[tuple[v.RuleId, ...]] = ()
    violation: Violation | None = None
    order: Sequence[int] = ()
    exhausted: str = ""
    steps: int = 0
    is_unexplained: bool = False
    overdue: Violation | None = None


@seldom_collected()
def judged(events: Sequence[v.Event], profile: v.Profile, observability: v.Observability) -> Judged:
    """Judge events: find an order that the times permit and in which every answer is allowed.

    Independent parts are judged separately (`decompose`). If no order of a part is found soon, its
    subhistories are tried: one that has no order proves that the part has none
    (`message_subhistories`). If neither is found before the budget ends, there is no verdict.

    A list of all entities keeps all parts together. If that was too much, the events are judged
    without lists: what has no order without them has none with them.
    """
    result = _by_parts(events, profile, observability)
    if not result.exhausted:
        return result
    others = [index for index, event in enumerate(events) if not isinstance(event.command, _OF_ALL)]
    if len(others) == len(events):
        return result
    without = _by_parts(Reordered(events, others), profile, observability)
    if without.violation is None:
        return result
    return attrs.evolve(without, order=tuple(others[place] for place in without.order))


def _by_parts(
    events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
) -> Judged:
    # On a virtual clock there is one order, so dividing it would save nothing.
    if observability.clock is v.Clock.VIRTUAL:
        return judged_part(events, profile, observability)
    all_parts = parts(events)
    # A copy of compressed events would not be compressed.
    if len(all_parts) == 1:
        return judged_part(events, profile, observability)
    results = []
    for indices in all_parts:
        part = judged_part([events[index] for index in indices], profile, observability)
        order = tuple(indices[place] for place in part.order)
        results.append(attrs.evolve(part, order=order))
    return _together(events, results)


def _together(events: Sequence[v.Event], results: list[Judged]) -> Judged:
    evidence: Counter[v.RuleId] = Counter()
    for part in results:
        evidence.update(part.evidence)
    broken = [part for part in results if part.violation is not None]
    if broken:
        # Each violated part is a violation of the whole; the shortest is the easiest to read.
        shortest = min(broken, key=lambda part: len(part.order))
        return attrs.evolve(shortest, evidence=evidence)
    exhausted = next((part.exhausted for part in results if part.exhausted), "")
    order = merged(events, [part.order for part in results])
    rules = {
        index: decided
        for part in results
        for index, decided in zip(part.order, part.decided, strict=True)
    }
    decided = tuple(rules[index] for index in order)
    return Judged(
        evidence=evidence,
        decided=decided,
        order=order,
        exhausted=exhausted,
        steps=sum(part.steps for part in results),
        is_unexplained=any(part.is_unexplained for part in results),
    )


@seldom_collected()
def judged_part(
    events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
) -> Judged:
    """Judge the events as one part; for the events of a whole history call `judged`.

    On a virtual clock they are judged one by one, as in a run. Elsewhere an execution of the model
    is sought that gives all recorded answers, in an order that the times permit; without one, the
    search over the oracle's beliefs gives a second opinion.
    """
    if observability.clock is v.Clock.VIRTUAL:
        return _judged_one_by_one(events, profile, observability)
    by_call = _by_call(events)
    if by_call is not None:
        # A recorder writes an event when it is answered, and the replay reads them by their calls.
        result = judged_part(Reordered(events, by_call), profile, observability)
        return attrs.evolve(result, order=tuple(by_call[place] for place in result.order))
    if is_replayed(observability, len(events)):
        execution = replay.Search(events, profile, observability)
        if execution.run(hasty_budget(len(events))) is replay.Ended.EXPLAINED:
            return _of(explanation_by(execution, events))
    result = searched(events, profile, observability)
    if result.violation is None or not is_replayed(observability, len(events)):
        return result
    return _reconsidered(result, events, profile, observability)


def _of(explanation: Explanation) -> Judged:
    order = tuple(step.index for step in explanation.execution)
    return Judged(
        evidence=explanation.evidence,
        decided=[step.rules for step in explanation.execution],
        order=range(len(order)) if _is_as_recorded(order) else order,
        steps=explanation.steps,
    )


def _judged_one_by_one(
    events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
) -> Judged:
    judge = Judge(profile, observability)
    for event in events:
        judge.saw(event)
        if judge.violation is not None or judge.exhausted:
            break
    return result_of(judge)


def _by_call(events: Sequence[v.Event]) -> Sequence[int] | None:
    """Return the indices of the events in the order of their calls; `None` if that is theirs."""
    called = array("q", (event.called for event in events))
    if all(map(le, called, islice(called, 1, None))):
        return None
    return array("I", sorted(range(len(called)), key=called.__getitem__))


def _reconsidered(
    result: Judged,
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
) -> Judged:
    """Replay once more, and longer, what the oracle accuses although messages look alike."""
    if not look_alike(events):
        return result
    execution = replay.Search(events, profile, observability)
    ended = execution.run()
    if ended is replay.Ended.EXPLAINED:
        return _of(explanation_by(execution, events))
    if ended is replay.Ended.GAVE_UP:
        return attrs.evolve(result, violation=None, exhausted=too_many_alike(execution.steps))
    return result


def searched(
    events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
) -> Judged:
    """Judge the events as one part, by the search over the oracle's beliefs alone."""
    search = Search(events, (fresh_namespace(profile, observability),))
    steps = _allowed(len(events))
    ended = search.run(steps, PATIENCE)
    # If there was only one order, it has failed, and a subhistory could not show more.
    if ended is not Ended.FOUND and search.had_choices:
        subhistory = impossible_subhistory(events, profile, observability, search.stuck_at)
        if subhistory is not None:
            order, violation = subhistory
            return Judged(evidence=search.rules.evidence(), violation=violation, order=order)
        # Without a short proof of a violation there most likely is an order, so the search goes on.
        if ended is Ended.GAVE_UP:
            ended = search.run(steps, steps)
    if ended is Ended.IMPOSSIBLE:
        return _failed(search)
    # A recorded order is a range, which takes no memory.
    taken = search.order
    path = range(len(taken)) if _is_as_recorded(taken) else tuple(taken)
    # A search that gave up decides nothing, so the rules of its events are neither shown nor
    # broken.
    exhausted = "" if ended is Ended.FOUND else _too_many(search)
    return Judged(
        evidence=search.rules.evidence(),
        decided=search.rules,
        order=path,
        exhausted=exhausted,
        steps=search.spent,
        is_unexplained=not exhausted,
    )


def result_of(judge: Judge) -> Judged:
    """Return the result of a judge of events whose recorded order is the true one.

    Args:
        judge: the judge of all events, or of those up to a violation.
    """
    decided = judge.decided
    taken = len(decided)
    return Judged(
        evidence=_evidence(decided),
        decided=decided,
        violation=judge.violation,
        order=range(taken if judge.violation is None else taken + 1),
        exhausted=judge.exhausted,
        steps=taken,
        is_unexplained=judge.is_unexplained,
        overdue=judge.overdue,
    )


def _is_as_recorded(order: Sequence[int]) -> bool:
    return all(index == place for place, index in enumerate(order))


def _allowed(events: int) -> int:
    """Return the maximum number of search steps for this many events."""
    return max(STEPS_AT_LEAST, min(STEPS_AN_EVENT * events, STEPS_AT_MOST + 2 * events))


def _too_many(search: Search) -> str:
    if search.wide and not search.had_choices:
        return too_many_states(search.furthest + 1)
    return (
        "the overlapping requests have too many possible orders to try them all; "
        f"none was found that goes on after {search.furthest} events"
    )


def _failed(search: Search) -> Judged:
    # The longest order that is possible shows best which event fits nowhere.
    end = search.longest_path()
    why = end.why()
    violation = Violation(index=len(end.order) - 1, rules=why.rules, allowed=why.outcomes)
    return Judged(
        evidence=_evidence(end.rules), decided=end.rules, violation=violation, order=end.order
    )


def _evidence(decided: Iterable[tuple[v.RuleId, ...]]) -> Counter[v.RuleId]:
    return Counter(chain.from_iterable(decided))
