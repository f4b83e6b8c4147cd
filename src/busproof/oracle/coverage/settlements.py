"""Rules that a settlement under a valid lock exercises."""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.messages.expiry import has_died
from busproof.oracle.queued_messages import Stored
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue
from busproof.oracle.transition import Rules

DEFAULT_DURATION: Final = 60 * v.MICROSECONDS
"""LOCK-02: lock duration in microseconds of an entity that is created without one."""
OF_KINDS: Final[dict[type[v.Settlement], Rules]] = {
    v.Complete: ("LIFE-03",),
    v.Abandon: ("LIFE-04",),
    v.DeadLetter: ("DLQ-05",),
    v.Defer: (),
}


def of_settlement(
    namespace: Namespace, queue: Queue, stored: Stored, command: v.Settlement
) -> Rules:
    """LOCK-04, LOCK-10, LOCK-12, PART-12, SESS-14, TTL-05: return the rules of a settlement."""
    lock = stored.lock
    session = (
        None if lock is None or lock.session_id is None else queue.sessions.get(lock.session_id)
    )
    # The lock of a session's message is that of the session, so its renewal shows here (SESS-14).
    renewed = isinstance(command, v.Complete) and session is not None and session.renewed
    # An abandoned message goes back and expires at once, so abandoning does not show that it
    # outlived its time.
    expired = has_died(namespace, stored) and not isinstance(command, v.Abandon)
    return (
        *rules_if((expired, "TTL-05"), (renewed, "SESS-14")),
        *OF_KINDS[type(command)],
        *rules_if(
            (queue.settings.partitioned and queue.arrivals > 1, "PART-12"),
            (lock is not None and lock.spared, "LOCK-12"),
        ),
        *_of_its_time(namespace, queue, stored),
    )


def _of_its_time(namespace: Namespace, queue: Queue, stored: Stored) -> Rules:
    """LOCK-01, LOCK-02, LOCK-04, LOCK-10: return the rules on a lock that has lasted until now."""
    lock, duration = stored.lock, queue.settings.lock_duration
    if lock is None or lock.session_id is not None:
        return ()
    now = namespace.now.earliest
    # A bus with too short locks accepts an early settlement as well, so only a late one is
    # evidence.
    long = 2 * (now - lock.begun.latest) >= duration
    return rules_if(
        (lock.first is not None and now > lock.first.latest, "LOCK-04"),
        (long, "LOCK-01"),
        (long and duration == DEFAULT_DURATION, "LOCK-02"),
        (queue.settlements > lock.settlements, "LOCK-10"),
    )
