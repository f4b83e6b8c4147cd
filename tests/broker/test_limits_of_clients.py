"""What one client may have of the broker: connections, links, and bytes that it waits for."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from proton import ConnectionException, Delivery, Link, Message, Terminus
from proton.utils import BlockingConnection, LinkDetached
from work import PATIENCE, until

from busproof.adapters.amqp.connection import Connection
from busproof.adapters.amqp.failing import Lost
from busproof.adapters.amqp.target import target_of
from busproof.broker.amqp import wire
from busproof.broker.limits import Limits
from busproof.vocabulary.commands import CreateQueue

from . import raw
from .inside import Inside, inside

QUEUE = CreateQueue(queue="q")


@contextmanager
def connected(served: Inside) -> Iterator[BlockingConnection]:
    with raw.logged_in(served.broker.port) as connection:
        yield connection


@contextmanager
def bare(served: Inside) -> Iterator[Connection]:
    """A scripted client that reads only while it waits."""
    text = f"amqp://{raw.LOGIN['user']}:{raw.LOGIN['password']}@127.0.0.1:{served.broker.port}"
    connection = Connection(target_of(f"{text}?dialect=plain"), 20)
    try:
        yield connection
    finally:
        connection.close()


def send(connection: BlockingConnection, body: bytes) -> bool:
    sender = connection.create_sender("q")
    sent = sender.send(Message(body, inferred=True))
    sender.close()
    return bool(sent.remote_state == Delivery.ACCEPTED)


def gone(served: Inside, left: int = 0) -> bool:
    """Whether no more than so many connections are left before long."""
    return until(lambda: len(served.hub.connections) <= left)


def ended(connection: Connection) -> str:
    """What a client hears of the end of its connection."""
    with pytest.raises(Lost) as raised:
        connection.awaited(lambda: False, 20)
    return str(raised.value)


@pytest.mark.slow
def test_nobody_waits_for_the_end_of_what_is_far_too_large() -> None:
    """Its link ends; the connection goes on, and with it what else is sent over it."""
    with inside(QUEUE) as served, connected(served) as connection:
        beside = connection.create_sender("q", name="beside")
        with pytest.raises(LinkDetached, match="at most 4194304 are taken"):
            send(connection, b"x" * (Limits().unfinished + 1_000))
        assert Delivery.ACCEPTED == beside.send(Message(b"small")).remote_state
        assert send(connection, b"small")
        (left,) = served.hub.connections
        assert left.held < 100_000


@pytest.mark.slow
def test_unfinished_messages_count_for_the_whole_connection() -> None:
    """Half of it over each of three links is too much; over one, and then ended, it is not."""
    with inside(QUEUE, unfinished=100_000) as served:
        with bare(served) as connection:
            one = attached(connection, connection.sender(), "q")
            one.delivery("a")
            one.stream(b"\0" * 60_000)
            connection.awaited(lambda: False, 0.3)
            one.advance()
            connection.awaited(lambda: False, 0.3)
            assert not connection.is_lost
            assert {} == next(iter(served.hub.connections)).unfinished
        with bare(served) as connection:
            for _ in range(2):
                link = attached(connection, connection.sender(), "q")
                link.delivery("a")
                link.stream(b"\0" * 60_000)
            connection.wait(lambda: bool(link.state & link.REMOTE_CLOSED), "the end of the link")
            assert "120000 bytes; at most 100000" in link.remote_condition.description
            assert not connection.is_lost


@pytest.mark.slow
def test_a_connection_has_so_many_links_and_no_more() -> None:
    with inside(QUEUE, links=2) as served, connected(served) as connection:
        first = connection.create_sender("q", name="first")
        connection.create_sender("q", name="second")
        with pytest.raises(LinkDetached, match="resource-limit-exceeded"):
            connection.create_sender("q", name="third")
        first.close()
        connection.create_sender("q", name="fourth")


@pytest.mark.slow
def test_connection_that_keeps_refused_links_open_is_closed() -> None:
    with inside(QUEUE, links=2) as served:
        with connected(served) as connection:
            for number in range(5):
                with pytest.raises(LinkDetached, match="not-found"):
                    connection.create_sender("nowhere", name=f"link-{number}")
            assert send(connection, b"x")
        with bare(served) as connection:
            for _ in range(3):
                link = connection.sender()
                link.target.address = "nowhere"
                link.open()
            assert "2 links that were refused" in ended(connection)


@pytest.mark.slow
def test_transfers_over_a_refused_link_are_discarded() -> None:
    with inside(QUEUE) as served, bare(served) as connection:
        link = connection.sender()
        link.target.address = "nowhere"
        link.open()
        connection.awaited(lambda: bool(link.state & Link.REMOTE_CLOSED), 20)
        for number in range(50):
            link.delivery(str(number))
            link.stream(b"x" * 10_000)
            link.advance()
        sender = attached(connection, connection.sender(), "q")
        connection.wait(lambda: sender.credit > 0, "credit")
        delivery = sender.delivery("good")
        sender.stream(bytes(Message(b"good", inferred=True).encode()))
        sender.advance()
        connection.wait(lambda: bool(delivery.remote_state), "the message")
        assert Delivery.ACCEPTED == delivery.remote_state


@pytest.mark.slow
def test_there_are_so_many_connections_and_no_more() -> None:
    with inside(QUEUE, connections=1) as served:
        with connected(served) as first:
            with pytest.raises(ConnectionException), connected(served):
                pass
            assert send(first, b"still there")
        assert gone(served)
        with connected(served) as second:
            assert send(second, b"there now")


@pytest.mark.slow
def test_sessions_are_as_many_as_clients_are_promised() -> None:
    with inside(QUEUE, sessions=2) as served, bare(served) as connection:
        assert 1 == connection._engine.remote_channel_max
        connection._engine.pop(connection._engine.pending()) if connection._engine.pending() else 0
        begin = b"\x00\x53\x11\xc0\x09\x04\x40\x43\x70\x00\x00\x00\x09\x52\x09"
        for channel in (1, 2):
            size = (len(begin) + 8).to_bytes(4, "big")
            connection._socket.sendall(size + b"\x02\x00" + channel.to_bytes(2, "big") + begin)
            if channel == 1:
                time.sleep(0.3)
                assert 1 == len(served.hub.connections)
        assert gone(served)


@pytest.mark.slow
def test_silent_connection_is_closed() -> None:
    with inside(QUEUE, idle=2) as served, bare(served) as lively:
        with socket_of_one_who_logged_in(served):
            assert 2 == len(served.hub.connections)

            def is_alone() -> bool:
                lively.beat()
                return len(served.hub.connections) == 1

            assert until(is_alone)
        attached(lively, lively.sender(), "q")
    with inside(QUEUE, idle=0) as served, socket_of_one_who_logged_in(served):
        time.sleep(3)
        assert 1 == len(served.hub.connections)


@contextmanager
def socket_of_one_who_logged_in(served: Inside) -> Iterator[socket.socket]:
    said = b"\0" + raw.LOGIN["user"].encode() + b"\0" + raw.LOGIN["password"].encode()
    fields = b"\xa3\x05PLAIN\xa0" + bytes([len(said)]) + said
    init = b"\x00\x53\x41\xc0" + bytes([len(fields) + 1, 2]) + fields
    frame = (len(init) + 8).to_bytes(4, "big") + b"\x02\x01\x00\x00" + init
    with socket.create_connection(("127.0.0.1", served.broker.port), timeout=PATIENCE) as client:
        client.sendall(raw.SASL + frame)
        came = b""
        while raw.OUTCOME not in came:
            came += client.recv(1_000)
        client.sendall(raw.AMQP + raw.OPEN)
        yield client


def attached(connection: Connection, link: Any, path: str) -> Any:
    own = link.target if link.is_sender else link.source
    own.address = path
    connection.attach(link, "the link")
    return link


@pytest.mark.slow
def test_a_link_is_given_so_much_and_more_when_some_of_it_is_settled() -> None:
    with inside(QUEUE, unsettled=2) as served, connected(served) as connection:
        sender = connection.create_sender("q")
        for body in "abc":
            sender.send(Message(body))
        receiver = connection.create_receiver("q", credit=10)
        assert ["a", "b"] == [receiver.receive(PATIENCE).body for _ in range(2)]
        with pytest.raises(Exception, match=r"(?i)timed out"):
            receiver.receive(timeout=1)
        receiver.accept()
        assert "c" == receiver.receive(PATIENCE).body


def managing(connection: Connection, credit: int) -> tuple[Any, Any]:
    """The two links to the management of a queue; the answers have so much credit."""
    replies = attached(connection, connection.receiver(), "q/$management")
    sender = attached(connection, connection.sender(), "q/$management")
    replies.flow(credit)
    connection.wait(lambda: sender.credit >= 100, "credit")
    return replies, sender


def asked(connection: Connection, link: Any, times: int, sized: int = 1) -> None:
    """Ask to peek so often, without reading anything."""
    body = {"from-sequence-number": 0, "message-count": sized}
    properties = {"operation": "com.microsoft:peek-message"}
    request = bytes(Message(body=body, properties=properties, id="x").encode())
    for _ in range(times):
        delivery = link.delivery(str(time.monotonic_ns()))
        link.stream(request)
        link.advance()
        delivery.settle()
    connection._write()


def unread(served: Inside) -> list[Any]:
    """The connections whose clients have not read everything."""
    connections: list[Any] = list(served.hub.connections)
    return [each for each in connections if each._wire.waiting]


def waiting(served: Inside) -> int:
    """The bytes that the broker holds for all clients."""
    return sum(
        each._wire.waiting + each.answers + max(0, each._engine.pending())
        for each in list(served.hub.connections)
    )


@pytest.mark.slow
def test_connection_that_does_not_read_is_not_read_from() -> None:
    """What waits for him is bounded, others are served, and once he reads he gets all of it."""
    with inside(QUEUE, unread=65_536, answers=50_000_000) as served, connected(served) as other:
        assert send(other, b"x" * 200_000)
        with bare(served) as deaf:
            replies, sender = managing(deaf, credit=100)
            most = 0
            for _ in range(10):
                asked(deaf, sender, 10)
                time.sleep(0.1)
                most = max(most, waiting(served))
            assert most < 65_536 + 10 * 210_000
            assert send(other, b"still there")
            came = 0

            def all_of_it() -> bool:
                nonlocal came
                while replies.current is not None and not replies.current.partial:
                    replies.recv(300_000)
                    replies.advance()
                    came += 1
                return came == 100

            assert deaf.awaited(all_of_it, 60)


@pytest.mark.slow
def test_client_that_takes_no_answers_may_not_ask_for_ever() -> None:
    with inside(QUEUE, answers=600_000) as served, connected(served) as other:
        assert send(other, b"x" * 200_000)
        for credit, lasts in ((10, True), (0, False)):
            with bare(served) as client:
                replies, sender = managing(client, credit=credit)
                asked(client, sender, 10)
                if lasts:
                    client.awaited(lambda: replies.queued == 10, 20)  # noqa: B023 - as above
                else:
                    assert "bytes of answers wait to be wanted; at most 600,000" in ended(client)
        with bare(served) as deaf:
            _, sender = managing(deaf, credit=1_000)
            asked(deaf, sender, 100)
            assert gone(served, left=1)
        assert send(other, b"still there")


@pytest.mark.slow
def test_a_client_that_reads_nothing_cannot_put_off_its_end(monkeypatch) -> None:
    monkeypatch.setattr(wire, "LAST_WORDS", 0.3)
    with inside(QUEUE, unread=16_384) as served, connected(served) as other:
        assert send(other, b"x" * 250_000)
        with bare(served) as deaf:
            _, sender = managing(deaf, credit=100)
            asked(deaf, sender, 30)
            assert until(lambda: bool(unread(served)))
            (stuck,) = unread(served)
            served.hub.loop.call_soon_threadsafe(stuck.drop)
            assert gone(served, left=1)


@pytest.mark.slow
def test_open_transactions_of_a_link_are_limited() -> None:
    with inside(QUEUE, transactions=2) as served, bare(served) as client:
        link = client.sender()
        link.target.type = Terminus.COORDINATOR
        client.attach(link, "the coordinator")
        client.wait(lambda: link.credit > 5, "credit")
        declare = b"\x00\x53\x77\x00\x53\x31\x45"

        def answer_to(request: bytes) -> Any:
            delivery = link.delivery(str(time.monotonic_ns()))
            link.stream(request)
            link.advance()
            client.wait(lambda: bool(delivery.remote_state), "the coordinator")
            return delivery.remote

        first = answer_to(declare)
        assert 0x33 == int(first.type)
        assert 0x33 == int(answer_to(declare).type)
        refused = answer_to(declare)
        assert Delivery.REJECTED == refused.type
        assert "resource-limit-exceeded" in refused.condition.name
        name = bytes(first.data[0])
        fields = b"\xa0" + bytes([len(name)]) + name + b"\x42"
        ending = b"\x00\x53\x77\x00\x53\x32\xc0" + bytes([len(fields) + 1, 2]) + fields
        assert Delivery.ACCEPTED == answer_to(ending).type
        assert 0x33 == int(answer_to(declare).type)
