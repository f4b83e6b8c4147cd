"""Rules that an empty receive exercises."""

from busproof import vocabulary as v
from busproof.oracle.coverage.deliveries import is_first_of_locked
from busproof.oracle.coverage.topics import shown_by_nothing
from busproof.oracle.messages.activation import is_awaited
from busproof.oracle.messages.message_store import surely_available
from busproof.oracle.messages.partitions import is_deleted_elsewhere
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue
from busproof.oracle.transition import Rules


def of_empty_receive(
    namespace: Namespace, queue: Queue, session_id: str | None, *, cached: bool
) -> Rules:
    """Return the rules about messages that were rightly not given: locked, settled, expired."""
    settings, outages = queue.settings, queue.outages
    before, elsewhere = bool(queue.managed.before), cached and _is_left(queue)
    several = settings.partitioned and not settings.requires_session
    return (
        *rules_if(
            # A bus that gives locked messages to others would have given one.
            (len(queue.locks), "LIFE-02"),
            (before, "MGMT-15"),
            (before and settings.partitioned, "MGMT-17"),
        ),
        *_of_schedule(namespace, queue, session_id),
        *_of_age(namespace, queue, session_id),
        *_of_dead_letters(namespace, queue),
        # A bus that forgets to remove settled messages would have given one again.
        *rules_if((len(queue.messages) < queue.arrivals, "LIFE-03")),
        # If another front end may have cached messages, an empty answer does not show that there
        # are none.
        *(() if cached else (*queue.kept_away, *shown_by_nothing(queue))),
        *rules_if(
            (elsewhere, "LIFE-08"),
            (outages.down and not settings.partitioned and len(queue.messages), "PART-01"),
            (several and is_first_of_locked(queue), "PART-10"),
            (several and elsewhere, "PART-11"),
            (several and elsewhere and is_deleted_elsewhere(namespace, queue), "PART-28"),
            (outages.any, "LIFE-11"),
        ),
    )


def _is_left(queue: Queue) -> bool:
    """Return whether messages are surely there, which another front end may have cached."""
    return surely_available(queue, cached_elsewhere=False) > 0


def _of_schedule(namespace: Namespace, queue: Queue, session_id: str | None) -> Rules:
    """SCHED-01, SCHED-04, SCHED-13: return the rules that absent scheduled messages exercise."""
    calendar, early = queue.calendar, is_awaited(namespace, queue)
    return rules_if(
        (early, "SCHED-01"),
        (early and session_id is not None and session_id in calendar.sessions, "SCHED-13"),
        (namespace.now.earliest > calendar.cancelled, "SCHED-04"),
    )


def _of_age(namespace: Namespace, queue: Queue, session_id: str | None) -> Rules:
    """TTL-01, TTL-03, TTL-04, TTL-06, TTL-13, TTL-14: return the rules on expired messages."""
    shown, dark = queue.deaths.shown.get(session_id, ()), queue.outages.any
    # In an outage the message may only be out of reach, which does not show that it has expired.
    gone = tuple(rule for rule in shown if rule != "TTL-13" or not dark)
    return gone + rules_if((namespace.now.earliest <= queue.deaths.cached, "TTL-14"))


def _of_dead_letters(namespace: Namespace, queue: Queue) -> Rules:
    """Return the rules about which messages are dead letters, and which are not."""
    name = queue.settings.queue
    if not v.is_dead_letter_queue(name):
        dead = namespace.queues.get(name + v.DEAD_LETTERS)
        aside = queue.messages.get(queue.latest_deferred)
        return rules_if(
            (queue.spent, "DLQ-02"),
            (dead is not None and dead.arrivals, "DLQ-14"),
            (aside is not None and aside.deferred, "DEFER-01"),
        )
    owner = namespace.queues[v.owner_of(name)]
    transfers, deaths, expires = (
        name.endswith(v.TRANSFERS),
        owner.deaths,
        owner.settings.dead_letter_expired,
    )
    return rules_if(
        (transfers, "FWD-32"),
        # A bus that dead-letters expired messages although it was not told to would give one here.
        (not transfers and deaths.shown and not expires, "TTL-08"),
        (not transfers and deaths.aside and expires, "TTL-10"),
        (not queue.arrivals, "DLQ-08"),
        (len(queue.messages) < queue.arrivals, "DLQ-07"),
        (queue.outages.any, "DLQ-13"),
    )
