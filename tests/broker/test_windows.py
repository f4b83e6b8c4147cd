"""Receivers that give the greatest credit that AMQP has."""

import socket
import time

import pytest
from azure.servicebus import ServiceBusMessage
from work import PATIENCE

from busproof.broker.amqp.framing import AMQP_HEADER, Frames
from busproof.broker.amqp.numbering import Numbering

from . import raw
from .conftest import Served, anew
from .fuzz.fuzzing import KEY, logged_in
from .test_sdk_queues import sent

GREATEST, COUNTED = b"\x70\xff\xff\xff\xff", b"\x70\x7f\xff\xff\xff"


@pytest.mark.slow
def test_receiver_with_the_greatest_credit_is_given_messages(punctual: Served) -> None:
    """The credit, and the window of its session, are 2^32 - 1."""
    served = anew(punctual)
    sent(served, "plain", ServiceBusMessage("given"))
    engine, endpoint = logged_in(KEY)
    session = endpoint.session()
    session.open()
    link = session.receiver("greatest")
    link.source.address = "plain"
    link.open()
    link.flow(2**31 - 1)
    with raw.silent(served.port) as client:
        client.settimeout(0.2)
        end = time.monotonic() + PATIENCE
        while link.current is None and time.monotonic() < end:
            if (waiting := engine.pending()) > 0:
                data = bytes(engine.peek(waiting) or b"")
                engine.pop(len(data))
                client.sendall(data.replace(COUNTED, GREATEST))
            else:
                _read(client, engine)
    assert link.current is not None


def _read(client: socket.socket, engine: object) -> None:
    try:
        came = client.recv(65_536)
    except TimeoutError:
        return
    engine.push(came)  # Proton's


def flow(window: bytes, credit: bytes) -> bytes:
    """A frame that gives a window and a credit."""
    fields = b"\x43" + window + b"\x43\x43\x43\x43" + credit
    body = b"\x00\x53\x13\xc0" + bytes([len(fields) + 1, 7]) + fields
    return (len(body) + 8).to_bytes(4, "big") + b"\x02\x00\x00\x00" + body


@pytest.mark.parametrize(
    ("window", "credit"), [(GREATEST, GREATEST), (b"\x43", GREATEST), (GREATEST, b"\x52\x05")]
)
def test_credit_is_as_much_as_the_engine_counts(window: bytes, credit: bytes) -> None:
    usual = flow(b"\x52\x01", b"\x52\x01")
    changed = flow(window, credit).replace(GREATEST, COUNTED)
    pieces = Frames(1_000, Numbering()).feed(AMQP_HEADER + usual + flow(window, credit) + usual)
    assert [AMQP_HEADER + usual, changed, usual] == [piece for piece, _ in pieces]


@pytest.mark.parametrize("size", [0, 7, 1_001, 0xFFFF_FFFF])
@pytest.mark.parametrize("behind", [b"", b"\2", b"\2\0\0\0", b"\2\0\0\0\0\x53\x13" * 500])
def test_bytes_that_are_no_frame_end_the_stream(size: int, behind: bytes) -> None:
    """However many of them have come: they are handed on once, and nothing that follows is."""
    frames = Frames(1_000, Numbering())
    usual = flow(b"\x52\x01", b"\x52\x01")
    nothing = size.to_bytes(4, "big") + behind
    pieces = [piece for piece, _ in frames.feed(AMQP_HEADER + usual + nothing)]
    assert AMQP_HEADER + usual + nothing == b"".join(pieces)
    assert frames.broken
    assert [] == list(frames.feed(usual))
