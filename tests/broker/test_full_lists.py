"""Frames as clients of Python before 7.15 need them: with every field, and not too large."""

import asyncio
from typing import Any

import pytest
from proton import Data, Message

from busproof.broker.amqp.framing import AMQP_HEADER
from busproof.broker.amqp.numbering import Numbering
from busproof.broker.amqp.performatives import Outgoing

from . import raw
from .fuzz.fuzzing import KEY, Links, conversation, frames_of, in_session, met
from .fuzz.test_fuzz import Trial

pytestmark = pytest.mark.usefixtures("one_turn")

EMPTY = b"\x00\x00\x00\x08\x02\x00\x00\x00"
CLOSE = b"\x00\x00\x00\x0c\x02\x00\x00\x00\x00\x53\x18\x45"
FULL_CLOSE = b"\x00\x00\x00\x0f\x02\x00\x00\x00\x00\x53\x18\xc0\x02\x01\x40"


def frames(said: bytes) -> list[bytes]:
    """The frames behind the header of the protocol."""
    return frames_of(said[said.index(AMQP_HEADER) :])[1:]


def performative(frame: bytes) -> tuple[int, list[Any]]:
    """The code of a frame, and its fields."""
    tree = Data()
    tree.decode(frame[8:])
    tree.rewind()
    tree.next()
    found: Any = tree.get_object()
    return int(found.descriptor), list(found.value)


def test_every_frame_has_all_its_fields() -> None:
    """Open, Begin, Attach, Flow, Transfer, Disposition, Detach and Close of a conversation."""

    async def talked() -> tuple[bytes, bytes]:
        return await conversation(Trial().hub, KEY)

    _, said = asyncio.run(talked())
    counts = {(code, len(fields)) for code, fields in map(performative, frames(said))}
    assert {
        (0x10, 10),
        (0x11, 8),
        (0x12, 14),
        (0x13, 11),
        (0x14, 11),
        (0x15, 6),
        (0x16, 3),
        (0x18, 1),
    } == counts


@pytest.mark.parametrize("cut", range(1, 32))
def test_frames_may_come_in_parts(cut: int) -> None:
    """As the engine gives them: what is no whole frame yet waits for the rest."""
    outgoing = Outgoing(Numbering())
    said = AMQP_HEADER + EMPTY + CLOSE + CLOSE
    assert AMQP_HEADER + EMPTY + FULL_CLOSE * 2 == outgoing.feed(said[:cut]) + outgoing.feed(
        said[cut:]
    )


def test_other_frames_pass_unchanged() -> None:
    """As when a client begins with SASL once more, and the engine goes along."""
    mechanisms = b"\x00\x00\x00\x0d\x02\x01\x00\x00\x00\x53\x40\xc0\x00"
    said = AMQP_HEADER + raw.SASL + mechanisms + AMQP_HEADER
    assert said + FULL_CLOSE == Outgoing(Numbering()).feed(said + CLOSE)


def test_long_list_is_filled() -> None:
    """One of 250 bytes that has no room for its missing fields becomes one with a long size."""
    outgoing = Outgoing(Numbering())
    outgoing.feed(AMQP_HEADER)
    name = b"\xa1\xf0" + b"n" * 240
    body = b"\x00\x53\x12\xc0" + bytes([len(name) + 9 + 1, 3]) + name + b"\x43" * 9
    attach = (len(body) + 8).to_bytes(4, "big") + b"\x02\x00\x00\x00" + body
    [filled] = frames(AMQP_HEADER + outgoing.feed(attach))
    assert (0x12, 14) == (performative(filled)[0], len(performative(filled)[1]))


@pytest.mark.parametrize(
    ("theirs", "announced"), [(None, 262_144), (2**32 - 1, 262_144), (65_536, 65_536), (512, 512)]
)
def test_frames_are_no_larger_than_both_ends_take(theirs: int | None, announced: int) -> None:
    """The older client of Python sends no message that is larger, if the broker names more."""
    size = b"" if theirs is None else b"\x40\x70" + theirs.to_bytes(4, "big")
    body = b"\x00\x53\x10\xc0" + bytes([len(size) + 4, 3 if size else 1]) + b"\xa1\x01c" + size
    opening = (len(body) + 8).to_bytes(4, "big") + b"\x02\x00\x00\x00" + body

    async def opened() -> bytes:
        connection, wire = met(Trial().hub, 1)
        connection.data_received(raw.SASL + raw.ANONYMOUS + raw.AMQP + opening)
        connection.connection_lost(None)
        return bytes(wire.said)

    [answer] = [each for each in frames(asyncio.run(opened())) if performative(each)[0] == 0x10]
    assert announced == performative(answer)[1][2]


def test_error_of_the_engine_has_all_its_fields() -> None:
    """A frame that is no AMQP ends the connection; the client of Python reads the error's info."""
    opening = b"\x00\x00\x00\x11\x02\x00\x00\x00\x00\x53\x10\xc0\x04\x01\xa1\x01c"

    async def ended() -> bytes:
        connection, wire = met(Trial().hub, 1)
        connection.data_received(raw.SASL + raw.ANONYMOUS + raw.AMQP + opening)
        connection.data_received(b"\x00\x00\x00\x04\x02\x00\x00\x00")
        connection.connection_lost(None)
        return bytes(wire.said)

    [close] = [each for each in frames(asyncio.run(ended())) if performative(each)[0] == 0x18]
    [error] = performative(close)[1]
    condition, description, info = error.value
    assert ("amqp:connection:framing-error", None) == (condition, info)
    assert description


@pytest.mark.parametrize("most", [512, 520, 528, 540, 600, 65_536])
def test_full_transfers_are_no_larger_than_the_client_takes(most: int) -> None:
    """A message of many frames: each that its lists fit into has them in full."""

    async def received() -> list[bytes]:
        trial = Trial()
        client, session = in_session(trial.hub, largest=most)
        links = Links(session)
        links.sender("out", "q")
        links.receiver("in", "q")
        client.talk()
        links.send("out", bytes(Message(b"x" * 100_000, inferred=True).encode()))
        client.talk()
        await asyncio.sleep(0)
        client.talk()
        client.connection.connection_lost(None)
        return frames(bytes(client.wire.said))

    found = [each for each in asyncio.run(received()) if performative(each)[0] == 0x14]
    assert 100_000 < sum(map(len, found))
    assert most >= max(map(len, found))
    if most >= 544:
        assert {11} == {len(performative(each)[1]) for each in found}
