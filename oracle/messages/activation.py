"""Activation of scheduled messages: at their time, or later if the service is slow.

The documents state no time limit for a message that is due. It is certain once it has been seen,
and until then it may come or not (SCHEDULE-DELAY).
"""

from collections.abc import Iterator
from typing import Any

from busproof.oracle.evolve import evolve
from busproof.oracle.messages.expiry import death, lifetimes
from busproof.oracle.messages.keys import effective_key
from busproof.oracle.messages.message_store import line_of, replace, store
from busproof.oracle.messages.partitioning import home_of
from busproof.oracle.queued_messages import Stored
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.schedule import Waiting, removed, top
from busproof.oracle.state import NEVER, Namespace, Queue, Topic, everywhere, with_queue
from busproof.oracle.window import Window


def activated(namespace: Namespace, name: str) -> Namespace:
    """SCHED-02: return the namespace with everything that is surely due in its place."""
    queue = namespace.queues[name]
    while (waiting := top(queue.calendar)) and waiting.due.latest < namespace.now.earliest:
        at_once = namespace.reading("SCHEDULE-DELAY") == "at-once"
        message_id = waiting.message.message_id
        # Duplicate detection has no other message with its MessageId.
        alone = message_id is None or queue.copies.get(message_id) == waiting.rivals
        owed = waiting.certain and alone
        arrived = _arrived(namespace, queue, waiting, certain=at_once and owed)
        if owed and not at_once:
            stored = arrived.messages[arrived.arrivals - 1]
            arrived = replace(arrived, stored, evolve(stored, owed=stored.came))
        namespace, queue = with_queue(namespace, arrived), arrived
    return namespace


def goes_on(queue: Queue) -> bool:
    """Return whether an arriving message is stored elsewhere: a topic, or a forwarding entity."""
    return isinstance(queue.role, Topic) or queue.settings.forward_to is not None


def _came(namespace: Namespace, waiting: Waiting) -> Window:
    """TTL-12: return when a scheduled message's time to live starts: when it becomes active."""
    if namespace.reading("SCHEDULE-DELAY") == "at-once":
        return waiting.due
    return Window(waiting.due.earliest, NEVER)


def coming(namespace: Namespace, queue: Queue, body: str) -> Iterator[tuple[Namespace, Stored]]:
    """Yield the messages that may have become active by now, if they are seen."""
    for place in queue.calendar.bodies.get(body, ()):
        waiting = queue.calendar.entries.get(place)
        if waiting is not None and waiting.due.earliest <= namespace.now.latest:
            after = _arrived(namespace, queue, waiting, certain=True)
            yield with_queue(namespace, after), after.messages[after.arrivals - 1]


def _arrived(namespace: Namespace, queue: Queue, waiting: Waiting, *, certain: bool) -> Queue:
    """Return the queue with the message behind those sent before it was due (SCHED-07)."""
    message, due = waiting.message, waiting.due
    key = effective_key(namespace, queue.settings, message)
    where = everywhere(namespace, queue.settings)
    if key is not None:
        where = home_of(namespace, queue, key)
    line = line_of(queue, message, key)
    bodies = queue.bodies
    # SCHED-01 has kept this body away until now.
    if isinstance(bodies.get(message.body), str):
        bodies = bodies.delete(message.body)
    # Without a key it takes a turn at a time that nobody sees, so the count of turns begins anew.
    also: dict[str, Any] = {} if key is not None else {"spread": queue.spread.restarted()}
    queue = evolve(queue, calendar=removed(queue.calendar, waiting), bodies=bodies)
    dies = death(namespace, queue, message, _came(namespace, waiting))
    queue = store(queue, message, key, where, due, certain=False, dies=dies, also=also)
    uncertain = queue.messages[queue.arrivals - 1]
    life, slack = lifetimes(queue, message, due).latest, namespace.observability.slack
    exact = due.earliest == due.latest
    # If it was due after the latest receive, no cache can have it yet, and its lock begins with its
    # delivery.
    before_receives = exact and queue.receivers.latest_at < due.earliest
    arrived = evolve(
        uncertain,
        certain=certain,
        # Whether it stands before a message that was sent at the same moment is open.
        line=line if certain and exact else None,
        since=queue.receivers.count if before_receives else waiting.since,
        arrived=Window(due.earliest, NEVER),
        came="SCHED-14" if waiting.past else "SCHED-02",
        scheduled_number=waiting.number,
        through=waiting.through | queue.outages.down,
        overtaken=line is not None and queue.calendar.lines.get(line, -1) >= waiting.before,
        # It was scheduled longer ago than its time to live.
        shows=rules_if((due.earliest - waiting.scheduled_at > life + slack, "TTL-12")),
    )
    return replace(queue, uncertain, arrived)


def is_awaited(namespace: Namespace, queue: Queue) -> bool:
    """Return whether the first scheduled message is surely not due yet."""
    first = top(queue.calendar)
    return first is not None and namespace.now.latest < first.due.earliest


def session_may_come(namespace: Namespace, queue: Queue, session_id: str) -> bool:
    """Return whether a scheduled message of this session may just have become active."""
    calendar, now = queue.calendar, namespace.now
    earliest = calendar.sessions.get(session_id, NEVER)
    first = top(calendar)
    pending = first is not None and first.due.earliest <= now.latest
    return earliest <= now.latest and (pending or calendar.loose <= now.latest)
