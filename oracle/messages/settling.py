"""Settlement of a locked message, while its lock lasts."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.messages.dead_letters import moved
from busproof.oracle.messages.expiry import outlived
from busproof.oracle.messages.message_store import doubted, remove
from busproof.oracle.messages.partitions import why_settled_anywhere
from busproof.oracle.messages.releasing import give_back
from busproof.oracle.messages.stopped_clocks import lock_is_over
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import NEVER, Namespace, Queue, with_queue
from busproof.oracle.transition import Transition, done, refusal
from busproof.oracle.unjudged import stop_judging
from busproof.oracle.window import Window

DEFAULT_DURATION: Final = 60 * v.MICROSECONDS
"""LOCK-02: lock duration of an entity created without one."""


def complete(namespace: Namespace, command: v.Complete) -> Iterator[Transition]:
    """LIFE-03, LIFE-06: the message is removed, or its lock was lost."""
    queue = namespace.queues[command.queue]
    stored = locked(queue, command.lock_token)
    if stored is not None and not has_ended(namespace, queue, stored):
        rules = tuple(why_settled(namespace, queue, stored))
        left = remove(queue, stored, settlements=queue.settlements + 1)
        after = with_queue(namespace, left)
        rules = (*_in_a_renewed_session(queue, stored), "LIFE-03", *rules)
        yield done(after, *outlived(namespace, stored), *rules)
    yield from lost_lock(namespace, queue, stored, command.lock_token, "LIFE-06")
    yield from of_lost_answer(namespace, queue, command.lock_token, v.Done())


def abandon(namespace: Namespace, command: v.Abandon) -> Iterator[Transition]:
    """LIFE-04, LIFE-06: the message can be received again, or its lock was lost."""
    queue = namespace.queues[command.queue]
    stored = locked(queue, command.lock_token)
    if stored is not None and not has_ended(namespace, queue, stored):
        rules = why_settled(namespace, queue, stored)
        after = give_back(namespace, queue, stored, namespace.now, "LIFE-04")
        yield done(settled(after, command), "LIFE-04", *rules)
    yield from lost_lock(namespace, queue, stored, command.lock_token, "LIFE-06")
    yield from of_lost_answer(namespace, queue, command.lock_token, v.Done())


def _in_a_renewed_session(queue: Queue, stored: Stored) -> tuple[v.RuleId, ...]:
    """SESS-14: messages received before a session's renewal can still be settled."""
    lock = stored.lock
    held = None if lock is None or lock.session_id is None else queue.sessions.get(lock.session_id)
    return ("SESS-14",) if held is not None and held.renewed else ()


def dead_letter(namespace: Namespace, command: v.DeadLetter) -> Iterator[Transition]:
    """DLQ-05, DLQ-14, DLQ-10: the message is a dead letter now, or its lock was lost."""
    queue = namespace.queues[command.queue]
    if v.is_dead_letter_queue(command.queue):
        own = not command.queue.endswith(v.TRANSFERS)
        broken = ("DLQ-10",) if own else ()
        yield refusal(namespace, v.Error.INVALID_OPERATION, *broken, any_error=True)
        if not own:
            # Outside the documents: the state of the message after that.
            yield done(stop_judging(namespace, v.owner_of(command.queue)))
        return
    stored = locked(queue, command.lock_token)
    if stored is not None and not has_ended(namespace, queue, stored):
        rules = why_settled(namespace, queue, stored)
        after = moved(namespace, queue, stored, command.reason, "DLQ-05", certain=True)
        age = outlived(namespace, stored)
        yield done(settled(after, command), *age, "DLQ-05", *rules)
    yield from lost_lock(namespace, queue, stored, command.lock_token, "LOCK-06", "DLQ-14")
    yield from of_lost_answer(namespace, queue, command.lock_token, v.Done())


def settled(
    namespace: Namespace, command: v.Complete | v.Abandon | v.DeadLetter | v.Defer
) -> Namespace:
    """Return the namespace with one more settlement of this queue's messages counted."""
    queue = namespace.queues[command.queue]
    return with_queue(namespace, evolve(queue, settlements=queue.settlements + 1))


def why_settled(namespace: Namespace, queue: Queue, stored: Stored) -> Iterator[v.RuleId]:
    """LOCK-01, LOCK-02, LOCK-04, LOCK-10, LOCK-12, PART-12: the lock is still valid."""
    lock = stored.lock
    yield from why_settled_anywhere(queue)
    if lock is not None and lock.spared:
        yield "LOCK-12"
    if lock is None or lock.session_id is not None:
        return
    age = namespace.now.earliest - lock.begun.latest
    if lock.first is not None and namespace.now.earliest > lock.first.latest:
        yield "LOCK-04"
    if 2 * age >= queue.settings.lock_duration:
        yield "LOCK-01"
        if queue.settings.lock_duration == DEFAULT_DURATION:
            yield "LOCK-02"
    if queue.settlements > lock.settlements:
        yield "LOCK-10"


def locked(queue: Queue, token: str) -> Stored | None:
    """Return the message held under this token, if one still may be."""
    number = queue.locks.get(token)
    stored = None if number is None else queue.messages.get(number)
    if stored is None or stored.lock is None or stored.lock.token != token:
        return None
    return stored


def has_ended(namespace: Namespace, queue: Queue, stored: Stored) -> bool:
    """Return whether the message's lock cannot be held any more."""
    lock = stored.lock
    return lock is None or lock_is_over(namespace, queue, lock.expiry.latest)


def lost_lock(
    namespace: Namespace, queue: Queue, stored: Stored | None, token: str, *rules: v.RuleId
) -> Iterator[Transition]:
    """LIFE-06, LOCK-05 to LOCK-07: refuse because the lock is, or may be, lost."""
    lock = None if stored is None else stored.lock
    if stored is None or lock is None or has_ended(namespace, queue, stored):
        queue, older = _resisting(queue, token)
        after = with_queue(namespace, queue)
        free = not _is_error_named(namespace, queue, token)
        yield refusal(after, v.Error.LOCK_LOST, *rules, *older, any_error=free)
    elif lock.expiry.earliest <= namespace.now.latest or not stored.certain:
        yield refusal(namespace, v.Error.LOCK_LOST, any_error=True)
    elif queue.outages.may_hit(stored.where):
        yield refusal(namespace, v.Error.UNAVAILABLE, "LIFE-11", any_error=True)


def _is_error_named(namespace: Namespace, queue: Queue, token: str) -> bool:
    """Return whether a lost lock has to be refused with the error for lost locks.

    The documents name no error for a lock that was never given. In a session the error may be the
    session lock's, in an outage the outage's (ERROR-PRECEDENCE), on a queue that forwards the one
    for its receivers, and a client library may refuse before it sends the request.
    """
    known = token in queue.tokens and not namespace.observability.assigns_message_ids
    settings = queue.settings
    plain = not settings.requires_session and settings.forward_to is None
    return known and plain and not queue.outages.any


def is_of_lost_answer(queue: Queue, token: str) -> bool:
    """Return whether the lock may be from a receive whose answer was lost.

    A client that settles with it may have received the answer after giving up.
    """
    return token not in queue.tokens and bool(queue.receivers.lost or queue.unanswered_deferred)


def of_lost_answer(
    namespace: Namespace, queue: Queue, token: str, outcome: v.Outcome
) -> Iterator[Transition]:
    """Settle an unknown message under the lock of a lost answer.

    The message cannot be identified, so its entity is no longer judged.
    """
    if is_of_lost_answer(queue, token):
        left = stop_judging(namespace, v.owner_of(queue.settings.queue))
        yield Transition(outcome=outcome, next=left)


def _resisting(queue: Queue, token: str) -> tuple[Queue, tuple[v.RuleId, ...]]:
    """LOCK-07, LOCK-08: return a lost lock's message: locked by another, or to be redelivered."""
    number = queue.tokens.get(token)
    stored = None if number is None else queue.messages.get(number)
    if stored is None or not stored.certain:
        return queue, ()
    if stored.lock is not None:
        return queue, ("LOCK-07",)
    again = evolve(stored, resisted=True)
    return evolve(queue, messages=queue.messages.set(stored.number, again)), ()


def lost_complete(namespace: Namespace, command: v.Complete) -> Namespace:
    """Return the states in which the message is removed, now or later, or stays locked."""
    return _perhaps_gone(namespace, command)


def lost_dead_letter(namespace: Namespace, command: v.DeadLetter) -> Namespace:
    """Return the states in which the message is dead-lettered, or stays locked."""
    return _perhaps_gone(namespace, command, leaving=(command.reason,))


def _perhaps_gone(
    namespace: Namespace, command: v.Complete | v.DeadLetter, leaving: tuple[str, ...] = ()
) -> Namespace:
    queue = namespace.queues[command.queue]
    stored = locked(queue, command.lock_token)
    if stored is None:
        return namespace
    leaving = (*stored.leaving, *leaving)
    doubtful = evolve(stored, certain=False, line=None, leaving=leaving)
    return with_queue(namespace, doubted(queue, stored, doubtful))


def lost_abandon(namespace: Namespace, command: v.Abandon) -> Namespace:
    """Return the states in which the lock may have ended; the message exists in any case."""
    queue = namespace.queues[command.queue]
    stored = locked(queue, command.lock_token)
    if stored is None or stored.lock is None:
        return namespace
    expiry = Window(-NEVER, stored.lock.expiry.latest)
    lock = evolve(stored.lock, expiry=expiry)
    doubtful = evolve(stored, lock=lock, expected=None)
    messages = queue.messages.set(stored.number, doubtful)
    return with_queue(namespace, evolve(queue, messages=messages))
