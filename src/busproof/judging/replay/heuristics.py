"""Heuristics: which of several overlapping requests most likely took effect first.

They decide nothing: a wrong hint only makes the search take longer.
"""

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.judging.replay.precedences import NEVER, Precedences

__all__ = ["Hints"]

_LAZY: Final = 9
"""Rank of events that are tried as late as possible."""

_RANKS: Final = {
    v.Indeterminate: 0,
    v.Unsupported: 0,
    v.Empty: 1,
    v.Refused: 2,
    v.Peeked: 3,
    v.Received: 4,
    v.ReceivedSeveral: 4,
}
"""Rank of answers that reveal the state: they are tried as soon as they are allowed."""

_EARLY: Final = 5

_BEGINNING: Final = (v.CreateQueue, v.BeginTransaction, v.AcceptSession)
"""Requests that later answers depend on."""

_LONG: Final = 1_000_000
"""Assumed duration in microseconds of a request that was never answered."""

_MANY: Final = 1_000_003


class Hints:
    """Hints about the order of overlapping events.

    Args:
        events: the events.
        first: the index of the first of them; others have come before.
    """

    def __init__(self, events: Sequence[v.Event], first: int = 0) -> None:
        self._first = first
        self._called = array("q", (event.called for event in events))
        returns = (event.returned for event in events)
        self._returned = array("q", (NEVER if time is None else time for time in returns))
        self._rank = [_rank(event) for event in events]
        needs: dict[int, list[int]] = defaultdict(list)
        for later, earlier in Precedences(events).pairs():
            # The times alone decide the order of events that do not overlap.
            if later != earlier and self._overlap(later, earlier):
                needs[first + later].append(first + earlier)
        self._needs = {later: tuple(dict.fromkeys(needed)) for later, needed in needs.items()}

    def _overlap(self, one: int, other: int) -> bool:
        called = self._called
        returned = self._returned
        return called[one] <= returned[other] and called[other] <= returned[one]

    def add(self, later: int, earlier: int) -> None:
        """Note that an event most likely took effect after another one."""
        if not self.follows(earlier, later):
            self._needs[later] = (*self._needs.get(later, ()), earlier)

    def follows(self, later: int, earlier: int) -> bool:
        """Return whether `later` most likely took effect after `earlier`, if the two overlap."""
        return earlier in self._needs.get(later, ())

    def ranked(
        self, candidates: Sequence[int], is_taken: Callable[[int], object], way: int = 0
    ) -> list[int]:
        """Return the candidates, with the most likely next event last.

        Args:
            candidates: the events that may come next.
            is_taken: whether an event has been placed already.
            way: the strategy: 0 uses the hints, 1 the times of return, 2 the middle between call
                and return, and any other number a random order that is always the same.
        """
        # A strategy that failed here would fail again, so each retry orders the candidates
        # differently.
        if way:
            return sorted(
                candidates, key=lambda candidate: self._otherwise(candidate, way), reverse=True
            )
        unmet: dict[int, list[int]] = {}
        for candidate in candidates:
            if open_ := [need for need in self._needs.get(candidate, ()) if not is_taken(need)]:
                unmet[candidate] = open_
        wanted = self._find_wanted(candidates, unmet) if unmet else ()
        places = {candidate: self._place(candidate, unmet, wanted) for candidate in candidates}
        return sorted(candidates, key=places.__getitem__, reverse=True)

    def _return(self, index: int) -> int:
        return self._returned[index - self._first]

    def _otherwise(self, index: int, way: int) -> float:
        # A fast bus: requests take effect in the order of their answers.
        if way == 1:
            return self._return(index)
        called = self._called[index - self._first]
        # A slow network: a request takes effect about halfway between its call and its return.
        if way == 2:
            return (called + min(self._return(index), called + _LONG)) / 2
        # Pseudorandom, but the same in every process, so that a verdict can be repeated.
        return hash((index, way, called)) % _MANY

    def _find_wanted(self, candidates: Sequence[int], unmet: dict[int, list[int]]) -> set[int]:
        """Return the candidates that eager ones wait for, directly or through others."""
        # The event that returned first cannot wait much longer, so what it needs is urgent as well.
        first = min(candidates, key=self._return)
        waiting = [
            candidate
            for candidate in candidates
            if self._rank[candidate - self._first] < _LAZY or candidate == first
        ]
        wanted: set[int] = set()
        while waiting:
            for need in unmet.get(waiting.pop(), ()):
                if need not in wanted and need in candidates:
                    wanted.add(need)
                    waiting.append(need)
        return wanted

    def _place(
        self, index: int, unmet: dict[int, list[int]], wanted: Collection[int]
    ) -> tuple[int, int, int]:
        rank = self._rank[index - self._first]
        returned = self._return(index)
        # An event that most likely follows one that has not been placed yet is tried last.
        if index in unmet:
            return (3, returned, rank)
        # An answer that reveals the state costs nothing if it is placed early, and may become
        # impossible if it is placed late.
        if rank < _LAZY:
            return (0, rank, returned)
        return (1 if index in wanted else 2, returned, rank)


def _rank(event: v.Event) -> int:
    # A send or a settlement changes which later answers are allowed, so it waits.
    if isinstance(event.outcome, v.Done):
        return _EARLY if type(event.command) in _BEGINNING else _LAZY
    return _RANKS.get(type(event.outcome), _EARLY)
