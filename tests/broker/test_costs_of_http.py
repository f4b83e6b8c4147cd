"""What a request over HTTP may cost the broker, which answers all the others meanwhile."""

import asyncio
import socket
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise
from typing import Final
from urllib.parse import urlsplit

import pytest
from work import PATIENCE, process_passes

from busproof.broker.http_requests import Answer as HttpAnswer
from busproof.broker.http_requests import make_handler as served_by
from busproof.broker.limits import Limits

from . import raw
from .conftest import Served
from .test_costs import GENEROUS, KEY, costly

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    yield from costly(tmp_path_factory.mktemp("costs"))


def exchanged(served: Served, sent: Iterable[bytes], most: int = 200_000) -> bytes:
    """What is answered to bytes that are sent one piece after another, as far as they are taken."""
    port = urlsplit(served.admin).port or 0
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
        with suppress(ConnectionError):
            for piece in sent:
                client.sendall(piece)
        said = b""
        with suppress(ConnectionError):
            while len(said) < most and (more := client.recv(65_536)):
                said += more
    return said


def head(method: str, path: str, *headers: str) -> bytes:
    """The head of a request with a chunked body."""
    lines = (f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers)
    return "\r\n".join((*lines, "Transfer-Encoding: chunked", "", "")).encode()


TINY_CHUNKS: Final = b"1\r\nx\r\n" * 10_000


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", "/anything", 401),
        ("POST", "/$Resources/queues", 401),
        ("DELETE", "/q", 401),
        ("GET", "/health", 413),
        ("GET", "/metrics", 413),
        ("GET", "/busproof/overview", 413),
        ("POST", "/busproof/clock", 403),
    ],
)
def test_body_is_not_read_without_a_token(
    served: Served, method: str, path: str, status: int
) -> None:
    origin = "Origin: http://elsewhere"
    with process_passes(served.process.pid, GENEROUS / 5):
        said = exchanged(served, [head(method, path, origin), *[TINY_CHUNKS] * 90])
        assert said.startswith(f"HTTP/1.1 {status} ".encode()), said[:200]
        assert served.is_healthy


def test_body_of_many_tiny_chunks_is_refused_and_others_have_turns(served: Served) -> None:
    """Also with a token: 10,000 chunks may be sent, and each hundred of them lets others in."""
    with process_passes(served.process.pid, GENEROUS):
        token = f"Authorization: {raw.token('http://127.0.0.1/', *KEY)}"
        said = exchanged(served, [head("PUT", "/new", token), *[TINY_CHUNKS] * 20])
        assert said.startswith(b"HTTP/1.1 413 ")
        assert b"too many chunks" in said
        asked = head("PUT", "/new", token, "Connection: close")
        said = exchanged(served, [asked, TINY_CHUNKS, b"0\r\n\r\n"])
        assert said.startswith(b"HTTP/1.1 400 ")


def test_refused_client_reads_the_answer_though_it_goes_on_sending(served: Served) -> None:
    """A large body of one piece, which nobody reads, does not take the answer with it."""
    body = b"x" * 500_000
    lines = f"PUT /q HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n"
    for _ in range(5):
        said = exchanged(served, [lines.encode(), body])
        assert said.startswith(b"HTTP/1.1 401 ")
        assert b"onnection: close" in said


def test_body_with_two_lengths_ends_the_connection(served: Served) -> None:
    """A proxy may go by the other one, and see a request where the broker sees a body."""
    lines = "GET /health HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked"
    said = exchanged(served, [f"{lines}\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\n".encode()])
    assert said.startswith(b"HTTP/1.1 400 ")
    assert b"onnection: close" in said
    assert said.count(b"HTTP/1.1") == 1


def test_requests_that_come_all_at_once_give_others_a_turn() -> None:
    """Each request of a pipeline lets another connection go on before the next."""
    turns: list[str] = []

    async def converse() -> None:
        handled = served_by(lambda request: turns.append(request.target) or HttpAnswer(200))
        server = await asyncio.start_server(handled, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        ways = [await asyncio.open_connection("127.0.0.1", port) for _ in "ab"]
        for (_, writer), name in zip(ways, "ab", strict=True):
            writer.write(f"GET /{name} HTTP/1.1\r\nHost: h\r\n\r\n".encode() * 100)
        for reader, _ in ways:
            await reader.readuntil(b"\r\n\r\n" * 1)
        while len(turns) < 200:
            await asyncio.sleep(0.01)
        server.close()
        for _, writer in ways:
            writer.close()

    asyncio.run(asyncio.wait_for(converse(), PATIENCE))
    changes = sum(one != other for one, other in pairwise(turns))
    assert changes > 50, "".join(turns)


def test_silent_http_clients_make_room_for_others() -> None:
    """The one that has waited the longest goes; who sends a whole request is answered."""

    async def converse() -> None:
        handled = served_by(lambda _: HttpAnswer(200), limits=Limits(http_connections=3))
        server = await asyncio.start_server(handled, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        silent = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        silent[1][1].write(b"GET / HTTP/1.1\r\n")
        await asyncio.sleep(0.1)
        for _ in range(4):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            assert b"200" in await reader.readline()
            writer.close()
        assert silent[0][0].at_eof() or not await silent[0][0].read()
        assert not silent[2][0].at_eof()
        server.close()

    asyncio.run(asyncio.wait_for(converse(), PATIENCE))
