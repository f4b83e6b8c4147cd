"""What many links, copies or messages do together takes turns, however little each does alone."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Final

import pytest
from proton import Described, Message, symbol, timestamp, ulong
from work import TURN, check

from busproof.broker.configuration.emulator import Created
from busproof.broker.core import Hub
from busproof.vocabulary.commands import CreateQueue, CreateSubscription, CreateTopic

from .fuzz import frames as f
from .test_slices import BATCH_FORMAT, batch, parts
from .test_turns import ACCEPTED, MARK, MESSAGE, OPEN_WINDOW, QUEUE, REJECTED, Talk, fill, longest

pytestmark = pytest.mark.slow

Act = Callable[[Hub], AsyncIterator[None]]


def let_pass(hub: Hub, seconds: float) -> None:
    """Set the clock of the bus on."""
    clock = hub.bus._monotonic
    hub.bus._monotonic = lambda: clock() + seconds


async def rest(hub: Hub, iterations: int = 30) -> None:
    """Let everything be done that was begun."""
    for _ in range(iterations):
        await asyncio.sleep(0)
        while hub.rota._waiting:
            await asyncio.sleep(0)


def receivers(hub: Hub, number: int, count: int, path: str = "q") -> Talk:
    return Talk(hub, number, *(f.attach(f"r{n}", n, receives=path) for n in range(count)))


async def wake_waiting_links(hub: Hub) -> AsyncIterator[None]:
    """Each of 1,500 links waits for one message, and all messages come in one batch."""
    client = receivers(hub, 1, 1_500)
    sender = Talk(hub, 2, f.attach("s", 0, sends="q"))
    for number in range(1_500):
        client.connection.data_received(f.flow(1, number, OPEN_WINDOW))
    await rest(hub)
    yield
    sender.say(*parts(0, batch([MESSAGE] * 1_500)))
    while client.hears(MARK) < 1_500:
        await asyncio.sleep(0)


async def catch_up(hub: Hub) -> AsyncIterator[None]:
    """A slow client reads again, and all of its 1,000 links have credit."""
    await fill(hub, 4_000)
    client = receivers(hub, 2, 1_000)
    client.connection.pause_writing()
    for number in range(1_000):
        client.connection.data_received(f.flow(20_000, number, OPEN_WINDOW))
    await rest(hub)
    yield
    hub.loop.call_soon(client.connection.resume_writing)
    while client.hears(MARK) < 4_000:
        await asyncio.sleep(0)


async def open_a_window(hub: Hub) -> AsyncIterator[None]:
    """The window of a session opens, and all of its 600 links have messages that wait for it."""
    await fill(hub, 4_000)
    client = Talk(hub, 2, f.begin(1, window=0))
    for number in range(600):
        attached = f.attach(f"r{number}", number, receives="q", channel=1)
        client.connection.data_received(attached)
        client.connection.data_received(f.flow(20_000, number, 0, 1))
    await rest(hub)
    yield
    client.say(f.flow(20_000, 0, OPEN_WINDOW, 1))
    while client.hears(MARK) < 4_000:
        await asyncio.sleep(0)


async def disable(hub: Hub) -> AsyncIterator[None]:
    for number in range(2):
        receivers(hub, 1 + number, 2_000)
    await rest(hub)
    yield
    hub.loop.call_soon(hub.say_status, "q", "Disabled")
    await rest(hub)
    assert not any(connection.links for connection in hub.connections)


async def delete(hub: Hub) -> AsyncIterator[None]:
    for number in range(2):
        receivers(hub, 1 + number, 2_000)
    await rest(hub)
    yield
    hub.loop.call_soon(hub.forget, "q")
    await rest(hub)
    assert not any(connection.links for connection in hub.connections)


async def take_all_and_lose_the_locks(hub: Hub) -> AsyncIterator[None]:
    await fill(hub, 4_000)
    client = receivers(hub, 2, 1)
    client.say(f.flow(20_000, 0, OPEN_WINDOW))
    while client.hears(MARK) < 4_000:
        await asyncio.sleep(0)
    yield
    let_pass(hub, 100)
    while hub.bus.keep_time():
        await asyncio.sleep(0.01)


async def expire_together(hub: Hub) -> AsyncIterator[None]:
    mortal = Message(b"x", inferred=True)
    mortal.ttl = 10
    sender = Talk(hub, 1, f.attach("s", 0, sends="q"))
    sender.say(*parts(0, batch([bytes(mortal.encode())] * 4_500)))
    await sender.waits_for(ACCEPTED)
    await rest(hub)
    yield
    let_pass(hub, 100)
    sender.say(f.transfer(1, MESSAGE))
    await sender.waits_for(ACCEPTED, 2)
    while hub.bus.keep_time():
        await asyncio.sleep(0.01)
    assert len(hub.bus.find_entity("q").messages) == 1


OF_QUEUE: Final[tuple[Act, ...]] = (
    *(wake_waiting_links, catch_up, open_a_window, disable, delete),
    *(take_all_and_lose_the_locks, expire_together),
)


@pytest.mark.parametrize("act", OF_QUEUE, ids=lambda act: act.__name__)
def test_many_links_and_messages_take_turns(act: Act) -> None:
    check(TURN, lambda: longest(act, QUEUE))


def fan(topic: str, subscriptions: int, forward_to: str | None = None) -> Iterable[Created]:
    yield CreateTopic(topic=topic)
    for number in range(subscriptions):
        name = f"s{number}"
        yield CreateSubscription(topic=topic, subscription=name, forward_to=forward_to)


def chain(first: int, second: int) -> Iterable[Created]:
    """A queue that forwards to a topic, all of whose subscriptions forward to another."""
    yield from fan("t2", second)
    yield from fan("t", first, "t2")
    yield CreateQueue(queue="q", forward_to="t")


def count_messages(hub: Hub) -> int:
    return sum(len(entity.messages) for entity in hub.bus.namespace.entities.values())


@pytest.mark.parametrize(
    ("fans", "messages", "answer", "copies"),
    [
        ((50, 50), 1, ACCEPTED, 2_500),
        ((50, 50), 2, REJECTED, 0),
        ((10, 10), 35, ACCEPTED, 3_500),
        ((60, 60), 1, REJECTED, 0),
    ],
)
def test_copies_are_counted_along_what_forwards(
    fans: tuple[int, int], messages: int, answer: bytes, copies: int
) -> None:
    """A batch of 20 messages that went on through two topics took a second in one callback."""

    async def act(hub: Hub) -> AsyncIterator[None]:
        client = Talk(hub, 1, f.attach("s", 0, sends="q"))
        yield
        form = 0 if messages == 1 else BATCH_FORMAT
        body = MESSAGE if messages == 1 else batch([MESSAGE] * messages)
        client.say(f.transfer(0, body, form=form))
        await client.waits_for(answer)
        assert count_messages(hub) == copies

    check(TURN, lambda: longest(act, *chain(*fans)))


def test_copies_of_a_queue_that_forwards_dead_letters_are_counted() -> None:
    """Messages of a batch expire together, and their dead letters are forwarded in that step."""

    async def act(hub: Hub) -> AsyncIterator[None]:
        client = Talk(hub, 1, f.attach("s", 0, sends="q"))
        yield
        client.say(f.transfer(0, batch([MESSAGE] * 100), form=BATCH_FORMAT))
        await client.waits_for(REJECTED)

    queue = CreateQueue(queue="q", forward_dead_letters_to="t")
    check(TURN, lambda: longest(act, *fan("t", 40), queue))


def test_scheduled_messages_for_many_subscriptions_are_due_one_after_another() -> None:
    """Their clients name the same millisecond, or one that has passed."""
    later = Message(b"x", inferred=True)

    async def act(hub: Hub) -> AsyncIterator[None]:
        moment = hub.now_ms() + 50_000
        later.annotations = {symbol("x-opt-scheduled-enqueue-time"): timestamp(moment)}
        raw = bytes(later.encode())
        links = f.attach("s", 0, sends="t"), f.attach("m", 1, sends="t/$management")
        client = Talk(hub, 1, *links, f.attach("a", 2, receives="t/$management"))
        for number in range(30):
            client.connection.data_received(f.transfer(number, raw))
        await rest(hub)
        yield
        let_pass(hub, 100)
        while hub.bus.keep_time():
            await asyncio.sleep(0.01)
        asked = Message({"messages": [{"message": raw}] * 30}, id="1", reply_to="here")
        asked.properties = {"operation": "com.microsoft:schedule-message"}
        client.say(f.transfer(30, bytes(asked.encode()), 1))
        await rest(hub)
        time.sleep(0.01)
        while hub.bus.keep_time():
            await asyncio.sleep(0.01)
        assert count_messages(hub) == 60 * 500

    check(TURN, lambda: longest(act, *fan("t", 500)))


def test_transaction_makes_so_many_copies_or_none() -> None:
    declare, discharge = b"\x00\x53\x77\x00\x53\x31\x45", 0x32
    one = Message(b"x", inferred=True)
    one.annotations = {symbol("x-opt-partition-key"): "k"}
    keyed = bytes(one.encode())

    async def act(hub: Hub) -> AsyncIterator[None]:
        links = f.attach("s", 0, sends="t"), f.attach("c", 1, target=f.described(0x30, f.listed()))
        client = Talk(hub, 1, *links)
        client.connection.data_received(f.transfer(0, declare, 1))
        await rest(hub)
        name = next(iter(hub.owners)).encode("latin-1")
        state = f.described(0x34, f.listed(f.binary(name)))
        for number in range(1, 101):
            client.connection.data_received(f.transfer(number, keyed, state=state))
        await rest(hub)
        assert len(hub.bus.namespace.transactions[name.decode("latin-1")].sends) == 100
        yield
        asked = Message(body=Described(ulong(discharge), [name, False]))
        client.say(f.transfer(101, bytes(asked.encode()), 1))
        await client.waits_for(REJECTED)
        assert client.hears(b"20,000 copies would be made") == 1
        assert count_messages(hub) == 0

    check(TURN, lambda: longest(act, *fan("t", 200)))


def test_message_for_one_session_leaves_other_sessions_alone() -> None:
    """Receivers of 3,000 sessions wait; each was looked at whenever a message came."""
    named = f.symbol("com.microsoft:session-filter")

    async def act(hub: Hub) -> AsyncIterator[None]:
        client = Talk(hub, 1)
        for number in range(3_000):
            more = f.mapped(named, f.text(f"s{number}"))
            attached = f.attach(f"r{number}", number, receives="q", more=more)
            client.connection.data_received(attached)
            client.connection.data_received(f.flow(1, number, OPEN_WINDOW))
        await rest(hub)
        sender = Talk(hub, 2, f.attach("s", 0, sends="q"))
        one = bytes(Message(b"x", inferred=True, group_id="s7").encode())
        assert len(hub._waiting["q"]) == 3_000
        yield
        sender.say(f.transfer(0, one))
        while not client.hears(MARK):
            await asyncio.sleep(0)

    check(TURN / 10, lambda: longest(act, CreateQueue(queue="q", requires_session=True)))
