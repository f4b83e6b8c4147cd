"""Clocks that may stand still while a partition is down (OUTAGE-CLOCK).

The documents do not say whether locks and duplicate windows end during an outage. One that would
have ended in it may last for its whole duration after the outage; one that had ended before stays
ended.
"""

from busproof.oracle.schedule import NEVER
from busproof.oracle.state import Namespace, Queue
from busproof.oracle.window import Window


def latest_end(namespace: Namespace, queue: Queue, ends: int, life: int) -> int:
    """Return the latest moment at which something ends, if clocks may have stood still.

    Args:
        namespace: the current state.
        queue: the queue that contains it.
        ends: its latest end on a clock that never stands still.
        life: its longest duration.
    """
    trouble = queue.managed.trouble
    if ends < trouble.earliest or namespace.reading("OUTAGE-CLOCK") == "runs":
        return ends
    if queue.outages.any:
        return NEVER
    # Its clock may have stood still from its beginning to the end of the outage.
    return max(ends, trouble.latest + life + namespace.observability.slack)


def is_over(namespace: Namespace, queue: Queue, ends: int, life: int) -> bool:
    """Return whether something has surely ended, given its latest end without an outage."""
    now = namespace.now.earliest
    return ends < now and latest_end(namespace, queue, ends, life) < now


def lock_lasts_until(namespace: Namespace, queue: Queue, ends: int) -> int:
    """Return the latest end of a lock, given its latest end without an outage."""
    return latest_end(namespace, queue, ends, queue.managed.lock_durations_ever.latest)


def full_term(namespace: Namespace, queue: Queue) -> Window:
    """Return when a lock ends that begins now."""
    ends = namespace.now.lengthened(queue.managed.lock_durations)
    return ends.widened(namespace.observability.slack)


def ends_in_time(namespace: Namespace, queue: Queue, until: int | None) -> bool:
    """LOCK-04, SESS-13: return whether a renewal may report this end of the lock."""
    term, slack = full_term(namespace, queue), namespace.observability.slack
    return until is None or term.earliest - slack <= until <= term.latest + slack


def lock_is_over(namespace: Namespace, queue: Queue, ends: int) -> bool:
    """LIFE-05, SESS-11: return whether a lock has surely ended, given its end without outage."""
    return is_over(namespace, queue, ends, queue.managed.lock_durations_ever.latest)
