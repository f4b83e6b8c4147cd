"""Prologues about forwarding: chains, settings of destinations, and dead letters."""

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.prologues.prologue import opening
from busproof.exploration.prologues.queues import (
    await_message,
    make_keyed,
    make_unkeyed,
    ordinary,
    take_messages,
)
from busproof.exploration.state import Theme, World

__all__ = ["OPENINGS"]

HOPS: Final = (3, 2)
"""Number of hops that every reading allows, and of further hops that exceed the limit."""


def _source(world: World, queue: v.CreateQueue, **onward: Any) -> v.CreateQueue:
    name = f"q{len(world.queues) + 1}"
    world.queues.append(v.CreateQueue(queue=name, partitioned=queue.partitioned, **onward))
    return world.queues[-1]


def chain(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Forward a message over the maximum number of hops, and another over more."""
    world.theme = Theme.FORWARDING
    last = queue
    for hops in HOPS:
        for _ in range(hops):
            last = _source(world, queue, forward_to=last.queue)
            yield last
        yield v.Send(queue=last.queue, message=make_keyed(world, queue, 0))
        if not queue.requires_session:
            yield from await_message(world, queue.queue)


def onward(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Forward from each kind of queue to each kind, and from a subscription to a topic."""
    world.theme = Theme.FORWARDING
    kinds = (True, False) if world.scope.may_partition else (False,)
    for ours, theirs in product(kinds, kinds):
        end = ordinary(world, attrs.evolve(queue, partitioned=theirs))
        source = _source(world, attrs.evolve(queue, partitioned=ours), forward_to=end.queue)
        yield from (end, source)
        # Messages without a key go to all partitions in turn, so send one for each.
        for _ in range(world.scope.partitions if (ours, theirs) == kinds[:1] + kinds[-1:] else 1):
            yield v.Send(queue=source.queue, message=make_unkeyed(world))
            yield from await_message(world, end.queue)
    if v.Capability.TOPICS in world.scope.capabilities:
        yield from _forward_through_topics(world, queue)


def _forward_through_topics(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Forward from a queue, after an update, through two topics to two queues."""
    first, second = (f"n{len(world.topics) + number}" for number in (1, 2))
    world.topics += [first, second]
    partitioned = bool(queue.partitioned)
    ends = [ordinary(world, queue).queue for _ in range(2)]
    yield from world.queues[-2:]
    for topic, onward_to in ((second, ends), (first, [second])):
        yield v.CreateTopic(topic=topic, partitioned=partitioned)
        for number, forward_to in enumerate((None, *onward_to)):
            name = f"s{number}"
            yield v.CreateSubscription(topic=topic, subscription=name, forward_to=forward_to)
    source = ordinary(world, queue)
    update = v.UpdateQueue(queue=source.queue, forward_to=first)
    if world.scope.allows(update):
        yield from (source, update)
    else:
        yield attrs.evolve(source, forward_to=first)
    yield v.Send(queue=source.queue, message=make_unkeyed(world))
    copies = [f"{topic}/subscriptions/s0" for topic in (first, second)]
    for name in (*copies, *ends):
        yield from await_message(world, name)


def unique_end(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Forward a MessageId that the destination has seen, within its window and after it.

    Then forward to a queue that requires sessions, and receive the message from its session.
    """
    world.theme = Theme.FORWARDING
    window = 2 * world.scope.lock
    end = ordinary(world, queue, duplicate_detection=True, duplicate_window=window)
    source = _source(world, queue, forward_to=end.queue)
    yield from (end, source)
    for name, wait in ((end.queue, 0), (source.queue, window + 1), (source.queue, 0)):
        yield v.Send(queue=name, message=make_unkeyed(world, message_id=world.session(0)))
        yield from take_messages(end.queue, 2)
        if wait:
            yield v.AdvanceClock(duration=wait)
    held_in = ordinary(world, queue, requires_session=True)
    bare = _source(world, queue, forward_to=held_in.queue)
    yield from (held_in, bare)
    yield v.Send(queue=bare.queue, message=make_unkeyed(world, session_id=world.session(0)))
    yield from take_messages(held_in.queue)
    yield v.AcceptSession(queue=held_in.queue, session_id=world.session(0))
    yield from await_message(world, held_in.queue, world.session(0))


def sources(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Forward to a partition that is down; roll back a send; forward from and to sessions."""
    world.theme = Theme.FORWARDING
    end = ordinary(world, queue)
    yield end
    source = _source(world, queue, forward_to=end.queue)
    yield source
    yield v.Send(queue=end.queue, message=make_keyed(world, end, 0))
    partition = world.visited[-1] if world.visited and queue.partitioned else 0
    yield v.TakePartitionDown(queue=end.queue, partition=partition)
    yield v.Send(queue=source.queue, message=make_keyed(world, source, 0))
    yield from take_messages(end.queue, 2)
    yield v.BringPartitionUp(queue=end.queue, partition=partition)
    yield from take_messages(end.queue, 2)
    yield from _roll_back(world, source, make_keyed(world, source, 0))
    yield from take_messages(end.queue)
    held_in = ordinary(world, queue, requires_session=True)
    yield held_in
    yield _source(world, queue, forward_to=end.queue, requires_session=True)
    onward = _source(world, queue, forward_to=held_in.queue)
    yield onward
    yield from _roll_back(world, onward, make_keyed(world, onward, 0))


def _roll_back(world: World, queue: v.CreateQueue, message: v.Message) -> Iterator[v.Command]:
    """Send a message in a transaction and roll it back."""
    world.transactions += 1
    name = f"t{world.transactions}"
    yield v.BeginTransaction(transaction=name)
    yield v.Send(queue=queue.queue, message=message, transaction=name)
    yield v.RollBackTransaction(transaction=name)


def dead_lettered(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Forward dead letters, which keep their reason and leave the dead-letter queue."""
    end = ordinary(world, queue)
    yield end
    source = _source(world, queue, forward_dead_letters_to=end.queue)
    yield source
    yield v.Send(queue=source.queue, message=make_keyed(world, source, 0))
    yield v.Receive(queue=source.queue)
    for lock in world.locks[-1:]:
        yield v.DeadLetter(queue=source.queue, lock_token=lock.lock_token or "", reason="spoiled")
    yield v.Receive(queue=source.queue + v.DEAD_LETTERS)
    yield v.Receive(queue=end.queue)


def forward_to_closed(world: World, queue: v.CreateQueue) -> Iterator[v.Command]:
    """Forward to a destination that is closed to sends; the message must never arrive."""
    end = ordinary(world, queue)
    yield end
    source = _source(world, queue, forward_to=end.queue)
    yield source
    yield v.UpdateQueue(queue=end.queue, status=v.EntityStatus.SEND_DISABLED)
    yield v.Send(queue=source.queue, message=make_unkeyed(world))
    yield from take_messages(end.queue)
    for is_dlq in v.DEAD_LETTER_SUFFIXES:
        yield from take_messages(source.queue + is_dlq)
    yield v.UpdateQueue(queue=end.queue, status=v.EntityStatus.ACTIVE)
    yield from take_messages(end.queue)


OPENINGS: Final = (
    opening("chain", chain, v.Capability.FORWARDING),
    opening("sources", sources, v.Capability.FORWARDING),
    opening("buried", dead_lettered, v.Capability.DEAD_LETTER_FORWARDING, v.Capability.PEEK_LOCK),
    opening(
        "closed end",
        forward_to_closed,
        v.Capability.FORWARDING,
        v.Capability.ENTITY_STATUS,
        v.Capability.TRANSFER_DEAD_LETTER,
    ),
    opening("onward", onward, v.Capability.FORWARDING),
    opening("unique end", unique_end, v.Capability.FORWARDING, v.Capability.DUPLICATE_DETECTION),
)
