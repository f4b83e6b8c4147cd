"""Retries of messages that could not be forwarded (FORWARD-FAILED).

A destination may be enabled again, or created again under its name. The documents do not say
whether earlier messages of its sources are then retried: they may arrive, stay dead letters, or be
lost.
"""

from operator import itemgetter

import attrs

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival, Passed
from busproof.oracle.forwarding.forwarding import passed_on
from busproof.oracle.messages.enqueueing import arrive
from busproof.oracle.state import Namespace, Queue, feeding, with_queue
from busproof.oracle.unjudged import stop_judging


def is_mere_destination(namespace: Namespace, queue: Queue) -> bool:
    """Return whether the queue does nothing but receive, and only from entities that are known."""
    name, registry = queue.settings.queue, namespace.registry
    waits = any(
        transaction is not None and transaction.queues
        for transaction in namespace.transactions.values()
    )
    onward = v.destinations(queue.settings) or any(feeding(namespace, name))
    # What arrives unseen must not go on to other entities or into a transaction.
    return queue.role is None and not (waits or onward or len(registry.pending_forwards))


def destination_again(before: Namespace, after: Namespace, name: str) -> Namespace:
    """FWD-20: return the namespace after a destination that was deleted is created again.

    It is judged only if it is a queue that does not forward itself.
    """
    awaited = name not in before.queues and any(_sources(before, name))
    if not awaited:
        return after
    if is_mere_destination(after, after.queues[name]):
        return tried_again(after, name, everything=True)
    # A retried message that is forwarded further, or meets a transaction, leaves too much open.
    return stop_judging(after, name)


def tried_again(namespace: Namespace, name: str, *, everything: bool = False) -> Namespace:
    """FWD-19, FWD-20: let messages that did not reach a destination arrive there from now on.

    Args:
        namespace: the namespace.
        name: the destination.
        everything: whether this includes messages of an earlier, deleted destination.
    """
    # Each retry gets an arrival number, and the iteration order of a map differs between processes.
    # Sorting makes every run number them alike.
    for source in _sources(namespace, name):
        for body, several in sorted(namespace.queues[source].passed.items(), key=itemgetter(0)):
            kept = [record for record in several if everything or record.kept_by == "FWD-19"]
            for passed in kept:
                namespace = _may_arrive(namespace, source, passed.arrival)
            namespace = _forgiven(namespace, source, body) if kept else namespace
    return namespace


def _sources(namespace: Namespace, name: str) -> tuple[str, ...]:
    return tuple(
        source
        for source, destination in sorted(namespace.forwarding.items(), key=itemgetter(0))
        if destination == name and not v.is_dead_letter_queue(source)
    )


def _may_arrive(namespace: Namespace, name: str, arrival: Arrival) -> Namespace:
    source = namespace.queues[name]
    # The documents do not say whether and when the source retries, so nothing has to wait for it.
    destination = namespace.queues[source.settings.forward_to or ""]
    late = attrs.evolve(arrival, certain=False, answered=False)
    return arrive(namespace, *passed_on(namespace, source, destination, late))


def _forgiven(namespace: Namespace, name: str, body: str) -> Namespace:
    """Return the namespace in which nothing is known to prevent forwarding of this body."""
    source = namespace.queues[name]
    anew = tuple(Passed(record.arrival) for record in source.passed[body])
    return with_queue(namespace, attrs.evolve(source, passed=source.passed.set(body, anew)))
