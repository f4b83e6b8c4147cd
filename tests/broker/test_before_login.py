"""What clients cost that have not logged in: little, and nothing once they have gone."""

import asyncio
import gc
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import attrs
import pytest
import trustme
from work import PATIENCE, until

from busproof.broker.amqp.websocket import WebSocket
from busproof.broker.auth.tokens import AccessPolicies
from busproof.broker.configuration.emulator import Configuration
from busproof.broker.http_requests import Answer, make_handler
from busproof.broker.server import Places, bus_for, start_broker
from busproof.broker.tls import Handshakes
from busproof.vocabulary.commands import CreateQueue

from . import raw
from .conftest import Served, serving
from .fuzz import frames as f
from .fuzz import fuzzing
from .inside import hub_of, inside
from .test_limits_of_clients import connected, send

GROWS: Final = 1.3
"""How large a broker may be after an attack, where it was 1 before."""
PORTS: Final = ("tls-port", "websocket-port", "admin-port")
ASYNCIOS_OWN: Final = {
    *("_SelectorSocketTransport", "TransportSocket", "socket"),
    *("tuple", "dict", "method"),
}
"""The transport of a socket refers to itself; it is small."""


@attrs.frozen
class Secured:
    """A broker that speaks TLS on each of its ports."""

    served: Served
    ports: dict[str, int]
    trusting: ssl.SSLContext

    @property
    def memory(self) -> int:
        return self.served.memory


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[Secured]:
    authority, ports = tmp_path / "authority.pem", {name: free_port() for name in PORTS}
    options = [f"--{name}={port}" for name, port in ports.items()]
    with serving("--tls", str(authority), ports=options) as served:
        yield Secured(served, ports, ssl.create_default_context(cafile=str(authority)))


def visit(secured: Secured, port: int, clients: int, says: bytes | None) -> None:
    """Connect many clients, each of which says this, or shakes hands; then all go."""
    with ExitStack() as all_of_them:
        for _ in range(clients):
            client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            if says is None:
                client = secured.trusting.wrap_socket(client, server_hostname="localhost")
            else:
                client.sendall(says)
            all_of_them.enter_context(client)


def settles_below(secured: Secured, most: float) -> bool:
    return until(lambda: secured.memory <= most)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "says"),
    [
        *((name, b"\x16") for name in PORTS),
        ("websocket-port", b"GET / HTTP/1.1\r\n\r\n"),
        ("tls-port", None),
    ],
)
def test_memory_of_clients_before_login_is_given_back(
    secured: Secured, name: str, says: bytes | None
) -> None:
    before = secured.memory
    for _ in range(4):
        visit(secured, secured.ports[name], 400, says)
    assert settles_below(secured, before * GROWS)


@pytest.mark.slow
def test_flood_of_handshakes_makes_room_for_one_that_goes_on(secured: Secured) -> None:
    before = secured.memory
    with ExitStack() as others:
        for _ in range(800):
            other = socket.create_connection(
                ("127.0.0.1", secured.ports["tls-port"]), timeout=PATIENCE
            )
            others.enter_context(other).sendall(b"\x16")
        visit(secured, secured.ports["tls-port"], 1, None)
        assert secured.memory - before < 60_000_000


class Transport(asyncio.Transport):
    """A transport that knows whether it was aborted."""

    was_aborted = False

    def abort(self) -> None:
        self.was_aborted = True


def test_oldest_handshake_makes_room() -> None:
    handshakes, transports = Handshakes(lambda: None, most=2), [Transport() for _ in range(4)]
    handshakes.begin(transports[0])
    handshakes.begin(transports[1])
    handshakes.end(transports[0])
    handshakes.begin(transports[2])
    handshakes.begin(transports[3])
    assert [False, True, False, False] == [transport.was_aborted for transport in transports]
    assert len(handshakes) == 2


@pytest.mark.slow
def test_stranger_makes_room_for_another_connection() -> None:
    with inside(CreateQueue(queue="q"), connections=2) as broker, connected(broker) as first:
        with raw.silent(broker.broker.port) as silent:
            while len(broker.hub.connections) < 2:
                time.sleep(0.01)
            with connected(broker) as second:
                assert send(second, b"let in")
                assert b"" == silent.recv(100)
        assert send(first, b"still there")


def left_behind(act: Callable[[], None]) -> Counter[str]:
    """The kinds of objects that only the garbage collector would free.

    What was there before is kept out of sight: tests that ran earlier in this process leave
    objects that a first collection does not find.
    """
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        act()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        return Counter(type(found).__name__ for found in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
        gc.unfreeze()


@pytest.mark.parametrize(
    "says", [b"", f.login() + f.opening() + f.begin() + f.attach("a", 0, sends="q")]
)
@pytest.mark.parametrize("over", ["AMQP", "WebSockets"])
def test_connection_that_has_ended_is_freed_at_once(says: bytes, over: str) -> None:
    """Without the garbage collector, which looks rarely in a broker of many messages."""

    async def come_and_go() -> Counter[str]:
        of_all = hub_of(CreateQueue(queue="q"))

        def act() -> None:
            connection = fuzzing.Connection(of_all, 1, fuzzing.attach)
            protocol = WebSocket(connection) if over == "WebSockets" else connection
            protocol.connection_made(fuzzing.Wire())
            protocol.data_received(says)
            protocol.connection_lost(None)

        act()
        found = left_behind(act)
        of_all.close()
        return found

    assert not asyncio.run(come_and_go())


@pytest.mark.slow
@pytest.mark.parametrize("says", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", b"\x16"])
@pytest.mark.parametrize("over", ["HTTP", "HTTPS"])
def test_http_connection_that_has_ended_is_freed_at_once(says: bytes, over: str) -> None:
    tls, trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority = trustme.CA()
    authority.issue_cert("localhost").configure_cert(tls)
    authority.configure_trust(trusting)

    def come_and_go(port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as plain:
            if over == "HTTP" or says == b"\x16":
                plain.sendall(says)
            else:
                with trusting.wrap_socket(plain, server_hostname="localhost") as client:
                    client.sendall(says)
        time.sleep(0.2)

    async def run() -> Counter[str]:
        places = Places("127.0.0.1", None, 0, admin_tls=tls if over == "HTTPS" else None)
        broker = await start_broker(
            bus_for(Configuration()),
            AccessPolicies(Configuration().keys),
            places,
            lambda _: make_handler(lambda _: Answer(200, b"here")),
        )
        loop, ended = asyncio.get_running_loop(), list[Counter[str]]()

        def visited() -> None:
            ended.append(left_behind(lambda: come_and_go(broker.admin_port)))

        await loop.run_in_executor(None, come_and_go, broker.admin_port)
        await loop.run_in_executor(None, visited)
        await broker.stop()
        return ended[0]

    assert set(asyncio.run(run())) <= ASYNCIOS_OWN
