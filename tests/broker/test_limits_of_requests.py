"""Names and values of limits, and what one request may have."""

import contextlib
import socket
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from proton import uint
from work import PATIENCE, until

from busproof.broker.amqp.framing import BATCH_FORMAT
from busproof.broker.limits import MEANINGS, Limits, limits_in
from busproof.errors import UsageError
from busproof.vocabulary.commands import CreateQueue

from . import raw
from .fuzz import frames
from .inside import Inside, inside
from .test_bounds import Asker

QUEUE = CreateQueue(queue="q")


def test_a_limit_is_named_with_its_number() -> None:
    assert Limits(links=7, http_idle=3) == limits_in(["links=7", "http-idle=3"])
    assert Limits() == limits_in([])
    for name, (default, _) in MEANINGS.items():
        assert Limits() == limits_in([f"{name}={default}"])


def test_the_document_shows_each_limit_as_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `") and "`--" not in line]
    expected = [f"| `{name}` | {what} | {most:,} |" for name, (most, what) in MEANINGS.items()]
    assert expected == rows


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("link=7", "no limit 'link'; there are connections, links,"),
        ("links", "links is ''; it has to be a number from 1 to 100000"),
        ("links=0", "from 1 to 100000"),
        ("links=many", "'many'"),
        ("links=٣", "'٣'"),
        ("frame=511", "from 512 to 1048576"),
        (f"idle={'9' * 5000}", "from 0 to 86400"),
    ],
)
def test_a_limit_that_cannot_be_is_named(said: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        limits_in([said])


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_a_request_or_a_batch_has_so_many_things_and_no_more(count: int) -> None:
    """Lock tokens, sequence numbers, messages: one too many is refused with both numbers."""
    said = f"The request has {count} messages, lock tokens or sequence numbers; at most 2"
    with inside(QUEUE, at_once=2, batch=2) as served:
        asking = {
            "renew-lock": {"lock-tokens": [uuid4()] * count},
            "receive-by-sequence-number": {
                "sequence-numbers": [1] * count,
                "receiver-settle-mode": uint(0),
            },
            "schedule-message": {"messages": [{"message": b"\0"}] * count},
        }
        with raw.logged_in(served.broker.port) as connection:
            asker = Asker(connection)
            answers = [asker.ask(operation, body)[1] for operation, body in asking.items()]
        one = frames.described(0x75, frames.binary(b"x"))
        batch = frames.described(0x75, frames.binary(one)) * count
        link = frames.attach("out", 0, sends="q")
        with frames.peer(served.broker.port, frames.begin(), link) as client:
            assert client.read(bytes((0, 0x53, frames.FLOW)))
            client.said = b""
            client.say(frames.transfer(0, batch, form=BATCH_FORMAT))
            assert client.read(bytes((0, 0x53, frames.DISPOSITION)))
            answers.append(client.said.decode("latin-1"))
    assert [count > 2] * 4 == [said in each for each in answers]


def spoken(served: Inside, data: bytes, *, more: Callable[[], bytes] | None = None) -> bytes:
    """What is said over HTTP, until the broker ends the connection or has answered."""
    place = ("127.0.0.1", served.broker.admin_port)
    said = b""
    with socket.create_connection(place, timeout=PATIENCE) as client:
        client.sendall(data)
        with contextlib.suppress(ConnectionResetError):
            while piece := client.recv(65_536):
                said += piece
                if more is None and b"\r\n\r\n" in said:
                    break
    return said


@pytest.mark.slow
def test_http_has_its_limits_too() -> None:
    """Of bodies, how they are written, how long they take, and how many ask at a time."""
    nobody = b"PUT /q HTTP/1.1\r\nHost: localhost\r\n"
    token = raw.token("http://localhost/", raw.LOGIN["user"], raw.LOGIN["password"])
    head = nobody + f"Authorization: {token}\r\n".encode()
    with inside(QUEUE, http_body=1_024, http_idle=2, http_connections=2) as served:
        assert b" 200 " in spoken(served, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        large = b"Content-Length: 2000\r\n\r\n" + b"x" * 2_000
        assert b" 413 " in spoken(served, head + large)
        fits = b"Content-Length: 1000\r\n\r\n" + b"x" * 1_000
        assert b" 401 " in spoken(served, nobody + fits)
        assert b" 401 " in spoken(served, nobody + large)
        assert b" 400 " in spoken(served, head + fits)
        assert b" 415 " in spoken(served, head + b"Content-Encoding: gzip\r\n" + fits)
        assert b" 400 " in spoken(served, head + b"Content-Encoding: identity\r\n" + fits)
        assert b" 400 " in spoken(served, b"GET //[ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"" == spoken(served, head + b"Content-Length: 9\r\n\r\n", more=bytes)
        place = ("127.0.0.1", served.broker.admin_port)
        health = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with socket.create_connection(place) as first, socket.create_connection(place):
            assert b" 200 " in spoken(served, health)
            first.settimeout(PATIENCE)
            with contextlib.suppress(ConnectionError):
                assert first.recv(1) == b""
        assert until(lambda: b" 200 " in spoken(served, health))
