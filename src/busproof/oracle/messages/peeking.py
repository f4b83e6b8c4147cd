"""Peeks: browsing messages without locking them."""

import itertools
from collections.abc import Sequence

from busproof import vocabulary as v
from busproof.oracle.coverage.deliveries import of_number
from busproof.oracle.coverage.peeks import of_peek
from busproof.oracle.evolve import evolve
from busproof.oracle.messages import peek_start
from busproof.oracle.messages.matching import Candidate, is_unchanged, recognised, seen_as, view_of
from busproof.oracle.messages.message_store import replace
from busproof.oracle.messages.sequence_numbers import misnumbered, numbered, seen_number
from busproof.oracle.messages.spontaneous_arrivals import arrivals
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Stored
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue, with_queue
from busproof.oracle.transition import (
    UNOBSERVED,
    Observation,
    Rules,
    Transition,
    Transitions,
    refusal,
)


def peek(namespace: Namespace, command: v.Peek, observed: Observation) -> Transitions:
    """LIFE-07: show existing messages, those of each partition in order of sequence number."""
    queue = namespace.queues[command.queue]
    if isinstance(observed.outcome, v.Peeked):
        queue = peek_start.settled_fronts(queue)
        if observed.outcome.messages or not peek_start.shows_too_little(namespace, queue, command):
            yield from _shown(namespace, queue, command, observed.outcome)
    elif observed.outcome is None:
        yield from _offered(namespace, queue, command)
    if queue.outages.any and not peek_start.is_served_in_outage(namespace, queue):
        yield refusal(namespace, v.Error.UNAVAILABLE, "LIFE-11", any_error=True)
    # A reading applies limits of the older client libraries to the bus: it need not offer peeks.
    elif namespace.reading("LIBRARIES") == "bus":
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)


def _shown(namespace: Namespace, queue: Queue, command: v.Peek, outcome: v.Peeked) -> Transitions:
    views = outcome.messages
    # A peek shows at most the number that was requested (PART-19), and each partition in order.
    if len(views) > command.count or not in_order(namespace, queue, views):
        return
    rules: Rules = ("LIFE-07",) if views else ()
    # Where only one session has messages, a peek of it shows nothing about others.
    if views and command.session_id is not None and len(queue.members) > 1:
        rules = ("SESS-23", *rules)
    if views and peek_start.is_served_in_outage(namespace, queue):
        rules = ("PART-29", *rules)
    used: set[int] = set()
    shown: list[Stored] = []
    for view in views:
        # A message before the requested number was not asked for (PART-20).
        if peek_start.continues_wrongly(namespace, command, view):
            return
        namespace = with_queue(namespace, queue)
        if (place := _waiting(namespace, queue, command, view, used)) is not None:
            # `used` has arrival numbers of stored messages, and negative numbers for scheduled
            # ones.
            used.add(-1 - place)
            rules = ("SCHED-08", *rules)
            continue
        candidate = _found(namespace, queue, view, used)
        if candidate is None or not _is_asked_for(command, candidate.stored):
            return
        namespace, stored = candidate.namespace, candidate.stored
        if peek_start.shows_what_is_down(namespace, candidate.queue, candidate.where):
            return
        # Only the first message shows where the peek begins.
        if not used and peek_start.begins_wrongly(candidate, command):
            return
        used.add(stored.number)
        queue = _known_better(candidate)
        shown.append(queue.messages[stored.number])
        rules = (
            *candidate.rules,
            *rules_if((stored.deferred, "DEFER-09")),
            *rules,
            *of_number(candidate),
        )
    if not _are_in_order(shown):
        return
    # TTL-09 permits to show an expired message and to leave it out, so any peek after an expiry
    # exercises it.
    if queue.deaths.shown:
        rules = ("TTL-09", *rules)
    rules = (*of_peek(namespace, queue, command, tuple(shown)), *rules)
    queue = queue.asked("peeks")
    yield Transition(
        outcome=outcome, next=with_queue(namespace, queue), rules=tuple(dict.fromkeys(rules))
    )


def _is_asked_for(command: v.Peek, stored: Stored) -> bool:
    return command.session_id in (None, stored.message.session_id)


def _found(
    namespace: Namespace, queue: Queue, view: v.MessageView, used: set[int]
) -> Candidate | None:
    """Return a message in the queue that this view may show, not shown in this answer before."""
    # A view with the state Scheduled has the number from the scheduling, which is not compared.
    scheduled = view.state is v.MessageState.SCHEDULED
    compared = evolve(view, sequence_number=None) if scheduled else view
    for matched in recognised(namespace, queue, compared, UNOBSERVED):
        candidate, fits = evolve(matched, view=view), _state_fits(matched.stored, view)
        # That also applies to a message that is due but shown as scheduled.
        late = fits and _is_late(matched.stored, view)
        if fits and matched.stored.number not in used and (late or misnumbered(candidate) is None):
            return candidate
    # The message may be one that was forwarded here and has not been seen yet.
    for after, letter in arrivals(namespace, queue, view.body):
        if _state_fits(letter, view):
            arrived = after.queues[queue.settings.queue]
            arrival = seen_as(after, arrived, letter, view, UNOBSERVED)
            if arrival is not None:
                return arrival
    return None


def _waiting(
    namespace: Namespace, queue: Queue, command: v.Peek, view: v.MessageView, used: set[int]
) -> int | None:
    """SCHED-08: return the place of a scheduled message that this view may show, if any."""
    calendar = queue.calendar
    # Only a message that is shown as scheduled, or without a state, can be one that is waiting.
    if view.state not in (None, v.MessageState.SCHEDULED):
        return None
    for place in calendar.bodies.get(view.body, ()):
        waiting = calendar.entries.get(place)
        if waiting is None or -1 - place in used:
            continue
        session_id = waiting.message.session_id
        asked_for = command.session_id in (None, session_id)
        if asked_for and is_unchanged(namespace, Stored(number=0, message=waiting.message), view):
            return place
    return None


def _is_late(stored: Stored, view: v.MessageView) -> bool:
    """Return whether the view shows a message as scheduled although it is due."""
    if stored.came is None or stored.deliveries or stored.sequence_number is not None:
        return False
    same_number = view.sequence_number in (None, stored.scheduled_number)
    return view.state is v.MessageState.SCHEDULED or (view.state is None and same_number)


def _state_fits(stored: Stored, view: v.MessageView) -> bool:
    """DEFER-09: return whether the state in a view, if it has one, is the message's."""
    # It is not known whether an unanswered request deferred it.
    if stored.deferred is None or _is_late(stored, view):
        return True
    return view.state is None or view.state is state_of(stored)


def state_of(stored: Stored) -> v.MessageState:
    """Return the state that a peek shows for the message: deferred or active."""
    return v.MessageState.DEFERRED if stored.deferred else v.MessageState.ACTIVE


def in_order(namespace: Namespace, queue: Queue, views: tuple[v.MessageView, ...]) -> bool:
    """Return whether the sequence numbers of each partition rise, as far as they are known."""
    # Numbers have an order within a partition only, and these do not show their partitions.
    if queue.settings.partitioned and not namespace.profile.numbers_name_partitions:
        return True
    latest: dict[int, int] = {}
    for view in views:
        number = view.sequence_number
        # The number from a scheduling is unrelated to the numbers of active messages.
        if number is None or view.state is v.MessageState.SCHEDULED:
            continue
        if number <= latest.get(number >> v.SEQUENCE_BITS, -1):
            return False
        latest[number >> v.SEQUENCE_BITS] = number
    return True


def _are_in_order(shown: Sequence[Stored]) -> bool:
    """LIFE-07: return whether numbers rise within each partition, as far as it is known.

    Witnesses tell partitions also where numbers do not (SEQUENCE-EXPOSES).
    """
    latest: dict[Partitions, int] = {}
    for stored in shown:
        number = stored.sequence_number
        if number is None or stored.where.bit_count() > 1:
            continue
        if number <= latest.get(stored.where, -1):
            return False
        latest[stored.where] = number
    return True


def _known_better(candidate: Candidate) -> Queue:
    queue, stored, where = candidate.queue, candidate.stored, candidate.where
    number = candidate.view.sequence_number
    # The number in the view is still the one from its scheduling, and says nothing about now.
    if _is_late(stored, candidate.view):
        return queue
    if where == stored.where and number in (None, stored.sequence_number):
        return queue
    better = evolve(stored, where=where, sequence_number=seen_number(candidate.view, stored))
    return evolve(replace(queue, stored, better), **numbered(queue, stored, number))


def _offered(namespace: Namespace, queue: Queue, command: v.Peek) -> Transitions:
    """Yield the answers that must be possible: the oldest messages of one partition.

    PART-20: a peek from a number on shows the next messages of all partitions.
    """
    shown: dict[Partitions, list[v.MessageView]] = {}
    for _, stored in sorted(queue.messages.items()):
        # Expired messages are shown until a receive removes them (TTL-09).
        there = stored.certain or stored.gone
        if there and _is_asked_for(command, stored) and not queue.outages.may_hit(stored.where):
            view = evolve(view_of(stored), state=state_of(stored))
            shown.setdefault(stored.where, []).append(view)
    later = _later(queue, command)
    rules: Rules = ("LIFE-07",) if shown else ()
    if (start := command.from_sequence_number) is not None:
        every = (*itertools.chain.from_iterable(shown.values()), *later)
        behind = [view for view in every if _number(view) >= start]
        answers, rules = [sorted(behind, key=_number)], ("PART-20", "LIFE-07")
    else:
        answering = list(shown)[:1] if peek_start.is_like_regular(namespace) else sorted(shown)
        # In an outage a scheduled message may be in a partition that is down.
        later = [] if queue.outages.any else later
        answers = [[*shown[where], *later] for where in answering] or [later]
    for views in answers:
        outcome = v.Peeked(messages=tuple(views[: command.count]))
        yield Transition(outcome=outcome, next=namespace, rules=rules)


def _number(view: v.MessageView) -> int:
    return -1 if view.sequence_number is None else view.sequence_number


def _later(queue: Queue, command: v.Peek) -> list[v.MessageView]:
    """Return the views of all scheduled messages that the peek may show."""
    entries = sorted(queue.calendar.entries.items())
    certain = (waiting for _, waiting in entries if waiting.certain)
    return [
        evolve(
            view_of(Stored(number=0, message=waiting.message)),
            sequence_number=waiting.number,
            state=v.MessageState.SCHEDULED,
        )
        for waiting in certain
        if command.session_id in (None, waiting.message.session_id)
    ]
