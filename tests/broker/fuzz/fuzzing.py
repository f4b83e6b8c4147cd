"""Conversations with a broker without sockets, that use every feature."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs
from proton import Connection as Endpoint
from proton import (
    Message,
    Terminus,
    Transport,
    symbol,
    uint,
)

from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.routing import attach
from busproof.broker.core import Hub

from .. import raw

NAME, KEY = "RootManageSharedAccessKey", "SAS_KEY_VALUE"
SLOW: Final = 65_536


class Wire(asyncio.Transport):
    """A transport whose other end is a list of bytes; one that is slow is never read from."""

    def __init__(self, *, slow: bool = False) -> None:
        super().__init__()
        self.said = bytearray()
        self.is_paused = False
        self.is_over = False
        self._slow = slow
        self._protocol: Connection | None = None

    def meet(self, protocol: Connection) -> None:
        """Connect."""
        self._protocol = protocol
        protocol.connection_made(self)

    def write(self, data: Any) -> None:
        self.said += data
        if self._slow and len(self.said) > SLOW and self._protocol is not None:
            self._protocol.pause_writing()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Nothing is held here."""

    def get_write_buffer_size(self) -> int:
        return len(self.said) if self._slow else 0

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False

    def can_write_eof(self) -> bool:
        return False

    def close(self) -> None:
        self.is_over = True

    abort = close

    def is_closing(self) -> bool:
        return self.is_over


@attrs.define
class Client:
    """A client by Proton's engine that talks to a connection of the broker's, without a socket."""

    connection: Connection
    wire: Wire
    engines: tuple[Transport, Endpoint]
    said: list[bytes] = attrs.field(factory=list)
    read: int = 0

    @property
    def engine(self) -> Transport:
        """What speaks."""
        return self.engines[0]

    @property
    def endpoint(self) -> Any:
        """The frames that it sends."""
        return self.engines[1]

    def talk(self) -> None:
        """Let both say what they have to say."""
        for _ in range(6):
            while (waiting := self.engine.pending()) > 0:
                data = bytes(self.engine.peek(waiting) or b"")
                self.engine.pop(len(data))
                self.said.append(data)
                self.connection.data_received(data)
            came = bytes(self.wire.said[self.read :])
            self.read = len(self.wire.said)
            while came:
                room = max(1, self.engine.capacity())
                self.engine.push(came[:room])
                came = came[room:]


def met(hub: Hub, number: int, *, slow: bool = False) -> tuple[Connection, Wire]:
    """A connection to the broker, on which nothing was said."""
    wire, connection = Wire(slow=slow), Connection(hub, number, attach)
    wire.meet(connection)
    return connection, wire


def logged_in(key: str | None) -> tuple[Transport, Endpoint]:
    """A client's engine, which logs in by this key, or without one."""
    engine, endpoint = Transport(Transport.CLIENT), Endpoint()
    sasl = engine.sasl()
    sasl.allow_insecure_mechs = True
    sasl.allowed_mechs("ANONYMOUS" if key is None else "PLAIN")
    if key is not None:
        endpoint.user, endpoint.password = NAME, key
    endpoint.container, endpoint.hostname = "client", "localhost"
    engine.bind(endpoint)
    endpoint.open()
    return engine, endpoint


def in_session(hub: Hub, number: int = 1, *, key: str | None = KEY, largest: int = 0) -> Any:
    """A client that logs in, and its session; its frames have so many bytes at most."""
    connection, wire = met(hub, number)
    client = Client(connection, wire, logged_in(key))
    if largest:
        client.engine.max_frame_size = largest
    session = client.endpoint.session()
    session.open()
    return client, session


async def conversation(hub: Hub, key: str, *, plain: bool = True) -> tuple[bytes, bytes]:
    """What a client sends that uses every feature, and what it receives.

    Args:
        hub: the broker.
        key: that it logs in with, and signs its token with.
        plain: whether it logs in by name and key; otherwise it puts its token alone.
    """
    client, session = in_session(hub, key=key if plain else None)
    for step in _steps(session, key):
        client.talk()
        await asyncio.sleep(0)
        step()
        client.talk()
        await asyncio.sleep(0)
    client.endpoint.close()
    client.talk()
    client.connection.connection_lost(None)
    return b"".join(client.said), bytes(client.wire.said)


async def seeking(hub: Hub, path: str, milliseconds: int) -> Client:
    """A client that waits for the next session of a queue for this long."""
    client, session = in_session(hub)
    link = session.receiver("seeks")
    link.source.address = path
    link.source.filter.put_dict({symbol("com.microsoft:session-filter"): None})
    link.properties = {symbol("com.microsoft:timeout"): uint(milliseconds)}
    link.open()
    client.talk()
    await asyncio.sleep(0)
    client.talk()
    return client


class Links:
    """The links of a session, by the names that they are given here."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._links: dict[str, Any] = {}
        self._sent = 0

    def sender(self, name: str, path: str | None) -> None:
        link = self._links[name] = self._session.sender(name)
        if path is None:
            link.target.type = Terminus.COORDINATOR
        else:
            link.target.address = path
        link.open()

    def receiver(self, name: str, path: str, *, next_session: bool = False) -> None:
        link = self._links[name] = self._session.receiver(name)
        link.source.address = path
        if next_session:
            link.source.filter.put_dict({symbol("com.microsoft:session-filter"): None})
        link.open()
        link.flow(5)

    def send(self, name: str, data: bytes) -> None:
        self._sent += 1
        self._links[name].delivery(str(self._sent))
        self._links[name].stream(data)
        self._links[name].advance()

    def ask(self, name: str, operation: str, body: Any) -> None:
        said = {"operation": operation, "name": "sb://localhost/q", "type": "x:sastoken"}
        asked = Message(body=body, properties=said, id="1", reply_to="back")
        self.send(name, bytes(asked.encode()))

    def settle(self, name: str) -> None:
        link = self._links[name]
        while (delivery := link.current) is not None:
            link.recv(1_000_000)
            delivery.update(delivery.ACCEPTED)
            delivery.settle()
            link.advance()

    def close(self, name: str) -> None:
        self._links[name].close()


def _steps(session: Any, key: str) -> Iterator[Callable[[], None]]:
    links = Links(session)
    message = Message(b"body", inferred=True, id="i", properties={"a": 1, "b": [1, {"c": 2.5}]})
    message.annotations = {symbol("x-opt-partition-key"): "k"}
    in_session = Message(b"body", inferred=True, group_id="s")
    token = raw.token("sb://localhost/q", NAME, key)
    peek = {"from-sequence-number": 0, "message-count": 3}
    later = [{"message-id": "i", "message": bytes(message.encode())}]
    return iter(
        [
            lambda: links.receiver("cbs", "$cbs"),
            lambda: links.sender("put", "$cbs"),
            lambda: links.ask("put", "put-token", token),
            lambda: links.sender("out", "q"),
            lambda: links.send("out", bytes(message.encode())),
            lambda: links.receiver("in", "q"),
            lambda: links.settle("in"),
            lambda: links.receiver("told", "q/$management"),
            lambda: links.sender("ask", "q/$management"),
            lambda: links.ask("ask", "com.microsoft:peek-message", peek),
            lambda: links.ask("ask", "com.microsoft:schedule-message", {"messages": later}),
            lambda: links.sender("turns", "s"),
            lambda: links.send("turns", bytes(in_session.encode())),
            lambda: links.receiver("turn", "s", next_session=True),
            lambda: links.settle("turn"),
            lambda: links.sender("txn", None),
            lambda: links.send("txn", b"\x00\x53\x77\x00\x53\x31\x45"),
            lambda: links.close("out"),
        ]
    )


def frames_of(said: bytes) -> list[bytes]:
    """The headers and frames of what a client says."""
    found, place = [], 0
    while place < len(said):
        size = 8 if said[place : place + 4] == b"AMQP" else int.from_bytes(said[place : place + 4])
        found.append(said[place : place + size])
        place += size
    return found
