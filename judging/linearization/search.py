"""Looking for an order of overlapping requests in which every answer was allowed.

The search goes depth first through the orders that the times permit: an event may come next if
nothing that is left returned before it was called, and the events of one client keep their order.
What it tries first decides whether it finds an order soon; what it leaves to try decides nothing,
for whatever it has not tried it comes back to until its budget ends. So a poor hint costs time, and
never a verdict.

What takes something away from the bus, or only looks at it, is tried as soon as it is allowed; what
adds something, or ends something, as late as its return permits or as an answer needs it. Then a
receive that came back empty finds as little as possible, and one that was given a message finds it.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Final

import attrs

from busproof.judging.judge import STATES_LIMIT
from busproof.judging.linearization.heuristics import Hints
from busproof.oracle.state import NEVER, Namespace
from busproof.oracle.step import Acceptance, accept
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.values import RuleId

__all__ = ["DeadEnd", "Ended", "Search"]

RETRY_AFTER: Final = 150
"""Steps without coming further after which another way of choosing is tried."""

WAYS: Final = 4
"""How many ways are tried from one place before the search goes back further."""

WITHDRAWN: Final = (8, 16, 32, 64, 128)
"""How many events are taken back, at first and later on."""

REMEMBERED: Final = 2_000
"""How many choices the search can come back to; older ones are settled, which it remembers."""


class Ended(Enum):
    """How a search ended."""

    FOUND = "found"
    IMPOSSIBLE = "impossible"
    GAVE_UP = "gave up"


@attrs.define(eq=False)
class _Point:
    """A place in the search.

    Attributes:
        possible: the states reached.
        chosen: the event that led here; -1 at the start.
        rules: the rules that decided it.
        depth: events taken so far.
        first: the first place in the order of calls at which an event may be left.
        untried: events that may come next, the most promising one last.
    """

    possible: tuple[Namespace, ...]
    chosen: int
    rules: tuple[RuleId, ...]
    depth: int
    first: int
    untried: list[int]


@attrs.frozen(eq=False, kw_only=True)
class DeadEnd:
    """A place from which nothing that could come next was allowed.

    Attributes:
        order: the events taken, and then one that had to come and was not allowed.
        rules: for each event taken, the rules that decided it.
        possible: the states reached.
        event: the one that was not allowed.
        waiting: all that could have come next.
    """

    order: tuple[int, ...]
    waiting: tuple[int, ...]
    rules: tuple[tuple[RuleId, ...], ...]
    possible: tuple[Namespace, ...]
    event: Event

    def why(self) -> Acceptance:
        """Which rules the event breaks, and what was allowed instead."""
        return accept(self.possible, self.event)


class Search:
    """One search, which may be continued with a larger budget.

    Args:
        events: what happened; their indices name them.
        start: the states before.
        ordered: whether the recorded order is the true one, as under a virtual clock.

    Attributes:
        order: the events taken, on the way that was looked at last.
        rules: for each of them the rules that decided it.
        had_choices: whether more than one event could come next anywhere.
    """

    def __init__(
        self, events: Sequence[Event], start: tuple[Namespace, ...], *, ordered: bool
    ) -> None:
        self._events = events
        self._ordered = ordered
        self._hints = Hints(events)
        self._order = _by_time(events, ordered=ordered)
        self._taken = bytearray(len(events))
        self._spent = 0
        self._way = 0
        self._wide = False
        self.had_choices = False
        self._forgotten = False
        self.order: list[int] = []
        self.rules: list[tuple[RuleId, ...]] = []
        self._dead_end: DeadEnd | None = None
        self._points = [self._point(start, -1, (), 0)]

    def run(self, steps: int, patience: int) -> Ended:
        """Search on.

        Where the search comes no further it goes back a little, and then more, and tries other
        ways of choosing from there, until it is past that place.

        Args:
            steps: how many may be taken in all, those of earlier calls included.
            patience: how many may be taken without coming further than ever before.
        """
        furthest, since, retries = len(self.order), self._spent, 0
        while len(self.order) < len(self._events):
            waited = self._spent - since
            if self._spent >= steps or waited > patience:
                return Ended.GAVE_UP
            if waited > (retries + 1) * RETRY_AFTER:
                retries += 1
                self._go_back(furthest, retries)
            if not self._descended() and not self._withdrawn():
                return Ended.GAVE_UP if self._wide or self._forgotten else Ended.IMPOSSIBLE
            if len(self.order) > furthest:
                furthest, since, retries, self._way = len(self.order), self._spent, 0, 0
        return Ended.FOUND

    def _go_back(self, furthest: int, retries: int) -> None:
        """Withdraw to some way before the furthest point, and choose in another way from there."""
        back = WITHDRAWN[min(retries // WAYS, len(WITHDRAWN) - 1)]
        while len(self.order) > max(0, furthest - back) and self._withdrawn():
            pass
        self._way = retries
        here = self._points[-1]
        here.untried = self._candidates(here.first)

    @property
    def spent(self) -> int:
        """How many events were tried so far, those that were taken back included."""
        return self._spent

    @property
    def stuck_at(self) -> tuple[int, ...]:
        """The events that could come next, and were not allowed, where the search came furthest."""
        return () if self._dead_end is None else self._dead_end.waiting

    def told(self) -> "DeadEnd":
        """The longest way that led to an event that was not allowed.

        Raises:
            AssertionError: nothing has stopped the search.
        """
        if self._dead_end is None:
            raise AssertionError("a search that ends without an order has failed somewhere")
        return self._dead_end

    def _point(
        self,
        possible: tuple[Namespace, ...],
        chosen: int,
        rules: tuple[RuleId, ...],
        first: int,
    ) -> _Point:
        order, taken = self._order, self._taken
        while first < len(order) and taken[order[first]]:
            first += 1
        untried = self._candidates(first)
        return _Point(possible, chosen, rules, len(self.order), first, untried)

    def _descended(self) -> bool:
        """Return whether one of the events left to try could come next."""
        here = self._points[-1]
        while here.untried:
            index = here.untried.pop()
            self._spent += 1
            accepted = accept(here.possible, self._events[index], explain=False)
            if len(accepted.possible) > STATES_LIMIT:
                self._wide = True
            elif accepted.possible:
                self._take(here, index, accepted)
                return True
        self._note(here)
        return False

    def _note(self, here: _Point) -> None:
        """Remember a dead end if none was further on; the event due first is the one to blame."""
        if self._dead_end is not None and len(self.order) < len(self._dead_end.order):
            return
        waiting = self._candidates(here.first)
        due = min(waiting, key=self._due)
        self._dead_end = DeadEnd(
            order=(*self.order, due),
            waiting=tuple(waiting),
            rules=tuple(self.rules),
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
        self._points.append(self._point(accepted.possible, index, accepted.rules, here.first))
        if len(self._points) > 2 * REMEMBERED:
            self._forget()

    def _forget(self) -> None:
        """Settle the oldest choices; where one had anything left to try, that is remembered."""
        old = self._points[:-REMEMBERED]
        self._forgotten = self._forgotten or any(point.untried for point in old)
        self._points = self._points[-REMEMBERED:]

    def _withdrawn(self) -> bool:
        """Return whether there was an event to take back."""
        if len(self._points) == 1:
            return False
        self._taken[self._points.pop().chosen] = 0
        self.order.pop()
        self.rules.pop()
        return True

    def _candidates(self, first: int) -> list[int]:
        """The events that may come next, the most promising one last."""
        order, events, taken = self._order, self._events, self._taken
        if self._ordered:
            return list(order[first : first + 1])
        found: list[int] = []
        clients: set[str] = set()
        barrier = NEVER
        for place in range(first, len(order)):
            index = order[place]
            event = events[index]
            if event.called > barrier:
                break
            if taken[index]:
                continue
            if event.client not in clients:
                found.append(index)
            clients.add(event.client)
            if event.returned is not None and event.returned < barrier:
                barrier = event.returned
        if len(found) < 2:
            return found
        self.had_choices = True
        return self._hints.ranked(found, taken, self._way)


def _by_time(events: Sequence[Event], *, ordered: bool) -> list[int]:
    """The events' indices by call time; recorded order decides where times are equal."""
    if ordered:
        return list(range(len(events)))
    return sorted(range(len(events)), key=lambda index: (events[index].called, index))
