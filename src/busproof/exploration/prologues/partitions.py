"""Prologues about partitions: all down, all in use, and many settled messages."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.exploration.prologues.prologue import opening
from busproof.exploration.prologues.queues import make_keyed, make_unkeyed, ordinary
from busproof.exploration.state import World

__all__ = ["OPENINGS"]

ROUNDS = 25
"""Number of rounds of messages without a key, enough for each partition to have received one."""

MANY = 104
"""Number of messages to settle in one queue."""


def blackout(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Take down all partitions of a queue, which then accepts nothing; another queue works."""
    mode = v.ReceiveMode.RECEIVE_AND_DELETE
    dark, other = ordinary(world, queue), ordinary(world, queue)
    partitions = range(world.scope.partitions if queue.partitioned else 1)
    yield from (dark, other)
    for target in (dark, other):
        yield v.Send(queue=target.queue, message=make_keyed(world, target, 0))
    for partition in partitions:
        yield v.TakePartitionDown(queue=dark.queue, partition=partition)
    for target in (dark, other):
        yield v.Send(queue=target.queue, message=make_unkeyed(world))
        yield v.Send(queue=target.queue, message=make_keyed(world, target, 1))
        yield v.Receive(queue=target.queue, mode=mode)
    for partition in partitions:
        yield v.BringPartitionUp(queue=dark.queue, partition=partition)
    for target in (dark, dark, other, other):
        yield v.Receive(queue=target.queue, mode=mode)


def fill_partitions(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send enough messages without a key for each partition to receive some."""
    if not queue.partitioned:
        return
    plain = ordinary(world, queue)
    yield plain
    for _ in range(ROUNDS * world.scope.partitions):
        yield v.Send(queue=plain.queue, message=make_unkeyed(world))


def many_settled(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Receive and complete many messages of any partition; none may be delivered again."""
    plain = ordinary(world, queue)
    yield plain
    for _ in range(MANY):
        yield v.Send(queue=plain.queue, message=make_unkeyed(world))
        yield v.Receive(queue=plain.queue)
        for lock in world.locks[-1:]:
            yield v.Complete(queue=plain.queue, lock_token=lock.lock_token or "")
    yield v.Receive(queue=plain.queue)


OPENINGS: Final = (
    opening("blackout", blackout, v.Capability.OUTAGES),
    opening("spread", fill_partitions, v.Capability.WITNESS, v.Capability.DISPOSABLE_NAMESPACE),
    opening(
        "many settled", many_settled, v.Capability.PEEK_LOCK, v.Capability.DISPOSABLE_NAMESPACE
    ),
)
