"""Search for an order of overlapping requests in which every answer was allowed.

It is a depth-first search through the orders that the times permit. An event may come next if no
remaining one returned before it was called, and the events of one client keep their order. What is
tried first decides only how soon an order is found, because the search returns to all untried
events until its budget ends. So a poor hint costs time, and never a verdict.

Events that remove something from the bus, or only observe it, are tried as soon as they are
allowed. Events that add or end something are tried as late as their return permits or as an answer
requires. Then an empty receive finds as few messages as possible, and a successful one finds its
message.
"""

from array import array
from collections.abc import Sequence
from enum import Enum
from itertools import islice
from operator import le
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.decided import Decided
from busproof.judging.replay.heuristics import Hints
from busproof.judging.second_opinion import STATES_LIMIT
from busproof.oracle.state import NEVER, Namespace
from busproof.oracle.step import Acceptance, accept

__all__ = ["DeadEnd", "Ended", "Search", "follow_one_another"]

RETRY_AFTER: Final = 150
"""Number of steps without progress before another strategy is tried."""

WAYS: Final = 4
"""Number of strategies to try from one point before going back further."""

WITHDRAWN: Final = (8, 16, 32, 64, 128)
"""How many events to undo, from the first time to later ones."""

REMEMBERED: Final = 2_000
"""Maximum number of choices kept for backtracking; that older ones are final is recorded."""

LATEST: Final = max(WITHDRAWN) + 1
"""Number of points kept while there was only one order, to go back to with another strategy."""


class Ended(Enum):
    """End of a search."""

    FOUND = "found"
    IMPOSSIBLE = "impossible"
    GAVE_UP = "gave up"


@attrs.define(eq=False)
class _Point:
    """A point of the current path.

    Attributes:
        possible: the states that are possible here.
        chosen: the event that led here; -1 at the start.
        first: a place in the order of calls; all events before it have been taken.
        untried: the events that may come next, the most promising one last.
    """

    possible: tuple[Namespace, ...]
    chosen: int
    first: int
    untried: list[int]


@attrs.frozen(eq=False, kw_only=True)
class DeadEnd:
    """A point where no event that could come next was allowed.

    Attributes:
        order: the events taken, and after them the one that had to come and was not allowed.
        rules: for each event taken, the rules that decided it.
        possible: the states that were possible here.
        event: the event that was not allowed.
        waiting: all events that could have come next.
    """

    order: tuple[int, ...]
    waiting: tuple[int, ...]
    rules: tuple[tuple[v.RuleId, ...], ...]
    possible: tuple[Namespace, ...]
    event: v.Event

    def why(self) -> Acceptance:
        """Return the rules that the event breaks, and the allowed answers."""
        return accept(self.possible, self.event)


class Search:
    """A search for an order, which can be continued with a larger budget.

    Args:
        events: the events, identified by their indices.
        start: the states that are possible before them.

    Attributes:
        order: the events taken on the current path.
        rules: for each event taken, the rules that decided it.
        had_choices: whether more than one event could come next at any point.
        wide: whether an order was left because too many states were possible in it.
    """

    def __init__(self, events: Sequence[v.Event], start: tuple[Namespace, ...]) -> None:
        self._events = events
        self._ordered = ordered = follow_one_another(events)
        self._hints: Hints | None = None
        # If the order is known, the times are not needed.
        self._times = _Times(() if ordered else events)
        self._order = _by_time(self._times, len(events), ordered=ordered)
        self._taken = bytearray(len(events))
        self._spent = 0
        self._way = 0
        self.had_choices = False
        self.wide = False
        self._forgotten = False
        self.order = array("I")
        self.rules = Decided()
        self._dead_end: DeadEnd | None = None
        self._points = [self._point(start, -1, 0)]

    def run(self, steps: int, patience: int) -> Ended:
        """Continue the search, and return how it ended.

        Without progress the search goes back a little, then further, and tries other strategies
        from there, until it has passed that point.

        Args:
            steps: the maximum number of steps, including those of earlier calls.
            patience: the maximum number of steps without progress.
        """
        furthest, since, retries = len(self.order), self._spent, 0
        while len(self.order) < len(self._events):
            waited = self._spent - since
            if self._spent >= steps or waited > patience:
                return Ended.GAVE_UP
            # Depth-first search is stuck if an early wrong choice shows only late. Trying all
            # orders of the last events would take too long, so it goes back further each time.
            if waited > (retries + 1) * RETRY_AFTER:
                retries += 1
                self._go_back(furthest, retries)
            # If nothing is left to try, there is no order, unless something was left out before.
            if not self._descended() and not self._withdrawn():
                return Ended.GAVE_UP if self.wide or self._forgotten else Ended.IMPOSSIBLE
            # After progress, the next difficulty begins with the first strategy again.
            if len(self.order) > furthest:
                furthest, since, retries, self._way = len(self.order), self._spent, 0, 0
        return Ended.FOUND

    def _go_back(self, furthest: int, retries: int) -> None:
        """Go back to an earlier point, and order the candidates differently there."""
        # Most difficulties begin a few events ago, so the nearest points are tried first.
        back = WITHDRAWN[min(retries // WAYS, len(WITHDRAWN) - 1)]
        while len(self.order) > max(0, furthest - back) and self._withdrawn():
            pass
        self._way = retries
        here = self._points[-1]
        # Candidates that were tried here may succeed now, after other events.
        here.untried = self._candidates(here.first)

    @property
    def spent(self) -> int:
        """Number of events tried so far, including those that were undone."""
        return self._spent

    @property
    def stuck_at(self) -> tuple[int, ...]:
        """The events that could have come next at the furthest dead end, and were not allowed."""
        return () if self._dead_end is None else self._dead_end.waiting

    @property
    def furthest(self) -> int:
        """Maximum number of events that were taken before a dead end, or are taken now."""
        dead = 0 if self._dead_end is None else len(self._dead_end.order) - 1
        return max(dead, len(self.order))

    def longest_path(self) -> "DeadEnd":
        """Return the dead end with the longest path before it.

        Raises:
            AssertionError: the search has met no dead end.
        """
        if self._dead_end is None:
            raise AssertionError("a search without a solution has a dead end")
        return self._dead_end

    def _point(self, possible: tuple[Namespace, ...], chosen: int, first: int) -> _Point:
        order, taken = self._order, self._taken
        while first < len(order) and taken[order[first]]:
            first += 1
        untried = self._candidates(first)
        return _Point(possible, chosen, first, untried)

    def _descended(self) -> bool:
        """Try the events that may come next; return whether one is allowed, and was taken."""
        here = self._points[-1]
        while here.untried:
            index = here.untried.pop()
            self._spent += 1
            accepted = accept(here.possible, self._events[index], explain=False)
            # Too many states are not a refutation, so the search may only give up in the end.
            if len(accepted.possible) > STATES_LIMIT:
                self.wide = True
            # The first allowed event is taken, and the others stay untried for backtracking.
            elif accepted.possible:
                self._take(here, index, accepted)
                return True
        self._note(here)
        return False

    def _note(self, here: _Point) -> None:
        """Record a dead end if none was further; the event that returned first is the suspect."""
        # The longest path explains a violation best, because all events before its end are
        # explained.
        if self._dead_end is not None and len(self.order) < len(self._dead_end.order):
            return
        waiting = self._candidates(here.first)
        # An event that returned late may still come after others; the one that returned first may
        # not.
        due = min(waiting, key=self._due)
        self._dead_end = DeadEnd(
            order=(*self.order, due),
            waiting=tuple(waiting),
            rules=self.rules[:],
            possible=here.possible,
            event=self._events[due],
        )

    def _due(self, index: int) -> int:
        returned = self._events[index].returned
        return NEVER if returned is None else returned

    def _take(self, here: _Point, index: int, accepted: Acceptance) -> None:
        self._taken[index] = 1
        self.order.append(index)
        self.rules.append(accepted.rules)
        self._points.append(self._point(accepted.possible, index, here.first))
        # The states of a million events do not fit into memory. Twice as many as needed are kept,
        # so that old ones are seldom dropped.
        needed = REMEMBERED if self.had_choices else LATEST
        if len(self._points) > 2 * needed:
            self._forget(needed)

    def _forget(self, needed: int) -> None:
        """Drop the oldest points, and remember whether one of them had untried events."""
        old = self._points[:-needed]
        self._forgotten = self._forgotten or any(point.untried for point in old)
        self._points = self._points[-needed:]

    def _withdrawn(self) -> bool:
        """Undo the last event; return whether there was one."""
        if len(self._points) == 1:
            return False
        self._taken[self._points.pop().chosen] = 0
        self.order.pop()
        self.rules.pop()
        return True

    def _candidates(self, first: int) -> list[int]:
        """Return the events that may come next, the most promising one last."""
        order, times, taken = self._order, self._times, self._taken
        # If no requests overlap, the recorded order is the only one.
        if self._ordered:
            return list(order[first : first + 1])
        candidates: list[int] = []
        clients: set[int] = set()
        barrier = NEVER
        for place in range(first, len(order)):
            index = order[place]
            if taken[index]:
                continue
            client = times.client[index]
            # A remaining event returned before this one was called, so this one cannot come first.
            # Nor can those after it, because events are sorted by their calls.
            if times.called[index] > barrier:
                break
            # A client waits for each answer, so only its first remaining event can come next.
            if client not in clients:
                candidates.append(index)
                clients.add(client)
            barrier = min(barrier, times.returned[index])
        if len(candidates) < 2:
            return candidates
        self.had_choices = True
        if self._hints is None:
            self._hints = Hints(self._events)
        return self._hints.ranked(candidates, taken.__getitem__, self._way)


class _Times:
    """Calls, returns and numbered clients of events, in 20 bytes for each event."""

    def __init__(self, events: Sequence[v.Event]) -> None:
        self.called = array("q")
        self.returned = array("q")
        self.client = array("i")
        numbers: dict[str, int] = {}
        for event in events:
            self.called.append(event.called)
            self.returned.append(NEVER if event.returned is None else event.returned)
            self.client.append(numbers.setdefault(event.client, len(numbers)))


def follow_one_another(events: Sequence[v.Event]) -> bool:
    """Return whether each event returned before the next one was called: one order is possible."""
    barrier = -NEVER
    for event in events:
        if event.called <= barrier:
            return False
        barrier = NEVER if event.returned is None else event.returned
    return True


def _by_time(times: _Times, count: int, *, ordered: bool) -> Sequence[int]:
    """Return the indices of the events by call time, and by recorded order if it is equal."""
    if ordered:
        return range(count)
    if all(map(le, times.called, islice(times.called, 1, None))):
        return range(count)
    return array("I", sorted(range(count), key=times.called.__getitem__))
