"""Choices that the search has made at one event, and the way to the next untried combination."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import Final

import attrs

__all__ = [
    "Choice",
    "Place",
    "Script",
    "choices_that_matter",
    "next_script",
    "other_scripts",
    "script_of",
]

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


def index_of(place: int, first: int) -> int:
    """Return the index of the candidate at a position: the one at `first` trades places with 0."""
    if place == 0:
        return first
    return 0 if place == first else place


def next_script(
    made: Sequence[Choice], may_matter: Callable[[Tag], bool] | None = None
) -> list[Place] | None:
    """Return the script of the next combination of choices; `None` after the last one.

    Args:
        made: the choices of the last combination.
        may_matter: whether a choice with this tag may matter; other choices stay as they are.
    """
    for last in range(len(made) - 1, -1, -1):
        choice = made[last]
        if choice.place + 1 < choice.count and (may_matter is None or may_matter(choice.tag)):
            return [*script_of(made[:last]), (choice.place + 1, choice.first)]
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
