"""Requests about the sessions of a queue `q`, and their answers."""

from observing import Observer

from busproof import vocabulary as v

SESSION_LOST = v.Refused(error=v.Error.SESSION_LOCK_LOST)

NEXT = v.AcceptNextSession(queue="q")

LIST = v.ListSessions(queue="q")

MINUTE = 60_000_000


def accept(session: str = "a") -> v.AcceptSession:
    return v.AcceptSession(queue="q", session_id=session)


def close(session: str = "a") -> v.CloseSession:
    return v.CloseSession(queue="q", session_id=session)


def receive(session: str = "a") -> v.Receive:
    return v.Receive(queue="q", session_id=session)


def renew(session: str = "a") -> v.RenewSessionLock:
    return v.RenewSessionLock(queue="q", session_id=session)


def put(state: str | None, session: str = "a") -> v.SetSessionState:
    return v.SetSessionState(queue="q", session_id=session, state=state)


def get(session: str = "a") -> v.GetSessionState:
    return v.GetSessionState(queue="q", session_id=session)


def given(session: str) -> v.SessionAccepted:
    return v.SessionAccepted(session_id=session)


def listed(*sessions: str) -> v.SessionsListed:
    return v.SessionsListed(session_ids=sessions)


def after(observer: Observer, duration: int) -> None:
    observer.has(v.AdvanceClock(duration=duration))


def allowed(
    observer: Observer, command: object, outcome: v.Outcome, connection: str = "c1"
) -> bool:
    """Whether an answer would be allowed, nothing being learned from it."""
    before = observer.possible
    found = bool(observer.saw(command, outcome, connection=connection).possible)
    observer.possible = before
    return found
