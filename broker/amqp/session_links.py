"""Links to sessions: accepting one, or waiting for the next that is free."""

from collections.abc import Callable
from typing import Any, Final

from proton import Link

from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.nodes import Node
from busproof.broker.amqp.outgoing_links import Outlet
from busproof.broker.amqp.refusals import Refusal, insist, refusal_of
from busproof.broker.bounds import NUMBERS, bounded
from busproof.vocabulary.commands import AcceptNextSession, AcceptSession
from busproof.vocabulary.outcomes import SessionAccepted

__all__ = ["SESSION_FILTER", "SessionSeeker", "accepted", "locked_until", "properties_of"]

SESSION_FILTER: Final = "com.microsoft:session-filter"
TIMEOUT: Final = "com.microsoft:timeout"
DEFAULT_WAIT: Final = 65.0
"""For how long the next session is waited for where the client does not say, in seconds."""
TICKS_BEFORE_1970: Final = 621_355_968_000_000_000
"""Hundreds of nanoseconds from year 1 to 1970, from where clients count here."""


def properties_of(link: Link) -> dict[str, Any]:
    """The properties with which a client asks for a link.

    Raises:
        Refusal: they are not a map.
    """
    said: Any = link.remote_properties
    if said is None:
        return {}
    if not isinstance(said, dict):
        raise Refusal("amqp:invalid-field", "The properties of a link are not a map.")
    return {str(name): value for name, value in said.items()}


def locked_until(connection: Connection, path: str, session_id: str) -> int:
    """When a session's lock ends, in hundreds of nanoseconds since year 1."""
    bus = connection.hub.bus
    return TICKS_BEFORE_1970 + (bus.epoch + bus.ends(path, session_id)) * 10


def accepted(connection: Connection, path: str, session_id: str, holder: str) -> int:
    """Lock a session; returns when its lock ends.

    A link that the broker has ended, for example because the entity was disabled, is taken up
    again under its name: what was received over it stays locked, and the lock ends when it did.

    Raises:
        Refusal: another link holds it, or the entity has none.
    """
    bus = connection.hub.bus
    if connection.sessions.get((path, session_id)) == holder:
        if not bus.holds(path, session_id, holder):
            del connection.sessions[path, session_id]
            said = "The session lock has expired; accept the session again"
            raise Refusal("com.microsoft:session-lock-lost", said, 410)
        return locked_until(connection, path, session_id)
    insist(bus.ask(AcceptSession(queue=path, session_id=session_id), holder), path)
    return locked_until(connection, path, session_id)


class SessionSeeker(Node):
    """A link that waits for a session; it is not open before there is one."""

    def __init__(
        self,
        connection: Connection,
        link: Link,
        path: str,
        holder: str,
        opened: Callable[[str, int], Outlet],
    ) -> None:
        self._connection = connection
        self._link = link
        self._path = path
        self.needs = ("Listen", path)
        self._holder = holder
        self._opened = opened
        wait = properties_of(link).get(TIMEOUT)
        seconds = bounded(TIMEOUT, wait) / 1000 if wait in NUMBERS[TIMEOUT] else DEFAULT_WAIT
        self._timer = connection.hub.loop.call_later(seconds, self._give_up)

    @property
    def place(self) -> tuple[str, str | None]:
        """What it waits for: no session in particular."""
        return self._path, None

    def begin(self) -> None:
        """Take a session if there is one, or wait."""
        self._connection.attached(self._link, self)
        if self.serve():
            self._connection.hub.wait(self)

    def serve(self) -> bool:
        """Take the next session, if there is one; whether it goes on waiting."""
        connection, hub = self._connection, self._connection.hub
        answer = hub.bus.wait_for(AcceptNextSession(queue=self._path), self._holder)
        if answer is None:
            return True
        self._timer.cancel()
        refusal = refusal_of(answer, self._path)
        if refusal is not None:
            connection.refuse(self._link, refusal)
        elif isinstance(answer.outcome, SessionAccepted):
            session_id = answer.outcome.session_id
            node = self._opened(session_id, locked_until(connection, self._path, session_id))
            connection.flush()
            node.on_flow()
        connection.pump()
        return False

    def on_closed(self, *, by_client: bool) -> None:  # noqa: ARG002 - nodes are told
        """The client does not want to wait any longer."""
        self._timer.cancel()
        self._connection.hub.leave(self)

    def _give_up(self) -> None:
        self._connection.hub.leave(self)
        self._connection.refuse(
            self._link,
            Refusal(TIMEOUT, "No session became available in the time that was given.", 408),
        )
        self._connection.pump()
        self._connection.pump()
