"""Entities as they were, of what is durable of them: all that can be derived is derived anew."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import attrs
from immutables import Map

from busproof.broker.durable import OF_ENTITY, OF_REST
from busproof.broker.wording import read
from busproof.oracle.calendar import EMPTY, NEVER, Calendar, Waiting, entered
from busproof.oracle.deaths import Deaths
from busproof.oracle.entity import Queue
from busproof.oracle.heap import Heap, push
from busproof.oracle.room import Room, least
from busproof.oracle.stored import Stored, Tally
from busproof.oracle.window import Window

__all__ = ["Written", "rebuilt"]

E = TypeVar("E")
K = TypeVar("K", bound=Hashable)


@attrs.frozen
class Written:
    """What is durable of one entity.

    Attributes:
        entity: its text in the namespace's database.
        rest: the newest of the texts in the partitions' databases, if there is any.
        messages: what it holds.
        waiting: what is scheduled.
        pieces: name of a map to its entries.
    """

    entity: str
    rest: str | None = None
    messages: list[Stored] = attrs.field(factory=list)
    waiting: list[Waiting] = attrs.field(factory=list)
    pieces: dict[str, dict[Any, Any]] = attrs.field(factory=dict)


def rebuilt(known: Written, now: int) -> Queue:
    """The entity, as it was at this moment; transactions are rolled back.

    Raises:
        ValueError: nothing was written like this.
    """
    queue = Queue(**dict(zip(OF_ENTITY, read(known.entity), strict=True)))
    free = (_released(stored, now) for stored in known.messages)
    messages = sorted(free, key=lambda stored: stored.number)
    pieces: dict[str, Any] = {name: Map(entries) for name, entries in known.pieces.items()}
    lines = pieces.pop("calendar.lines", Map())
    queue = attrs.evolve(
        _with_rest(queue, known.rest),
        messages=Map({stored.number: stored for stored in messages}),
        calendar=_calendar(known.waiting, lines),
        **pieces,
    )
    queue = _with_rest(queue, known.rest)
    newest = messages[-1].number + 1 if messages else 0
    queue = attrs.evolve(queue, arrivals=max(queue.arrivals, newest))
    return _indexed(_holding(queue, messages), messages)


def _released(stored: Stored, now: int) -> Stored:
    """The message, whose settlement in a transaction never was; see `oracle/enlisting.py`."""
    lock = stored.lock
    if lock is None or lock.pledge is None:
        return stored
    until = lock.pledge.until
    if lock.pledge.reading != "ends":
        until = Window(until.earliest, max(until.latest, now))
    freed = attrs.evolve(lock, pledge=None, expiry=until, spared=True)
    return attrs.evolve(stored, lock=freed)


def _with_rest(queue: Queue, rest: str | None) -> Queue:
    """The entity with what was written beside what it holds."""
    if rest is None:
        return queue
    inner: dict[str, dict[str, Any]] = {}
    for name, value in zip(OF_REST, read(rest), strict=True):
        within, _, field = name.rpartition(".")
        inner.setdefault(within, {})[field] = value
    own = inner.pop("", {})
    for name, fields in inner.items():
        own[name] = attrs.evolve(getattr(queue, name), **fields)
    return attrs.evolve(queue, **own)


def _calendar(waiting: Iterable[Waiting], lines: Map[tuple[str, str], int]) -> Calendar:
    calendar: Calendar = attrs.evolve(EMPTY)
    for each in sorted(waiting, key=lambda one: one.place):
        calendar = entered(calendar, each, None)
    return attrs.evolve(calendar, lines=lines)


def _holding(queue: Queue, messages: list[Stored]) -> Queue:
    """The entity whose session locks say again which messages are held by them."""
    taken: dict[str, dict[int, None]] = {}
    for stored in messages:
        if stored.lock is not None and stored.lock.session_id is not None:
            taken.setdefault(stored.lock.session_id, {})[stored.number] = None
    sessions = queue.sessions
    for session_id, numbers in taken.items():
        if (held := sessions.get(session_id)) is not None:
            sessions = sessions.set(session_id, attrs.evolve(held, taken=Map(numbers)))
    return attrs.evolve(queue, sessions=sessions)


def _indexed(queue: Queue, messages: list[Stored]) -> Queue:
    available = [stored for stored in messages if stored.available]
    locked = [stored for stored in messages if stored.lock is not None]
    certain = [stored for stored in messages if stored.certain]
    members: dict[str, int] = {}
    if queue.settings.requires_session:
        for stored in messages:
            if (session_id := stored.message.session_id) is not None:
                members[session_id] = members.get(session_id, 0) + 1
    told = [
        (number, stored) for stored in messages if (number := stored.sequence_number) is not None
    ]
    in_line = [stored for stored in available if stored.line is not None]
    timers: Heap[tuple[int, int, str]] = None
    for stored in locked:
        if stored.lock is not None:
            timers = push(timers, (stored.lock.expiry.latest, stored.number, stored.lock.token))
    return attrs.evolve(
        queue,
        bodies=_numbers_of_bodies(messages),
        ready=_heaps(available, lambda stored: stored.where),
        lines=_heaps(in_line, _line),
        tallies=_tallies(queue, available),
        locks=Map({each.lock.token: each.number for each in locked if each.lock}),
        timers=timers,
        members=Map(members),
        numbers=Map({number: each.number for number, each in told}),
        deferred=Map({number: each.number for number, each in told if each.deferred}),
        fronts=_heaps(certain, lambda stored: stored.where),
        deaths=_deaths(queue.deaths, messages),
        room=_room(queue.room, certain),
    )


def _line(stored: Stored) -> Any:
    return stored.line


def _numbers_of_bodies(messages: Iterable[Stored]) -> Map[str, tuple[int, ...]]:
    numbers: dict[str, tuple[int, ...]] = {}
    for stored in messages:
        body = stored.message.body
        numbers[body] = (*numbers.get(body, ()), stored.number)
    return Map(numbers)


def _heaps(messages: Iterable[Stored], group: Callable[[Stored], K]) -> Map[K, Heap[int]]:
    """For each group the arrival numbers of its messages, which come in their order."""
    numbers: dict[K, list[int]] = {}
    for stored in messages:
        numbers.setdefault(group(stored), []).append(stored.number)
    return Map({name: _heap(each) for name, each in numbers.items()})


def _heap(ascending: list[E]) -> Heap[E]:
    """A heap of entries that come in their order: each node has the next one beneath it."""
    heap: Heap[E] = None
    for entry in reversed(ascending):
        heap = (1, entry, heap, None)
    return heap


def _tallies(queue: Queue, available: Iterable[Stored]) -> Map[int, Tally]:
    receivers, found = queue.receivers, dict[int, list[int]]()
    for stored in available:
        counts = found.setdefault(stored.where, [0, 0, 0])
        counts[0] += 1
        counts[1] += stored.since >= receivers.switched
        counts[2] += stored.since == receivers.count
    return Map(
        {
            where: Tally(total, fresh, receivers.switched, newest, receivers.count)
            for where, (total, fresh, newest) in found.items()
        }
    )


def _deaths(deaths: Deaths, messages: Iterable[Stored]) -> Deaths:
    """Who dies when; what had been looked at is looked at once more."""
    ahead, left = list[tuple[int, int]](), list[int]()
    for stored in messages:
        if stored.gone:
            left.append(stored.number)
        elif stored.dies is not None and stored.dies.earliest < NEVER:
            ahead.append((stored.dies.earliest, stored.number))
    return attrs.evolve(deaths, ahead=_heap(sorted(ahead)), due=None, left=_heap(left))


def _room(room: Room, certain: Iterable[Stored]) -> Room:
    held, apart, keys = dict[int, int](), dict[int, int](), dict[Any, int]()
    mortal = 0
    for stored in certain:
        if not (size := least(stored.message)):
            continue
        _add(held, stored.where, size)
        if stored.lock is not None or stored.deferred:
            _add(apart, stored.where, size)
        if stored.key is not None:
            _add(keys, stored.key, size)
        mortal += 0 if stored.message.time_to_live is None else size
    return attrs.evolve(room, held=Map(held), apart=Map(apart), keys=Map(keys), mortal=mortal)


def _add(sums: dict[K, int], name: K, size: int) -> None:
    sums[name] = sums.get(name, 0) + size
