"""Sequences of scenarios that an exploration asks again elsewhere."""

from collections.abc import Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.exploration.elsewhere.playing import Played
from busproof.history.records import StepResult

__all__ = ["PlayedScenarios"]

LONGEST: Final = 40
"""Commands of a sequence; longer ones are about numbers, and take long."""


class PlayedScenarios:
    """Sequences of the scenarios that passed; of several with the same commands one is kept."""

    def __init__(self) -> None:
        self._known: dict[object, Played] = {}

    def keep(self, name: str, events: Sequence[v.Event], steps: Sequence[StepResult]) -> None:
        """Keep the sequence of a scenario, unless it is long or a step has not passed."""
        if len(events) <= LONGEST and all(step.result == "passed" for step in steps):
            commands = tuple(
                (type(event.command), getattr(event.command, "queue", "")) for event in events
            )
            self._known.setdefault(commands, Played(name=name, events=tuple(events)))

    @property
    def sequences(self) -> tuple[Played, ...]:
        """The sequences, in the order of their scenarios."""
        return tuple(self._known.values())
