"""How long a receiver waits for what has to come in the end, though nobody says when.

One empty answer is no violation. A row of them is, by the readings `bounded` of SCHEDULE-DELAY and
FORWARD-DELAY, if they came over two minutes, and if nothing has happened since that might keep what
is owed. Readings without a bound accuse nobody.
"""

from collections.abc import Sequence
from typing import Final

import attrs

from busproof.oracle.messages.liveness import owed
from busproof.oracle.state import Namespace
from busproof.vocabulary.commands import (
    AddRule,
    AdvanceClock,
    Command,
    DeleteQueue,
    DeleteTopic,
    Receive,
    RemoveRule,
    TakePartitionDown,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.outcomes import Empty, Event, Indeterminate
from busproof.vocabulary.values import MICROSECONDS, RuleId

__all__ = ["BOUND", "PAUSE", "TRIES", "Overdue", "Patience"]

BOUND: Final = 120 * MICROSECONDS
"""How late something may come by a reading `bounded`; the scenarios wait as long."""
TRIES: Final = 20
"""Empty answers in a row after which a receiver gives up, if they came over that time."""
PAUSE: Final = 7 * MICROSECONDS
"""Between two of them, in microseconds."""

DISTURBING: Final = (
    AddRule,
    DeleteQueue,
    DeleteTopic,
    RemoveRule,
    TakePartitionDown,
    UpdateQueue,
    UpdateTopic,
)
"""Requests by which a message that is on its way might be kept."""


@attrs.frozen
class Overdue:
    """What has to come, by these rules, and has not; in words too."""

    rules: tuple[RuleId, ...]
    why: str


@attrs.frozen
class _Waiting:
    """Empty answers in a row: since when, and how many."""

    since: int
    answers: int = 0


class Patience:
    """Watches one run of events, from an empty namespace."""

    def __init__(self) -> None:
        self._waiting: dict[Command, _Waiting] = {}
        self._disturbed: dict[str, int] = {}
        self._is_blind = False

    def saw(self, event: Event, possible: Sequence[Namespace]) -> Overdue | None:
        """What is overdue, if a receiver has waited for too long by now.

        Args:
            event: what came last, which was judged.
            possible: the states that remain.
        """
        if isinstance(event.outcome, Indeterminate):
            # It may have been the one who was given it.
            self._is_blind = True
        if isinstance(event.command, DISTURBING):
            for name, queue in (each for state in possible for each in state.queues.items()):
                self._disturbed[name] = max(self._disturbed.get(name, 0), queue.arrivals)
        if isinstance(event.command, AdvanceClock):
            return None
        if not (isinstance(event.command, Receive) and isinstance(event.outcome, Empty)):
            self._waiting.clear()
            return None
        return self._waited(event, event.command, possible)

    def _waited(
        self, event: Event, command: Receive, possible: Sequence[Namespace]
    ) -> Overdue | None:
        rules = self._owed(command, possible)
        if not rules:
            self._waiting.pop(command, None)
            return None
        before = self._waiting.get(command, _Waiting(event.called))
        row = attrs.evolve(before, answers=before.answers + 1)
        self._waiting[command] = row
        if row.answers < TRIES or event.called - row.since < BOUND:
            return None
        seconds = (event.called - row.since) / MICROSECONDS
        why = (
            f"a message has to come, and has not in {row.answers} answers over {seconds:g} seconds"
        )
        return Overdue(rules=rules, why=why)

    def _owed(self, command: Receive, possible: Sequence[Namespace]) -> tuple[RuleId, ...]:
        """The rules by which a message has to come, one in each state that is possible."""
        if self._is_blind:
            return ()
        since = self._disturbed.get(command.queue, 0)
        found = [owed(state, command.queue, command.session_id, since) for state in possible]
        known = tuple(dict.fromkeys(each for each in found if each is not None))
        return known if None not in found else ()
