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
from busproof.judging.linearization.long_subhistories import OnRealClock, impossible_subhistory_at
from busproof.judging.linearization.message_subhistories import diagnose_path, impossible_subhistory
from busproof.judging.liveness import Patience
from busproof.judging.replay.explanation import LONGEST as LONGEST_AGAIN
from busproof.judging.replay.explanation import hasty_budget, too_many_executions
from busproof.judging.replay.long_histories import LONG, search_piecewise, too_far_back
from busproof.judging.replay.orders import follow_one_another
from busproof.judging.replay.search import Ended, Search
from busproof.judging.stretches import LEAST, judged_in_stretches
from busproof.judging.violation import Violation

__all__ = ["Judged", "judged", "judged_part", "result_of"]

STEPS_AN_EVENT: Final = 20
STEPS_AT_LEAST: Final = 20_000
STEPS_AT_MOST: Final = 400_000
"""Maximum number of search steps before a search is inconclusive.

They take about three minutes. Each event of a longer history adds two steps.
"""

LONGEST: Final = 500_000
"""Number of events of a part up to which all of it is searched, in 4 KB for each of them."""

_OF_ALL: Final = (v.ListQueues, v.ListTopics)
"""Requests about all entities, which change nothing."""


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
        overdue: the first violation that only the time between allowed events shows; only on a
            virtual clock.
    """

    evidence: Counter[v.RuleId]
    decided: Sequence[tuple[v.RuleId, ...]] = ()
    violation: Violation | None = None
    order: Sequence[int] = ()
    exhausted: str = ""
    steps: int = 0
    overdue: Violation | None = None


@seldom_collected()
def judged(
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    cores: int = 1,
) -> Judged:
    """Judge events: find an order that the times permit and in which every answer is allowed.

    Independent parts are judged separately (`decompose`). If no order of a part is found soon, its
    subhistories are tried: one that has no order proves that the part has none
    (`message_subhistories`). If neither is found before the budget ends, there is no verdict.

    A list of all entities keeps all parts together. If that was too much, the events are judged
    without lists: what has no order without them has none with them.

    Args:
        events: the events.
        profile: the profile of the namespace.
        observability: what the observer sees.
        cores: how many processes may judge one long history (`stretches`).
    """
    result = _by_parts(events, profile, observability, cores)
    if not result.exhausted:
        return result
    others = [index for index, event in enumerate(events) if not isinstance(event.command, _OF_ALL)]
    if len(others) == len(events):
        return result
    without = _by_parts(Reordered(events, others), profile, observability, cores)
    if without.violation is None:
        return result
    return attrs.evolve(without, order=tuple(others[place] for place in without.order))


def _by_parts(
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    cores: int,
) -> Judged:
    # On a virtual clock there is one order, so dividing it would save nothing.
    if observability.clock is v.Clock.VIRTUAL:
        return judged_part(events, profile, observability)
    all_parts = parts(events)
    # A copy of compressed events would not be compressed.
    if len(all_parts) == 1:
        return judged_part(events, profile, observability, cores)
    results = []
    for indices in all_parts:
        part = judged_part([events[index] for index in indices], profile, observability, cores)
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
    )


@seldom_collected()
def judged_part(
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
    cores: int = 1,
) -> Judged:
    """Judge the events as one part; for the events of a whole history call `judged`.

    On a virtual clock they are judged one by one, as in a run. Elsewhere an execution of the model
    is sought that gives all recorded answers, in an order that the times permit.
    """
    if observability.clock is v.Clock.VIRTUAL:
        return _judge_one_by_one(events, profile, observability)
    by_call = _by_call(events)
    if by_call is not None:
        # A recorder writes an event when it is answered, and the replay reads them by their calls.
        result = judged_part(Reordered(events, by_call), profile, observability, cores)
        return attrs.evolve(result, order=tuple(by_call[place] for place in result.order))
    if cores > 1 and len(events) > 2 * LEAST:
        found = judged_in_stretches(events, profile, observability, cores)
        if found is not None:
            return Judged(
                evidence=found.decided.evidence(),
                decided=found.decided,
                order=found.order,
                steps=found.steps,
            )
    if len(events) > LONG:
        result = _judge_piecewise(events, profile, observability)
        if not result.exhausted or len(events) > LONGEST:
            return result
    # How long somebody waited in vain says nothing while other requests are under way.
    patience = Patience(events, forgiven=0)
    search = Search(events, profile, observability, patience=patience)
    ended = search.run(hasty_budget(len(events)))
    # If there is only one order, a subhistory could not show more than the whole has shown.
    if ended is Ended.GAVE_UP or not (ended is Ended.EXPLAINED or follow_one_another(events)):
        subhistory = impossible_subhistory(events, profile, observability, search.waiting)
        if subhistory is not None:
            order, violation = subhistory
            return Judged(evidence=Counter(), violation=violation, order=order)
    # Without a short proof of a violation there most likely is an order, so the search goes on.
    if ended is Ended.GAVE_UP:
        search = Search(events, profile, observability, patience=patience)
        ended = search.run(_budget_for(len(events)))
    return _of(search, ended, events, profile, observability)


def _judge_piecewise(
    events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
) -> Judged:
    """Judge a long history, in memory that does not grow with its length.

    Where no order goes on, one of its subhistories may show why. The search proves nothing, because
    it does not go back to the beginning.
    """
    search, ended = search_piecewise(events, profile, observability, forgiven=0)
    if ended is Ended.EXPLAINED:
        return _result_of_explanation(search)
    subhistory = impossible_subhistory_at(
        events, profile, observability, [events[index] for index in search.waiting]
    )
    if subhistory is not None:
        order, violation = subhistory
        return Judged(evidence=Counter(), violation=violation, order=order, steps=search.steps)
    return Judged(evidence=Counter(), exhausted=too_far_back(search), steps=search.steps)


def _result_of_explanation(search: Search) -> Judged:
    """Return the result of a search that has explained all events."""
    trail = search.trail
    decided = trail.decided
    order = trail.order
    is_short = len(order) <= LONG
    return Judged(
        evidence=decided.evidence(),
        decided=decided.reordered(order),
        order=tuple(order) if is_short and not isinstance(order, range) else order,
        steps=search.steps,
    )


def _of(
    search: Search,
    ended: Ended,
    events: Sequence[v.Event],
    profile: v.Profile,
    observability: v.Observability,
) -> Judged:
    """Return the result of a search of a whole part."""
    if ended is Ended.GAVE_UP:
        return Judged(evidence=Counter(), exhausted=_too_many(search, events), steps=search.steps)
    if ended is Ended.IMPOSSIBLE:
        # The longest path shows best which event fits nowhere.
        path = (*search.longest_path, search.waiting[0])
        violation = diagnose_path(events, path, profile, observability)
        return Judged(evidence=Counter(), violation=violation, order=path, steps=search.steps)
    return _result_of_explanation(search)


def _judge_one_by_one(
    events: Sequence[v.Event], profile: v.Profile, observability: v.Observability
) -> Judged:
    judge = Judge(profile, observability)
    for event in events:
        judge.saw(event)
        if judge.violation is not None or judge.exhausted:
            break
    result = result_of(judge)
    wrong = len(result.order)
    if not judge.exhausted or wrong < LONGEST_AGAIN:
        return result
    # So late, no other execution is looked for; but the messages of the event may prove that there
    # is none.
    on_real_clock = attrs.evolve(observability, clock=v.Clock.REAL)
    until = OnRealClock(events, wrong + 1)
    proof = impossible_subhistory_at(until, profile, on_real_clock, [events[wrong]])
    if proof is None:
        return result
    _, found = proof
    violation = Violation(index=wrong, rules=found.rules, allowed=found.allowed)
    return attrs.evolve(result, exhausted="", violation=violation, order=range(wrong + 1))


def _by_call(events: Sequence[v.Event]) -> Sequence[int] | None:
    """Return the indices of the events in the order of their calls; `None` if that is theirs."""
    called = array("q", (event.called for event in events))
    if all(map(le, called, islice(called, 1, None))):
        return None
    return array("I", sorted(range(len(called)), key=called.__getitem__))


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
        overdue=judge.overdue,
    )


def _budget_for(events: int) -> int:
    """Return the maximum number of search steps for this many events."""
    return max(STEPS_AT_LEAST, min(STEPS_AN_EVENT * events, STEPS_AT_MOST + 2 * events))


def _too_many(search: Search, events: Sequence[v.Event]) -> str:
    if follow_one_another(events):
        return too_many_executions(search.furthest)
    return (
        "the overlapping requests have too many possible orders to try them all; "
        f"none was found that goes on after {search.furthest} events"
    )


def _evidence(decided: Iterable[tuple[v.RuleId, ...]]) -> Counter[v.RuleId]:
    return Counter(chain.from_iterable(decided))
