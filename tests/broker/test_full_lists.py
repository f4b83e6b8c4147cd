"""Frames as clients of Python before 7.15 need them: with every field, and no larger than theirs."""

import asyncio
from typing import Any

import pytest
from proton import Data, Message

from busproof.broker.amqp.numbering import Numbering
from busproof.broker.amqp.performatives import Outgoing
from busproof.broker.framing import AMQP_HEADER
from busproof.vocabulary.commands import CreateQueue

from . import raw
from .fuzzing import KEY, conversation
from .inside import inside
from .test_fuzz import hub_of
from .test_wire import LOGIN

EMPTY = b"\x00\x00\x00\x08\x02\x00\x00\x00"
CLOSE = b"\x00\x00\x00\x0c\x02\x00\x00\x00\x00\x53\x18\x45"
FULL_CLOSE = b"\x00\x00\x00\x0f\x02\x00\x00\x00\x00\x53\x18\xc0\x02\x01\x40"


def frames(said: bytes) -> list[bytes]:
    """The frames behind the header of the protocol."""
    said = said[said.index(AMQP_HEADER) + len(AMQP_HEADER) :]
    found = []
    while said:
        size = int.from_bytes(said[:4], "big")
        found.append(said[:size])
        said = said[size:]
    return found


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


async def talked() -> tuple[bytes, bytes]:
    return await conversation(hub_of(), KEY)


@pytest.mark.parametrize("cut", range(1, 32))
def test_frames_may_come_in_parts(cut: int) -> None:
    """As the engine gives them: what is no whole frame yet waits for the rest."""
    outgoing = Outgoing(Numbering())
    said = AMQP_HEADER + EMPTY + CLOSE + CLOSE
    assert AMQP_HEADER + EMPTY + FULL_CLOSE * 2 == outgoing.feed(said[:cut]) + outgoing.feed(
        said[cut:]
    )


def test_long_list_is_filled() -> None:
    """One of 250 bytes that has no room for its missing fields becomes one with a long size."""
    outgoing = Outgoing(Numbering())
    outgoing.feed(AMQP_HEADER)
    name = b"\xa1\xf0" + b"n" * 240
    body = b"\x00\x53\x12\xc0" + bytes([len(name) + 9 + 1, 3]) + name + b"\x43" * 9
    attach = (len(body) + 8).to_bytes(4, "big") + b"\x02\x00\x00\x00" + body
    [filled] = frames(AMQP_HEADER + outgoing.feed(attach))
    assert (0x12, 14) == (performative(filled)[0], len(performative(filled)[1]))
