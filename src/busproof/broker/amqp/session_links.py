"""Links to sessions: accepting a named one, or waiting for the next that is free."""

from collections.abc import Callable
from typing import Any, Final

from proton import Link

from busproof import vocabulary as v
from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.nodes import Node
from busproof.broker.amqp.outgoing_links import Outlet
from busproof.broker.amqp.refusals import Refusal, insist, refusal_of
from busproof.broker.bounds import NUMBERS, check_bound

__all__ = ["SESSION_FILTER", "SessionSeeker", "accept_session", "find_lock_end", "properties_of"]

SESSION_FILTER: Final = "com.microsoft:session-filter"
TIMEOUT: Final = "com.microsoft:timeout"
# The service's default, according to the Python client.
DEFAULT_WAIT: Final = 65.0
"""Time to wait for the next session if the client names none, in seconds."""
TICKS_BEFORE_1970: Final = 621_355_968_000_000_000
"""Ticks of 100 nanoseconds from year 1, the origin of .NET's clock, to 1970."""


def properties_of(link: Link) -> dict[str, Any]:
    """Return the properties of a client's Attach.

    Raises:
        Refusal: the properties are not a map.
    """
    properties: Any = link.remote_properties
    if properties is None:
        return {}
    if not isinstance(properties, dict):
        raise Refusal("amqp:invalid-field", "The properties of a link are not a map.")
    return {str(name): value for name, value in properties.items()}


def find_lock_end(connection: Connection, path: str, session_id: str) -> int:
    """Return when a session's lock ends, in .NET ticks: 100 nanoseconds since year 1."""
    bus = connection.hub.bus
    return TICKS_BEFORE_1970 + (bus.epoch + bus.ends(path, session_id)) * 10


def accept_session(connection: Connection, path: str, session_id: str, holder: str) -> int:
    """Lock a session for a link; return when the lock ends, in .NET ticks.

    If the broker has ended a link, for example because its entity was disabled, the client can
    reattach it under the same name: its messages stay locked, and the session lock is not renewed.

    Raises:
        Refusal: another link holds the session, or the entity has no sessions.
    """
    bus = connection.hub.bus
    if connection.sessions.get((path, session_id)) == holder:
        if not bus.holds(path, session_id, holder):
            # Forget the expired lock, so that the client's next attempt accepts the session again.
            del connection.sessions[path, session_id]
            sentence = "The session lock has expired; accept the session again"
            raise Refusal("com.microsoft:session-lock-lost", sentence, 410)
        return find_lock_end(connection, path, session_id)
    insist(bus.ask(v.AcceptSession(queue=path, session_id=session_id), holder), path)
    return find_lock_end(connection, path, session_id)


class SessionSeeker(Node):
    """A link that waits for the next free session; it is opened once it has one."""

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
        # The Python client sends a timeout only if its caller has set one.
        seconds = check_bound(TIMEOUT, wait) / 1000 if wait in NUMBERS[TIMEOUT] else DEFAULT_WAIT
        self._timer = connection.hub.loop.call_later(seconds, self._give_up)

    @property
    def place(self) -> tuple[str, str | None]:
        """The entity that the link waits on; no particular session."""
        return self._path, None

    def begin(self) -> None:
        """Accept a session if one is free, or wait for one."""
        # Register the link but do not open it: the Attach that answers it has to name the session.
        self._connection.attached(self._link, self)
        if self.serve():
            self._connection.hub.wait(self)

    def serve(self) -> bool:
        """Accept the next session, if there is one; return whether to continue waiting."""
        connection, hub = self._connection, self._connection.hub
        if self.is_over or connection.is_ending:
            return False
        answer = hub.bus.wait_for(v.AcceptNextSession(queue=self._path), self._holder)
        if answer is None:
            return True
        self._timer.cancel()
        refusal = refusal_of(answer, self._path)
        if refusal is not None:
            connection.refuse(self._link, refusal)
        elif isinstance(answer.outcome, v.SessionAccepted):
            session_id = answer.outcome.session_id
            node = self._opened(session_id, find_lock_end(connection, self._path, session_id))
            # The client must read the Attach before the session's first message.
            connection.flush()
            # The client may have given credit before the link had a session.
            node.on_flow()
        connection.pump()
        return False

    def on_closed(self, *, by_client: bool) -> None:  # noqa: ARG002 - as `Node.on_closed`
        """Stop waiting."""
        self._timer.cancel()
        self._connection.hub.leave(self)

    def _give_up(self) -> None:
        self._connection.hub.leave(self)
        self._connection.refuse(
            self._link,
            # Python raises OperationTimeoutError for this condition, and the application may retry.
            Refusal(TIMEOUT, "No session became available within the timeout.", 408),
        )
        self._connection.pump()
