"""Peeks: browsing messages without locking them."""

from collections.abc import Iterator
from heapq import nsmallest

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.messages import peek_start
from busproof.oracle.messages.matching import Seen, is_unchanged, recognised, seen_as, view_of
from busproof.oracle.messages.message_store import replace
from busproof.oracle.messages.sequence_numbers import misnumbered, numbered, why_numbered
from busproof.oracle.messages.spontaneous_arrivals import arrivals
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Stored
from busproof.oracle.schedule import Waiting
from busproof.oracle.state import Namespace, Queue, with_queue
from busproof.oracle.transition import Observation, Transition, refusal


def peek(namespace: Namespace, command: v.Peek, seen: Observation) -> Iterator[Transition]:
    """LIFE-07: show existing messages, those of a partition in order of sequence number."""
    queue = namespace.queues[command.queue]
    if isinstance(seen.outcome, v.Peeked):
        queue = peek_start.settled_fronts(queue)
        if seen.outcome.messages or not peek_start.shows_too_little(namespace, queue, command):
            yield from _shown(namespace, queue, command, seen.outcome)
    elif seen.outcome is None:
        yield from _offered(namespace, queue, command)
    if queue.outages.any and not peek_start.is_served_in_outage(namespace, queue):
        yield refusal(namespace, v.Error.UNAVAILABLE, "LIFE-11", any_error=True)
    elif namespace.reading("LIBRARIES") == "bus":
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def _shown(
    namespace: Namespace, queue: Queue, command: v.Peek, outcome: v.Peeked
) -> Iterator[Transition]:
    views = outcome.messages
    if len(views) > command.count or not in_order(namespace, queue, views):
        return
    rules: tuple[v.RuleId, ...] = ("LIFE-07",) if views else ()
    if views and command.session_id is not None and len(queue.members) > 1:
        rules = ("SESS-23", *rules)
    if views and peek_start.is_served_in_outage(namespace, queue):
        rules = ("PART-29", *rules)
    used: set[int] = set()
    shown: list[Stored] = []
    for view in views:
        if peek_start.continues_wrongly(namespace, command, view):
            return
        namespace = with_queue(namespace, queue)
        if (place := _waiting(namespace, queue, command, view, used)) is not None:
            used.add(-1 - place)
            rules = ("SCHED-08", *rules)
            continue
        found = _found(namespace, queue, view, used)
        if found is None or not _is_asked_for(command, found[1].stored):
            return
        namespace, seen = found
        first = not used
        if peek_start.shows_what_is_down(namespace, seen.queue, seen.where):
            return
        if first and peek_start.begins_wrongly(
            namespace, seen.queue, command, seen.stored, seen.where
        ):
            return
        used.add(seen.stored.number)
        queue = _known_better(seen.queue, seen.stored, seen.where, view)
        shown.append(queue.messages[seen.stored.number])
        rules = (*seen.rules, *(("DEFER-09",) if seen.stored.deferred else ()), *rules)
        rules = (*rules, *why_numbered(seen.queue, seen.stored, view))
    if queue.deaths.shown:
        rules = ("TTL-09", *rules)
    rules = (*peek_start.why_begun(namespace, queue, command, tuple(shown)), *rules)
    if not queue.peeked:
        queue = evolve(queue, peeked=True)
    yield Transition(
        outcome=outcome, next=with_queue(namespace, queue), rules=tuple(dict.fromkeys(rules))
    )


def _is_asked_for(command: v.Peek, stored: Stored) -> bool:
    return command.session_id in (None, stored.message.session_id)


def _found(
    namespace: Namespace, queue: Queue, view: v.MessageView, used: set[int]
) -> tuple[Namespace, Seen] | None:
    """Return a message that this view may show, and the namespace in which it does."""
    observation = Observation()
    # A message shown as scheduled still has its scheduling number.
    placed = view.state is not v.MessageState.SCHEDULED
    told = view if placed else evolve(view, sequence_number=None)
    for seen in recognised(namespace, queue, told, observation):
        fits = seen.stored.number not in used and _state_fits(seen.stored, view)
        if fits and _is_its_number(namespace, seen, view):
            return namespace, seen
    for after, letter in arrivals(namespace, queue, view.body):
        arrived = after.queues[queue.settings.queue]
        for seen in seen_as(after, arrived, letter, view, observation):
            if _state_fits(letter, view):
                return after, seen
    return None


def _is_its_number(namespace: Namespace, seen: Seen, view: v.MessageView) -> bool:
    """Return whether the number fits; a due message shown as scheduled still has its old one."""
    late = _is_late(seen.stored, view)
    return late or misnumbered(namespace, seen.queue, seen.stored, view) is None


def _waiting(
    namespace: Namespace, queue: Queue, command: v.Peek, view: v.MessageView, used: set[int]
) -> int | None:
    """SCHED-08: return the place of a scheduled message that this view may show."""
    calendar = queue.calendar
    if view.state not in (None, v.MessageState.SCHEDULED):
        return None
    for place in calendar.bodies.get(view.body, ()):
        waiting = calendar.entries.get(place)
        if waiting is None or -1 - place in used:
            continue
        session_id = waiting.message.session_id
        asked_for = command.session_id in (None, session_id)
        if asked_for and is_unchanged(namespace, _as_stored(waiting), view):
            return place
    return None


def _as_stored(waiting: Waiting) -> Stored:
    return Stored(
        number=0,
        message=waiting.message,
        key=None,
        line=None,
        where=0,
        certain=False,
        since=0,
        available_at=0,
    )


def _is_late(stored: Stored, view: v.MessageView) -> bool:
    """Return whether a message that is due is still shown as scheduled."""
    if stored.came is None or stored.deliveries or stored.sequence_number is not None:
        return False
    same_number = view.sequence_number in (None, stored.scheduled_number)
    return view.state is v.MessageState.SCHEDULED or (view.state is None and same_number)


def _state_fits(stored: Stored, view: v.MessageView) -> bool:
    """DEFER-09: return whether the state in a peek, if any, is the message's."""
    if stored.deferred is None or _is_late(stored, view):
        return True
    return view.state is None or view.state is state_of(stored)


def state_of(stored: Stored) -> v.MessageState:
    """Return the state of the message that a peek shows."""
    return v.MessageState.DEFERRED if stored.deferred else v.MessageState.ACTIVE


def in_order(namespace: Namespace, queue: Queue, views: tuple[v.MessageView, ...]) -> bool:
    """Return whether the sequence numbers of each partition, where known, rise."""
    if queue.settings.partitioned and not namespace.profile.numbers_name_partitions:
        return True
    latest: dict[int, int] = {}
    for view in views:
        number = view.sequence_number
        if number is None or view.state is v.MessageState.SCHEDULED:
            continue
        if number <= latest.get(number >> v.SEQUENCE_BITS, -1):
            return False
        latest[number >> v.SEQUENCE_BITS] = number
    return True


def _known_better(queue: Queue, stored: Stored, where: Partitions, view: v.MessageView) -> Queue:
    number = view.sequence_number
    if _is_late(stored, view):
        return queue
    if where == stored.where and number in (None, stored.sequence_number):
        return queue
    better = evolve(stored, where=where, sequence_number=number or stored.sequence_number)
    queue = replace(queue, stored, better)
    return evolve(queue, **numbered(queue, stored, number))


def _offered(namespace: Namespace, queue: Queue, command: v.Peek) -> Iterator[Transition]:
    """Return what can be shown as far as is known: the oldest of any one partition."""
    partitions: dict[Partitions, list[int]] = {}
    for number, stored in queue.messages.items():
        if not _is_asked_for(command, stored):
            continue
        # Expired messages are shown until the next receive removes them (TTL-09).
        shown = stored.certain or stored.gone
        if shown and not queue.outages.may_hit(stored.where):
            partitions.setdefault(stored.where, []).append(number)
    if command.from_sequence_number is not None:
        yield _offered_from(namespace, queue, command, partitions)
        return
    later = [] if queue.outages.any else _later(queue, command)
    answering = sorted(partitions)
    if peek_start.is_like_regular(namespace):
        answering = sorted(partitions, key=lambda where: min(partitions[where]))[:1]
    for where in answering:
        numbers = nsmallest(command.count, partitions[where])
        there = (_browsed(queue.messages[number]) for number in numbers)
        views = (*there, *later)[: command.count]
        yield Transition(
            outcome=v.Peeked(messages=views),
            next=namespace,
            rules=("LIFE-07",),
        )
    if not partitions:
        views = tuple(later[: command.count])
        yield Transition(outcome=v.Peeked(messages=views), next=namespace)


def _offered_from(
    namespace: Namespace, queue: Queue, command: v.Peek, partitions: dict[Partitions, list[int]]
) -> Transition:
    """PART-20: return what can be shown from a number on, of any partition."""
    there = (queue.messages[number] for each in partitions.values() for number in each)
    views = [*map(_browsed, there), *_later(queue, command)]
    start = command.from_sequence_number or 0
    behind = [(view.sequence_number, view) for view in views if view.sequence_number is not None]
    shown = nsmallest(command.count, (each for each in behind if each[0] >= start), key=_first)
    return Transition(
        outcome=v.Peeked(messages=tuple(view for _, view in shown)),
        next=namespace,
        rules=("PART-20", "LIFE-07"),
    )


def _first(numbered: tuple[int, v.MessageView]) -> int:
    return numbered[0]


def _later(queue: Queue, command: v.Peek) -> list[v.MessageView]:
    """Return all scheduled messages, whatever their partition."""
    entries = sorted(queue.calendar.entries.items())
    asked = (waiting for _, waiting in entries if waiting.certain)
    return [
        evolve(
            view_of(_as_stored(waiting)),
            sequence_number=waiting.number,
            state=v.MessageState.SCHEDULED,
        )
        for waiting in asked
        if command.session_id in (None, waiting.message.session_id)
    ]


def _browsed(stored: Stored) -> v.MessageView:
    return evolve(view_of(stored), state=state_of(stored))
