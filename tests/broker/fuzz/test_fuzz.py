"""Whatever a client says: the broker does not fail, gives no access, and serves afterwards.

Each case is made from a seed, which is its number; a failure names it.
"""

import asyncio
import gc
import random
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
from proton import Message as ProtonMessage

from busproof.broker.admin.access import Control
from busproof.broker.admin.endpoint import Administration
from busproof.broker.amqp.engine import Connection
from busproof.broker.core import Hub
from busproof.broker.http_requests import Request
from busproof.vocabulary.commands import CreateQueue, Send

from .. import raw
from ..conftest import FULL
from ..inside import bus_of, hub_of
from . import broken_frames, fuzzing

pytestmark = pytest.mark.slow

CASES = 100_000 if FULL else 1_600
"""Of all kinds together."""
ANEW = 100
"""After how many cases the namespace begins anew, and a client tries whether it is served."""


QUEUES: Final = (
    CreateQueue(queue="q", partitioned=True),
    CreateQueue(queue="s", requires_session=True),
)


class Trial:
    """A broker without sockets, and what it complains of."""

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self.case = 0
        self.hub = hub_of(*QUEUES)
        self.hub.warn = self.complain
        self.hub.loop.set_exception_handler(lambda _, what: self.complain(str(what)))

    def complain(self, what: str) -> None:
        self.complaints.append(f"case {self.case}: {what}")

    async def begin(self) -> None:
        """An empty namespace, but for one message that nobody has a right to."""
        self.hub.begin(bus_of(*QUEUES))
        parsed = self.hub.parse_message(bytes(ProtonMessage(b"kept", inferred=True).encode()))
        self.hub.bus.ask(Send(queue="q", message=parsed.message), "test")
        self.hub.contents.keep(parsed.message.body, parsed.content)
        await asyncio.sleep(0)

    def left(self) -> int:
        """How many connections are not gone for good."""
        gc.collect()
        return sum(isinstance(each, Connection) for each in gc.get_objects())


def tried(trying: Callable[[Trial], Awaitable[None]]) -> None:
    async def run() -> list[str]:
        trial = Trial()
        await trying(trial)
        trial.hub.close()
        return trial.complaints

    assert [] == asyncio.run(run())[:5]


async def exchange(trial: Trial, frames: list[bytes], chance: random.Random) -> bytes:
    """What is answered to frames that come one by one, or in other pieces; perhaps not to all."""
    connection, wire = fuzzing.met(trial.hub, trial.case, slow=chance.random() < 0.1)
    pieces = frames if chance.random() < 0.7 else cut_up(b"".join(frames), chance)
    if chance.random() < 0.1:
        pieces = pieces[: chance.randrange(len(pieces) + 1)]
    for piece in pieces:
        if wire.is_over or wire.is_paused:
            break
        connection.data_received(piece)
        await asyncio.sleep(0)
    assert len(wire.said) < 2 * trial.hub.limits.unread
    connection.connection_lost(None)
    await asyncio.sleep(0)
    return bytes(wire.said)


def cut_up(said: bytes, chance: random.Random) -> list[bytes]:
    """The same in pieces of any size."""
    found = []
    while said:
        size = chance.choice((1, 7, 100, 5_000))
        found.append(said[:size])
        said = said[size:]
    return found


async def served(trial: Trial) -> None:
    """A client that does everything right is served."""
    said, answers = await fuzzing.conversation(trial.hub, fuzzing.KEY)
    frames = fuzzing.frames_of(answers)
    assert len(frames) > 30, len(frames)
    assert b"Accepted" in answers
    assert b"kept" in answers
    assert b"unauthorized" not in answers
    assert said


async def rounds(trial: Trial, cases: int, frames: list[bytes]) -> None:
    for trial.case in range(cases):
        chance = random.Random(trial.case)
        if trial.case % ANEW == 0:
            await trial.begin()
            await served(trial)
            assert set() == trial.hub.connections
            assert {} == trial.hub._waiting
        await exchange(trial, broken_frames.changed(frames, chance), chance)
    assert trial.left() == 0


def test_a_client_with_a_key_makes_nothing_fail() -> None:
    """Frames, performatives and messages that are changed; floods, halves, and slow readers."""

    async def trying(trial: Trial) -> None:
        said, _ = await fuzzing.conversation(trial.hub, fuzzing.KEY)
        await rounds(trial, CASES // 8 * 3, fuzzing.frames_of(said))

    tried(trying)


def holdings(hub: Hub) -> list[Any]:
    """All that the entities hold, and how it stands."""
    return [
        [(key, record.values(record)[1:]) for key, record in table.items()]
        for entity in hub.bus.namespace.entities.values()
        for table in (entity.messages, entity.scheduled, entity.sessions)
    ]


@pytest.mark.parametrize("plain", [True, False], ids=["login", "token"])
def test_a_client_without_a_key_gets_nothing(*, plain: bool) -> None:
    """Nothing is sent, received, scheduled or begun, whatever is said after a wrong key."""

    async def trying(trial: Trial) -> None:
        right, _ = await fuzzing.conversation(trial.hub, fuzzing.KEY)
        wrong, _ = await fuzzing.conversation(trial.hub, "wrong", plain=False)
        frames = fuzzing.frames_of(right if plain else wrong)
        if plain:
            frames = [each.replace(fuzzing.KEY.encode(), b"SAS_KEY_WRONG") for each in frames]
        else:
            # What the refused client did not come to say is said all the same.
            frames += fuzzing.frames_of(right)[3:]
        token = raw.token("sb://localhost/q", fuzzing.NAME, fuzzing.KEY)
        frames = [each for each in frames if token[:30].encode() not in each or not plain]
        frames = [each for each in frames if b"put-token" not in each or each in wrong]
        await trial.begin()
        before = holdings(trial.hub)
        for trial.case in range(CASES // 8):
            chance = random.Random(trial.case)
            answers = await exchange(trial, broken_frames.changed(frames, chance), chance)
            assert b"kept" not in answers
            assert before == holdings(trial.hub)
        await served(trial)

    tried(trying)


def test_frames_of_a_client_are_not_written_to_the_terminal(capfd, monkeypatch) -> None:
    """Found as a warning for each frame to one who wants them small; a trace would show tokens."""
    monkeypatch.setenv("PN_TRACE_FRM", "1")

    async def trying(trial: Trial) -> None:
        await trial.begin()
        said, _ = await fuzzing.conversation(trial.hub, fuzzing.KEY)
        capfd.readouterr()
        small = said.replace(b"p\x00\x00\x80\x00`", b"p\x00\x00\x00\x40`", 1)
        assert said != small
        assert len(await exchange(trial, fuzzing.frames_of(small), random.Random(3))) > 1_000

    tried(trying)
    assert ("", "") == capfd.readouterr()


def test_a_request_over_http_on_which_we_fail_is_answered() -> None:
    async def trying(trial: Trial) -> None:
        def broken() -> None:
            raise LookupError("secret")

        trial.hub.renew = broken
        administration = Administration(trial.hub, trial.complain, Control(is_on=True))
        request = Request("POST", "/busproof/keys/renew", {"host": "localhost"}, b"", "127.0.0.1")
        answer = administration.answer(request)
        assert (500, False) == (answer.status, b"secret" in answer.body)
        (said,) = trial.complaints
        assert "a request over HTTP is ended, because of LookupError at test_fuzz.py" in said
        trial.complaints.clear()

    tried(trying)
