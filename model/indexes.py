"""Indexes that quickly find the next message, the messages from a number on, and due timers.

An index may have stale entries: messages that were removed or locked, or whose arrival was undone.
A stale entry is dropped once, when it is met, so that no operation takes longer the more messages
there are. After an undo, a number may be given to another message; so an index has the records
themselves, and checks that the table still has this very record under its number.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from heapq import heapify, heappop, heappush
from operator import attrgetter
from typing import Any, Final, Generic, Protocol, TypeVar

from busproof.model.life_cycle import ACTIVE, State

__all__ = ["TIDY_FROM", "Line", "Timer", "Timers", "by_number"]

TIDY_FROM: Final = 64
"""Minimum number of entries for a clean-up."""

by_number: Final = attrgetter("number")


class Numbered(Protocol):
    """An item of a line: a record with a sequence number."""

    number: int
    state: State


Item = TypeVar("Item", bound=Numbered)


class Line(Generic[Item]):
    """Messages by sequence number, with quick access to the first available one.

    `arrived` has the messages that were never released, with rising numbers. `returned` is a heap
    of those that were released, which come before messages that were sent later (LOCK-09). `order`
    has all messages; those before `head` have left, so that a peek need not pass them.
    """

    __slots__ = ("arrived", "gone", "head", "order", "returned", "serial")

    def __init__(self) -> None:
        self.order: list[Item] = []
        self.arrived: deque[Item] = deque()
        self.returned: list[tuple[int, int, Item]] = []
        self.gone = self.head = 0
        self.serial = 0

    def first(self, table: Mapping[int, Item]) -> Item | None:
        """Return the first available message, after dropping unavailable entries before it."""
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
        """Yield the available messages, the first one first."""
        first = self.first(table)
        if first is not None:
            yield from self.starting_with(table, first)

    def starting_with(self, table: Mapping[int, Item], first: Item) -> Iterator[Item]:
        """Yield the available messages, of which the first one is known."""
        yield first
        yield from self.after(table, first)

    def after(self, table: Mapping[int, Item], first: Item) -> Iterator[Item]:
        """Yield the available messages after the first one; policies look only at some."""
        for item in self.behind(table, first.number + 1):
            if item.state == ACTIVE:
                yield item

    def behind(self, table: Mapping[int, Item], number: int) -> Iterator[Item]:
        """Yield all items from this number on, in order."""
        order = self.order
        for place in range(max(bisect_left(order, number, key=by_number), self.head), len(order)):
            item = order[place]
            if table.get(item.number) is item:
                yield item

    def append(self, item: Item, *, available: bool = True) -> None:
        """Add a new or restored item; the index may already have it, or an older record of it."""
        order, arrived = self.order, self.arrived
        if not order or order[-1].number < item.number:
            order.append(item)
        else:
            self.insert(item)
        if not available:
            return
        if not arrived or arrived[-1].number < item.number:
            arrived.append(item)
        elif arrived[-1].number == item.number:
            arrived[-1] = item
        else:
            self.give_back(item)

    def give_back(self, item: Item) -> None:
        """Make a released message available again, unless it is the first of `returned` already."""
        if not self.returned or self.returned[0][2] is not item:
            self.serial += 1
            heappush(self.returned, (item.number, self.serial, item))

    def insert(self, item: Item) -> None:
        """Insert an item at the place of its number, if it is not there yet."""
        order = self.order
        place = bisect_left(order, item.number, key=by_number)
        self.head = min(self.head, place)
        if place < len(order) and order[place].number == item.number:
            order[place] = item
        else:
            order.insert(place, item)

    def left(self, table: Mapping[int, Item]) -> None:
        """Count a removed item, skip those at the front, and clean up if half are removed."""
        self.gone += 1
        order = self.order
        while self.head < len(order) and table.get(order[self.head].number) is not order[self.head]:
            self.head += 1
        if self.gone > TIDY_FROM and self.gone * 2 > len(order):
            self.order = [item for item in order if table.get(item.number) is item]
            self.gone = self.head = 0
            # Messages that expired or were deleted were never met by a receiver.
            self.arrived = deque(item for item in self.arrived if table.get(item.number) is item)
            self.returned = [entry for entry in self.returned if table.get(entry[0]) is entry[2]]
            heapify(self.returned)


Timer = tuple[int, int, str, int, str, Any]
"""Time; number and name, which order equal times; serial number; rule to call; record."""


class Timers:
    """Times at which to call a rule for a record; the record's state decides what happens.

    At equal times the lower number comes first, then the lower name. The order in which timers were
    set does not count: it is not part of the state, and an undo changes it.
    """

    __slots__ = ("heap", "most", "serial")

    def __init__(self) -> None:
        self.heap: list[Timer] = []
        self.serial = 0
        self.most = TIDY_FROM

    def set(self, moment: int, number: int, name: str, rule: str, thing: Any) -> None:
        """Set a timer that calls the rule for this record."""
        self.serial += 1
        heappush(self.heap, (moment, number, name, self.serial, rule, thing))

    def is_due(self, now: int) -> bool:
        """Return whether a timer is due."""
        return bool(self.heap) and self.heap[0][0] <= now

    def restore(self, timer: Timer) -> None:
        """Set a timer again after its effect was undone."""
        heappush(self.heap, timer)

    def tidy(self, is_live: Callable[[Timer], bool]) -> None:
        """Drop the timers that no record needs any more; due when there are more than `most`."""
        self.heap = [timer for timer in self.heap if is_live(timer)]
        heapify(self.heap)
        self.most = 2 * len(self.heap) + TIDY_FROM
