"""SESS: sessions, each held by one connection at a time.

On an entity that requires sessions, all messages of one SessionId go to the session's holder, in
order. The lock is on the whole session: the messages that its holder receives stay locked as long
as the session, and are released when it is closed or its lock expires. A session can have a state,
which stays when its holders and its messages are gone.
"""

from collections.abc import Callable, Iterator

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, EMPTY, Answer
from busproof.model.keys import SESSION_ID
from busproof.model.life_cycle import Action
from busproof.model.state import Entity, Namespace, Session
from busproof.model.values import Key, Refusal

__all__ = ["Sessions"]

OfHolder = v.CloseSession | v.RenewSessionLock | v.SetSessionState | v.GetSessionState


def known(namespace: Namespace, entity: Entity, name: str, partition: int) -> Session:
    """Return the session of this id, creating it if necessary."""
    session = entity.sessions.get(name)
    if session is None:
        session = Session(entity, name, partition)
        namespace.journal.put(entity.sessions, name, session)
    return session


def let_go(namespace: Namespace, session: Session) -> None:
    """SESS-22: remove a session that has no messages, no state and no holder."""
    if session.messages or session.state is not None or session.holder is not None:
        return
    # The release of its last message may have dead-lettered the message and removed the session.
    if session.entity.sessions.get(session.name) is session:
        namespace.journal.drop(session.entity.sessions, session.name)
        # Otherwise only a receiver of the next session would drop it, who may never come.
        session.entity.free_sessions.pop(session, None)


def of_receive(
    namespace: Namespace, entity: Entity, name: str | None, connection: str
) -> Session | None:
    """SESS-02, SESS-04, SESS-12: return the session of a receive, if the entity requires one."""
    if entity.settings.requires_session is not (name is not None):
        raise Refusal(v.Error.INVALID_OPERATION, "SESS-02")
    if name is None:
        return None
    return namespace.rules.sessions.held(namespace, entity, name, connection)


def held(namespace: Namespace, entity: Entity, name: str, connection: str) -> Session:
    """SESS-12, SESS-21: return the session of this name, if the connection holds it."""
    session = entity.sessions.get(name)
    if session is None or session.holder != connection:
        raise Refusal(v.Error.SESSION_LOCK_LOST, "SESS-12")
    return session


def accept(namespace: Namespace, command: v.AcceptSession, connection: str) -> Answer:
    """SESS-03, LIFE-10: lock a session that no other connection holds, with or without messages."""
    rules = namespace.rules
    entity = requiring_sessions(namespace, command.queue)
    session = entity.sessions.get(command.session_id)
    if session is not None and session.holder not in (None, connection):
        raise Refusal(v.Error.SESSION_CANNOT_BE_LOCKED, "LIFE-10")
    if session is None:
        partition = 0
        if entity.settings.partitioned:
            partition = rules.keys.home(namespace, entity, Key(SESSION_ID, command.session_id))
        session = rules.sessions.known(namespace, entity, command.session_id, partition)
    rules.partitions.check_up(namespace, entity, session.partition, "SESS-25")
    rules.sessions.hold(namespace, session, connection)
    return Answer(DONE, rules=("SESS-03",))


def requiring_sessions(namespace: Namespace, path: str) -> Entity:
    """SESS-02: return the entity with this path, which has to require sessions."""
    entity = namespace.rules.topics.receivable(namespace, path)
    if not entity.settings.requires_session:
        raise Refusal(v.Error.INVALID_OPERATION, "SESS-02")
    return entity


def accept_next(namespace: Namespace, command: v.AcceptNextSession, connection: str) -> Answer:
    """SESS-06, SESS-07: lock any session that has no holder and an available message.

    If there is none, the answer may be empty or a refusal. The documents do not say whether a
    session must be found in an outage (NEXT-IN-OUTAGE).
    """
    rules = namespace.rules
    entity = requiring_sessions(namespace, command.queue)
    if entity.base.down:
        answers = ("NEXT-IN-OUTAGE", "SESS-24", "found", "empty")
        if rules.partitions.answer_of(namespace, *answers) == "empty":
            return Answer(EMPTY, rules=("SESS-24",))
    if next(rules.sessions.free(namespace, entity), None) is None:
        if namespace.choices.pick("SESS-07", ("empty", "refused")) == "refused":
            raise Refusal(v.Error.SESSION_CANNOT_BE_LOCKED, "SESS-07")
        return Answer(EMPTY, rules=("SESS-07",))
    session = namespace.choices.pick("SESS-06", rules.sessions.free(namespace, entity))
    rules.sessions.hold(namespace, session, connection)
    return Answer(v.SessionAccepted(session_id=session.name), rules=("SESS-06",))


def free(namespace: Namespace, entity: Entity) -> Iterator[Session]:
    """SESS-06, SCHED-13: yield the sessions that have no holder and an available message."""
    down, index = entity.base.down, entity.free_sessions
    for _ in range(len(index)):
        session = next(iter(index))
        is_known = entity.sessions.get(session.name) is session
        if not is_known or session.holder is not None or not session.line.first(entity.messages):
            del index[session]
            continue
        index.move_to_end(session)
        if session.partition not in down:
            yield session


def hold(namespace: Namespace, session: Session, connection: str) -> None:
    """SESS-03, SESS-11: lock a session for a connection, and release its earlier messages."""
    if session.holder is not None:
        namespace.rules.sessions.give_back(namespace, session, counts=True)  # as if it had ended
    namespace.journal.touch(session)
    session.holder = connection
    namespace.rules.sessions.prolong(namespace, session)


def prolong(namespace: Namespace, session: Session) -> None:
    """SESS-13: extend a session's lock to a full lock duration from now."""
    namespace.journal.touch(session)
    session.locked_until = namespace.now + session.entity.settings.lock_duration
    session.entity.look_at("sessions.end", session.locked_until, session, 0, session.name)
    namespace.timers.stale += 1


def release(namespace: Namespace, session: Session, *, counts: bool) -> None:
    """SESS-08, SESS-09, SESS-11: end the lock of a session, and release its messages."""
    namespace.journal.touch(session)
    session.holder = None
    namespace.rules.sessions.give_back(namespace, session, counts=counts)
    session.entity.free_sessions[session] = None
    namespace.rules.sessions.let_go(namespace, session)


def give_back(namespace: Namespace, session: Session, *, counts: bool) -> None:
    """SESS-08 to SESS-10: release all locked messages of a session, in order.

    `counts` is false if closing the session ends the deliveries, which then do not count.
    """
    for number in sorted(session.locked):
        queued = session.locked[number]
        if queued.token is None or not queued.is_there:
            # The entry is stale: the message was settled, or its lock undone.
            continue
        if not counts:
            namespace.journal.touch(queued)
            queued.failed -= 1
        namespace.rules.locks.release(namespace, queued, Action.LOCK_ENDS)
    session.locked.clear()


def end(namespace: Namespace, session: Session) -> None:
    """SESS-10, SESS-11: release a session whose lock has expired."""
    is_known = session.entity.sessions.get(session.name) is session
    if is_known and session.holder is not None and session.locked_until <= namespace.now:
        namespace.rules.sessions.release(namespace, session, counts=True)


def close(namespace: Namespace, command: v.CloseSession, connection: str) -> Answer:
    """SESS-08, SESS-09: release a session at its holder's request."""
    session = own(namespace, command, connection)
    namespace.rules.sessions.release(namespace, session, counts=False)
    return Answer(DONE, rules=("SESS-08",))


def renew(namespace: Namespace, command: v.RenewSessionLock, connection: str) -> Answer:
    """SESS-13: renew the lock of a session, and with it those of the messages received in it."""
    session = own(namespace, command, connection)
    namespace.rules.sessions.prolong(namespace, session)
    return Answer(v.Renewed(locked_until=session.locked_until), rules=("SESS-13",))


def set_state(namespace: Namespace, command: v.SetSessionState, connection: str) -> Answer:
    """SESS-17, SESS-18, SESS-20, SIZE-13: set the state of a session, or remove it."""
    rules, state = namespace.rules, command.state
    session = own(namespace, command, connection)
    rules.limits.check_state(namespace, state)
    more = len(state or "") - len(session.state or "")
    if more:
        rules.sizes.charge(namespace, session.entity, session.partition, more)
    namespace.journal.touch(session)
    session.state = state
    return Answer(DONE, rules=("SESS-17",))


def get_state(namespace: Namespace, command: v.GetSessionState, connection: str) -> Answer:
    """SESS-16, SESS-17, SESS-19: return the state of a session."""
    session = own(namespace, command, connection)
    return Answer(v.SessionState(state=session.state), rules=("SESS-17",))


def own(namespace: Namespace, command: OfHolder, connection: str) -> Session:
    """SESS-12, SESS-21, SESS-25: return the session in a command, if its connection holds it."""
    rules = namespace.rules
    entity = rules.topics.receivable(namespace, command.queue)
    session = rules.sessions.held(namespace, entity, command.session_id, connection)
    rules.partitions.check_up(namespace, entity, session.partition, "SESS-25")
    return session


def list_sessions(namespace: Namespace, command: v.ListSessions, connection: str) -> Answer:
    """SESS-22, FEAT-16: return the names of sessions that have messages or a state."""
    named = requiring_sessions(namespace, command.queue).sessions.items()
    names = sorted(name for name, one in named if one.messages or one.state is not None)
    return Answer(v.SessionsListed(session_ids=tuple(names)), rules=("SESS-22",))


@attrs.frozen
class Sessions:
    """Functions that decide the SESS rules; a mutant replaces one of them."""

    known: Callable[[Namespace, Entity, str, int], Session] = known
    let_go: Callable[[Namespace, Session], None] = let_go
    of_receive: Callable[[Namespace, Entity, str | None, str], Session | None] = of_receive
    held: Callable[[Namespace, Entity, str, str], Session] = held
    accept: Callable[[Namespace, v.AcceptSession, str], Answer] = accept
    accept_next: Callable[[Namespace, v.AcceptNextSession, str], Answer] = accept_next
    free: Callable[[Namespace, Entity], Iterator[Session]] = free
    hold: Callable[[Namespace, Session, str], None] = hold
    prolong: Callable[[Namespace, Session], None] = prolong
    release: Callable[..., None] = release
    give_back: Callable[..., None] = give_back
    end: Callable[[Namespace, Session], None] = end
    close: Callable[[Namespace, v.CloseSession, str], Answer] = close
    renew: Callable[[Namespace, v.RenewSessionLock, str], Answer] = renew
    set_state: Callable[[Namespace, v.SetSessionState, str], Answer] = set_state
    get_state: Callable[[Namespace, v.GetSessionState, str], Answer] = get_state
    list_sessions: Callable[[Namespace, v.ListSessions, str], Answer] = list_sessions
