"""Activation of scheduled messages: at their time, or later if the service is slow.

The documents set no time limit for a message that is due (SCHEDULE-DELAY). So it may be received or
not until it has been seen once; from then on it is certain.
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
    """SCHED-02: return the namespace in which all messages that are surely due have arrived."""
    queue = namespace.queues[name]
    while (waiting := top(queue.calendar)) and waiting.due.latest < namespace.now.earliest:
        at_once = namespace.reading("SCHEDULE-DELAY") == "at-once"
        message_id = waiting.message.message_id
        # A copy of another message may be dropped (KEY-11). So only the sole one with its id must
        # arrive.
        alone = message_id is None or queue.copies.get(message_id) == waiting.rivals
        queue = _arrived(namespace, queue, waiting, certain=at_once and waiting.certain and alone)
        namespace = with_queue(namespace, queue)
    return namespace


def goes_on(queue: Queue) -> bool:
    """Return whether arriving messages are stored elsewhere: in subscriptions or by forwarding."""
    return isinstance(queue.role, Topic) or queue.settings.forward_to is not None


def _came(namespace: Namespace, waiting: Waiting) -> Window:
    """TTL-12: return when the time to live of a scheduled message begins: at its activation."""
    if namespace.reading("SCHEDULE-DELAY") == "at-once":
        return waiting.due
    # The service may activate it at any later time, so its time to live may begin then.
    return Window(waiting.due.earliest, NEVER)


def coming(namespace: Namespace, queue: Queue, body: str) -> Iterator[tuple[Namespace, Stored]]:
    """Yield each message that may be active by now, with the namespace in which it was seen."""
    for place in queue.calendar.bodies.get(body, ()):
        waiting = queue.calendar.entries.get(place)
        if waiting is not None and waiting.due.earliest <= namespace.now.latest:
            after = _arrived(namespace, queue, waiting, certain=True)
            yield with_queue(namespace, after), after.messages[after.arrivals - 1]


def _arrived(namespace: Namespace, queue: Queue, waiting: Waiting, *, certain: bool) -> Queue:
    """SCHED-07: return the queue with the message behind those that were sent before it was due."""
    message, due = waiting.message, waiting.due
    key = effective_key(namespace, queue.settings, message)
    where = everywhere(namespace, queue.settings)
    if key is not None:
        where = home_of(namespace, queue, key)
    line = line_of(queue, message, key)
    bodies = queue.bodies
    # The body was recorded as one that never arrives (SCHED-01); now it may.
    if isinstance(bodies.get(message.body), str):
        bodies = bodies.delete(message.body)
    # Without a key it takes a turn at a moment that nobody sees, so the next turn is unknown.
    also: dict[str, Any] = {} if key is not None else {"spread": queue.spread.restarted()}
    queue = evolve(queue, calendar=removed(queue.calendar, waiting), bodies=bodies)
    dies = death(namespace, queue, message, _came(namespace, waiting))
    queue = store(queue, message, key, where, due, certain=False, dies=dies, also=also)
    uncertain = queue.messages[queue.arrivals - 1]
    life, slack = lifetimes(queue, message, due).latest, namespace.observability.slack
    exact = due.earliest == due.latest
    # If it was due after the latest receive, no cache can have it yet, and its lock will begin with
    # its delivery.
    before_receives = exact and queue.receivers.latest_at < due.earliest
    arrived = evolve(
        uncertain,
        certain=certain,
        # Its place among messages sent at the same moment is open, so it needs no place in a line.
        line=line if certain and exact else None,
        since=queue.receivers.count if before_receives else waiting.since,
        arrived=Window(due.earliest, NEVER),
        came="SCHED-14" if waiting.past else "SCHED-02",
        scheduled_number=waiting.number,
        through=waiting.through | queue.outages.down,
        overtaken=line is not None and queue.calendar.lines.get(line, -1) >= waiting.before,
        # It became active later than its time to live after its scheduling, and still was not
        # expired.
        shows=rules_if((due.earliest - waiting.scheduled_at > life + slack, "TTL-12")),
    )
    return replace(queue, uncertain, arrived)


def is_awaited(namespace: Namespace, queue: Queue) -> bool:
    """Return whether a message is scheduled and none is due yet."""
    first = top(queue.calendar)
    return first is not None and namespace.now.latest < first.due.earliest


def session_may_come(namespace: Namespace, queue: Queue, session_id: str) -> bool:
    """Return whether a scheduled message of this session may have become active by now."""
    calendar, now = queue.calendar, namespace.now
    earliest = calendar.sessions.get(session_id, NEVER)
    first = top(calendar)
    pending = first is not None and first.due.earliest <= now.latest
    return earliest <= now.latest and (pending or calendar.loose <= now.latest)
