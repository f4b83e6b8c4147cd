"""The bus itself, which knows nothing of busproof: times are whole microseconds, from any start."""

import itertools
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

PARTITION_BITS = 48
"""Bits of a sequence number below the shelf's number."""
LONGEST_LOCK = 300_000_000
"""No letter is held for longer than 5 minutes."""


class BusError(Exception):
    """The bus says no; the message is one of a few fixed words."""


@dataclass
class Letter:
    """What a sender writes."""

    body: str
    message_id: str | None = None
    session_id: str | None = None
    partition_key: str | None = None


@dataclass
class Item:
    """A letter on a shelf."""

    number: int
    letter: Letter
    deliveries: int = 0
    token: str = ""
    locked_until: int = 0

    def is_locked(self, now: int) -> bool:
        """Whether somebody holds it."""
        return bool(self.token) and now < self.locked_until


@dataclass
class Shelf:
    """One partition: what it holds, in order of arrival, and which ids it has seen."""

    place: int
    items: list[Item] = field(default_factory=list)
    arrivals: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    is_up: bool = True

    def put(self, letter: Letter) -> None:
        """Put a letter behind all others."""
        self.arrivals += 1
        self.items.append(Item((self.place << PARTITION_BITS) + self.arrivals, letter))

    def saw_before(self, message_id: str, now: int, window: int) -> bool:
        """Whether this id came within the window; if not, it has come now."""
        if message_id in self.seen and now - self.seen[message_id] < window:
            return True
        self.seen[message_id] = now
        return False


@dataclass
class Queue:
    """A row of shelves."""

    shelves: list[Shelf]
    lock_duration: int
    max_deliveries: int
    duplicate_window: int | None
    turn: Iterator[int] = field(default_factory=itertools.count)
    tokens: Iterator[int] = field(default_factory=itertools.count)
    asked_first: int = 0

    def put(self, letter: Letter, now: int) -> int:
        """Put a letter on the shelf that its key selects, or on the next one; the shelf's place."""
        if letter.session_id and letter.partition_key not in (None, letter.session_id):
            raise BusError("two keys")
        shelf = self._shelf_for(letter)
        repeated = (
            self.duplicate_window is not None
            and letter.message_id is not None
            and shelf.saw_before(letter.message_id, now, self.duplicate_window)
        )
        if not repeated:
            shelf.put(letter)
        return shelf.place

    def _shelf_for(self, letter: Letter) -> Shelf:
        key = letter.session_id if letter.session_id is not None else letter.partition_key
        if key is None and self.duplicate_window is not None:
            key = letter.message_id
        if key is not None:
            shelf = self.shelves[zlib.crc32(key.encode()) % len(self.shelves)]
            if not shelf.is_up:
                raise BusError("shelf down")
            return shelf
        for _ in self.shelves:
            shelf = self.shelves[next(self.turn) % len(self.shelves)]
            if shelf.is_up:
                return shelf
        raise BusError("shelf down")

    def take(self, now: int, *, keep: bool) -> Item | None:
        """The first item that nobody holds, locked if it is kept; shelves are asked in turn."""
        for shelf in self._up():
            for item in shelf.items:
                if not item.is_locked(now):
                    self._give(shelf, item, now, keep=keep)
                    return item
        return None

    def _up(self) -> list[Shelf]:
        """The shelves that are up, beginning behind the one that gave last."""
        row = self.shelves[self.asked_first :] + self.shelves[: self.asked_first]
        found = [shelf for shelf in row if shelf.is_up]
        if not found:
            raise BusError("shelf down")
        return found

    def _give(self, shelf: Shelf, item: Item, now: int, *, keep: bool) -> None:
        self.asked_first = (shelf.place + 1) % len(self.shelves)
        item.deliveries += 1
        if keep:
            item.token = f"{item.number}-{next(self.tokens)}"
            item.locked_until = now + self.lock_duration
        else:
            item.token, item.locked_until = "", 0
            shelf.items.remove(item)

    def settle(self, token: str, now: int, *, done: bool) -> None:
        """Remove a held item, or give it back unless it was given too often."""
        shelf, item = self._held(token, now)
        item.token = ""
        if done or item.deliveries >= self.max_deliveries:
            shelf.items.remove(item)

    def _held(self, token: str, now: int) -> tuple[Shelf, Item]:
        for shelf in self.shelves:
            for item in shelf.items:
                if item.token == token and item.is_locked(now):
                    if not shelf.is_up:
                        raise BusError("shelf down")
                    return shelf, item
        raise BusError("lock lost")

    def look(self, count: int) -> list[Item]:
        """The first items of one shelf that has some; they stay where they are."""
        return next((shelf.items[:count] for shelf in self._up() if shelf.items), [])

    def end_worn_out_locks(self, now: int) -> None:
        """Drop what was given as often as it may be and not settled in time."""
        for shelf in self.shelves:
            shelf.items = [item for item in shelf.items if not self._is_worn(item, now)]

    def _is_worn(self, item: Item, now: int) -> bool:
        ended = bool(item.token) and not item.is_locked(now)
        return ended and item.deliveries >= self.max_deliveries


class Bus:
    """All queues, and a clock that somebody else moves."""

    def __init__(self, shelves: int) -> None:
        """An empty bus, whose queues will have so many shelves each."""
        self._shelves = shelves
        self._queues: dict[str, Queue] = {}
        self.now = 0

    def create(
        self, name: str, lock_duration: int, max_deliveries: int, duplicate_window: int | None
    ) -> None:
        """Make a queue; with a window, letters whose id was seen within it are dropped."""
        if lock_duration > LONGEST_LOCK:
            raise BusError("lock too long")
        if name in self._queues:
            raise BusError("queue exists")
        shelves = [Shelf(place) for place in range(self._shelves)]
        self._queues[name] = Queue(shelves, lock_duration, max_deliveries, duplicate_window)

    def queue(self, name: str) -> Queue:
        """The queue of this name, as it is now."""
        if name not in self._queues:
            raise BusError("no such queue")
        self._queues[name].end_worn_out_locks(self.now)
        return self._queues[name]

    def set_up(self, name: str, place: int, *, is_up: bool) -> None:
        """Take a shelf of a queue down, or bring it up with all that it holds."""
        shelves = self.queue(name).shelves
        if place >= len(shelves):
            raise BusError("no such shelf")
        shelves[place].is_up = is_up
