"""Sessions: held by one connection at a time, for as long as their lock lasts."""

from collections.abc import Iterator

import attrs

from busproof.model.commands import AcceptSession, CloseSession
from busproof.model.heap import push
from busproof.model.keys import SESSION_ID
from busproof.model.ledger import give_back
from busproof.model.placing import home_of
from busproof.model.state import NEVER, Key, Namespace, Queue, SessionLock, with_queue
from busproof.model.transition import Transition, done, refusal
from busproof.model.values import Error, Window

__all__ = [
    "accept_session",
    "close_session",
    "holds_session",
    "lost_accept",
    "lost_close",
    "session_at",
]


def session_at(queue: Queue, session_id: str) -> SessionLock:
    """The hold on a session that is known to be held, or may be."""
    return queue.sessions[session_id]


def holds_session(
    namespace: Namespace, queue: Queue, session_id: str, connection: str
) -> bool | None:
    """Whether this connection holds the session; `None` where it may or may not."""
    held = queue.sessions.get(session_id)
    if held is None:
        return False
    if held.connection != connection:
        return None if held.doubtful else False
    if held.expiry.latest < namespace.now.earliest and not held.doubtful:
        return False
    surely = namespace.now.latest < held.expiry.earliest and not held.doubtful
    return True if surely else None


def accept_session(
    namespace: Namespace, command: AcceptSession, connection: str
) -> Iterator[Transition]:
    """LIFE-10: the session is given to one connection until its lock ends."""
    queue = namespace.queues[command.queue]
    if not queue.settings.requires_session:
        yield refusal(namespace, Error.INVALID_OPERATION, any_error=True)
        return
    held = queue.sessions.get(command.session_id)
    free = held is None or held.doubtful or held.expiry.earliest <= namespace.now.latest
    if free or (held is not None and held.connection == connection):
        yield done(
            _accepted(namespace, queue, command, connection), *(("LIFE-10",) if held else ())
        )
    if held is not None and _may_last(namespace, held):
        yield refusal(namespace, Error.SESSION_CANNOT_BE_LOCKED, "LIFE-10", any_error=True)
    elif queue.outages.may_hit(home_of(namespace, queue, Key(SESSION_ID, command.session_id))):
        yield refusal(namespace, Error.UNAVAILABLE, "LIFE-11", any_error=True)


def _accepted(
    namespace: Namespace, queue: Queue, command: AcceptSession, connection: str
) -> Namespace:
    slack = namespace.vantage.slack
    full = namespace.now.shifted(queue.settings.lock_duration)
    expiry = Window(full.earliest - slack, full.latest + slack)
    before = queue.sessions.get(command.session_id)
    if before is not None and before.connection == connection and _may_last(namespace, before):
        queue = _loosened(queue, before, expiry)
        return _with(namespace, queue, command.session_id, _renewed(before, expiry))
    queue = _freed(namespace, queue, command.session_id)
    return _with(namespace, queue, command.session_id, SessionLock(connection, expiry))


def _may_last(namespace: Namespace, held: SessionLock) -> bool:
    return held.doubtful or namespace.now.earliest <= held.expiry.latest


def _loosened(queue: Queue, held: SessionLock, expiry: Window) -> Queue:
    """Messages locked in a session that is accepted again: kept, or given back already."""
    for number in sorted(held.taken):
        stored = queue.messages.get(number)
        if stored is not None and stored.lock is not None:
            lock = attrs.evolve(stored.lock, expiry=Window(-NEVER, expiry.latest))
            timer = (expiry.latest, number, lock.token)
            queue = attrs.evolve(
                queue,
                messages=queue.messages.set(number, attrs.evolve(stored, lock=lock)),
                timers=push(queue.timers, timer),
            )
    return queue


def _renewed(before: SessionLock, expiry: Window) -> SessionLock:
    """Accepted again by its holder: whether that renews its lock is open."""
    earliest = min(before.expiry.earliest, expiry.earliest)
    return attrs.evolve(before, expiry=Window(earliest, expiry.latest), doubtful=False)


def _with(
    namespace: Namespace, queue: Queue, session_id: str, held: SessionLock | None
) -> Namespace:
    if held is None:
        sessions = queue.sessions.delete(session_id)
    else:
        sessions = queue.sessions.set(session_id, held)
    return with_queue(namespace, attrs.evolve(queue, sessions=sessions))


def _freed(namespace: Namespace, queue: Queue, session_id: str) -> Queue:
    """The queue with all messages given back that were locked in the session."""
    held = queue.sessions.get(session_id)
    for number in sorted(held.taken) if held is not None else ():
        stored = queue.messages.get(number)
        if stored is not None and stored.lock is not None and stored.lock.session_id == session_id:
            queue = give_back(queue, stored, namespace.now, "LIFE-10")
    return queue


def close_session(
    namespace: Namespace, command: CloseSession, connection: str
) -> Iterator[Transition]:
    """The session is free again, and so are the messages that were locked in it."""
    queue = namespace.queues[command.queue]
    holding = holds_session(namespace, queue, command.session_id, connection)
    if holding is not False:
        freed = _freed(namespace, queue, command.session_id)
        yield done(_with(namespace, freed, command.session_id, None))
    if holding is not True:
        yield refusal(namespace, Error.SESSION_LOCK_LOST, any_error=True)
        yield done(namespace)


def lost_accept(namespace: Namespace, command: AcceptSession, connection: str) -> Namespace:
    """The session may be held by this connection, from now or later on."""
    queue = namespace.queues[command.queue]
    held = queue.sessions.get(command.session_id) or SessionLock(connection, namespace.now)
    return _with(namespace, queue, command.session_id, attrs.evolve(held, doubtful=True))


def lost_close(namespace: Namespace, command: CloseSession) -> Namespace:
    """The session may be free."""
    queue = namespace.queues[command.queue]
    held = queue.sessions.get(command.session_id)
    if held is None:
        return namespace
    return _with(namespace, queue, command.session_id, attrs.evolve(held, doubtful=True))
