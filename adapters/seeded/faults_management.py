"""Faults in the management of queues: the MGMT rules."""

from typing import Final

import attrs

from busproof.adapters.base import Observed
from busproof.adapters.seeded.bus import SeededBus
from busproof.adapters.seeded.fault import Faults
from busproof.adapters.seeded.queues import Held, Lock, Queue
from busproof.vocabulary.commands import Command, CreateQueue, Send, UpdateQueue
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done, Outcome, QueueDescription, Refused
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Error

__all__ = ["FAULTS"]

faulty = Faults()


@faulty("partitioning-not-told", "MGMT-01", "A partitioned queue is told to be a regular one.")
class _PartitioningNotTold(SeededBus):
    def described(self, queue: Queue) -> QueueDescription:
        return attrs.evolve(super().described(queue), partitioned=False)


@faulty(
    "option-ignored",
    "MGMT-01",
    "A queue that is created with the option is made without partitions.",
)
class _OptionIgnored(SeededBus):
    def is_partitioned(self, asked: CreateQueue) -> bool:  # noqa: ARG002 - it is ignored
        return False


@faulty(
    "no-partitions-with-sessions",
    "MGMT-02",
    "A queue that requires sessions cannot be partitioned.",
)
class _NoPartitionsWithSessions(SeededBus):
    def objection_to_queue(self, asked: CreateQueue) -> Error | None:
        if asked.partitioned and asked.requires_session:
            return Error.INVALID_OPERATION
        return super().objection_to_queue(asked)


@faulty(
    "no-partitions-with-sessions-and-detection",
    "MGMT-02",
    "A queue with both sessions and duplicate detection cannot be partitioned.",
    deep=True,
)
class _NoPartitionsWithBoth(SeededBus):
    def objection_to_queue(self, asked: CreateQueue) -> Error | None:
        if asked.partitioned and asked.requires_session and asked.duplicate_detection:
            return Error.INVALID_OPERATION
        return super().objection_to_queue(asked)


@faulty("partitioned-unasked", "MGMT-03", "A queue is partitioned unless the option says no.")
class _PartitionedUnasked(SeededBus):
    def is_partitioned(self, asked: CreateQueue) -> bool:
        return asked.partitioned is not False


@faulty(
    "update-changes-partitioning", "MGMT-04", "An update changes whether a queue is partitioned."
)
class _UpdateChangesPartitioning(SeededBus):
    def would_change(self, queue: Queue, asked: UpdateQueue, name: str) -> bool:
        return name != "partitioned" and super().would_change(queue, asked, name)

    def put_into_force(self, queue: Queue, asked: UpdateQueue) -> None:
        super().put_into_force(queue, asked)
        if asked.partitioned is not None:
            queue.settings = attrs.evolve(queue.settings, partitioned=asked.partitioned)


@faulty(
    "created-again-as-before",
    "MGMT-05",
    "A queue that is created again has the partitioning option of its deleted namesake.",
)
class _CreatedAgainAsBefore(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.before: dict[str, bool] = {}

    def take_away(self, queue: Queue) -> None:
        self.before[queue.name] = bool(queue.settings.partitioned)
        super().take_away(queue)

    def is_partitioned(self, asked: CreateQueue) -> bool:
        return self.before.get(asked.queue, super().is_partitioned(asked))


@faulty("first-version-refused", "MGMT-06", "api-version 2013-10 is too old for partitions.")
class _FirstVersionRefused(SeededBus):
    def knows_partitions(self, version: str | None) -> bool:
        return version is None or version > "2013-10"


@faulty("later-version-refused", "MGMT-07", "Only api-version 2013-10 knows partitions.")
class _LaterVersionRefused(SeededBus):
    def knows_partitions(self, version: str | None) -> bool:
        return version in (None, "2013-10")


@faulty("second-creation-replaces", "MGMT-09", "A queue that is created once more begins anew.")
class _SecondCreationReplaces(SeededBus):
    def create(self, asked: CreateQueue) -> Outcome:
        self.queues.pop(asked.queue, None)
        return super().create(asked)


@faulty(
    "second-creation-empties",
    "MGMT-09",
    "Creating a queue once more is refused, yet empties it.",
    deep=True,
)
class _SecondCreationEmpties(SeededBus):
    def create_again(self, asked: CreateQueue) -> Outcome:
        self.queues[asked.queue].messages.clear()
        return super().create_again(asked)


@faulty("missing-queue-swallows", "MGMT-10", "A queue that does not exist accepts messages.")
class _MissingQueueSwallows(SeededBus):
    def missing(self, command: Command, name: str) -> Outcome:
        return Done() if isinstance(command, Send) else super().missing(command, name)


@faulty("missing-queue-unavailable", "MGMT-10", "A queue that does not exist is unavailable.")
class _MissingQueueUnavailable(SeededBus):
    def missing(self, command: Command, name: str) -> Outcome:
        told = super().missing(command, name)
        return Refused(error=Error.UNAVAILABLE) if isinstance(told, Refused) else told


@faulty("default-lock-told", "MGMT-11", "Every queue is told to have locks of a minute.")
class _DefaultLockTold(SeededBus):
    def described(self, queue: Queue) -> QueueDescription:
        default = CreateQueue(queue=queue.name).lock_duration
        return attrs.evolve(super().described(queue), lock_duration=default)


@faulty(
    "update-not-in-force",
    "MGMT-12",
    "An update of the lock duration is told and not in force.",
)
class _UpdateNotInForce(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.original: dict[Queue, int] = {}

    def put_into_force(self, queue: Queue, asked: UpdateQueue) -> None:
        self.original.setdefault(queue, queue.settings.lock_duration)
        super().put_into_force(queue, asked)

    def lock(self, queue: Queue, held: Held, session_id: str | None) -> Lock:
        until = self.now + self.original.get(queue, queue.settings.lock_duration)
        return attrs.evolve(super().lock(queue, held, session_id), until=until)


@faulty(
    "lifetime-update-not-in-force",
    "MGMT-12",
    "An update of the time to live is told and not in force.",
    deep=True,
)
class _LifetimeUpdateNotInForce(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.original: dict[Queue, CreateQueue] = {}

    def put_into_force(self, queue: Queue, asked: UpdateQueue) -> None:
        self.original.setdefault(queue, queue.settings)
        super().put_into_force(queue, asked)

    def lifetime(self, queue: Queue, message: Message) -> int | None:
        most = self.original.get(queue, queue.settings).time_to_live
        return min((life for life in (most, message.time_to_live) if life), default=None)


@faulty(
    "lifetime-update-ages-what-is-there",
    "MGMT-12",
    "An update of the time to live is in force for messages that are there already.",
    deep=True,
)
class _LifetimeUpdateAgesWhatIsThere(SeededBus):
    def put_into_force(self, queue: Queue, asked: UpdateQueue) -> None:
        super().put_into_force(queue, asked)
        for held in queue.messages:
            held.dies = self.dies_at(queue, held.message)


@faulty("update-forgotten", "MGMT-12", "An update is accepted and changes nothing.")
class _UpdateForgotten(SeededBus):
    def put_into_force(self, queue: Queue, asked: UpdateQueue) -> None:
        """Leave everything as it was."""


@faulty("update-changes-sessions", "MGMT-13", "An update changes whether sessions are required.")
class _UpdateChangesSessions(SeededBus):
    def would_change(self, queue: Queue, asked: UpdateQueue, name: str) -> bool:
        return name != "requires_session" and super().would_change(queue, asked, name)

    def put_into_force(self, queue: Queue, asked: UpdateQueue) -> None:
        super().put_into_force(queue, asked)
        if asked.requires_session is not None:
            queue.settings = attrs.evolve(queue.settings, requires_session=asked.requires_session)


@faulty("update-changes-detection", "MGMT-14", "An update changes whether duplicates are detected.")
class _UpdateChangesDetection(SeededBus):
    def would_change(self, queue: Queue, asked: UpdateQueue, name: str) -> bool:
        return name != "duplicate_detection" and super().would_change(queue, asked, name)

    def put_into_force(self, queue: Queue, asked: UpdateQueue) -> None:
        super().put_into_force(queue, asked)
        if asked.duplicate_detection is not None:
            queue.settings = attrs.evolve(
                queue.settings, duplicate_detection=asked.duplicate_detection
            )


class _Remembering(SeededBus):
    """A bus that remembers its deleted queues."""

    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.deleted: dict[str, Queue] = {}

    def take_away(self, queue: Queue) -> None:
        self.deleted[queue.name] = queue
        super().take_away(queue)

    def made(self, settings: CreateQueue) -> Queue:
        queue = super().made(settings)
        if queue.name in self.deleted:
            self.inherit(queue, self.deleted[queue.name])
        return queue

    def inherit(self, queue: Queue, before: Queue) -> None:
        """What a queue has of its deleted namesake."""


@faulty("deleted-comes-again", "MGMT-15", "A queue that is created again holds what it held.")
class _DeletedComesAgain(_Remembering):
    def inherit(self, queue: Queue, before: Queue) -> None:
        queue.messages, queue.arrivals = before.messages, before.arrivals


@faulty(
    "deleted-remembers-ids",
    "MGMT-15",
    "Duplicate detection remembers MessageIds of a deleted queue.",
    deep=True,
)
class _DeletedRemembersIds(_Remembering):
    def inherit(self, queue: Queue, before: Queue) -> None:
        queue.accepted = before.accepted


@faulty("list-leaves-one-out", "MGMT-16", "A list of several queues leaves out the last one.")
class _ListLeavesOneOut(SeededBus):
    def names(self) -> list[str]:
        return super().names()[:1]


@faulty("list-names-deleted", "MGMT-16", "A list names queues that were deleted.")
class _ListNamesDeleted(_Remembering):
    def names(self) -> list[str]:
        return sorted({*super().names(), *self.deleted})


@faulty(
    "last-partition-outlives",
    "MGMT-17",
    "The last partition keeps its messages when its queue is deleted.",
)
class _LastPartitionOutlives(_Remembering):
    def inherit(self, queue: Queue, before: Queue) -> None:
        last = before.partitions - 1
        if last and queue.partitions == before.partitions:
            queue.messages = [held for held in before.messages if held.partition == last]
            queue.arrivals = before.arrivals


class _PartlyUpdated(SeededBus):
    """A bus that remembers the lock duration of each queue before its latest update."""

    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.older: dict[tuple[Queue, int], int] = {}

    def lock(self, queue: Queue, held: Held, session_id: str | None) -> Lock:
        duration = self.older.get((queue, held.partition), queue.settings.lock_duration)
        return attrs.evolve(super().lock(queue, held, session_id), until=self.now + duration)


@faulty("update-misses-last-partition", "MGMT-17", "An update does not reach the last partition.")
class _UpdateMissesLastPartition(_PartlyUpdated):
    def put_into_force(self, queue: Queue, asked: UpdateQueue) -> None:
        last = queue.partitions - 1
        if last:
            self.older.setdefault((queue, last), queue.settings.lock_duration)
        super().put_into_force(queue, asked)


@faulty(
    "refused-deletion-sticks",
    "MGMT-19",
    "A queue whose deletion was refused in an outage can never be deleted.",
    deep=True,
)
class _RefusedDeletionSticks(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.stuck: set[Queue] = set()

    def refuse_deletion(self, queue: Queue) -> Outcome:
        self.stuck.add(queue)
        return super().refuse_deletion(queue)

    def remove(self, queue: Queue) -> Outcome:
        return super().refuse_deletion(queue) if queue in self.stuck else super().remove(queue)


@faulty(
    "refused-update-stays-half-done",
    "MGMT-19",
    "An update that was refused in an outage never reaches the partition that was down.",
    deep=True,
)
class _RefusedUpdateStaysHalfDone(_PartlyUpdated):
    def refuse_update(self, queue: Queue, asked: UpdateQueue) -> Outcome:
        for partition in queue.down:
            self.older.setdefault((queue, partition), queue.settings.lock_duration)
        return super().refuse_update(queue, asked)


@faulty(
    "refused-creation-sticks",
    "MGMT-19",
    "A name under which a creation was refused in an outage can never be used.",
    deep=True,
)
class _RefusedCreationSticks(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.spoilt: set[str] = set()

    def refuse_creation(self, queue: Queue) -> Outcome:
        self.spoilt.add(queue.name)
        return super().refuse_creation(queue)

    def objection_to_queue(self, asked: CreateQueue) -> Error | None:
        spoilt = asked.queue in self.spoilt
        return Error.UNAVAILABLE if spoilt else super().objection_to_queue(asked)


@faulty("one-partition-counted", "MGMT-20", "Only the messages of one partition are counted.")
class _OnePartitionCounted(SeededBus):
    def counted(self, queue: Queue) -> int:
        return sum(held.partition == 0 for held in queue.messages)


@faulty(
    "recovered-partition-not-counted",
    "MGMT-20",
    "A partition that was down once is never counted again.",
    deep=True,
)
class _RecoveredPartitionNotCounted(SeededBus):
    def start(self, profile: Profile) -> None:
        super().start(profile)
        self.lost: set[tuple[str, int]] = set()

    def do(self, command: Command, connection: str) -> Observed:
        observed = super().do(command, connection)
        for queue in self.queues.values():
            self.lost |= {(queue.name, partition) for partition in queue.down}
        return observed

    def counted(self, queue: Queue) -> int:
        return sum((queue.name, held.partition) not in self.lost for held in queue.messages)


@faulty("never-limited", "MGMT-21", "Availability is never told to be limited.")
class _NeverLimited(SeededBus):
    def availability(self, queue: Queue) -> Availability:  # noqa: ARG002 - whatever is down
        return Availability.AVAILABLE


@faulty(
    "limited-for-good",
    "MGMT-22",
    "After an outage availability stays limited.",
    deep=True,
)
class _LimitedForGood(_RecoveredPartitionNotCounted):
    def counted(self, queue: Queue) -> int:
        return len(queue.messages) - sum(held.partition in queue.down for held in queue.messages)

    def availability(self, queue: Queue) -> Availability:
        hit = any(name == queue.name for name, _ in self.lost)
        return Availability.LIMITED if hit else Availability.AVAILABLE


FAULTS: Final = faulty.all()
