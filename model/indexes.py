"""Indexes: how the next message, those behind a number and what is due are found quickly.

An index may hold more than it should: messages that have left, that are locked, or that came and
were undone. Such an entry is dropped when it is met, once, so that no operation grows with the
messages held. A number may be given out again after an undo; so an index holds the record itself
and asks whether the table still has this very record, never whether it has the number.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from itertools import islice
from operator import attrgetter
from typing import Any, Final, Generic, Protocol, TypeVar

from busproof.model.life_cycle import ACTIVE, State

__all__ = ["CONSIDERED", "TIDY_FROM", "Line", "Timer", "Timers", "by_number"]

CONSIDERED: Final = 64
"""How many messages of a line a policy may look at that does not simply take the first."""
TIDY_FROM: Final = 64
"""Below this size an index is not worth tidying."""

by_number: Final = attrgetter("number")


class Numbered(Protocol):
    """Something in a line."""

    number: int
    state: State


Item = TypeVar("Item", bound=Numbered)


class Line(Generic[Item]):
    """Messages in the order of their numbers, and the first that is available.

    `arrived` has those that were never given back, which come with rising numbers; `returned` is a
    heap of those that were (LOCK-09: they come before messages that were sent later).
    """

    __slots__ = ("arrived", "gone", "order", "returned", "serial")

    def __init__(self) -> None:
        self.order: list[Item] = []
        self.arrived: deque[Item] = deque()
        self.returned: list[tuple[int, int, Item]] = []
        self.gone = 0
        self.serial = 0

    def first(self, table: Mapping[int, Item]) -> Item | None:
        """Return the first available message, dropping what is not available any more."""
        arrived, returned = self.arrived, self.returned
        while arrived:
            front = arrived[0]
            if front.state == ACTIVE and table.get(front.number) is front:
                break
            arrived.popleft()
        while returned:
            back = returned[0][2]
            if back.state == ACTIVE and table.get(back.number) is back:
                break
            heappop(returned)
        if not returned:
            return arrived[0] if arrived else None
        if arrived and arrived[0].number < returned[0][0]:
            return arrived[0]
        return returned[0][2]

    def available(self, table: Mapping[int, Item]) -> Iterator[Item]:
        """Return the first available message, then the others among the next few, lazily."""
        first = self.first(table)
        start = 0 if first is None else first.number
        for item in islice(self.behind(table, start), CONSIDERED):
            if item.state == ACTIVE:
                yield item

    def behind(self, table: Mapping[int, Item], number: int) -> Iterator[Item]:
        """Return everything from this number on, in order."""
        order = self.order
        for place in range(bisect_left(order, number, key=by_number), len(order)):
            item = order[place]
            if table.get(item.number) is item:
                yield item

    def append(self, item: Item, *, available: bool = True) -> None:
        """Add what arrives now, or is restored; an index may have it already, or its like."""
        order, arrived = self.order, self.arrived
        if not order or order[-1].number < item.number:
            order.append(item)
        else:
            self.insert(item)
        if not available:
            return
        if not arrived or arrived[-1].number < item.number:
            arrived.append(item)
        else:
            self.give_back(item)

    def give_back(self, item: Item) -> None:
        """Make a message available again."""
        self.serial += 1
        heappush(self.returned, (item.number, self.serial, item))

    def insert(self, item: Item) -> None:
        """Put an item where its number belongs, once."""
        order = self.order
        place = bisect_left(order, item.number, key=by_number)
        while place < len(order) and order[place].number == item.number:
            if order[place] is item:
                return
            place += 1
        order.insert(place, item)

    def left(self, table: Mapping[int, Item]) -> None:
        """Count an item that has left, and tidy once half of the line has."""
        self.gone += 1
        if self.gone > TIDY_FROM and self.gone * 2 > len(self.order):
            self.order = [item for item in self.order if table.get(item.number) is item]
            self.gone = 0


Timer = tuple[int, int, str, int, str, Any]
"""When to look, the number and the name that break ties, a serial, at what kind of thing, which."""


class Timers:
    """When to look at which record; a timer decides nothing, the record does.

    At one moment what has the lower number comes first, and then what has the lower name: in which
    order timers were set is no part of the truth, and differs after an undo.
    """

    __slots__ = ("heap", "serial", "stale")

    def __init__(self) -> None:
        self.heap: list[Timer] = []
        self.serial = 0
        self.stale = 0

    def set(self, moment: int, number: int, name: str, kind: str, thing: Any) -> None:
        """Have a record looked at when its time has come."""
        self.serial += 1
        heappush(self.heap, (moment, number, name, self.serial, kind, thing))

    def is_due(self, now: int) -> bool:
        """Whether there is something to look at by now."""
        return bool(self.heap) and self.heap[0][0] <= now

    def restore(self, timer: Timer) -> None:
        """Set a timer again that had run."""
        heappush(self.heap, timer)

    def tidy(self, is_live: Callable[[Timer], bool]) -> None:
        """Drop the timers that no record needs, once they may be half of them."""
        if self.stale * 2 > len(self.heap):
            self.heap = [timer for timer in self.heap if is_live(timer)]
            heapify(self.heap)
            self.stale = 0
