"""Settling a locked message, while its lock lasts."""

from collections.abc import Iterator

import attrs

from busproof.model.commands import Abandon, Complete
from busproof.model.ledger import give_back, remove
from busproof.model.state import NEVER, Namespace, Queue, Stored, with_queue
from busproof.model.transition import Transition, done, refusal
from busproof.model.values import Error, RuleId, Window

__all__ = ["abandon", "complete", "lost_abandon", "lost_complete"]


def complete(namespace: Namespace, command: Complete) -> Iterator[Transition]:
    """LIFE-03, LIFE-06: the message is gone, or its lock was lost."""
    queue = namespace.queues[command.queue]
    stored = _locked(queue, command.lock_token)
    if stored is not None and not _has_ended(namespace, stored):
        rules = (*_in_a_renewed_session(queue, stored), "LIFE-03")
        yield done(with_queue(namespace, remove(queue, stored)), *rules)
    yield from _lost(namespace, queue, stored)


def abandon(namespace: Namespace, command: Abandon) -> Iterator[Transition]:
    """LIFE-04, LIFE-06: the message can be received again, or its lock was lost."""
    queue = namespace.queues[command.queue]
    stored = _locked(queue, command.lock_token)
    if stored is not None and not _has_ended(namespace, stored):
        back = give_back(queue, stored, namespace.now, "LIFE-04")
        yield done(with_queue(namespace, back), "LIFE-04")
    yield from _lost(namespace, queue, stored)


def _in_a_renewed_session(queue: Queue, stored: Stored) -> tuple[RuleId, ...]:
    """SESS-14: what was received before the renewal of its session can still be settled."""
    lock = stored.lock
    held = None if lock is None or lock.session_id is None else queue.sessions.get(lock.session_id)
    return ("SESS-14",) if held is not None and held.renewed else ()


def _locked(queue: Queue, token: str) -> Stored | None:
    """The message held under this token, if one still may be."""
    number = queue.locks.get(token)
    stored = None if number is None else queue.messages.get(number)
    if stored is None or stored.lock is None or stored.lock.token != token:
        return None
    return stored


def _has_ended(namespace: Namespace, stored: Stored) -> bool:
    lock = stored.lock
    return lock is None or lock.expiry.latest < namespace.now.earliest


def _lost(namespace: Namespace, queue: Queue, stored: Stored | None) -> Iterator[Transition]:
    lock = None if stored is None else stored.lock
    if stored is None or lock is None or _has_ended(namespace, stored):
        yield refusal(namespace, Error.LOCK_LOST, "LIFE-06", any_error=True)
    elif lock.expiry.earliest <= namespace.now.latest or not stored.certain:
        yield refusal(namespace, Error.LOCK_LOST, any_error=True)
    elif queue.outages.may_hit(stored.where):
        yield refusal(namespace, Error.UNAVAILABLE, "LIFE-11", any_error=True)


def lost_complete(namespace: Namespace, command: Complete) -> Namespace:
    """The message may be gone, now or later; if not, its lock lasts as before."""
    queue = namespace.queues[command.queue]
    stored = _locked(queue, command.lock_token)
    if stored is None:
        return namespace
    doubtful = attrs.evolve(stored, certain=False, line=None)
    messages = queue.messages.set(stored.number, doubtful)
    return with_queue(namespace, attrs.evolve(queue, messages=messages))


def lost_abandon(namespace: Namespace, command: Abandon) -> Namespace:
    """The lock may have ended, now or later; the message is there in any case."""
    queue = namespace.queues[command.queue]
    stored = _locked(queue, command.lock_token)
    if stored is None or stored.lock is None:
        return namespace
    expiry = Window(-NEVER, stored.lock.expiry.latest)
    lock = attrs.evolve(stored.lock, expiry=expiry)
    doubtful = attrs.evolve(stored, lock=lock, counted=None)
    messages = queue.messages.set(stored.number, doubtful)
    return with_queue(namespace, attrs.evolve(queue, messages=messages))
