"""Creating queues, and what a test does to the world around them: outages and time."""

from collections.abc import Iterator

import attrs

from busproof.model.commands import (
    AdvanceClock,
    BringPartitionUp,
    CreateQueue,
    TakePartitionDown,
)
from busproof.model.state import Namespace, Outages, Queue, Spread, everywhere, with_queue
from busproof.model.transition import Transition, done, refusal
from busproof.model.values import Error, Tier, Window

__all__ = [
    "advance_clock",
    "bring_up",
    "create_queue",
    "lost_advance",
    "lost_create",
    "lost_outage",
    "take_down",
]


def create_queue(namespace: Namespace, command: CreateQueue) -> Iterator[Transition]:
    """A queue is created, once; Premium may not partition it, nor Basic have what it asks for."""
    known = namespace.queues.get(command.queue)
    if known is not None:
        yield refusal(namespace, Error.ALREADY_EXISTS, any_error=True)
    if known is not None and not known.doubtful:
        return
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


def _created(namespace: Namespace, command: CreateQueue, *, doubtful: bool = False) -> Namespace:
    outages = Outages(told=namespace.vantage.partitions)
    queue = Queue(settings=command, outages=outages, doubtful=doubtful)
    return with_queue(namespace, queue)


def lost_create(namespace: Namespace, command: CreateQueue) -> Namespace:
    """The queue may exist, from now or later on."""
    if command.queue in namespace.queues:
        return namespace
    return _created(namespace, command, doubtful=True)


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
    yield done(with_queue(namespace, attrs.evolve(queue, outages=down)))


def bring_up(namespace: Namespace, command: BringPartitionUp) -> Iterator[Transition]:
    """The partition is available again, and so is what it held."""
    queue = namespace.queues[command.queue]
    if not _exists(namespace, queue, command.partition):
        yield refusal(namespace, Error.NOT_FOUND, any_error=True)
        return
    bit, outages = 1 << command.partition, queue.outages
    up = Outages(outages.told, outages.down & ~bit, outages.doubt & ~bit)
    recovered = queue.recovered | (bit & outages.down)
    back = attrs.evolve(queue, outages=up, recovered=recovered, spread=Spread())
    yield done(with_queue(namespace, back))


def lost_outage(namespace: Namespace, command: TakePartitionDown | BringPartitionUp) -> Namespace:
    """The partition may be down or up, and may still change."""
    queue = namespace.queues[command.queue]
    bit, outages = 1 << command.partition, queue.outages
    doubtful = Outages(outages.told, outages.down & ~bit, outages.doubt | bit)
    return with_queue(namespace, attrs.evolve(queue, outages=doubtful))


def advance_clock(namespace: Namespace, command: AdvanceClock) -> Iterator[Transition]:
    """Virtual time passes; what it ends is ended when a queue is next asked for something."""
    yield done(attrs.evolve(namespace, now=namespace.now.shifted(command.duration)))


def lost_advance(namespace: Namespace, command: AdvanceClock) -> Namespace:
    """Time may have passed."""
    now = Window(namespace.now.earliest, namespace.now.latest + command.duration)
    return attrs.evolve(namespace, now=now)
