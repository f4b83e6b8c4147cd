"""Shrinking of a failure: remove the commands that it does not need.

Each candidate is tested for one property: whether it still fails. When the budget ends, the result
is the smallest failure found by then.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.history.records import Oracle
from busproof.judging.compress_time import without_waiting
from busproof.judging.judge import Judge, observability_for
from busproof.judging.simplifying import Spent

__all__ = ["minimised", "off_the_wire"]

T = TypeVar("T")
Fails = Callable[[Sequence[T]], bool]


def minimised(items: Sequence[T], fails: Fails[T]) -> tuple[T, ...]:
    """Return the items that the failure needs, found by delta debugging.

    Args:
        items: the failing items.
        fails: the test whether a candidate still fails; it may raise `Spent`.
    """
    best = tuple(items)
    size = max(1, len(best) // 2)
    while best:
        smaller = _once_through(best, size, fails)
        if isinstance(smaller, _Stopped):
            return tuple(smaller.best)
        if smaller == best and size == 1:
            break
        size = max(1, size // 2) if smaller == best else min(size, max(1, len(smaller) // 2))
        best = smaller
    return best


@attrs.frozen
class _Stopped:
    best: Sequence[Any]


def _once_through(best: tuple[T, ...], size: int, fails: Fails[T]) -> "tuple[T, ...] | _Stopped":
    """Try to remove each piece of this size, from the end, where most items are not needed."""
    start = max(0, len(best) - size)
    while True:
        candidate = best[:start] + best[start + size :]
        try:
            if candidate and fails(candidate):
                best = candidate
        except Spent:
            return _Stopped(best)
        if start == 0:
            return best
        start = max(0, min(start, len(best)) - size)


def off_the_wire(
    events: Sequence[v.Event],
    rule: v.RuleId,
    profile: v.Profile,
    observability: v.Observability,
    oracle: Oracle,
) -> tuple[v.Event, ...]:
    """Return the recorded events that the judge needs to reject the last one.

    No request is sent. The result is a guess, because the bus might have answered differently
    without the removed requests.
    """
    last = len(events) - 1

    def fails(places: Sequence[int]) -> bool:
        judge = Judge(profile, observability_for(observability, oracle))
        *before, at_last = without_waiting(events, (*places, last))
        if any(judge.saw(event) for event in before):
            return False
        violation = judge.saw(at_last)
        return violation is not None and rule in violation.rules

    return without_waiting(events, (*minimised(range(last), fails), last))
