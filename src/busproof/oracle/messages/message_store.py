"""Message store of a queue: adding, locking, releasing and removing messages, with its indexes."""

from typing import Any, Final

from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.heap import Heap, push, settled, smallest
from busproof.oracle.messages.keys import SESSION_ID
from busproof.oracle.outages import Partitions
from busproof.oracle.packed_map import PackedMap
from busproof.oracle.queued_messages import Key, Lock, Receivers, Stored, Tally
from busproof.oracle.schedule import NEVER
from busproof.oracle.settled_messages import with_packed_past
from busproof.oracle.state import Queue
from busproof.oracle.storage_used import Room, filled, most, moved
from busproof.oracle.window import Window

ENTITY: Final = Key("entity", "")
"""The line of an entity that keeps the order of all its messages (REGULAR-ORDER)."""
_NONE: Final = Tally()


def store(  # noqa: PLR0913 - each is a fact of its own
    queue: Queue,
    message: v.Message,
    key: Key | None,
    where: Partitions,
    now: Window,
    *,
    certain: bool = True,
    shows: tuple[v.RuleId, ...] = (),
    dies: Window | None = None,
    also: dict[str, Any] | None = None,
    **facts: Any,
) -> Queue:
    """Return the queue with one more message at its end.

    An uncertain message need not be given and delays no other. `also` has further changes of the
    queue's fields, `facts` further fields of the message.
    """
    number = queue.arrivals
    # A message that may arrive at any time has no known place, so it is in no line.
    line = line_of(queue, message, key) if certain else None
    stored = Stored(
        number=number,
        message=message,
        key=key,
        line=line,
        where=where,
        certain=certain,
        since=queue.receivers.count,
        available_at=now.earliest,
        shows=shows,
        arrived=now if certain else Window(now.earliest, NEVER),
        dies=dies,
        **facts,
    )
    changes = _available(queue, stored) if stored.available else {}
    changes["room"] = moved(filled(queue.room, where, most(message)), None, stored)
    if certain:
        changes["fronts"] = in_front(queue, where, number)
    # A scheduled message of this line that becomes active later has been overtaken (SCHED-07).
    if line is not None and line in queue.calendar.lines:
        overtaken = evolve(queue.calendar, lines=queue.calendar.lines.set(line, number))
        changes["calendar"] = overtaken
    stored_in = evolve(
        queue,
        arrivals=number + 1,
        messages=queue.messages.set(number, stored),
        bodies=remember(queue, message.body, number),
        members=_members(queue, message, 1),
        deaths=queue.deaths.awaiting(number, dies),
        **changes,
        **(also or {}),
    )
    return with_packed_past(stored_in)


def _members(queue: Queue, message: v.Message, step: int) -> Map[str, int]:
    """Return how many messages each session has, after one was added (1) or removed (-1)."""
    session_id = message.session_id
    if not queue.settings.requires_session or session_id is None:
        return queue.members
    number = queue.members.get(session_id, 0) + step
    if number:
        # A session without messages is left out, so that the belief does not grow with every
        # session.
        return queue.members.set(session_id, number)
    return queue.members.delete(session_id)


def line_of(queue: Queue, message: v.Message, key: Key | None) -> Key | None:
    """Return the key or session whose messages have to stay in order with this one, if any."""
    if queue.in_order:
        return ENTITY
    if queue.settings.requires_session and message.session_id is not None:
        return Key(SESSION_ID, message.session_id)
    return key


def order_rule(queue: Queue) -> v.RuleId:
    """Return the rule that keeps the queue's messages in order."""
    if queue.in_order:
        return "KEY-26"
    return "KEY-06" if queue.settings.requires_session else "KEY-17"


def remember(queue: Queue, body: str, number: int) -> PackedMap[str, tuple[int, ...] | v.RuleId]:
    """Return the bodies with one more arrival number.

    Equal bodies keep the numbers of their messages. Each time there are twice as many, those of
    messages that are gone are left out, so that a queue through which thousands of equal bodies
    pass is judged as fast as any other. The first number stays: it tells that there were others.
    """
    known = queue.bodies.get(body)
    if not isinstance(known, tuple):
        return queue.bodies.set(body, (number,))
    if len(known).bit_count() == 1:
        known = (known[0], *(earlier for earlier in known[1:] if earlier in queue.messages))
    return queue.bodies.set(body, (*known, number))


def never_arrives(queue: Queue, body: str, rule: v.RuleId) -> Queue:
    """Record the rule that keeps a message with this body out, unless the body is known already."""
    if body in queue.bodies:
        return queue
    return evolve(queue, bodies=queue.bodies.set(body, rule))


def in_front(queue: Queue, where: Partitions, number: int) -> Map[Partitions, Heap[int]]:
    """Return the index of messages surely in each set of partitions, with one more message."""
    return queue.fronts.set(where, push(queue.fronts.get(where), number))


def _available(queue: Queue, stored: Stored) -> dict[str, Any]:
    """Return the changes of the queue's fields when a message becomes available."""
    changes: dict[str, Any] = {"tallies": _counted(queue, stored, 1)}
    if stored.line is not None:
        lines = queue.lines
        changes["lines"] = lines.set(stored.line, push(lines.get(stored.line), stored.number))
    return changes


def _counted(queue: Queue, stored: Stored, step: int) -> Map[Partitions, Tally]:
    # Counts are compared with the number of the receive that they belong to, never set to zero: a
    # receive would have to visit every set of partitions.
    receivers = queue.receivers
    tally = queue.tallies.get(stored.where, _NONE)
    fresh, newest = _current(tally, receivers)
    if stored.since >= receivers.switched:
        fresh += step
    if stored.since == receivers.count:
        newest += step
    total = tally.total + step
    counted = Tally(total, fresh, receivers.switched, newest, receivers.count)
    return queue.tallies.set(stored.where, counted)


def _current(tally: Tally, receivers: Receivers) -> tuple[int, int]:
    """Return the valid `fresh` and `newest`; after a change of receivers, only the newest count."""
    newest = tally.newest if tally.newest_of == receivers.count else 0
    if tally.fresh_of == receivers.switched:
        return tally.fresh, newest
    return (tally.newest if tally.newest_of == receivers.switched else 0), newest


def surely_available(queue: Queue, *, cached_elsewhere: bool) -> int:
    """Return how many messages surely are in partitions that are up and in no other cache.

    The next receive can reach all of them.

    Args:
        queue: the queue, after the receiver in question became its latest.
        cached_elsewhere: whether another front end may still have messages in its cache.
    """
    outages, receivers = queue.outages, queue.receivers
    some_down = outages.any
    return sum(
        # Messages that became available since this connection took over are in no other cache.
        _current(tally, receivers)[0] if cached_elsewhere else tally.total
        for where, tally in queue.tallies.items()
        if not (some_down and outages.may_hit(where))
    )


def hold(
    queue: Queue,
    stored: Stored,
    lock: Lock | None,
    where: Partitions,
    *,
    deferred: bool = False,
    **also: Any,
) -> Queue:
    """Return the queue after a receiver took the message, with a lock or (`None`) for good."""
    changes = _unavailable(queue, stored) if stored.available else {}
    if lock is None:
        return evolve(
            queue,
            messages=queue.messages.delete(stored.number),
            members=_members(queue, stored.message, -1),
            room=_room(queue, stored.number, None),
            **{**changes, **also},
        )
    # A message that is delivered while locked shows that its lock has ended. In a session it may
    # have been closed, which does not count.
    again = 0 if stored.lock is None else 1
    surely = again if stored.lock is not None and stored.lock.session_id is None else 0
    if where != stored.where:
        changes["fronts"] = in_front(queue, where, stored.number)
    counted, uncounted = stored.counted + surely, stored.uncounted + again - surely
    if (shown := also.pop("delivery_count", None)) is not None:
        # The count includes this delivery and every earlier one that counts, seen or unseen.
        counted, uncounted = max(counted, shown - 1), 0
    delivered = evolve(
        # The view shows that it is there, whatever made it uncertain.
        stored,
        where=where,
        certain=True,
        deliveries=stored.deliveries + 1,
        counted=counted,
        uncounted=uncounted,
        # The new delivery shows that the earlier lock is over, so an unanswered request to
        # dead-letter under that lock cannot take effect any more.
        leaving=(),
        resisted=False,
        deferred=deferred,
        lock=lock,
        sequence_number=also.pop("sequence_number", stored.sequence_number),
        expected=also.pop("expected", None),
    )
    queue = evolve(
        queue,
        messages=queue.messages.set(stored.number, delivered),
        locks=queue.locks.set(lock.token, stored.number),
        tokens=queue.tokens.set(lock.token, stored.number),
        timers=push(queue.timers, (lock.expiry.latest, stored.number, lock.token)),
        room=_room(queue, stored.number, delivered),
        **{**changes, **also},
    )
    return with_packed_past(queue)


def _unavailable(queue: Queue, stored: Stored) -> dict[str, Any]:
    """Return the changes of the queue's fields when a message becomes unavailable."""
    changes: dict[str, Any] = {"tallies": _counted(queue, stored, -1)}
    if stored.line is None:
        return changes
    lines, line = queue.lines, queue.lines.get(stored.line)
    if (rest := _without(queue, line, stored)) is not line:
        changes["lines"] = (
            lines.delete(stored.line) if rest is None else lines.set(stored.line, rest)
        )
    return changes


def _without(queue: Queue, heap: Heap[int], gone: Stored) -> Heap[int]:
    """Return the heap without the unavailable messages, and `gone`, at its front."""
    return settled(heap, lambda number: number != gone.number and _is_available(queue, number))


def _is_available(queue: Queue, number: int) -> bool:
    stored = queue.messages.get(number)
    return stored is not None and stored.available


def first_in_line(queue: Queue, line: Key) -> Stored | None:
    """Return the oldest available message of a key or session, if any; O(1) amortized."""
    number = smallest(settled(queue.lines.get(line), lambda entry: _is_available(queue, entry)))
    return None if number is None else queue.messages[number]


def replace(queue: Queue, stored: Stored, changed: Stored) -> Queue:
    """Return the queue with `changed` for a message, and its indexes updated."""
    changes: dict[str, Any] = {}
    if stored.available:
        changes = _unavailable(queue, stored)
    queue = evolve(doubted(queue, stored, changed), **changes)
    if changed.available:
        queue = evolve(queue, **_available(queue, changed))
    if changed.certain and changed.where != stored.where:
        fronts = in_front(queue, changed.where, stored.number)
        return evolve(queue, fronts=fronts)
    return queue


def doubted(queue: Queue, stored: Stored, changed: Stored) -> Queue:
    """Return the queue with `changed` for a message that is as available as before.

    The availability indexes stay as they are, which is faster than `replace`.
    """
    messages = queue.messages.set(stored.number, changed)
    return evolve(queue, messages=messages, room=_room(queue, stored.number, changed))


def _room(queue: Queue, number: int, after: Stored | None) -> Room:
    """Return the storage after the message with this number changed or was removed."""
    return moved(queue.room, queue.messages.get(number), after)


def unlock(queue: Queue, stored: Stored, back: Stored) -> Queue:
    """Return the queue in which `back` replaces a locked message, available or uncertain."""
    changes = _available(queue, back) if back.available else {}
    return evolve(
        doubted(queue, stored, back),
        locks=_unlocked(queue, stored),
        # It is examined for expiry again, because its time to live may have passed while it was
        # locked.
        deaths=queue.deaths.awaiting(stored.number, back.dies),
        **changes,
    )


def remove(queue: Queue, stored: Stored, **also: Any) -> Queue:
    """LIFE-03: return the queue without the message; `also` has further changes of its fields."""
    changes = _unavailable(queue, stored) if stored.available else {}
    return evolve(
        queue,
        messages=queue.messages.delete(stored.number),
        members=_members(queue, stored.message, -1),
        room=_room(queue, stored.number, None),
        locks=_unlocked(queue, stored),
        **{**changes, **also},
    )


def _unlocked(queue: Queue, stored: Stored) -> Map[str, int]:
    token = "" if stored.lock is None else stored.lock.token
    return queue.locks.delete(token) if token in queue.locks else queue.locks
