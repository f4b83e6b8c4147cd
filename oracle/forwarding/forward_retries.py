"""What could not be forwarded, and may be once its destination takes messages (FORWARD-FAILED).

A destination may be enabled again, or be created again under its name. Whether what was sent to its
sources before is tried again is not said: it may arrive, be a dead letter, or both be seen of none.
"""

from operator import itemgetter

import attrs

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival, Passed
from busproof.oracle.forwarding.forwarding import passed_on
from busproof.oracle.messages.enqueueing import arrive
from busproof.oracle.state import Namespace, Queue, feeding, with_queue
from busproof.oracle.unjudged import given_up

__all__ = ["destination_again", "is_mere_destination", "tried_again"]


def is_mere_destination(namespace: Namespace, queue: Queue) -> bool:
    """Whether a queue only takes what is forwarded, by entities of which all is known."""
    name, registry = queue.settings.queue, namespace.registry
    waits = any(
        transaction is not None and transaction.queues
        for transaction in namespace.transactions.values()
    )
    onward = v.destinations(queue.settings) or any(feeding(namespace, name))
    return queue.role is None and not (waits or onward or len(registry.intended))


def destination_again(before: Namespace, after: Namespace, name: str) -> Namespace:
    """FWD-20: the namespace once an entity was created by the name of a destination that was gone.

    What it does is told of only where it is a queue that does not forward itself.
    """
    awaited = name not in before.queues and any(_sources(before, name))
    if not awaited:
        return after
    if is_mere_destination(after, after.queues[name]):
        return tried_again(after, name, everything=True)
    return given_up(after, name)


def tried_again(namespace: Namespace, name: str, *, everything: bool = False) -> Namespace:
    """FWD-19, FWD-20: what was kept from a destination may arrive there, from now on.

    Args:
        namespace: the namespace.
        name: of the destination.
        everything: whether that goes for what may have been there and is gone with it, too.
    """
    for source in _sources(namespace, name):
        for body, several in sorted(namespace.queues[source].passed.items(), key=itemgetter(0)):
            kept = [each for each in several if everything or each.kept_by == "FWD-19"]
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
    destination = namespace.queues[source.settings.forward_to or ""]
    late = attrs.evolve(arrival, certain=False, answered=False)
    return arrive(namespace, *passed_on(namespace, source, destination, late))


def _forgiven(namespace: Namespace, name: str, body: str) -> Namespace:
    """The namespace, in which nothing is known any more that keeps these from their destination."""
    source = namespace.queues[name]
    anew = tuple(Passed(each.arrival) for each in source.passed[body])
    return with_queue(namespace, attrs.evolve(source, passed=source.passed.set(body, anew)))
