"""Whatever comes over real sockets, and however it ends: a broker of its own process serves on.

What is said is tried without sockets in test_fuzz.py; here are the ways in which a peer comes and
goes: halves, resets, clients that never read or never leave, floods, and other protocols.
"""

import asyncio
import random
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import attrs
import pytest
from proton import Message
from work import PATIENCE, until

from busproof.broker.http_requests import Request

from .. import raw
from ..conftest import FULL, Served, anew, serving, written
from ..inside import hub_of
from . import broken_frames, fuzzing
from .test_fuzz import QUEUES
from .test_fuzz_http import asked

pytestmark = pytest.mark.slow

CASES: Final = 20_000 if FULL else 1_200
AT_ONCE: Final = 32
LEFT: Final = 100
"""So many clients stay for good, of whom most never read."""
MOST_GROWTH: Final = 8.0
"""In MB of memory, between the first two thirds of the cases and their end."""
RESET: Final = struct.pack("ii", 1, 0)
MECHANISMS: Final = (
    *("EXTERNAL", "GSSAPI", "SCRAM-SHA-256", "XOAUTH2", "MSSBCBS"),
    *("plain", "", "PLAIN ", "A" * 250),
)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    parted = {"EnablePartitioning": True}
    sessions = {"RequiresSession": True}
    queues = [{"Name": "q", "Properties": parted}, {"Name": "s", "Properties": sessions}]
    with serving("--control", "--config", written(tmp_path, Queues=queues)) as broker:
        yield broker


@attrs.define
class Crowd:
    """Clients that come and go, each by its number, and what those have read who read."""

    served: Served
    frames: list[bytes]
    say: "Callable[[Crowd, random.Random], tuple[int, list[bytes]]]"
    read: list[bytes] = attrs.field(factory=list)
    left: list[socket.socket] = attrs.field(factory=list)

    @property
    def admin(self) -> int:
        """The port of HTTP."""
        return int(self.served.admin.rpartition(":")[2])

    async def come(self, cases: range) -> None:
        """Let clients of these numbers come, some at once."""
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with gate:
                await self._visit(number)

        await asyncio.gather(*(one(number) for number in cases))

    async def _visit(self, number: int) -> None:
        chance = random.Random(number)
        port, pieces = self.say(self, chance)
        way = chance.choice(("reset", "half", "half", "close", "unread", "stay"))
        if way in ("unread", "stay") and len(self.left) >= LEFT:
            way = "half"
        client = socket.socket()
        client.setblocking(False)
        if way == "unread":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", port))
        if way == "half":
            reading = asyncio.ensure_future(_whole(client))
        await _said(client, pieces)
        if way == "half":
            with suppress(OSError):
                client.shutdown(socket.SHUT_WR)
            try:
                self.read.append(await asyncio.wait_for(reading, PATIENCE))
            except TimeoutError:
                raise AssertionError(f"client {number} was not let go of: {pieces}") from None
        elif way == "reset":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        if way in ("unread", "stay"):
            self.left.append(client)
        else:
            client.close()

    def leave(self) -> None:
        """All who stayed go."""
        while self.left:
            self.left.pop().close()


async def _said(client: socket.socket, pieces: list[bytes]) -> None:
    """Say all, unless the broker has ended it, or reads no more."""
    with suppress(OSError, TimeoutError):
        for piece in pieces:
            await asyncio.wait_for(asyncio.get_running_loop().sock_sendall(client, piece), 5)
            await asyncio.sleep(0)


async def _whole(client: socket.socket) -> bytes:
    """All that comes until the end, which a reset is, too."""
    found = b""
    with suppress(OSError):
        while some := await asyncio.get_running_loop().sock_recv(client, 65_536):
            found += some
    return found


def conversation() -> list[bytes]:
    """The frames of a client that uses all there is."""

    async def spoken() -> list[bytes]:
        hub = hub_of(*QUEUES)
        said, _ = await fuzzing.conversation(hub, fuzzing.KEY)
        hub.close()
        return fuzzing.frames_of(said)

    return asyncio.run(spoken())


def init(mechanism: str, response: bytes) -> bytes:
    """A frame in which a client chooses how it logs in."""
    name = mechanism.encode()
    fields = b"\xa3" + bytes([len(name)]) + name + b"\xb0" + struct.pack(">I", len(response))
    fields += response
    body = b"\x00\x53\x41\xd0" + struct.pack(">II", len(fields) + 4, 2) + fields
    return struct.pack(">I", len(body) + 8) + b"\x02\x01\x00\x00" + body


def with_a_key(crowd: Crowd, chance: random.Random) -> tuple[int, list[bytes]]:
    """What a client with a key says, with something wrong about it; or that ever so often."""
    frames = broken_frames.changed(crowd.frames, chance)
    if chance.random() < 0.2:
        place = chance.randrange(len(frames))
        frames[place:place] = [frames[place]] * chance.choice((50, 500))
    said = b"".join(frames)
    size = chance.choice((1_460, 97, len(said)))
    pieces = [said[place : place + size] for place in range(0, len(said), size)]
    return crowd.served.port, pieces[: chance.randrange(1, len(pieces) + 1)]


def without_a_key(crowd: Crowd, chance: random.Random) -> tuple[int, list[bytes]]:
    """A login in every way but the right one, after which all is said that a client would say."""
    mechanism = chance.choice(MECHANISMS)
    responses = (b"", b"\0\0", fuzzing.NAME.encode(), b"\0" * 3_000, chance.randbytes(60))
    response = chance.choice(responses)
    if chance.random() < 0.4:
        name = chance.choice(("PLAIN", "EXTERNAL"))
        mechanism, response = name, f"\0{fuzzing.NAME}\0{fuzzing.KEY[:-1]}".encode()
    logs_in = [raw.SASL, init(mechanism, response)] * chance.choice((1, 1, 2))
    unsigned = [each for each in crowd.frames[2:] if b"put-token" not in each]
    return crowd.served.port, [*logs_in, *unsigned]


def over_http(crowd: Crowd, chance: random.Random) -> tuple[int, list[bytes]]:
    """Requests of which bytes are wrong, or the length, or the protocol."""
    said = b"".join(_written(asked(chance), chance) for _ in range(chance.choice((1, 1, 3))))
    if chance.random() < 0.5:
        said = bytes(broken_frames.flipped(bytearray(said), chance))
    if chance.random() < 0.1:
        said = chance.choice((b"".join(crowd.frames), b"\x16\x03\x01" + chance.randbytes(300)))
    return crowd.admin, [said[: chance.randrange(1, len(said) + 1)], b"\r\n"]


def _written(request: Request, chance: random.Random) -> bytes:
    target = request.target.encode("latin-1").replace(b" ", b"%20")
    length = b"content-length: %d\r\n" % chance.choice(
        (len(request.body), len(request.body), 10**9, 0, 3)
    )
    framed = chance.choice((length, length, length, b"transfer-encoding: chunked\r\n", length * 2))
    head = b"".join(
        f"{name}: {value}\r\n".encode("latin-1") for name, value in request.headers.items()
    )
    first = request.method.encode() + b" " + target + b" HTTP/1.1\r\n"
    return first + head + framed + b"\r\n" + request.body


def files(process: "subprocess.Popen[str]") -> int:
    """How many the broker has open, sockets among them."""
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))


def emptied(served: Served) -> float:
    """The broker's memory, its namespace being what it was at first, once everybody has gone."""
    return anew(served).memory / 1e6


def serves(served: Served) -> None:
    """A client that does all right is served: the broker has taken no harm."""
    with raw.connected(anew(served).port, **raw.LOGIN) as connection:
        connection.create_sender("q").send(Message(b"still there", inferred=True))
        receiver = connection.create_receiver("q", credit=1)
        assert b"still there" == receiver.receive(PATIENCE).body
        receiver.accept()


@pytest.mark.parametrize("say", [with_a_key, without_a_key, over_http])
def test_a_broker_outlives_its_clients(served: Served, say) -> None:
    """It says nothing of them, keeps no socket and no memory of theirs, and lets nobody in."""
    crowd = Crowd(served, conversation(), say)
    before = files(served.process)
    # The first some 1,200 fill caches of Python and Proton and raise the heap to what a crowd needs
    # at once, which is kept for the next one. In 26 such crowds the memory rose to 131 MB in steps,
    # and stayed there.
    first = max(600, CASES // 9)
    asyncio.run(crowd.come(range(2 * first)))
    crowd.leave()
    began = emptied(served)
    asyncio.run(crowd.come(range(2 * first, 3 * first)))
    assert served.process.poll() is None
    serves(served)  # with all who stay and never read
    crowd.leave()
    assert emptied(served) < began + MOST_GROWTH
    assert until(lambda: files(served.process) <= before)
    assert len(crowd.read) > first // 2
    if say is without_a_key:
        assert [] == [each for each in crowd.read if b"Accepted" in each or b"body" in each]
    served.process.terminate()
    _, said = served.process.communicate(timeout=PATIENCE)
    assert "" == said.replace("busproof: stopped", "").strip()


def test_head_request_gets_no_body(served: Served) -> None:
    """Found as a traceback, and as one for whoever came after on the same connection."""
    where = ("127.0.0.1", int(served.admin.rpartition(":")[2]))
    with socket.create_connection(where, timeout=PATIENCE) as client:
        client.sendall(b"HEAD /health HTTP/1.1\r\nhost: localhost\r\n\r\nno request\r\n\r\n")
        came = b""
        while some := client.recv(4_096):
            came += some
    first, _, rest = came.partition(b"\r\n\r\n")
    assert first.startswith(b"HTTP/1.1 200 ")
    assert b"content-length: 0" not in first.lower()
    assert rest.startswith(b"HTTP/1.1 400 ")
    assert rest.partition(b"\r\n\r\n")[2]


def test_nothing_is_written_where_the_way_is_closed() -> None:
    """Found by Python's own warnings, whenever there was more to write."""

    async def spoken() -> None:
        hub = hub_of(*QUEUES)
        for ends in (False, True):
            connection, wire = fuzzing.met(hub, 1)
            connection.data_received(raw.SASL)
            before, wire.is_over = len(wire.said), ends
            connection.data_received(raw.ANONYMOUS)
            assert ends is (len(wire.said) == before)
            connection.connection_lost(None)
        hub.close()

    asyncio.run(spoken())
