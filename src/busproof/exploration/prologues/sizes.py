"""Prologues about storage quotas: full entities, numbers of entities, and entity sizes."""

from collections.abc import Iterator
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.prologues.prologue import opening
from busproof.exploration.prologues.queues import CROWD, GB, LARGE, OTHER, make_keyed, ordinary
from busproof.exploration.state import World

__all__ = ["OPENINGS"]

HELD: Final = 10**9 // LARGE
"""Number of large messages that surely fit in a GB; an entity nearly full may accept one more."""

SIZES: Final = (None, 5, 6, 80)
"""Sizes to request, in GB: the default, and sizes that only some tiers, or none, offer."""


def _large(world: World, queue: v.CreateQueue) -> v.Message:
    return attrs.evolve(make_keyed(world, queue, 0), size=LARGE, stands_in=True)


def _whole(world: World, queue: v.CreateQueue) -> v.CreateQueue:
    """Return a queue of one GB without partitions, so that only one limit applies."""
    return ordinary(world, attrs.evolve(queue, partitioned=False), max_size=1)


def full_whole(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send more to a queue without partitions than it can hold, and again after removing some."""
    whole = _whole(world, queue)
    yield whole
    for _ in range(GB // LARGE + 2):
        yield v.Send(queue=whole.queue, message=_large(world, whole))
    yield v.Receive(queue=whole.queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    yield v.Receive(queue=whole.queue)
    for lock in world.locks[-1:]:
        yield v.Complete(queue=whole.queue, lock_token=lock.lock_token or "")
    for _ in range(4):
        yield v.Send(queue=whole.queue, message=_large(world, whole))


def set_aside(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Fill a queue with scheduled, locked, deferred and dead-lettered messages, then send more."""
    whole = _whole(world, queue)
    yield whole
    for _ in range(2):
        late = 100 * world.scope.lock
        yield v.Schedule(queue=whole.queue, message=_large(world, whole), delay=late)
    for _ in range(HELD - 2):
        yield v.Send(queue=whole.queue, message=_large(world, whole))
    for _ in range(HELD - 2):
        yield v.Receive(queue=whole.queue)
    mine = [lock for lock in world.locks if lock.queue == whole.queue]
    for ending, lock in zip((v.DeadLetter, v.Defer) * 3, mine, strict=False):
        yield ending(queue=whole.queue, lock_token=lock.lock_token or "")
    for _ in range(3):
        yield v.Send(queue=whole.queue, message=_large(world, whole))


def full_of_a_batch(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send a batch with one key that fits only in part, then receive everything."""
    plain = ordinary(world, queue, max_size=1)
    yield plain
    messages = tuple(_large(world, plain) for _ in range(GB // LARGE + 2))
    yield v.SendBatch(queue=plain.queue, messages=messages)
    for _ in messages:
        yield v.Receive(queue=plain.queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def copies_at_once(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Send a batch that has a MessageId twice, and one whose MessageId was accepted before."""
    times = {"duplicate_window": 2 * world.scope.lock}
    detecting = ordinary(world, queue, duplicate_detection=True, **times)
    yield detecting
    for names in ((OTHER, OTHER, "one"), (OTHER, "two")):
        messages = tuple(
            attrs.evolve(make_keyed(world, detecting, 0), message_id=name) for name in names
        )
        yield v.SendBatch(queue=detecting.queue, messages=messages)
    for _ in range(5):
        yield v.Receive(queue=detecting.queue, mode=v.ReceiveMode.RECEIVE_AND_DELETE)


def sizes(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Request queues of valid and invalid sizes, with and without partitions.

    Premium is tried as well, although its queues do not have such sizes.
    """
    kinds = [
        v.CreateQueue(queue="", partitioned=partitioned, max_size=size)
        for partitioned in (True, False)
        for size in SIZES
    ]
    if queue.partitioned or world.scope.tier is v.Tier.PREMIUM:
        kinds.append(v.CreateQueue(queue="", requires_session=True))
    for number, kind in enumerate(kinds):
        name = f"{queue.queue}-{number}"
        yield attrs.evolve(kind, queue=name)
        yield v.GetQueue(queue=name)
        yield v.DeleteQueue(queue=name)


def use_old_queue(world: World, _queue: v.CreateQueue) -> Iterator[v.Command]:
    """Use a queue from before the tier disallowed it, delete it, and create it again."""
    if world.scope.may_partition:
        return
    old = v.CreateQueue(queue=f"q{len(world.queues) + 1}", lock_duration=world.scope.lock)
    world.queues.append(old)
    yield v.RestoreQueue(queue=old.queue)
    yield v.Send(queue=old.queue, message=make_keyed(world, old, 0))
    yield from (v.GetQueue(queue=old.queue), v.DeleteQueue(queue=old.queue), old)
    yield v.GetQueue(queue=old.queue)


def crowd_of_topics(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Create more partitioned topics than the quota allows; other entities can still be created."""
    if world.scope.tier is v.Tier.PREMIUM:
        return
    names = [f"{queue.queue}-n{number}" for number in range(CROWD)]
    for name in names:
        yield v.CreateTopic(topic=name)
    others = v.CreateQueue(queue=f"{queue.queue}-q", partitioned=False)
    yield others
    yield v.CreateTopic(topic=f"{queue.queue}-n", partitioned=False)


OPENINGS: Final = (
    opening(
        "copies at once", copies_at_once, v.Capability.BATCHES, v.Capability.DUPLICATE_DETECTION
    ),
    opening("sizes", sizes, v.Capability.MANAGEMENT, v.Capability.SIZES),
    opening("from before", use_old_queue, v.Capability.LEGACY_ENTITIES, v.Capability.MANAGEMENT),
    opening(
        "full whole",
        full_whole,
        v.Capability.DISPOSABLE_NAMESPACE,
        v.Capability.SIZES,
        v.Capability.REGULAR_QUEUES,
        v.Capability.PEEK_LOCK,
    ),
    opening(
        "set aside",
        set_aside,
        v.Capability.DISPOSABLE_NAMESPACE,
        v.Capability.SIZES,
        v.Capability.REGULAR_QUEUES,
        v.Capability.PEEK_LOCK,
    ),
    opening(
        "full of a batch",
        full_of_a_batch,
        v.Capability.DISPOSABLE_NAMESPACE,
        v.Capability.SIZES,
        v.Capability.BATCHES,
    ),
    opening(
        "crowd of topics", crowd_of_topics, v.Capability.DISPOSABLE_NAMESPACE, v.Capability.TOPICS
    ),
)
