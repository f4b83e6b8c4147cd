"""How sequences about queues may begin: keys, their order, outages, transactions, what is full."""

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
from busproof.vocabulary.values import ReceiveMode, Tier

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
"""How many partitioned queues a namespace does not take."""

GB: Final = 2**30
LARGE: Final = 100_000_000
"""Bytes of the largest message that any tier takes; others refuse it as too large."""


def keyed(world: World, queue: CreateQueue, place: int) -> Message:
    """A message with one of two keys, its session's id too if the queue requires sessions."""
    key = (world.session(0), OTHER)[place]
    world.bodies += 1
    session = key if queue.requires_session else None
    return Message(body=f"m{world.bodies}", session_id=session, partition_key=key)


def unkeyed(world: World, **carried: Any) -> Message:
    """A message without a key that carries this."""
    world.bodies += 1
    return Message(body=f"m{world.bodies}", **carried)


def taken(name: str, times: int = 1) -> Iterator[Command]:
    """Receive so often, and keep nothing locked."""
    return (Receive(queue=name, mode=ReceiveMode.RECEIVE_AND_DELETE) for _ in range(times))


def ordinary(world: World, queue: CreateQueue, **settings: Any) -> CreateQueue:
    """A new queue that is partitioned like this one, and else has these settings only."""
    name = f"q{len(world.queues) + 1}"
    lock = world.scope.lock
    made = CreateQueue(queue=name, partitioned=queue.partitioned, lock_duration=lock, **settings)
    world.queues.append(made)
    return made


def awaited(world: World, name: str, session_id: str | None = None) -> Iterator[Command]:
    """A message is asked for until one comes, or as often as a receiver has patience."""
    before = len(world.received)
    mode = ReceiveMode.RECEIVE_AND_DELETE
    for _ in range(TRIES):
        yield Receive(queue=name, mode=mode, session_id=session_id)
        if len(world.received) > before:
            break
        yield AdvanceClock(duration=PAUSE)


def interrupted(world: World, queue: CreateQueue) -> Iterator[Command]:
    """The partition that was seen last goes down, and comes up again."""
    partition = world.visited[-1] if world.visited and queue.partitioned else 0
    yield TakePartitionDown(queue=world.sent_to(queue), partition=partition)
    yield BringPartitionUp(queue=world.sent_to(queue), partition=partition)


def outage(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A key's partition goes down and comes up again, and the key is used all the while."""
    yield Send(queue=queue.queue, message=keyed(world, queue, 0))
    partition = world.visited[-1] if world.visited and queue.partitioned else 0
    yield TakePartitionDown(queue=queue.queue, partition=partition)
    yield Send(queue=queue.queue, message=keyed(world, queue, 0))
    yield BringPartitionUp(queue=queue.queue, partition=partition)
    yield Send(queue=queue.queue, message=keyed(world, queue, 0))


def around(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Messages without key are sent while a partition is down."""
    name = f"q{len(world.queues) + 1}"
    plain = CreateQueue(queue=name, lock_duration=world.scope.lock)
    there = plain if world.scope.tier is not Tier.PREMIUM else queue
    if there is plain:
        world.queues.append(plain)
        yield plain
    yield TakePartitionDown(queue=there.queue, partition=0)
    for _ in range(2):
        world.bodies += 1
        yield Send(queue=there.queue, message=Message(body=f"m{world.bodies}"))
    yield BringPartitionUp(queue=there.queue, partition=0)


def two_keys(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Transactions are sent messages with two keys, and of two sessions; a message has both."""
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
    """Messages of one key are received in their order, though one comes back or has an outage."""
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
    """More of one key than a partition holds, between two messages of another key.

    By the first of them it is known where the second has to go.
    """
    for place in (1, *(0,) * (GB // LARGE + 2), 1):
        message = attrs.evolve(keyed(world, queue, place), size=LARGE, stands_in=True)
        yield Send(queue=queue.queue, message=message)


def crowd(world: World, queue: CreateQueue) -> Iterator[Command]:
    """More queues than there may be with partitions, some of which are deleted again."""
    partitioned = world.scope.tier is not Tier.PREMIUM
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
