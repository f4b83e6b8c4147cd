"""Which partition of the seeded bus takes a message, and when none does."""

import zlib
from typing import Final

from busproof.adapters.seeded.publishing import Publishing
from busproof.adapters.seeded.queues import Key, Queue
from busproof.vocabulary.messages import Message
from busproof.vocabulary.values import MICROSECONDS, Error

__all__ = ["MESSAGE_ID", "PARTITION_KEY", "REROUTING_TIMEOUT", "SESSION_ID", "Placing"]

SESSION_ID: Final = "SessionId"
PARTITION_KEY: Final = "PartitionKey"
MESSAGE_ID: Final = "MessageId"
REROUTING_TIMEOUT: Final = 15 * MICROSECONDS
"""A sender's timeout must exceed this for its message to go round a partition that is down."""


class Placing(Publishing):
    """Finds each message's partition; every method is a hook."""

    conflict_error: Error = Error.INVALID_OPERATION

    def place(self, queue: Queue, message: Message, timeout: int) -> int | Error:
        """The partition that takes a message sent outside a transaction, or why none does."""
        if queue.settings.partitioned and self.conflicts(message):
            return self.conflict_error
        key = self.key_of(queue, message)
        if key is None:
            return self.place_without_key(queue, timeout)
        return self.place_with_key(queue, key)

    def conflicts(self, message: Message) -> bool:
        """Whether SessionId and PartitionKey are both set and differ."""
        session_id, partition_key = message.session_id, message.partition_key
        return None not in (session_id, partition_key) and session_id != partition_key

    def key_of(self, queue: Queue, message: Message) -> Key | None:
        """The partition key of a message; a regular queue selects nothing by a key."""
        if not queue.settings.partitioned:
            return None
        if message.session_id is not None:
            return (SESSION_ID, message.session_id)
        if message.partition_key is not None:
            return (PARTITION_KEY, message.partition_key)
        if queue.settings.duplicate_detection and message.message_id is not None:
            return (MESSAGE_ID, message.message_id)
        return None

    def partition_of(self, queue: Queue, key: Key) -> int:
        """The partition that a key selects, by its value alone."""
        return zlib.crc32(key[1].encode()) % queue.partitions

    def place_with_key(self, queue: Queue, key: Key) -> int | Error:
        """The key's partition, or none while it is down."""
        home = self.partition_of(queue, key)
        return Error.UNAVAILABLE if home in queue.down else home

    def place_without_key(self, queue: Queue, timeout: int) -> int | Error:
        """The next partition by turns, or another one if the sender has the time."""
        first = self.next_partition(queue)
        queue.turn = (first + 1) % queue.partitions
        if first not in queue.down:
            return first
        other = self.next_partition_up(queue)
        if other is None or timeout <= REROUTING_TIMEOUT:
            return Error.UNAVAILABLE
        queue.turn = (other + 1) % queue.partitions
        return other

    def next_partition(self, queue: Queue) -> int:
        """The partition whose turn it is."""
        return queue.turn

    def next_partition_up(self, queue: Queue) -> int | None:
        """The first available partition from the one whose turn it is, if any is left."""
        turns = ((queue.turn + ahead) % queue.partitions for ahead in range(queue.partitions))
        return next((turn for turn in turns if turn not in queue.down), None)
