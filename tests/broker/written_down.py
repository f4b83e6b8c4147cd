"""What a namespace is, whatever it was made of: what has to be the same once it was read again."""

from collections.abc import Callable, Iterator
from typing import Any

import attrs

from busproof.broker.durable import OF_ENTITY, OF_REST, field_of
from busproof.oracle.state import Namespace, Queue, Subscription

__all__ = ["differences", "looked_at", "namespace_told", "queue_told"]


def differences(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """Where two things that were told differ, and how."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before.keys() | after.keys():
            inner = before.get(name), after.get(name)
            yield from differences(*inner, f"{place} / {name}")
    elif before != after:
        yield f"{place}: {before} became {after}"


def namespace_told(namespace: Namespace) -> dict[str, Any]:
    """Each entity, and what there is besides."""
    told = {path: queue_told(each) for path, each in namespace.queues.items()}
    registry = namespace.registry
    return told | {
        "now": namespace.now,
        "forwarding": dict(namespace.forwarding.items()),
        # Whether there ever were many only tells which rule a creation shows.
        "census": attrs.evolve(namespace.census, crowded=False),
        "registry": (registry.creations, registry.outages, registry.refused, registry.dark),
    }


def queue_told(queue: Queue) -> dict[str, Any]:
    """All of an entity that has a bearing on what it does; entries that count for nothing are out.

    It is told from the queue's own indices, never from its messages.
    """
    told: dict[str, Any] = {name: field_of(queue, name) for name in OF_REST}
    told |= {name: getattr(queue, name) for name in OF_ENTITY if name not in ("role", "managed")}
    told["role"] = _role(queue)
    told["managed"] = {
        name: getattr(queue.managed, name)
        for name in ("lock_durations", "delivery_counts", "lifetimes", "tried", "born", "restored")
    }
    told |= {name: dict(getattr(queue, name).items()) for name in ("messages", "homes", "copies")}
    told |= {name: dict(getattr(queue, name).items()) for name in ("states", "members", "locks")}
    told["entries"] = dict(queue.calendar.entries.items())
    told["calendar lines"] = dict(queue.calendar.lines.items())
    told |= {"sessions": _sessions(queue), "calendar": _calendar(queue)}
    told |= _indices(queue) | _heaps(queue) | _sums(queue)
    return told


def _role(queue: Queue) -> Any:
    role = queue.role
    if isinstance(role, Subscription):
        return (role.topic, role.late, dict(role.rules.items()), role.revision, role.kept_by)
    return role


def _sessions(queue: Queue) -> dict[str, Any]:
    return {
        session_id: (
            *(held.connection, held.expiry, held.since, held.doubtful, held.renewed),
            [number for number in sorted(held.taken) if _is_locked_in(queue, number, session_id)],
        )
        for session_id, held in queue.sessions.items()
    }


def _is_locked_in(queue: Queue, number: int, session_id: str) -> bool:
    stored = queue.messages.get(number)
    lock = None if stored is None else stored.lock
    return lock is not None and lock.session_id == session_id


def _calendar(queue: Queue) -> dict[str, Any]:
    calendar = queue.calendar
    there = calendar.entries
    return {
        "bodies": _live(calendar.bodies, there),
        "numbers": {name: place for name, place in calendar.numbers.items() if place in there},
        "due": sorted(each for each in entries_of(calendar.due) if each[1] in there),
        "sizes": {where: size for where, size in calendar.sizes.items() if size},
        "mortal": calendar.mortal,
    }


def _live(numbered: Any, there: Any) -> dict[Any, list[int]]:
    """Name to the numbers that are still there."""
    found = {
        name: [each for each in numbers if each in there]
        for name, numbers in numbered.items()
        if isinstance(numbers, tuple)
    }
    return {name: numbers for name, numbers in found.items() if numbers}


def _indices(queue: Queue) -> dict[str, Any]:
    messages = queue.messages
    set_aside = {number for number, each in messages.items() if each.deferred}
    return {
        "bodies": _live(queue.bodies, messages),
        "numbers": {name: number for name, number in queue.numbers.items() if number in messages},
        "deferred": {
            name: number for name, number in queue.deferred.items() if number in set_aside
        },
    }


def _heaps(queue: Queue) -> dict[str, Any]:
    messages = queue.messages

    def of(heaps: Any, counts: Callable[[Any, Any], bool]) -> dict[Any, list[int]]:
        found = {
            name: sorted(
                {each for each in entries_of(heap) if each in messages and counts(each, name)}
            )
            for name, heap in heaps.items()
        }
        return {name: numbers for name, numbers in found.items() if numbers}

    def is_ready(number: int, where: int) -> bool:
        return messages[number].available and messages[number].where == where

    def is_in_line(number: int, line: Any) -> bool:
        return messages[number].available and messages[number].line == line

    return {
        "ready": of(queue.ready, is_ready),
        "lines": of(queue.lines, is_in_line),
        "timers": sorted({each for each in entries_of(queue.timers) if _runs(queue, each)}),
        "left": sorted(each for each in entries_of(queue.deaths.left) if each in messages),
    }


def looked_at(queue: Queue) -> set[tuple[str, int]]:
    """What a peek is held to, and what dies in its time: a restart may know of more."""
    messages = queue.messages
    fronts = {
        ("front", number)
        for where, heap in queue.fronts.items()
        for number in entries_of(heap)
        if number in messages and messages[number].certain and messages[number].where == where
    }
    return fronts | {("dying", number) for number in _dying(queue)}


def _runs(queue: Queue, timer: tuple[int, int, str]) -> bool:
    latest, number, token = timer
    stored = queue.messages.get(number)
    lock = None if stored is None else stored.lock
    return lock is not None and lock.token == token and lock.expiry.latest == latest


def _dying(queue: Queue) -> set[int]:
    """Those that are free and will be looked at when their time has come."""
    ahead, due = queue.deaths.ahead, queue.deaths.due
    looked_at = {number for heap in (ahead, due) for _, number in entries_of(heap)}
    return {
        number
        for number in looked_at
        if (stored := queue.messages.get(number)) is not None and stored.available and stored.dies
    }


def _sums(queue: Queue) -> dict[str, Any]:
    room, receivers = queue.room, queue.receivers
    tallies = {}
    for where, tally in queue.tallies.items():
        newest = tally.newest if tally.newest_of == receivers.count else 0
        if tally.fresh_of == receivers.switched:
            fresh = tally.fresh
        else:
            fresh = tally.newest if tally.newest_of == receivers.switched else 0
        tallies[where] = (tally.total, fresh, newest)
    sums = {"held": room.held, "apart": room.apart, "keys": room.keys}
    found: dict[str, Any] = {
        name: {key: size for key, size in each.items() if size} for name, each in sums.items()
    }
    found["tallies"] = {where: each for where, each in tallies.items() if any(each)}
    return found | {"mortal": room.mortal}


def entries_of(heap: Any) -> Iterator[Any]:
    """All entries of a heap, in any order."""
    waiting = [heap]
    while waiting:
        node = waiting.pop()
        if node is not None:
            yield node[1]
            waiting += node[2:]
