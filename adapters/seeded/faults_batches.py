"""Faults of batches: the BATCH rules, and FEAT-06 and FEAT-07."""

from collections.abc import Sequence
from typing import Final

import attrs

from busproof.adapters.base import Observed
from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Key, Queue
from busproof.vocabulary.commands import ReceiveBatch, Send, SendBatch
from busproof.vocabulary.messages import Message, MessageView
from busproof.vocabulary.outcomes import Done, Outcome, ReceivedSeveral, Refused, Witness
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()

MANY: Final = 20
"""A batch of more messages is a large one."""


@faulty("batch-takes-the-first-only", "BATCH-01", "Of a batch only the first message arrives.")
class _BatchTakesTheFirstOnly(SeededBus):
    def one_by_one(self, command: SendBatch) -> Sequence[Send]:
        return super().one_by_one(command)[:1]


@faulty(
    "last-of-large-batch-lost",
    "BATCH-01",
    "Of a batch of more than 20 messages the last one is lost.",
    deep=True,
)
class _LastOfLargeBatchLost(SeededBus):
    def one_by_one(self, command: SendBatch) -> Sequence[Send]:
        sends = super().one_by_one(command)
        return sends[:-1] if len(sends) > MANY else sends


@faulty(
    "refused-batch-stays-in-part",
    "BATCH-02",
    "What a batch had before the message that is refused stays, though the batch is refused.",
    deep=True,
)
class _RefusedBatchStaysInPart(SeededBus):
    def undo(self, before: dict[str, object]) -> None:
        """Nothing is undone."""


@faulty("batch-reversed", "BATCH-03", "The messages of a batch arrive last one first.")
class _BatchReversed(SeededBus):
    def one_by_one(self, command: SendBatch) -> Sequence[Send]:
        return super().one_by_one(command)[::-1]


@faulty(
    "large-batch-rotated",
    "BATCH-03",
    "The first message of a batch of more than 5 arrives behind the others.",
    deep=True,
)
class _LargeBatchRotated(SeededBus):
    def one_by_one(self, command: SendBatch) -> Sequence[Send]:
        sends = super().one_by_one(command)
        return (*sends[1:], sends[0]) if len(sends) > MANY // 4 else sends


@faulty("batch-by-turns", "BATCH-04", "The messages of a batch go to the partitions by turns.")
class _BatchByTurns(SeededBus):
    together = False

    def take_batch(self, queue: Queue, command: SendBatch, connection: str) -> Observed:
        self.together = True
        observed = super().take_batch(queue, command, connection)
        self.together = False
        return observed

    def place_with_key(self, queue: Queue, key: Key) -> int | Error:
        if self.together and queue.settings.partitioned:
            return self.place_without_key(queue, 60_000_000)
        return super().place_with_key(queue, key)


@faulty(
    "two-keys-half-acknowledged",
    "BATCH-01",
    "A batch with two keys is accepted, and only the messages with the first key arrive.",
    deep=True,
)
class _TwoKeysHalfAcknowledged(SeededBus):
    def objection_to_keys(self, queue: Queue, command: SendBatch) -> Error | None:  # noqa: ARG002
        return None

    def one_by_one(self, command: SendBatch) -> Sequence[Send]:
        sends = super().one_by_one(command)
        queue = self.queues[command.queue]
        first = self.key_of(queue, sends[0].message)
        return [each for each in sends if self.key_of(queue, each.message) == first]


@faulty(
    "regular-batch-needs-one-key",
    "BATCH-06",
    "A regular queue refuses a batch whose messages have different keys.",
)
class _RegularBatchNeedsOneKey(SeededBus):
    def objection_to_keys(self, queue: Queue, command: SendBatch) -> Error | None:
        named = {(each.session_id, each.partition_key) for each in command.messages}
        return (
            Error.INVALID_OPERATION if len(named) > 1 else super().objection_to_keys(queue, command)
        )


@faulty("batch-of-any-size", "BATCH-07", "A batch may be as large as one likes.")
class _BatchOfAnySize(SeededBus):
    def largest_batch(self) -> int:
        return 2**40


@faulty(
    "batch-outside-transaction",
    "BATCH-08",
    "A batch that is sent in a transaction arrives at once.",
)
class _BatchOutsideTransaction(SeededBus):
    def one_by_one(self, command: SendBatch) -> Sequence[Send]:
        return super().one_by_one(attrs.evolve(command, transaction=None))


@faulty(
    "rolled-back-batch-leaves-one",
    "BATCH-08",
    "The last message of a batch that is sent in a transaction arrives at once.",
    deep=True,
)
class _RolledBackBatchLeavesOne(SeededBus):
    def one_by_one(self, command: SendBatch) -> Sequence[Send]:
        sends = super().one_by_one(command)
        return (*sends[:-1], attrs.evolve(sends[-1], transaction=None))


@faulty(
    "batch-dropped-for-a-copy",
    "BATCH-09",
    "A batch with a copy of an earlier message is dropped whole.",
)
class _BatchDroppedForACopy(SeededBus):
    def one_by_one(self, command: SendBatch) -> Sequence[Send]:
        sends = super().one_by_one(command)
        queue = self.queues.get(command.queue)
        copies = queue is not None and any(
            self.is_copy(queue, each.message, self.key_of(queue, each.message)) for each in sends
        )
        return () if copies else sends


@faulty(
    "copies-within-a-batch-arrive",
    "BATCH-09",
    "A message that stands twice in a batch arrives twice.",
    deep=True,
)
class _CopiesWithinABatchArrive(SeededBus):
    known: frozenset[object] | None = None

    def take_batch(self, queue: Queue, command: SendBatch, connection: str) -> Observed:
        self.known = frozenset(queue.accepted)
        observed = super().take_batch(queue, command, connection)
        self.known = None
        return observed

    def is_copy(self, queue: Queue, message: Message, key: Key | None) -> bool:
        new = self.known is not None and (key, message.message_id) not in self.known
        return not new and super().is_copy(queue, message, key)


@faulty(
    "batch-taken-as-far-as-there-is-room",
    "BATCH-10",
    "Of a batch that does not fit in as much is taken as there is room for.",
)
class _BatchTakenAsFarAsThereIsRoom(SeededBus):
    def take_one(self, command: Send, connection: str) -> Observed:
        observed = super().take_one(command, connection)
        full = observed.outcome == Refused(error=Error.QUOTA_EXCEEDED)
        return Observed(Done()) if full else observed


@faulty(
    "batch-goes-round-an-outage",
    "BATCH-11",
    "While its key's partition is down a batch goes to another one.",
)
class _BatchGoesRoundAnOutage(SeededBus):
    def take_one(self, command: Send, connection: str) -> Observed:
        observed = super().take_one(command, connection)
        queue = self.queues[command.queue]
        if observed.outcome != Refused(error=Error.UNAVAILABLE) or not queue.settings.partitioned:
            return observed
        other = self.next_partition_up(queue)
        if other is None:
            return observed
        self.store(queue, command.message, self.key_of(queue, command.message), other)
        return Observed(Done(), Witness(partition=other))


@faulty("one-more-at-once", "BATCH-12", "A receive of several is given one more than it asked for.")
class _OneMoreAtOnce(SeededBus):
    def most_at_once(self, command: ReceiveBatch) -> int:
        return command.count + 1


@faulty(
    "first-twice-at-once",
    "BATCH-12",
    "A receive that is given several messages is given the first one twice.",
    deep=True,
)
class _FirstTwiceAtOnce(SeededBus):
    def given_together(self, given: list[MessageView]) -> list[MessageView]:
        return [*given[:-1], given[0]] if len(given) > 2 else given


@faulty("newest-first-at-once", "BATCH-13", "What comes together comes in reverse order.")
class _NewestFirstAtOnce(SeededBus):
    def given_together(self, given: list[MessageView]) -> list[MessageView]:
        return given[::-1]


@faulty(
    "one-left-out-at-once",
    "BATCH-13",
    "Of more than three messages that come together the second is left out.",
    deep=True,
)
class _OneLeftOutAtOnce(SeededBus):
    def given_together(self, given: list[MessageView]) -> list[MessageView]:
        return [given[0], *given[2:]] if len(given) > 3 else given


@faulty("one-lock-for-all", "BATCH-14", "Messages that come together have one lock.")
class _OneLockForAll(SeededBus):
    def given_together(self, given: list[MessageView]) -> list[MessageView]:
        token = given[0].lock_token
        return [attrs.evolve(view, lock_token=token) for view in given]


@faulty(
    "settling-one-settles-all",
    "BATCH-14",
    "Completing one of the messages that came together completes the others.",
    deep=True,
)
class _SettlingOneSettlesAll(SeededBus):
    beside: tuple[str, ...] = ()

    def receive_batch(self, queue: Queue, command: ReceiveBatch, connection: str) -> Outcome:
        outcome = super().receive_batch(queue, command, connection)
        if isinstance(outcome, ReceivedSeveral):
            self.beside = tuple(view.lock_token or "" for view in outcome.messages)
        return outcome

    def complete(self, queue: Queue, held: object) -> None:
        token = getattr(getattr(held, "lock", None), "token", "")
        together = self.beside if token in self.beside else (token,)
        for each in [one for one in queue.messages if one.lock and one.lock.token in together]:
            super().complete(queue, each)


@faulty("partitioned-takes-no-batch", "FEAT-06", "A partitioned queue takes no batches.")
class _PartitionedTakesNoBatch(SeededBus):
    def objection_to_batch(self, queue: Queue, command: SendBatch) -> Error | None:
        if queue.settings.partitioned:
            return Error.INVALID_OPERATION
        return super().objection_to_batch(queue, command)


@faulty(
    "partitioned-gives-nothing-at-once",
    "FEAT-07",
    "A receive of several from a partitioned queue is refused.",
)
class _PartitionedGivesNothingAtOnce(SeededBus):
    def receive_batch(self, queue: Queue, command: ReceiveBatch, connection: str) -> Outcome:
        if queue.settings.partitioned:
            return Refused(error=Error.INVALID_OPERATION)
        return super().receive_batch(queue, command, connection)


FAULTS: Final = faulty.all()
