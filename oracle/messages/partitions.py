"""Answers that partitions which are down and the caches of front ends allow (PART)."""

from busproof.oracle.messages.stopped_clocks import lock_is_over
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import Namespace, Queue
from busproof.oracle.transition import Rules


def in_one_store(queue: Queue) -> Rules:
    """PART-01: return the rules that an outage of an entity with a single store exercises."""
    return () if queue.settings.partitioned else ("PART-01",)


def may_fail_in_a_large_outage(namespace: Namespace, queue: Queue) -> bool:
    """Return whether any send may fail because several partitions may be down (AVAILABLE)."""
    several = (queue.outages.down | queue.outages.doubt).bit_count() > 1
    return several and namespace.reading("AVAILABLE") == "one-store"


def is_another_dark(namespace: Namespace, queue: Queue) -> bool:
    """PART-05: return whether partitions of another entity are down, but none of this one."""
    return bool(len(namespace.registry.dark)) and not queue.outages.any


def has_outlasted(queue: Queue, stored: Stored) -> bool:
    """PART-04: return whether the message survived an outage of its partition."""
    # As long as an outage lasts, nothing has survived it.
    if not len(queue.outlasted) or queue.outages.any:
        return False
    partitions = (n for n in range(stored.where.bit_length()) if stored.where >> n & 1)
    return all(queue.outlasted.get(partition, -1) > stored.number for partition in partitions)


def beyond_every_cache(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """PART-01: return whether a message is in a store that is down, and in no cache.

    Nothing was ever received from its entity; cached messages may be handed out (CACHE-IN-OUTAGE).
    """
    receivers, observability = queue.receivers, namespace.observability
    untouched = not (
        receivers.count or receivers.lost or observability.left_out or observability.partial
    )
    regular = not queue.settings.partitioned and "PART-01" not in namespace.profile.silent
    return regular and untouched and queue.outages.must_hit(stored.where)


def is_deleted_elsewhere(namespace: Namespace, queue: Queue) -> bool:
    """Return whether another front end may have deleted what is in its cache (CACHE-DELETE)."""
    others = queue.receivers.deleters - {queue.receivers.connection}
    return bool(others) and namespace.reading("CACHE-DELETE") != "kept"


def cached_elsewhere(namespace: Namespace, queue: Queue) -> bool:
    """Return whether another front end than the latest receiver's may still have a cache.

    Under one reading (MESSAGES-EXPIRE), a front end may lose a message with its cache, so that a
    cache never ends. The same holds if that connection received and deleted (CACHE-DELETE).
    """
    receivers = queue.receivers
    if is_deleted_elsewhere(namespace, queue):
        return True
    if namespace.reading("MESSAGES-EXPIRE") == "message":
        return receivers.others_until >= 0 or left_out(namespace, queue)
    until = receivers.others_until
    return not lock_is_over(namespace, queue, until) or left_out(namespace, queue)


def left_out(namespace: Namespace, queue: Queue) -> bool:
    """Return whether the history omits receives over other connections."""
    return bool(namespace.observability.left_out - {queue.receivers.connection})
