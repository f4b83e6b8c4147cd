"""AMQP over WebSockets: wraps an AMQP connection, with wsproto for the frames.

Clients use it where a proxy passes only HTTP. The wrapped connection writes to a `Channel`, which
sends binary messages where a socket would send bytes.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import unquote, urlsplit

from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Event,
    Ping,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)
from wsproto.frame_protocol import CloseReason
from wsproto.utilities import RemoteProtocolError

from busproof.broker.admin.access import is_local

if TYPE_CHECKING:
    from busproof.broker.amqp.engine import Connection

__all__ = ["PATH", "SUBPROTOCOL", "WebSocket", "is_path"]

PATH: Final = "/$servicebus/websocket"
SUBPROTOCOL: Final = "AMQPWSB10"
SUBPROTOCOLS: Final = (SUBPROTOCOL, "amqp")
"""The service's own subprotocol, which its clients request, and the one registered for AMQP."""

PIECE: Final = 4_096
"""Bytes to handle before other clients have a turn; they may hold 700 frames."""

UNREADABLE: Final = (RemoteProtocolError, UnicodeError, ValueError, AssertionError)
"""Errors that wsproto raises for bytes that are not WebSocket frames."""


class WebSocket(asyncio.Protocol):
    """A WebSocket connection with a client, and the AMQP connection within it.

    Args:
        connection: the AMQP connection.
    """

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._frames = WSConnection(ConnectionType.SERVER)
        self._received = bytearray()
        self._waits = False
        """Whether received bytes wait for this client's turn."""
        self._channel: Channel | None = None
        self._is_over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept a client and begin the wrapped connection."""
        self._channel = Channel(cast(asyncio.Transport, transport), self._frames, self._go_on)
        # Count it before the upgrade: silent clients could otherwise hold any number of sockets.
        self._connection.connection_made(self._channel)

    def data_received(self, data: bytes) -> None:
        """Handle bytes received from the client."""
        self._received += data
        # If a turn is scheduled already, it will handle these bytes, too.
        if self._waits:
            return
        if self._connection.hub.rota.left() > 0:
            self._handle()
        else:
            self._go_on()
            self._way.hold()

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up after a client that has disconnected."""
        self._is_over = True
        self._received.clear()
        self._connection.hub.rota.remove(self._handle)
        self._connection.connection_lost(exc)
        # It refers back to this protocol.
        self._channel = None

    def pause_writing(self) -> None:
        """Stop sending to a client that reads too slowly."""
        self._connection.pause_writing()

    def resume_writing(self) -> None:
        """Continue sending to a client that has caught up."""
        self._connection.resume_writing()

    @property
    def _way(self) -> "Channel":
        if self._channel is None:
            raise AssertionError("bytes arrived before the connection was made")
        return self._channel

    def _go_on(self) -> None:
        """Schedule the handling of bytes that wait."""
        if not self._waits and self._received:
            self._waits = True
            self._connection.hub.rota.add(self._handle)

    def _handle(self) -> None:
        """Handle a piece of the received bytes; the rest waits until others have had a turn."""
        self._waits = False
        way = self._way
        # `resume_reading` continues once the wrapped connection reads again.
        if way.is_paused:
            return
        # A small frame costs as much as a large one, and a flood of them would block other clients.
        piece = bytes(self._received[:PIECE])
        del self._received[:PIECE]
        if piece and not self._is_over:
            self._take(piece)
        # Stop reading, or a flood would gather in memory.
        if self._received:
            way.hold()
            self._go_on()
        else:
            way.release()

    def _take(self, piece: bytes) -> None:
        came, answers = list[bytes](), list[bytes]()
        try:
            # wsproto limits the head of an HTTP request, so it cannot fill the memory.
            self._frames.receive_data(piece)
            for event in self._frames.events():
                # After the close frame, wsproto raises an error for every answer, such as a pong.
                if self._is_over:
                    break
                self._on_event(event, came, answers)
        except UNREADABLE as error:
            hint = getattr(error, "event_hint", None)
            self._refuse(getattr(hint, "status_code", 400), f"{error}.")
            return
        # Pongs do not pass through the wrapped connection, so its limits do not bound them.
        self._way.answer(b"".join(answers), self._connection.hub.limits.unread)
        # Pass on all messages of a piece together, because a client may cut its bytes anywhere.
        if came and not self._is_over:
            self._connection.data_received(b"".join(came))

    def _on_event(self, event: Event, came: list[bytes], answers: list[bytes]) -> None:
        if isinstance(event, BytesMessage):
            came.append(bytes(event.data))
        elif isinstance(event, Ping):
            # After the broker's own close frame, wsproto sends nothing more.
            if not self._way.is_open:
                return
            answers.append(self._frames.send(event.response()))
        elif isinstance(event, Request):
            self._answer(event)
        elif isinstance(event, CloseConnection):
            self._is_over = True
            self._way.close(int(event.code))
        # The binding of AMQP to WebSockets permits only binary messages.
        elif isinstance(event, TextMessage):
            self._is_over = True
            self._way.close(CloseReason.UNSUPPORTED_DATA)

    def _answer(self, request: Request) -> None:
        if (listener := self._connection.hub.disturbances.listener) is not None:
            asked = {"upgrade": "websocket", "subprotocols": ", ".join(request.subprotocols)}
            listener.note_request("GET", request.target, asked, 0)
        if not is_path(request.target):
            self._refuse(404, f"AMQP is spoken at {PATH}.")
        elif not _may_ask(request):
            self._refuse(403, "Web pages of other hosts are refused.")
        elif (spoken := _choose_subprotocol(request.subprotocols)) is None:
            self._refuse(400, f"The subprotocol has to be {' or '.join(SUBPROTOCOLS)}.")
        else:
            self._way.begin(self._frames.send(AcceptConnection(subprotocol=spoken)))

    def _refuse(self, status: int, sentence: str) -> None:
        """Refuse the upgrade by an HTTP response, or close the open WebSocket."""
        self._is_over = True
        way = self._way
        self._connection.hub.journal.warning(
            "websocket-refused", connection=self._connection.name, said=sentence
        )
        if not way.is_open:
            # Before the upgrade the client reads HTTP.
            headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
            reject = RejectConnection(status_code=status, headers=headers, has_body=True)
            data = self._frames.send(reject)
            data += self._frames.send(RejectData(data=f"{sentence}\n".encode()))
            way.begin(data, is_open=False)
        way.close(CloseReason.PROTOCOL_ERROR)


class Channel(asyncio.Transport):
    """The transport of the wrapped connection: sends what it writes as binary messages.

    Args:
        transport: the transport to the client.
        frames: wraps bytes into WebSocket frames.
        resumed: called to handle the bytes received while reading was paused.
    """

    def __init__(
        self, transport: asyncio.Transport, frames: WSConnection, resumed: Callable[[], None]
    ) -> None:
        super().__init__()
        self._transport = transport
        self._frames = frames
        self._resumed = resumed
        self._is_held = False
        self.is_open = False
        """Whether the upgrade to a WebSocket has been accepted."""
        self.is_paused = False
        """Whether the wrapped connection has paused reading."""

    def begin(self, answer: bytes, *, is_open: bool = True) -> None:
        """Answer the client's upgrade request."""
        self.is_open = is_open
        self._transport.write(answer)

    def answer(self, data: bytes, most: int) -> None:
        """Answer pings; abort if the client keeps sending them without reading the answers."""
        if data and not self._transport.is_closing():
            self._transport.write(data)
            if self._transport.get_write_buffer_size() > 2 * most:
                self._transport.abort()

    def write(self, data: Any) -> None:
        """Send bytes as a binary message; drop them before the upgrade."""
        if self.is_open and not self.is_closing():
            self._transport.write(self._frames.send(BytesMessage(data=bytes(data))))

    def close(self, code: int = CloseReason.NORMAL_CLOSURE) -> None:
        """Close the WebSocket, then the transport, once everything is written."""
        if self.is_open and not self._transport.is_closing():
            self.is_open = False
            # Without a close frame, the client would see a broken connection.
            self._transport.write(self._frames.send(_goodbye(code)))
        self._transport.close()

    def abort(self) -> None:
        """Close the transport at once."""
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether the transport is closing."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return information about the transport, such as the client's address."""
        return self._transport.get_extra_info(name, default)

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that wait to be sent."""
        return self._transport.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set how many waiting bytes make the transport ask for a pause, and how many end it."""
        self._transport.set_write_buffer_limits(high, low)

    def pause_reading(self) -> None:
        """Stop passing bytes to the wrapped connection."""
        self.is_paused = True
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Pass the waiting bytes to the wrapped connection, and read on."""
        self.is_paused = False
        self._resumed()
        if not self._is_held:
            self._transport.resume_reading()

    def hold(self) -> None:
        """Stop reading from the socket until the received bytes are handled."""
        self._is_held = True
        self._transport.pause_reading()

    def release(self) -> None:
        """Read again, unless the wrapped connection has paused reading."""
        if self._is_held:
            self._is_held = False
            if not self.is_paused and not self._transport.is_closing():
                self._transport.resume_reading()


def _goodbye(code: int) -> CloseConnection:
    # Some codes, such as the one for "no status", must not be sent (RFC 6455, section 7.4.1).
    known = code if code in set(CloseReason) and code < CloseReason.NO_STATUS_RCVD else 1000
    return CloseConnection(code=known)


def is_path(target: str) -> bool:
    """Return whether AMQP is spoken at the target of a request."""
    # Clients write the path with a trailing slash, escapes and a query.
    return unquote(target.partition("?")[0]).rstrip("/").lower() == PATH


def _choose_subprotocol(offered: list[str]) -> str | None:
    """Return the first offered subprotocol that means AMQP, in the client's spelling."""
    known = {subprotocol.lower() for subprotocol in SUBPROTOCOLS}
    return next((name for name in offered if name.lower() in known), None)


def _may_ask(request: Request) -> bool:
    """Return whether a request may be served: not one from a web page of another host.

    Some clients other than browsers send the host that they connect to as their origin.
    """
    headers = {bytes(name).lower(): bytes(value) for name, value in request.extra_headers}
    origin = headers.get(b"origin")
    # Only browsers must send an origin; without this check, any web page could connect.
    if origin is None:
        return True
    page = urlsplit(origin.decode("latin-1")).hostname or ""
    host = urlsplit(f"//{request.host}").hostname or ""
    # Web applications are developed on pages of this machine.
    return is_local(page) or page == host
