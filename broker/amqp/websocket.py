"""AMQP over WebSockets: frames of a WebSocket to bytes for a connection and back, by wsproto.

Clients use it where a proxy lets nothing but HTTP pass. A connection within knows its client by a
`Channel`, which writes binary messages where a socket writes bytes.
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
"""The service's own, which its clients ask for, and the one that is registered for AMQP."""

PIECE: Final = 8_192
"""How many bytes are handled before others have a turn: there may be 1,300 frames in them."""

UNREADABLE: Final = (RemoteProtocolError, UnicodeError, ValueError, AssertionError)
"""What wsproto raises of bytes that are no WebSocket's."""


class WebSocket(asyncio.Protocol):
    """Speaks WebSocket with one client, and lets a connection speak AMQP within.

    Args:
        connection: speaks AMQP.
    """

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._frames = WSConnection(ConnectionType.SERVER)
        self._received = bytearray()
        self._next: asyncio.Handle | None = None
        self._channel: Channel | None = None
        self._is_over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has connected; it counts among the connections from now on."""
        self._channel = Channel(cast(asyncio.Transport, transport), self._frames, self._go_on)
        self._connection.connection_made(self._channel)

    def data_received(self, data: bytes) -> None:
        """Bytes came, whatever they are."""
        self._received += data
        if self._next is None:
            self._handle()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._is_over = True
        self._received.clear()
        if self._next is not None:
            self._next.cancel()
        self._connection.connection_lost(exc)

    def pause_writing(self) -> None:
        """The client reads too slowly."""
        self._connection.pause_writing()

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._connection.resume_writing()

    @property
    def _way(self) -> "Channel":
        if self._channel is None:
            raise AssertionError("bytes came before there was a connection")
        return self._channel

    def _go_on(self) -> None:
        """Handle what came in the meantime, and more."""
        if self._next is None and self._received:
            self._next = self._connection.hub.loop.call_soon(self._handle)

    def _handle(self) -> None:
        """Handle a piece of what came; the rest has to wait until all others had a turn."""
        self._next = None
        way = self._way
        if way.is_paused:
            return
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
            self._frames.receive_data(piece)
            for event in self._frames.events():
                self._on_event(event, came, answers)
        except UNREADABLE as error:
            hint = getattr(error, "event_hint", None)
            self._refuse(getattr(hint, "status_code", 400), f"{error}.")
            return
        self._way.answer(b"".join(answers), self._connection.hub.limits.unread)
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
        """Say in HTTP why there is no WebSocket, or end the one that there is."""
        self._is_over = True
        way = self._way
        self._connection.hub.journal.warning(
            "websocket-refused", connection=self._connection.name, said=sentence
        )
        if not way.is_open:
            headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
            reject = RejectConnection(status_code=status, headers=headers, has_body=True)
            said = self._frames.send(reject)
            said += self._frames.send(RejectData(data=f"{sentence}\n".encode()))
            way.begin(said, is_open=False)
        way.close(CloseReason.PROTOCOL_ERROR)


class Channel(asyncio.Transport):
    """A WebSocket as the connection within knows it: bytes written are binary messages.

    Args:
        transport: the way of bytes to the client.
        frames: wraps what is written.
        resumed: handles what came while nothing was to be read.
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
        """Whether the client has been answered that this is a WebSocket."""
        self.is_paused = False
        """Whether the connection within wants nothing now."""

    def begin(self, answer: bytes, *, is_open: bool = True) -> None:
        """Answer the client's opening request."""
        self.is_open = is_open
        self._transport.write(answer)

    def answer(self, data: bytes, most: int) -> None:
        """Answer pings; a client that reads no answers and asks for more is let go."""
        if data and not self._transport.is_closing():
            self._transport.write(data)
            if self._transport.get_write_buffer_size() > 2 * most:
                self._transport.abort()

    def write(self, data: Any) -> None:
        """Write bytes as a message; before there is a WebSocket nobody could read them."""
        if self.is_open and not self.is_closing():
            self._transport.write(self._frames.send(BytesMessage(data=bytes(data))))

    def close(self, code: int = CloseReason.NORMAL_CLOSURE) -> None:
        """End the WebSocket, then the connection, when all is written."""
        if self.is_open and not self._transport.is_closing():
            self.is_open = False
            self._transport.write(self._frames.send(_goodbye(code)))
        self._transport.close()

    def abort(self) -> None:
        """End the connection at once."""
        self._transport.abort()

    def is_closing(self) -> bool:
        """Whether the connection ends."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """What is known of the way of bytes."""
        return self._transport.get_extra_info(name, default)

    def get_write_buffer_size(self) -> int:
        """How many bytes wait for the client to read them."""
        return self._transport.get_write_buffer_size()

    def pause_reading(self) -> None:
        """Give the connection within nothing for now."""
        self.is_paused = True
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Give the connection within what came, and what comes."""
        self.is_paused = False
        self._resumed()
        if not self._is_held:
            self._transport.resume_reading()

    def hold(self) -> None:
        """Read nothing more until what came is handled."""
        self._is_held = True
        self._transport.pause_reading()

    def release(self) -> None:
        """Read again, if the connection within wants something."""
        if self._is_held:
            self._is_held = False
            if not self.is_paused and not self._transport.is_closing():
                self._transport.resume_reading()


def _goodbye(code: int) -> CloseConnection:
    known = code if code in set(CloseReason) and code < CloseReason.NO_STATUS_RCVD else 1000
    return CloseConnection(code=known)


def _is_the_path(target: str) -> bool:
    return unquote(target.partition("?")[0]).rstrip("/").lower() == PATH


def _spoken(offered: list[str]) -> str | None:
    """The first of the subprotocols that is AMQP, in the client's own letters."""
    known = {each.lower() for each in SUBPROTOCOLS}
    return next((each for each in offered if each.lower() in known), None)


def _may_ask(request: Request) -> bool:
    """Whether no page of another host asks, which a browser of this machine shows.

    Some clients that are no browsers say that they are a page of the host that they ask.
    """
    headers = {bytes(name).lower(): bytes(value) for name, value in request.extra_headers}
    origin = headers.get(b"origin")
    if origin is None:
        return True
    page = urlsplit(origin.decode("latin-1")).hostname or ""
    asked = urlsplit(f"//{request.host}").hostname or ""
    return is_local(page) or page == asked
