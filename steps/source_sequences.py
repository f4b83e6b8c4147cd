"""Sequences of scenarios that an exploration transforms and sends again."""

from collections.abc import Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.exploration.metamorphic.follow_ups import SourceSequence
from busproof.history.records import StepResult

__all__ = ["SourceSequences", "source_sequence"]

LONGEST: Final = 40
"""Commands of a sequence; longer ones are about numbers, and take long."""


def source_sequence(
    name: str, events: Sequence[v.Event], steps: Sequence[StepResult]
) -> tuple[object, SourceSequence] | None:
    """Return the sequence of a scenario with a mark that sequences of the same commands share.

    `None` if it is long or a step has not passed.
    """
    if len(events) > LONGEST or any(step.result != "passed" for step in steps):
        return None
    mark = tuple(
        (type(event.command).__name__, getattr(event.command, "queue", "")) for event in events
    )
    return mark, SourceSequence(name=name, events=tuple(events))


class SourceSequences:
    """Sequences of the scenarios that passed; of several with the same commands one is kept."""

    def __init__(self) -> None:
        self._known: dict[object, SourceSequence] = {}

    def keep(self, name: str, events: Sequence[v.Event], steps: Sequence[StepResult]) -> None:
        """Keep the sequence of a scenario, unless it is long or a step has not passed."""
        found = source_sequence(name, events, steps)
        if found is not None:
            self._known.setdefault(*found)

    @property
    def sequences(self) -> tuple[SourceSequence, ...]:
        """The sequences, in the order of their scenarios."""
        return tuple(self._known.values())
