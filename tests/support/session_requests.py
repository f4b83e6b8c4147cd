"""Requests about the sessions of a queue `q`, and their answers."""

from observing import Observer

from busproof.vocabulary.commands import (
    AcceptNextSession,
    AcceptSession,
    AdvanceClock,
    CloseSession,
    GetSessionState,
    ListSessions,
    Receive,
    RenewSessionLock,
    SetSessionState,
)
from busproof.vocabulary.outcomes import (
    Outcome,
    Refused,
    SessionAccepted,
    SessionsListed,
)
from busproof.vocabulary.values import Error

SESSION_LOST = Refused(error=Error.SESSION_LOCK_LOST)

NEXT = AcceptNextSession(queue="q")

LIST = ListSessions(queue="q")

MINUTE = 60_000_000


def accept(session: str = "a") -> AcceptSession:
    return AcceptSession(queue="q", session_id=session)


def close(session: str = "a") -> CloseSession:
    return CloseSession(queue="q", session_id=session)


def receive(session: str = "a") -> Receive:
    return Receive(queue="q", session_id=session)


def renew(session: str = "a") -> RenewSessionLock:
    return RenewSessionLock(queue="q", session_id=session)


def put(state: str | None, session: str = "a") -> SetSessionState:
    return SetSessionState(queue="q", session_id=session, state=state)


def get(session: str = "a") -> GetSessionState:
    return GetSessionState(queue="q", session_id=session)


def given(session: str) -> SessionAccepted:
    return SessionAccepted(session_id=session)


def listed(*sessions: str) -> SessionsListed:
    return SessionsListed(session_ids=sessions)


def after(observer: Observer, duration: int) -> None:
    observer.has(AdvanceClock(duration=duration))


def allowed(observer: Observer, command: object, outcome: Outcome, connection: str = "c1") -> bool:
    """Whether an answer would be allowed, nothing being learned from it."""
    before = observer.possible
    found = bool(observer.saw(command, outcome, connection=connection).possible)
    observer.possible = before
    return found
