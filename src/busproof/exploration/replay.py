"""Replay of recorded commands on any adapter."""

from collections.abc import Callable, Sequence

from busproof import vocabulary as v
from busproof.exploration.machine import Sequence as Run
from busproof.exploration.machine import Watch
from busproof.history.replay import RecordedCommand, resolved
from busproof.judging.applicability import Terms

__all__ = ["Replay", "replay"]


class Replay(Watch):
    """An observer that records the events of a replay."""

    def __init__(self, adapter: v.Adapter, terms: Terms, write: Callable[[v.Event], None]) -> None:
        super().__init__(adapter, terms)
        self._write = write

    def record(self, event: v.Event) -> None:
        """Write the event."""
        self._write(event)


def replay(run: Run, commands: Sequence[RecordedCommand]) -> None:
    """Send recorded commands in order, until the sequence is over.

    A command that refers to the lock of a receive is skipped if the receive got no lock this time.
    """
    tokens: dict[int, str] = {}
    for recorded in commands:
        command = resolved(recorded.command, tokens)
        event = None if command is None else run.ask(command, recorded.connection)
        outcome = None if event is None else event.outcome
        if isinstance(outcome, v.Received) and outcome.message.lock_token:
            tokens[recorded.number] = outcome.message.lock_token
        if run.over:
            return
