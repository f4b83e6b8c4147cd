"""Mutants of SESS: who holds a session, and its messages."""

from collections.abc import Iterator
from typing import Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.forwarding import Forwarding
from busproof.model.life_cycle import Action
from busproof.model.locks import Locks
from busproof.model.messages import Messages
from busproof.model.rules import Namespace
from busproof.model.sessions import Sessions
from busproof.model.state import Entity, QueuedMessage, Session
from busproof.model.values import InTransit, Key, Refusal
from busproof.mutants.entities import partitions_up
from busproof.mutants.mutant import memory, mutant, run
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


class _TakeSessionless(Messages):
    def key_of(self, entity: Entity, message: v.Message) -> Key | None:
        if message.session_id is None:
            return self.rules.keys.effective_key(entity, message)
        return super().key_of(entity, message)


class _KeepSessionless(Forwarding):
    def reject_sessionless(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        self.rules.messages.enqueue(entity, message, partition, transit)


@mutant(
    "SESS-01",
    also=(
        _TakeSessionless,
        _KeepSessionless,
    ),
)
@run(CREATE, send("m1", message_id="x"), ACCEPT, receive("s"))
class SessionlessGiven(Messages):
    """A message without a SessionId is given to the holder of any session."""

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        up = partitions_up(entity) if session is not None else ()
        strays = (partition.line.first(entity.messages) for partition in up)
        stray = next((queued for queued in strays if queued is not None), None)
        if stray is None:
            return super().give_next(entity, session, mode, connection)
        return self.give(stray, mode)


@mutant("SESS-02")
@run(CREATE, send("m1", session_id="s"), receive())
class ReceivedInNoSession(Sessions):
    """A receive without a session is answered as empty instead of refused."""

    @instead
    def of_receive(self, entity: Entity, name: str | None) -> Session | None:
        missing = name is None and entity.settings.requires_session
        return Session(entity, "", -1) if missing else None


@mutant("SESS-03", EMPTY)
class EmptySessionRefused(Sessions):
    """A session without messages cannot be accepted."""

    @refuses("SESS-03", v.Error.SESSION_CANNOT_BE_LOCKED)
    def hold(self, session: Session) -> bool:
        return not session.messages


@mutant("SESS-03", (*EMPTY, CLOSE, over("c2", ACCEPT)))
class SessionClosedToOthers(Sessions):
    """Only the first connection that held a session can ever hold it."""

    @afterwards
    def accept(self, command: v.AcceptSession, connection: str) -> None:
        owners = memory(self.rules.namespace, dict[tuple[str, str], str])
        if owners.setdefault((command.queue, command.session_id), connection) != connection:
            raise Refusal(v.Error.SESSION_CANNOT_BE_LOCKED, "SESS-03")


@mutant("SESS-04", TWO_HOLDERS)
class OtherSessionGiven(Messages):
    """A receiver gets the oldest message of any session."""

    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        locked = [
            candidate for candidate in entity.sessions.values() if candidate.holder is not None
        ]
        up = [candidate for candidate in locked if candidate.partition not in entity.base.down]
        first = [candidate.line.first(entity.messages) for candidate in up]
        offered = [queued for queued in first if queued is not None]
        if session is None or len(locked) < 2 or not offered:
            return super().give_next(entity, session, mode, connection)
        oldest = min(offered, key=lambda queued: queued.arrival)
        return self.give(oldest, mode)


class _NoteArrivals(Sessions):
    @afterwards
    def hold(self, session: Session) -> None:
        memory(self.rules.namespace, dict[tuple[str, str], int])[name_of(session)] = (
            self.namespace.arrivals
        )


@mutant("SESS-05", SENT_LATER, also=(_NoteArrivals,))
class LaterMessagesHeldBack(Messages):
    """The holder of a session receives only messages from before its lock."""

    @only_where
    def give_next(self, entity: Entity, session: Session | None) -> bool:
        queued = None if session is None else session.line.first(entity.messages)
        came_with = memory(self.rules.namespace, dict[tuple[str, str], int])
        return session is None or not queued or queued.arrival <= came_with[name_of(session)]


@mutant("SESS-06", (*HELD, send("m2", session_id="t"), NEXT))
class NextSessionMissed(Sessions):
    """No next session is found while any session is held."""

    @instead
    def free(self, entity: Entity) -> Iterator[Session] | None:
        is_held = any(session.holder is not None for session in entity.sessions.values())
        return iter(()) if is_held else None


@mutant("SESS-07", (*HELD, over("c2", NEXT)))
class NextSessionHeld(Sessions):
    """The next session may be one that another connection holds."""

    def free(self, entity: Entity) -> Iterator[Session]:
        up = (
            session
            for session in entity.sessions.values()
            if session.partition not in entity.base.down
        )
        return (session for session in up if session.line.first(entity.messages) is not None)


def _is_given_up(session: Session, counts: bool) -> bool:
    """Return whether the holder has ended its lock; otherwise the lock has expired."""
    return not counts or session.holder is not None


@mutant("SESS-08", (*TAKEN, CLOSE, *TAKE_OVER))
class ClosingKeepsLocks(Sessions):
    """Messages stay locked when their session is closed."""

    @only_where
    def give_back(self, session: Session, *, counts: bool) -> bool:
        return not _is_given_up(session, counts)


def _put_last(namespace: Namespace, queued: QueuedMessage) -> None:
    """Put a message after all that have arrived so far."""
    places = memory(namespace, dict[tuple[str, int], float])
    places[queued.entity.path, queued.number] = namespace.arrivals + 0.5


class _ByPlaces(Messages):
    def give_next(
        self, entity: Entity, session: Session | None, mode: v.ReceiveMode, connection: str
    ) -> v.MessageView | None:
        if session is None or session.partition in entity.base.down:
            return super().give_next(entity, session, mode, connection)
        places = memory(self.rules.namespace, dict[tuple[str, int], float])

        def place(queued: QueuedMessage) -> float:
            return places.get((entity.path, queued.number), queued.arrival)

        queued = min(session.line.available(entity.messages), key=place, default=None)
        return None if queued is None else self.give(queued, mode)


@mutant("SESS-08", also=(_ByPlaces,), deep=True)
@run(*CLOSED)
class ClosingReorders(Sessions):
    """Closing a session puts its released messages after all others."""

    @beforehand
    def give_back(self, session: Session, *, counts: bool) -> None:
        for queued in session.locked.values() if _is_given_up(session, counts) else ():
            _put_last(self.rules.namespace, queued)


@mutant("SESS-09", (*TAKEN, CLOSE, ACCEPT, receive("s")))
class ClosingCounts(Sessions):
    """A delivery that ends by closing the session counts."""

    def give_back(self, session: Session, *, counts: bool) -> None:
        super().give_back(session, counts=True)


@mutant("SESS-10", (*TAKEN, wait(61), ACCEPT, receive("s")))
class ExpiryNotCounted(Sessions):
    """A delivery that ends because the session's lock expires does not count."""

    def release(self, session: Session, *, counts: bool) -> None:
        super().release(session, counts=False)


@mutant("SESS-11", (*HELD, wait(61), over("c2", ACCEPT)))
class SessionNeverExpires(Sessions):
    """A session's lock lasts until it is closed."""

    def end(self, session: Session) -> None:
        pass


class _NoteHolder(Sessions):
    @afterwards
    def hold(self, session: Session, connection: str) -> None:
        memory(self.rules.namespace, dict[tuple[str, str], str])[name_of(session)] = connection


@mutant("SESS-12", LOST, also=(_NoteHolder,))
class LostSessionRead(Sessions):
    """A connection can receive from a session after its lock has expired."""

    @instead
    def of_receive(self, entity: Entity, name: str | None, connection: str) -> Session | None:
        session = entity.sessions.get(name or "")
        holders = memory(self.rules.namespace, dict[tuple[str, str], str])
        lost = session is not None and session.holder is None
        return session if lost and session and holders.get(name_of(session)) == connection else None


@mutant("SESS-12")
@run(*HELD, wait(61), RENEW)
class LostSessionOtherError(Sessions):
    """The renewal of a lost session lock is refused as an invalid operation."""

    @refuses_as(v.Error.INVALID_OPERATION, v.Error.SESSION_LOCK_LOST)
    def renew(self) -> None:
        pass


@mutant("SESS-13", (*HELD, wait(40), RENEW, wait(40), over("c2", ACCEPT)))
class RenewalIgnored(Sessions):
    """The renewal of a session lock succeeds without effect."""

    def renew(self, command: v.RenewSessionLock, connection: str) -> Answer:
        session = session_of(self.rules.namespace, command)
        until = 0 if session is None else session.locked_until
        answer = super().renew(command, connection)
        if session is not None:
            session.locked_until = until
        return answer


class _EndInSession(Locks):
    @beforehand
    def end(self, queued: QueuedMessage) -> None:
        if queued.token in memory(self.rules.namespace, set[str | None]):
            self.release(queued, Action.LOCK_ENDS)


@mutant("SESS-14", RENEWED, also=(_EndInSession,))
class RenewalForgetsMessages(Sessions):
    """The renewal of a session lock does not renew the locks of its messages."""

    def renew(self, command: v.RenewSessionLock, connection: str) -> Answer:
        session = session_of(self.rules.namespace, command)
        until = 0 if session is None else session.locked_until
        answer = super().renew(command, connection)
        for queued in {} if session is None else session.locked.values():
            memory(self.rules.namespace, set[str | None]).add(queued.token)
            queued.entity.look_at("locks.end", until, queued, queued.number)
        return answer


@mutant("SESS-15", ABANDONED, also=(_ByPlaces,))
class AbandonedComesLast(Locks):
    """An abandoned message of a session comes after the others."""

    @beforehand
    def apply(self, queued: QueuedMessage, action: Action) -> None:
        if action is Action.ABANDON:
            _put_last(self.rules.namespace, queued)
