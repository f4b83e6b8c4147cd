"""Choices of the bus, and the policies that make them.

The documents leave freedoms: the partition of a message without a key, the message that a receive
returns, whether a send with a short timeout gives up. Each freedom is a choice, named after the
rule or ambiguity of `spec/` that grants it, and is decided only through a policy. A policy is a
small class that knows no rules; the first candidate is the regular one.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from random import Random

__all__ = ["Choices", "HostileChoices", "RandomChoices", "RoundRobin", "Scripted"]

T = TypeVar("T")
CONSIDERED = 64
"""Maximum number of candidates considered by a policy that does not take the first one."""

Fits = Callable[[int], bool] | None
"""Predicate of partitions that may be chosen; `None` if all may."""


class Choices(Protocol):
    """A policy that makes the choices of the bus."""

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return one of the candidates; there is at least one, and the first is the regular one."""

    def partition(self, name: str, path: str, count: int, fits: Fits) -> int | None:
        """Return one of the partitions of an entity that fit, if any does."""
        candidates = [number for number in range(count) if fits is None or fits(number)]
        return self.pick(name, candidates) if candidates else None

    def home(self, value: str, partitions: int) -> int | None:
        """Return the partition that a key selects; `None` leaves it to `partition`, once."""
        return None


class RoundRobin(Choices):
    """Policy of a regular bus: partitions in turn, keys by hash, otherwise the first candidate."""

    def __init__(self) -> None:
        self._turns: dict[tuple[str, str], int] = {}

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return the first candidate."""
        return next(iter(candidates))

    def partition(self, name: str, path: str, count: int, fits: Fits) -> int | None:
        """Return the partition after the last one used."""
        place = (name, path)
        number = self._turns.get(place, -1)
        for _ in range(count):
            number = (number + 1) % count
            if fits is None or fits(number):
                self._turns[place] = number
                return number
        return None

    def home(self, value: str, partitions: int) -> int | None:
        """Return the checksum of the key, modulo the number of partitions."""
        return zlib.crc32(value.encode(errors="surrogatepass")) % partitions


class RandomChoices(Choices):
    """Policy that picks one of the first candidates at random."""

    def __init__(self, random: "Random") -> None:
        self._random = random

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return one of the candidates, the first 64 of an index, which may be long."""
        most = None if isinstance(candidates, Sequence) else CONSIDERED
        return self._among(list(islice(candidates, most)))

    def _among(self, candidates: Sequence[T]) -> T:
        return self._random.choice(candidates)


class HostileChoices(RandomChoices):
    """Policy that picks the last candidate every other time: the least regular answer."""

    def _among(self, candidates: Sequence[T]) -> T:
        if self._random.random() < 0.5:
            return candidates[-1]
        return super()._among(candidates)


class Scripted(Choices):
    """Policy that picks candidates by their position in a canonical order, then always the first.

    Indexes yield candidates in an arbitrary order and may yield one twice, so replaying by position
    needs them sorted and without duplicates.
    """

    def __init__(self, script: Sequence[int] = ()) -> None:
        self.script = script
        self.made: list[tuple[str, int, int]] = []

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return the candidate at the position that the script names."""
        options = list(dict.fromkeys(candidates))
        if hasattr(options[0], "touched"):
            # Records, which have a number or a name among others of their kind.
            options.sort(key=attrgetter("number" if hasattr(options[0], "number") else "name"))
        place = self._chosen(len(options))
        self.made.append((name, place, len(options)))
        return options[place]

    def _chosen(self, count: int) -> int:
        """Return the position of the next choice among this many candidates."""
        return self.script[len(self.made)] if len(self.made) < len(self.script) else 0

    def following(self) -> list[int] | None:
        """Return the script of the next way; `None` after the last."""
        made = list(self.made)
        while made and made[-1][1] + 1 == made[-1][2]:
            made.pop()
        return [place for _, place, _ in made[:-1]] + [made[-1][1] + 1] if made else None
