"""Whatever a client says: the broker does not fail, gives no access, and serves afterwards.

Each case is made from a seed, which is its number; a failure names it.
"""

import asyncio
import gc
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from proton import Data, Described, ubyte, uint, ulong
from proton import Message as ProtonMessage

from busproof.broker.admin.access import Control
from busproof.broker.admin.endpoint import Administration
from busproof.broker.admin.http import Request
from busproof.broker.amqp.encoding import binary
from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.framing import Handshake
from busproof.broker.amqp.management.operations import OPERATIONS
from busproof.broker.amqp.messages import parse
from busproof.broker.amqp.unreadable import decoded
from busproof.broker.auth.policies import read_rules
from busproof.broker.auth.tokens import Keys
from busproof.broker.bus import Bus
from busproof.broker.configuration.durations import microseconds_in
from busproof.broker.configuration.emulator import Configuration, read_configuration
from busproof.broker.core import Hub
from busproof.broker.server import bus_for
from busproof.errors import UsageError
from busproof.vocabulary.commands import CreateQueue, Send

from . import fuzzing, raw
from .conftest import FULL
from .test_config import SAMPLE
from .test_keys import RULES

pytestmark = pytest.mark.slow

CASES = 100_000 if FULL else 5_000
"""Of all kinds together."""
ANEW = 100
"""After how many cases the namespace begins anew, and a client tries whether it is served."""


def bus() -> Bus:
    configuration = Configuration()
    for each in (
        CreateQueue(queue="q", partitioned=True),
        CreateQueue(queue="s", requires_session=True),
    ):
        configuration.created.append(each)
        configuration.places[each] = "here"
    return bus_for(configuration)


class Trial:
    """A broker without sockets, and what it complains of."""

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self.case = 0
        self.hub = Hub(bus(), Keys(Configuration().keys))
        self.hub.warn = self.complain
        self.hub.loop.set_exception_handler(lambda _, what: self.complain(str(what)))

    def complain(self, what: str) -> None:
        self.complaints.append(f"case {self.case}: {what}")

    async def begin(self) -> None:
        """An empty namespace, but for one message that nobody has a right to."""
        self.hub.begin(bus())
        parsed = self.hub.parsed(bytes(ProtonMessage(b"kept", inferred=True).encode()))
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
        await exchange(trial, fuzzing.changed(frames, chance), chance)
    assert trial.left() == 0


def test_a_client_with_a_key_makes_nothing_fail() -> None:
    """Frames, performatives and messages that are changed; floods, halves, and slow readers."""

    async def trying(trial: Trial) -> None:
        said, _ = await fuzzing.conversation(trial.hub, fuzzing.KEY)
        await rounds(trial, CASES // 8 * 3, fuzzing.frames_of(said))

    tried(trying)


def test_values_of_any_kind_make_nothing_fail() -> None:
    """Of messages, of requests and of transactions; who receives what was taken is served."""

    async def trying(trial: Trial) -> None:
        operations = list(OPERATIONS)
        answered = 0
        for trial.case in range(CASES // 8):
            chance = random.Random(trial.case)
            if trial.case % ANEW == 0:
                await trial.begin()
                await served(trial)
            answers = await fuzzing.odd_conversation(trial.hub, trial.case, operations, chance)
            answered += answers.count(b"statusCode")
        assert answered > CASES // 8

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
            answers = await exchange(trial, fuzzing.changed(frames, chance), chance)
            assert b"kept" not in answers
            assert before == holdings(trial.hub)
        await served(trial)

    tried(trying)


def test_frames_of_a_client_are_not_written_to_the_terminal(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
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


HUGE = 10**13
"""As bytes, more than any machine has."""


def of(body: Any, **more: Any) -> bytes:
    return bytes(ProtonMessage(body=body, properties=more or None).encode())


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (ulong(HUGE), "a binary is expected"),
        ("text", "a binary is expected"),
        ([1], "a binary is expected"),
    ],
)
def test_a_number_is_no_binary_of_so_many_zeros(value: Any, said: str) -> None:
    """Found where Python's own conversion takes it for one; a binary of any kind is one."""
    with pytest.raises(ValueError, match=said):
        binary(value)
    assert [b"a"] * 3 == [binary(each) for each in (b"a", memoryview(b"a"), bytearray(b"a"))]


def test_a_login_by_a_number_is_refused() -> None:
    """Found as a login that asks for ten terabytes; nobody has to be known for it."""
    said = b"\xa3\x05PLAIN\x80" + HUGE.to_bytes(8, "big")
    init = b"\x00\x53\x41\xc0" + bytes([len(said) + 1, 2]) + said
    written: list[bytes] = []
    handshake = Handshake(Keys(Configuration().keys), written.append)
    assert handshake.feed(raw.SASL) == b""
    assert not handshake.failed
    handshake.feed((len(init) + 8).to_bytes(4, "big") + b"\x02\x01\x00\x00" + init)
    assert (True, False) == (handshake.failed, handshake.done)


@pytest.mark.parametrize(
    ("header", "taken"),
    [
        ([True, ubyte(255), uint(5)], True),
        ([], True),
        ([None, None, ulong(2**40)], False),
        ([None, 300, None], False),
        ([None, None, []], False),
        ([None, "high", None], False),
        ([3, None, None], False),
    ],
)
def test_a_header_is_as_amqp_has_it(header: list[Any], *, taken: bool) -> None:
    """Found as a time to live that is a list; what goes out again has to be what came."""
    tree = Data()
    tree.put_object(Described(ulong(0x70), header))
    if taken:
        content = parse(bytes(tree.encode()), "m", 0).content
        assert (5_000, 255) == (content.life, content.priority) or not header
        return
    with pytest.raises(ValueError, match=r"durable|priority|ttl"):
        parse(bytes(tree.encode()), "m", 0)


@pytest.mark.parametrize("deep", [30, 3_000])
def test_value_described_too_often_is_refused(deep: int) -> None:
    """Found as a traceback: it was followed to its end."""
    message = b"\x00\x53\x77" + b"\x00\x40" * deep + b"\x40"
    if deep < 32:
        assert parse(message, "m", 0).content.body == message
        return
    with pytest.raises(ValueError, match="described too often"):
        parse(message, "m", 0)


@pytest.mark.parametrize("key", [{"a": 1}, Described(ulong(1), [])], ids=["map", "described"])
def test_a_map_whose_keys_python_cannot_have_is_no_request(key: Any) -> None:
    """Found as a traceback: Proton makes a dictionary of it."""
    inner = Data()
    inner.put_object(key)
    body = bytes(inner.encode()) + b"\x40"
    whole = b"\x00\x53\x77\xc1" + bytes([len(body) + 1, 2]) + body
    with pytest.raises(ValueError, match="no AMQP message"):
        decoded(whole)
    assert {"a": 1} == decoded(of({"a": 1})).body


def test_a_filter_whose_keys_python_cannot_have_is_unreadable() -> None:
    """Found as a failure of ours: Proton makes a dictionary of a link's filters, too."""

    async def trying(trial: Trial) -> None:
        connection, wire = fuzzing.met(trial.hub, 1)
        client = fuzzing.Client(connection, wire, fuzzing.logged_in(fuzzing.KEY))
        session = client.endpoint.session()
        session.open()
        link = session.receiver("r")
        link.source.address = "q"
        filters = link.source.filter
        filters.put_map()
        filters.enter()
        filters.put_object(Described(ulong(1), []))
        filters.put_string("x")
        filters.exit()
        link.open()
        client.talk()
        assert b"amqp:decode-error" in wire.said
        assert wire.is_over

    tried(trying)


@pytest.mark.parametrize(
    "time", ["PT" + "1" * 400 + "S", "P" + "9" * 16 + "D", "PT1." + "1" * 16 + "S"]
)
def test_a_duration_beyond_all_numbers_is_none(time: str) -> None:
    """Found as a number that Python has no whole one of."""
    assert microseconds_in(time) is None
    assert microseconds_in("P10675199DT2H48M5.4775807S") == 922_337_203_685_477_581


def test_a_request_over_http_on_which_we_fail_is_answered() -> None:
    """The log says where it was, and nothing of the request."""

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


class Restless:
    """A link that gets more credit, or is gone, while it is served."""

    place = ("q", None)

    def __init__(self, hub: Hub, *, stays: bool) -> None:
        self.hub = hub
        self.stays = stays
        self.served = 0

    def serve(self) -> bool:
        self.served += 1
        self.hub.wait(self)
        if not self.stays:
            self.hub.leave(self)
        return self.stays


@pytest.mark.parametrize("stays", [True, False])
def test_waiter_stands_in_line_once_even_while_being_served(*, stays: bool) -> None:
    """So that he is out of it once he is gone: found as a link that was served after its end."""

    async def trying(trial: Trial) -> None:
        waiter = Restless(trial.hub, stays=stays)
        trial.hub.wait(waiter)
        for served in (1, 2):
            trial.hub._serve_place(waiter.place)
            assert waiter.served == (served if stays else 1)
        trial.hub.leave(waiter)
        assert {} == trial.hub._waiting

    tried(trying)


XML = b"""<?xml version="1.0" encoding="utf-8"?>
<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">
<SubscriptionDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
 xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><LockDuration>PT1M</LockDuration>
<MaxDeliveryCount>5</MaxDeliveryCount><DefaultRuleDescription><Filter i:type="SqlFilter">
<SqlExpression>(a = 1 OR b LIKE 'x%') AND NOT c IN (1, 2)</SqlExpression></Filter>
<Action i:type="SqlRuleAction"><SqlExpression>SET d = 2 + a</SqlExpression></Action>
<Name>r</Name></DefaultRuleDescription></SubscriptionDescription></content></entry>"""
JSON = b'{"entity": "q", "partition": 3, "advance": 1.5, "readings": {}, "tier": "standard"}'
PATHS = (
    "/t/subscriptions/s",
    "/q",
    "/t/subscriptions/s/rules/r",
    "/$Resources/queues?$skip=0&$top=100",
    "/busproof/decisions?after=3",
    "/busproof/partitions/down",
    "/busproof/entities/restore",
    "/busproof/namespace",
    "/health",
)


def asked(chance: random.Random) -> Request:
    """A request with something wrong about it."""
    path = bytearray(chance.choice(PATHS), "ascii")
    body = bytearray(chance.choice((XML, JSON, XML.replace(b"Subscription", b"Queue"))))
    for text in (path, body):
        for _ in range(chance.choice((0, 1, 1, 3))):
            change = chance.choice((fuzzing.flipped, fuzzing.cut, fuzzing.spliced, _repeated))
            text[:] = change(text, chance) or b"/"
    headers = {"host": "localhost", "authorization": TOKEN if chance.random() < 0.9 else "x"}
    if chance.random() < 0.2:
        headers["if-match"] = "*"
    method = chance.choice(("PUT", "PUT", "GET", "POST", "DELETE", "HEAD"))
    return Request(method, path.decode("latin-1"), headers, bytes(body), "127.0.0.1")


TOKEN = raw.token("sb://localhost/", fuzzing.NAME, fuzzing.KEY)


def is_open_to_all(request: Request) -> bool:
    """Whether this request, or one with this token, may be answered."""
    path = unquote(urlsplit(request.target).path)
    own = path == "/health" or path.startswith("/busproof/")
    return own or request.headers["authorization"] == TOKEN


def _repeated(text: bytearray, chance: random.Random) -> bytearray:
    """A piece of it comes ever so often, as brackets do that are never closed."""
    place, size = chance.randrange(len(text)), chance.choice((1, 1, 2, 30))
    text[place:place] = text[place : place + size] * chance.choice((10, 5_000))
    return text


def test_broken_atom_and_json_make_nothing_fail() -> None:
    """Each request is answered with a number and without a traceback, and what was there stays."""

    async def trying(trial: Trial) -> None:
        warned: list[str] = []
        administration = Administration(trial.hub, warned.append, Control(is_on=True))
        for trial.case in range(CASES // 8):
            chance = random.Random(trial.case)
            if trial.case % ANEW == 0:
                await trial.begin()
            request = asked(chance)
            try:
                answer = administration.answer(request)
            except Exception as error:  # noqa: BLE001 - whatever it is is what we look for
                trial.complain(f"{type(error).__name__}: {error}"[:300] + f" for {request}"[:600])
                continue
            assert 200 <= answer.status < 500, (trial.case, answer)
            assert answer.status >= 400 or is_open_to_all(request), (trial.case, answer)
            assert b"Traceback" not in answer.body
        health = administration.answer(Request("GET", "/health", {}, b""))
        assert 200 == health.status

    tried(trying)


@pytest.mark.parametrize(
    ("read", "sample"),
    [(read_configuration, SAMPLE), (read_rules, RULES)],
    ids=["configuration", "keys"],
)
def test_a_broken_file_is_said_to_be_broken(
    tmp_path: Path, read: Callable[[Any], object], sample: str
) -> None:
    """By an error of usage, or it is taken; nothing else comes of it."""
    path = tmp_path / "file"
    taken = refused = 0
    for case in range(CASES // 16):
        chance = random.Random(case)
        text = bytearray(sample, "utf-8")
        for _ in range(chance.choice((1, 1, 3))):
            change = chance.choice((fuzzing.flipped, fuzzing.cut, fuzzing.spliced, _repeated))
            text = change(text, chance)
        path.write_bytes(text)
        try:
            read(path if read is read_configuration else str(path))
            taken += 1
        except UsageError:
            refused += 1
    assert taken > 0
    assert refused > CASES // 32
