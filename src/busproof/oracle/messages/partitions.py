"""Effects of outages and of the caches of front ends on answers (PART)."""

from busproof.oracle.messages.stopped_clocks import lock_is_over
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import Namespace, Queue
from busproof.oracle.transition import Rules


def in_one_store(queue: Queue) -> Rules:
    """PART-01: return the rules exercised by an outage, if the entity has a single store."""
    return () if queue.settings.partitioned else ("PART-01",)


def may_fail_in_a_large_outage(namespace: Namespace, queue: Queue) -> bool:
    """Return whether any send may fail because several partitions may be down (AVAILABLE)."""
    several = (queue.outages.down | queue.outages.doubt).bit_count() > 1
    return several and namespace.reading("AVAILABLE") == "one-store"


def is_another_dark(namespace: Namespace, queue: Queue) -> bool:
    """PART-05: return whether another entity has partitions down, and this one has none."""
    return bool(len(namespace.registry.dark)) and not queue.outages.any


def has_outlasted(queue: Queue, stored: Stored) -> bool:
    """PART-04: return whether the message outlasted an outage of its partition."""
    # Only after an outage is it known that the message outlasted it.
    if not len(queue.outlasted) or queue.outages.any:
        return False
    partitions = (n for n in range(stored.where.bit_length()) if stored.where >> n & 1)
    return all(queue.outlasted.get(partition, -1) > stored.number for partition in partitions)


def beyond_every_cache(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """PART-01: return whether a message is in a store that is down, and surely in no cache.

    It is in no cache if nothing was ever received from its entity. A cached message may be given
    even in an outage (CACHE-IN-OUTAGE).
    """
    receivers, observability = queue.receivers, namespace.observability
    untouched = not (
        receivers.count or receivers.lost or observability.left_out or observability.partial
    )
    regular = not queue.settings.partitioned and "PART-01" not in namespace.profile.silent
    return regular and untouched and queue.outages.must_hit(stored.where)


def is_deleted_elsewhere(namespace: Namespace, queue: Queue) -> bool:
    """Return whether another front end may have deleted messages from its cache (CACHE-DELETE)."""
    others = queue.receivers.deleters - {queue.receivers.connection}
    return bool(others) and namespace.reading("CACHE-DELETE") != "kept"


def cached_elsewhere(namespace: Namespace, queue: Queue) -> bool:
    """Return whether a front end other than the latest receiver's may still have a cache.

    If a front end may lose a message together with its cache, the cache never surely ends: under
    one reading of MESSAGES-EXPIRE, and after a receive in ReceiveAndDelete (CACHE-DELETE).
    """
    receivers = queue.receivers
    if is_deleted_elsewhere(namespace, queue):
        return True
    if namespace.reading("MESSAGES-EXPIRE") == "message":
        return receivers.others_until >= 0 or left_out(namespace, queue)
    until = receivers.others_until
    return not lock_is_over(namespace, queue, until) or left_out(namespace, queue)


def left_out(namespace: Namespace, queue: Queue) -> bool:
    """Return whether the history leaves out receives over other connections."""
    return bool(namespace.observability.left_out - {queue.receivers.connection})
