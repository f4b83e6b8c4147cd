"""Rules on partitions, outages and front ends that answers exercise (PART)."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.oracle.messages.matching import Seen
from busproof.oracle.messages.message_store import surely_available
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import Namespace, Queue, partition_count


def in_one_store(queue: Queue) -> tuple[v.RuleId, ...]:
    """PART-01: return the rules that an outage of an entity with a single store exercises."""
    return () if queue.settings.partitioned else ("PART-01",)


def may_fail_in_a_large_outage(namespace: Namespace, queue: Queue) -> bool:
    """Return whether any send may fail because several partitions may be down (AVAILABLE)."""
    several = (queue.outages.down | queue.outages.doubt).bit_count() > 1
    return several and namespace.reading("AVAILABLE") == "one-store"


def is_another_dark(namespace: Namespace, queue: Queue) -> bool:
    """PART-05: return whether partitions of another entity are down, but none of this one."""
    return bool(len(namespace.registry.dark)) and not queue.outages.any


def why_sent(namespace: Namespace, queue: Queue, home: Partitions | None) -> Iterator[v.RuleId]:
    """PART-02, PART-05: return the rules about outages that an accepted send exercises.

    Args:
        namespace: the namespace.
        queue: its destination.
        home: the partitions that its key may select; `None` if it has no key.
    """
    if home is not None and home.bit_count() == 1 and queue.outages.down & ~home:
        yield "PART-02"
    if is_another_dark(namespace, queue):
        yield "PART-05"


def has_outlasted(queue: Queue, stored: Stored) -> bool:
    """PART-04: return whether the message survived an outage of its partition."""
    if not len(queue.outlasted) or queue.outages.any:
        return False
    partitions = (n for n in range(stored.where.bit_length()) if stored.where >> n & 1)
    return all(queue.outlasted.get(each, -1) > stored.number for each in partitions)


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


def _is_deleted_elsewhere(namespace: Namespace, queue: Queue) -> bool:
    """PART-28: return whether another front end may have deleted what is in its cache."""
    others = queue.receivers.deleters - {queue.receivers.connection}
    return bool(others) and namespace.reading("CACHE-DELETE") != "kept"


def why_handed_out(namespace: Namespace, candidate: Seen, *, cached: bool) -> Iterator[v.RuleId]:
    """PART-04, PART-05, PART-09 to PART-11, PART-23, PART-28, FWD-22, FWD-24: evidence."""
    queue, stored = candidate.queue, candidate.stored
    if "FWD-14" in stored.shows:
        yield from _why_arrived(queue, stored, candidate.where)
    if has_outlasted(queue, stored):
        yield "PART-04"
    if is_another_dark(namespace, queue):
        yield "PART-05"
    if not queue.settings.partitioned or queue.settings.requires_session:
        return
    if len(queue.locks) and queue.receivers.count == queue.receivers.switched > 0:
        yield "PART-10"
    if cached and stored.since < queue.receivers.switched:
        yield "PART-11"
        if _is_deleted_elsewhere(namespace, queue):
            yield "PART-28"
    if not cached and not queue.outages.any:
        yield from _why_in_the_end(namespace, queue, stored)


def _why_in_the_end(namespace: Namespace, queue: Queue, stored: Stored) -> Iterator[v.RuleId]:
    """PART-09, PART-23: return the rules of a message given that was withheld before."""
    if stored.since >= queue.receivers.count:
        return
    yield "PART-09"
    there = sum(tally.total for tally in queue.tallies.values())
    if there <= partition_count(namespace, queue.settings):
        yield "PART-23"


def _why_arrived(queue: Queue, stored: Stored, where: Partitions) -> Iterator[v.RuleId]:
    """FWD-22, FWD-24: return the rules about outages that a forwarded message exercises."""
    if stored.key is None and queue.outages.down and queue.settings.partitioned:
        yield "FWD-24"
    if stored.key is not None and where.bit_count() == 1 and where & queue.recovered:
        yield "FWD-22"


def why_not_handed_out(namespace: Namespace, queue: Queue, *, cached: bool) -> Iterator[v.RuleId]:
    """PART-01, PART-10, PART-11, PART-28: return the rules an empty receive exercises."""
    if queue.outages.down and not queue.settings.partitioned and len(queue.messages):
        yield "PART-01"
    if not queue.settings.partitioned or queue.settings.requires_session:
        return
    if len(queue.locks) and queue.receivers.count == queue.receivers.switched > 0:
        yield "PART-10"
    if cached and surely_available(queue, cached_elsewhere=False):
        yield "PART-11"
        if _is_deleted_elsewhere(namespace, queue):
            yield "PART-28"


def why_settled_anywhere(queue: Queue) -> Iterator[v.RuleId]:
    """PART-12: return the rules exercised by settling on a partitioned entity."""
    if queue.settings.partitioned and queue.arrivals > 1:
        yield "PART-12"
