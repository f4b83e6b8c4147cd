"""Work that grows with what a client sends is done in slices, between which others have turns."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

import pytest
from proton import Message, symbol, timestamp
from work import PATIENCE, TURN, check, watch_loop

from busproof import vocabulary as v
from busproof.broker import due_timers
from busproof.broker.amqp import turns
from busproof.broker.core import Hub
from busproof.broker.limits import ALL_DEFAULT
from busproof.vocabulary.messages import Message as Content

from .fuzz import frames as f
from .fuzz import fuzzing
from .inside import bus_of, hub_of

BATCH_FORMAT: Final = 0x80013700
ACCEPTED: Final = bytes((0, 0x53, 0x24))
SENDER: Final = f.attach("a", 0, sends="q")


ENTITIES: Final = (
    v.CreateQueue(queue="q", partitioned=True),
    v.CreateTopic(topic="t"),
    v.CreateSubscription(topic="t", subscription="s"),
)


def talking(act: Callable[[Hub], object]) -> None:
    """Act in a loop, with a broker without sockets."""

    async def run() -> None:
        hub = hub_of(*ENTITIES)
        found = act(hub)
        if asyncio.iscoroutine(found):
            await found
        hub.close()

    asyncio.run(asyncio.wait_for(run(), PATIENCE))


def batch(messages: Iterable[bytes]) -> bytes:
    """The body of a batch."""
    return b"".join(f.described(0x75, f.binary(each)) for each in messages)


def parts(number: int, payload: bytes, handle: int = 0) -> Iterable[bytes]:
    """The transfers of a large message."""
    pieces = [payload[place : place + 100_000] for place in range(0, len(payload), 100_000)]
    for place, piece in enumerate(pieces):
        more = place < len(pieces) - 1
        yield f.transfer(number, piece, handle, more=more, form=BATCH_FORMAT)


def settled(wire: fuzzing.Wire) -> bool:
    return ACCEPTED in wire.said


def test_others_have_turns_while_a_batch_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message of another client is accepted before the batch is, which came first."""
    monkeypatch.setattr(turns, "TURN", 0.0005)

    async def send(hub: Hub) -> None:
        first = f.speaking(hub, 1, SENDER)
        second = f.speaking(hub, 2, SENDER)
        await asyncio.sleep(0.1)
        one = bytes(Message(b"x", inferred=True).encode())
        for said in parts(0, batch([one] * 1_000)):
            first[0].data_received(said)
        second[0].data_received(f.transfer(0, one))
        while not settled(second[1]):
            await asyncio.sleep(0)
        assert not settled(first[1])
        while not settled(first[1]):
            await asyncio.sleep(0)
        assert len(hub.bus.find_entity("q").messages) == 1_001

    talking(send)


def test_batch_of_a_client_that_leaves_meanwhile_is_not_decided(monkeypatch) -> None:
    monkeypatch.setattr(turns, "TURN", 0.0005)

    async def send(hub: Hub) -> None:
        connection, _ = f.speaking(hub, 1, SENDER)
        await asyncio.sleep(0.1)
        one = bytes(Message(b"x", inferred=True).encode())
        for said in parts(0, batch([one] * 1_000)):
            connection.data_received(said)
        connection.connection_lost(None)
        await asyncio.sleep(0.1)
        assert len(hub.bus.find_entity("q").messages) == 0
        assert hub.budget.total == 0

    talking(send)


@pytest.mark.slow
@pytest.mark.parametrize("scheduled", [False, True])
def test_largest_batch_takes_no_more_than_a_turn_at_a_time(*, scheduled: bool) -> None:
    message = Message(b"x", inferred=True)
    if scheduled:
        message.annotations = {symbol("x-opt-scheduled-enqueue-time"): timestamp(4 * 10**12)}
    one = bytes(message.encode())
    count = ALL_DEFAULT.at_once if scheduled else ALL_DEFAULT.batch
    whole = list(parts(0, batch([one] * count)))

    def send_watched() -> float:
        async def send(hub: Hub) -> None:
            connection, wire = f.speaking(hub, 1, SENDER)
            await asyncio.sleep(0.1)
            for said in whole:
                hub.loop.call_soon(connection.data_received, said)
            while not settled(wire):
                await asyncio.sleep(0)

        with watch_loop() as watch:
            talking(send)
        return watch.iteration

    check(TURN, send_watched)


def test_timers_that_are_due_at_once_are_run_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock lags until all are run; no message is there before its time."""
    monkeypatch.setattr(due_timers, "SLICE", 0.0)
    moment = 0.0
    bus = bus_of(ENTITIES[0])
    bus._monotonic, bus._started = lambda: moment, 0.0
    for delay in range(10):
        message = Content(body=f"m{delay}")
        bus.ask(v.Schedule(queue="q", message=message, delay=1_000_000 + delay), "c")
    moment = 2.0
    for left in range(9, 0, -1):
        assert bus.keep_time()
        assert len(bus.find_entity("q").scheduled) == left
        assert bus.namespace.now < 2_000_000
    assert not bus.keep_time()
    assert bus.namespace.now == 2_000_000
    assert not bus.find_entity("q").scheduled


def test_request_that_asks_for_the_time_often_has_one_slice(monkeypatch) -> None:
    bus = bus_of(ENTITIES[0])
    moment = 0.0
    bus._monotonic, bus._started = lambda: moment, 0.0
    for delay in range(10):
        message = Content(body=f"m{delay}")
        bus.ask(v.Schedule(queue="q", message=message, delay=1_000_000 + delay), "c")
    moment = 2.0
    monkeypatch.setattr(due_timers, "SLICE", 0.0)
    monkeypatch.setattr(due_timers.time, "perf_counter", lambda: 1.0)
    monkeypatch.setattr(bus._due, "_not_before", 1.0)
    assert bus.keep_time()
    monkeypatch.setattr(bus._due, "_not_before", 1.1)
    assert bus.keep_time()
    assert len(bus.find_entity("q").scheduled) == 9


def test_messages_that_are_due_in_the_same_millisecond_are_spread_over_it() -> None:
    """Many in one microsecond would be one step."""
    spread = due_timers.Spread()
    found = [spread.next() for _ in range(64_000)]
    assert 0 <= min(found) <= max(found) < 1_000
    assert max(Counter(found).values()) == 64
    assert found[:60_000] == sorted(found[:60_000])


def test_timers_are_run_while_a_link_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without another request, each slice in a turn of the loop."""
    monkeypatch.setattr(due_timers, "SLICE", 0.0)

    async def wait(hub: Hub) -> None:
        for _ in range(50):
            message = Content(body="m", time_to_live=1_000)
            hub.bus.ask(v.Send(queue="q", message=message), "c")
        f.speaking(hub, 1, f.attach("r", 0, receives="t/subscriptions/s"), f.flow(1))
        while hub.bus.find_entity("q").messages:
            await asyncio.sleep(0.01)

    talking(wait)
