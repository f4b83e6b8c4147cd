"""Faults in what is full and what is not: the SIZE rules."""

from typing import Final

from busproof.adapters.base import Observed
from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Queue, Staged, Transaction
from busproof.adapters.seeded.sizing import bytes_of
from busproof.adapters.seeded.transacting import Transacting
from busproof.vocabulary.commands import CreateQueue, Receive, Send
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome, Refused
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("largest-size-refused", "SIZE-01", "A queue cannot have 5 GB.")
class _LargestSizeRefused(SeededBus):
    def has_size(self, size: int | None) -> bool:
        return size != 5 and super().has_size(size)


@faulty("size-forgotten", "SIZE-01", "A queue has 1 GB, whatever it was created with.")
class _SizeForgotten(SeededBus):
    def size_given(self, asked: CreateQueue) -> int:  # noqa: ARG002 - it is forgotten
        return 1


@faulty("any-size", "SIZE-02", "A queue can have any size.")
class _AnySize(SeededBus):
    def has_size(self, size: int | None) -> bool:  # noqa: ARG002 - it does not matter
        return True


@faulty("large-by-default", "SIZE-03", "A queue that is created without a size has 5 GB.")
class _LargeByDefault(SeededBus):
    def size_given(self, asked: CreateQueue) -> int:
        return asked.max_size or 5


@faulty("one-partition-told", "SIZE-04", "A partitioned queue is told to be as large as one part.")
class _OnePartitionTold(SeededBus):
    def greatest(self, queue: Queue) -> int:
        return queue.settings.max_size or 1


@faulty("size-divided", "SIZE-07", "The partitions share the size given, instead of having each.")
class _SizeDivided(SeededBus):
    def limit(self, queue: Queue) -> int:
        return super().limit(queue) // queue.partitions


@faulty("one-partition-too-many", "SIZE-05", "A partitioned queue has one partition too many.")
class _OnePartitionTooMany(SeededBus):
    def made(self, settings: CreateQueue) -> Queue:
        queue = super().made(settings)
        queue.partitions += bool(settings.partitioned)
        return queue


@faulty(
    "partitions-by-size",
    "SIZE-05",
    "A queue of several GB has that many times the partitions.",
    deep=True,
)
class _PartitionsBySize(SeededBus):
    def made(self, settings: CreateQueue) -> Queue:
        queue = super().made(settings)
        if settings.partitioned:
            queue.partitions *= settings.max_size or 1
        return queue

    def greatest(self, queue: Queue) -> int:
        return queue.partitions


@faulty(
    "regular-told-as-partitioned", "SIZE-06", "A regular queue is told to be 16 times as large."
)
class _RegularToldAsPartitioned(SeededBus):
    def greatest(self, queue: Queue) -> int:
        return (queue.settings.max_size or 1) * self.profile.partitions


@faulty("partitions-pooled", "SIZE-07", "A partition takes room from others that have some.")
class _PartitionsPooled(SeededBus):
    def limit(self, queue: Queue) -> int:
        return super().limit(queue) * queue.partitions


@faulty(
    "session-never-full",
    "SIZE-07",
    "A session's messages are taken although their partition is full.",
    deep=True,
)
class _SessionNeverFull(SeededBus):
    def place(self, queue: Queue, message: Message, timeout: int) -> int | Error:
        placed = super().place(queue, message, timeout)
        if message.session_id is not None and placed is Error.QUOTA_EXCEEDED:
            return self.partition_of(queue, ("SessionId", message.session_id))
        return placed


@faulty("one-full-all-full", "SIZE-08", "While one partition is full, every key is refused.")
class _OneFullAllFull(SeededBus):
    def has_room(self, queue: Queue, partition: int, size: int) -> bool:  # noqa: ARG002
        full = super().has_room
        return all(full(queue, each, size) for each in range(queue.partitions))


@faulty("regular-never-full", "SIZE-10", "A regular queue takes whatever is sent to it.")
class _RegularNeverFull(SeededBus):
    def has_room(self, queue: Queue, partition: int, size: int) -> bool:
        return queue.partitions == 1 or super().has_room(queue, partition, size)


@faulty(
    "full-keeps-what-it-refused",
    "SIZE-10",
    "A full queue refuses a message and keeps it.",
    deep=True,
)
class _FullKeepsWhatItRefused(SeededBus):
    def send(self, queue: Queue, command: Send) -> Observed:
        observed = super().send(queue, command)
        if observed.outcome == Refused(error=Error.QUOTA_EXCEEDED):
            self.append(queue, command.message, 0)
        return observed


@faulty("full-called-down", "SIZE-11", "What is full is told to be unavailable.")
class _FullCalledDown(SeededBus):
    def full(self, queue: Queue) -> int | Error:  # noqa: ARG002 - all alike
        return Error.UNAVAILABLE


@faulty("full-called-invalid", "SIZE-11", "A send to what is full is told to be invalid.")
class _FullCalledInvalid(SeededBus):
    def full(self, queue: Queue) -> int | Error:  # noqa: ARG002 - all alike
        return Error.INVALID_OPERATION


@faulty("full-gives-nothing", "SIZE-11", "A full queue gives nothing of what it holds.", deep=True)
class _FullGivesNothing(SeededBus):
    def receive(self, queue: Queue, command: Receive, connection: str) -> Outcome:
        if any(not self.has_room(queue, each, 10**8) for each in range(queue.partitions)):
            return Refused(error=Error.QUOTA_EXCEEDED)
        return super().receive(queue, command, connection)


@faulty("full-is-limited", "SIZE-11", "A full queue is told to be available in part only.")
class _FullIsLimited(SeededBus):
    def availability(self, queue: Queue) -> Availability:
        if any(not self.has_room(queue, each, 10**8) for each in range(queue.partitions)):
            return Availability.LIMITED
        return super().availability(queue)


class _Wasting(SeededBus):
    """Keeps some room for good of what is gone."""

    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.wasted: dict[tuple[str, int], int] = {}

    def waste(self, queue: Queue, held: Held) -> None:
        place = (queue.name, held.partition)
        self.wasted[place] = self.wasted.get(place, 0) + bytes_of(held.message)

    def weight(self, queue: Queue, partition: int) -> int:
        return super().weight(queue, partition) + self.wasted.get((queue.name, partition), 0)


@faulty(
    "completed-keeps-room",
    "SIZE-12",
    "A message that was completed takes its room for good.",
    literal=True,
)
class _CompletedKeepsRoom(_Wasting):
    def complete(self, queue: Queue, held: Held) -> None:
        super().complete(queue, held)
        self.waste(queue, held)


@faulty(
    "deleted-keeps-room",
    "SIZE-12",
    "A message that was received and deleted takes its room for good.",
    deep=True,
    literal=True,
)
class _DeletedKeepsRoom(_Wasting):
    def delete(self, queue: Queue, held: Held) -> None:
        super().delete(queue, held)
        self.waste(queue, held)


@faulty("locked-takes-no-room", "SIZE-13", "A message that is locked takes no room.")
class _LockedTakesNoRoom(SeededBus):
    def weight(self, queue: Queue, partition: int) -> int:
        locked = [each for each in queue.messages if each.lock and each.partition == partition]
        return super().weight(queue, partition) - sum(bytes_of(each.message) for each in locked)


@faulty("deferred-takes-no-room", "SIZE-13", "A deferred message takes no room.")
class _DeferredTakesNoRoom(SeededBus):
    def weight(self, queue: Queue, partition: int) -> int:
        aside = [each for each in queue.messages if each.deferred and each.partition == partition]
        return super().weight(queue, partition) - sum(bytes_of(each.message) for each in aside)


@faulty("dead-takes-no-room", "SIZE-13", "A dead letter takes no room of its queue.")
class _DeadTakesNoRoom(SeededBus):
    def weight(self, queue: Queue, partition: int) -> int:
        dead = [] if queue.dead is None else queue.dead.messages
        gone = [each for each in dead if each.partition == partition]
        return super().weight(queue, partition) - sum(bytes_of(each.message) for each in gone)


@faulty("scheduled-takes-no-room", "SIZE-13", "A scheduled message takes no room until it is due.")
class _ScheduledTakesNoRoom(SeededBus):
    def weight(self, queue: Queue, partition: int) -> int:
        later = [each for each in queue.planned if each.partition == partition]
        return super().weight(queue, partition) - sum(bytes_of(each.message) for each in later)


@faulty("transaction-never-full", "SIZE-14", "A transaction is committed whether it fits or not.")
class _TransactionNeverFull(SeededBus):
    def fits(self, staged: list[Staged]) -> bool:  # noqa: ARG002 - it does not matter
        return True


@faulty(
    "transaction-in-part",
    "SIZE-14",
    "Of a transaction that does not fit, the messages are stored that do.",
    deep=True,
)
class _TransactionInPart(SeededBus):
    def stage(self, queue: Queue, message: Message, transaction: Transaction) -> int | Error:
        return Transacting.stage(self, queue, message, transaction)

    def commit(self, name: str) -> Outcome:
        transaction = self.transactions.get(name)
        for staged in () if transaction is None else self.fitting(transaction):
            self.store_staged(staged)
        return super().commit(name)

    def fitting(self, transaction: Transaction) -> list[Staged]:
        """The first messages of a transaction that does not fit."""
        staged = transaction.staged
        if self.fits(staged):
            return []
        return [each for number, each in enumerate(staged) if self.fits(staged[: number + 1])]


FAULTS: Final = faulty.all()
