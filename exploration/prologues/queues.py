"""Prologues about queues: keys, order, outages, transactions, and full partitions."""

from collections.abc import Iterator
from typing import Any, Final

import attrs

from busproof.exploration.prologues.prologue import opening
from busproof.exploration.state import MOST_QUEUES, World
from busproof.judging.liveness import PAUSE, TRIES
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    Abandon,
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    Command,
    CommitTransaction,
    CreateQueue,
    DeleteQueue,
    Receive,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.values import ReceiveMode

__all__ = [
    "CROWD",
    "GB",
    "LARGE",
    "OPENINGS",
    "OTHER",
    "awaited",
    "interrupted",
    "keyed",
    "ordinary",
    "taken",
    "unkeyed",
]

OTHER: Final = "other"
CROWD: Final = 101
"""More partitioned queues than a namespace accepts."""

GB: Final = 2**30
LARGE: Final = 100_000_000
"""Bytes of the largest message that any tier accepts; other tiers refuse it as too large."""


def keyed(world: World, queue: CreateQueue, place: int) -> Message:
    """Return a message with one of two keys, and with a SessionId if sessions are required."""
    key = (world.session(0), OTHER)[place]
    world.bodies += 1
    session = key if queue.requires_session else None
    return Message(body=f"m{world.bodies}", session_id=session, partition_key=key)


def unkeyed(world: World, **carried: Any) -> Message:
    """Return a message with these properties and no key."""
    world.bodies += 1
    return Message(body=f"m{world.bodies}", **carried)


def taken(name: str, times: int = 1) -> Iterator[Command]:
    """Yield this many receives that delete, so that no message stays locked."""
    return (Receive(queue=name, mode=ReceiveMode.RECEIVE_AND_DELETE) for _ in range(times))


def ordinary(world: World, queue: CreateQueue, **settings: Any) -> CreateQueue:
    """Return a new queue that is partitioned like this one, with no other settings than these."""
    name = f"q{len(world.queues) + 1}"
    lock = world.scope.lock
    made = CreateQueue(queue=name, partitioned=queue.partitioned, lock_duration=lock, **settings)
    world.queues.append(made)
    return made


def awaited(world: World, name: str, session_id: str | None = None) -> Iterator[Command]:
    """Yield receives and waits until a message arrives, or until the liveness deadline."""
    before = len(world.received)
    mode = ReceiveMode.RECEIVE_AND_DELETE
    for _ in range(TRIES):
        yield Receive(queue=name, mode=mode, session_id=session_id)
        if len(world.received) > before:
            break
        yield AdvanceClock(duration=PAUSE)


def interrupted(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Take down the partition of the latest message, and bring it up again."""
    partition = world.visited[-1] if world.visited and queue.partitioned else 0
    yield TakePartitionDown(queue=world.sent_to(queue), partition=partition)
    yield BringPartitionUp(queue=world.sent_to(queue), partition=partition)


def outage(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send messages of one key before, during and after an outage of its partition."""
    yield Send(queue=queue.queue, message=keyed(world, queue, 0))
    partition = world.visited[-1] if world.visited and queue.partitioned else 0
    yield TakePartitionDown(queue=queue.queue, partition=partition)
    yield Send(queue=queue.queue, message=keyed(world, queue, 0))
    yield BringPartitionUp(queue=queue.queue, partition=partition)
    yield Send(queue=queue.queue, message=keyed(world, queue, 0))


def around(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send messages without a key while a partition is down."""
    name = f"q{len(world.queues) + 1}"
    plain = CreateQueue(queue=name, lock_duration=world.scope.lock)
    there = plain if world.scope.may_partition else queue
    if there is plain:
        world.queues.append(plain)
        yield plain
    yield TakePartitionDown(queue=there.queue, partition=0)
    for _ in range(2):
        world.bodies += 1
        yield Send(queue=there.queue, message=Message(body=f"m{world.bodies}"))
    yield BringPartitionUp(queue=there.queue, partition=0)


def two_keys(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send messages with two keys or sessions in one transaction, and a message with both keys."""
    sessions = attrs.evolve(queue, queue=f"q{len(world.queues) + 1}", requires_session=True)
    if world.scope.allows(sessions):
        world.queues.append(sessions)
        yield sessions
    for each in dict.fromkeys((queue, world.queues[-1])):
        world.transactions += 1
        name = f"t{world.transactions}"
        yield BeginTransaction(transaction=name)
        for place in (0, 0, 1):
            yield Send(queue=each.queue, message=keyed(world, each, place), transaction=name)
        yield CommitTransaction(transaction=name)
    torn = attrs.evolve(keyed(world, queue, 0), session_id=world.session(0), partition_key=OTHER)
    yield Send(queue=queue.queue, message=torn)


def in_line(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Receive messages of one key in order, in spite of an abandon and an outage."""
    plain = ordinary(world, queue)
    yield plain
    for _ in range(3):
        yield Send(queue=plain.queue, message=keyed(world, plain, 0))
    yield Receive(queue=plain.queue)
    for held in world.locks[-1:]:
        yield Abandon(queue=plain.queue, lock_token=held.lock_token or "")
    yield Receive(queue=plain.queue, mode=ReceiveMode.RECEIVE_AND_DELETE)
    yield from interrupted(world, plain)
    for _ in range(2):
        yield Receive(queue=plain.queue, mode=ReceiveMode.RECEIVE_AND_DELETE)


def full(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send more messages of one key than a partition can hold, between two of another key.

    The first of these two shows which partition the second has to go to.
    """
    for place in (1, *(0,) * (GB // LARGE + 2), 1):
        message = attrs.evolve(keyed(world, queue, place), size=LARGE, stands_in=True)
        yield Send(queue=queue.queue, message=message)


def crowd(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Create more partitioned queues than allowed, and delete some of them."""
    partitioned = world.scope.may_partition
    kinds = attrs.evolve(queue, forward_to=None, partitioned=partitioned)
    names = [f"{queue.queue}-{number}" for number in range(CROWD)]
    for name in names:
        yield attrs.evolve(kinds, queue=name)
    for name in names[:MOST_QUEUES]:
        yield DeleteQueue(queue=name)
    yield attrs.evolve(kinds, queue=f"{queue.queue}-{CROWD}")
    yield DeleteQueue(queue=f"{queue.queue}-{CROWD}")


OPENINGS: Final = (
    opening("outage", outage, Capability.OUTAGES),
    opening("around", around, Capability.OUTAGES),
    opening("transaction", two_keys, Capability.TRANSACTIONS),
    opening("in line", in_line, Capability.PEEK_LOCK),
    opening("full", full, Capability.DISPOSABLE_NAMESPACE),
    opening("crowd", crowd, Capability.DISPOSABLE_NAMESPACE, Capability.MANAGEMENT),
)
