"""Mutants of SESS: the holder of a session, its messages, and its state."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.life_cycle import Action
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace, Partition, QueuedMessage, Session, Transaction
from busproof.model.values import Key, Refusal
from busproof.mutants.mutant import Family, memory
from busproof.mutants.runs import (
    PARTITIONS,
    QUEUE,
    Run,
    abandon,
    complete,
    create,
    down,
    home,
    over,
    receive,
    send,
    up,
    wait,
)

__all__ = ["MUTANTS"]

mutant = Family(__name__)

OfSession = (
    v.AcceptSession | v.CloseSession | v.RenewSessionLock | v.SetSessionState | v.GetSessionState
)
CREATE: Final = create(requires_session=True)
ACCEPT: Final = v.AcceptSession(queue=QUEUE, session_id="s")
OTHER: Final = v.AcceptSession(queue=QUEUE, session_id="t")
CLOSE: Final = v.CloseSession(queue=QUEUE, session_id="s")
RENEW: Final = v.RenewSessionLock(queue=QUEUE, session_id="s")
NEXT: Final = v.AcceptNextSession(queue=QUEUE)
GET: Final = v.GetSessionState(queue=QUEUE, session_id="s")
LIST: Final = v.ListSessions(queue=QUEUE)
SET: Final = v.SetSessionState(queue=QUEUE, session_id="s", state="one")
ANOTHER: Final = attrs.evolve(SET, state="two")
CLEAR: Final = attrs.evolve(SET, state=None)
EMPTY: Final[Run] = (CREATE, ACCEPT)
HELD: Final[Run] = (CREATE, send("m1", session_id="s"), ACCEPT)
TAKEN: Final[Run] = (*HELD, receive("s"))
TWO: Final[Run] = (CREATE, *(send(body, session_id="s") for body in ("m1", "m2")), ACCEPT)
TAKEN_OF_TWO: Final[Run] = (*TWO, receive("s"))
TAKE_OVER: Final[Run] = (over("c2", ACCEPT), over("c2", receive("s")))
TWO_HOLDERS: Final[Run] = (
    *(CREATE, send("m1", session_id="s"), send("m2", session_id="t"), ACCEPT, over("c2", OTHER)),
    over("c2", receive("t")),
)
SENT_LATER: Final[Run] = (*EMPTY, send("m1", session_id="s"), receive("s"))
CLOSED: Final[Run] = (*TAKEN_OF_TWO, CLOSE, *TAKE_OVER)
LOST: Final[Run] = (*HELD, wait(61), receive("s"))
RENEWED: Final[Run] = (*TAKEN, wait(40), RENEW, wait(40), complete(0))
ABANDONED: Final[Run] = (*TAKEN_OF_TWO, abandon(0), receive("s"))
RECOVERED: Final[Run] = (*EMPTY, SET, down(home("s")), up(home("s")), GET)
FOREIGN: Final[Run] = (*EMPTY, SET, over("c2", GET))
PEEKED: Final[Run] = (CREATE, send("m1", session_id="t"), v.Peek(queue=QUEUE, session_id="s"))
OTHER_DOWN: Final = (CREATE, send("m1", session_id="s"), down((home("s") + 1) % PARTITIONS), ACCEPT)
COMMITTED: Final[Run] = (
    *(create(requires_session=True, partitioned=False), v.BeginTransaction(transaction="t")),
    *(send("m1", session_id="t", within="t"), send("m2", session_id="s", within="t")),
    *(v.CommitTransaction(transaction="t"), ACCEPT, receive("s")),
)


def session_of(namespace: Namespace, command: OfSession) -> Session | None:
    """The session of a command, if it is known."""
    entity = namespace.entities.get(command.queue)
    return None if entity is None else entity.sessions.get(command.session_id)


def name_of(session: Session) -> tuple[str, str]:
    """Return the path of a session's entity and its own name."""
    return session.entity.path, session.name


def _take_sessionless(namespace: Namespace, entity: Entity, message: v.Message) -> Key | None:
    if message.session_id is None:
        return namespace.rules.keys.effective_key(namespace, entity, message)
    return RULES.messages.key_of(namespace, entity, message)


def _keep_sessionless(namespace: Namespace, entity: Entity, message: v.Message, *rest: Any) -> None:
    namespace.rules.messages.enqueue(namespace, entity, message, *rest)


@mutant(
    "SESS-01",
    "messages.give_next",
    (CREATE, send("m1", message_id="x"), ACCEPT, receive("s")),
    also={"messages.key_of": _take_sessionless, "forwarding.reject_sessionless": _keep_sessionless},
)
def sessionless_given(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> v.MessageView | None:
    """A message without SessionId is given to every session."""
    up = [each for each in entity.partitions if each.number not in entity.base.down]
    strays = [each.line.first(entity.messages) for each in up] if session is not None else []
    for queued in strays:
        if queued is not None:
            return namespace.rules.messages.give(namespace, queued, mode)
    return RULES.messages.give_next(namespace, entity, session, mode, *rest)


@mutant("SESS-02", "sessions.of_receive", (CREATE, send("m1", session_id="s"), receive()))
def received_in_no_session(
    namespace: Namespace, entity: Entity, name: str | None, connection: str
) -> Session | None:
    """A receive without a session returns nothing instead of a refusal."""
    if name is None and entity.settings.requires_session:
        return Session(entity, "", -1)
    return RULES.sessions.of_receive(namespace, entity, name, connection)


@mutant("SESS-03", "sessions.hold", EMPTY)
def empty_session_refused(namespace: Namespace, session: Session, connection: str) -> None:
    """A session without messages cannot be accepted."""
    if not session.messages:
        raise Refusal(v.Error.SESSION_CANNOT_BE_LOCKED, "SESS-03")
    RULES.sessions.hold(namespace, session, connection)


@mutant("SESS-03", "sessions.accept", (*EMPTY, CLOSE, over("c2", ACCEPT)))
def session_closed_to_others(
    namespace: Namespace, command: v.AcceptSession, connection: str
) -> Answer:
    """A session belongs to its first connection forever."""
    answer = RULES.sessions.accept(namespace, command, connection)
    owners = memory(namespace, dict[tuple[str, str], str])
    if owners.setdefault((command.queue, command.session_id), connection) != connection:
        raise Refusal(v.Error.SESSION_CANNOT_BE_LOCKED, "SESS-03")
    return answer


@mutant("SESS-04", "messages.give_next", TWO_HOLDERS)
def other_session_given(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> v.MessageView | None:
    """A receiver is given the oldest message of any session."""
    held = [each for each in entity.sessions.values() if each.holder is not None]
    up = [each for each in held if each.partition not in entity.base.down]
    first = [each.line.first(entity.messages) for each in up]
    offered = [queued for queued in first if queued is not None]
    if session is None or len(held) < 2 or not offered:
        return RULES.messages.give_next(namespace, entity, session, mode, *rest)
    oldest = min(offered, key=lambda queued: queued.arrival)
    return namespace.rules.messages.give(namespace, oldest, mode)


def _note_arrivals(namespace: Namespace, session: Session, connection: str) -> None:
    RULES.sessions.hold(namespace, session, connection)
    memory(namespace, dict[tuple[str, str], int])[name_of(session)] = namespace.arrivals


@mutant("SESS-05", "messages.give_next", SENT_LATER, also={"sessions.hold": _note_arrivals})
def later_messages_held_back(
    namespace: Namespace, entity: Entity, session: Session | None, *rest: Any
) -> v.MessageView | None:
    """A holder is given only messages from before its lock."""
    queued = None if session is None else session.line.first(entity.messages)
    came_with = memory(namespace, dict[tuple[str, str], int])
    if session is not None and queued and queued.arrival > came_with[name_of(session)]:
        return None
    return RULES.messages.give_next(namespace, entity, session, *rest)


@mutant("SESS-06", "sessions.free", (*HELD, send("m2", session_id="t"), NEXT))
def next_session_missed(namespace: Namespace, entity: Entity) -> Iterator[Session]:
    """The next session is never found while any session is held."""
    if any(each.holder is not None for each in entity.sessions.values()):
        return iter(())
    return RULES.sessions.free(namespace, entity)


@mutant("SESS-07", "sessions.free", (*HELD, over("c2", NEXT)))
def next_session_held(namespace: Namespace, entity: Entity) -> Iterator[Session]:
    """The next session may be one that another holds."""
    up = (each for each in entity.sessions.values() if each.partition not in entity.base.down)
    return (each for each in up if each.line.first(entity.messages) is not None)


def _is_given_up(session: Session, counts: bool) -> bool:
    """Return whether its holder closes a session, or accepts it anew; else its lock has expired."""
    return not counts or session.holder is not None


@mutant("SESS-08", "sessions.give_back", (*TAKEN, CLOSE, *TAKE_OVER))
def closing_keeps_locks(namespace: Namespace, session: Session, *, counts: bool) -> None:
    """Messages stay locked when their session is closed."""
    if not _is_given_up(session, counts):
        RULES.sessions.give_back(namespace, session, counts=counts)


def _put_last(namespace: Namespace, queued: QueuedMessage) -> None:
    """Place a message behind all that have arrived so far."""
    places = memory(namespace, dict[tuple[str, int], float])
    places[queued.entity.path, queued.number] = namespace.arrivals + 0.5


def _by_places(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> v.MessageView | None:
    if session is None or session.partition in entity.base.down:
        return RULES.messages.give_next(namespace, entity, session, mode, *rest)
    places = memory(namespace, dict[tuple[str, int], float])

    def place(queued: QueuedMessage) -> float:
        return places.get((entity.path, queued.number), queued.arrival)

    queued = min(session.line.available(entity.messages), key=place, default=None)
    return None if queued is None else namespace.rules.messages.give(namespace, queued, mode)


@mutant("SESS-08", "sessions.give_back", CLOSED, also={"messages.give_next": _by_places}, deep=True)
def closing_reorders(namespace: Namespace, session: Session, *, counts: bool) -> None:
    """A closed session releases its messages in last place."""
    for queued in session.locked.values() if _is_given_up(session, counts) else ():
        _put_last(namespace, queued)
    RULES.sessions.give_back(namespace, session, counts=counts)


@mutant("SESS-09", "sessions.give_back", (*TAKEN, CLOSE, ACCEPT, receive("s")))
def closing_counts(namespace: Namespace, session: Session, *, counts: bool) -> None:
    """A delivery that ends with a closed session counts."""
    RULES.sessions.give_back(namespace, session, counts=True)


@mutant("SESS-10", "sessions.release", (*TAKEN, wait(61), ACCEPT, receive("s")))
def expiry_not_counted(namespace: Namespace, session: Session, *, counts: bool) -> None:
    """A delivery that ends with a session's lock is forgotten."""
    RULES.sessions.release(namespace, session, counts=False)


@mutant("SESS-11", "sessions.end", (*HELD, wait(61), over("c2", ACCEPT)))
def session_never_expires(namespace: Namespace, session: Session) -> None:
    """A session's lock lasts until it is closed."""


def _note_holder(namespace: Namespace, session: Session, connection: str) -> None:
    RULES.sessions.hold(namespace, session, connection)
    memory(namespace, dict[tuple[str, str], str])[name_of(session)] = connection


@mutant("SESS-12", "sessions.of_receive", LOST, also={"sessions.hold": _note_holder})
def lost_session_read(
    namespace: Namespace, entity: Entity, name: str | None, connection: str
) -> Session | None:
    """A receiver reads on after its session's lock has expired."""
    session = entity.sessions.get(name or "")
    holders = memory(namespace, dict[tuple[str, str], str])
    lost = session is not None and session.holder is None
    if lost and session and holders.get(name_of(session)) == connection:
        return session
    return RULES.sessions.of_receive(namespace, entity, name, connection)


@mutant("SESS-12", "sessions.renew", (*HELD, wait(61), RENEW))
def lost_session_other_error(namespace: Namespace, *rest: Any) -> Answer:
    """A renewal that comes too late is an invalid operation."""
    try:
        return RULES.sessions.renew(namespace, *rest)
    except Refusal as refusal:
        if refusal.error is not v.Error.SESSION_LOCK_LOST:
            raise
        raise Refusal(v.Error.INVALID_OPERATION, *refusal.rules) from None


@mutant("SESS-13", "sessions.renew", (*HELD, wait(40), RENEW, wait(40), over("c2", ACCEPT)))
def renewal_ignored(namespace: Namespace, command: v.RenewSessionLock, connection: str) -> Answer:
    """A renewal is accepted and changes nothing."""
    session = session_of(namespace, command)
    until = 0 if session is None else session.locked_until
    answer = RULES.sessions.renew(namespace, command, connection)
    if session is not None:
        session.locked_until = until
    return answer


def _end_in_session(namespace: Namespace, queued: QueuedMessage) -> None:
    if queued.token in memory(namespace, set[str | None]):
        namespace.rules.locks.release(namespace, queued, Action.LOCK_ENDS)
    RULES.locks.end(namespace, queued)


@mutant("SESS-14", "sessions.renew", RENEWED, also={"locks.end": _end_in_session})
def renewal_forgets_messages(
    namespace: Namespace, command: v.RenewSessionLock, connection: str
) -> Answer:
    """A renewal keeps the session and loses its messages."""
    session = session_of(namespace, command)
    until = 0 if session is None else session.locked_until
    answer = RULES.sessions.renew(namespace, command, connection)
    for queued in {} if session is None else session.locked.values():
        memory(namespace, set[str | None]).add(queued.token)
        queued.entity.look_at("locks.end", until, queued, queued.number)
    return answer


@mutant("SESS-15", "locks.apply", ABANDONED, also={"messages.give_next": _by_places})
def abandoned_comes_last(
    namespace: Namespace, queued: QueuedMessage, action: Action, reason: str
) -> None:
    """An abandoned message comes behind the others."""
    if action is Action.ABANDON:
        _put_last(namespace, queued)
    RULES.locks.apply(namespace, queued, action, reason)


@mutant("SESS-16", "sessions.get_state", (*EMPTY, GET))
def state_empty_text(namespace: Namespace, command: v.GetSessionState, connection: str) -> Answer:
    """A session without state has an empty text as its state."""
    answer = RULES.sessions.get_state(namespace, command, connection)
    if answer.outcome == v.SessionState(state=None):
        answer.outcome = v.SessionState(state="")
    return answer


@mutant("SESS-17", "sessions.set_state", (*EMPTY, SET, ANOTHER, GET))
def state_of_first(namespace: Namespace, command: v.SetSessionState, connection: str) -> Answer:
    """The first state that is set stays."""
    session = session_of(namespace, command)
    if session is not None and None not in (session.state, command.state):
        command = attrs.evolve(command, state=session.state)
    return RULES.sessions.set_state(namespace, command, connection)


@mutant("SESS-18", "sessions.set_state", (*EMPTY, SET, CLEAR, GET))
def state_not_cleared(namespace: Namespace, command: v.SetSessionState, connection: str) -> Answer:
    """Setting nothing leaves the state as it is."""
    session = session_of(namespace, command)
    if session is not None and command.state is None:
        command = attrs.evolve(command, state=session.state)
    return RULES.sessions.set_state(namespace, command, connection)


@mutant("SESS-19", "sessions.close", (*EMPTY, SET, CLOSE, ACCEPT, GET))
def state_dies_with_session(namespace: Namespace, command: v.CloseSession, *rest: Any) -> Answer:
    """Closing a session removes its state."""
    clear = v.SetSessionState(queue=command.queue, session_id=command.session_id, state=None)
    RULES.sessions.set_state(namespace, clear, *rest)
    return RULES.sessions.close(namespace, command, *rest)


@mutant("SESS-19", "partitions.switch", RECOVERED, deep=True)
def state_lost_in_outage(
    namespace: Namespace, command: v.TakePartitionDown | v.BringPartitionUp, connection: str
) -> Answer:
    """An outage loses the states of its sessions."""
    answer = RULES.partitions.switch(namespace, command, connection)
    entities = [each for each in namespace.entities.values() if each.base.path == command.queue]
    for session in chain.from_iterable(tuple(each.sessions.values()) for each in entities):
        if session.partition == command.partition:
            namespace.journal.touch(session)
            session.state = None
            RULES.sessions.let_go(namespace, session)
    return answer


@mutant("SESS-20", "sessions.set_state", (*EMPTY, OTHER, attrs.evolve(SET, session_id="t"), GET))
def state_shared(namespace: Namespace, command: v.SetSessionState, connection: str) -> Answer:
    """All sessions of a queue share one state."""
    answer = RULES.sessions.set_state(namespace, command, connection)
    for session in namespace.entities[command.queue].sessions.values():
        if session.holder is not None:
            other = attrs.evolve(command, session_id=session.name)
            RULES.sessions.set_state(namespace, other, session.holder)
    return answer


def _holder_of(namespace: Namespace, command: OfSession, connection: str) -> str:
    """Return the holder of the session, in place of a connection."""
    session = session_of(namespace, command)
    return connection if session is None or session.holder is None else session.holder


def _set_by_anybody(namespace: Namespace, command: v.SetSessionState, connection: str) -> Answer:
    holder = _holder_of(namespace, command, connection)
    return RULES.sessions.set_state(namespace, command, holder)


@mutant("SESS-21", "sessions.get_state", FOREIGN, also={"sessions.set_state": _set_by_anybody})
def state_for_everybody(namespace: Namespace, command: v.GetSessionState, *rest: Any) -> Answer:
    """Any connection gets and sets the state."""
    holder = _holder_of(namespace, command, *rest)
    return RULES.sessions.get_state(namespace, command, holder)


@mutant("SESS-22", "sessions.list_sessions", (*EMPTY, SET, LIST))
def list_forgets_states(namespace: Namespace, command: v.ListSessions, connection: str) -> Answer:
    """The list names sessions with messages only."""
    answer = RULES.sessions.list_sessions(namespace, command, connection)
    there = namespace.entities[command.queue].sessions.values()
    names = sorted(each.name for each in there if each.messages)
    answer.outcome = v.SessionsListed(session_ids=tuple(names))
    return answer


@mutant("SESS-22", "sessions.list_sessions", (*EMPTY, LIST))
def list_remembers_all(namespace: Namespace, command: v.ListSessions, connection: str) -> Answer:
    """The list names sessions that were ever held."""
    answer = RULES.sessions.list_sessions(namespace, command, connection)
    names = sorted(namespace.entities[command.queue].sessions)
    answer.outcome = v.SessionsListed(session_ids=tuple(names))
    return answer


@mutant("SESS-23", "partitions.in_session", PEEKED)
def peek_ignores_session(
    namespace: Namespace, entity: Entity, up: Iterable[Partition], session_id: str, start: int
) -> Iterator[QueuedMessage]:
    """A peek in a session shows every session."""
    return chain.from_iterable(each.line.behind(entity.messages, start) for each in up)


@mutant("SESS-24", "sessions.accept", OTHER_DOWN)
def outage_stops_sessions(namespace: Namespace, command: v.AcceptSession, *rest: Any) -> Answer:
    """While any partition is down, no session is given."""
    answer = RULES.sessions.accept(namespace, command, *rest)
    if namespace.entities[command.queue].base.down:
        raise namespace.rules.partitions.outage(namespace, "SESS-24")
    return answer


@mutant("SESS-26", "transactions.apply", COMMITTED)
def one_session_committed(namespace: Namespace, transaction: Transaction) -> None:
    """A commit keeps the messages of its first session."""
    sends = transaction.sends
    namespace.journal.touch(transaction)
    transaction.sends = tuple(
        each for each in sends if each.message.session_id == sends[0].message.session_id
    )
    RULES.transactions.apply(namespace, transaction)


MUTANTS: Final = mutant.all()
