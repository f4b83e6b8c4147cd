"""A frame, message or request of many values gives others a turn, or is refused."""

import asyncio
import struct
from collections.abc import Iterator
from typing import Any, Final

import pytest
from proton import Message
from work import PATIENCE, TURN, check, watch_loop

from busproof import vocabulary as v
from busproof.broker.amqp.framing import AMQP_HEADER, MOST_VALUES, Frames
from busproof.broker.amqp.numbering import Numbering
from busproof.broker.auth.tokens import AccessPolicies
from busproof.broker.core import Hub
from busproof.broker.server import bus_for

from ..inside import make_configuration
from . import frames as f
from . import fuzzing

pytestmark = pytest.mark.slow

LARGEST: Final = 1_000_000
"""Bytes of a message of Premium."""
QUEUE: Final = v.CreateQueue(queue="q")
DATA: Final = b"\x00\x53\x75\xa0\x00"
ACCEPTED, REJECTED = bytes((0, 0x53, 0x24)), bytes((0, 0x53, 0x25))


def array(count: int, inside: bytes) -> bytes:
    """An array; `inside` begins with its constructor."""
    return b"\xf0" + struct.pack(">II", len(inside) + 4, count) + inside


LISTS: Final = f.listed(*[b"\xc0\x02\x01\x40"] * (LARGEST // 4))
TAKEN: Final = {
    "a list of nulls": f.described(0x77, f.listed(*[f.NULL] * LARGEST)),
    "a list of lists": f.described(0x77, LISTS),
    "a list of texts": f.described(0x77, f.listed(*[f.text("a")] * (LARGEST // 3))),
    "an array of bytes": f.described(0x77, array(LARGEST, b"\x50" + b"a" * LARGEST)),
    "an array of texts": f.described(
        0x77, array(LARGEST // 2, b"\xa1" + b"\x01a" * (LARGEST // 2))
    ),
    "an annotation of lists": f.described(0x72, f.mapped(f.symbol("a"), LISTS)) + DATA,
}
KEYS: Final = LARGEST // 4
REFUSED: Final = {
    "annotations": f.described(0x72, f.mapped(*[f.symbol("a"), f.NULL] * KEYS)) + DATA,
    "properties of the application": f.described(0x74, f.mapped(*[f.text("a"), f.NULL] * KEYS))
    + DATA,
    "fields of the properties": f.described(0x73, f.listed(*[f.NULL] * LARGEST)) + DATA,
    "fields of the header": f.described(0x70, f.listed(*[f.NULL] * LARGEST)) + DATA,
    "sections of data": DATA * (LARGEST // 5),
    "values": b"\x00\x53\x77\x40" * (LARGEST // 4),
}
NULLS: Final = array(65_535, b"\x40")
"""An array of as many nulls as the engine reads, in ten bytes."""
STATE: Final = f.described(0x27, f.listed(f.TRUE, f.TRUE, f.mapped(f.symbol("a"), NULLS)))


def transfers(payload: bytes, handle: int = 0) -> Iterator[bytes]:
    """A message in parts."""
    for place in range(0, len(payload), 100_000):
        more = place + 100_000 < len(payload)
        yield f.transfer(0, payload[place : place + 100_000], handle, more=more)


def codes(said: bytes) -> set[int]:
    """The codes of the frames."""
    return {frame[10] for frame in fuzzing.frames_of(bytes(said)) if len(frame) > 10}


def exchange(*said: bytes, code: int) -> tuple[float, bytes]:
    """The most passes of an iteration, and what is said up to a frame of this code."""
    configuration = make_configuration(QUEUE, tier=v.Tier.PREMIUM)

    async def run() -> bytes:
        hub = Hub(bus_for(configuration), AccessPolicies(configuration.keys))
        connection, wire = f.speaking(hub, 1, f.attach("a", 0, sends="q"))
        await asyncio.sleep(0.1)
        before = len(wire.said)
        for one in said:
            hub.loop.call_soon(connection.data_received, one)
        while code not in codes(wire.said[before:]):
            await asyncio.sleep(0)
        connection.connection_lost(None)
        hub.close()
        return bytes(wire.said[before:])

    with watch_loop() as watch:
        answer = asyncio.run(asyncio.wait_for(run(), PATIENCE))
    return watch.iteration, answer


def answer_within_turns(*said: bytes, code: int) -> bytes:
    """What is answered, in turns."""
    answers: list[bytes] = []

    def measure() -> float:
        passes, answer = exchange(*said, code=code)
        answers.append(answer)
        return passes

    check(TURN, measure)
    return answers[0]


@pytest.mark.parametrize("kind", TAKEN)
def test_message_of_many_values_is_read_in_slices(kind: str) -> None:
    assert ACCEPTED in answer_within_turns(*transfers(TAKEN[kind]), code=f.DISPOSITION)


@pytest.mark.parametrize("kind", REFUSED)
def test_message_of_too_many_parts_is_refused_in_time(kind: str) -> None:
    said = answer_within_turns(*transfers(REFUSED[kind]), code=f.DISPOSITION)
    assert REJECTED in said
    assert b"10,000" in said or b"at most 100" in said


@pytest.mark.parametrize(
    "frame",
    [
        f.attach("b", 1, receives="q", properties=f.mapped(f.symbol("a"), NULLS)),
        f.attach("b", 1, receives="q", more=f.mapped(f.symbol("a"), NULLS)),
        f.begin(1, properties=f.mapped(f.symbol("a"), NULLS)),
        f.frame(f.DISPOSITION, f.TRUE, f.uint(0), f.NULL, f.TRUE, STATE),
        f.transfer(0, DATA, state=STATE),
        f.attach("b", 1, receives="q", properties=f.listed(*[f.NULL] * 32_000)),
        f.frame(f.DISPOSITION, f.TRUE, f.uint(0), f.NULL, f.TRUE, f.listed(*[f.NULL] * 60_000)),
    ],
    ids=["properties", "a filter", "a session", "a disposition", "a state", "a list", "a long one"],
)
def test_frame_of_too_many_values_ends_its_connection(frame: bytes) -> None:
    """Before the engine reads them; with a sentence."""
    said = answer_within_turns(frame, code=f.CLOSE)
    assert f"more than {MOST_VALUES:,} values".encode() in said


def outcome(code: int, size: int) -> bytes:
    """An outcome whose annotations have a long text."""
    inside = f.mapped(f.symbol("a"), f.text("x" * size))
    if code == 0x27:
        return f.described(code, f.listed(f.FALSE, f.FALSE, inside))
    return f.described(code, f.listed(f.described(0x1D, f.listed(f.symbol("c"), f.NULL, inside))))


def disposing(state: bytes, last: int) -> bytes:
    return f.frame(f.DISPOSITION, f.TRUE, f.uint(0), f.uint(last), f.TRUE, state)


SPREADS: Final = {
    "modified": disposing(outcome(0x27, 55_000), 19_999),
    "rejected": disposing(outcome(0x25, 55_000), 19_999),
    "in a transaction": disposing(
        f.described(0x34, f.listed(f.binary(b"t"), outcome(0x27, 55_000))), 19_999
    ),
    "backwards": disposing(outcome(0x27, 900), 2**32 - 1),
    "short, of many values": disposing(
        f.described(
            0x27, f.listed(f.TRUE, f.TRUE, f.mapped(f.symbol("a"), array(16_000, b"\x40")))
        ),
        19_999,
    ),
}


@pytest.mark.parametrize("kind", SPREADS)
def test_outcome_that_is_too_large_for_so_many_messages_ends_its_connection(kind: str) -> None:
    """Before the engine gives each of them a copy."""
    said = answer_within_turns(SPREADS[kind], code=f.CLOSE)
    assert b"settle fewer at once" in said


def test_outcomes_of_usual_sizes_are_for_any_number_of_messages() -> None:
    frames = Frames(262_144, Numbering())
    accepted = disposing(f.described(0x24, f.listed()), 2**31)
    reasons = disposing(outcome(0x25, 300), 10_000)
    fed = [piece for piece, _ in frames.feed(AMQP_HEADER + accepted + reasons)]
    assert frames.refusal is None
    assert b"".join(fed) == AMQP_HEADER + accepted + reasons


def with_long_code(frame: bytes) -> bytes:
    """The same frame, with its performative's code as a number of eight bytes."""
    body = b"\x00\x80" + frame[10].to_bytes(8) + frame[11:]
    return (len(body) + 8).to_bytes(4) + frame[4:8] + body


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (f.attach("b", 1, sends="q", properties=f.binary(b"x" * 40_000)), b"32,768 are taken"),
        (SPREADS["modified"], b"settle fewer at once"),
        (f.begin(1, properties=f.mapped(f.symbol("a"), NULLS)), b"values besides a message"),
    ],
)
def test_bounds_of_frames_hold_however_their_code_is_written(frame: bytes, sentence: bytes) -> None:
    assert sentence in answer_within_turns(with_long_code(frame), code=f.CLOSE)


def test_frames_are_understood_however_their_code_is_written() -> None:
    said = with_long_code(f.attach("b", 1, sends="q")), with_long_code(f.transfer(0, DATA, 1))
    assert ACCEPTED in answer_within_turns(*said, code=f.DISPOSITION)


def test_frame_with_as_many_values_as_are_read_is_taken() -> None:
    properties = f.mapped(*[f.symbol("a"), f.NULL] * 7_000)
    said = answer_within_turns(f.attach("b", 1, sends="q", properties=properties), code=f.ATTACH)
    assert b"more than" not in said


LINKS: Final = b"".join(
    (
        f.attach("out", 1, sends="q/$management"),
        f.attach("in", 2, receives="q/$management"),
        f.flow(10, 2),
    )
)
"""A client's links to the management of a queue."""


def test_request_of_too_many_values_is_not_read() -> None:
    request: Any = Message(body={"a": [None] * 30_000}, properties={"operation": "x"})
    said = answer_within_turns(LINKS, f.transfer(0, bytes(request.encode()), 1), code=f.DISPOSITION)
    assert b"more than 20,000 values" in said


def test_message_within_a_request_is_read_in_slices() -> None:
    due = f.mapped(
        f.symbol("x-opt-scheduled-enqueue-time"), b"\x83" + struct.pack(">q", 4 * 10**12)
    )
    inner = f.described(0x72, due) + TAKEN["an array of texts"]
    request: Any = Message(
        body={"messages": [{"message-id": "1", "message": inner}]},
        properties={"operation": "com.microsoft:schedule-message"},
        reply_to="here",
    )
    said = answer_within_turns(LINKS, *transfers(bytes(request.encode()), 1), code=f.TRANSFER)
    assert b"sequence-numbers" in said
