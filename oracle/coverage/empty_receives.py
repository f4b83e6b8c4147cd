"""Rules that an empty receive exercises."""

from busproof import vocabulary as v
from busproof.oracle.coverage.deliveries import is_first_of_locked
from busproof.oracle.management.topics import shown_by_nothing
from busproof.oracle.messages.activation import is_awaited
from busproof.oracle.messages.message_store import surely_available
from busproof.oracle.messages.partitions import is_deleted_elsewhere
from busproof.oracle.state import Namespace, Queue
from busproof.oracle.transition import Rules, exercised


def of_empty_receive(
    namespace: Namespace, queue: Queue, session_id: str | None, *, cached: bool
) -> Rules:
    """Return the rules about messages that were not given: locked, settled or expired ones."""
    settings, outages = queue.settings, queue.outages
    before, elsewhere = len(queue.managed.before), cached and _is_left(queue)
    several = settings.partitioned and not settings.requires_session
    return (
        *exercised(
            ("LIFE-02", len(queue.locks)),
            ("MGMT-15", before),
            ("MGMT-17", before and settings.partitioned),
        ),
        *_of_schedule(namespace, queue, session_id),
        *_of_age(namespace, queue, session_id),
        *_of_dead_letters(namespace, queue),
        *exercised(("LIFE-03", len(queue.messages) < queue.arrivals)),
        *(() if cached else (*queue.kept_away, *shown_by_nothing(queue))),
        *exercised(
            ("LIFE-08", elsewhere),
            ("PART-01", outages.down and not settings.partitioned and len(queue.messages)),
            ("PART-10", several and is_first_of_locked(queue)),
            ("PART-11", several and elsewhere),
            ("PART-28", several and elsewhere and is_deleted_elsewhere(namespace, queue)),
            ("LIFE-11", outages.any),
        ),
    )


def _is_left(queue: Queue) -> bool:
    """Return whether messages are surely there, which another front end may have cached."""
    return surely_available(queue, cached_elsewhere=False) > 0


def _of_schedule(namespace: Namespace, queue: Queue, session_id: str | None) -> Rules:
    """SCHED-01, SCHED-04, SCHED-13: a message is not due yet, or was cancelled."""
    calendar, early = queue.calendar, is_awaited(namespace, queue)
    return exercised(
        ("SCHED-01", early),
        ("SCHED-13", early and session_id is not None and session_id in calendar.sessions),
        ("SCHED-04", namespace.now.earliest > calendar.cancelled),
    )


def _of_age(namespace: Namespace, queue: Queue, session_id: str | None) -> Rules:
    """TTL-01, TTL-03, TTL-04, TTL-06, TTL-13, TTL-14: a message has expired."""
    shown, dark = queue.deaths.shown.get(session_id, ()), queue.outages.any
    gone = tuple(rule for rule in shown if rule != "TTL-13" or not dark)
    return gone + exercised(("TTL-14", namespace.now.earliest <= queue.deaths.cached))


def _of_dead_letters(namespace: Namespace, queue: Queue) -> Rules:
    """Return the rules about a message that is not in its entity, or not among its dead letters."""
    name = queue.settings.queue
    if not v.is_dead_letter_queue(name):
        dead = namespace.queues.get(name + v.DEAD_LETTERS)
        aside = queue.messages.get(queue.latest_deferred)
        return exercised(
            ("DLQ-02", queue.spent),
            ("DLQ-14", dead is not None and dead.arrivals),
            ("DEFER-01", aside is not None and aside.deferred),
        )
    owner = namespace.queues[v.owner_of(name)]
    transfers, deaths, expires = (
        name.endswith(v.TRANSFERS),
        owner.deaths,
        owner.settings.dead_letter_expired,
    )
    return exercised(
        ("FWD-32", transfers),
        ("TTL-08", not transfers and deaths.shown and not expires),
        ("TTL-10", not transfers and deaths.aside and expires),
        ("DLQ-08", not queue.arrivals),
        ("DLQ-07", len(queue.messages) < queue.arrivals),
        ("DLQ-13", queue.outages.any),
    )
