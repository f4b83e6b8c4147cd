"""How large queues of the seeded bus are, and what it refuses for want of room."""

from typing import Final

import attrs

from busproof.adapters.seeded.queues import Held, Planned, Queue, Staged, Transaction
from busproof.adapters.seeded.scheduling import Scheduling
from busproof.adapters.seeded.topics import ManagingTopics
from busproof.vocabulary.commands import CreateQueue
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Outcome, QueueDescription, Refused
from busproof.vocabulary.values import Error, Tier

__all__ = ["GB", "Sizing"]

GB: Final = 2**30
STANDARD: Final = (1, 2, 3, 4, 5)
"""GB that a queue can have in Standard, the first one unless another is asked for."""
SIZES: Final = {Tier.STANDARD: STANDARD, Tier.PREMIUM: (*STANDARD, 10, 20, 40, 80)}

_FULL: Final = Refused(error=Error.QUOTA_EXCEEDED)


def bytes_of(message: Message) -> int:
    """What a message takes: its body, if it tells how large that is."""
    return message.size or 0


class Sizing(Scheduling, ManagingTopics):
    """Weighs messages and refuses those that do not fit in; every method is a hook.

    `sized` tells whether any message said how large it is.
    """

    sized = False

    def objection_to_queue(self, asked: CreateQueue) -> Error | None:
        """Why no queue is created like this; Standard and Premium have no other sizes."""
        if not self.has_size(asked.max_size):
            return Error.INVALID_OPERATION
        return super().objection_to_queue(asked)

    def has_size(self, size: int | None) -> bool:
        """Whether a queue can be asked for in this size."""
        return size is None or size in SIZES.get(self.profile.tier, (size,))

    def made(self, settings: CreateQueue) -> Queue:
        """A new queue, of the size that it gets."""
        return super().made(attrs.evolve(settings, max_size=self.size_given(settings)))

    def size_given(self, asked: CreateQueue) -> int:
        """How many GB a queue gets, each of its partitions if it has any."""
        return asked.max_size or STANDARD[0]

    def described(self, queue: Queue) -> QueueDescription:
        """What is told of a queue, its sizes included."""
        told = super().described(queue)
        used = sum(self.weight(queue, each) for each in range(queue.partitions))
        return attrs.evolve(told, max_size=self.greatest(queue), size=used)

    def greatest(self, queue: Queue) -> int:
        """The greatest size of a queue in GB: that of all partitions."""
        return (queue.settings.max_size or 1) * queue.partitions

    def limit(self, queue: Queue) -> int:
        """How many bytes one partition can hold."""
        return GB * (queue.settings.max_size or 1)

    def weight(self, queue: Queue, partition: int) -> int:
        """How many bytes one partition holds, whatever has become of the messages."""
        dead = [] if queue.dead is None else queue.dead.messages
        there: tuple[Held | Planned, ...] = (*queue.messages, *dead, *queue.planned)
        return sum(bytes_of(each.message) for each in there if each.partition == partition)

    def has_room(self, queue: Queue, partition: int, size: int) -> bool:
        """Whether so many bytes more go into a partition."""
        if not self.sized:
            return True
        used = self.weight(queue, partition)
        return used < self.limit(queue) and used + size <= self.limit(queue)

    def place(self, queue: Queue, message: Message, timeout: int) -> int | Error:
        """The partition that takes a message and has room for it, or why none does."""
        self.sized = self.sized or bytes_of(message) > 0
        placed = super().place(queue, message, timeout)
        if isinstance(placed, Error) or self.has_room(queue, placed, bytes_of(message)):
            return placed
        if self.key_of(queue, message) is not None:
            return self.full(queue)
        return self.place_around(queue, placed, bytes_of(message))

    def kept_out(self, destination: Queue, message: Message, where: int) -> str | None:
        """Why a message cannot be forwarded to a place, want of room among the reasons."""
        reason = super().kept_out(destination, message, where)
        if reason is None and not self.has_room(destination, where, bytes_of(message)):
            return "DestinationFull"
        return reason

    def full(self, queue: Queue) -> int | Error:  # noqa: ARG002 - for faults
        """What is said where there is no room."""
        return Error.QUOTA_EXCEEDED

    def place_around(self, queue: Queue, full: int, size: int) -> int | Error:
        """Another partition for a message without key than the one that is full."""
        for ahead in range(1, queue.partitions):
            other = (full + ahead) % queue.partitions
            if other not in queue.down and self.has_room(queue, other, size):
                return other
        return self.full(queue)

    def stage(self, queue: Queue, message: Message, transaction: Transaction) -> int | Error:
        """Take a message into a transaction if there is room for all that is in it."""
        self.sized = self.sized or bytes_of(message) > 0
        placed = super().stage(queue, message, transaction)
        if isinstance(placed, int) and not self.fits(transaction.staged):
            transaction.staged.pop()
            return self.full(queue)
        return placed

    def fits(self, staged: list[Staged]) -> bool:
        """Whether there is room for all that was sent in a transaction."""
        sizes: dict[tuple[str, int], int] = {}
        queues = {each.queue.name: each.queue for each in staged}
        for each in staged:
            place = (each.queue.name, each.partition)
            sizes[place] = sizes.get(place, 0) + bytes_of(each.message)
        return all(
            self.has_room(queues[name], partition, size)
            for (name, partition), size in sizes.items()
        )

    def commit(self, name: str) -> Outcome:
        """Store all that was sent in the transaction, or nothing where there is no room."""
        transaction = self.transactions.get(name)
        if transaction is not None and not self.fits(transaction.staged):
            self.ended(name)
            return _FULL
        return super().commit(name)
