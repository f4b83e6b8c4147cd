"""AMQP over WebSockets, with wsproto: frames in, bytes for a connection out, and back.

Clients use it where a proxy passes only HTTP. The connection inside sees a `Channel`, which writes
binary messages where a socket would write bytes.
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

__all__ = ["PATH", "SUBPROTOCOL", "WebSocket"]

PATH: Final = "/$servicebus/websocket"
SUBPROTOCOL: Final = "AMQPWSB10"
SUBPROTOCOLS: Final = (SUBPROTOCOL, "amqp")
"""The service's own subprotocol, which its clients request, and the one registered for AMQP."""

PIECE: Final = 8_192
"""Bytes handled before other clients have a turn; they may hold 1,300 frames."""

UNREADABLE: Final = (RemoteProtocolError, UnicodeError, ValueError, AssertionError)
"""Errors that wsproto raises for bytes that are not WebSocket frames."""


class WebSocket(asyncio.Protocol):
    """A WebSocket with one client and an AMQP connection inside.

    Args:
        connection: the AMQP connection.
    """

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._frames = WSConnection(ConnectionType.SERVER)
        self._received = bytearray()
        self._next: asyncio.Handle | None = None
        self._channel: Channel | None = None
        self._is_over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept a client, which counts as a connection from now on."""
        self._channel = Channel(cast(asyncio.Transport, transport), self._frames, self._go_on)
        # Counted from now on: silent clients could hold any number of sockets otherwise.
        self._connection.connection_made(self._channel)

    def data_received(self, data: bytes) -> None:
        """Handle received bytes."""
        self._received += data
        if self._next is None:
            self._handle()

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up after a client that has disconnected."""
        self._is_over = True
        self._received.clear()
        if self._next is not None:
            self._next.cancel()
        self._connection.connection_lost(exc)

    def pause_writing(self) -> None:
        """Stop sending to a client that reads too slowly."""
        self._connection.pause_writing()

    def resume_writing(self) -> None:
        """Continue sending to a client that has caught up."""
        self._connection.resume_writing()

    @property
    def _way(self) -> "Channel":
        if self._channel is None:
            raise AssertionError("bytes came before there was a connection")
        return self._channel

    def _go_on(self) -> None:
        """Schedule the handling of bytes that were received meanwhile."""
        if self._next is None and self._received:
            self._next = self._connection.hub.loop.call_soon(self._handle)

    def _handle(self) -> None:
        """Handle a piece of the received bytes; the rest waits until the others had a turn."""
        self._next = None
        way = self._way
        if way.is_paused:
            return
        # A small frame costs as much as a large one: a flood of them would stop all others.
        piece = bytes(self._received[:PIECE])
        del self._received[:PIECE]
        if piece and not self._is_over:
            self._take(piece)
        if self._received:
            way.hold()
            self._go_on()
        else:
            way.release()

    def _take(self, piece: bytes) -> None:
        came, answers = list[bytes](), list[bytes]()
        try:
            # The head of a request is bounded there, so that one without an end fills no memory.
            self._frames.receive_data(piece)
            for event in self._frames.events():
                self._on_event(event, came, answers)
        except UNREADABLE as error:
            hint = getattr(error, "event_hint", None)
            self._refuse(getattr(hint, "status_code", 400), f"{error}.")
            return
        # Pongs do not pass through the connection inside, whose limits would bound them.
        self._way.answer(b"".join(answers), self._connection.hub.limits.unread)
        # All of a piece at once: a client may cut its bytes into messages anywhere.
        if came and not self._is_over:
            self._connection.data_received(b"".join(came))

    def _on_event(self, event: Event, came: list[bytes], answers: list[bytes]) -> None:
        if isinstance(event, BytesMessage):
            came.append(bytes(event.data))
        elif isinstance(event, Ping):
            answers.append(self._frames.send(event.response()))
        elif isinstance(event, Request):
            self._answer(event)
        elif isinstance(event, CloseConnection):
            self._is_over = True
            self._way.close(int(event.code))
        # AMQP's binding to WebSockets has binary messages only.
        elif isinstance(event, TextMessage):
            self._is_over = True
            self._way.close(CloseReason.UNSUPPORTED_DATA)

    def _answer(self, request: Request) -> None:
        if not _is_the_path(request.target):
            self._refuse(404, f"AMQP is spoken at {PATH}.")
        elif not _may_ask(request):
            self._refuse(403, "A page of another host asks.")
        elif (spoken := _spoken(request.subprotocols)) is None:
            self._refuse(400, f"The subprotocol has to be {' or '.join(SUBPROTOCOLS)}.")
        else:
            self._way.begin(self._frames.send(AcceptConnection(subprotocol=spoken)))

    def _refuse(self, status: int, sentence: str) -> None:
        """Refuse the upgrade in HTTP, or end the open WebSocket."""
        self._is_over = True
        way = self._way
        self._connection.hub.journal.warning(
            "websocket-refused", connection=self._connection.name, said=sentence
        )
        if not way.is_open:
            # The refusal is read as HTTP: there is no WebSocket yet in which to say anything.
            headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
            reject = RejectConnection(status_code=status, headers=headers, has_body=True)
            data = self._frames.send(reject)
            data += self._frames.send(RejectData(data=f"{sentence}\n".encode()))
            way.begin(data, is_open=False)
        way.close(CloseReason.PROTOCOL_ERROR)


class Channel(asyncio.Transport):
    """A WebSocket as the transport of the connection inside: written bytes become binary messages.

    Args:
        transport: the transport to the client.
        frames: wraps written bytes into frames.
        resumed: handles the bytes that were received while reading was paused.
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
        """Whether the connection inside has paused reading."""

    def begin(self, answer: bytes, *, is_open: bool = True) -> None:
        """Answer the client's upgrade request."""
        self.is_open = is_open
        self._transport.write(answer)

    def answer(self, data: bytes, most: int) -> None:
        """Answer pings; a client that sends more but reads no answers is disconnected."""
        if data and not self._transport.is_closing():
            self._transport.write(data)
            if self._transport.get_write_buffer_size() > 2 * most:
                self._transport.abort()

    def write(self, data: Any) -> None:
        """Write bytes as a message; before the upgrade they are dropped."""
        if self.is_open and not self.is_closing():
            self._transport.write(self._frames.send(BytesMessage(data=bytes(data))))

    def close(self, code: int = CloseReason.NORMAL_CLOSURE) -> None:
        """Close the WebSocket, then the transport, once everything is written."""
        if self.is_open and not self._transport.is_closing():
            self.is_open = False
            # Without a reason the client takes the end for a broken connection.
            self._transport.write(self._frames.send(_goodbye(code)))
        self._transport.close()

    def abort(self) -> None:
        """Close the transport at once."""
        self._transport.abort()

    def is_closing(self) -> bool:
        """Return whether the transport is closing."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Return information on the transport."""
        return self._transport.get_extra_info(name, default)

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that the client has not read."""
        return self._transport.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set how many bytes the transport holds before it asks for a pause, and after it."""
        self._transport.set_write_buffer_limits(high, low)

    def pause_reading(self) -> None:
        """Stop giving bytes to the connection inside."""
        self.is_paused = True
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Give the connection inside the waiting bytes and those that follow."""
        self.is_paused = False
        self._resumed()
        if not self._is_held:
            self._transport.resume_reading()

    def hold(self) -> None:
        """Stop reading until the received bytes are handled."""
        self._is_held = True
        self._transport.pause_reading()

    def release(self) -> None:
        """Read again, unless the connection inside has paused reading."""
        if self._is_held:
            self._is_held = False
            if not self.is_paused and not self._transport.is_closing():
                self._transport.resume_reading()


def _goodbye(code: int) -> CloseConnection:
    # Some numbers, such as the one for no status, must not be sent (RFC 6455, section 7.4.1).
    known = code if code in set(CloseReason) and code < CloseReason.NO_STATUS_RCVD else 1000
    return CloseConnection(code=known)


def _is_the_path(target: str) -> bool:
    # Clients write the path with a slash at its end, escaped, and with a query.
    return unquote(target.partition("?")[0]).rstrip("/").lower() == PATH


def _spoken(offered: list[str]) -> str | None:
    """Return the first offered subprotocol that is AMQP, in the client's spelling."""
    known = {subprotocol.lower() for subprotocol in SUBPROTOCOLS}
    return next((name for name in offered if name.lower() in known), None)


def _may_ask(request: Request) -> bool:
    """Return whether a request may come from here: not from a web page of another host.

    Some clients that are not browsers send the host they connect to as their origin.
    """
    headers = {bytes(name).lower(): bytes(value) for name, value in request.extra_headers}
    origin = headers.get(b"origin")
    # Only browsers have to name an origin; a page anywhere could make one connect to here.
    if origin is None:
        return True
    page = urlsplit(origin.decode("latin-1")).hostname or ""
    host = urlsplit(f"//{request.host}").hostname or ""
    # Applications are developed on pages of this machine.
    return is_local(page) or page == host
