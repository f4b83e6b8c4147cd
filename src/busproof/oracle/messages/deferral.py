"""Receives of deferred messages by sequence number."""

from collections.abc import Iterator
from typing import Any

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.deliveries import count_is_possible
from busproof.oracle.messages.expiry import EXPIRED, has_died, is_mortal, may_have_died
from busproof.oracle.messages.locks import given_lock, lock_is_possible
from busproof.oracle.messages.matching import Candidate, recognised, view_of
from busproof.oracle.messages.message_store import doubted, hold, replace
from busproof.oracle.messages.plausible_deliveries import told_of_lock
from busproof.oracle.messages.sequence_numbers import numbered, seen_number
from busproof.oracle.messages.sessions import holds_session, seized, session_at
from busproof.oracle.queued_messages import Stored
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import NEVER, Namespace, Queue, with_queue
from busproof.oracle.transition import Observation, Rules, Transition, Transitions, refusal


def receive_deferred(
    namespace: Namespace, command: v.ReceiveDeferred, connection: str, observed: Observation
) -> Transitions:
    """DEFER-02 to DEFER-13: give the messages with these numbers, all of them or none."""
    for answer in _answers(namespace, command, connection, observed):
        yield evolve(answer, next=_asked_for(answer.next, command))


def _asked_for(namespace: Namespace, command: v.ReceiveDeferred) -> Namespace:
    """TTL-10, TTL-11: return the namespace after a receiver asked for messages by their numbers.

    One that has expired may be dead-lettered for that, because it was asked for.
    """
    queue = namespace.queues.get(command.queue)
    if queue is None or not queue.settings.dead_letter_expired:
        return namespace
    for stored in _wanted(queue, command):
        if stored is None or not stored.deferred or EXPIRED in stored.leaving:
            continue
        if may_have_died(namespace, stored):
            left = evolve(stored, certain=False, leaving=(*stored.leaving, EXPIRED))
            queue = replace(queue, stored, left)
    return with_queue(namespace, queue)


def _answers(
    namespace: Namespace, command: v.ReceiveDeferred, connection: str, observed: Observation
) -> Transitions:
    queue = namespace.queues[command.queue]
    if not command.sequence_numbers:
        # Outside the documents: a receive without numbers may return no messages.
        yield refusal(namespace, v.Error.INVALID_OPERATION, any_error=True)
        yield Transition(outcome=v.ReceivedSeveral(), next=namespace)
        return
    # A session's messages are received by their session only, deferred ones included (DEFER-12).
    if queue.settings.requires_session is not (command.session_id is not None):
        yield refusal(namespace, v.Error.INVALID_OPERATION, "DEFER-12", any_error=True)
        return
    if command.session_id is not None:
        holding = holds_session(namespace, queue, command.session_id, connection)
        if holding is not True:
            yield refusal(namespace, v.Error.SESSION_LOCK_LOST, "DEFER-12", any_error=True)
        if holding is False:
            return
        queue = seized(namespace, queue, command.session_id, connection)
    if isinstance(observed.outcome, v.ReceivedSeveral):
        yield from _given(namespace, queue, command, observed.outcome)
    elif observed.outcome is None:
        yield from _offered(namespace, queue, command)
    if (rules := _why_refused(namespace, queue, command)) is not None:
        # The documents name the error only for numbers that no message has.
        named = all(_is_surely_missing(queue, number) for number in command.sequence_numbers)
        # Numbers of several partitions may be refused for that instead (DEFER-10): a conforming bus
        # that did so was accused of DEFER-02.
        apart = len(command.sequence_numbers) > 1 and _spans(namespace, queue, command)
        in_session = command.session_id is not None
        # Its receivers may be refused for the forwarding instead.
        forwards = queue.settings.forward_to is not None
        free = not named or apart or in_session or forwards or queue.outages.any
        yield refusal(namespace, v.Error.MESSAGE_NOT_FOUND, *rules, any_error=free)


def _is_surely_missing(queue: Queue, number: int) -> bool:
    """DEFER-03: return whether surely no message, in any state, has this number.

    A message whose number was not seen may have any. For an active message with this number the
    documents name no error.
    """
    arrived = queue.numbers.get(number)
    if arrived is not None:
        # The number is known, so its message is either there or gone.
        return arrived not in queue.messages
    return not queue.messages and not len(queue.calendar.entries)


def _given(
    namespace: Namespace, queue: Queue, command: v.ReceiveDeferred, outcome: v.ReceivedSeveral
) -> Transitions:
    rules: Rules = ()
    numbers: list[int] = []
    for view in outcome.messages:
        candidate = _found(namespace, queue, command, view, numbers)
        if candidate is None:
            return
        numbers.append(candidate.stored.number)
        rules = (*rules, *_shown(candidate, command))
        queue = _handed_out(candidate, command)
    if not numbers or _left_out(namespace, queue, command, numbers):
        return
    if len(numbers) > 1:
        together = "DEFER-10" if _spans(namespace, queue, command) else "DEFER-11"
        rules = (together, *rules)
    after = with_queue(namespace, queue)
    yield Transition(outcome=outcome, next=after, rules=tuple(dict.fromkeys(rules)))


def _found(
    namespace: Namespace,
    queue: Queue,
    command: v.ReceiveDeferred,
    view: v.MessageView,
    numbers: list[int],
) -> Candidate | None:
    """Return the deferred message that this view may show, if it may be given."""
    if view.sequence_number not in (None, *command.sequence_numbers):
        return None
    for matched in recognised(namespace, queue, view, Observation()):
        candidate = _fresh(matched)
        if candidate.stored.number not in numbers and _may_be_given(candidate, command):
            return candidate
    return None


def _fresh(candidate: Candidate) -> Candidate:
    """Return the message as a receive by its number finds it.

    Such a receive bypasses caches. It ignores a lock that an unanswered deferral may have ended.
    """
    stored = candidate.stored
    changes: dict[str, Any] = {"since": candidate.queue.receivers.count}
    lock = stored.lock
    if lock is not None and (stored.deferred is None or lock.expiry.earliest == -NEVER):
        changes["lock"] = None
    if lock is not None and lock.expiry.earliest == -NEVER:
        # The delivery that ended then may count: an abandon that was not answered, or a second
        # accept of the session, may have ended it.
        changes["uncounted"] = stored.uncounted + 1
    return evolve(candidate, stored=evolve(stored, **changes))


def _may_be_given(candidate: Candidate, command: v.ReceiveDeferred) -> bool:
    """DEFER-02, DEFER-04, DEFER-05, DEFER-12: return whether this message may be given."""
    stored, session_id = candidate.stored, command.session_id
    if stored.deferred is False or stored.spent:
        return False
    # Its number is known and was not named.
    if stored.sequence_number not in (None, *command.sequence_numbers):
        return False
    if session_id is not None and stored.message.session_id != session_id:
        return False
    now = candidate.namespace.now
    if stored.lock is not None and now.latest < stored.lock.expiry.earliest:
        return False
    if not count_is_possible(candidate):
        return False
    unlocked = command.mode is v.ReceiveMode.RECEIVE_AND_DELETE
    return unlocked or lock_is_possible(candidate, session_id)


def _shown(candidate: Candidate, command: v.ReceiveDeferred) -> Rules:
    """Return the rules that giving this message by its number exercises."""
    stored = candidate.stored
    return rules_if(
        (True, "DEFER-02"),
        (has_died(candidate.namespace, stored), "TTL-11"),
        (stored.returned == "DEFER-06" or stored.lock is not None, "DEFER-06"),
        (candidate.view.sequence_number is not None, "DEFER-08"),
        (command.session_id is not None, "DEFER-12"),
        (candidate.queue.recovered & candidate.where, "DEFER-13"),
    )


def _handed_out(candidate: Candidate, command: v.ReceiveDeferred) -> Queue:
    # Without a lock (ReceiveAndDelete) the message is removed at once.
    queue, stored, session_id = candidate.queue, candidate.stored, command.session_id
    number = seen_number(candidate.view, stored)
    also = numbered(queue, stored, number)
    if command.mode is v.ReceiveMode.RECEIVE_AND_DELETE:
        return hold(queue, stored, None, candidate.where, **also)
    lock = given_lock(candidate, session_id)
    also["sequence_number"] = number
    if session_id is not None:
        session = session_at(queue, session_id).with_taken(stored.number)
        also["sessions"] = queue.sessions.set(session_id, session)
    return hold(queue, stored, lock, candidate.where, deferred=True, **also)


def _left_out(
    namespace: Namespace, queue: Queue, command: v.ReceiveDeferred, numbers: list[int]
) -> bool:
    """DEFER-11: return whether the answer lacks a requested message that had to be in it."""
    return any(
        stored is not None
        and stored.number not in numbers
        and _must_be_given(namespace, queue, stored, command)
        for stored in _wanted(queue, command)
    )


def _wanted(queue: Queue, command: v.ReceiveDeferred) -> list[Stored | None]:
    """Return the messages with the requested numbers; `None` for a number that none has."""
    arrived = (queue.numbers.get(number) for number in command.sequence_numbers)
    return [None if number is None else queue.messages.get(number) for number in arrived]


def _must_be_given(
    namespace: Namespace, queue: Queue, stored: Stored, command: v.ReceiveDeferred
) -> bool:
    """TTL-11: return whether this message must be given: deferred, unlocked, not expired."""
    return _is_free(queue, stored, command) and not may_have_died(namespace, stored)


def _is_free(queue: Queue, stored: Stored, command: v.ReceiveDeferred) -> bool:
    in_session = command.session_id in (None, stored.message.session_id)
    there = stored.certain and stored.deferred is True and stored.lock is None
    return there and in_session and not queue.outages.may_hit(stored.where)


def _why_refused(namespace: Namespace, queue: Queue, command: v.ReceiveDeferred) -> Rules | None:
    """Return the rules that a refusal exercises; `None` if a refusal is not allowed."""
    rules: list[v.RuleId] = []
    # The documents do not say what a request gets that names a number twice.
    permitted = len(set(command.sequence_numbers)) < len(command.sequence_numbers)
    if len(command.sequence_numbers) > 1 and _spans(namespace, queue, command):
        permitted = True
        rules.append("DEFER-10")
    for number, stored in zip(command.sequence_numbers, _wanted(queue, command), strict=True):
        if stored is not None and _must_be_given(namespace, queue, stored, command):
            continue
        permitted = True
        rules += _why_not_this(namespace, queue, stored, number)
    return tuple(dict.fromkeys(rules)) if permitted else None


def _why_not_this(
    namespace: Namespace, queue: Queue, stored: Stored | None, number: int
) -> Iterator[v.RuleId]:
    """DEFER-03 to DEFER-05, DEFER-07, TTL-11: yield the rules for giving no message."""
    if stored is None:
        if number in queue.deferred:
            yield "DEFER-07"
        yield "DEFER-03"
    elif stored.deferred is False:
        yield "DEFER-04"
    elif stored.lock is not None and namespace.now.latest < stored.lock.expiry.earliest:
        yield "DEFER-05"
    elif has_died(namespace, stored):
        yield "TTL-11"
    elif queue.outages.any:
        yield "LIFE-11"


def _spans(namespace: Namespace, queue: Queue, command: v.ReceiveDeferred) -> bool:
    """Return whether the numbers may be of several partitions; if those are unknown, they may."""
    if not queue.settings.partitioned:
        return False
    named = {number >> v.SEQUENCE_BITS for number in command.sequence_numbers}
    visible = namespace.observability.partitions and namespace.observability.witness
    return len(named) > 1 or not (visible and namespace.profile.numbers_name_partitions)


def _offered(namespace: Namespace, queue: Queue, command: v.ReceiveDeferred) -> Transitions:
    """Return the answer that must be possible: all requested messages, if all are available."""
    views = []
    for stored in _wanted(queue, command):
        if stored is None or not _is_free(queue, stored, command):
            return
        lock = {}
        if command.mode is v.ReceiveMode.PEEK_LOCK:
            lock = told_of_lock(namespace, queue, command.session_id, stored)
        views.append(view_of(stored, **lock))
    yield from _given(namespace, queue, command, v.ReceivedSeveral(messages=tuple(views)))


def lost_receive_deferred(namespace: Namespace, command: v.ReceiveDeferred) -> Namespace:
    """Return the namespace in which each requested message may have been given."""
    queue = namespace.queues[command.queue]
    unanswered_deferred = queue.unanswered_deferred.update(
        dict.fromkeys(command.sequence_numbers, True)
    )
    queue = evolve(queue, unanswered_deferred=unanswered_deferred)
    for stored in _wanted(queue, command):
        if stored is not None and stored.deferred is not False:
            # ReceiveAndDelete would have deleted it, and a lock would have a token that nobody
            # knows.
            taken = evolve(stored, certain=False, uncounted=stored.uncounted + 1)
            # It may be asked for at any later time, and be dead-lettered then (TTL-10).
            if queue.settings.dead_letter_expired and is_mortal(stored):
                taken = evolve(taken, leaving=(*stored.leaving, EXPIRED))
            queue = doubted(queue, stored, taken)
    return with_queue(namespace, queue)
