"""What is asked about sessions."""

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
    """Lock whichever session has messages and is held by nobody, for this connection."""

    queue: str


@attrs.frozen(kw_only=True)
class RenewSessionLock:
    """Let the lock of a session begin anew, and those of the messages received under it."""

    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class CloseSession:
    """Give the lock of a session back."""

    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class SetSessionState:
    """Store a text with a session that this connection holds; `None` removes what is stored."""

    queue: str
    session_id: str
    state: str | None = None


@attrs.frozen(kw_only=True)
class GetSessionState:
    """Ask what is stored with a session that this connection holds."""

    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class ListSessions:
    """Ask for the ids of the sessions that have messages."""

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
