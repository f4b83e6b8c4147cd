"""However many clients speak or leave at the same moment, others have turns meanwhile."""

import asyncio
import selectors
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from typing import Any, cast

import pytest
from work import TURN, check
from wsproto import ConnectionType, WSConnection
from wsproto.events import Request as Upgrade

from busproof.broker.admin.access import Control
from busproof.broker.admin.endpoint import Administration
from busproof.broker.amqp.websocket import PATH, SUBPROTOCOL, WebSocket
from busproof.broker.core import Hub
from busproof.broker.event_loop import HEARD_AT_ONCE, FairSelector
from busproof.broker.http_requests import make_handler
from busproof.vocabulary.commands import CreateQueue

from . import raw
from .fuzz import frames as f
from .fuzz import fuzzing
from .test_chains import receivers, rest
from .test_turns import QUEUE, longest


class Pairs:
    """Sockets whose other ends have said something."""

    def __init__(self, selector: FairSelector, count: int) -> None:
        self.ends = [socket.socketpair() for _ in range(count)]
        for ours, theirs in self.ends:
            selector.register(ours, selectors.EVENT_READ)
            theirs.send(b"x")

    def close(self) -> None:
        for ours, theirs in self.ends:
            ours.close()
            theirs.close()


@pytest.fixture
def selector() -> Iterator[FairSelector]:
    with FairSelector() as one:
        yield one


def test_few_sockets_are_heard_at_a_time_and_each_before_any_again(selector: FairSelector) -> None:
    pairs = Pairs(selector, 3 * HEARD_AT_ONCE)
    heard = [[key.fd for key, _ in selector.select(0)] for _ in range(6)]
    pairs.close()
    assert [len(some) for some in heard] == [HEARD_AT_ONCE] * 6
    everybody = {ours for some in heard[:3] for ours in some}
    assert len(everybody) == 3 * HEARD_AT_ONCE


def test_socket_that_was_closed_meanwhile_is_not_heard(selector: FairSelector) -> None:
    pairs = Pairs(selector, 2 * HEARD_AT_ONCE)
    first = {key.fd for key, _ in selector.select(0)}
    later = [ours for ours, _ in pairs.ends if ours.fileno() not in first]
    for ours in later:
        selector.unregister(ours)
        selector.register(ours, selectors.EVENT_WRITE)
    assert all(events == selectors.EVENT_WRITE for _, events in selector.select(0) if later)
    pairs.close()


def many_queues(count: int) -> Iterator[CreateQueue]:
    for number in range(count):
        yield CreateQueue(queue=f"q{number}")


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/$Resources/queues?$top=100", "/busproof/state", "/nothing"])
def test_http_requests_of_many_clients_take_turns(path: str) -> None:
    """300 lists of 100 queues took 2,456 passes in one iteration."""

    async def act(hub: Hub) -> AsyncIterator[None]:
        everybody = Control(is_on=True)
        administration = Administration(hub, print, everybody, everybody)
        converse = make_handler(administration.answer, take=hub.rota.take)
        token = raw.token("http://localhost/", fuzzing.NAME, fuzzing.KEY)
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {token}\r\n\r\n"
        readers = list[asyncio.StreamReader]()
        ways = list[fuzzing.Wire]()
        tasks = list[Any]()
        for _ in range(40):
            reader = asyncio.StreamReader()
            way = fuzzing.Wire()
            protocol = asyncio.StreamReaderProtocol(reader)
            writer = asyncio.StreamWriter(way, protocol, reader, hub.loop)
            tasks.append(asyncio.ensure_future(cast(Any, converse(reader, writer))))
            readers.append(reader)
            ways.append(way)
        await rest(hub, 3)
        yield
        for reader in readers:
            reader.feed_data(head.encode() * 3)
        while not all(way.said.count(b"HTTP/1.1 ") == 3 for way in ways):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await rest(hub, 3)

    check(TURN, lambda: longest(act, *many_queues(100)))


@pytest.mark.slow
@pytest.mark.parametrize("frame", [b"\x89\x80abcd", b"\x82\x80abcd"], ids=["pings", "empty"])
def test_floods_of_many_websockets_take_turns(frame: bytes) -> None:
    async def act(hub: Hub) -> AsyncIterator[None]:
        upgrade = Upgrade(host="here", target=PATH, subprotocols=[SUBPROTOCOL])
        clients = list[WebSocket]()
        for number in range(20):
            client = WebSocket(fuzzing.Connection(hub, number, fuzzing.attach))
            client.connection_made(fuzzing.Wire())
            client.data_received(WSConnection(ConnectionType.CLIENT).send(upgrade))
            clients.append(client)
        yield
        for client in clients:
            hub.loop.call_soon(client.data_received, frame * 3_000)
        await rest(hub)
        with ExitStack() as all_of_them:
            for client in clients:
                all_of_them.callback(client.connection_lost, None)

    check(TURN, lambda: longest(act, QUEUE))


@pytest.mark.slow
@pytest.mark.parametrize("end", ["lost", "session ended", "closed"])
def test_many_connections_of_many_links_end_in_turns(end: str) -> None:
    async def act(hub: Hub) -> AsyncIterator[None]:
        clients = [receivers(hub, number, 4_000) for number in range(4)]
        await rest(hub)
        yield
        for client in clients:
            if end == "lost":
                hub.loop.call_soon(client.connection.connection_lost, None)
            else:
                client.say(f.frame(f.END if end == "session ended" else f.CLOSE))
        await rest(hub)
        assert not any(client.connection.links for client in clients)

    check(TURN, lambda: longest(act, QUEUE))
