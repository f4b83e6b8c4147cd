"""Faults in what a key is and where it leads: KEY-01, KEY-02, KEY-04, KEY-05, KEY-07 to KEY-10."""

from collections import Counter
from typing import Final

import attrs

from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.placing import MESSAGE_ID, PARTITION_KEY, SESSION_ID
from busproof.adapters.seeded.queues import Key, Queue
from busproof.vocabulary.messages import Message
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("copy-in-second-partition", "KEY-01", "Each message is put into two partitions.")
class _CopyInSecondPartition(SeededBus):
    def append(self, queue: Queue, message: Message, partition: int) -> None:
        super().append(queue, message, partition)
        if queue.partitions > 1:
            super().append(queue, message, (partition + 1) % queue.partitions)


@faulty("key-moves", "KEY-02", "From its 5th message on a key selects another partition.")
class _KeyMoves(SeededBus):
    moves_at = 5

    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.sent: Counter[tuple[str, str]] = Counter()

    def partition_of(self, queue: Queue, key: Key) -> int:
        self.sent[queue.name, key[1]] += 1
        moved = self.sent[queue.name, key[1]] >= self.moves_at
        return (super().partition_of(queue, key) + moved) % queue.partitions


@faulty(
    "key-moves-late",
    "KEY-02",
    "From its 40th message on a key selects another partition.",
    deep=True,
)
class _KeyMovesLate(_KeyMoves):
    moves_at = 40


class _WithoutKey(SeededBus):
    """Takes the MessageId, or no key at all, where it should take another property."""

    def otherwise(self, queue: Queue, message: Message) -> Key | None:
        if not queue.settings.partitioned or message.message_id is None:
            return None
        return (MESSAGE_ID, message.message_id)


@faulty(
    "session-id-not-a-key",
    "KEY-04",
    "On a queue without sessions the SessionId is no key: the MessageId is, or nothing.",
)
class _SessionIdNotAKey(_WithoutKey):
    def key_of(self, queue: Queue, message: Message) -> Key | None:
        key = super().key_of(queue, message)
        ignored = key is not None and key[0] == SESSION_ID and not queue.settings.requires_session
        return self.otherwise(queue, message) if ignored else key


@faulty(
    "session-split",
    "KEY-05",
    "On a session-aware queue a session is spread: the MessageId is the key, or nothing.",
)
class _SessionSplit(_WithoutKey):
    def key_of(self, queue: Queue, message: Message) -> Key | None:
        key = super().key_of(queue, message)
        return self.otherwise(queue, message) if queue.settings.requires_session else key


@faulty(
    "partition-key-not-a-key",
    "KEY-07",
    "The PartitionKey is no key: the MessageId is, or nothing.",
)
class _PartitionKeyNotAKey(_WithoutKey):
    def key_of(self, queue: Queue, message: Message) -> Key | None:
        key = super().key_of(queue, message)
        ignored = key is not None and key[0] == PARTITION_KEY
        return self.otherwise(queue, message) if ignored else key


@faulty("mismatch-accepted", "KEY-08", "SessionId and PartitionKey may differ.")
class _MismatchAccepted(SeededBus):
    def place(self, queue: Queue, message: Message, timeout: int) -> int | Error:
        if self.conflicts(message):
            message = attrs.evolve(message, partition_key=message.session_id)
        return super().place(queue, message, timeout)


@faulty("mismatch-wrong-error", "KEY-08", "Keys that differ are refused, with another error.")
class _MismatchWrongError(SeededBus):
    conflict_error = Error.OTHER


@faulty(
    "mismatch-refused-yet-stored",
    "KEY-08",
    "Keys that differ are refused, and the message is enqueued all the same.",
)
class _MismatchRefusedYetStored(SeededBus):
    def place(self, queue: Queue, message: Message, timeout: int) -> int | Error:
        placed = super().place(queue, message, timeout)
        if placed is self.conflict_error:
            self.store(queue, message, self.key_of(queue, message), 0)
        return placed


@faulty(
    "mismatch-accepted-when-long",
    "KEY-08",
    "Keys are compared by their first 8 characters.",
    deep=True,
)
class _MismatchAcceptedWhenLong(SeededBus):
    def conflicts(self, message: Message) -> bool:
        session_id, partition_key = message.session_id or "", message.partition_key or ""
        return super().conflicts(message) and session_id[:8] != partition_key[:8]


@faulty(
    "mismatch-accepted-in-other-case",
    "KEY-08",
    "Keys are compared without regard to upper and lower case.",
    deep=True,
)
class _MismatchAcceptedInOtherCase(SeededBus):
    def conflicts(self, message: Message) -> bool:
        session_id, partition_key = message.session_id or "", message.partition_key or ""
        return super().conflicts(message) and session_id.lower() != partition_key.lower()


@faulty("equal-refused", "KEY-09", "SessionId and PartitionKey may not both be set.")
class _EqualRefused(SeededBus):
    def conflicts(self, message: Message) -> bool:
        return message.session_id is not None and message.partition_key is not None


@faulty(
    "message-id-not-a-key",
    "KEY-10",
    "With duplicate detection a MessageId selects no partition: all of them take their turns.",
)
class _MessageIdNotAKey(SeededBus):
    def place(self, queue: Queue, message: Message, timeout: int) -> int | Error:
        key = self.key_of(queue, message)
        if key is not None and key[0] == MESSAGE_ID:
            return self.place_without_key(queue, timeout)
        return super().place(queue, message, timeout)


@faulty(
    "message-id-before-partition-key",
    "KEY-24",
    "With duplicate detection the MessageId is the key, whatever else is set.",
)
class _MessageIdBeforePartitionKey(_WithoutKey):
    def key_of(self, queue: Queue, message: Message) -> Key | None:
        first = self.otherwise(queue, message) if queue.settings.duplicate_detection else None
        return first or super().key_of(queue, message)


FAULTS: Final = faulty.all()
