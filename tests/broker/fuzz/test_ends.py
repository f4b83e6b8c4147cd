"""A connection ends with words, whatever is in its first and in its last frame."""

import asyncio
from collections.abc import Iterator

import pytest

from .. import raw
from . import frames as f
from . import fuzzing, meant
from .test_fuzz import Trial
from .test_meant_fuzz import exchange, refusals

pytestmark = pytest.mark.usefixtures("one_turn")


def close(condition: bytes, description: bytes = f.NULL, info: bytes = f.NULL) -> bytes:
    """The frame that ends a connection with an error."""
    error = f.described(0x1D, f.listed(condition, description, info))
    return f.frame(f.CLOSE, error)


def answers(*frames: bytes) -> Iterator[bytes]:
    """The errors with which the broker ends a connection, after these frames."""

    async def run() -> bytes:
        trial = Trial()
        login = meant.conversation(fuzzing.KEY)[0].encoded()
        said, _ = await exchange(trial.hub, 1, meant.Case("test", "", (login, *frames)))
        trial.hub.close()
        assert trial.complaints == []
        return said

    return refusals(asyncio.run(run()))


def test_first_frame_that_is_refused_is_answered_with_an_error():
    """Proton closes with an error of its own only what the client has opened."""
    too_many = meant.BOUNDARIES["array of too many"]
    (answer,) = answers(f.frame(f.OPEN, too_many))
    assert b"amqp:" in answer


@pytest.mark.parametrize(
    "error",
    [
        close(b"\xa3\x02\xff\xfe"),
        close(f.symbol("amqp:x"), description=b"\xa1\x02\xff\xfe"),
        close(f.symbol("amqp:x"), info=f.mapped(b"\x45", f.NULL)),
        close(f.symbol("amqp:x"), info=f.mapped(f.symbol("a"), b"\xa1\x02\xff\xfe")),
    ],
    ids=["condition", "description", "key", "value"],
)
def test_last_frame_with_an_error_that_is_no_text_ends_the_connection(error: bytes):
    (answer,) = answers(raw.OPEN, error)
    assert b"amqp:" not in answer


@pytest.mark.parametrize("value", [b"\x70\x80\x01\x37\x00", b"\xa0\x05\x70\x80\x01\x37\x00"])
def test_transfer_that_is_no_list_ends_the_connection_with_words(value: bytes):
    body = bytes((0, 0x53, f.TRANSFER)) + value
    frame = (len(body) + 8).to_bytes(4) + b"\x02\x00\x00\x00" + body
    begun = f.begin() + f.attach("s", 0, sends="q")
    assert list(answers(raw.OPEN, begun, frame))
