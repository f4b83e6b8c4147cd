"""Numbers at and beyond the ends of what each field may have, sent over real sockets."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
from proton import Delivery, Described, Message, symbol, timestamp, ulong
from proton.utils import BlockingConnection, BlockingSender
from work import PATIENCE, in_passes, seconds_of_process

from busproof.broker.bounds import LAST_MOMENT, NUMBERS, check_bound, number_in

from . import raw
from .conftest import Served, serving, written

EDGES: Final = (
    *(0, 1, -1, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32, 2**32 + 1),
    *(2**63 - 1, -(2**63)),
)
"""Values at which number types end."""
BEYOND: Final = (ulong(2**63), ulong(2**63 + 1), ulong(2**64 - 1))
"""Values that a ulong has and a long has not."""
WRONG: Final[tuple[Any, ...]] = (True, 0.5, float("inf"), "", "1", b"1", symbol("1"))
"""Values that are not numbers, or are not whole."""
SCHEDULED, SIZE = "x-opt-scheduled-enqueue-time", "x-opt-busproof-size"
TAGS = count(1)
LOOP: Final = 10_000
"""Passes that a broker does not need for a few dozen requests, and burns if it loops for ever."""


@pytest.fixture(scope="module")
def durable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A broker with a store."""
    folder: Path = tmp_path_factory.mktemp("bounds")
    config = written(folder, Queues=[{"Name": "q"}])
    options = ("--config", config, "--store", str(folder / "store"), "--clock", "virtual")
    with serving("--control", *options) as served:
        yield served


def rejection(sender: BlockingSender, message: Message) -> str | None:
    """Send a message; the sentence that refuses it, or `None` if it was accepted."""
    sent = sender.send(message, error_states=[])
    if sent.remote_state == Delivery.ACCEPTED:
        return None
    assert sent.remote_state == Delivery.REJECTED
    return str(sent.remote.condition.description)


def annotated(name: str, value: Any) -> Message:
    return Message(b"body", inferred=True, annotations={symbol(name): value})


class Asker:
    """The two links of a client that asks the management of an entity."""

    def __init__(self, connection: BlockingConnection, path: str = "q", notes: Any = None) -> None:
        self._notes = notes
        self._receiver = connection.create_receiver(f"{path}/$management", credit=100)
        self._sender = connection.create_sender(f"{path}/$management")

    def ask(self, operation: str, body: Any) -> tuple[int, str]:
        """The status and the sentence that answer a request."""
        self.say(operation, body)
        return self.answer()

    def say(self, operation: str, *bodies: Any) -> None:
        """Send requests, and do not wait for the answers."""
        properties = {"operation": f"com.microsoft:{operation}"}
        for body in bodies:
            asked = Message(body, properties=properties, annotations=self._notes, id="asked")
            self._sender.link.send(asked)

    def replied(self, operation: str, body: Any) -> Message:
        """What answers a request."""
        self.say(operation, body)
        return self.reply()

    def reply(self) -> Message:
        """The next answer."""
        return self._receiver.receive(timeout=PATIENCE)

    def answer(self) -> tuple[int, str]:
        """The status and the sentence of the next answer."""
        reply = self.reply()
        return reply.properties["statusCode"], reply.properties["statusDescription"]


def serves(served: Served) -> None:
    """Insist that another client can send and peek, and that the broker does not loop."""
    with raw.logged_in(served.port) as other:
        assert rejection(other.create_sender("q"), Message(b"another", inferred=True)) is None
        peek = {"from-sequence-number": 0, "message-count": 100}
        status, said = Asker(other).ask("peek-message", peek)
        assert status == 200, said
    assert in_passes(seconds_of_process(served.process.pid)) < LOOP


@pytest.mark.slow
@pytest.mark.parametrize("name", [SCHEDULED, SIZE])
def test_annotation_outside_of_its_bounds_is_refused(durable: Served, name: str) -> None:
    """With the name of the annotation; the broker goes on, with all that it stored."""
    bound = NUMBERS[name]
    with raw.logged_in(durable.port) as connection:
        sender = connection.create_sender("q")
        moments = tuple(timestamp(each) for each in EDGES)
        for value in (*EDGES, *moments, *BEYOND, *WRONG, bound.least, bound.most):
            said = rejection(sender, annotated(name, value))
            if value in bound:
                assert said is None or "larger" in said or "bytes" in said, value
            else:
                assert said is not None, value
                assert name in said
    serves(durable)


@pytest.mark.slow
def test_header_and_lifetime_outside_of_their_bounds_are_refused(durable: Served) -> None:
    """Or are as good as for ever, where clients write the longest time that they know."""
    moments = (0, LAST_MOMENT, LAST_MOMENT + 1, 2**63 - 1, -(2**63), ulong(2**64 - 1))
    with raw.logged_in(durable.port) as connection:
        sender = connection.create_sender("q")
        for value in (*EDGES, *BEYOND):
            for header in ([None, value], [None, None, value]):
                message = _with_section(0x70, header)
                name = "priority" if len(header) == 2 else "ttl"
                refused = _streamed(connection, sender, message)
                assert refused == (value not in NUMBERS[name]), (name, value)
        for expiry in moments:
            for created in moments:
                _streamed(connection, sender, _with_section(0x73, [None] * 8 + [expiry, created]))
    serves(durable)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "body", "names"),
    [
        (
            "peek-message",
            {"from-sequence-number": 0, "message-count": 1},
            ("from-sequence-number", "message-count"),
        ),
        ("get-message-sessions", {"skip": 0, "top": 1}, ("skip", "top", "last-updated-time")),
        (
            "batch-delete-messages",
            {"message-count": 1, "enqueued-time-utc": 0},
            ("message-count", "enqueued-time-utc"),
        ),
        (
            "receive-by-sequence-number",
            {"sequence-numbers": [1], "receiver-settle-mode": 0},
            ("receiver-settle-mode", "sequence-numbers"),
        ),
        ("cancel-scheduled-message", {"sequence-numbers": [1]}, ("sequence-numbers",)),
    ],
)
def test_request_with_a_number_outside_of_its_bounds_is_refused(
    durable: Served, operation: str, body: dict[str, Any], names: tuple[str, ...]
) -> None:
    with raw.logged_in(durable.port) as connection:
        asker = Asker(connection)
        for name in names:
            for value in (*EDGES, *BEYOND):
                given = [value] if name == "sequence-numbers" else value
                status, said = asker.ask(operation, body | {name: given})
                if value not in NUMBERS[name]:
                    assert status == 400, (name, value)
                    assert name in said
    serves(durable)


@pytest.mark.slow
def test_clock_stops_before_times_that_clients_cannot_have(durable: Served) -> None:
    for _ in range(200):
        answer = durable.ask("/busproof/clock", microseconds=10**17 - 1)
        if isinstance(answer, tuple):
            break
    assert isinstance(answer, tuple)
    assert answer[0] == 400
    assert "9899" in answer[1]["error"]
    serves(durable)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("clock", {"microseconds": 2**64}),
        ("clock", {"microseconds": -1}),
        ("namespace", {"partitions": 10**12}),
        ("namespace", {"partitions": 0}),
        ("entities/restore", {"entity": "r", "max_size": 2**63}),
        ("partitions/down", {"entity": "q", "partition": 2**63}),
        ("partitions/down", {"entity": "later", "planned": True, "partition": -1}),
    ],
)
def test_http_request_with_a_number_outside_of_its_bounds_is_refused(
    durable: Served, path: str, body: dict[str, Any]
) -> None:
    """By status 400, and the broker goes on."""
    answer = durable.ask(f"/busproof/{path}", **body)
    assert isinstance(answer, tuple)
    assert answer[0] == 400
    serves(durable)


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_number_is_bounded_by_the_table(name: str) -> None:
    bound = NUMBERS[name]
    for value in (bound.least, bound.most):
        assert value == check_bound(name, value)
    for wrong in (bound.least - 1, bound.most + 1, 10**5000, *WRONG):
        with pytest.raises(ValueError, match=name.replace("$", r"\$")):
            check_bound(name, wrong)
    assert bound.most == number_in(name, str(bound.most))
    for text in ("", "-", "٣", "9" * 5000, "1e3"):
        with pytest.raises(ValueError, match=name.replace("$", r"\$")):
            number_in(name, text)


def _with_section(code: int, values: list[Any]) -> bytes:
    """A message whose first section has these values."""
    tree = Message(body=Described(ulong(code), values)).encode()
    return bytes(tree).partition(b"\x00\x53\x77")[2] + b"\x00\x53\x75\xa0\x01x"


def _streamed(connection: BlockingConnection, sender: Any, data: bytes) -> bool:
    """Send bytes as a message; whether they are refused."""
    delivery = sender.link.delivery(str(next(TAGS)))
    sender.link.stream(data)
    sender.link.advance()
    connection.wait(lambda: delivery.remote_state != 0 or delivery.settled, timeout=PATIENCE)
    return bool(delivery.remote_state == Delivery.REJECTED)
