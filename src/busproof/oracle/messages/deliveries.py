"""Delivery counts, and when a message reaches its delivery limit.

A delivery that ends by abandoning or by expiry counts; one that ends because its session is closed
does not. The documents leave open whether a delivery into a front end's cache counts
(CACHE-DELIVERY-COUNT), and how dead letters are counted (DEAD-LETTER-COUNT).
"""

from typing import Final

from busproof.oracle.messages.matching import Candidate
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import NEVER, Namespace, Queue

DEFAULT_DELIVERIES: Final = 10
"""DLQ-04: the delivery limit of an entity that is created without one."""


def permitted(namespace: Namespace, queue: Queue) -> tuple[int, int]:
    """DLQ-02: return the least and the greatest number of deliveries before dead-lettering."""
    counts = queue.managed.delivery_counts
    if not namespace.observability.dead_letters:
        # A bus without dead letters may ignore the limit, because no rule about it applies.
        # RabbitMQ was accused of breaking the order of messages (KEY-17) where it had not.
        return counts.earliest, NEVER
    match namespace.reading("MAX-DELIVERIES"):
        case "one-more":
            return counts.earliest + 1, counts.latest + 1
        case "either":
            return counts.earliest, counts.latest + 1
        case _:
            return counts.earliest, counts.latest


def _strict(namespace: Namespace) -> bool:
    return namespace.reading("CACHE-DELIVERY-COUNT") == "stays"


def counts_deferral(namespace: Namespace) -> int:
    """Return by how much a deferral may raise the count of failed deliveries, at most."""
    return 0 if _strict(namespace) else 1


def most_counted(namespace: Namespace, queue: Queue, stored: Stored) -> int:
    """Return how many deliveries of a message may have counted by now, including unseen ones.

    Each unseen delivery needs a receive that fills a cache, and the lock in that cache has to
    expire. If the history leaves out receives, any number may have happened. If one of the receives
    in it was never answered, any number may have counted.
    """
    left_out = bool(namespace.observability.left_out)
    if left_out and queue.receivers.lost:
        return NEVER
    ended = stored.lock is not None
    # Within the slack the lock may be over now, and locks in a cache may have followed it.
    known = stored.counted + stored.uncounted + queue.receivers.lost + ended
    if _strict(namespace):
        return known
    receives = queue.receivers.count + queue.receivers.lost - stored.since
    receives = NEVER if left_out else receives
    # Locks in a cache follow one another: no more of them can have ended than fit into the time.
    life = queue.managed.lock_durations_ever.earliest - namespace.observability.slack
    elapsed = namespace.now.latest - stored.available_at
    return known + (min(receives, elapsed // life) if life > 0 else receives)


def may_be_spent(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """Return whether the message may have reached its delivery limit."""
    return most_counted(namespace, queue, stored) >= permitted(namespace, queue)[0]


def count_is_possible(candidate: Candidate) -> bool:
    """DLQ-01: return whether the delivery count in the view is possible, or missing.

    If the message is known to be locked, its delivery now shows that the earlier one has ended.
    """
    namespace, queue, stored = candidate.namespace, candidate.queue, candidate.stored
    count = candidate.view.delivery_count
    if count is None:
        return True
    gives_up = queue.settings.max_delivery_count != NEVER
    # Dead letters may show any count: no document defines it, and services differ.
    if not gives_up and namespace.reading("DEAD-LETTER-COUNT") == "either":
        return count >= 1
    # Closing a session ends a delivery without counting it.
    ended = stored.lock is not None and stored.lock.session_id is None
    return stored.counted + ended < count <= most_counted(namespace, queue, stored) + 1
