"""Test controls: partitions that are taken down or brought up, and the clock."""

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
    """Take a partition down or bring it up again; its messages stay."""
    queue = namespace.queues[command.queue]
    if not everywhere(namespace, queue.settings) >> command.partition & 1:
        yield refusal(namespace, v.Error.NOT_FOUND, any_error=True)
    elif isinstance(command, v.TakePartitionDown):
        yield done(_taken_down(namespace, queue, command))
    else:
        yield done(_brought_up(namespace, queue, command))


def _taken_down(namespace: Namespace, queue: Queue, command: v.TakePartitionDown) -> Namespace:
    # The latest moment counts: by then the partition surely is down.
    if not queue.outages.any:
        begun = Window(namespace.now.latest, -NEVER)
        namespace = with_queue(namespace, attrs.evolve(queue, outage=begun))
    down = queue.outages.switched(command.partition, down=True)
    namespace = with_outages(namespace, command.queue, down)
    # PART-04: messages that had arrived by now have outlasted the outage when it is over.
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
    # In the outage, messages without a key avoided this partition, so the count begins anew.
    changes = {"recovered": recovered, "spread": queue.spread.restarted()}
    back = with_outages(namespace, command.queue, up, **changes)
    if up.any:
        return back
    # An outage lasts from the first partition down to the last one up.
    over = Window(queue.outage.earliest, namespace.now.earliest)
    return with_queue(back, attrs.evolve(back.queues[command.queue], outage=over))


def lost_outage(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp
) -> Namespace:
    """Return the namespace in which the partition may be down or up, now and later."""
    queue = namespace.queues[command.queue]
    outages = queue.outages.doubtful(partition_set(command.partition))
    return in_outage(namespace, command.queue, outages)


def in_outage(namespace: Namespace, name: str, outages: Outages) -> Namespace:
    """Return the namespace after an outage of an entity that may not exist yet.

    An unanswered creation may then take effect in some partitions only, as if it had been refused
    (MANAGEMENT-IN-OUTAGE).
    """
    namespace = with_outages(namespace, name, outages)
    owner = namespace.queues[v.owner_of(name)]
    if not (owner.doubtful and outages.any):
        return namespace
    # Under these readings the entity exists in all of its partitions or not at all.
    if namespace.reading("MANAGEMENT-IN-OUTAGE", "either") != "either":
        return namespace
    name = owner.settings.queue
    # It is open what part of a topic copies, or part of a queue forwards.
    if owner.role is not None or is_joined(namespace, name):
        return stop_judging(namespace, name)
    partly = owner.managed.partially_applied or "create"
    return with_managed(namespace, owner, partially_applied=partly)


def with_outages(namespace: Namespace, name: str, outages: Outages, **changes: Any) -> Namespace:
    """Return the namespace with these outages of an entity and of its dead-letter queues."""
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
    """Record whether a partition of this entity is surely down."""
    names, dark = namespace.registry.dark, bool(outages.down)
    if dark is (name in names):
        return namespace
    return with_registry(namespace, dark=names.set(name, None) if dark else names.delete(name))


def advance_clock(namespace: Namespace, command: v.AdvanceClock) -> Iterator[Transition]:
    """Advance the clock; timers take effect at the next request to their entity."""
    # A timer of an entity matters only to requests to it, and no other would read its state.
    yield done(attrs.evolve(namespace, now=namespace.now.shifted(command.duration)))


def lost_advance(namespace: Namespace, command: v.AdvanceClock) -> Namespace:
    """Return the namespace in which the time may have passed, or not."""
    now = Window(namespace.now.earliest, namespace.now.latest + command.duration)
    return attrs.evolve(namespace, now=now)
