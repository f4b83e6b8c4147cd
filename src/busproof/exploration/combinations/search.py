"""Search for failures in cells: an operation in one or two circumstances, then a last look."""

from collections.abc import Sequence
from typing import Any

from busproof import vocabulary as v
from busproof.exploration.combinations.cells import Cell
from busproof.exploration.combinations.circumstances import CIRCUMSTANCES
from busproof.exploration.combinations.operations import OPERATIONS
from busproof.exploration.combinations.stage import PLAIN_QUEUE, Stage
from busproof.exploration.machine import Sequence as Run
from busproof.exploration.machine import scope_of
from busproof.exploration.metamorphic.entities import Ask
from busproof.exploration.search import Search
from busproof.history.records import EXPLORATION, Started

__all__ = ["Combinations", "play"]


class Combinations(Search):
    """Search in cells, each on an empty namespace; see `Search` for the arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._scope = scope_of(self.adapter, self.terms)
        self._settings = {} if self._scope.may_partition else {"partitioned": False}

    def send_all(self, some: Sequence[Cell]) -> None:
        """Send these cells, until enough rules are broken.

        On a real clock nothing is sent, because most circumstances wait.
        """
        if self._real:
            return
        for cell in some:
            if not self._goes_on():
                return
            self.send(cell)

    def send(self, cell: Cell) -> None:
        """Send one cell."""
        run = self._begin(Started(scenario=f"Combination: {cell.name}", feature=EXPLORATION))
        try:
            play(cell, self._ask(run), self._settings)
            run.look_at_everything()
        finally:
            self.closed(run)

    def _ask(self, run: Run) -> Ask:
        """Return a function that sends only what the implementation supports."""

        def ask(command: v.Command, connection: str) -> v.Event | None:
            return run.ask(command, connection) if self._scope.allows(command) else None

        return ask


def play(cell: Cell, ask: Ask, settings: dict[str, Any]) -> None:
    """Send the requests of a cell.

    Args:
        cell: the cell.
        ask: sends a request over a connection; `None` if it was not sent.
        settings: settings that every queue has.
    """
    operation = OPERATIONS[cell.operation]
    circumstances = [CIRCUMSTANCES[name] for name in cell.circumstances]
    needed = [operation.settings, *(each.settings for each in circumstances), settings]
    homes = [operation.home, *(each.home for each in circumstances)]
    stage = Stage(
        ask=ask,
        settings={name: each[name] for each in needed for name in each},
        home=next((home for home in reversed(homes) if home is not None), PLAIN_QUEUE),
    )
    created = stage.home.make(stage)
    if created is None or isinstance(created.outcome, v.Refused):
        return
    if operation.accepts:
        stage.accept_session("c1")
    for circumstance in circumstances:
        circumstance.arrange(stage)
    make = operation.prepare(stage)
    for circumstance in circumstances:
        circumstance.begin(stage)
    stage.do(make())
    for _ in range(cell.times - 1):
        stage.do(operation.prepare(stage)())
    stage.is_copied = False
    for circumstance in reversed(circumstances):
        circumstance.end(stage)
