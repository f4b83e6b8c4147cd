"""What a bus may do one way or another, and the policies that decide it.

The documents leave freedoms: which partition takes a message without key, which of several messages
is given, whether a send with a short timeout gives up. Each is a choice with the name of the rule
or the ambiguity of `spec/` that grants it, and is made nowhere else. A policy is a small class that
knows no rule; the regular candidate is the first one.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Protocol, TypeVar

__all__ = ["Choices", "HostileChoices", "RandomChoices", "Randomness", "RoundRobin", "Scripted"]

T = TypeVar("T")
CONSIDERED = 64
"""How many candidates a policy looks at that does not take the first."""


Fits = Callable[[int], bool] | None
"""Whether a partition may be chosen; `None` if each may."""


class Choices(Protocol):
    """A policy."""

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return one of at least one candidates, of which the first is the regular one."""

    def partition(self, name: str, path: str, count: int, fits: Fits) -> int | None:
        """Return one of so many partitions of the entity with this path that fits, if any does."""

    def home(self, value: str, partitions: int) -> int | None:
        """Return the partition that a key selects; `None` leaves it to `partition`, once."""


def fitting(count: int, fits: Fits) -> list[int]:
    """Return the partitions that may be chosen."""
    return [number for number in range(count) if fits is None or fits(number)]


class RoundRobin:
    """A bus at its most regular: partitions in turn, keys by a hash, else the first candidate."""

    def __init__(self) -> None:
        self._turns: dict[tuple[str, str], int] = {}

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return the first."""
        return next(iter(candidates))

    def partition(self, name: str, path: str, count: int, fits: Fits) -> int | None:
        """Return the next one after the last."""
        place = (name, path)
        turn = self._turns.get(place, 0)
        for ahead in range(count):
            number = (turn + ahead) % count
            if fits is None or fits(number):
                self._turns[place] = number + 1
                return number
        return None

    def home(self, value: str, partitions: int) -> int | None:
        """Return the checksum of the key's text, modulo the partitions."""
        return zlib.crc32(value.encode(errors="surrogatepass")) % partitions


class Randomness(Protocol):
    """As much of `random.Random` as a policy needs."""

    def random(self) -> float:
        """Return a number from 0 up to 1."""

    def choice(self, candidates: Sequence[Any]) -> Any:
        """Return one of the candidates."""


class RandomChoices:
    """Any of the first candidates."""

    def __init__(self, random: Randomness) -> None:
        self._random = random

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return any of the first 64."""
        return self._among(list(islice(candidates, CONSIDERED)))

    def partition(self, name: str, path: str, count: int, fits: Fits) -> int | None:
        """Return any that fits."""
        candidates = fitting(count, fits)
        return self._among(candidates) if candidates else None

    def home(self, value: str, partitions: int) -> int | None:
        """Leave it to `partition`."""
        return None

    def _among(self, candidates: Sequence[T]) -> T:
        return self._random.choice(candidates)  # type: ignore[no-any-return]


class HostileChoices(RandomChoices):
    """Every other time the last candidate: the last partition, the least regular answer."""

    def _among(self, candidates: Sequence[T]) -> T:
        if self._random.random() < 0.5:
            return candidates[-1]
        return super()._among(candidates)


class Scripted:
    """Candidates by their places, in a canonical order; after the script the first each time.

    Indexes yield candidates in an order that is no truth, and may yield one twice: replaying by
    place needs them sorted by what they are.
    """

    def __init__(self, script: Sequence[int] = ()) -> None:
        self.script = script
        self.made: list[tuple[str, int, int]] = []

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return the candidate at the place that the script names."""
        found = _canonical(candidates)
        place = self._chosen(len(found))
        self.made.append((name, place, len(found)))
        return found[place]

    def partition(self, name: str, path: str, count: int, fits: Fits) -> int | None:
        """Return the partition at the place that the script names."""
        candidates = fitting(count, fits)
        return self.pick(name, candidates) if candidates else None

    def home(self, value: str, partitions: int) -> int | None:
        """Leave it to `partition`."""
        return None

    def _chosen(self, count: int) -> int:
        """Return the place of the next choice, of so many candidates."""
        return self.script[len(self.made)] if len(self.made) < len(self.script) else 0

    def following(self) -> list[int] | None:
        """Return the script of the next way; `None` after the last."""
        made = list(self.made)
        while made and made[-1][1] + 1 == made[-1][2]:
            made.pop()
        return [place for _, place, _ in made[:-1]] + [made[-1][1] + 1] if made else None


def _canonical(candidates: Iterable[T]) -> list[T]:
    """Return records in the order of their numbers or names, and anything else as it comes."""
    found = list(dict.fromkeys(candidates))
    if found and hasattr(found[0], "touched"):
        found.sort(key=_identity)
    return found


def _identity(thing: Any) -> Any:
    """Return what tells a record from others of its kind."""
    return thing.number if hasattr(thing, "number") else thing.name
