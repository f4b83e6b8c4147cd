"""Choices that the search has made at one event, and the way to the next untried combination."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, Generic, Protocol, TypeVar

import attrs

__all__ = [
    "Choice",
    "Moves",
    "Options",
    "Place",
    "Placing",
    "Script",
    "Subsets",
    "choices_that_matter",
    "next_script",
    "other_scripts",
    "script_of",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Tag = Hashable
"""What a choice may matter to: `None` for everything, otherwise see `relevance`."""

Place = tuple[int, int]
"""Position of a candidate, and the position of the candidate that is tried first."""

WITHOUT_EFFECT: Final = frozenset({"ANSWER-LATE", "SCHEDULE-DELAY", "SIZE-04"})
"""Choices that need not be made otherwise where nothing changed.

What is put off can still happen before the next event, and a described size changes nothing.
"""
FEW: Final = 4
"""Number of other ways in which each choice is made where one choice after the other is."""

Script = Sequence[Place]
"""Positions to take again, in the order of the choices."""


class Options(Protocol[T_co]):
    """The candidates of a choice."""

    def __len__(self) -> int:
        """Return how many there are."""

    def __getitem__(self, place: int, /) -> T_co:
        """Return the candidate at a place."""


@attrs.frozen(eq=False)
class Subsets(Generic[T]):
    """Some of the subsets of a few items, each made when it is asked for.

    Of a hundred messages that become due at once there are three hundred ways of what has happened,
    and mostly the first one is right.

    Attributes:
        items: the items.
        masks: the subsets, as numbers whose bits say which items they have.
    """

    items: Sequence[T]
    masks: Sequence[int]

    def __len__(self) -> int:
        """Return how many subsets there are."""
        return len(self.masks)

    def __getitem__(self, place: int) -> tuple[T, ...]:
        """Return the subset at a place, with its items in their order."""
        mask = self.masks[place]
        return tuple(item for at, item in enumerate(self.items) if mask >> at & 1)


@attrs.frozen(eq=False)
class Moves:
    """The tag of a choice of the timers that have fired, each by its serial number.

    Attributes:
        path: the entity that it may matter to; `None` for everything.
        candidates: the timers that fire, by candidate.
        bodies: the bodies of the messages that the timers are about; `None` for something else.
    """

    path: str | None
    candidates: Options[tuple[int, ...]]
    bodies: Mapping[int, str | None]

    def timers_about(self, bodies: frozenset[str]) -> frozenset[int]:
        """Return the timers about one of these messages, or about something else."""
        return frozenset(
            serial for serial, body in self.bodies.items() if body is None or body in bodies
        )


@attrs.frozen
class Placing:
    """The tag of a choice of a partition that nothing shows.

    Attributes:
        path: the queue or topic.
        body: the body of the message that is placed alone; `None` if others of its key go there.
    """

    path: str
    body: str | None


@attrs.frozen
class Choice:
    """A choice of the bus, and which of its candidates was taken.

    Attributes:
        name: the rule or ambiguity that grants the freedom.
        place: the position of the candidate in the order of trying; 0 is tried first.
        count: the number of candidates.
        first: the index of the candidate that is tried first.
        tag: what the choice may matter to.
        value: the candidate, for the explanation of the execution.
        is_partial: whether there were more candidates than are tried.
    """

    name: str
    place: int
    count: int
    first: int
    tag: Tag
    value: object = None
    is_partial: bool = False

    @property
    def taken(self) -> int:
        """The index of the candidate that was taken."""
        return index_of(self.place, self.first)

    def next_place(self, bodies: frozenset[str] | None) -> int | None:
        """Return the position of the next candidate that may make a difference.

        Args:
            bodies: the messages whose moves matter; `None` for all.

        Returns:
            `None` after the last one. What moves those messages as a candidate before it is none.
        """
        places = range(self.place + 1, self.count)
        tag = self.tag
        if bodies is None or not isinstance(tag, Moves):
            return next(iter(places), None)
        those = tag.timers_about(bodies)
        tried = {self._timers_at(tag, place) & those for place in range(self.place + 1)}
        return next(
            (place for place in places if self._timers_at(tag, place) & those not in tried), None
        )

    def leaves_out(self, bodies: frozenset[str] | None) -> bool:
        """Return whether a candidate that is never tried may make a difference.

        Args:
            bodies: the messages whose moves matter; `None` for all.
        """
        tag = self.tag
        if not self.is_partial or bodies is None or not isinstance(tag, Moves):
            return self.is_partial
        those = tag.timers_about(bodies)
        tried = {frozenset(tag.candidates[at]) & those for at in range(len(tag.candidates))}
        return len(tried) < 1 << len(those)

    def _timers_at(self, tag: Moves, place: int) -> frozenset[int]:
        return frozenset(tag.candidates[index_of(place, self.first)])


def index_of(place: int, first: int) -> int:
    """Return the index of the candidate at a position: the one at `first` trades places with 0."""
    if place == 0:
        return first
    return 0 if place == first else place


def next_script(
    made: Sequence[Choice],
    may_matter: Callable[[Tag], bool] | None = None,
    bodies: frozenset[str] | None = None,
) -> list[Place] | None:
    """Return the script of the next combination of choices; `None` after the last one.

    Args:
        made: the choices of the last combination.
        may_matter: whether a choice with this tag may matter; other choices stay as they are.
        bodies: the messages whose moves matter; `None` for all.
    """
    for last in range(len(made) - 1, -1, -1):
        choice = made[last]
        if may_matter is not None and not may_matter(choice.tag):
            continue
        place = choice.next_place(bodies)
        if place is not None:
            return [*script_of(made[:last]), (place, choice.first)]
    return None


def script_of(made: Sequence[Choice]) -> list[Place]:
    """Return the script by which the same choices are made again."""
    return [(choice.place, choice.first) for choice in made]


def other_scripts(made: Sequence[Choice]) -> Iterator[list[Place]]:
    """Yield scripts that make one of the choices otherwise, and leave those after it open.

    Args:
        made: the choices, each of which is made in at most `FEW` other ways.
    """
    for last in range(len(made) - 1, -1, -1):
        choice = made[last]
        others = (place for place in range(choice.count) if place != choice.place)
        for place in islice(others, FEW):
            yield [*script_of(made[:last]), (place, choice.first)]


def choices_that_matter(made: Sequence[Choice]) -> tuple[Choice, ...]:
    """Return the choices of a step that changed nothing, as far as others might change something.

    There are none if no other choice might.
    """
    kept = tuple(
        attrs.evolve(choice, count=choice.place + 1) if choice.name in WITHOUT_EFFECT else choice
        for choice in made
    )
    return kept if next_script(kept) is not None else ()
