"""How often a message was delivered, and when that is as often as it may be.

A delivery that ends by abandoning or by expiry counts, and one that ends because its session is
closed does not. Whether one into a front end's cache counts that nobody was given is open
(CACHE-DELIVERY-COUNT), and so is what is counted of dead letters (DEAD-LETTER-COUNT).
"""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import NEVER, Namespace, Queue

__all__ = [
    "DEFAULT_DELIVERIES",
    "count_is_possible",
    "counts_deferral",
    "may_be_spent",
    "most_counted",
    "permitted",
]

DEFAULT_DELIVERIES: Final = 10
"""DLQ-04: how often a message is delivered where its entity was created without saying."""


def permitted(namespace: Namespace, queue: Queue) -> tuple[int, int]:
    """DLQ-02: the fewest and the most deliveries after which a message is given no more."""
    counts = queue.managed.delivery_counts
    match namespace.profile.readings.get("MAX-DELIVERIES"):
        case "one-more":
            return counts.earliest + 1, counts.latest + 1
        case "either":
            return counts.earliest, counts.latest + 1
        case _:
            return counts.earliest, counts.latest


def _strict(namespace: Namespace) -> bool:
    return namespace.profile.readings.get("CACHE-DELIVERY-COUNT") == "stays"


def counts_deferral(namespace: Namespace) -> int:
    """How many deliveries may count that ended by setting the message aside, which none has to."""
    return 0 if _strict(namespace) else 1


def most_counted(namespace: Namespace, queue: Queue, stored: Stored) -> int:
    """How many deliveries of a message may have counted by now, seen or unseen.

    A lock that it has may have ended, and another one in a cache since: each unseen one needs a
    receive to fill a cache and a lock's time to expire there. Where some
    are left out, there may have been any number, and one without an answer stands for all those.
    """
    left_out = bool(namespace.vantage.left_out)
    if left_out and queue.receivers.lost:
        return NEVER
    ended = stored.lock is not None
    known = stored.counted + stored.uncounted + queue.receivers.lost + ended
    if _strict(namespace):
        return known
    receives = queue.receivers.count + queue.receivers.lost - stored.since
    receives = NEVER if left_out else receives
    life = queue.managed.lock_durations_ever.earliest - namespace.vantage.slack
    elapsed = namespace.now.latest - stored.available_at
    return known + (min(receives, elapsed // life) if life > 0 else receives)


def may_be_spent(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """Whether the message may have been delivered as often as it may be."""
    return most_counted(namespace, queue, stored) >= permitted(namespace, queue)[0]


def count_is_possible(
    namespace: Namespace, queue: Queue, stored: Stored, view: v.MessageView
) -> bool:
    """DLQ-01: whether a delivery may bear this count; one that a client is not told, always.

    A message that is locked as far as is known comes again only if that delivery has ended.
    """
    count = view.delivery_count
    if count is None:
        return True
    gives_up = queue.settings.max_delivery_count != NEVER
    if not gives_up and namespace.profile.readings.get("DEAD-LETTER-COUNT") == "either":
        return count >= 1
    ended = stored.lock is not None and stored.lock.session_id is None
    return stored.counted + ended < count <= most_counted(namespace, queue, stored) + 1
