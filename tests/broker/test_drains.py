"""Each drain is answered, whatever there is, and the end of a link settles nothing."""

import asyncio
from collections.abc import Callable
from typing import Any, Final

import pytest

from busproof.broker.amqp.encoding import items
from busproof.vocabulary.commands import CreateQueue

from .fuzz import frames as f
from .fuzz import fuzzing
from .inside import hub_of

pytestmark = pytest.mark.usefixtures("one_turn")

FLOW, TRANSFER, DISPOSITION, DETACH = 0x13, 0x14, 0x15, 0x16
MESSAGE: Final = b"\x00\x53\x75\xa0\x00"
MESSAGES: Final = 5
NEXT_IN, NEXT_OUT, HANDLE, COUNT, CREDIT, DRAIN = 0, 2, 4, 5, 6, 8
"""Places of the fields of a Flow."""


def drain(credit: int, handle: int = 0, count: int = 0, window: int = 2_000) -> bytes:
    """A client's request to be given what it has credit for, and to lose the rest."""
    numbers = (f.uint(count), f.uint(window), f.uint(MESSAGES), f.uint(2_000))
    link = (f.uint(handle), f.uint(count), f.uint(credit))
    return f.frame(f.FLOW, *numbers, *link, f.NULL, f.TRUE)


class Talk:
    """A client without a socket that has sent five messages to a queue and receives from it."""

    def __init__(self, window: int) -> None:
        self.hub = hub_of(CreateQueue(queue="q"))
        links = f.attach("s", 1, sends="q"), f.attach("r", 0, receives="q")
        self._connection, self._wire = f.speaking(self.hub, 1, *links, window=window)
        for number in range(MESSAGES):
            self._connection.data_received(f.transfer(number, MESSAGE, 1))

    def answers(self, *said: bytes) -> list[tuple[int, list[Any]]]:
        """What the broker says next: the code and the fields of each frame."""
        before = len(self._wire.said)
        for one in said:
            self._connection.data_received(one)
        frames = fuzzing.frames_of(bytes(self._wire.said[before:]))
        return [(frame[10], items(frame, 11, 20)) for frame in frames]


def talk(act: Callable[[Talk], None], window: int = 2_000) -> None:
    async def run() -> None:
        client = Talk(window)
        await asyncio.sleep(0)
        act(client)
        client.hub.close()

    asyncio.run(run())


@pytest.mark.parametrize("credit", [1, 3, 5, 7])
def test_drain_is_answered_once_behind_its_messages(credit: int) -> None:
    """With the count of messages that the client has by then, and of credits that it has lost."""

    def act(client: Talk) -> None:
        said = client.answers(drain(credit))
        given = min(credit, MESSAGES)
        assert [TRANSFER] * given + [FLOW] == [code for code, _ in said]
        _, flow = said[-1]
        assert [MESSAGES, given] == [flow[NEXT_IN], flow[NEXT_OUT]]
        assert [credit, 0, True] == [flow[COUNT], flow[CREDIT], flow[DRAIN]]
        handle = said[0][1][0]
        assert handle == flow[HANDLE]

    talk(act)


def test_drains_are_answered_one_after_the_other() -> None:
    def act(client: Talk) -> None:
        counts = []
        for credit, count in ((2, 0), (0, 2), (2, 2), (3, 4)):
            _, flow = client.answers(drain(credit, count=count))[-1]
            counts.append(flow[COUNT])
        assert [2, 2, 4, 7] == counts

    talk(act)


def test_drain_waits_for_messages_that_have_no_window() -> None:
    def act(client: Talk) -> None:
        assert [TRANSFER] == [code for code, _ in client.answers(drain(3, window=1))]
        said = client.answers(drain(3, window=2_000))
        assert [TRANSFER, TRANSFER, FLOW] == [code for code, _ in said]
        assert said[-1][1][COUNT] == 3

    talk(act, window=1)


def test_drain_of_replies_is_answered() -> None:
    def act(client: Talk) -> None:
        client.answers(f.attach("asks", 2, sends="q/$management"))
        client.answers(f.attach("hears", 3, receives="q/$management"), f.flow(1, 3))
        asked = [code for code, _ in client.answers(f.transfer(MESSAGES, MESSAGE, 2))]
        assert TRANSFER in asked
        _, flow = client.answers(drain(0, handle=3, count=1))[-1]
        assert [1, 0, True] == [flow[COUNT], flow[CREDIT], flow[DRAIN]]

    talk(act)


@pytest.mark.parametrize("closed", [f.TRUE, f.FALSE])
def test_end_of_a_link_settles_nothing(closed: bytes) -> None:
    """Its messages stay locked, and their client settles them by requests."""

    def act(client: Talk) -> None:
        client.answers(f.flow(3))
        said = client.answers(f.frame(DETACH, f.uint(0), closed))
        assert [DETACH] == [code for code, _ in said]

    talk(act)


def test_settlement_is_answered_with_its_outcome() -> None:
    def act(client: Talk) -> None:
        client.answers(f.flow(3))
        outcome = f.described(0x24, f.listed())
        asked = f.frame(DISPOSITION, f.TRUE, f.uint(0), f.uint(1), f.FALSE, outcome)
        assert [DISPOSITION] == [code for code, _ in client.answers(asked)]

    talk(act)
