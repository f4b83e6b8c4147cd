"""Persistent maps that tell which of their keys were set or deleted.

A store has to know what a command has changed without looking at all that is held. The model only
asks its maps what a map is asked; so a bus with a store has these in their place.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Generic, TypeVar

from immutables import Map

__all__ = ["Tracked", "Trail"]

K = TypeVar("K")
V = TypeVar("V")

REMEMBERED: Final = 10_000


class Trail(Generic[K]):
    """The keys that the versions of one map were given other values for, one after another.

    Those of versions that were given up are among them: who asks compares the values.
    """

    __slots__ = ("_before", "_keys")

    def __init__(self) -> None:
        self._before = 0
        self._keys: list[K] = []

    @property
    def end(self) -> int:
        """How many there were so far."""
        return self._before + len(self._keys)

    def since(self, place: int) -> set[K] | None:
        """Those after so many; `None` if that is no longer known."""
        return None if place < self._before else set(self._keys[place - self._before :])

    def add(self, keys: Iterable[K]) -> None:
        """Keep some more."""
        self._keys.extend(keys)

    def shorten(self) -> None:
        """Forget all so far, if there are many."""
        if len(self._keys) > REMEMBERED:
            self._before, self._keys = self.end, []


class Tracked(Generic[K, V]):
    """A map with its trail, which all versions that come of one share.

    Args:
        entries: what is in it.
        trail: a new one if there was none.
    """

    __slots__ = ("_map", "trail")

    def __init__(self, entries: "Map[K, V]", trail: "Trail[K] | None" = None) -> None:
        self._map = entries
        self.trail: Trail[K] = Trail() if trail is None else trail

    def set(self, key: K, value: V) -> "Tracked[K, V]":
        """The map with one value changed or added."""
        self.trail.add((key,))
        return Tracked(self._map.set(key, value), self.trail)

    def delete(self, key: K) -> "Tracked[K, V]":
        """The map without a key, which has to be there."""
        self.trail.add((key,))
        return Tracked(self._map.delete(key), self.trail)

    def update(self, more: "Mapping[K, V] | Iterable[tuple[K, V]]") -> "Tracked[K, V]":
        """The map with these values changed or added."""
        given: dict[K, V] = dict(more)
        self.trail.add(given)
        return Tracked(self._map.update(given), self.trail)

    def get(self, key: K, default: Any = None) -> Any:
        """The value of a key, or what is given in its place."""
        return self._map.get(key, default)

    def keys(self) -> Any:
        """All keys."""
        return self._map.keys()

    def values(self) -> Any:
        """All values."""
        return self._map.values()

    def items(self) -> Any:
        """All keys with their values."""
        return self._map.items()

    def __getitem__(self, key: K) -> V:
        return self._map[key]

    def __contains__(self, key: object) -> bool:
        return key in self._map

    def __len__(self) -> int:
        return len(self._map)

    def __iter__(self) -> Iterator[K]:
        return iter(self._map)

    def __eq__(self, other: object) -> bool:
        return bool(self._map == (other._map if isinstance(other, Tracked) else other))

    def __hash__(self) -> int:
        return hash(self._map)
