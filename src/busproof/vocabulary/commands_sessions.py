"""Requests about sessions."""

import attrs

__all__ = [
    "AcceptNextSession",
    "AcceptSession",
    "CloseSession",
    "GetSessionState",
    "ListSessions",
    "RenewSessionLock",
    "SessionCommand",
    "SetSessionState",
]


@attrs.frozen(kw_only=True)
class AcceptSession:
    """Lock one session of a queue that requires sessions, for this connection."""

    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class AcceptNextSession:
    """Lock any session that has messages and no holder, for this connection."""

    queue: str


@attrs.frozen(kw_only=True)
class RenewSessionLock:
    """Renew the lock of a session, and those of the messages received in it."""

    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class CloseSession:
    """Release the lock of a session."""

    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class SetSessionState:
    """Set the state of a session that this connection holds; `None` removes it."""

    queue: str
    session_id: str
    state: str | None = None


@attrs.frozen(kw_only=True)
class GetSessionState:
    """Get the state of a session that this connection holds."""

    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class ListSessions:
    """List the ids of the sessions that have messages."""

    queue: str


SessionCommand = (
    AcceptSession
    | AcceptNextSession
    | RenewSessionLock
    | CloseSession
    | SetSessionState
    | GetSessionState
    | ListSessions
)
