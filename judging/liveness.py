"""Liveness: how long a receiver waits for a message that has to arrive eventually.

One empty answer is not a violation. A series of them over two minutes is one, under the reading
`bounded` of SCHEDULE-DELAY, FORWARD-DELAY and DEAD-LETTER-DELAY, if nothing happened meanwhile that
may delay the message. Other readings never report a violation.
"""

from collections.abc import Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.messages.liveness import owed
from busproof.oracle.state import Namespace

__all__ = ["BOUND", "PAUSE", "TRIES", "Overdue", "Patience"]

BOUND: Final = 120 * v.MICROSECONDS
"""Maximum delay in microseconds under the reading `bounded`; scenarios wait as long."""
TRIES: Final = 20
"""Number of empty answers in a row, within that time, before a receiver gives up."""
PAUSE: Final = 7 * v.MICROSECONDS
"""Time between two empty answers, in microseconds."""

DISTURBING: Final = (
    v.AddRule,
    v.DeleteQueue,
    v.DeleteTopic,
    v.RemoveRule,
    v.TakePartitionDown,
    v.UpdateQueue,
    v.UpdateTopic,
)
"""Requests that may delay a message in transit."""


@attrs.frozen
class Overdue:
    """A message that has not arrived in time: the rules that it breaks, and an explanation."""

    rules: tuple[v.RuleId, ...]
    why: str


@attrs.frozen
class _Waiting:
    """A series of empty answers: when it began, and how many there were."""

    since: int
    answers: int = 0


class Patience:
    """Monitor of one sequence of events for messages that do not arrive."""

    def __init__(self) -> None:
        self._waiting: dict[v.Command, _Waiting] = {}
        self._disturbed: dict[str, int] = {}
        self._is_blind = False

    def saw(self, event: v.Event, possible: Sequence[Namespace]) -> Overdue | None:
        """Return the message that is overdue, if a receiver has waited too long for one.

        Args:
            event: the latest event, which has been judged.
            possible: the states that remain possible after it.
        """
        if isinstance(event.outcome, v.Indeterminate) or isinstance(event.command, v.DeleteBatch):
            # It may have taken the message unseen, so no wait proves anything.
            self._is_blind = True
        if isinstance(event.command, DISTURBING):
            for name, queue in (item for state in possible for item in state.queues.items()):
                self._disturbed[name] = max(self._disturbed.get(name, 0), queue.arrivals)
        if isinstance(event.command, v.AdvanceClock):
            return None
        if not (isinstance(event.command, v.Receive) and isinstance(event.outcome, v.Empty)):
            self._waiting.clear()
            return None
        return self._waited(event, event.command, possible)

    def _waited(
        self, event: v.Event, command: v.Receive, possible: Sequence[Namespace]
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
        seconds = (event.called - row.since) / v.MICROSECONDS
        why = f"a message is overdue: {row.answers} empty answers over {seconds:g} seconds"
        return Overdue(rules=rules, why=why)

    def _owed(self, command: v.Receive, possible: Sequence[Namespace]) -> tuple[v.RuleId, ...]:
        """Return the rules that require a message to arrive, if every possible state has one."""
        if self._is_blind:
            return ()
        since = self._disturbed.get(command.queue, 0)
        calm = not self._disturbed
        obligations = [
            owed(state, command.queue, command.session_id, since, calm=calm) for state in possible
        ]
        known = tuple(dict.fromkeys(rules for rules in obligations if rules is not None))
        return known if None not in obligations else ()
