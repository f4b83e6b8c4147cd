"""A persistent map that keeps settled entries in a tenth of the memory; every version stays usable.

A judge never forgets a body, a lock token or a sequence number, because only then it knows a
message that comes a second time. Nearly all of them belong to messages that are gone, and are never
looked up again. Such entries are compressed, in blocks; an index finds the block of a key. It has
32 bits of each key's hash, so that a key which was never set is hardly ever looked for in a block.
"""

import pickle
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any, Final, Generic, TypeVar, overload

from immutables import Map

__all__ = ["NO_ENTRIES", "PackedMap"]

IN_A_BLOCK: Final = 256
"""Number of entries that are compressed together: finding one unpacks them all."""

_FAST: Final = 1

_BITS: Final = 32
"""Bits of a hash in an entry of an index, and of the block's number below it."""
_LOW: Final = (1 << _BITS) - 1

_MERGED: Final = 4
"""An index is merged with later ones until it has this many times their entries."""

_SHARE: Final = 1 << 2 * _BITS - 4
"""One of the sixteen shares of an index's values that are merged one after the other."""

_DELETED: Final[Any] = None
_UNKNOWN: Final[Any] = object()

Key = TypeVar("Key")
Value = TypeVar("Value")
Other = TypeVar("Other")


class PackedMap(Generic[Key, Value]):  # noqa: PLW1641 - never hashed
    """A map with most methods of `immutables.Map`; its values must not be `None`.

    Attributes:
        recent: the entries that are not compressed; `None` for a deleted one.
    """

    __slots__ = ("_blocks", "_indexes", "recent")

    def __init__(
        self,
        recent: "Map[Key, Value]" = Map(),
        blocks: tuple[bytes, ...] = (),
        indexes: "tuple[array[int], ...]" = (),
    ) -> None:
        self.recent = recent
        self._blocks = blocks
        self._indexes = indexes

    @overload
    def get(self, key: object) -> Value | None: ...

    @overload
    def get(self, key: object, default: Other) -> Value | Other: ...

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key, or the default."""
        value = self.recent.get(key, _UNKNOWN)
        if value is _UNKNOWN:
            value = self._packed_value(key) if self._indexes else None
        return default if value is None else value

    def __contains__(self, key: object) -> bool:
        return self.get(key) is not None

    def __bool__(self) -> bool:
        return next(self.items(), None) is not None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PackedMap):
            return NotImplemented
        if self._blocks is other._blocks and self.recent == other.recent:
            return True
        return dict(self.items()) == dict(other.items())

    def set(self, key: Key, value: Value) -> "PackedMap[Key, Value]":
        """Return the map with one entry changed or added."""
        return PackedMap(self.recent.set(key, value), self._blocks, self._indexes)

    def delete(self, key: Key) -> "PackedMap[Key, Value]":
        """Return the map without a key that it has."""
        recent = self.recent.set(key, _DELETED) if self._indexes else self.recent.delete(key)
        return PackedMap(recent, self._blocks, self._indexes)

    def items(self) -> Iterator[tuple[Key, Value]]:
        """Yield all entries, each key once."""
        yielded = set()
        for key, value in self.recent.items():
            yielded.add(key)
            if value is not _DELETED:
                yield key, value
        for block in reversed(self._blocks):
            for key, value in _entries(block).items():
                if key not in yielded:
                    yielded.add(key)
                    if value is not _DELETED:
                        yield key, value

    def packed(self, is_settled: Callable[[Key, Value], bool]) -> "PackedMap[Key, Value]":
        """Return the same map, in which the settled ones of the recent entries are compressed."""
        left, settled = {}, []
        for key, value in self.recent.items():
            if value is _DELETED or is_settled(key, value):
                settled.append((key, value))
            else:
                left[key] = value
        if not settled:
            return self
        blocks = [
            zlib.compress(pickle.dumps(dict(settled[start : start + IN_A_BLOCK]), 5), _FAST)
            for start in range(0, len(settled), IN_A_BLOCK)
        ]
        first = len(self._blocks)
        index = [
            _hash(key) << _BITS | first + place // IN_A_BLOCK
            for place, (key, _) in enumerate(settled)
        ]
        return PackedMap(Map(left), (*self._blocks, *blocks), _with(self._indexes, index))

    def _packed_value(self, key: object) -> Any:
        """Return the latest compressed value of a key; `None` if there is none."""
        hashed = _hash(key)
        lowest = hashed << _BITS
        candidates = []
        for index in self._indexes:
            place = bisect_left(index, lowest)
            while place < len(index) and index[place] >> _BITS == hashed:
                candidates.append(index[place] & _LOW)
                place += 1
        for number in sorted(candidates, reverse=True):
            entries = _entries(self._blocks[number])
            if key in entries:
                return entries[key]
        return None


NO_ENTRIES: Final[PackedMap[Any, Any]] = PackedMap()
"""An empty map."""


def _hash(key: object) -> int:
    # A tuple's hash mixes the bits, which an integer's does not.
    return hash((key,)) & _LOW


def _entries(block: bytes) -> dict[Any, Any]:
    entries: dict[Any, Any] = pickle.loads(zlib.decompress(block))  # noqa: S301 - our own
    return entries


def _with(indexes: "tuple[array[int], ...]", entries: list[int]) -> "tuple[array[int], ...]":
    """Return the indexes with one more; few are kept, because each one is looked at."""
    kept, merged, size = [*indexes], [array("Q", sorted(entries))], len(entries)
    while kept and len(kept[-1]) < _MERGED * size:
        merged.append(kept.pop())
        size += len(merged[-1])
    return (*kept, _merged(merged))


def _merged(indexes: "list[array[int]]") -> "array[int]":
    """Merge indexes, a share of the hashes at a time: as objects they take six times the memory."""
    merged, places = array("Q"), [0] * len(indexes)
    for limit in range(_SHARE, (1 << 2 * _BITS) + 1, _SHARE):
        ends = [
            bisect_left(index, limit, place) for index, place in zip(indexes, places, strict=True)
        ]
        share: list[int] = []
        for index, place, end in zip(indexes, places, ends, strict=True):
            share += index[place:end]
        merged.fromlist(sorted(share))
        places = ends
    return merged
