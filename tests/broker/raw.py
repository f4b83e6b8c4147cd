"""A client that does what no official one would: its own tokens, and nothing but bytes."""

import base64
import hashlib
import hmac
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import quote_plus

from proton import Message
from proton.utils import BlockingConnection
from work import PATIENCE

SASL: Final = b"AMQP\x03\x01\x00\x00"
AMQP: Final = b"AMQP\x00\x01\x00\x00"
ANONYMOUS: Final = (
    b"\x00\x00\x00\x1b\x02\x01\x00\x00\x00\x53\x41\xc0\x0e\x02\xa3\x09ANONYMOUS\xa0\x00"
)
OUTCOME: Final = b"\x00\x53\x44"
LOGIN: Final = {
    "user": "RootManageSharedAccessKey",
    "password": "SAS_KEY_VALUE",
    "allowed_mechs": "PLAIN",
}
OPEN: Final = b"\x00\x00\x00\x11\x02\x00\x00\x00\x00\x53\x10\xc0\x04\x01\xa1\x01c"


def signature(resource: str, expiry: int, key: str) -> str:
    """What the protocol's guide says a token is signed by."""
    said = f"{quote_plus(resource)}\n{expiry}".encode()
    return base64.b64encode(hmac.new(key.encode(), said, hashlib.sha256).digest()).decode()


def token(resource: str, name: str, key: str, seconds: float = 600) -> str:
    """A token for a resource, which expires in so many seconds."""
    expiry = int(time.time() + seconds)
    signed = quote_plus(signature(resource, expiry, key))
    return f"SharedAccessSignature sr={quote_plus(resource)}&sig={signed}&se={expiry}&skn={name}"


@contextmanager
def connected(port: int, **options: Any) -> Iterator[BlockingConnection]:
    """A connection, by a rule's name and key if they are given."""
    connection = BlockingConnection(f"amqp://127.0.0.1:{port}", timeout=PATIENCE, **options)
    try:
        yield connection
    finally:
        connection.close()


def logged_in(port: int) -> Any:
    """A connection of who may do all."""
    return connected(port, **LOGIN)


def anonymous(port: int) -> Any:
    """A connection whose client has said nothing of who it is."""
    return connected(port, allowed_mechs="ANONYMOUS")


def put_token(
    connection: BlockingConnection, audience: str, text: str, kind: str = "sastoken"
) -> tuple[int, str]:
    """What `$cbs` answers to a token: a number and a sentence."""
    receiver = connection.create_receiver("$cbs", credit=1, name=f"from-{time.monotonic_ns()}")
    sender = connection.create_sender("$cbs", name=f"to-{time.monotonic_ns()}")
    properties = {
        "operation": "put-token",
        "type": f"servicebus.windows.net:{kind}",
        "name": audience,
    }
    sender.send(Message(body=text, properties=properties, id="asked"))
    reply = receiver.receive(timeout=PATIENCE)
    assert "asked" == reply.correlation_id
    sender.close()
    receiver.close()
    return reply.properties["status-code"], reply.properties["status-description"]


def claimed(connection: BlockingConnection, path: str, name: str, key: str, **more: Any) -> None:
    """Put a token for a path, which has to be taken."""
    resource = f"sb://127.0.0.1/{path}"
    status, said = put_token(connection, resource, token(resource, name, key, **more))
    assert 202 == status, said


def silent(port: int) -> socket.socket:
    """A socket whose client says nothing at all."""
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def greeted(port: int) -> socket.socket:
    """A socket whose client was let in by SASL, opens a connection, and says nothing from then."""
    client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    client.sendall(SASL + ANONYMOUS)
    said = b""
    while OUTCOME not in said:
        said += client.recv(1_000)
    client.sendall(AMQP + OPEN)
    return client
