"""The sockets of the proxy: each client has a connection of its own to the service."""

import asyncio
import ssl
from collections.abc import Callable
from itertools import count
from typing import Final, cast
from urllib.parse import urlsplit

import attrs

from busproof.errors import HistoryError, UsageError
from busproof.recorder.conversation import Conversation
from busproof.recorder.desk import Desk
from busproof.recorder.frames import Unreadable
from busproof.recorder.websocket import SWITCHING, Unwrapping, readdress_head

__all__ = ["Place", "Proxy", "place_of"]

AMQP: Final = b"AMQP"
UPGRADE: Final = b"GET "
FAREWELL: Final = 5.0
"""Time for a service to end a connection whose client has gone, in seconds."""
PATIENCE: Final = 30.0
"""Time for a service to accept a connection, in seconds."""
UNREAD: Final = 262_144
"""Bytes that wait for a slow reader before the other side is not read any more."""
PORTS: Final = {"amqp": 5672, "amqps": 5671, "ws": 80, "wss": 443, "http": 80, "https": 443}
SECURE: Final = frozenset({"amqps", "wss", "https"})


@attrs.frozen
class Place:
    """Where the service listens, and how.

    Attributes:
        host: its host.
        port: its port.
        tls: how to check its certificate; `None` for no TLS.
    """

    host: str
    port: int
    tls: ssl.SSLContext | None = None

    @property
    def authority(self) -> str:
        """The host and the port, as HTTP names them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = 443 if self.tls else 80
        return host if self.port == usual else f"{host}:{self.port}"


def place_of(text: str, schemes: tuple[str, str], trusted: Callable[[], ssl.SSLContext]) -> Place:
    """Parse where a service listens, as HOST, HOST:PORT or an address.

    Args:
        text: the place.
        schemes: the schemes of an address without and with TLS; without a scheme, TLS is spoken.
        trusted: returns how to check certificates.

    Raises:
        UsageError: the text names no place.
    """
    address = text if "://" in text else f"{schemes[1]}://{text}"
    url = urlsplit(address)
    try:
        port = url.port
    except ValueError:
        raise UsageError(f"{text!r} names no port: one is a number from 1 to 65535") from None
    if url.scheme not in schemes or not url.hostname or url.username or url.path.strip("/"):
        raise UsageError(
            f"{text!r} names no service; give HOST, HOST:PORT, or "
            f"{schemes[0]}://HOST:PORT where it has no TLS"
        )
    tls = trusted() if url.scheme in SECURE else None
    return Place(url.hostname, port or PORTS[url.scheme], tls)


class Proxy:
    """The connections of all clients.

    Args:
        desk: what they share in the recording.
        amqp: where the service speaks AMQP.
        websockets: where it speaks AMQP over WebSockets.
        tell: prints a sentence.
    """

    def __init__(
        self, desk: Desk, amqp: Place, websockets: Place, tell: Callable[[str], None]
    ) -> None:
        self.desk = desk
        self.amqp = amqp
        self.websockets = websockets
        self.tell = tell
        self.failure: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._numbers = count(1)
        self._pipes: set[_Pipe] = set()
        self.connections = 0

    def make(self) -> asyncio.Protocol:
        """Return the protocol of a client that connects."""
        pipe = _Pipe(self, f"c{next(self._numbers)}")
        self.connections += 1
        self._pipes.add(pipe)
        return _End(pipe, is_client=True)

    def fail(self, reason: str) -> None:
        """End all connections, because nothing can be recorded any more."""
        if not self.failure.done():
            self.failure.set_result(reason)
        self.stop()

    def stop(self) -> None:
        """End all connections; what was not answered never will be."""
        for pipe in list(self._pipes):
            pipe.abort()

    def forget(self, pipe: "_Pipe") -> None:
        """Note that a connection is over."""
        self._pipes.discard(pipe)


class _End(asyncio.Protocol):
    """One end of a connection: to the client, or to the service."""

    def __init__(self, pipe: "_Pipe", *, is_client: bool) -> None:
        self._pipe = pipe
        self._is_client = is_client

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note the transport."""
        chosen = cast(asyncio.Transport, transport)
        chosen.set_write_buffer_limits(high=UNREAD)
        if self._is_client:
            self._pipe.client = chosen

    def data_received(self, data: bytes) -> None:
        """Record bytes, and pass them on."""
        if self._is_client:
            self._pipe.take_from_client(data)
        else:
            self._pipe.take_from_service(data)

    def pause_writing(self) -> None:
        """Read nothing more from the other end until this one has caught up."""
        other = self._pipe.service if self._is_client else self._pipe.client
        if other is not None and not other.is_closing():
            other.pause_reading()

    def resume_writing(self) -> None:
        """Read from the other end again."""
        other = self._pipe.service if self._is_client else self._pipe.client
        if other is not None and not other.is_closing():
            other.resume_reading()

    def connection_lost(self, _: Exception | None) -> None:
        """End the other end, too."""
        if self._is_client:
            self._pipe.lose_client()
        else:
            self._pipe.lose_service()


class _Pipe:
    """The connection of a client and the one to the service that belongs to it."""

    def __init__(self, proxy: Proxy, name: str) -> None:
        self._proxy = proxy
        self._conversation = Conversation(proxy.desk, name)
        self.client: asyncio.Transport | None = None
        self.service: asyncio.Transport | None = None
        self._first = b""
        self._opening: asyncio.Task[None] | None = None
        self._wrapped: tuple[Unwrapping, Unwrapping] | None = None
        self._place: Place = proxy.amqp
        self._is_over = False
        self._is_refused = False

    def take_from_client(self, data: bytes) -> None:
        """Take bytes of the client."""
        if self.service is None:
            self._first += data
            self._open()
            return
        try:
            passed = self._record_from_client(data)
            self._proxy.desk.journal.flush()
        except Unreadable as error:
            self._give_up(f"a client's connection was ended: {error}")
        except HistoryError as error:
            self._proxy.fail(str(error))
        else:
            if passed and not self.service.is_closing():
                self.service.write(passed)

    def _record_from_client(self, data: bytes) -> bytes:
        """Record bytes of the client; return those to pass on."""
        if self._wrapped is None:
            self._conversation.take_from_client(data)
            return data
        unwrapping = self._wrapped[0]
        has_begun = unwrapping.has_begun
        head, inner = unwrapping.feed(data)
        self._conversation.take_from_client(inner)
        if has_begun:
            return data
        if not head:
            return b""
        # Nothing may follow the head before the service has answered it.
        if inner:
            raise Unreadable("a client did not wait for the answer to its upgrade")
        return readdress_head(head, self._place.authority)

    def take_from_service(self, data: bytes) -> None:
        """Take bytes of the service."""
        try:
            inner = data if self._wrapped is None else self._unwrap_bytes(self._wrapped[1], data)
            self._conversation.take_from_service(inner)
            self._proxy.desk.journal.flush()
        except Unreadable as error:
            self._give_up(f"a client's connection was ended: {error}")
        except HistoryError as error:
            self._proxy.fail(str(error))
        else:
            if self.client is not None and not self.client.is_closing():
                self.client.write(data)

    def _unwrap_bytes(self, unwrapping: Unwrapping, data: bytes) -> bytes:
        """Return the AMQP bytes in those of the service; none if it has refused the upgrade."""
        if self._is_refused:
            return b""
        head, inner = unwrapping.feed(data)
        self._is_refused = bool(head) and SWITCHING not in head.partition(b"\r\n")[0]
        return b"" if self._is_refused else inner

    def _open(self) -> None:
        """Connect to the service, once the first bytes say what is spoken."""
        if self._opening is not None or len(self._first) < len(AMQP):
            return
        if self._first.startswith(UPGRADE):
            self._wrapped = Unwrapping(is_client=True), Unwrapping(is_client=False)
            self._place = self._proxy.websockets
        elif not self._first.startswith(AMQP):
            self._give_up("a client spoke neither AMQP nor HTTP, and was disconnected")
            return
        if self.client is not None:
            self.client.pause_reading()
        self._opening = asyncio.get_running_loop().create_task(self._connect())

    async def _connect(self) -> None:
        place = self._place
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(PATIENCE):
                transport, _ = await loop.create_connection(
                    lambda: _End(self, is_client=False),
                    place.host,
                    place.port,
                    ssl=place.tls,
                    server_hostname=place.host if place.tls else None,
                )
        except (OSError, TimeoutError) as error:
            reason = getattr(error, "strerror", None) or str(error) or "no answer in time"
            self._give_up(f"cannot reach {place.host}:{place.port}: {reason}")
            return
        if self._is_over:
            transport.abort()
            return
        self.service = transport
        first = self._first
        self._first = b""
        self.take_from_client(first)
        if self.client is not None and not self.client.is_closing():
            self.client.resume_reading()

    def lose_client(self) -> None:
        """End the connection to the service; one that is being closed may still be answered."""
        self.client = None
        if self.service is None:
            self._note_end()
        elif self._conversation.is_closing:
            asyncio.get_running_loop().call_later(FAREWELL, self.abort)
            # A service that reads slowly must not keep its last words from us.
            if not self.service.is_closing():
                self.service.resume_reading()
        else:
            self.service.close()

    def lose_service(self) -> None:
        """End the connection to the client: nothing is answered any more."""
        self.service = None
        if self.client is not None:
            self.client.close()
        self._note_end()

    def abort(self) -> None:
        """End both connections at once."""
        for transport in (self.client, self.service):
            if transport is not None:
                transport.abort()
        self._note_end()

    def _give_up(self, sentence: str) -> None:
        self._proxy.tell(sentence)
        self.abort()

    def _note_end(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._proxy.forget(self)
        self._conversation.end()
        try:
            self._proxy.desk.journal.flush()
        except HistoryError as error:
            self._proxy.fail(str(error))
