"""An AMQP connection whose caller moves bytes between socket and engine while it waits.

There are no threads and no callbacks: a caller waits for a condition, and meanwhile everything that
arrives is handled. Between two requests nothing is read.
"""

import contextlib
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Final

from proton import Connection as Endpoint
from proton import Link, SSLException, Transport, TransportException

from busproof.adapters.amqp.failing import Lost, Rejected, Silent, Unreachable
from busproof.adapters.amqp.formats import mark_batches
from busproof.adapters.amqp.target import Target

__all__ = ["Connection"]

PIECE: Final = 65_536
LARGEST_FRAME: Final = 262_144
HEARTBEAT: Final = 5.0
"""Maximum length of a single wait, in seconds, so that heartbeats are sent in between."""
LEAST: Final = 0.001
AMQP: Final = b"AMQP"
HEADER: Final = 8
LONGEST_NAME: Final = 60
"""Maximum length of a service's product name and version, in characters."""
NUMBERS: Final = count(1)


class Connection:
    """An AMQP connection with one session for all links.

    Args:
        target: the service.
        timeout: maximum wait for the opening of the connection or for an answer, in seconds.

    Raises:
        Unreachable: no AMQP server answers, or the service denies access.
    """

    def __init__(self, target: Target, timeout: float) -> None:
        self.timeout = timeout
        self._links = count(1)
        self._lost = ""
        self._first = b""
        self._batching = False
        self._engine = Transport(Transport.CLIENT)
        self._engine.max_frame_size = LARGEST_FRAME
        sasl = self._engine.sasl()
        # The socket does TLS, so Proton sees an unencrypted connection and would refuse PLAIN.
        sasl.allow_insecure_mechs = True
        # Service Bus authorizes later, by tokens sent to `$cbs`.
        sasl.allowed_mechs("PLAIN" if target.plain and target.key_name else "ANONYMOUS")
        self._endpoint = Endpoint()
        if target.plain and target.key_name:
            self._endpoint.user, self._endpoint.password = target.key_name, target.key
        self._endpoint.container = f"busproof-{next(NUMBERS)}"
        self._endpoint.hostname = target.host
        self._engine.bind(self._endpoint)
        self._socket = _connect(target, timeout)
        self._endpoint.open()
        self._session = self._endpoint.session()
        self._session.open()
        try:
            self.wait(lambda: bool(self._session.state & Endpoint.REMOTE_ACTIVE), "the connection")
        except (Lost, Silent) as failed:
            self._socket.close()
            raise Unreachable(self._describe_peer() or str(failed)) from None
        offered = self._endpoint.remote_offered_capabilities
        self._offered = frozenset(str(capability) for capability in offered or ())
        self._properties = self._endpoint.remote_properties

    @property
    def is_lost(self) -> bool:
        """Whether the connection has ended."""
        return bool(self._lost or self._endpoint.state & Endpoint.REMOTE_CLOSED)

    def offers(self, capability: str) -> bool:
        """Return whether the service offers a capability that AMQP does not define."""
        return capability in self._offered

    @property
    def product(self) -> tuple[str, str]:
        """The product name and version of the service; both empty if it does not send them."""
        properties = {str(key): str(value) for key, value in (self._properties or {}).items()}
        name, version = (_one_word(properties.get(key, "")) for key in ("product", "version"))
        return name, version

    def sender(self, name: str = "") -> Any:
        """Return a new link for sending, not yet attached."""
        return self._session.sender(name or self._server_name())

    def receiver(self, name: str = "") -> Any:
        """Return a new link for receiving, not yet attached."""
        return self._session.receiver(name or self._server_name())

    def _server_name(self) -> str:
        return f"{self._endpoint.container}-{next(self._links)}"

    def attach(self, link: Any, what: str, timeout: float | None = None) -> None:
        """Attach a link, and wait until the service has attached it.

        Raises:
            Rejected: the service refuses the link.
        """
        link.open()
        self.wait(lambda: bool(link.state & Link.REMOTE_ACTIVE) or _is_closed(link), what, timeout)
        # A service refuses a link by attaching it without a source or target, then detaching.
        ours = link.remote_target if link.is_sender else link.remote_source
        if not ours.type and not _is_closed(link):
            self.wait(lambda: _is_closed(link), what, timeout)
        self.check(link)

    def check(self, link: Any) -> None:
        """Check that the service has not closed a link.

        Raises:
            Rejected: the service has closed the link.
        """
        if not _is_closed(link):
            return
        condition = link.remote_condition
        if link.state & Link.LOCAL_ACTIVE:
            link.close()
        if condition is None:
            raise Rejected("amqp:link:detach-forced", "the service has closed the link")
        raise Rejected(str(condition.name), condition.description or "")

    def close_link(self, link: Any) -> None:
        """Close a link, and wait until the service has closed it, too."""
        if self.is_lost:
            return
        link.close()
        self.wait(lambda: _is_closed(link), "closing a link")

    def wait(self, is_so: Callable[[], bool], what: str, timeout: float | None = None) -> None:
        """Exchange bytes with the service until a condition holds.

        Raises:
            Silent: the condition does not hold in time.
            Lost: the connection is lost.
        """
        seconds = self.timeout if timeout is None else timeout
        if not self.awaited(is_so, seconds):
            raise Silent(f"{what} was not answered within {seconds:g} s")

    def awaited(self, is_so: Callable[[], bool], seconds: float) -> bool:
        """Exchange bytes until a condition holds or the time is over; return whether it holds.

        Raises:
            Lost: the connection is lost.
        """
        end = time.monotonic() + seconds
        while True:
            self._engine.tick(time.monotonic())
            self._write()
            if is_so():
                return True
            self._check()
            left = end - time.monotonic()
            if not self._read(max(left, 0.0), most=HEARTBEAT) and left <= 0:
                return is_so()

    @contextlib.contextmanager
    def sending_batches(self) -> Iterator[None]:
        """Send every transfer in this context with the message format of a batch."""
        self._batching = True
        try:
            yield
        finally:
            self._batching = False

    def beat(self) -> None:
        """Handle what has arrived, and send a heartbeat if one is due, without waiting."""
        with contextlib.suppress(Lost):
            self.awaited(lambda: False, 0.0)

    def close(self) -> None:
        """Close the connection without waiting for an answer."""
        with contextlib.suppress(Lost, OSError, TransportException):
            self._endpoint.close()
            self._write()
        self._socket.close()
        self._lost = self._lost or "it was closed"

    def _check(self) -> None:
        condition = self._endpoint.remote_condition
        if condition is not None and self._endpoint.state & Endpoint.REMOTE_CLOSED:
            self._lost = (
                f"the service closed the connection: {condition.name}: {condition.description}"
            )
        elif self._session.state & Endpoint.REMOTE_CLOSED and not self._lost:
            ended = self._session.remote_condition
            why = "" if ended is None else f": {ended.name}: {ended.description}"
            self._lost = f"the service ended the session{why}"
        elif self._engine.condition is not None and not self._lost:
            failed = self._engine.condition
            self._lost = f"the connection failed: {failed.name}: {failed.description}"
        if self._lost:
            raise Lost(self._lost)

    def _write(self) -> None:
        while (waiting := self._engine.pending()) > 0:
            data = self._engine.peek(waiting)
            if not data:
                return
            try:
                self._socket.sendall(mark_batches(bytes(data)) if self._batching else data)
            except OSError as error:
                self._lost = f"the connection broke: {error.strerror or error}"
                raise Lost(self._lost) from None
            self._engine.pop(len(data))

    def _read(self, seconds: float, most: float) -> bool:
        """Read bytes, waiting for the shorter of `seconds` and `most`; return whether any came."""
        room = self._engine.capacity()
        if room <= 0:
            self._lost = self._lost or "the service has closed the connection"
            self._check()
        self._socket.settimeout(min(seconds, most) or LEAST)
        try:
            data = self._socket.recv(min(PIECE, room))
        except (TimeoutError, BlockingIOError, ssl.SSLWantReadError):
            return False
        except (OSError, SSLException) as error:
            self._lost = f"the connection broke: {error}"
            raise Lost(self._lost) from None
        if not data:
            self._check_end()
        if len(self._first) < HEADER:
            self._first += data[:HEADER]
        with contextlib.suppress(TransportException):
            # If the bytes are not AMQP, the engine gets an error condition.
            self._engine.push(data)
        return True

    def _describe_peer(self) -> str:
        """Describe what a server speaks that is not AMQP 1.0."""
        first = self._first
        if not first:
            return "the server closed the connection without a word" if self._lost else ""
        if first.startswith(b"AMQP\x03\x01\x00\x00"):
            return ""
        if first.startswith(b"AMQP\x00\x00\x09\x01"):
            return "the server speaks AMQP 0-9-1, and AMQP 1.0 is needed"
        if first.startswith(b"HTTP/"):
            return "the server speaks HTTP; is this the port of its administration?"
        # These are TLS records: an alert or a handshake.
        if first[:1] in (b"\x15", b"\x16"):
            return "the server speaks TLS; an address for that begins with amqps://"
        return "" if first.startswith(AMQP) else "the server speaks no AMQP"

    def _check_end(self) -> None:
        with contextlib.suppress(TransportException):
            self._engine.close_tail()
        with contextlib.suppress(Lost):
            self._check()
        self._lost = self._lost or "the service has closed the connection"
        raise Lost(self._lost)


def _is_closed(link: Any) -> bool:
    return bool(link.state & Link.REMOTE_CLOSED)


def _one_word(text: str) -> str:
    """Return the printable beginning of a text."""
    return "".join(character for character in text if character.isprintable())[
        :LONGEST_NAME
    ].strip()


def _connect(target: Target, timeout: float) -> socket.socket:
    try:
        plain = socket.create_connection((target.host, target.port), timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not target.tls:
            return plain
        return ssl.create_default_context().wrap_socket(plain, server_hostname=target.host)
    except OSError as error:
        reason = getattr(error, "reason", None) or error.strerror or error
        raise Unreachable(f"nobody answers at port {target.port}: {reason}") from None
