"""Clocks that may stand still while a partition is down (OUTAGE-CLOCK).

No document says whether locks end in an outage, or MessageIds are forgotten. What runs out then may
run for its whole time after the outage; what had run out before it stays so.
"""

from busproof.oracle.schedule import NEVER
from busproof.oracle.state import Namespace, Queue

__all__ = ["is_over", "latest_end", "lock_is_over", "lock_lasts_until"]


def latest_end(namespace: Namespace, queue: Queue, ends: int, life: int) -> int:
    """When something ends at the latest that has this long to last.

    Args:
        namespace: as it is.
        queue: whose partitions it is in.
        ends: when it ends at the latest on a clock that never stands still.
        life: how long it lasts at the most.
    """
    trouble = queue.managed.trouble
    if ends < trouble.earliest or namespace.profile.readings.get("OUTAGE-CLOCK") == "runs":
        return ends
    if queue.outages.any:
        return NEVER
    return max(ends, trouble.latest + life + namespace.vantage.slack)


def is_over(namespace: Namespace, queue: Queue, ends: int, life: int) -> bool:
    """Whether something has ended for sure."""
    now = namespace.now.earliest
    return ends < now and latest_end(namespace, queue, ends, life) < now


def lock_lasts_until(namespace: Namespace, queue: Queue, ends: int) -> int:
    """When a lock ends at the latest that would end by then without an outage."""
    return latest_end(namespace, queue, ends, queue.managed.lock_durations_ever.latest)


def lock_is_over(namespace: Namespace, queue: Queue, ends: int) -> bool:
    """LIFE-05, SESS-11: whether a lock has ended for sure."""
    return is_over(namespace, queue, ends, queue.managed.lock_durations_ever.latest)
