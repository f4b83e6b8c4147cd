"""Prologues about queues: keys, order, outages, transactions, and full partitions."""

from collections.abc import Iterator
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.prologues.prologue import opening
from busproof.exploration.state import MOST_QUEUES, World
from busproof.judging.liveness import PAUSE, TRIES

__all__ = [
    "CROWD",
    "GB",
    "LARGE",
    "OPENINGS",
    "OTHER",
    "await_message",
    "interrupt_partition",
    "make_keyed",
    "make_unkeyed",
    "ordinary",
    "take_messages",
]

OTHER: Final = "other"
CROWD: Final = 101
"""A number of partitioned queues that exceeds the quota."""

GB: Final = 2**30
LARGE: Final = 100_000_000
"""Size of the largest message that any tier accepts, in bytes; other tiers refuse it."""


def make_keyed(world: World, queue: v.CreateQueue, place: int) -> v.Message:
    """Return a message with one of two keys, as SessionId too if sessions are required."""
    key = (world.session(0), OTHER)[place]
    world.bodies += 1
    session = key if queue.requires_session else None
    return v.Message(body=f"m{world.bodies}", session_id=session, partition_key=key)


def make_unkeyed(world: World, **carried: Any) -> v.Message:
    """Return a message with these properties and no key."""
    world.bodies += 1
    return v.Message(body=f"m{world.bodies}", **carried)


def take_messages(name: str, times: int = 1) -> Iterator[v.Command]:
    """Yield receives that delete, this many times, so that no message stays locked."""
    return (v.Receive(queue=name, mode=v.ReceiveMode.RECEIVE_AND_DELETE) for _ in range(times))


def ordinary(world: World, queue: v.CreateQueue, **settings: Any) -> v.CreateQueue:
    """Return a new queue, partitioned like another one, with only the given settings."""
    name = f"q{len(world.queues) + 1}"
    lock = world.scope.lock
    made = v.CreateQueue(queue=name, partitioned=queue.partitioned, lock_duration=lock, **settings)
    world.queues.append(made)
    return made


def await_message(world: World, name: str, session_id: str | None = None) -> Iterator[v.Command]:
    """Yield receives and waits until a message arrives or the liveness deadline has passed."""
    before = len(world.received)
    mode = v.ReceiveMode.RECEIVE_AND_DELETE
    for _ in range(TRIES):
        yield v.Receive(queue=name, mode=mode, session_id=session_id)
        if len(world.received) > before:
            break
        yield v.AdvanceClock(duration=PAUSE)


def interrupt_partition(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Take down the partition of the latest message, and bring it up again."""
    partition = world.visited[-1] if world.visited and queue.partitioned else 0
    yield v.TakePartitionDown(queue=world.sent_to(queue), partition=partition)
    yield v.BringPartitionUp(queue=world.sent_to(queue), partition=partition)


def outage(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send messages with one key before, during and after an outage of its partition."""
    yield v.Send(queue=queue.queue, message=make_keyed(world, queue, 0))
    partition = world.visited[-1] if world.visited and queue.partitioned else 0
    yield v.TakePartitionDown(queue=queue.queue, partition=partition)
    yield v.Send(queue=queue.queue, message=make_keyed(world, queue, 0))
    yield v.BringPartitionUp(queue=queue.queue, partition=partition)
    yield v.Send(queue=queue.queue, message=make_keyed(world, queue, 0))


def around(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send messages without a key while a partition is down."""
    name = f"q{len(world.queues) + 1}"
    plain = v.CreateQueue(queue=name, lock_duration=world.scope.lock)
    there = plain if world.scope.may_partition else queue
    if there is plain:
        world.queues.append(plain)
        yield plain
    yield v.TakePartitionDown(queue=there.queue, partition=0)
    for _ in range(2):
        world.bodies += 1
        yield v.Send(queue=there.queue, message=v.Message(body=f"m{world.bodies}"))
    yield v.BringPartitionUp(queue=there.queue, partition=0)


def two_keys(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send messages with two keys or sessions in one transaction, and one with both keys."""
    sessions = attrs.evolve(queue, queue=f"q{len(world.queues) + 1}", requires_session=True)
    if world.scope.allows(sessions):
        world.queues.append(sessions)
        yield sessions
    for created in dict.fromkeys((queue, world.queues[-1])):
        world.transactions += 1
        name = f"t{world.transactions}"
        yield v.BeginTransaction(transaction=name)
        for place in (0, 0, 1):
            yield v.Send(
                queue=created.queue, message=make_keyed(world, created, place), transaction=name
            )
        yield v.CommitTransaction(transaction=name)
    torn = attrs.evolve(
        make_keyed(world, queue, 0), session_id=world.session(0), partition_key=OTHER
    )
    yield v.Send(queue=queue.queue, message=torn)


def keep_order(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Receive messages with one key in order, in spite of an abandon and an outage."""
    plain = ordinary(world, queue)
    yield plain
    for _ in range(3):
        yield v.Send(queue=plain.queue, message=make_keyed(world, plain, 0))
    yield v.Receive(queue=plain.queue)
    for lock in world.locks[-1:]:
        yield v.Abandon(queue=plain.queue, lock_token=lock.lock_token or "")
    yield v.Receive(queue=plain.queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    yield from interrupt_partition(world, plain)
    for _ in range(2):
        yield v.Receive(queue=plain.queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def full(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send more messages with one key than a partition can hold, between two with another key.

    The first of these two shows which partition has to take the second.
    """
    for place in (1, *(0,) * (GB // LARGE + 2), 1):
        message = attrs.evolve(make_keyed(world, queue, place), size=LARGE, stands_in=True)
        yield v.Send(queue=queue.queue, message=message)


def crowd(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Create more partitioned queues than the quota allows, and delete some of them."""
    partitioned = world.scope.may_partition
    kinds = attrs.evolve(queue, forward_to=None, partitioned=partitioned)
    names = [f"{queue.queue}-{number}" for number in range(CROWD)]
    for name in names:
        yield attrs.evolve(kinds, queue=name)
    for name in names[:MOST_QUEUES]:
        yield v.DeleteQueue(queue=name)
    yield attrs.evolve(kinds, queue=f"{queue.queue}-{CROWD}")
    yield v.DeleteQueue(queue=f"{queue.queue}-{CROWD}")


OPENINGS: Final = (
    opening("outage", outage, v.Capability.OUTAGES),
    opening("around", around, v.Capability.OUTAGES),
    opening("transaction", two_keys, v.Capability.TRANSACTIONS),
    opening("in line", keep_order, v.Capability.PEEK_LOCK),
    opening("full", full, v.Capability.DISPOSABLE_NAMESPACE),
    opening("crowd", crowd, v.Capability.DISPOSABLE_NAMESPACE, v.Capability.MANAGEMENT),
)
