"""AMQP over WebSockets: the official client, and clients that do what no official one would."""

import asyncio
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from select import select
from typing import Any, Final, cast

import attrs
import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage, TransportType
from work import PATIENCE, until
from wsproto import ConnectionType, WSConnection, events

from busproof.broker.amqp.websocket import PIECE, WebSocket
from busproof.broker.disturbances import Disturbances
from busproof.broker.limits import Limits

from . import raw
from .conftest import Served, Start, anew
from .fuzz import fuzzing

pytestmark = pytest.mark.slow

PATH: Final = "/$servicebus/websocket"
SUBPROTOCOL: Final = "AMQPWSB10"


@attrs.frozen
class Web:
    """A broker that speaks WebSocket, too."""

    served: Served
    port: int

    def client(self) -> ServiceBusClient:
        """The official client over WebSockets."""
        return self.served.client(
            transport_type=TransportType.AmqpOverWebsocket,
            custom_endpoint_address=f"sb://127.0.0.1:{self.port}",
        )


@pytest.fixture(scope="module")
def web(start: Start) -> Web:
    served = start("--websocket-port", "0", "--limit", "connections=40")
    found = re.search(r"AMQP over WebSockets on 127\.0\.0\.1:(\d+)", served.said)
    assert found is not None, served.said
    return Web(anew(served), int(found[1]))


class Talk:
    """A client of a WebSocket, event by event."""

    def __init__(self, port: int, *protocols: str, path: str = PATH, **headers: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.frames = WSConnection(ConnectionType.CLIENT)
        extra: Any = [(name.encode(), value.encode()) for name, value in headers.items()]
        self.say(
            events.Request(
                host=f"127.0.0.1:{port}",
                target=path,
                subprotocols=list(protocols),
                extra_headers=extra,
            )
        )
        self.events = self._events()

    def say(self, event: events.Event) -> None:
        self.socket.sendall(self.frames.send(event))

    def _events(self) -> Iterator[events.Event]:
        while data := self.socket.recv(65_536):
            self.frames.receive_data(data)
            yield from self.frames.events()

    def next(self) -> events.Event | None:
        """What comes next; `None` at the end."""
        return next(self.events, None)

    def received(self, wanted: bytes) -> bytes:
        """All bytes of messages until these have come."""
        found = b""
        while wanted not in found:
            event = self.next()
            assert isinstance(event, events.BytesMessage), event
            found += event.data
        return found

    def close(self) -> None:
        self.socket.close()


def opened(web: Web, *protocols: str, **more: Any) -> Talk:
    talk = Talk(web.port, *(protocols or (SUBPROTOCOL,)), **more)
    event = talk.next()
    assert isinstance(event, events.AcceptConnection), event
    return talk


def test_the_official_client_sends_and_receives(web: Web, name: str) -> None:
    with web.client() as client:
        with client.get_queue_sender("plain") as sender:
            sender.send_messages([ServiceBusMessage(name), ServiceBusMessage(name * 5_000)])
        with client.get_queue_receiver("plain") as receiver:
            found = list[str]()
            while len(found) < 2:
                for each in receiver.receive_messages(2, 20):
                    found.append(str(each))
                    receiver.complete_message(each)
    assert [name, name * 5_000] == found


@pytest.fixture
def common_web(web: Web) -> Web:
    """The same broker at its port for HTTP, as the service has both at 443."""
    return Web(web.served, int(web.served.admin.rpartition(":")[2]))


def test_port_of_http_takes_websockets(common_web: Web, name: str) -> None:
    """The official clients ask there for both."""
    with common_web.client() as client:
        with client.get_queue_sender("plain") as sender:
            sender.send_messages(ServiceBusMessage(name))
        with client.get_queue_receiver("plain") as receiver:
            (found,) = receiver.receive_messages(1, 20)
            receiver.complete_message(found)
    assert name == str(found)
    assert common_web.served.ask("/health")["status"] == "healthy"


@pytest.mark.parametrize(
    ("head", "answer"),
    [
        (f"GET {PATH} HTTP/1.1\r\nHost: h\r\n\r\n", b"HTTP/1.1 400 "),
        (f"GET {PATH}/more HTTP/1.1\r\nHost: h\r\n\r\n", b"HTTP/1.1 401 "),
        ("GET /health HTTP/1.1\r\nHost: h\r\n\r\n", b"HTTP/1.1 200 "),
        ("HEAD /health HTTP/1.1\r\nHost: h\r\n\r\n", b"HTTP/1.1 "),
        ("GET /health", b""),
        ("\x16\x03\x01\0", b"HTTP/1.1 400 "),
        (f"GET /{'x' * 1_500} HTTP/1.1\r\nHost: h\r\n\r\n", b"HTTP/1.1 401 "),
    ],
)
def test_first_line_may_be_cut_anywhere(common_web: Web, head: str, answer: bytes) -> None:
    with socket.create_connection(("127.0.0.1", common_web.port), timeout=PATIENCE) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in head.encode("latin-1"):
            client.sendall(bytes([byte]))
        client.shutdown(socket.SHUT_WR)
        assert client.recv(100).startswith(answer)


@pytest.mark.parametrize("tls", [["--admin-tls"], ["--tls"]])
def test_port_of_https_takes_websockets(tmp_path: Path, start: Start, tls: list[str]) -> None:
    authority = tmp_path / "authority.pem"
    options = [each for option in tls for each in (option, str(authority))]
    served = start(*options, *(["--tls-port", "0"] if "--tls" in tls else []))
    found = re.search(r"HTTPS on \S+:(\d+)", served.said)
    assert found is not None
    port = int(found[1])
    trusting = ssl.create_default_context(cafile=str(authority))
    plain = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    with trusting.wrap_socket(plain, server_hostname="localhost") as client:
        asked = events.Request(host="localhost", target=PATH, subprotocols=[SUBPROTOCOL])
        client.sendall(WSConnection(ConnectionType.CLIENT).send(asked))
        assert client.recv(100).startswith(b"HTTP/1.1 101")


@pytest.mark.parametrize(
    "more",
    [
        {"path": f"{PATH}/"},
        {"path": "/%24servicebus/websocket"},
        {"path": f"{PATH}?api=1"},
        {"origin": "http://localhost:3000"},
    ],
)
def test_a_websocket_may_be_asked_for_in_several_ways(web: Web, more: dict[str, str]) -> None:
    """With a slash at the end, escaped, with a query, and by a page of this machine."""
    with closing(opened(web, **more)):
        pass


@pytest.mark.parametrize("offered", [("AMQPWSB10",), ("amqp",), ("mqtt", "amqp")])
def test_either_subprotocol_is_spoken(web: Web, offered: tuple[str, ...]) -> None:
    """The service's own, and the one that is registered for AMQP."""
    talk = Talk(web.port, *offered)
    event = talk.next()
    assert isinstance(event, events.AcceptConnection)
    assert offered[-1] == event.subprotocol
    with closing(talk):
        talk.say(events.BytesMessage(data=raw.SASL + raw.ANONYMOUS))
        assert talk.received(raw.OUTCOME).startswith(raw.SASL)


@pytest.mark.parametrize(
    ("protocols", "more", "status"),
    [
        ((SUBPROTOCOL,), {"path": "/"}, 404),
        (("mqtt",), {}, 400),
        ((), {}, 400),
        ((SUBPROTOCOL,), {"origin": "http://elsewhere.example"}, 403),
    ],
)
def test_what_is_not_served_is_refused_in_http(
    web: Web, protocols: tuple[str, ...], more: dict[str, str], status: int
) -> None:
    with closing(Talk(web.port, *protocols, **more)) as talk:
        event = talk.next()
        assert isinstance(event, events.RejectConnection)
        assert status == event.status_code
        while talk.socket.recv(1_000):
            pass


@pytest.mark.parametrize(
    "said",
    [
        b"GET / HTTP/1.1\r\nHost: here\r\n\r\n",
        raw.SASL + b"\r\n\r\n",
        b"\xff\n\n",
        b"GET / HTTP/1.1\r\nX: " + b"x" * 60_000,
    ],
)
def test_what_is_no_request_for_a_websocket_is_refused(web: Web, said: bytes) -> None:
    """A plain request, bytes of AMQP, and a head without end, before it fills the memory."""
    with socket.create_connection(("127.0.0.1", web.port), timeout=PATIENCE) as client:
        client.sendall(said)
        assert client.recv(1_000).startswith(b"HTTP/1.1 4")


def test_bytes_may_be_cut_into_messages_anywhere(web: Web) -> None:
    with closing(opened(web)) as talk:
        for each in raw.SASL + raw.ANONYMOUS[:-1]:
            talk.say(events.BytesMessage(data=bytes([each]), message_finished=False))
            talk.say(events.Ping(payload=b"?"))
        talk.say(events.BytesMessage(data=raw.ANONYMOUS[-1:]))
        pongs, found = 0, b""
        while raw.OUTCOME not in found:
            event = talk.next()
            if isinstance(event, events.Pong):
                pongs += 1
            else:
                assert isinstance(event, events.BytesMessage), event
                found += event.data
        assert len(raw.SASL + raw.ANONYMOUS) - 1 == pongs


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (b"\x81\x84\0\0\0\0AMQP", 1003),
        (b"\x88\x82\0\0\0\0\x03\xe8", 1000),
        (b"\xff\xff\xff\xff", 1002),
    ],
    ids=["text", "close", "no frame"],
)
def test_the_end_of_a_websocket_is_said(web: Web, said: bytes, code: int) -> None:
    """When the client ends it, and when it sends what is not binary, or no frame."""
    with closing(opened(web)) as talk:
        talk.socket.sendall(said)
        end = talk.next()
        assert isinstance(end, events.CloseConnection)
        assert code == end.code
        assert talk.next() is None


def opened_within() -> "tuple[Taken, fuzzing.Wire, WebSocket]":
    """A WebSocket of this process that a client has opened."""
    within = Taken()
    way = fuzzing.Wire()
    socket_within = WebSocket(cast(Any, within))
    socket_within.connection_made(way)
    request = events.Request(host="here", target=PATH, subprotocols=[SUBPROTOCOL])
    socket_within.data_received(WSConnection(ConnectionType.CLIENT).send(request))
    return within, way, socket_within


def test_a_ping_after_the_end_is_not_answered() -> None:
    """A ping may come in one piece with the text that ends the WebSocket."""
    _, way, socket_within = opened_within()
    text, ping = b"\x81\x81\x00\x00\x00\x00x", b"\x89\x80\x00\x00\x00\x00"
    socket_within.data_received(text + ping)
    assert way.is_over


def test_a_ping_after_the_brokers_own_end_is_not_answered() -> None:
    """The client may have sent it before it read that the WebSocket has ended."""
    within, way, socket_within = opened_within()
    within.transport.close()
    socket_within.data_received(b"\x89\x80\x00\x00\x00\x00")
    assert way.is_over


def test_failed_sasl_closes_the_websocket(web: Web) -> None:
    """After the header that clients are to speak."""
    with closing(opened(web)) as talk:
        talk.say(events.BytesMessage(data=b"HTTP/1.1 nothing"))
        assert raw.SASL == talk.received(raw.SASL)
        assert isinstance(talk.next(), events.CloseConnection)


class Taken:
    """A connection inside that takes bytes, and a loop that gives turns on request."""

    def __init__(self) -> None:
        self.hub = self.rota = self
        self.limits = Limits()
        self.disturbances = Disturbances(cast(Any, None))
        self.turns: list[Callable[[], None]] = []
        self.taken: list[bytes] = []

    def left(self) -> float:
        return 1.0

    def add(self, turn: Callable[[], None]) -> None:
        self.turns.append(turn)

    def remove(self, turn: Callable[[], None]) -> None:
        self.turns = [other for other in self.turns if other != turn]

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.taken.append(data)


def test_a_flood_of_frames_is_handled_by_turns() -> None:
    """Each small frame costs as much as a large one: others have turns between pieces."""
    within, way, socket_within = opened_within()
    frame = b"\x82\x81\x00\x00\x00\x00x"
    socket_within.data_received(frame * 3_000)
    turns = 0
    while within.turns:
        assert len(b"".join(within.taken)) <= (turns + 1) * PIECE // len(frame)
        assert way.is_paused
        within.turns.pop()()
        turns += 1
    assert (b"x" * 3_000, False) == (b"".join(within.taken), way.is_paused)
    assert turns == 3_000 * len(frame) // PIECE


def test_nothing_is_handled_while_the_connection_within_wants_nothing() -> None:
    within, way, socket_within = opened_within()
    within.transport.pause_reading()
    socket_within.data_received(b"\x82\x81\x00\x00\x00\x00x")
    assert ([], [], True) == (within.taken, within.turns, way.is_paused)
    within.transport.resume_reading()
    within.turns.pop()()
    assert ([b"x"], False) == (within.taken, way.is_paused)


def test_connections_are_counted_before_they_are_websockets(web: Web) -> None:
    """So that nobody can hold more than there may be."""
    silent = [raw.silent(web.port) for _ in range(45)]
    try:
        # Who is refused can read the end, or that it was reset.
        assert until(lambda: len(select(silent, [], [], 0)[0]) >= 5)
    finally:
        for each in silent:
            each.close()
