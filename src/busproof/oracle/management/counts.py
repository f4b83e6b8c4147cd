"""Message counts in descriptions of entities (MGMT-20, MGMT-23, MGMT-29, MGMT-30)."""

from busproof import vocabulary as v
from busproof.oracle.messages.releasing import without_perhaps_spent
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import Namespace, Queue, feeding


def may_lag(namespace: Namespace) -> bool:
    """Return whether a description may show an earlier count or availability (GET-LAG)."""
    return namespace.reading("GET-LAG") != "at-once"


def count_is_allowed(namespace: Namespace, queue: Queue, reported: int | None) -> bool:
    """MGMT-20, MGMT-23: return whether this message count is possible."""
    if reported is None:
        return True
    name, onward = queue.settings.queue, queue.managed.redirected or v.destinations(queue.settings)
    # Dead letters may have been forwarded here unseen, and copies may have been forwarded from
    # here.
    if any(feeding(namespace, name)) or (queue.role is not None and onward):
        return reported >= 0
    # The count may be from any earlier moment.
    if may_lag(namespace) or v.destinations(queue.settings):
        return 0 <= reported <= queue.arrivals + queue.calendar.scheduled
    least, most = counts(queue)
    aside = surely_aside(namespace, queue)
    # Deliveries that nobody saw may have used up a message's limit. Looking for such messages
    # visits all of them, so it is done only where the alternative is a violation.
    if reported < least + aside:
        least, _ = counts(without_perhaps_spent(namespace, queue))
    if namespace.reading("MESSAGES-EXPIRE") == "message":
        # Under this reading a message may be lost with the cache of any front end that ever had it.
        least = aside = 0
    if namespace.reading("COUNTS-IN-OUTAGE") == "left-out":
        most -= _surely_hit(queue)
    waiting, at_most = _scheduled(namespace, queue)
    return least + aside + waiting <= reported <= most + at_most


def surely_aside(namespace: Namespace, queue: Queue) -> int:
    """Return how many messages surely are there and surely are locked or deferred.

    A session's lock does not count, because it may have ended unseen.
    """
    # Counts may leave out partitions that are down (MGMT-23).
    if queue.outages.any:
        return 0
    now = namespace.now.latest

    def is_aside(stored: Stored) -> bool:
        may_be_gone = not stored.certain or stored.leaving or stored.gone
        if may_be_gone or (stored.dies is not None and stored.dies.earliest <= now):
            return False
        lock = stored.lock
        if lock is None:
            return stored.deferred is True and not queue.unanswered_deferred
        return lock.session_id is None and lock.pledge is None and now < lock.expiry.earliest

    # Looking at locks and deferred messages only avoids a visit to all messages.
    numbers = {*queue.locks.values(), *queue.deferred.values()}
    there = (queue.messages.get(number) for number in numbers)
    return sum(stored is not None and is_aside(stored) for stored in there)


def _scheduled(namespace: Namespace, queue: Queue) -> tuple[int, int]:
    """SCHEDULED-COUNT: return the least and the greatest number of scheduled messages counted."""
    entries, now = queue.calendar.entries, namespace.now.latest
    reading = namespace.reading("SCHEDULED-COUNT")
    # Under this reading a scheduled message counts once it has arrived, which may be when it is
    # due.
    if reading == "left-out":
        return 0, sum(entry.due.earliest <= now for entry in entries.values())
    if reading == "counted" and not queue.outages.any:
        sure = sum(entry.certain and now < entry.due.earliest for entry in entries.values())
        return sure, len(entries)
    return 0, len(entries)


def _surely_hit(queue: Queue) -> int:
    """Return how many messages are surely in partitions that are down."""
    return sum(
        tally.total
        for where, tally in queue.tallies.items()
        # A client that cannot identify partitions does not know which messages an outage hides.
        if queue.outages.identified and queue.outages.must_hit(where)
    )


def counts(queue: Queue) -> tuple[int, int]:
    """Return how many messages are surely available, and how many may be there at all."""
    sure = sum(
        tally.total for where, tally in queue.tallies.items() if not queue.outages.may_hit(where)
    )
    # Each unanswered receive may have taken one message.
    return max(0, sure - queue.receivers.lost), len(queue.messages)


def rules_of_scheduled(namespace: Namespace, queue: Queue) -> tuple[v.RuleId, ...]:
    """MGMT-29, MGMT-30: return the rule on the count, if a message is surely scheduled."""
    entries, now = queue.calendar.entries, namespace.now.latest
    sure = any(entry.certain and now < entry.due.earliest for entry in entries.values())
    rules = {"counted": ("MGMT-29",), "left-out": ("MGMT-30",)}
    return rules.get(namespace.reading("SCHEDULED-COUNT") or "", ()) if sure else ()
