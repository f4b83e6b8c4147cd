"""The AMQP bytes within a WebSocket, in both of its directions."""

from typing import Final

from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage
from wsproto.utilities import RemoteProtocolError

from busproof.recorder.frames import Unreadable

__all__ = ["SWITCHING", "Unwrapping", "readdress_head"]

END: Final = b"\r\n\r\n"
SWITCHING: Final = b" 101"
LONGEST_HEAD: Final = 65_536
"""Maximum size of the head of an HTTP request or response, in bytes."""


class Unwrapping:
    """The messages in one direction of a WebSocket, behind the head of an HTTP message.

    Args:
        is_client: whether these are the bytes of the client.
    """

    def __init__(self, *, is_client: bool) -> None:
        self._head: bytes | None = b""
        # What a client has written is read as its server would.
        self._frames = Connection(ConnectionType.SERVER if is_client else ConnectionType.CLIENT)

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """Take bytes; return the head, once it is complete, and the AMQP bytes behind it.

        Raises:
            Unreadable: they are no WebSocket.
        """
        head = b""
        if self._head is not None:
            self._head += data
            place = self._head.find(END)
            if place < 0:
                if len(self._head) > LONGEST_HEAD:
                    raise Unreadable("the head of an HTTP message does not end")
                return b"", b""
            place += len(END)
            head = self._head[:place]
            data = self._head[place:]
            self._head = None
            if head.startswith(b"HTTP/") and SWITCHING not in head.partition(b"\r\n")[0]:
                # The upgrade is refused; what follows is a page.
                return head, b""
        try:
            self._frames.receive_data(data)
            messages = [
                bytes(event.data)
                for event in self._frames.events()
                if isinstance(event, BytesMessage)
            ]
        except (RemoteProtocolError, ValueError) as error:
            raise Unreadable(f"a WebSocket cannot be read: {error}") from None
        return head, b"".join(messages)

    @property
    def has_begun(self) -> bool:
        """Whether the head is complete, so that all further bytes are those of the WebSocket."""
        return self._head is None


def readdress_head(head: bytes, host: str) -> bytes:
    """Return the head of a request for another host, that asks for no compression of messages."""
    first, *lines = head.removesuffix(END).split(b"\r\n")
    kept = [line for line in lines if not _is_replaced(line)]
    return b"\r\n".join([first, b"Host: " + host.encode("ascii"), *kept]) + END


def _is_replaced(line: bytes) -> bool:
    name = line.partition(b":")[0].strip().lower()
    return name in (b"host", b"sec-websocket-extensions")
