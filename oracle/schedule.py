"""Scheduled messages that are not due, as far as is known."""

from typing import Any, Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.heap import Heap, push, settled, smallest
from busproof.oracle.window import Window

NEVER: int = 2**62
"""A time after every other one."""


@attrs.frozen(kw_only=True)
class Waiting:
    """A scheduled message.

    Attributes:
        place: its position in the order of scheduling.
        message: the sent message.
        due: when it becomes active at the earliest, and at the latest without delays.
        certain: whether it surely exists.
        number: the sequence number that cancels it, if known.
        past: whether its time had passed when it was scheduled.
        before: how many messages the queue had stored.
        through: the partitions that were down then, as a bit mask.
        rivals: the entries of duplicate detection with its MessageId, including its own.
        scheduled_at: when it was scheduled, at the latest.
        since: how many receives there had been by then.
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
    """The scheduled messages of a queue.

    Attributes:
        scheduled: how many there ever were.
        entries: place to message.
        due: (latest, place) of those that are due at a known time.
        bodies: body to the places that had it.
        numbers: sequence number to place, of all that ever had one.
        sessions: session id to the earliest time at which a message of it is due.
        lines: key of a scheduled message to the arrival number of the latest other message.
        loose: the earliest time at which an unanswered scheduled message may arrive.
        cancelled: the earliest time at which a cancelled message would have arrived.
        doubted: numbers whose cancellation was answered before their transaction ended.
        size: the least bytes that certain messages use.
        mortal: how many of these bytes belong to messages with a time to live.
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
"""No message is scheduled, and none ever was."""


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
    """Return the changes of the bytes that certain messages use."""
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
    """Return the calendar in which a message may be gone."""
    # Its entry stays: it may still arrive, and its number may be cancelled again.
    entries = calendar.entries.set(waiting.place, evolve(waiting, certain=False))
    return evolve(calendar, entries=entries, **_weighed(calendar, waiting, -1))


def withdrawn(calendar: Calendar, waiting: Waiting) -> Calendar:
    """Return the calendar without a message that was cancelled in time."""
    cancelled = min(calendar.cancelled, waiting.due.latest)
    return evolve(removed(calendar, waiting), cancelled=cancelled)


def top(calendar: Calendar) -> Waiting | None:
    """Return the message due first among those due at a known time; O(1)."""
    first = smallest(calendar.due)
    return None if first is None else calendar.entries[first[1]]
