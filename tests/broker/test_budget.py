"""What clients make the broker keep: attacked over sockets, each bounded by `held` and others."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest
from proton import Message
from work import PATIENCE

from . import raw
from .conftest import Served, serving, written
from .fuzz.frames import (
    FLOW,
    NULL,
    Peer,
    attach,
    begin,
    binary,
    described,
    flow,
    listed,
    mapped,
    peer,
    symbol,
    text,
    transfer,
)

pytestmark = pytest.mark.slow

MB: Final = 1_000_000
HELD, HELD_BY_ALL = 16 * MB, 40 * MB
BODY: Final = 200_000
ROOM: Final = 60 * MB
"""How much more the process may have than what is held for the attackers: fragments, copies."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A broker that holds little for clients; `large` has 100 messages, and so has `small`."""
    queues = [{"Name": name} for name in ("q", "large", "small", "txn")]
    limits = ("--limit", f"held={HELD}", "--limit", f"held-by-all={HELD_BY_ALL}")
    with serving("--config", written(tmp_path, Queues=queues), *limits) as broker:
        with raw.logged_in(broker.port) as connection:
            for name, size in (("large", BODY), ("small", 10)):
                sender = connection.create_sender(name)
                for _ in range(100):
                    sender.send(Message(b"x" * size, inferred=True))
                sender.close()
        yield broker


def asked(number: int, body: bytes = b"", operation: str = "peek-message", count: int = 1) -> bytes:
    """A request of a queue's management, to peek at so many messages."""
    sized = (
        text("from-sequence-number"),
        b"\x55\x00",
        text("message-count"),
        b"\x71" + count.to_bytes(4),
    )
    payload = described(0x73, listed(text(str(number)), NULL, NULL, NULL, text("back")))
    payload += described(0x74, mapped(text("operation"), text(f"com.microsoft:{operation}")))
    return transfer(number, payload + described(0x77, body or mapped(*sized)), handle=1)


def serves(served: Served) -> None:
    """Others are served: what they send is accepted, and given back."""
    assert served.is_healthy
    with raw.logged_in(served.port) as connection:
        connection.create_sender("q").send(Message(b"still there", inferred=True))
        receiver = connection.create_receiver("q", credit=1)
        assert receiver.receive(PATIENCE).body == b"still there"
        receiver.accept()


def test_answers_to_a_shut_window_are_bounded(served: Served) -> None:
    """A client that gives credit and no window asks for far more than it takes."""
    before = served.memory
    links = attach("in", 0, receives="large/$management") + attach(
        "out", 1, sends="large/$management"
    )
    with peer(served.port, begin(window=1), links, flow(10_000, window=0)) as client:
        for number in range(600):
            client.say(asked(number, count=5))
        time.sleep(1)
        assert served.memory - before < HELD + ROOM
        serves(served)


def test_messages_for_a_shut_window_are_bounded(served: Served) -> None:
    """A client that gives credit and no window is given few messages; with a window, all."""
    before = served.memory
    link = attach("in", 0, receives="large", settled=True)
    with peer(served.port, begin(window=1), link, flow(2**31, window=0)) as client:
        time.sleep(1)
        assert served.memory - before < HELD
        client.say(flow(2**31, window=2**20))
        given = 0
        while given < 100 * BODY:
            client.said = b""
            assert client.read(b"x" * 1000)
            given += len(client.said)
        serves(served)


FAT: Final = mapped(*[symbol("a"), NULL] * 2_000)
"""8 kB that take a hundred times as much once they are read as values."""


def fat_links(client: Peer) -> None:
    client.say(begin())
    for number in range(600):
        link = attach(f"l{number}", number, receives="q", more=FAT, properties=FAT)
        client.say(link)


def refused_links(client: Peer) -> None:
    client.say(begin())
    for number in range(1_000):
        client.say(attach(f"{number}" + "n" * 30_000, number, receives="nowhere"))
        client.read_all(0.01)


def fat_sessions(client: Peer) -> None:
    for number in range(900):
        client.say(begin(number, properties=mapped(symbol("a"), text("x" * 30_000))))


def transactions(client: Peer) -> None:
    """Messages of transactions that never end."""
    coordinator = described(0x30, listed())
    client.say(begin(), attach("c", 0, target=coordinator), attach("out", 1, sends="txn"))
    client.read(bytes((0, 0x53, FLOW)))
    for number in range(20):
        client.said = b""
        client.say(transfer(number * 100, described(0x77, described(0x31, listed()))))
        if not client.read(b"\x00\x53\x33"):
            return
        said = client.said.partition(b"\x00\x53\x33")[2]
        name = said[said.index(b"\xa0") :][: 2 + said[said.index(b"\xa0") + 1]]
        state = described(0x34, listed(name))
        for place in range(1, 60):
            message = described(0x75, binary(b"x" * BODY))
            client.say(transfer(number * 100 + place, message, handle=1, state=state))


def unfinished(client: Peer) -> None:
    """Messages whose end never comes."""
    client.say(begin(), attach("out", 0, sends="q"))
    client.read(bytes((0, 0x53, FLOW)))
    for _ in range(18):
        client.say(transfer(0, b"x" * BODY, more=True))


@pytest.mark.parametrize("attack", [fat_links, refused_links, fat_sessions, transactions])
def test_what_one_client_makes_the_broker_keep_is_bounded(
    served: Served, attack: Callable[[Peer], None]
) -> None:
    before = served.memory
    with peer(served.port) as client:
        attack(client)
        over = served.memory - before
        assert b"resource-limit" in client.said or client.read(b"resource-limit")
        serves(served)
    assert over < HELD + ROOM


def test_what_all_clients_make_the_broker_keep_is_bounded(served: Served) -> None:
    before = served.memory
    with ExitStack() as stack, peer(served.port, begin(), attach("out", 0, sends="q")) as modest:
        crowd = [stack.enter_context(peer(served.port)) for _ in range(60)]
        for client in crowd:
            unfinished(client)
        time.sleep(1)
        assert served.memory - before < HELD_BY_ALL + ROOM
        serves(served)
        modest.said = b""
        modest.say(transfer(0, described(0x75, binary(b"modest"))))
        assert modest.read(b"\x00\x53\x24")
