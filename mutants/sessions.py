"""Mutants of SESS: who holds a session, and its messages."""

from collections.abc import Iterator
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.life_cycle import Action
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.values import Key, Refusal
from busproof.mutants.entities import partitions_up
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import QUEUE, Run, abandon, complete, create, over, receive, send, wait
from busproof.mutants.wrappers import (
    afterwards,
    beforehand,
    instead,
    only_where,
    refuses,
    refuses_as,
)

OfSession = (
    v.AcceptSession | v.CloseSession | v.RenewSessionLock | v.SetSessionState | v.GetSessionState
)
CREATE: Final = create(requires_session=True)
ACCEPT: Final = v.AcceptSession(queue=QUEUE, session_id="s")
OTHER: Final = v.AcceptSession(queue=QUEUE, session_id="t")
CLOSE: Final = v.CloseSession(queue=QUEUE, session_id="s")
RENEW: Final = v.RenewSessionLock(queue=QUEUE, session_id="s")
NEXT: Final = v.AcceptNextSession(queue=QUEUE)
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


def session_of(namespace: Namespace, command: OfSession) -> Session | None:
    """Return the session in a command, if it exists."""
    entity = namespace.entities.get(command.queue)
    return None if entity is None else entity.sessions.get(command.session_id)


def name_of(session: Session) -> tuple[str, str]:
    """Return the path of a session's entity, and the session's id."""
    return session.entity.path, session.name


def _take_sessionless(namespace: Namespace, entity: Entity, message: v.Message) -> Key | None:
    if message.session_id is None:
        return namespace.rules.keys.effective_key(entity, message)
    return RULES.messages.key_of(namespace, entity, message)


def _keep_sessionless(namespace: Namespace, entity: Entity, message: v.Message, *rest: Any) -> None:
    namespace.rules.messages.enqueue(entity, message, *rest)


@mutant(
    "SESS-01",
    "messages.give_next",
    also={"messages.key_of": _take_sessionless, "forwarding.reject_sessionless": _keep_sessionless},
)
@run(CREATE, send("m1", message_id="x"), ACCEPT, receive("s"))
def sessionless_given(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> v.MessageView | None:
    """A message without a SessionId is given to the holder of any session."""
    up = partitions_up(entity) if session is not None else ()
    strays = (partition.line.first(entity.messages) for partition in up)
    stray = next((queued for queued in strays if queued is not None), None)
    if stray is None:
        return RULES.messages.give_next(namespace, entity, session, mode, *rest)
    return namespace.rules.messages.give(stray, mode)


@mutant("SESS-02", "sessions.of_receive", how=instead)
@run(CREATE, send("m1", session_id="s"), receive())
def received_in_no_session(entity: Entity, name: str | None) -> Session | None:
    """A receive without a session is answered as empty instead of refused."""
    missing = name is None and entity.settings.requires_session
    return Session(entity, "", -1) if missing else None


@mutant("SESS-03", "sessions.hold", EMPTY, refuses("SESS-03", v.Error.SESSION_CANNOT_BE_LOCKED))
def empty_session_refused(session: Session) -> bool:
    """A session without messages cannot be accepted."""
    return not session.messages


@mutant("SESS-03", "sessions.accept", (*EMPTY, CLOSE, over("c2", ACCEPT)), afterwards)
def session_closed_to_others(
    namespace: Namespace, command: v.AcceptSession, connection: str
) -> None:
    """Only the first connection that held a session can ever hold it."""
    owners = memory(namespace, dict[tuple[str, str], str])
    if owners.setdefault((command.queue, command.session_id), connection) != connection:
        raise Refusal(v.Error.SESSION_CANNOT_BE_LOCKED, "SESS-03")


@mutant("SESS-04", "messages.give_next", TWO_HOLDERS)
def other_session_given(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> v.MessageView | None:
    """A receiver gets the oldest message of any session."""
    locked = [candidate for candidate in entity.sessions.values() if candidate.holder is not None]
    up = [candidate for candidate in locked if candidate.partition not in entity.base.down]
    first = [candidate.line.first(entity.messages) for candidate in up]
    offered = [queued for queued in first if queued is not None]
    if session is None or len(locked) < 2 or not offered:
        return RULES.messages.give_next(namespace, entity, session, mode, *rest)
    oldest = min(offered, key=lambda queued: queued.arrival)
    return namespace.rules.messages.give(oldest, mode)


@beside("sessions.hold", afterwards)
def _note_arrivals(namespace: Namespace, session: Session) -> None:
    memory(namespace, dict[tuple[str, str], int])[name_of(session)] = namespace.arrivals


@mutant("SESS-05", "messages.give_next", SENT_LATER, only_where, also=_note_arrivals)
def later_messages_held_back(namespace: Namespace, entity: Entity, session: Session | None) -> bool:
    """The holder of a session receives only messages from before its lock."""
    queued = None if session is None else session.line.first(entity.messages)
    came_with = memory(namespace, dict[tuple[str, str], int])
    return session is None or not queued or queued.arrival <= came_with[name_of(session)]


@mutant("SESS-06", "sessions.free", (*HELD, send("m2", session_id="t"), NEXT), instead)
def next_session_missed(entity: Entity) -> Iterator[Session] | None:
    """No next session is found while any session is held."""
    is_held = any(session.holder is not None for session in entity.sessions.values())
    return iter(()) if is_held else None


@mutant("SESS-07", "sessions.free", (*HELD, over("c2", NEXT)))
def next_session_held(entity: Entity) -> Iterator[Session]:
    """The next session may be one that another connection holds."""
    up = (
        session for session in entity.sessions.values() if session.partition not in entity.base.down
    )
    return (session for session in up if session.line.first(entity.messages) is not None)


def _is_given_up(session: Session, counts: bool) -> bool:
    """Return whether the holder has ended its lock; otherwise the lock has expired."""
    return not counts or session.holder is not None


@mutant("SESS-08", "sessions.give_back", (*TAKEN, CLOSE, *TAKE_OVER), only_where)
def closing_keeps_locks(session: Session, *, counts: bool) -> bool:
    """Messages stay locked when their session is closed."""
    return not _is_given_up(session, counts)


def _put_last(namespace: Namespace, queued: QueuedMessage) -> None:
    """Put a message after all that have arrived so far."""
    places = memory(namespace, dict[tuple[str, int], float])
    places[queued.entity.path, queued.number] = namespace.arrivals + 0.5


@beside("messages.give_next")
def _by_places(
    namespace: Namespace, entity: Entity, session: Session | None, mode: v.ReceiveMode, *rest: Any
) -> v.MessageView | None:
    if session is None or session.partition in entity.base.down:
        return RULES.messages.give_next(namespace, entity, session, mode, *rest)
    places = memory(namespace, dict[tuple[str, int], float])

    def place(queued: QueuedMessage) -> float:
        return places.get((entity.path, queued.number), queued.arrival)

    queued = min(session.line.available(entity.messages), key=place, default=None)
    return None if queued is None else namespace.rules.messages.give(queued, mode)


@mutant("SESS-08", "sessions.give_back", how=beforehand, also=_by_places, deep=True)
@run(*CLOSED)
def closing_reorders(namespace: Namespace, session: Session, *, counts: bool) -> None:
    """Closing a session puts its released messages after all others."""
    for queued in session.locked.values() if _is_given_up(session, counts) else ():
        _put_last(namespace, queued)


@mutant("SESS-09", "sessions.give_back", (*TAKEN, CLOSE, ACCEPT, receive("s")))
def closing_counts(namespace: Namespace, session: Session) -> None:
    """A delivery that ends by closing the session counts."""
    RULES.sessions.give_back(namespace, session, counts=True)


@mutant("SESS-10", "sessions.release", (*TAKEN, wait(61), ACCEPT, receive("s")))
def expiry_not_counted(namespace: Namespace, session: Session) -> None:
    """A delivery that ends because the session's lock expires does not count."""
    RULES.sessions.release(namespace, session, counts=False)


@mutant("SESS-11", "sessions.end", (*HELD, wait(61), over("c2", ACCEPT)))
def session_never_expires() -> None:
    """A session's lock lasts until it is closed."""


@beside("sessions.hold", afterwards)
def _note_holder(namespace: Namespace, session: Session, connection: str) -> None:
    memory(namespace, dict[tuple[str, str], str])[name_of(session)] = connection


@mutant("SESS-12", "sessions.of_receive", LOST, instead, also=_note_holder)
def lost_session_read(
    namespace: Namespace, entity: Entity, name: str | None, connection: str
) -> Session | None:
    """A connection can receive from a session after its lock has expired."""
    session = entity.sessions.get(name or "")
    holders = memory(namespace, dict[tuple[str, str], str])
    lost = session is not None and session.holder is None
    return session if lost and session and holders.get(name_of(session)) == connection else None


@mutant(
    "SESS-12",
    "sessions.renew",
    how=refuses_as(v.Error.INVALID_OPERATION, v.Error.SESSION_LOCK_LOST),
)
@run(*HELD, wait(61), RENEW)
def lost_session_other_error() -> None:
    """The renewal of a lost session lock is refused as an invalid operation."""


@mutant("SESS-13", "sessions.renew", (*HELD, wait(40), RENEW, wait(40), over("c2", ACCEPT)))
def renewal_ignored(namespace: Namespace, command: v.RenewSessionLock, connection: str) -> Answer:
    """The renewal of a session lock succeeds without effect."""
    session = session_of(namespace, command)
    until = 0 if session is None else session.locked_until
    answer = RULES.sessions.renew(namespace, command, connection)
    if session is not None:
        session.locked_until = until
    return answer


@beside("locks.end", beforehand)
def _end_in_session(namespace: Namespace, queued: QueuedMessage) -> None:
    if queued.token in memory(namespace, set[str | None]):
        namespace.rules.locks.release(queued, Action.LOCK_ENDS)


@mutant("SESS-14", "sessions.renew", RENEWED, also=_end_in_session)
def renewal_forgets_messages(
    namespace: Namespace, command: v.RenewSessionLock, connection: str
) -> Answer:
    """The renewal of a session lock does not renew the locks of its messages."""
    session = session_of(namespace, command)
    until = 0 if session is None else session.locked_until
    answer = RULES.sessions.renew(namespace, command, connection)
    for queued in {} if session is None else session.locked.values():
        memory(namespace, set[str | None]).add(queued.token)
        queued.entity.look_at("locks.end", until, queued, queued.number)
    return answer


@mutant("SESS-15", "locks.apply", ABANDONED, beforehand, also=_by_places)
def abandoned_comes_last(namespace: Namespace, queued: QueuedMessage, action: Action) -> None:
    """An abandoned message of a session comes after the others."""
    if action is Action.ABANDON:
        _put_last(namespace, queued)
