"""A client of messages over HTTP, with a socket of its own."""

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import attrs
from work import PATIENCE

from .. import raw
from ..inside import Inside

KEY: Final = ("RootManageSharedAccessKey", "SAS_KEY_VALUE")
BATCH: Final = {"Content-Type": "application/vnd.microsoft.servicebus.json"}


@attrs.frozen
class Told:
    """An answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def broker(self) -> dict[str, Any]:
        """Its broker properties."""
        return dict(json.loads(self.headers["BrokerProperties"]))

    @property
    def place(self) -> str:
        """The path of the message that it has locked."""
        return urlsplit(self.headers["Location"]).path


@attrs.define
class Speaker:
    """A client; its requests have one connection, as long as both ends keep it."""

    connection: http.client.HTTPConnection
    key: tuple[str, str] = KEY

    def ask(self, method: str, path: str, body: bytes | str = b"", **headers: str) -> Told:
        """Send a request, and read the answer."""
        token = {"Authorization": raw.token("sb://localhost/", *self.key)}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.request(method, path, body, token | named)
        answer = self.connection.getresponse()
        said = answer.read()
        return Told(answer.status, dict(answer.getheaders()), said)

    def begin(self, method: str, path: str, times: int = 1) -> None:
        """Send requests without a body, whose answers are not read yet."""
        token = raw.token("sb://localhost/", *self.key)
        head = (f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: {token}", "", "")
        self.connection.connect()
        self.connection.sock.sendall("\r\n".join(head).encode() * times)

    def send(self, path: str, body: bytes | str, broker: Any = None, **headers: str) -> Told:
        """Send a message."""
        said = {} if broker is None else {"BrokerProperties": json.dumps(broker)}
        return self.ask("POST", f"/{path}/messages", body, **said, **headers)

    def send_batch(self, path: str, *items: Any) -> Told:
        """Send a batch."""
        return self.ask("POST", f"/{path}/messages", json.dumps(items), **BATCH)

    def lock(self, path: str, seconds: int = 0) -> Told:
        """Receive and lock a message."""
        return self.ask("POST", f"/{path}/messages/head?timeout={seconds}")

    def take(self, path: str, seconds: int = 0) -> Told:
        """Receive and delete a message."""
        return self.ask("DELETE", f"/{path}/messages/head?timeout={seconds}")


def address_of(broker: Inside) -> str:
    """The HTTP address of a broker in this process."""
    return f"http://127.0.0.1:{broker.broker.admin_port}"


@contextmanager
def speaker(address: str, *key: str) -> Iterator[Speaker]:
    """A client of the broker at an address, with a key of another rule if one is named."""
    url = urlsplit(address)
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=PATIENCE)
    name, secret = key or KEY
    try:
        yield Speaker(connection, (name, secret))
    finally:
        connection.close()
