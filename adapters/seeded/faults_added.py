"""Faults of what was added later for partitioned entities: FEAT-05 to FEAT-17."""

from typing import Final

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.placing import SESSION_ID
from busproof.adapters.seeded.queues import Held, Queue
from busproof.vocabulary.commands import CancelScheduled, Peek, Schedule, SetSessionState
from busproof.vocabulary.messages import SEQUENCE_BITS, Message
from busproof.vocabulary.outcomes import Outcome, Peeked, Refused
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()

_INVALID: Final = Refused(error=Error.INVALID_OPERATION)
_SESSION_LOST: Final = Refused(error=Error.SESSION_LOCK_LOST)


@faulty(
    "keyless-refused-when-partitioned",
    "FEAT-05",
    "On partitioned queues a message needs a key.",
)
class _KeylessRefused(SeededBus):
    def place(self, queue: Queue, message: Message, timeout: int) -> int | Error:
        if queue.settings.partitioned and self.key_of(queue, message) is None:
            return Error.INVALID_OPERATION
        return super().place(queue, message, timeout)


@faulty(
    "numbers-of-first-partition-known",
    "FEAT-08",
    "A deferred message is received by its number from the first partition only.",
)
class _NumbersOfFirstPartition(SeededBus):
    def by_number(self, queue: Queue, number: int) -> Held | None:
        return None if number >> SEQUENCE_BITS else super().by_number(queue, number)


@faulty("peek-refused-when-partitioned", "FEAT-09", "Partitioned queues cannot be peeked.")
class _PeekRefused(SeededBus):
    def peek_any(self, queue: Queue, command: Peek) -> Outcome:
        refused = queue.settings.partitioned and command.session_id is None
        return _INVALID if refused else super().peek_any(queue, command)


@faulty(
    "locks-of-first-partition-renewed",
    "FEAT-10",
    "Only locks of the first partition's messages are renewed.",
)
class _LocksOfFirstPartition(SeededBus):
    def renewable(self, queue: Queue, token: str) -> Held | None:
        held = super().renewable(queue, token)
        return None if held is not None and held.partition else held


@faulty(
    "keyed-not-scheduled-when-partitioned",
    "FEAT-11",
    "On partitioned queues a message with a key cannot be scheduled.",
)
class _KeyedNotScheduled(SeededBus):
    def schedule(self, queue: Queue, message: Message, command: Schedule) -> Outcome:
        keyed = self.key_of(queue, message) is not None
        if queue.settings.partitioned and keyed and command.transaction is None:
            return _INVALID
        return super().schedule(queue, message, command)


@faulty(
    "scheduled-of-first-partition-cancelled",
    "FEAT-12",
    "Only what was scheduled in the first partition is cancelled.",
)
class _ScheduledOfFirstPartition(SeededBus):
    def cancel(self, queue: Queue, command: CancelScheduled) -> Outcome:
        if command.sequence_number >> SEQUENCE_BITS:
            return self.cancel_too_late(queue, command.sequence_number)
        return super().cancel(queue, command)


class _KnowingFirstPartition(SeededBus):
    """Tells sessions of the first partition from others."""

    def is_elsewhere(self, queue: Queue, session_id: str) -> bool:
        return self.partition_of(queue, (SESSION_ID, session_id)) > 0


@faulty(
    "sessions-of-first-partition-renewed",
    "FEAT-13",
    "Only sessions of the first partition are renewed.",
)
class _SessionsOfFirstPartition(_KnowingFirstPartition):
    def renew_session(self, queue: Queue, session_id: str, connection: str) -> Outcome:
        if self.is_elsewhere(queue, session_id):
            return _SESSION_LOST
        return super().renew_session(queue, session_id, connection)


@faulty(
    "states-of-first-partition-set",
    "FEAT-14",
    "Only sessions of the first partition can be given a state.",
)
class _StatesOfFirstPartitionSet(_KnowingFirstPartition):
    def set_state(self, queue: Queue, command: SetSessionState, connection: str) -> Outcome:
        if self.is_elsewhere(queue, command.session_id):
            return _SESSION_LOST
        return super().set_state(queue, command, connection)


@faulty(
    "states-of-first-partition-told",
    "FEAT-15",
    "A session's state is told only if the session is in the first partition.",
)
class _StatesOfFirstPartitionTold(_KnowingFirstPartition):
    def state_of(self, queue: Queue, session_id: str) -> str | None:
        return None if self.is_elsewhere(queue, session_id) else super().state_of(queue, session_id)


@faulty(
    "sessions-of-first-partition-listed",
    "FEAT-16",
    "Only sessions of the first partition are listed.",
)
class _SessionsOfFirstPartitionListed(_KnowingFirstPartition):
    def sessions_of(self, queue: Queue) -> set[str]:
        return {each for each in super().sessions_of(queue) if not self.is_elsewhere(queue, each)}


@faulty(
    "sessions-not-peeked",
    "FEAT-17",
    "A peek in a session of a partitioned queue shows other sessions.",
)
class _SessionsNotPeeked(SeededBus):
    def peek_session(self, queue: Queue, command: Peek) -> Peeked:
        if queue.settings.partitioned:
            return self.peek(queue, command.count)
        return super().peek_session(queue, command)


FAULTS: Final = faulty.all()
