"""What a bus of its own does with messages that have outlived their time to live."""

import attrs

from busproof.oracle.dead_letters import moved
from busproof.oracle.expiry import EXPIRED
from busproof.oracle.heap import pop, smallest
from busproof.oracle.ledger import remove
from busproof.oracle.state import Namespace, with_queue

__all__ = ["swept"]


def swept(namespace: Namespace, name: str) -> Namespace:
    """TTL-07, TTL-08: the namespace without what has died in an entity, or with it dead-lettered.

    It is done when the entity is next received from. Of what is judged nothing is removed before it
    is seen to be.
    """
    queue = namespace.queues[name]
    while (number := smallest(queue.deaths.left)) is not None:
        deaths = attrs.evolve(queue.deaths, left=pop(queue.deaths.left))
        queue, stored = attrs.evolve(queue, deaths=deaths), queue.messages[number]
        if queue.settings.dead_letter_expired:
            namespace = moved(namespace, queue, stored, EXPIRED, "TTL-07", certain=True)
        else:
            namespace = with_queue(namespace, remove(queue, stored))
        queue = namespace.queues[name]
    return namespace
