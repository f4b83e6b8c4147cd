"""Messages and transactions that a client takes back before their last part (`aborted`)."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from proton import Message

from busproof import vocabulary as v

from .fuzz.fuzzing import KEY, Client, Links, logged_in, met
from .fuzz.test_fuzz import Trial

pytestmark = pytest.mark.usefixtures("one_turn")

BATCH = b"\x70\x80\x01\x37\x00"
"""The message format of a batch."""
PLAIN = b"\x43"
DECLARE = b"\x00\x53\x77\x00\x53\x31\x45"
INNER = bytes(Message(b"inner", inferred=True).encode())
OUTER = bytes(Message(INNER, inferred=True).encode())


def transfer(
    number: int, data: bytes, *, handle: int = 0, form: bytes = PLAIN, ends: str = "whole"
) -> bytes:
    """A transfer that is whole, begins a delivery (`more`), or takes one back (`aborted`)."""
    more = b"\x41" if ends == "more" else b"\x42"
    aborted = b"\x41" if ends == "aborted" else b"\x42"
    fields = b"\x52" + bytes([handle]) + b"\x52" + bytes([number]) + b"\xa0\x01t" + form
    fields += b"\x42" + more + b"\x40\x40\x42" + aborted + b"\x42"
    body = b"\x00\x53\x14\xc0" + bytes([len(fields) + 1, 11]) + fields + data
    return (len(body) + 8).to_bytes(4, "big") + b"\x02\x00\x00\x00" + body


async def after(open_links: Callable[[Links], Any], frames: list[bytes]) -> Trial:
    """A broker that has been sent these frames, one by one."""
    trial = Trial()
    connection, wire = met(trial.hub, 1)
    client = Client(connection, wire, logged_in(KEY))
    session = client.endpoint.session()
    session.open()
    open_links(Links(session))
    client.talk()
    for frame in frames:
        connection.data_received(frame)
    await asyncio.sleep(0)
    assert [] == trial.complaints
    return trial


def test_message_after_a_batch_that_was_taken_back_is_no_batch() -> None:
    """Its body is an encoded message, which would be stored instead of it."""
    frames = [
        transfer(0, OUTER[:4], form=BATCH, ends="more"),
        transfer(0, b"", ends="aborted"),
        transfer(1, OUTER),
    ]
    trial = asyncio.run(after(lambda links: links.sender("one", "q"), frames))
    outcome = trial.hub.bus.ask(v.Peek(queue="q"), "test").outcome
    assert isinstance(outcome, v.Peeked)
    (view,) = outcome.messages
    stored = trial.hub.contents.get(view.body)
    assert stored is not None
    assert trial.hub.parse_message(OUTER).content.body == stored.body


@pytest.mark.parametrize("taken_back", [True, False])
def test_transaction_that_is_taken_back_does_not_begin(*, taken_back: bool) -> None:
    ends = "aborted" if taken_back else "whole"
    frames = [transfer(0, DECLARE, ends="more"), transfer(0, b"", ends=ends)]
    trial = asyncio.run(after(lambda links: links.sender("one", None), frames))
    begun = trial.hub.bus.namespace.transactions
    assert len(begun) == (0 if taken_back else 1)
