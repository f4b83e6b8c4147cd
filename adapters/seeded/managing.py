"""Queues of the seeded bus being created, got, listed, updated and deleted."""

from typing import Final

import attrs

from busproof.adapters.seeded.queues import Queue
from busproof.adapters.seeded.transacting import Transacting
from busproof.vocabulary.addressing import destinations
from busproof.vocabulary.commands import (
    BringPartitionUp,
    Command,
    CreateQueue,
    DeleteQueue,
    GetQueue,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.vocabulary.entity_settings import Availability, EntityStatus
from busproof.vocabulary.outcomes import Described, Done, Outcome, QueueDescription, Refused
from busproof.vocabulary.paths import DEAD_LETTERS, TRANSFERS
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import MICROSECONDS, Error, Tier

__all__ = ["Managing"]

FIXED: Final = ("partitioned", "requires_session", "duplicate_detection")
"""What a queue is created with and keeps."""

PARTITIONS_SINCE: Final = "2013-10"
"""The oldest api-version that knows the partitioning option."""

LONGEST_LOCK: Final = 300 * MICROSECONDS

_DONE: Final = Done()
_UNREACHED: Final = Refused(error=Error.UNAVAILABLE)


class Managing(Transacting):
    """Keeps the queues of a namespace; every method is a hook.

    `dark` has the partitions that are down, by the name of their queue, which need not exist.
    """

    profile: Profile
    queues: dict[str, Queue]
    dark: dict[str, set[int]]

    def create(self, asked: CreateQueue) -> Outcome:
        """Create a queue, once, if all its partitions can be reached."""
        if asked.queue in self.queues:
            return self.create_again(asked)
        error = self.objection_to_queue(asked)
        if error is not None:
            return Refused(error=error)
        queue = self.made(attrs.evolve(asked, partitioned=self.is_partitioned(asked)))
        if not self.reaches_all(queue):
            return self.refuse_creation(queue)
        self.queues[queue.name] = queue
        return _DONE

    def create_again(self, asked: CreateQueue) -> Outcome:  # noqa: ARG002 - for faults
        """Refuse a name that is taken."""
        return Refused(error=Error.ALREADY_EXISTS)

    def refuse_creation(self, queue: Queue) -> Outcome:  # noqa: ARG002 - for faults
        """Refuse to create a queue that cannot be whole, and leave nothing of it behind."""
        return _UNREACHED

    def objection_to_queue(self, asked: CreateQueue) -> Error | None:
        """Why no queue is created like this, if none is."""
        if asked.queue.endswith(DEAD_LETTERS) or self.locks_too_long(asked):
            return Error.INVALID_OPERATION
        if destinations(asked) and not self.may_forward(asked):
            return Error.INVALID_OPERATION
        if asked.partitioned and self.refuses_partitions(asked):
            return Error.INVALID_OPERATION
        if asked.partitioned and not self.knows_partitions(asked.api_version):
            return Error.INVALID_OPERATION
        return None

    def refuses_partitions(self, asked: CreateQueue) -> bool:  # noqa: ARG002 - for faults
        """Whether the tier creates nothing that is partitioned."""
        return self.profile.tier is Tier.PREMIUM

    def locks_too_long(self, asked: CreateQueue | UpdateQueue) -> bool:
        """Whether locks would last for more than 5 minutes."""
        return (asked.lock_duration or 0) > LONGEST_LOCK

    def dead_letter_queue(self, owner: Queue) -> Queue:
        """The dead-letter queue of a new queue: in the same partitions, and as available."""
        return self.grave(owner, DEAD_LETTERS, self.destination_of_dead(owner))

    def grave(self, owner: Queue, suffix: str, destination: str | None = None) -> Queue:
        """A queue for dead letters of an entity, which go on to a destination or stay."""
        settings = attrs.evolve(
            owner.settings,
            queue=owner.name + suffix,
            requires_session=False,
            duplicate_detection=False,
            forward_to=destination,
            forward_dead_letters_to=None,
        )
        return Queue(settings=settings, partitions=owner.partitions, down=owner.down)

    def destination_of_dead(self, owner: Queue) -> str | None:
        """Where the dead letters of a new queue go on to, if anywhere."""
        return owner.settings.forward_dead_letters_to

    def may_forward(self, settings: CreateQueue) -> bool:
        """Whether a queue or subscription can be created or changed that forwards in this way."""
        if settings.forward_to is not None and settings.requires_session:
            return False
        return all(self.can_be_reached(name) for name in destinations(settings))

    def can_be_reached(self, name: str) -> bool:
        """Whether messages can be forwarded to what has this name."""
        there = self.queues.get(name)
        return there is not None and there.topic is None

    def knows_partitions(self, version: str | None) -> bool:
        """Whether a request of this api-version can say that a queue is to be partitioned."""
        return version is None or version >= PARTITIONS_SINCE

    def is_partitioned(self, asked: CreateQueue) -> bool:
        """Whether a queue that is asked for like this is partitioned."""
        return bool(asked.partitioned)

    def made(self, settings: CreateQueue) -> Queue:
        """A new queue, whose partitions are down where those of its name are."""
        partitions = self.profile.partitions if settings.partitioned else 1
        down = {each for each in self.dark.get(settings.queue, ()) if each < partitions}
        queue = Queue(settings=settings, partitions=partitions, down=down)
        queue.dead = self.dead_letter_queue(queue)
        queue.transfers = self.grave(queue, TRANSFERS)
        return queue

    def reaches_all(self, queue: Queue) -> bool:
        """Whether every partition can be reached."""
        return not queue.down

    def manage(self, queue: Queue, command: GetQueue | UpdateQueue | DeleteQueue) -> Outcome:
        """Get, update or delete a queue, which is not done with dead letters alone."""
        if queue.dead is None:
            return Refused(error=Error.INVALID_OPERATION)
        if isinstance(command, UpdateQueue):
            return self.update(queue, command)
        return self.get(queue) if isinstance(command, GetQueue) else self.remove(queue)

    def get(self, queue: Queue) -> Outcome:
        """Tell what a queue is and holds."""
        return Described(description=self.described(queue))

    def described(self, queue: Queue) -> QueueDescription:
        """What is told of a queue."""
        settings = queue.settings
        return QueueDescription(
            queue=settings.queue,
            partitioned=settings.partitioned,
            requires_session=settings.requires_session,
            duplicate_detection=settings.duplicate_detection,
            duplicate_window=settings.duplicate_window,
            lock_duration=settings.lock_duration,
            max_delivery_count=settings.max_delivery_count,
            time_to_live=settings.time_to_live,
            message_count=self.counted(queue),
            availability=self.availability(queue),
            transfer_dead_letters=self.counted_transfers(queue),
        )

    def counted(self, queue: Queue) -> int:
        """The messages of all partitions that can be asked."""
        return sum(held.partition not in queue.down for held in queue.messages)

    def counted_transfers(self, queue: Queue) -> int:
        """The messages that could not be forwarded."""
        return len(queue.transfers.messages) if queue.transfers is not None else 0

    def availability(self, queue: Queue) -> Availability:
        """Limited while a partition is down."""
        return Availability.LIMITED if queue.down else Availability.AVAILABLE

    def names(self) -> list[str]:
        """The name of every queue."""
        return sorted(
            name
            for name, each in self.queues.items()
            if each.topic is None and each.subscriptions is None
        )

    def update(self, queue: Queue, asked: UpdateQueue) -> Outcome:
        """Change what can be changed in every partition, or refuse and change nothing."""
        fixed = any(self.would_change(queue, asked, name) for name in FIXED)
        if fixed or self.locks_too_long(asked):
            return Refused(error=Error.INVALID_OPERATION)
        redirected = attrs.evolve(queue.settings, forward_to=asked.forward_to)
        if asked.forward_to and not self.may_forward(redirected):
            return Refused(error=Error.INVALID_OPERATION)
        if not self.reaches_all(queue):
            return self.refuse_update(queue, asked)
        self.put_into_force(queue, asked)
        return _DONE

    def would_change(self, queue: Queue, asked: UpdateQueue, name: str) -> bool:
        """Whether an update names another value of a setting."""
        return getattr(asked, name) not in (None, getattr(queue.settings, name))

    def refuse_update(self, queue: Queue, asked: UpdateQueue) -> Outcome:  # noqa: ARG002
        """Refuse an update that cannot reach every partition."""
        return _UNREACHED

    def put_into_force(self, queue: Queue, asked: UpdateQueue) -> None:
        """Put an update into force."""
        lock = asked.lock_duration or queue.settings.lock_duration
        count = asked.max_delivery_count or queue.settings.max_delivery_count
        life = asked.time_to_live or queue.settings.time_to_live
        queue.settings = attrs.evolve(
            queue.settings, lock_duration=lock, max_delivery_count=count, time_to_live=life
        )
        if queue.dead is not None:
            queue.dead.settings = attrs.evolve(queue.dead.settings, lock_duration=lock)
        if asked.status is not None:
            self.put_status(queue, asked.status)
        if asked.forward_to is not None:
            self.redirect(queue, asked.forward_to or None)

    def put_status(self, queue: Queue, status: EntityStatus) -> None:
        """Disable a queue for who sends, who receives or both, or enable it; it keeps all."""
        queue.status = status

    def redirect(self, queue: Queue, destination: str | None) -> None:
        """Forward what is sent from now on, or nothing any more; what is there stays."""
        queue.settings = attrs.evolve(queue.settings, forward_to=destination)

    def remove(self, queue: Queue) -> Outcome:
        """Delete a queue with all that it holds, or refuse and leave it whole."""
        if not self.reaches_all(queue):
            return self.refuse_deletion(queue)
        self.take_away(queue)
        return _DONE

    def refuse_deletion(self, queue: Queue) -> Outcome:  # noqa: ARG002 - for faults
        """Refuse a deletion that cannot reach every partition."""
        return _UNREACHED

    def take_away(self, queue: Queue) -> None:
        """Take a queue away."""
        del self.queues[queue.name]

    def missing(self, command: Command, name: str) -> Outcome:
        """What is answered for a queue that does not exist."""
        if not isinstance(command, TakePartitionDown | BringPartitionUp):
            return Refused(error=Error.NOT_FOUND)
        if command.partition >= self.profile.partitions:
            return Refused(error=Error.NOT_FOUND)
        down = self.dark.setdefault(name, set())
        if isinstance(command, TakePartitionDown):
            down.add(command.partition)
        else:
            down.discard(command.partition)
        return _DONE
