"""TLS for the broker's ports, whose handshakes take little memory and give it back at once.

A handshake comes before any login, so everybody who reaches a port can begin any number of them.
asyncio's own servers buffer 256 KB for each, create the protocol above it before it is needed, and
leave an aborted one to the garbage collector, which looks rarely in a broker of many messages.
"""

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable
from typing import Final, cast

__all__ = ["Handshakes", "speak_tls"]

MOST: Final = 500
"""Maximum number of handshakes in progress."""
PATIENCE: Final = 20
"""Maximum time for a handshake, in seconds."""
GOODBYE: Final = 5
"""Maximum time for a shutdown, in seconds."""


class Handshakes:
    """The handshakes in progress; if there are too many, the oldest makes room.

    A client that means to come needs a moment for its handshake, and a flood of others that do not
    go on must not keep it away.

    Args:
        freed: called when the memory of a handshake is free again.
        most: maximum number of handshakes.
    """

    def __init__(self, freed: Callable[[], None], most: int = MOST) -> None:
        self._freed = freed
        self._most = most
        self._begun: dict[asyncio.BaseTransport, None] = {}

    def __len__(self) -> int:
        return len(self._begun)

    def begin(self, transport: asyncio.BaseTransport) -> None:
        """Count a handshake; abort the oldest if there are too many."""
        if len(self._begun) >= self._most:
            oldest = next(iter(self._begun))
            self.end(oldest)
            cast(asyncio.Transport, oldest).abort()
        self._begun[transport] = None

    def end(self, transport: asyncio.BaseTransport) -> None:
        """Stop counting a handshake, whether it succeeded or not."""
        self._begun.pop(transport, None)

    def free(self) -> None:
        """Record that the memory of a client's TLS is free."""
        self._freed()


def speak_tls(
    context: ssl.SSLContext, make: Callable[[], asyncio.Protocol], handshakes: Handshakes
) -> Callable[[], asyncio.BaseProtocol]:
    """Return a factory of protocols that speak TLS, for a server without TLS of its own.

    Args:
        context: the certificate and the versions of TLS.
        make: makes the protocol of a client, once its handshake has succeeded.
        handshakes: the handshakes in progress, which several servers may share.
    """
    return lambda: _Secured(context, make, handshakes)


class _Secured(SSLProtocol):
    """A client's TLS."""

    max_size = 32_768
    """Bytes to read at a time; a record of TLS has 16 KB."""

    def __init__(
        self,
        context: ssl.SSLContext,
        make: Callable[[], asyncio.Protocol],
        handshakes: Handshakes,
    ) -> None:
        self._handshakes = handshakes
        self._socket: asyncio.BaseTransport | None = None
        super().__init__(
            asyncio.get_running_loop(),
            _Awaited(make, self._end_handshake),
            context,
            None,  # type: ignore[arg-type] # nobody waits for the handshake; typeshed wants a future
            server_side=True,
            ssl_handshake_timeout=PATIENCE,
            ssl_shutdown_timeout=GOODBYE,
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake."""
        self._socket = transport
        self._handshakes.begin(transport)
        super().connection_made(transport)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Free what the client took."""
        self._end_handshake()
        self._socket = None
        if exc is not None:
            # The error of a failed handshake and the frame that raised it refer to each other, and
            # the frame to this protocol with its buffers.
            exc.__traceback__ = None
        super().connection_lost(exc)
        self._handshakes.free()

    def _end_handshake(self) -> None:
        if self._socket is not None:
            self._handshakes.end(self._socket)


class _Awaited(asyncio.Protocol):
    """A stand-in for the protocol above TLS until the handshake has succeeded."""

    def __init__(self, make: Callable[[], asyncio.Protocol], begun: Callable[[], None]) -> None:
        self._make = make
        self._begun = begun

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Put the client's protocol in place of this one."""
        self._begun()
        protocol = self._make()
        cast(asyncio.Transport, transport).set_protocol(protocol)
        protocol.connection_made(transport)
