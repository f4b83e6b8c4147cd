"""However much a client asks for, and however many do, others have turns meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Final

import pytest
from proton import Message
from work import PATIENCE, TURN, check, measure_passes, watch_loop

from busproof.broker.admin.access import Control
from busproof.broker.admin.endpoint import Administration
from busproof.broker.auth.tokens import AccessPolicies
from busproof.broker.configuration.emulator import Configuration, Created
from busproof.broker.core import Hub
from busproof.broker.http_requests import Request
from busproof.broker.server import bus_for
from busproof.vocabulary.commands import CreateQueue, CreateSubscription, CreateTopic

from . import raw
from .fuzz import frames as f
from .fuzz import fuzzing
from .inside import hub_of, make_configuration
from .test_slices import BATCH_FORMAT, batch

pytestmark = pytest.mark.slow

MESSAGE: Final = bytes(Message(b"x", inferred=True).encode())
OPEN_WINDOW: Final = 2**31 - 1
ACCEPTED, REJECTED = bytes((0, 0x53, 0x24)), bytes((0, 0x53, 0x25))


class Talk:
    """A client without a socket."""

    def __init__(self, hub: Hub, number: int, *links: bytes) -> None:
        self._hub = hub
        self.connection, self._wire = f.speaking(hub, number, *links, window=OPEN_WINDOW)

    def say(self, *said: bytes) -> None:
        """Have it arrive, in one iteration."""
        for one in said:
            self._hub.loop.call_soon(self.connection.data_received, one)

    def hears(self, what: bytes) -> int:
        """How often these bytes came."""
        return self._wire.said.count(what)

    async def waits_for(self, what: bytes, times: int = 1) -> None:
        while self.hears(what) < times:
            await asyncio.sleep(0)


def longest(act: Callable[[Hub], AsyncIterator[None]], *created: Created) -> float:
    """The passes of the longest iteration, from when the act has prepared what it does."""

    async def run() -> float:
        hub = hub_of(*created)
        steps = act(hub)
        await anext(steps)
        # What prepares it is an iteration of its own.
        await asyncio.sleep(0)
        watch.forget()
        async for _ in steps:
            pass
        # What ends the test's own broker, nobody waits for.
        found = watch.iteration
        hub.close()
        return found

    with watch_loop() as watch:
        return asyncio.run(asyncio.wait_for(run(), PATIENCE))


QUEUE: Final = CreateQueue(queue="q")
MARK: Final = b"\x00\x53\x75\xa0\x01x"


async def fill(hub: Hub, messages: int) -> None:
    client = Talk(hub, 1, f.attach("s", 0, sends="q"))
    for number in range(messages):
        client.connection.data_received(f.transfer(number, MESSAGE))
        if number % 50 == 0:
            await asyncio.sleep(0)


@pytest.mark.parametrize(("clients", "links"), [(1, 1), (1, 20), (4, 1)])
def test_great_credit_is_used_in_turns(clients: int, links: int) -> None:
    """Of one link, of many links of a client, and of those of several clients."""

    async def act(hub: Hub) -> AsyncIterator[None]:
        await fill(hub, 4_000)
        received = [
            Talk(hub, 2 + client, *(f.attach(f"r{n}", n, receives="q") for n in range(links)))
            for client in range(clients)
        ]
        yield
        for client in received:
            client.say(*(f.flow(20_000, n, OPEN_WINDOW) for n in range(links)))
        while sum(client.hears(MARK) for client in received) < 4_000:
            await asyncio.sleep(0)

    check(TURN, lambda: longest(act, QUEUE))


def test_work_of_many_clients_shares_one_turn() -> None:
    """Eight of them send as much as there is room for, at the same moment."""

    async def act(hub: Hub) -> AsyncIterator[None]:
        clients = [Talk(hub, number, f.attach("s", 0, sends="q")) for number in range(8)]
        yield
        for client in clients:
            client.say(b"".join(f.transfer(number, MESSAGE) for number in range(1_000)))
        for client in clients:
            await client.waits_for(ACCEPTED, 10)
        while hub.rota._waiting:
            await asyncio.sleep(0)

    check(TURN, lambda: longest(act, QUEUE))


def subscribed(count: int) -> Iterable[Created]:
    yield CreateTopic(topic="t")
    for number in range(count):
        yield CreateSubscription(topic="t", subscription=f"s{number}")


def test_messages_for_many_subscriptions_are_decided_in_turns() -> None:
    async def act(hub: Hub) -> AsyncIterator[None]:
        client = Talk(hub, 1, f.attach("s", 0, sends="t"))
        yield
        client.say(b"".join(f.transfer(number, MESSAGE) for number in range(30)))
        while hub.rota._waiting or not client.hears(ACCEPTED):
            await asyncio.sleep(0)

    check(TURN, lambda: longest(act, *subscribed(1_000)))


@pytest.mark.parametrize(("messages", "answer"), [(17, ACCEPTED), (1_000, REJECTED)])
def test_batch_makes_so_many_copies_at_once_or_none(messages: int, answer: bytes) -> None:
    """It is decided as one, so it is refused if that takes longer than a turn."""

    async def act(hub: Hub) -> AsyncIterator[None]:
        client = Talk(hub, 1, f.attach("s", 0, sends="t"))
        yield
        client.say(f.transfer(0, batch([MESSAGE] * messages), form=BATCH_FORMAT))
        await client.waits_for(answer)

    check(TURN, lambda: longest(act, *subscribed(200)))


LINKS: Final = tuple(f.attach(f"l{number}", number, receives="q") for number in range(3_000))
ENDS: Final = {
    "a connection of many links": (LINKS, f.frame(f.CLOSE)),
    "empty frames": ((), b"\0\0\0\x08\x02\0\0\0" * 32_000),
    "flows": (LINKS[:1], f.flow(1) * 6_000),
}


@pytest.mark.parametrize("kind", ENDS)
def test_flood_of_frames_and_end_of_many_links_take_turns(kind: str) -> None:
    links, said = ENDS[kind]

    async def act(hub: Hub) -> AsyncIterator[None]:
        client = Talk(hub, 1, *links)
        yield
        client.say(said)
        for _ in range(60):
            await asyncio.sleep(0)

    check(TURN, lambda: longest(act, QUEUE))


def test_loss_of_a_connection_of_many_links_takes_a_turn() -> None:
    async def act(hub: Hub) -> AsyncIterator[None]:
        client = Talk(hub, 1, *LINKS)
        yield
        hub.loop.call_soon(client.connection.connection_lost, None)
        await asyncio.sleep(0.1)

    check(TURN, lambda: longest(act, QUEUE))


@pytest.fixture(scope="module")
def crowded() -> Configuration:
    """As many queues as a namespace has room for, or nearly."""
    names = (f"q{number:04}" for number in range(4_900))
    return make_configuration(*(CreateQueue(queue=name, partitioned=False) for name in names))


@pytest.mark.parametrize(
    "path",
    [
        "/$Resources/queues?$skip=0&$top=5000",
        "/$Resources/queues?$skip=4000&$top=100",
        "/busproof/overview",
        "/busproof/state",
        "/metrics",
    ],
)
def test_lists_are_answered_within_a_turn(crowded: Configuration, path: str) -> None:
    async def run() -> None:
        hub, everybody = Hub(bus_for(crowded), AccessPolicies(crowded.keys)), Control(is_on=True)
        administration = Administration(hub, print, everybody, everybody)
        token = raw.token("http://localhost/", fuzzing.NAME, fuzzing.KEY)
        headers = {"authorization": token, "host": "localhost"}
        asked = Request("GET", path, headers, b"", "127.0.0.1")
        assert administration.answer(asked).status == 200
        check(TURN, lambda: measure_passes(lambda: administration.answer(asked)))
        hub.close()

    asyncio.run(run())
