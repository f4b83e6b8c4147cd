"""What the rules leave undetermined, and the policies that determine it.

A rule meets something undetermined in one of two ways.

1. *The documents are clear that a bus is free*: which partition takes a message without a key,
   which message a receive returns. Or they are silent: is a settlement refused in an outage? Then a
   conforming bus may answer so today and otherwise tomorrow, and the rule asks for a **choice**:
   `choices.pick("KEY-16", candidates)`, or of two answers `namespace.prefers("SESS-07", "refused",
   to="empty")`. Its name is the rule, or the ambiguity, that leaves the bus free. Each request
   chooses anew. Older editions state fewer rules: `namespace.states(rule)` says whether the present
   one does, and where it is silent, the rule asks for a choice of that name.
2. *The documents can be read in several ways*: an empty MessageId counts as set, or does not. A bus
   was written with one reading in mind and follows it always; a bus that changed its mind would
   conform to no reading. So the rule asks for a **reading**: `namespace.reading(EmptyKey)`. The
   profile may name it. Otherwise it is one choice, made when it first matters and kept
   (`ambiguities`, `NamespaceState.reading`).

Some ambiguities have a reading that says "either, each time": the profile then restricts a freedom
of the first kind, and the rule combines both. There is no third way: a rule never asks for random
numbers, and never depends on the order of a set or on an address in memory. So a sequence of
choices determines an execution, and a judge can replay one.

Three choices have methods of their own. `partition` and `home` select a place, because a policy may
take turns or hash. `position` may leave a gap before a sequence number, and `has_passed` says
whether a moment has passed that is exactly now. `step.ways` tries every candidate of each choice
but these last two: gaps are without end, and a bus with the exact time has no doubt about moments.

Only a policy makes choices. It is a small class that knows no rules. Of the candidates, the first
is what a regular bus takes: a policy that always takes the first one answers as an unsurprising bus
would, and the last one is often the least expected.

A choice can have become visible although its request was refused: the refusal of a send in an
outage shows where a key lives. Such choices are *revealed* (`Journal.reveal`) and survive the
refusal.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

if TYPE_CHECKING:
    from random import Random

__all__ = ["Choices", "HostileChoices", "RandomChoices", "RoundRobin", "Scripted"]

T = TypeVar("T")
CONSIDERED = 64
"""Maximum number of candidates that a random policy looks at."""

GAPS = 0.1
"""How often a random policy may leave out sequence numbers."""

Fits = Callable[[int], bool] | None
"""Test of a partition number: whether the partition may be chosen; `None` allows all."""


class Choices(Protocol):
    """A policy that makes the choices of the bus.

    Attributes:
        takes_first: whether it takes the first candidate of every choice between messages, so that
            a rule that is asked often need not list the others.
    """

    takes_first: ClassVar[bool] = False

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return one of the candidates; there is at least one, and the first is the regular one."""

    def partition(self, name: str, path: str, count: int, fits: Fits) -> int | None:
        """Return a partition of an entity that `fits` allows, or `None` if it allows none."""
        candidates = [number for number in range(count) if fits is None or fits(number)]
        return self.pick(name, candidates) if candidates else None

    def home(self, value: str, partitions: int) -> int | None:
        """Return the partition of a key; `None` leaves the choice to `partition`, once."""
        return None

    def position(self, path: str, partition: int, next_one: int) -> int:
        """Return the position of a new message in its partition, at least `next_one`.

        Positions are the lower bits of sequence numbers, and may leave gaps (SEQUENCE-GAPS).
        """
        return next_one

    def has_passed(self, moment: int, now: int, *, restarts: bool) -> bool:
        """Return whether a moment has passed; a judge of a real clock may know only about when.

        Args:
            moment: the moment in microseconds.
            now: the model's present moment.
            restarts: whether what ends then may begin anew after an outage (OUTAGE-CLOCK); a
                message's age does not.
        """
        return moment <= now


class RoundRobin(Choices):
    """Policy of a regular bus: partitions in turn, keys by hash, otherwise the first candidate."""

    takes_first = True

    def __init__(self) -> None:
        self._turns: dict[tuple[str, str], int] = {}

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return the first candidate."""
        return next(iter(candidates))

    def partition(self, name: str, path: str, count: int, fits: Fits) -> int | None:
        """Return the next partition after the one used last."""
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
        """Return one of the candidates at random; of a long index, one of the first 64."""
        most = None if isinstance(candidates, Sequence) else CONSIDERED
        return self._among(list(islice(candidates, most)))

    def position(self, path: str, partition: int, next_one: int) -> int:
        """Return the next position, or now and then a later one."""
        return next_one + (self._random.randrange(4) if self._random.random() < GAPS else 0)

    def _among(self, candidates: Sequence[T]) -> T:
        return self._random.choice(candidates)


class HostileChoices(RandomChoices):
    """Policy that picks the last candidate half of the time, which a regular bus would not take."""

    def _among(self, candidates: Sequence[T]) -> T:
        if self._random.random() < 0.5:
            return candidates[-1]
        return super()._among(candidates)


class Scripted(Choices):
    """Policy that follows a script of positions, and takes the first candidate after its end.

    Indexes yield candidates in any order and may yield one twice. So the candidates are sorted and
    made unique, for a position to mean the same in every replay.
    """

    def __init__(self, script: Sequence[int] = ()) -> None:
        self.script = script
        self.made: list[tuple[str, int, int]] = []

    def pick(self, name: str, candidates: Iterable[T]) -> T:
        """Return the candidate at the position that the script names."""
        options = list(dict.fromkeys(candidates))
        if hasattr(options[0], "touched"):
            # Records are sorted by their number or, if they have none, by their name.
            options.sort(key=attrgetter("number" if hasattr(options[0], "number") else "name"))
        place = self._chosen(len(options))
        self.made.append((name, place, len(options)))
        return options[place]

    def _chosen(self, count: int) -> int:
        """Return the position of the next choice among this many candidates."""
        return self.script[len(self.made)] if len(self.made) < len(self.script) else 0

    def following(self) -> list[int] | None:
        """Return the script of the next way to make the choices; `None` after the last way."""
        made = list(self.made)
        while made and made[-1][1] + 1 == made[-1][2]:
            made.pop()
        return [place for _, place, _ in made[:-1]] + [made[-1][1] + 1] if made else None
