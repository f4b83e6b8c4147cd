"""Test controls: outages and time."""

from collections.abc import Iterator
from typing import Any

import attrs

from busproof import vocabulary as v
from busproof.oracle.changes import with_managed, with_registry
from busproof.oracle.outages import Outages, partition_set
from busproof.oracle.registry import troubled
from busproof.oracle.state import NEVER, Namespace, Queue, everywhere, with_queue
from busproof.oracle.transition import Transition, done, refusal
from busproof.oracle.unjudged import is_joined, stop_judging
from busproof.oracle.window import Window


def switch_partition(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp
) -> Iterator[Transition]:
    """Take one partition down, or bring it up again; its messages stay."""
    queue = namespace.queues[command.queue]
    if not everywhere(namespace, queue.settings) >> command.partition & 1:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)
    elif isinstance(command, v.TakePartitionDown):
        yield done(_taken_down(namespace, queue, command))
    else:
        yield done(_brought_up(namespace, queue, command))


def _taken_down(namespace: Namespace, queue: Queue, command: v.TakePartitionDown) -> Namespace:
    if not queue.outages.any:
        begun = Window(namespace.now.latest, -NEVER)
        namespace = with_queue(namespace, attrs.evolve(queue, outage=begun))
    down = queue.outages.switched(command.partition, down=True)
    namespace = with_outages(namespace, command.queue, down)
    # Record which messages were there when the partition went down.
    owner = v.owner_of(command.queue)
    for path in (owner, *v.dead_letter_queues_of(owner)):
        known = namespace.queues.get(path)
        if known is not None:
            there = known.outlasted.set(command.partition, known.arrivals)
            namespace = with_queue(namespace, attrs.evolve(known, outlasted=there))
    return namespace


def _brought_up(namespace: Namespace, queue: Queue, command: v.BringPartitionUp) -> Namespace:
    up = queue.outages.switched(command.partition, down=False)
    recovered = queue.recovered | (partition_set(command.partition) & queue.outages.down)
    # Meanwhile messages without a key went round this partition, so their turns are counted anew.
    changes = {"recovered": recovered, "spread": queue.spread.restarted()}
    back = with_outages(namespace, command.queue, up, **changes)
    if up.any:
        return back
    over = Window(queue.outage.earliest, namespace.now.earliest)
    return with_queue(back, attrs.evolve(back.queues[command.queue], outage=over))


def lost_outage(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp
) -> Namespace:
    """Return the states in which the partition may be down or up, and may still change."""
    queue = namespace.queues[command.queue]
    outages = queue.outages.doubtful(partition_set(command.partition))
    return in_outage(namespace, command.queue, outages)


def in_outage(namespace: Namespace, name: str, outages: Outages) -> Namespace:
    """Return the namespace after an outage of an entity whose creation is still pending.

    Like a refused creation, it may then apply to some partitions (MANAGEMENT-IN-OUTAGE).
    """
    namespace = with_outages(namespace, name, outages)
    owner = namespace.queues[v.owner_of(name)]
    if not (owner.doubtful and outages.any):
        return namespace
    # Then it is there as a whole or not at all.
    if namespace.reading("MANAGEMENT-IN-OUTAGE", "either") != "either":
        return namespace
    name = owner.settings.queue
    # What a part of a topic copies, or a part of a forwarding queue forwards, is open.
    if owner.role is not None or is_joined(namespace, name):
        return stop_judging(namespace, name)
    partly = owner.managed.partially_applied or "create"
    return with_managed(namespace, owner, partially_applied=partly)


def with_outages(namespace: Namespace, name: str, outages: Outages, **changes: Any) -> Namespace:
    """Apply outages to an entity and its dead-letter queues, which share its partitions."""
    owner = v.owner_of(name)
    for path in (owner, *v.dead_letter_queues_of(owner)):
        queue = namespace.queues.get(path)
        if queue is not None:
            managed = queue.managed
            if outages.any or queue.outages.any:
                managed = troubled(managed, namespace.now)
            changed = attrs.evolve(queue, outages=outages, managed=managed, **changes)
            namespace = with_queue(namespace, changed)
    return _darkened(namespace, owner, outages)


def _darkened(namespace: Namespace, name: str, outages: Outages) -> Namespace:
    """Record whether this entity has partitions that are down."""
    names, dark = namespace.registry.dark, bool(outages.down)
    if dark is (name in names):
        return namespace
    return with_registry(namespace, dark=names.set(name, None) if dark else names.delete(name))


def advance_clock(namespace: Namespace, command: v.AdvanceClock) -> Iterator[Transition]:
    """Advance the clock; timers take effect at the next request to their queue."""
    yield done(attrs.evolve(namespace, now=namespace.now.shifted(command.duration)))


def lost_advance(namespace: Namespace, command: v.AdvanceClock) -> Namespace:
    """Return the states in which time may or may not have passed."""
    now = Window(namespace.now.earliest, namespace.now.latest + command.duration)
    return attrs.evolve(namespace, now=now)
