"""Requests about sessions."""

from typing import ClassVar

import attrs

from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.values import Extent

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

    capability: ClassVar = Capability.SESSIONS
    extent: ClassVar = Extent.MESSAGES
    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class AcceptNextSession:
    """Lock any session that has messages and no holder, for this connection."""

    capability: ClassVar = Capability.NEXT_SESSION
    extent: ClassVar = Extent.MESSAGES
    queue: str


@attrs.frozen(kw_only=True)
class RenewSessionLock:
    """Renew the lock of a session, and those of the messages received in it."""

    capability: ClassVar = Capability.LOCK_RENEWAL
    extent: ClassVar = Extent.MESSAGES
    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class CloseSession:
    """Release the lock of a session."""

    capability: ClassVar = Capability.SESSIONS
    extent: ClassVar = Extent.MESSAGES
    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class SetSessionState:
    """Set the state of a session that this connection holds; `None` removes it."""

    capability: ClassVar = Capability.SESSION_STATE
    extent: ClassVar = Extent.MESSAGES
    queue: str
    session_id: str
    state: str | None = None


@attrs.frozen(kw_only=True)
class GetSessionState:
    """Get the state of a session that this connection holds."""

    capability: ClassVar = Capability.SESSION_STATE
    extent: ClassVar = Extent.MESSAGES
    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class ListSessions:
    """List the ids of the sessions that have messages."""

    capability: ClassVar = Capability.SESSION_LISTING
    extent: ClassVar = Extent.MESSAGES
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
