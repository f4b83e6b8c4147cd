"""How sequences about forwarding may begin: chains, what a destination needs, dead letters."""

from collections.abc import Iterator
from typing import Any, Final

from busproof.model.commands import (
    BeginTransaction,
    BringPartitionUp,
    Command,
    CreateQueue,
    DeadLetter,
    Receive,
    RollBackTransaction,
    Send,
    TakePartitionDown,
)
from busproof.model.values import DEAD_LETTERS, Message, ReceiveMode
from busproof.steps.openings_of_queues import keyed, ordinary
from busproof.steps.worlds import Theme, World

__all__ = ["buried", "chain", "sources"]

HOPS: Final = (3, 2)
"""A message is forwarded as often as it may by any reading, and then more often than it may."""


def _taken(name: str) -> Receive:
    return Receive(queue=name, mode=ReceiveMode.RECEIVE_AND_DELETE)


def _source(world: World, queue: CreateQueue, **onward: Any) -> CreateQueue:
    name = f"q{len(world.queues) + 1}"
    world.queues.append(CreateQueue(queue=name, partitioned=queue.partitioned, **onward))
    return world.queues[-1]


def chain(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A message goes on from queue to queue, as often as it may, and another one more often."""
    world.theme = Theme.FORWARDING
    last = queue
    for hops in HOPS:
        for _ in range(hops):
            last = _source(world, queue, forward_to=last.queue)
            yield last
        yield Send(queue=last.queue, message=keyed(world, queue, 0))
        if not queue.requires_session:
            yield _taken(queue.queue)


def sources(world: World, queue: CreateQueue) -> Iterator[Command]:
    """A key waits at the destination; a roll back is followed; sessions are asked at one end."""
    world.theme = Theme.FORWARDING
    end = ordinary(world, queue)
    yield end
    source = _source(world, queue, forward_to=end.queue)
    yield source
    yield Send(queue=end.queue, message=keyed(world, end, 0))
    partition = world.visited[-1] if world.visited and queue.partitioned else 0
    yield TakePartitionDown(queue=end.queue, partition=partition)
    yield Send(queue=source.queue, message=keyed(world, source, 0))
    yield from (_taken(end.queue), _taken(end.queue))
    yield BringPartitionUp(queue=end.queue, partition=partition)
    yield from (_taken(end.queue), _taken(end.queue))
    yield from _within(world, source, keyed(world, source, 0))
    yield _taken(end.queue)
    held_in = ordinary(world, queue, requires_session=True)
    yield held_in
    yield _source(world, queue, forward_to=end.queue, requires_session=True)
    onward = _source(world, queue, forward_to=held_in.queue)
    yield onward
    yield from _within(world, onward, keyed(world, onward, 0))


def _within(world: World, queue: CreateQueue, message: Message) -> Iterator[Command]:
    """A message is sent in a transaction that is rolled back."""
    world.transactions += 1
    name = f"t{world.transactions}"
    yield BeginTransaction(transaction=name)
    yield Send(queue=queue.queue, message=message, transaction=name)
    yield RollBackTransaction(transaction=name)


def buried(world: World, queue: CreateQueue) -> Iterator[Command]:
    """Dead letters are forwarded, with their reason, and are not where they were any more."""
    end = ordinary(world, queue)
    yield end
    source = _source(world, queue, forward_dead_letters_to=end.queue)
    yield source
    yield Send(queue=source.queue, message=keyed(world, source, 0))
    yield Receive(queue=source.queue)
    for held in world.locks[-1:]:
        yield DeadLetter(queue=source.queue, lock_token=held.lock_token or "", reason="spoiled")
    yield Receive(queue=source.queue + DEAD_LETTERS)
    yield Receive(queue=end.queue)
