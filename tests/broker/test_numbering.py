"""Clients whose deliveries are not numbered one by one, as threads that share a session do it."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from azure.servicebus import ServiceBusMessage, ServiceBusReceivedMessage
from proton import Message

from busproof.broker.amqp.framing import AMQP_HEADER, Frames
from busproof.broker.amqp.numbering import MOST_DETACHED, Numbering

from .conftest import Served
from .fuzz import frames as f
from .fuzz.fuzzing import Links, in_session
from .fuzz.test_fuzz import Trial
from .test_full_lists import frames, performative
from .test_sdk_queues import emptied, sent

pytestmark = pytest.mark.usefixtures("one_turn")

BEGIN = b"\x00\x00\x00\x0c\x02\x00\x00\x00\x00\x53\x11\x45"
MESSAGE = bytes(Message(b"body", inferred=True).encode())


def whole(*ids: int) -> list[bytes]:
    """A message for each id."""
    return [f.transfer(each, MESSAGE) for each in ids]


def begun(said: int | None, handle: int = 0) -> bytes:
    """The first part of a message."""
    return f.transfer(said, MESSAGE[:4], handle, more=True)


def ended(said: int | None, handle: int = 0) -> bytes:
    """The rest of it."""
    return f.transfer(said, MESSAGE[4:], handle)


def ended_shortly() -> bytes:
    """The rest of it as Go's client writes it: it says nothing but the link."""
    body = b"\x00\x53\x14\xc0\x03\x01\x52\x00" + MESSAGE[4:]
    return (len(body) + 8).to_bytes(4, "big") + b"\x02\x00\x00\x00" + body


@pytest.mark.parametrize("size", range(9, 20))
def test_transfer_that_is_cut_off_is_left_to_the_engine(size: int) -> None:
    """Nothing is looked for behind its end, even if it is the last that came."""
    whole_one = f.transfer(0, MESSAGE)
    cut = size.to_bytes(4, "big") + whole_one[4:size]
    split = Frames(1_000, Numbering())
    found = [piece for piece, _ in split.feed(AMQP_HEADER + BEGIN + cut)]
    assert AMQP_HEADER + BEGIN + cut == b"".join(found)


CASES = {
    "in order": (whole(3, 4, 5), [3, 4, 5]),
    "one twice and one left out": (whole(5, 5, 7), [5, 5, 7]),
    "backwards": (whole(9, 8, 7), [9, 8, 7]),
    "one left out for good": (whole(1, 4, 5, 6), [1, 4, 5, 6]),
    "round the end": (whole(2**32 - 1, 2**32 - 1, 1), [2**32 - 1, 2**32 - 1, 1]),
    "in parts": ([*whole(5), begun(5), ended(5), *whole(7)], [5, 5, 7]),
    "in parts without ids": ([*whole(5), begun(5), ended(None), *whole(7)], [5, 5, 7]),
    "in parts, the last without a field": ([begun(0), ended_shortly(), *whole(1, 2)], [0, 1, 2]),
    "parts of two at once": (
        [*whole(5), begun(5), begun(5, 1), ended(5), ended(5, 1), *whole(8)],
        [5, 5, 5, 8],
    ),
    "parts in order": (
        [*whole(5), begun(6), begun(7, 1), ended(6), ended(7, 1), *whole(8, 8)],
        [5, 6, 7, 8, 8],
    ),
    "settled by the sender": (
        [*whole(5), f.transfer(5, MESSAGE, settled=True), *whole(7, 7)],
        [5, 7, 7],
    ),
}


async def settled(sent: list[bytes]) -> tuple[list[int], int]:
    """The ids of what is accepted, and how many messages there are at last."""
    trial = Trial()
    client, session = in_session(trial.hub)
    connection = client.connection
    wire = client.wire
    links = Links(session)
    links.sender("one", "q")
    links.sender("other", "q")
    client.talk()
    for each in sent:
        connection.data_received(each)
    await asyncio.sleep(0)
    connection.connection_lost(None)
    ids = []
    for code, fields in map(performative, frames(bytes(wire.said))):
        if code == 0x15:
            ids += range(fields[1], (fields[1] if fields[2] is None else fields[2]) + 1)
    assert [] == trial.complaints
    held = trial.hub.bus.namespace.entities["q"].partitions
    return ids, sum(each.messages for each in held)


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "one by one"])
@pytest.mark.parametrize("case", CASES)
def test_deliveries_are_settled_by_the_ids_that_the_client_gave(case: str, at_once: bool) -> None:
    sent, ids = CASES[case]
    pieces = [b"".join(sent)] if at_once else sent
    expected = (ids, 4 if case == "settled by the sender" else len(ids))
    assert expected == asyncio.run(settled(pieces))


def test_credit_for_a_detached_link_is_a_window_of_its_session() -> None:
    """Go's client gives it, and lost its connection; a link that is attached anew gets it."""
    numbering, credit = Numbering(), f.flow(5, 3)
    detach = f.frame(f.DETACH, f.uint(3), f.TRUE)
    for frame in (BEGIN, f.attach("one", 3, receives="q"), credit, detach):
        assert numbering.take(frame) is None
    changed = numbering.take(credit)
    assert changed is not None
    assert (0x13, [0, 2_000, 0, 2_000]) == performative(changed)
    assert numbering.take(f.flow(5, 4)) is None
    assert numbering.take(f.attach("other", 3, receives="q")) is None
    assert numbering.take(credit) is None


def test_links_that_were_detached_long_ago_are_forgotten() -> None:
    numbering = Numbering()
    numbering.take(BEGIN)
    for handle in range(MOST_DETACHED + 1):
        numbering.take(f.frame(f.DETACH, f.uint(handle), f.TRUE))
    assert numbering.take(f.flow(5, 0)) is None
    assert numbering.take(f.flow(5, 1)) is not None


def test_message_that_is_taken_back_leaves_nothing() -> None:
    """No disposition comes by which its id would be forgotten."""
    numbering = Numbering()
    aborted = f.transfer(5, b"", aborted=True)
    for frame in (BEGIN, *whole(5), begun(5), aborted):
        numbering.take(frame)
    disposition = b"\x00\x53\x15\xc0\x0a\x04\x41\x52\x06\x40\x41\x00\x53\x24\x45"
    frame = (len(disposition) + 8).to_bytes(4, "big") + b"\x02\x00\x00\x00" + disposition
    numbering.begun(b"\x00\x00\x00\x10\x02\x00\x00\x00\x00\x53\x11\xc0\x02\x01\x43")
    assert [frame] == list(numbering.told(frame))


@pytest.mark.slow
def test_threads_that_share_a_receiver_renew_its_locks(served: Served) -> None:
    """The official client gives two requests one id, and leaves out the next."""
    sent(served, "plain", *[ServiceBusMessage(str(each)) for each in range(8)])
    with served.client() as client, client.get_queue_receiver("plain") as receiver:
        found: list[ServiceBusReceivedMessage] = []
        while len(found) < 8:
            found += receiver.receive_messages(8, 5)

        def renew(message: ServiceBusReceivedMessage) -> int:
            return sum(receiver.renew_message_lock(message) is not None for _ in range(20))

        with ThreadPoolExecutor(8) as threads:
            assert [20] * 8 == list(threads.map(renew, found))
        for each in found:
            receiver.complete_message(each)
    assert [] == emptied(served, "plain")


@pytest.mark.parametrize("broken", [b"\x00\x53\x14\x45", b"\x00\x53\x14\xc0", b"\x00\x53\x11\x43"])
def test_frames_that_cannot_be_read_are_left_to_the_engine(broken: bytes) -> None:
    frame = (len(broken) + 8).to_bytes(4, "big") + b"\x02\x00\x00\x00" + broken
    numbering = Numbering()
    assert numbering.take(BEGIN) is None
    assert not numbering.follows(frame, 0)
    assert numbering.take(frame) is None
