"""Events of a long history, in a hundredth of the memory that objects take."""

import pickle
import zlib
from collections.abc import Iterable, Iterator, Sequence
from operator import eq
from typing import Final, TypeVar, overload

from busproof import vocabulary as v

__all__ = ["CHUNKS", "IN_A_CHUNK", "Packed", "PackedEvents", "Reordered", "packed"]

IN_A_CHUNK: Final = 250
"""Number of items that are compressed together."""

CHUNKS: Final = 20
"""Number of chunks that are made at once; a shorter history is not compressed."""

_UNPACKED: Final = 40
"""Number of chunks kept as objects.

A history that was recorded client after client is read in the order of time, which moves
between as many places as there are clients.
"""

_FAST: Final = 1

Item = TypeVar("Item")


class Packed(Sequence[Item]):  # noqa: PLW1641 - it can change
    """A sequence that keeps all items but the latest compressed.

    A reader that goes through it in order, forwards or backwards, unpacks each chunk once.
    """

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._chunks: list[bytes] = []
        self._latest: list[Item] = []
        self._unpacked: dict[int, list[Item]] = {}
        self._used = -1
        for item in items:
            self.append(item)

    def append(self, item: Item) -> None:
        """Add an item at the end."""
        self._latest.append(item)
        if len(self._latest) == CHUNKS * IN_A_CHUNK:
            for start in range(0, len(self._latest), IN_A_CHUNK):
                chunk = self._latest[start : start + IN_A_CHUNK]
                self._chunks.append(zlib.compress(pickle.dumps(chunk, 5), _FAST))
            self._latest = []

    @property
    def is_short(self) -> bool:
        """Whether no event is compressed yet."""
        return not self._chunks

    def __len__(self) -> int:
        return IN_A_CHUNK * len(self._chunks) + len(self._latest)

    def __iter__(self) -> Iterator[Item]:
        for number in range(len(self._chunks)):
            yield from self._chunk(number)
        yield from self._latest

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...

    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"there is no item {index} of {len(self)}")
        number, within = divmod(place, IN_A_CHUNK)
        if number >= len(self._chunks):
            return self._latest[place - IN_A_CHUNK * len(self._chunks)]
        return self._chunk(number)[within]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    def _chunk(self, number: int) -> list[Item]:
        if number == self._used:
            return self._unpacked[number]
        items = self._unpacked.pop(number, None)
        if items is None:
            items = pickle.loads(zlib.decompress(self._chunks[number]))  # noqa: S301 - our own
            if len(self._unpacked) == _UNPACKED:
                del self._unpacked[next(iter(self._unpacked))]
        # The one that was not read for the longest time comes first.
        self._unpacked[number] = items
        self._used = number
        return items


class PackedEvents(Packed[v.Event]):
    """Events of a long history, all but the latest compressed."""


class Reordered(Sequence[v.Event]):
    """The same events in another order, without a copy of them.

    Args:
        events: the events, compressed or not.
        order: the indices of the events, in the new order.
    """

    def __init__(self, events: Sequence[v.Event], order: Sequence[int]) -> None:
        self._events = events
        self._order = order

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> v.Event: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[v.Event, ...]: ...

    def __getitem__(self, index: int | slice) -> v.Event | tuple[v.Event, ...]:
        if isinstance(index, slice):
            return tuple(self._events[place] for place in self._order[index])
        return self._events[self._order[index]]


def packed(events: Iterable[v.Event]) -> Sequence[v.Event]:
    """Return the events as a tuple, or compressed if there are many."""
    collected = events if isinstance(events, PackedEvents) else PackedEvents(events)
    return tuple(collected) if collected.is_short else collected
