"""Messages and transactions that a client takes back before their last part (`aborted`)."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from proton import Message

from busproof import vocabulary as v

from .fuzz import frames as f
from .fuzz.fuzzing import Links, in_session
from .fuzz.test_fuzz import Trial
from .test_slices import BATCH_FORMAT

pytestmark = pytest.mark.usefixtures("one_turn")

DECLARE = b"\x00\x53\x77\x00\x53\x31\x45"
INNER = bytes(Message(b"inner", inferred=True).encode())
OUTER = bytes(Message(INNER, inferred=True).encode())


async def after(open_links: Callable[[Links], Any], frames: list[bytes]) -> Trial:
    """A broker that has been sent these frames, one by one."""
    trial = Trial()
    client, session = in_session(trial.hub)
    open_links(Links(session))
    client.talk()
    for frame in frames:
        client.connection.data_received(frame)
    await asyncio.sleep(0)
    assert [] == trial.complaints
    return trial


def test_message_after_a_batch_that_was_taken_back_is_no_batch() -> None:
    """Its body is an encoded message, which would be stored instead of it."""
    frames = [
        f.transfer(0, OUTER[:4], form=BATCH_FORMAT, more=True),
        f.transfer(0, b"", aborted=True),
        f.transfer(1, OUTER),
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
    frames = [f.transfer(0, DECLARE, more=True), f.transfer(0, b"", aborted=taken_back)]
    trial = asyncio.run(after(lambda links: links.sender("one", None), frames))
    begun = trial.hub.bus.namespace.transactions
    assert len(begun) == (0 if taken_back else 1)
