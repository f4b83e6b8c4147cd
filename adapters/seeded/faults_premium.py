"""Faults in what Premium has instead of partitioned entities: the PREM rules."""

from typing import Final

import attrs

from busproof.adapters.base import Observed
from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Key, Queue, Transaction
from busproof.vocabulary.commands import CreateQueue, Receive, RestoreQueue, Send
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome, QueueDescription, Refused
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("premium-partitions", "PREM-01", "Premium creates partitioned queues.")
class _PremiumPartitions(SeededBus):
    def refuses_partitions(self, asked: CreateQueue) -> bool:  # noqa: ARG002 - it never does
        return False


@faulty(
    "premium-partitions-sessions",
    "PREM-01",
    "Premium creates partitioned queues that require sessions.",
    deep=True,
)
class _PremiumPartitionsSessions(SeededBus):
    def refuses_partitions(self, asked: CreateQueue) -> bool:
        return not asked.requires_session and super().refuses_partitions(asked)


class _Remembering(SeededBus):
    """Knows which queues are there from before."""

    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.old: set[str] = set()

    def restore(self, asked: RestoreQueue) -> Outcome:
        self.old.add(asked.queue)
        return super().restore(asked)


@faulty("old-takes-nothing", "PREM-03", "A partitioned queue from before refuses what is sent.")
class _OldTakesNothing(_Remembering):
    def send(self, queue: Queue, command: Send) -> Observed:
        if queue.name in self.old:
            return Observed(Refused(error=Error.INVALID_OPERATION))
        return super().send(queue, command)


@faulty("old-gives-nothing", "PREM-03", "A partitioned queue from before gives no message.")
class _OldGivesNothing(_Remembering):
    def receive(self, queue: Queue, command: Receive, connection: str) -> Outcome:
        if queue.name in self.old:
            return Refused(error=Error.INVALID_OPERATION)
        return super().receive(queue, command, connection)


@faulty(
    "old-forgets-keys",
    "PREM-03",
    "In a partitioned queue from before a key selects no partition.",
    deep=True,
)
class _OldForgetsKeys(_Remembering):
    def key_of(self, queue: Queue, message: Message) -> Key | None:
        keyed = message.session_id is not None or queue.name not in self.old
        return super().key_of(queue, message) if keyed else None


@faulty("old-told-regular", "PREM-04", "A partitioned queue from before is told to be regular.")
class _OldToldRegular(_Remembering):
    def described(self, queue: Queue) -> QueueDescription:
        told = super().described(queue)
        return attrs.evolve(told, partitioned=False) if queue.name in self.old else told


@faulty("old-not-listed", "PREM-04", "A partitioned queue from before is not listed.")
class _OldNotListed(_Remembering):
    def names(self) -> list[str]:
        return [name for name in super().names() if name not in self.old]


@faulty("old-never-deleted", "PREM-04", "A partitioned queue from before cannot be deleted.")
class _OldNeverDeleted(_Remembering):
    def remove(self, queue: Queue) -> Outcome:
        if queue.name in self.old:
            return Refused(error=Error.INVALID_OPERATION)
        return super().remove(queue)


@faulty(
    "old-comes-back",
    "PREM-06",
    "A partitioned queue from before that was deleted can be created again.",
    deep=True,
)
class _OldComesBack(_Remembering):
    def refuses_partitions(self, asked: CreateQueue) -> bool:
        return asked.queue not in self.old and super().refuses_partitions(asked)


@faulty("premium-as-standard", "PREM-07", "Premium has no queues of more than 5 GB.")
class _PremiumAsStandard(SeededBus):
    def has_size(self, size: int | None) -> bool:
        return (size or 1) <= 5 and super().has_size(size)


@faulty("premium-size-forgotten", "PREM-07", "In Premium a queue has 1 GB, whatever it asked for.")
class _PremiumSizeForgotten(SeededBus):
    def size_given(self, asked: CreateQueue) -> int:  # noqa: ARG002 - it is forgotten
        return 1


@faulty("any-size-in-premium", "PREM-08", "In Premium a queue can have any size.")
class _AnySizeInPremium(SeededBus):
    def has_size(self, size: int | None) -> bool:  # noqa: ARG002 - it does not matter
        return True


@faulty("large-by-default-in-premium", "PREM-09", "In Premium a queue without a size has 5 GB.")
class _LargeByDefaultInPremium(SeededBus):
    def size_given(self, asked: CreateQueue) -> int:
        return asked.max_size or 5


@faulty("premium-size-multiplied", "PREM-10", "In Premium a queue is told to be 16 times as large.")
class _PremiumSizeMultiplied(SeededBus):
    def greatest(self, queue: Queue) -> int:
        return super().greatest(queue) * self.profile.partitions


@faulty("no-sessions-in-premium", "PREM-11", "In Premium no queue can require sessions.")
class _NoSessionsInPremium(SeededBus):
    def objection_to_queue(self, asked: CreateQueue) -> Error | None:
        if asked.requires_session:
            return Error.INVALID_OPERATION
        return super().objection_to_queue(asked)


@faulty(
    "key-names-session",
    "PREM-11",
    "In Premium a PartitionKey stands for a missing SessionId.",
    deep=True,
)
class _KeyNamesSession(SeededBus):
    def prepared(self, message: Message) -> Message:
        if message.session_id is None:
            return attrs.evolve(message, session_id=message.partition_key)
        return message


@faulty("key-refused-in-premium", "PREM-12", "In Premium a message with a PartitionKey is refused.")
class _KeyRefusedInPremium(SeededBus):
    def send(self, queue: Queue, command: Send) -> Observed:
        if command.message.partition_key is not None:
            return Observed(Refused(error=Error.INVALID_OPERATION))
        return super().send(queue, command)


@faulty("key-dropped-in-premium", "PREM-12", "In Premium a message loses its PartitionKey.")
class _KeyDroppedInPremium(SeededBus):
    def prepared(self, message: Message) -> Message:
        return attrs.evolve(message, partition_key=None)


@faulty(
    "premium-transaction-needs-key", "PREM-13", "In Premium a transaction's messages need a key."
)
class _PremiumTransactionNeedsKey(SeededBus):
    def stage(self, queue: Queue, message: Message, transaction: Transaction) -> int | Error:
        if message.session_id is None and message.partition_key is None:
            return Error.INVALID_OPERATION
        return super().stage(queue, message, transaction)


@faulty(
    "premium-transaction-of-one-key",
    "PREM-13",
    "In Premium all messages of a transaction need the same key.",
    deep=True,
)
class _PremiumTransactionOfOneKey(SeededBus):
    def stage(self, queue: Queue, message: Message, transaction: Transaction) -> int | Error:
        own = (message.session_id, message.partition_key)
        for each in transaction.staged:
            if own != (each.message.session_id, each.message.partition_key):
                return Error.INVALID_OPERATION
        return super().stage(queue, message, transaction)


FAULTS: Final = faulty.all()
"""In the order in which they stand here."""
