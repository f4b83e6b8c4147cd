"""Liveness: how long a receiver waits for a message that has to arrive eventually.

One empty answer is not a violation. A series of them over two minutes is one, under the reading
`bounded` of SCHEDULE-DELAY, FORWARD-DELAY and DEAD-LETTER-DELAY, if nothing happened meanwhile that
may delay the message. Other readings never report a violation.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.judging.replay.evidence import views_of
from busproof.oracle.messages.liveness import owed
from busproof.oracle.state import Namespace

__all__ = ["BOUND", "PAUSE", "TRIES", "Overdue", "Patience"]

BOUND: Final = 120 * v.MICROSECONDS
"""Maximum delay in microseconds under the reading `bounded`; scenarios wait as long."""
TRIES: Final = 20
"""Number of empty answers in a row, within that time, before a receiver gives up."""
FEW: Final = 4
"""Number of empty answers that is enough if they span half as long again."""
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
        self._sent: dict[str, Counter[str]] = {}
        self._shown: set[str] = set()
        self._is_cancelled = False

    def saw(self, event: v.Event, possible: Sequence[Namespace]) -> Overdue | None:
        """Return the message that is overdue, if a receiver has waited too long for one.

        Args:
            event: the latest event, which has been judged.
            possible: the states that remain possible after it.
        """
        if isinstance(event.outcome, v.Indeterminate) or isinstance(event.command, v.DeleteBatch):
            # It may have taken the message unseen, so no wait proves anything.
            self._is_blind = True
        self._note_copies(event)
        if isinstance(event.command, DISTURBING):
            for name, queue in (item for state in possible for item in state.queues.items()):
                self._disturbed[name] = max(self._disturbed.get(name, 0), queue.arrivals)
        if isinstance(event.command, v.AdvanceClock):
            return None
        if not (isinstance(event.command, v.Receive) and isinstance(event.outcome, v.Empty)):
            self._waiting.clear()
            return None
        return self._waited(event.command, possible)

    def _note_copies(self, event: v.Event) -> None:
        """Count what was sent with each MessageId, and note which were seen."""
        match event.command:
            case v.Send(message=message) | v.Schedule(message=message):
                messages: Sequence[v.Message] = (message,)
            case v.SendBatch(messages=messages):
                pass
            case v.CancelScheduled():
                # Whichever of two copies is cancelled, the other one may have been dropped for it.
                self._is_cancelled = True
                messages = ()
            case _:
                messages = ()
        for message in messages:
            if message.message_id is not None:
                of_queue = self._sent.setdefault(getattr(event.command, "queue", ""), Counter())
                of_queue[message.message_id] += 1
        for view in views_of(event.outcome):
            if view.message_id is not None:
                self._shown.add(view.message_id)

    def _waited(self, command: v.Receive, possible: Sequence[Namespace]) -> Overdue | None:
        rules = self._owed(command, possible)
        if not rules:
            self._waiting.pop(command, None)
            return None
        now = min(state.now.earliest for state in possible)
        before = self._waiting.get(command, _Waiting(now))
        row = attrs.evolve(before, answers=before.answers + 1)
        self._waiting[command] = row
        waited = now - row.since
        if waited < BOUND or (row.answers < TRIES and not _is_long(row.answers, waited)):
            return None
        seconds = waited / v.MICROSECONDS
        why = f"a message is overdue: {row.answers} empty answers over {seconds:g} seconds"
        return Overdue(rules=rules, why=why)

    def _owed(self, command: v.Receive, possible: Sequence[Namespace]) -> tuple[v.RuleId, ...]:
        """Return the rules that require a message to arrive, if every possible state has one."""
        if self._is_blind:
            return ()
        since = self._disturbed.get(command.queue, 0)
        calm = not self._disturbed
        sent: dict[str, int] = {}
        if not self._is_cancelled:
            of_queue = self._sent.get(command.queue, Counter[str]())
            sent = {name: count for name, count in of_queue.items() if name not in self._shown}
        obligations = [
            owed(state, command.queue, command.session_id, since, sent, calm=calm)
            for state in possible
        ]
        known = tuple(dict.fromkeys(rules for rules in obligations if rules is not None))
        return known if None not in obligations else ()


def _is_long(answers: int, waited: int) -> bool:
    """Return whether few empty answers are enough, because they span a long time."""
    return answers >= FEW and waited >= BOUND + BOUND // 2
