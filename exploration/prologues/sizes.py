"""Prologues about storage quotas: full entities, numbers of entities, and entity sizes."""

from collections.abc import Iterator
from typing import Final

import attrs

from busproof.exploration.prologues.prologue import opening
from busproof.exploration.prologues.queues import CROWD, GB, LARGE, OTHER, keyed, ordinary
from busproof.exploration.state import World
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    Command,
    Complete,
    CreateQueue,
    CreateTopic,
    DeadLetter,
    Defer,
    DeleteQueue,
    GetQueue,
    Receive,
    RestoreQueue,
    Schedule,
    Send,
    SendBatch,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.values import ReceiveMode, Tier

__all__ = ["OPENINGS"]

HELD: Final = 10**9 // LARGE
"""Large messages that certainly fit in a GB; an entity just below its limit may accept one more."""

SIZES: Final = (None, 5, 6, 80)
"""Sizes to request, in GB: the default, and sizes that only some tiers or no tier has."""


def _large(world: World, queue: CreateQueue) -> Message:
    return attrs.evolve(keyed(world, queue, 0), size=LARGE, stands_in=True)


def _whole(world: World, queue: CreateQueue) -> CreateQueue:
    """Return a queue of one GB without partitions, so that a single limit applies."""
    return ordinary(world, attrs.evolve(queue, partitioned=False), max_size=1)


def full_whole(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send more to a queue without partitions than it can hold, and again after removing some."""
    whole = _whole(world, queue)
    yield whole
    for _ in range(GB // LARGE + 2):
        yield Send(queue=whole.queue, message=_large(world, whole))
    yield Receive(queue=whole.queue, mode=ReceiveMode.RECEIVE_AND_DELETE)
    yield Receive(queue=whole.queue)
    for held in world.locks[-1:]:
        yield Complete(queue=whole.queue, lock_token=held.lock_token or "")
    for _ in range(4):
        yield Send(queue=whole.queue, message=_large(world, whole))


def set_aside(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Fill a queue with scheduled, locked, deferred and dead-lettered messages, then send more."""
    whole = _whole(world, queue)
    yield whole
    for _ in range(2):
        late = 100 * world.scope.lock
        yield Schedule(queue=whole.queue, message=_large(world, whole), delay=late)
    for _ in range(HELD - 2):
        yield Send(queue=whole.queue, message=_large(world, whole))
    for _ in range(HELD - 2):
        yield Receive(queue=whole.queue)
    mine = [each for each in world.locks if each.queue == whole.queue]
    for ending, held in zip((DeadLetter, Defer) * 3, mine, strict=False):
        yield ending(queue=whole.queue, lock_token=held.lock_token or "")
    for _ in range(3):
        yield Send(queue=whole.queue, message=_large(world, whole))


def full_of_a_batch(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send a batch with one key that fits only in part, then receive everything."""
    plain = ordinary(world, queue, max_size=1)
    yield plain
    messages = tuple(_large(world, plain) for _ in range(GB // LARGE + 2))
    yield SendBatch(queue=plain.queue, messages=messages)
    for _ in messages:
        yield Receive(queue=plain.queue, mode=ReceiveMode.RECEIVE_AND_DELETE)


def copies_at_once(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Send a batch with a MessageId twice in it, and a batch with one already accepted."""
    times = {"duplicate_window": 2 * world.scope.lock}
    detecting = ordinary(world, queue, duplicate_detection=True, **times)
    yield detecting
    for names in ((OTHER, OTHER, "one"), (OTHER, "two")):
        messages = tuple(
            attrs.evolve(keyed(world, detecting, 0), message_id=name) for name in names
        )
        yield SendBatch(queue=detecting.queue, messages=messages)
    for _ in range(5):
        yield Receive(queue=detecting.queue, mode=ReceiveMode.RECEIVE_AND_DELETE)


def sizes(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Request queues of valid and invalid sizes, with and without partitions.

    Premium is included, although its queues have no such sizes.
    """
    kinds = [
        CreateQueue(queue="", partitioned=partitioned, max_size=size)
        for partitioned in (True, False)
        for size in SIZES
    ]
    if queue.partitioned or world.scope.tier is Tier.PREMIUM:
        kinds.append(CreateQueue(queue="", requires_session=True))
    for number, kind in enumerate(kinds):
        name = f"{queue.queue}-{number}"
        yield attrs.evolve(kind, queue=name)
        yield GetQueue(queue=name)
        yield DeleteQueue(queue=name)


def from_before(world: World, _queue: CreateQueue) -> Iterator[Command]:
    """Use a legacy queue, delete it, and create it again."""
    if world.scope.may_partition:
        return
    old = CreateQueue(queue=f"q{len(world.queues) + 1}", lock_duration=world.scope.lock)
    world.queues.append(old)
    yield RestoreQueue(queue=old.queue)
    yield Send(queue=old.queue, message=keyed(world, old, 0))
    yield from (GetQueue(queue=old.queue), DeleteQueue(queue=old.queue), old)
    yield GetQueue(queue=old.queue)


def crowd_of_topics(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Create more partitioned topics than allowed; other entities can still be created."""
    if world.scope.tier is Tier.PREMIUM:
        return
    names = [f"{queue.queue}-n{number}" for number in range(CROWD)]
    for name in names:
        yield CreateTopic(topic=name)
    others = CreateQueue(queue=f"{queue.queue}-q", partitioned=False)
    yield others
    yield CreateTopic(topic=f"{queue.queue}-n", partitioned=False)


OPENINGS: Final = (
    opening("copies at once", copies_at_once, Capability.BATCHES, Capability.DUPLICATE_DETECTION),
    opening("sizes", sizes, Capability.MANAGEMENT, Capability.SIZES),
    opening("from before", from_before, Capability.LEGACY_ENTITIES, Capability.MANAGEMENT),
    opening(
        "full whole",
        full_whole,
        Capability.DISPOSABLE_NAMESPACE,
        Capability.SIZES,
        Capability.REGULAR_QUEUES,
        Capability.PEEK_LOCK,
    ),
    opening(
        "set aside",
        set_aside,
        Capability.DISPOSABLE_NAMESPACE,
        Capability.SIZES,
        Capability.REGULAR_QUEUES,
        Capability.PEEK_LOCK,
    ),
    opening(
        "full of a batch",
        full_of_a_batch,
        Capability.DISPOSABLE_NAMESPACE,
        Capability.SIZES,
        Capability.BATCHES,
    ),
    opening("crowd of topics", crowd_of_topics, Capability.DISPOSABLE_NAMESPACE, Capability.TOPICS),
)
