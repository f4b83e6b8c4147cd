"""The port for HTTP, which also takes AMQP over WebSockets, as the service's port 443 does.

Until the first line of a client shows what it wants, it counts as a client of HTTP.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final, cast

from busproof.broker.amqp.websocket import is_path

__all__ = ["SharedPort"]

ASKS: Final = b"GET /"
"""How every request begins that could ask for a WebSocket."""
LONGEST: Final = 1_024
"""Maximum length of the first line of such a request, in bytes."""

Answering = Callable[..., Any]


class _Streams(asyncio.StreamReaderProtocol):
    """The streams of an HTTP connection, freed at once when it breaks."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up after a client that has disconnected."""
        if exc is not None:
            # The streams keep the error, and its frames refer to the streams.
            exc.__traceback__ = exc.__context__ = None
        super().connection_lost(exc)


class SharedPort(asyncio.Protocol):
    """A client of whom it is not known yet whether it speaks HTTP or wants a WebSocket.

    Args:
        answering: serves HTTP, as a callback for `asyncio.start_server`.
        wrap: makes the protocol of a WebSocket.
    """

    def __init__(self, answering: Answering, wrap: Callable[[], asyncio.Protocol]) -> None:
        self._streams = _Streams(asyncio.StreamReader(), answering)
        self._wrap = wrap
        self._first = b""
        self._leased: _Leased | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept a client; from now on it has the time of a request over HTTP."""
        self._leased = _Leased(cast(asyncio.Transport, transport))
        self._streams.connection_made(cast(asyncio.Transport, self._leased))

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up after a client that has gone before it said what it wants."""
        self._streams.connection_lost(exc)
        self._leased = None

    def eof_received(self) -> bool | None:
        """Let HTTP answer what has come, as nothing else will."""
        self._speak_http()
        return self._streams.eof_received()

    def data_received(self, data: bytes) -> None:
        """Find out what the client wants, once its first line is there."""
        self._first += data
        line, is_whole, _ = self._first.partition(b"\r\n")
        if not line.startswith(ASKS[: len(line)]) or (not is_whole and len(line) > LONGEST):
            self._speak_http()
        elif is_whole:
            target = line.split(b" ")[1].decode("latin-1")
            (self._open_websocket if is_path(target) else self._speak_http)()

    def _speak_http(self) -> None:
        if self._leased is not None:
            self._leased.transport.set_protocol(self._streams)
            self._streams.data_received(self._first)
            self._leased = None

    def _open_websocket(self) -> None:
        if self._leased is not None:
            transport = self._leased.end()
            # HTTP takes this for the end of the client.
            self._streams.connection_lost(None)
            protocol = self._wrap()
            transport.set_protocol(protocol)
            protocol.connection_made(transport)
            protocol.data_received(self._first)
            self._leased = None


class _Leased:
    """A transport that can be taken back, and is closed then for who had it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self._is_over = False

    def end(self) -> asyncio.Transport:
        """Take the transport back."""
        self._is_over = True
        return self.transport

    def is_closing(self) -> bool:
        """Return whether the transport is closing, or was taken back."""
        return self._is_over or self.transport.is_closing()

    def close(self) -> None:
        """Close the transport, unless it was taken back."""
        if not self._is_over:
            self.transport.close()

    def abort(self) -> None:
        """Close the transport at once, unless it was taken back."""
        if not self._is_over:
            self.transport.abort()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)
