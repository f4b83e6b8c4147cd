"""What has gone leaves no name behind: entities, connections, links, sessions, transactions."""

import asyncio
import gc
from collections.abc import Callable
from functools import partial
from types import FunctionType, ModuleType
from typing import Any, Final

import pytest
from proton import Described, Message, symbol, timestamp, ulong

from busproof.broker.admin.endpoint import Administration
from busproof.broker.core import Hub
from busproof.broker.http_requests import Request
from busproof.broker.observability.decisions import Decisions
from busproof.model import indexes
from busproof.vocabulary.commands import CancelScheduled, CreateQueue

from . import raw
from .fuzz import fuzzing
from .fuzz.test_meant_http import entry, rule
from .inside import hub_of

GONE: Final = "gone"
"""Part of each name that a client gives here."""
DECLARE: Final = b"\x00\x53\x77\x00\x53\x31\x45"
DONE: Final = {
    *("Send", "Schedule", "Receive", "Complete", "AcceptNextSession", "CloseSession"),
    *("BeginTransaction", "CommitTransaction", "RollBackTransaction"),
}
"""What clients have done."""
POLICIES: Final = ("round-robin", "random", "hostile")
NOT_LOOKED_INTO: Final = (type, ModuleType, FunctionType, asyncio.AbstractEventLoop)


def names_in(*roots: object) -> set[str]:
    """All texts that can be reached from these objects and have the part."""
    found, seen, left = set[str](), set[int](), list(roots)
    while left:
        thing = left.pop()
        if id(thing) in seen or isinstance(thing, NOT_LOOKED_INTO):
            continue
        seen.add(id(thing))
        if isinstance(thing, str | bytes) and GONE in str(thing):
            found.add(str(thing))
        left.extend(gc.get_referents(thing))
    return found


class Visit:
    """A client that comes, does everything once under names of its own, and goes."""

    def __init__(self, hub: Hub, number: int) -> None:
        self._hub, self.name = hub, f"{GONE}{number}"
        self._administration = Administration(hub, lambda _: None)
        self._token = raw.token("http://h/", fuzzing.NAME, fuzzing.KEY)
        hub.era = f"{GONE}-"  # in the name of each connection and transaction
        self._client, session = fuzzing.in_session(hub, number)
        self.links = fuzzing.Links(session)

    def http(self, method: str, path: str, body: str = "") -> int:
        headers = {"authorization": self._token, "host": "h"}
        request = Request(method, f"/{path}", headers, body.encode(), "127.0.0.1")
        return self._administration.answer(request).status

    async def step(self, act: Callable[[], object]) -> None:
        """Act, and let the broker have some turns."""
        act()
        for _ in range(3):
            self._client.talk()
            await asyncio.sleep(0)

    async def administer(self) -> None:
        """Create entities, fail to create others."""
        name, topic = self.name, f"{self.name}-t"
        subscription = f"{topic}/subscriptions/{name}"
        parted = "<EnablePartitioning>true</EnablePartitioning>"
        assert self.http("PUT", name, entry("Queue", parted)) == 201
        assert self.http("PUT", topic, entry("Topic", parted)) == 201
        assert self.http("PUT", subscription, entry("Subscription", "")) == 201
        assert self.http("PUT", f"{subscription}/rules/r", rule("a = 1")) == 201
        if self._hub.bus.slack == 0:
            # Wrong timers remember what was asked for, also of a queue that could not be created.
            long = entry("Queue", "<LockDuration>P9D</LockDuration>")
            assert self.http("PUT", f"{name}-bad", long) == 400
        assert self.http("GET", f"{name}-unknown") == 200  # an empty feed, as by the service

    async def talk(self) -> None:
        """Send to, receive from, settle; in a session, in transactions, on unknown entities."""
        await self._send_and_receive()
        for failed in (False, True):
            await self.step(lambda: self.links.send("txn", DECLARE))
            for name in list(self._hub.bus.namespace.transactions):
                body = Described(ulong(0x32), [name.encode("latin-1"), failed])
                ended: Any = Message(body=body)
                await self.step(partial(self.links.send, "txn", bytes(ended.encode())))
        await self.step(lambda: self.links.receiver("in", f"{self.name}-unknown"))

    async def _send_and_receive(self) -> None:
        name, links = self.name, self.links
        message = Message(b"x", inferred=True, id=name, group_id=name)
        message.annotations = {symbol("x-opt-partition-key"): name}
        later = Message(b"x", inferred=True, id=name)
        later.annotations = {symbol("x-opt-scheduled-enqueue-time"): timestamp(4 * 10**12)}
        for path in (name, "q", "s", f"{name}-t"):
            await self.step(partial(links.sender, f"{name} to {path}", path))
            for sent in (message, later):
                await self.step(partial(links.send, f"{name} to {path}", bytes(sent.encode())))
        for path in (name, "q", f"{name}-t/subscriptions/{name}"):
            await self.step(partial(links.receiver, f"{name} of {path}", path))
            await self.step(partial(links.settle, f"{name} of {path}"))
        await self.step(lambda: links.receiver("of session", "s", next_session=True))
        await self.step(lambda: links.settle("of session"))
        await self.step(lambda: links.sender("ask", "q/$management"))
        await self.step(lambda: links.receiver("told", "q/$management"))
        state = {"session-id": name, "session-state": None}
        await self.step(lambda: links.ask("ask", "com.microsoft:set-session-state", state))
        await self.step(lambda: links.sender("txn", None))

    async def leave(self) -> None:
        """Delete the entities, and go; what is locked is released and deleted."""
        self._client.endpoint.close()
        await self.step(lambda: None)
        self._client.connection.connection_lost(None)
        assert self.http("DELETE", self.name) == 200
        assert self.http("DELETE", f"{self.name}-t") == 200


def empty(hub: Hub) -> None:
    """Receive and delete what the clients have left in the entities that stay."""
    hub.bus.advance(1_000_000_000)
    for path in ("q", "s"):
        entity = hub.bus.find_entity(path)
        hub.bus.delete(list(entity.messages.values()))
        for number in list(entity.scheduled):
            hub.bus.ask(CancelScheduled(queue=path, sequence_number=number), "c")
    # The latest decisions are kept, for clients that ask for them.
    hub.bus.decisions = Decisions()


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_no_name_stays_of_what_has_gone(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever can be reached from the broker; indexes keep nothing for a while."""
    monkeypatch.setattr(indexes, "TIDY_FROM", 0)

    async def visit() -> set[str]:
        queues = (
            CreateQueue(queue="q", partitioned=True),
            CreateQueue(queue="s", requires_session=True, partitioned=False),
        )
        hub = hub_of(*queues, policy=policy, clock="virtual")
        for number in range(5):
            visitor = Visit(hub, number)
            await visitor.administer()
            await visitor.talk()
            await visitor.leave()
            empty(hub)
        hub.era = ""
        assert {each.command for each in hub.bus.traffic.asked} >= DONE
        # The next step tidies, as it would after as many timers again.
        hub.bus.namespace.timers.most = 0
        hub.bus.ask(CreateQueue(queue="last"), "c")
        found = names_in(hub)
        hub.close()
        return found

    assert asyncio.run(visit()) == set()
