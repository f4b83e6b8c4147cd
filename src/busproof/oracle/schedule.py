"""Scheduled messages that are not active yet, as far as is known."""

from typing import Any, Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.heap import Heap, push, settled, smallest
from busproof.oracle.window import Window

NEVER: int = 2**62
"""A moment after all others, in microseconds."""


@attrs.frozen(kw_only=True)
class Waiting:
    """A scheduled message that is not active yet.

    Attributes:
        place: its position in the order in which messages were scheduled.
        message: the sent message.
        due: when it becomes active: the earliest moment, and the latest one if nothing delays it.
        certain: whether it surely exists.
        number: the sequence number that cancels it, if known.
        past: whether its time had already passed when it was scheduled.
        before: how many messages the queue had stored by then.
        through: the partitions that were down then, as a bit mask.
        rivals: the sends with its MessageId that duplicate detection remembers, including its own.
        scheduled_at: the latest moment at which it may have been scheduled.
        since: how many receives the queue had seen by then.
    """

    place: int
    message: v.Message
    due: Window
    certain: bool
    number: int | None = None
    past: bool = False
    before: int = 0
    through: int = 0
    rivals: object = None
    scheduled_at: int = 0
    since: int = 0


@attrs.frozen(kw_only=True)
class Calendar:
    """The scheduled messages of a queue, with indexes.

    Attributes:
        scheduled: how many messages were ever scheduled.
        entries: place to message.
        due: (latest moment, place) of the messages that are due at a known time, soonest first.
        bodies: body to the places of the messages with it.
        numbers: sequence number to place, for all messages that ever had one.
        sessions: session id to the earliest time at which a message of the session is due.
        lines: key of a scheduled message to the arrival number of the latest ordinary message with
            it.
        loose: the earliest time at which a message may arrive whose scheduling was not answered.
        cancelled: the earliest time at which a cancelled message would have arrived.
        doubted: sequence numbers whose cancellation was answered while their transaction was
            running.
        size: the least number of bytes that the messages surely use.
        mortal: how many of these bytes are of messages with a time to live.
    """

    scheduled: int = 0
    entries: Map[int, Waiting] = Map()
    due: Heap[tuple[int, int]] = None
    bodies: Map[str, tuple[int, ...]] = Map()
    numbers: Map[int, int] = Map()
    sessions: Map[str, int] = Map()
    lines: Map[tuple[str, str], int] = Map()
    loose: int = NEVER
    cancelled: int = NEVER
    doubted: frozenset[int] = frozenset()
    size: int = 0
    mortal: int = 0


EMPTY: Final = Calendar()
"""A calendar without messages, now and ever before."""


def entered(calendar: Calendar, waiting: Waiting, line: tuple[str, str] | None) -> Calendar:
    """Return the calendar with one more message; O(log n)."""
    place, body = waiting.place, waiting.message.body
    changes: dict[str, Any] = {"lines": calendar.lines if line is None else _line(calendar, line)}
    # A message that may arrive at any time is never surely due, so no timer waits for it.
    if waiting.due.latest < NEVER:
        changes["due"] = push(calendar.due, (waiting.due.latest, place))
    else:
        changes["loose"] = min(calendar.loose, waiting.due.earliest)
    if waiting.number is not None:
        changes["numbers"] = calendar.numbers.set(waiting.number, place)
    session_id = waiting.message.session_id
    if session_id is not None:
        earliest = min(calendar.sessions.get(session_id, NEVER), waiting.due.earliest)
        changes["sessions"] = calendar.sessions.set(session_id, earliest)
    return evolve(
        calendar,
        scheduled=max(calendar.scheduled, place + 1),
        entries=calendar.entries.set(place, waiting),
        bodies=calendar.bodies.set(body, (*calendar.bodies.get(body, ()), place)),
        **_weighed(calendar, waiting, 1),
        **changes,
    )


def _weighed(calendar: Calendar, waiting: Waiting, sign: int) -> dict[str, Any]:
    """Return the changes of `size` and `mortal` when a message is added (1) or removed (-1)."""
    size = sign * (waiting.message.size or 0) * waiting.certain
    if not size:
        return {}
    mortal = 0 if waiting.message.time_to_live is None else size
    return {"size": calendar.size + size, "mortal": calendar.mortal + mortal}


def _line(calendar: Calendar, line: tuple[str, str]) -> Map[tuple[str, str], int]:
    return calendar.lines.set(line, calendar.lines.get(line, -1))


def removed(calendar: Calendar, waiting: Waiting) -> Calendar:
    """Return the calendar without a message that has arrived or never will; O(log n) amortized."""
    entries = calendar.entries.delete(waiting.place)
    due = settled(calendar.due, lambda entry: entry[1] in entries)
    return evolve(calendar, entries=entries, due=due, **_weighed(calendar, waiting, -1))


def perhaps_gone(calendar: Calendar, waiting: Waiting) -> Calendar:
    """Return the calendar in which a message may have been cancelled, or not."""
    # Its entry stays: it may still arrive, and its number may be cancelled again.
    entries = calendar.entries.set(waiting.place, evolve(waiting, certain=False))
    return evolve(calendar, entries=entries, **_weighed(calendar, waiting, -1))


def withdrawn(calendar: Calendar, waiting: Waiting) -> Calendar:
    """Return the calendar without a message that was surely cancelled before it was due."""
    cancelled = min(calendar.cancelled, waiting.due.latest)
    return evolve(removed(calendar, waiting), cancelled=cancelled)


def top(calendar: Calendar) -> Waiting | None:
    """Return the message that is due first, among those due at a known time; O(1)."""
    first = smallest(calendar.due)
    return None if first is None else calendar.entries[first[1]]
