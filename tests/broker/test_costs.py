"""What one client's request may cost the broker, which answers all the others meanwhile."""

import asyncio
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
from proton import Delivery, Message
from work import PATIENCE, check, do_pass, measure_growth, measure_pace, process_passes

from busproof.broker.amqp import turns
from busproof.broker.amqp.framing import AMQP_HEADER, Frames
from busproof.broker.amqp.numbering import Numbering
from busproof.broker.bus import Bus
from busproof.vocabulary.commands import CreateQueue

from . import raw
from .conftest import Served, serving, written
from .fuzz import frames as f
from .fuzz.test_fuzz import QUEUES
from .inside import hub_of, inside
from .test_bounds import Asker

pytestmark = pytest.mark.slow

LARGEST: Final = 1_100_000
MANY_WILDCARDS: Final = "a LIKE '" + "%a" * 14 + "b'"
LONGEST: Final = " OR ".join(["a=1"] * 140)
NESTED: Final = "(" * 480 + "a=1" + ")" * 480
GENEROUS: Final = 1_000
"""Passes that bounded requests are far from."""


def costly(folder: Path) -> Iterator[Served]:
    """A broker with queues, a topic and a subscription, until the generator goes on."""
    sessions = {"Name": "s", "Properties": {"RequiresSession": True}}
    config = written(
        folder,
        Queues=[{"Name": "q"}, {"Name": "full"}, sessions],
        Topics=[{"Name": "t", "Subscriptions": [{"Name": "s"}]}],
    )
    with serving("--control", "--config", config, "--limit", f"message={LARGEST}") as served:
        yield served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    yield from costly(tmp_path_factory.mktemp("costs"))


def rule(name: str, expression: str, action: str = "") -> dict[str, Any]:
    described: dict[str, Any] = {"sql-filter": {"expression": expression}}
    if action:
        described["sql-rule-action"] = {"expression": action}
    return {"rule-name": name, "rule-description": described}


def test_filter_of_many_wildcards_does_not_stop_the_broker(served: Served) -> None:
    with process_passes(served.process.pid, GENEROUS), raw.logged_in(served.port) as connection:
        asker = Asker(connection, "t/subscriptions/s")
        assert 200 == asker.ask("add-rule", rule("wild", MANY_WILDCARDS))[0]
        sender = connection.create_sender("t")
        for _ in range(20):
            sender.send(Message(b"x", inferred=True, properties={"a": "a" * 40}))
        assert 200 == asker.ask("remove-rule", {"rule-name": "wild"})[0]
        assert served.is_healthy


@pytest.mark.parametrize("expression", [LONGEST, NESTED])
def test_longest_filters_are_parsed_in_linear_time(served: Served, expression: str) -> None:
    with process_passes(served.process.pid, GENEROUS), raw.logged_in(served.port) as connection:
        asker = Asker(connection, "t/subscriptions/s")
        for number in range(20):
            filtered = rule(f"long{number}", f"{expression} OR b={number}")
            assert 200 == asker.ask("add-rule", filtered)[0]
        for number in range(20):
            assert 200 == asker.ask("remove-rule", {"rule-name": f"long{number}"})[0]


@pytest.mark.parametrize(
    ("expression", "action", "bound"),
    [
        ("p(" * 300 + "a" + ")" * 300 + "=1", "", "200 levels"),
        (" OR ".join(["a=1"] * 200), "", "at most 1,024"),
        ("a=1", "SET a = " + "p(" * 300 + "a" + ")" * 300, "200 levels"),
        ("a=1", f"SET a = '{'x' * 2_000}'", "at most 1,024"),
    ],
)
def test_expression_beyond_the_bounds_is_refused(
    served: Served, expression: str, action: str, bound: str
) -> None:
    """With a sentence that says which bound there is, over AMQP and over HTTP."""
    with raw.logged_in(served.port) as connection:
        asker = Asker(connection, "t/subscriptions/s")
        status, said = asker.ask("add-rule", rule("deep", expression, action))
    assert status == 400
    assert bound in said
    request = urllib.request.Request(
        f"{served.admin}/t/subscriptions/s/rules/deep",
        data=_entry(expression, action),
        method="PUT",
        headers={"Authorization": raw.token("http://127.0.0.1/", *KEY)},
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=PATIENCE)
    with refused.value as answer:
        assert answer.code == 400
        assert bound.encode() in answer.read()


KEY: Final = (raw.LOGIN["user"], raw.LOGIN["password"])


def _entry(expression: str, action: str) -> bytes:
    space = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    acts = f"<Action><SqlExpression>{action}</SqlExpression></Action>" if action else ""
    return (
        '<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">'
        f'<RuleDescription xmlns="{space}" xmlns:i="http://www.w3.org/2001/XMLSchema-instance">'
        f'<Filter i:type="SqlFilter"><SqlExpression>{expression}</SqlExpression></Filter>{acts}'
        "<Name>deep</Name></RuleDescription></content></entry>"
    ).encode()


MB: Final = 1_000_000


def whole(body: bytes) -> bytes:
    return bytes(Message(body, inferred=True).encode())


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("refused by the model", whole(b"x" * 240_000)),
        ("too large", whole(b"x" * (LARGEST + 1))),
        ("not a message", b"x" * 240_000),
        ("cut off", whole(b"x" * 240_000)[:-1]),
    ],
)
def test_refused_sends_are_freed(served: Served, kind: str, data: bytes) -> None:
    """At once, not when garbage is looked for: 150 of them hold no more than a few."""
    with raw.logged_in(served.port) as connection:
        sender = connection.create_sender("s")
        before = 0
        for number in range(160):
            delivery = sender.link.delivery(str(number))
            sender.link.stream(data)
            sender.link.advance()
            connection.wait(lambda waiting=delivery: waiting.settled, timeout=PATIENCE)
            assert delivery.remote_state == Delivery.REJECTED, kind
            delivery.settle()
            before = before or (served.memory if number == 9 else 0)
    assert served.memory - before < 15 * MB


def test_refused_requests_are_freed(served: Served) -> None:
    refused = Message(b"x" * 200_000, inferred=True, id="i" * 200)
    message = {"message-id": "m", "message": bytes(refused.encode())}
    with raw.logged_in(served.port) as connection:
        asker = Asker(connection, "s")
        before = 0
        for number in range(160):
            assert 200 != asker.ask("schedule-message", {"messages": [message]})[0]
            before = before or (served.memory if number == 9 else 0)
    assert served.memory - before < 15 * MB


EMPTY: Final = b"\x00\x53\x75\xa0\x00"
MANY: Final = {
    "annotations": f.described(0x72, f.mapped(*[f.symbol("a"), f.NULL] * 200_000)) + EMPTY,
    "delivery annotations": f.described(0x71, f.mapped(*[f.symbol("a"), f.NULL] * 200_000)) + EMPTY,
    "properties of the application": f.described(0x74, f.mapped(*[f.text("a"), f.NULL] * 200_000))
    + EMPTY,
    "data sections": EMPTY * 200_000,
    "sections without a value": b"\x00\x53\x77\x40" * 250_000,
    "footers": f.described(0x78, f.mapped()) * 80_000,
}
"""Messages of a megabyte, of as many parts as it can have."""


@pytest.mark.parametrize("kind", MANY)
def test_message_of_many_parts_costs_linear_time(served: Served, kind: str) -> None:
    with process_passes(served.process.pid, GENEROUS), raw.logged_in(served.port) as connection:
        sender = connection.create_sender("q")
        delivery = sender.link.delivery("1")
        sender.link.stream(MANY[kind])
        sender.link.advance()
        connection.wait(lambda: delivery.settled, timeout=PATIENCE)
        if delivery.remote_state == Delivery.ACCEPTED:
            receiver = connection.create_receiver("q", credit=1)
            connection.wait(lambda: receiver.fetcher.has_message, timeout=PATIENCE)


def test_message_in_many_tiny_transfers_costs_linear_time() -> None:
    """Each of its parts is added in place, and so is each byte of a frame."""

    def feed(size: int) -> None:
        frames = Frames(1_048_576, Numbering())
        said = AMQP_HEADER + size.to_bytes(4, "big") + bytes([2, 0, 0, 0]) + b"x" * (size - 8)
        pieces = [said[place : place + 1] for place in range(len(said))]
        found = [piece for each in pieces for piece in frames.feed(each)]
        assert b"".join(piece for piece, _ in found) == said

    check(16, lambda: measure_growth(lambda: feed(50_000), lambda: feed(400_000)))


REQUESTS: Final = 150


def test_burst_of_requests_gives_others_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that take much of a turn: another client waits for a few of them, not for all."""
    handled: list[int] = []

    def slow(bus: Bus, *asked: Any) -> Any:
        for _ in range(3):
            do_pass()
        handled.append(1)
        return browse(bus, *asked)

    browse = Bus.browse
    monkeypatch.setattr(Bus, "browse", slow)
    monkeypatch.setattr(turns, "TURN", 10 * measure_pace())
    with inside(CreateQueue(queue="q")) as broker, raw.logged_in(broker.broker.port) as a:
        asker = Asker(a)
        peek = {"from-sequence-number": 0, "message-count": 1}
        asker.say("peek-message", *[peek] * REQUESTS)
        a.wait(lambda: bool(handled), timeout=PATIENCE)
        address = f"http://127.0.0.1:{broker.broker.admin_port}/health"
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            assert answer.status == 200
        assert len(handled) < REQUESTS * 2 / 3
        for _ in range(REQUESTS):
            assert asker.answer()[0] == 204
    assert len(handled) == REQUESTS


def test_peek_shows_at_most_as_many_messages_as_the_service_does(served: Served) -> None:
    with raw.logged_in(served.port) as connection:
        sender = connection.create_sender("full")
        for _ in range(255):
            sender.send(Message(b"x", inferred=True))
        asker = Asker(connection, "full")
        asker.say("peek-message", {"from-sequence-number": 0, "message-count": 2**31 - 1})
        assert len(asker.reply().body["messages"]) == 250


@attrs.frozen(eq=False)
class Idle:
    """A link that waits for ever."""

    place: tuple[str, str | None] = ("q", None)

    def serve(self) -> bool:
        return True


def test_links_that_wait_cost_the_same_however_many_wait() -> None:
    async def crowd() -> None:
        hub = hub_of(*QUEUES)

        def wait(count: int) -> None:
            links = [Idle() for _ in range(count)]
            for act in (hub.wait, hub.wait, hub.leave):
                for link in reversed(links):
                    act(link)
            assert not hub._waiting

        check(16, lambda: measure_growth(lambda: wait(2_500), lambda: wait(20_000)))
        hub.close()

    asyncio.run(crowd())
