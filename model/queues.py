"""Creating queues, and what a test does to the world around them: outages and time."""

from collections.abc import Iterator
from typing import Any

import attrs

from busproof.model.commands import (
    AdvanceClock,
    BringPartitionUp,
    CreateQueue,
    TakePartitionDown,
)
from busproof.model.dead_letters import SUFFIX, is_dead_letter_queue, owner_of
from busproof.model.sources import refused_source, sources, told_not_to_forward, with_lawful_locks
from busproof.model.state import Namespace, Queue, everywhere, with_queue
from busproof.model.stored import Outages, Spread
from busproof.model.transition import Transition, done, refusal
from busproof.model.values import Error, Tier, Window

__all__ = [
    "advance_clock",
    "bring_up",
    "create_queue",
    "lost_advance",
    "lost_outage",
    "take_down",
]


def create_queue(namespace: Namespace, command: CreateQueue) -> Iterator[Transition]:
    """A queue is created, once; Premium may not partition it, nor Basic have what it asks for.

    A dead-letter queue comes with its entity and cannot be created (from outside the five).
    """
    if is_dead_letter_queue(command.queue):
        yield refusal(namespace, Error.INVALID_OPERATION, any_error=True)
        return
    known = namespace.queues.get(command.queue)
    if known is not None:
        yield refusal(namespace, Error.ALREADY_EXISTS, any_error=True)
    if known is not None and not known.doubtful:
        return
    yield from refused_source(namespace, command)
    command, limits = with_lawful_locks(command)
    if limits:
        yield refusal(namespace, Error.INVALID_OPERATION, *limits, any_error=True)
    for source, rules in sources(namespace, command):
        for created in _creations(namespace, source):
            after = told_not_to_forward(created.next, command) if rules else created.next
            yield attrs.evolve(created, next=after, rules=(*limits, *rules, *created.rules))


def _creations(namespace: Namespace, command: CreateQueue) -> Iterator[Transition]:
    if command.partitioned and namespace.profile.tier is Tier.PREMIUM:
        yield refusal(namespace, Error.INVALID_OPERATION, any_error=True)
        yield done(_created(namespace, attrs.evolve(command, partitioned=False)))
    if namespace.profile.tier is Tier.BASIC and _asks_too_much_of_basic(command):
        yield refusal(namespace, Error.INVALID_OPERATION, any_error=True)
        plain = attrs.evolve(command, requires_session=False, duplicate_detection=False)
        yield done(_created(namespace, plain))
    yield done(_created(namespace, command))


def _asks_too_much_of_basic(command: CreateQueue) -> bool:
    """Public documentation denies Basic these, the five documents do not say so."""
    return command.requires_session or command.duplicate_detection


def _created(namespace: Namespace, command: CreateQueue) -> Namespace:
    outages = Outages(told=namespace.vantage.partitions)
    queue = Queue(settings=command, outages=outages)
    return with_queue(namespace, queue)


def _exists(namespace: Namespace, queue: Queue, partition: int) -> bool:
    return bool(everywhere(namespace, queue.settings) >> partition & 1)


def take_down(namespace: Namespace, command: TakePartitionDown) -> Iterator[Transition]:
    """One partition becomes unavailable; what it holds stays."""
    queue = namespace.queues[command.queue]
    if not _exists(namespace, queue, command.partition):
        yield refusal(namespace, Error.NOT_FOUND, any_error=True)
        return
    bit, outages = 1 << command.partition, queue.outages
    down = Outages(outages.told, outages.down | bit, outages.doubt & ~bit)
    yield done(_with_outages(namespace, command, down))


def bring_up(namespace: Namespace, command: BringPartitionUp) -> Iterator[Transition]:
    """The partition is available again, and so is what it held."""
    queue = namespace.queues[command.queue]
    if not _exists(namespace, queue, command.partition):
        yield refusal(namespace, Error.NOT_FOUND, any_error=True)
        return
    bit, outages = 1 << command.partition, queue.outages
    up = Outages(outages.told, outages.down & ~bit, outages.doubt & ~bit)
    recovered = queue.recovered | (bit & outages.down)
    yield done(_with_outages(namespace, command, up, recovered=recovered, spread=Spread()))


def lost_outage(namespace: Namespace, command: TakePartitionDown | BringPartitionUp) -> Namespace:
    """The partition may be down or up, and may still change."""
    queue = namespace.queues[command.queue]
    bit, outages = 1 << command.partition, queue.outages
    doubtful = Outages(outages.told, outages.down & ~bit, outages.doubt | bit)
    return _with_outages(namespace, command, doubtful)


def _with_outages(
    namespace: Namespace,
    command: TakePartitionDown | BringPartitionUp,
    outages: Outages,
    **changes: Any,
) -> Namespace:
    """An entity and its dead letters are in the same partitions, and share their outages."""
    owner = owner_of(command.queue)
    for name in (owner, owner + SUFFIX):
        queue = namespace.queues.get(name)
        if queue is not None:
            changed = attrs.evolve(queue, outages=outages, **changes)
            namespace = with_queue(namespace, changed)
    return namespace


def advance_clock(namespace: Namespace, command: AdvanceClock) -> Iterator[Transition]:
    """Virtual time passes; what it ends is ended when a queue is next asked for something."""
    yield done(attrs.evolve(namespace, now=namespace.now.shifted(command.duration)))


def lost_advance(namespace: Namespace, command: AdvanceClock) -> Namespace:
    """Time may have passed."""
    now = Window(namespace.now.earliest, namespace.now.latest + command.duration)
    return attrs.evolve(namespace, now=now)
