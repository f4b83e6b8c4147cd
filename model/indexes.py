"""Indexes that find the next message, the messages from a number on, and due timers quickly.

An index may contain stale entries: messages that were removed, are locked, or were undone. A stale
entry is dropped when it is met, once, so that no operation grows with the number of messages. An
undo can make a number available again; therefore an index holds the record itself and checks that
the table still has this very record, not only its number.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from itertools import islice
from operator import attrgetter
from typing import Any, Final, Generic, Protocol, TypeVar

from busproof.model.choices import CONSIDERED
from busproof.model.life_cycle import ACTIVE, State

__all__ = ["TIDY_FROM", "Line", "Timer", "Timers", "by_number"]

TIDY_FROM: Final = 64
"""Minimum size of an index for a clean-up."""

by_number: Final = attrgetter("number")


class Numbered(Protocol):
    """An item of a line."""

    number: int
    state: State


Item = TypeVar("Item", bound=Numbered)


class Line(Generic[Item]):
    """Messages in the order of their numbers, with quick access to the first available one.

    `arrived` has messages that were never released, with rising numbers; `returned` is a heap of
    those that were (LOCK-09: they precede messages that were sent later). `order` has all; those
    before `head` have left, as most do at the front, and no peek has to pass them.
    """

    __slots__ = ("arrived", "gone", "head", "order", "returned", "serial")

    def __init__(self) -> None:
        self.order: list[Item] = []
        self.arrived: deque[Item] = deque()
        self.returned: list[tuple[int, int, Item]] = []
        self.gone = self.head = 0
        self.serial = 0

    def first(self, table: Mapping[int, Item]) -> Item | None:
        """Return the first available message, dropping unavailable entries."""
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
        if returned and not (arrived and arrived[0].number < returned[0][0]):
            return returned[0][2]
        return arrived[0] if arrived else None

    def available(self, table: Mapping[int, Item]) -> Iterator[Item]:
        """Yield the first available message, then others among the next few."""
        first = self.first(table)
        if first is None:
            return
        yield first
        for item in islice(self.behind(table, first.number + 1), CONSIDERED - 1):
            if item.state == ACTIVE:
                yield item

    def behind(self, table: Mapping[int, Item], number: int) -> Iterator[Item]:
        """Return all items from this number on, in order."""
        order = self.order
        for place in range(max(bisect_left(order, number, key=by_number), self.head), len(order)):
            item = order[place]
            if table.get(item.number) is item:
                yield item

    def append(self, item: Item, *, available: bool = True) -> None:
        """Add a new or restored item; an index may already have it or an equal one."""
        order, arrived = self.order, self.arrived
        if not order or order[-1].number < item.number:
            order.append(item)
        else:
            self.insert(item)
        if available and (not arrived or arrived[-1].number < item.number):
            arrived.append(item)
        elif available:
            self.give_back(item)

    def give_back(self, item: Item) -> None:
        """Make a released message available again; it may have been given from the top."""
        if not self.returned or self.returned[0][2] is not item:
            self.serial += 1
            heappush(self.returned, (item.number, self.serial, item))

    def insert(self, item: Item) -> None:
        """Insert an item at the position of its number, once."""
        order = self.order
        place = bisect_left(order, item.number, key=by_number)
        self.head = min(self.head, place)
        while place < len(order) and order[place].number == item.number:
            if order[place] is item:
                return
            place += 1
        order.insert(place, item)

    def left(self, table: Mapping[int, Item]) -> None:
        """Count a removed item; skip the stale front, and clean up when half of it all is stale."""
        self.gone += 1
        order = self.order
        while self.head < len(order) and table.get(order[self.head].number) is not order[self.head]:
            self.head += 1
        if self.gone > TIDY_FROM and self.gone * 2 > len(order):
            self.order = [item for item in order if table.get(item.number) is item]
            self.gone = self.head = 0
            # No receiver has met those that expired or were deleted.
            self.arrived = deque(item for item in self.arrived if table.get(item.number) is item)
            self.returned = [entry for entry in self.returned if table.get(entry[0]) is entry[2]]
            heapify(self.returned)


Timer = tuple[int, int, str, int, str, Any]
"""Time, number and name (which break ties), serial number, rule that looks, record."""


class Timers:
    """Times at which to check a record; the record decides what happens.

    At equal times the lower number comes first, then the lower name: the order in which timers were
    set is not part of the state and changes after an undo.
    """

    __slots__ = ("heap", "serial", "stale")

    def __init__(self) -> None:
        self.heap: list[Timer] = []
        self.serial = 0
        self.stale = 0

    def set(self, moment: int, number: int, name: str, rule: str, thing: Any) -> None:
        """Set a timer for a record."""
        self.serial += 1
        heappush(self.heap, (moment, number, name, self.serial, rule, thing))

    def is_due(self, now: int) -> bool:
        """Return whether a timer is due."""
        return bool(self.heap) and self.heap[0][0] <= now

    def restore(self, timer: Timer) -> None:
        """Set a timer again after its effect was undone."""
        heappush(self.heap, timer)

    def tidy(self, is_live: Callable[[Timer], bool]) -> None:
        """Drop timers that no record needs, once they may be half of all."""
        if self.stale * 2 > len(self.heap):
            self.heap = [timer for timer in self.heap if is_live(timer)]
            heapify(self.heap)
            self.stale = 0
