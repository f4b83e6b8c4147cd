"""When a partition may be full.

Full is not down: what is full gives what it holds, and refuses only what it has no room for.
"""

from collections.abc import Iterator
from itertools import chain

from busproof import vocabulary as v
from busproof.oracle.outages import Partitions
from busproof.oracle.room import NO_ROOM_TAKEN, Room, most
from busproof.oracle.sizes import LEAST_GB, capacity
from busproof.oracle.state import Namespace, Queue, Topic, everywhere, feeding
from busproof.oracle.transition import Transition, refusal

__all__ = [
    "all_may_be_full",
    "bits",
    "grave",
    "may_be_full",
    "may_be_full_somewhere",
    "perhaps_full",
    "pooled",
    "weight",
]


def bits(where: Partitions) -> Iterator[Partitions]:
    """Each of these partitions as a set of its own."""
    while where:
        lowest = where & -where
        yield lowest
        where ^= lowest


def pooled(namespace: Namespace) -> bool:
    """Whether nothing is full before the entity is (FULL-PARTITION)."""
    return namespace.profile.readings.get("FULL-PARTITION") == "pooled"


def grave(namespace: Namespace, queue: Queue) -> Room:
    """The room that its dead letters take of the queue's (SIZE-13)."""
    dead = namespace.queues.get(queue.settings.queue + v.DEAD_LETTERS)
    return NO_ROOM_TAKEN if dead is None else dead.room


def weight(queue: Queue, message: v.Message) -> int:
    """The most bytes that a message takes of an entity's size.

    It may be kept once for a topic, and once for each subscription and each rule with an action.
    """
    role = queue.role
    copies = 1 + len(role.subscriptions) + role.copiers if isinstance(role, Topic) else 1
    return copies * most(message)


def may_be_full(namespace: Namespace, queue: Queue, where: Partitions, size: int) -> bool:
    """SIZE-07, SIZE-10: whether one of these partitions may have no room for so many bytes.

    Where something is noticed to be full may vary by the size of one message.
    """
    if any(feeding(namespace, queue.settings.queue)):
        # Dead letters may have come to take its room, which nobody has seen.
        return True
    room, dead = queue.room, grave(namespace, queue)
    size = max(size, room.largest)
    there = room.taken + dead.taken + size
    if there <= LEAST_GB // namespace.profile.partitions:
        # However much fits into a partition, it is not less than that.
        return False
    limits = capacity(namespace, queue.settings)
    if there <= limits.partition[0]:
        return False
    if pooled(namespace):
        return there > limits.whole[0]
    # The copies of a topic's message need not be in the partition of that message.
    if isinstance(queue.role, Topic):
        return True
    return bool(where) and size + _fullest(room, dead, where) > limits.partition[0]


def may_be_full_somewhere(namespace: Namespace, queue: Queue) -> bool:
    """Whether some partition may have no room for a message as large as any so far."""
    return may_be_full(namespace, queue, everywhere(namespace, queue.settings), 0)


def all_may_be_full(namespace: Namespace, queue: Queue, where: Partitions, size: int) -> bool:
    """Whether none of these partitions surely has room for so many bytes."""
    return all(may_be_full(namespace, queue, bit, size) for bit in bits(where))


def perhaps_full(namespace: Namespace, queue: Queue, message: v.Message) -> Iterator[Transition]:
    """A refusal for want of room, of a message that has to be refused for another reason.

    Nobody says which of several reasons a bus names.
    """
    where = everywhere(namespace, queue.settings)
    if may_be_full(namespace, queue, where, weight(queue, message)):
        yield refusal(namespace, v.Error.QUOTA_EXCEEDED)


def _fullest(room: Room, dead: Room, where: Partitions) -> int:
    """The most that any of these partitions may hold: what was removed may still take its room.

    Of dead letters those count that may be in another partition than they were before.
    """
    strayed = ((each, size) for each, size in dead.arrived.items() if each.bit_count() > 1)
    held: dict[Partitions, int] = {}
    for each, size in chain(room.arrived.items(), strayed):
        known = each & where
        # Mostly it is known in which one; each send asks, for every partition.
        for bit in (known,) if known.bit_count() == 1 else bits(known):
            held[bit] = held.get(bit, 0) + size
    return max(held.values(), default=0)
