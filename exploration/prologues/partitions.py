"""Prologues about partitions: all down, all in use, and many settled messages."""

from collections.abc import Iterator
from typing import Final

from busproof.exploration.prologues.prologue import opening
from busproof.exploration.prologues.queues import keyed, ordinary, unkeyed
from busproof.exploration.state import World
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    BringPartitionUp,
    Command,
    Complete,
    CreateQueue,
    Receive,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.values import ReceiveMode

__all__ = ["OPENINGS"]

ROUNDS = 25
"""Rounds of messages without a key, enough that each partition must have received one."""

MANY = 104
"""Messages to settle from one queue."""


def blackout(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Take down all partitions of a queue: it accepts nothing, but another queue works."""
    mode = ReceiveMode.RECEIVE_AND_DELETE
    dark, other = ordinary(world, queue), ordinary(world, queue)
    partitions = range(world.scope.partitions if queue.partitioned else 1)
    yield from (dark, other)
    for each in (dark, other):
        yield Send(queue=each.queue, message=keyed(world, each, 0))
    for partition in partitions:
        yield TakePartitionDown(queue=dark.queue, partition=partition)
    for each in (dark, other):
        yield Send(queue=each.queue, message=unkeyed(world))
        yield Send(queue=each.queue, message=keyed(world, each, 1))
        yield Receive(queue=each.queue, mode=mode)
    for partition in partitions:
        yield BringPartitionUp(queue=dark.queue, partition=partition)
    for each in (dark, dark, other, other):
        yield Receive(queue=each.queue, mode=mode)


def spread(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send so many messages without a key that each partition must receive some."""
    if not queue.partitioned:
        return
    plain = ordinary(world, queue)
    yield plain
    for _ in range(ROUNDS * world.scope.partitions):
        yield Send(queue=plain.queue, message=unkeyed(world))


def many_settled(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Receive and complete message after message of any partition; none is delivered again."""
    plain = ordinary(world, queue)
    yield plain
    for _ in range(MANY):
        yield Send(queue=plain.queue, message=unkeyed(world))
        yield Receive(queue=plain.queue)
        for held in world.locks[-1:]:
            yield Complete(queue=plain.queue, lock_token=held.lock_token or "")
    yield Receive(queue=plain.queue)


OPENINGS: Final = (
    opening("blackout", blackout, Capability.OUTAGES),
    opening("spread", spread, Capability.WITNESS, Capability.DISPOSABLE_NAMESPACE),
    opening("many settled", many_settled, Capability.PEEK_LOCK, Capability.DISPOSABLE_NAMESPACE),
)
