"""What all connections share: the bus, what is kept of messages, and who waits for some."""

import asyncio
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from busproof.broker.bus import Bus
from busproof.broker.journal import Journal, Silent
from busproof.broker.limits import ALL_DEFAULT, Limits
from busproof.broker.messages import Content, Parsed, parse
from busproof.broker.packing import unpacked
from busproof.broker.refusals import too_large
from busproof.broker.remaking import remade
from busproof.broker.staging import Stage
from busproof.broker.statuses import Statuses
from busproof.broker.tokens import Key, Keys
from busproof.errors import UsageError
from busproof.filters.actions import RULE_NAME
from busproof.oracle.calendar import top
from busproof.oracle.heap import smallest
from busproof.oracle.state import Namespace, Queue, feeding
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.paths import is_dead_letter_queue, owner_of
from busproof.vocabulary.values import Tier

if TYPE_CHECKING:
    from busproof.broker.engine import Connection
    from busproof.broker.saving import Saver

__all__ = ["Contents", "Hub", "Waiter"]

TICK: Final = 0.05
"""How often it is looked whether something has become due that somebody waits for, in seconds."""

LARGEST: Final = 262_144
LARGEST_OF_PREMIUM: Final = 1_048_576
"""The largest message that is taken, and the largest batch of messages, in bytes."""
LARGEST_STOOD_FOR: Final = 100_000_000
"""How many bytes a message may stand for: the largest that any tier takes."""

SWEPT_FROM: Final = 1_000
NOTHING: Final[Mapping[str, bytes]] = {}


class Waiter(Protocol):
    """A link that waits for a message or a session."""

    @property
    def place(self) -> tuple[str, str | None]:
        """The path, and the session, of what it waits for."""

    def serve(self) -> bool:
        """Take what there is now; returns whether it goes on waiting."""


class Contents:
    """What is kept of messages, by the names under which the model knows them.

    What no message of the namespace has any more is thrown away, now and then: each time that
    twice as much is kept as the last time was needed.
    """

    def __init__(self, era: str = "") -> None:
        self._era = era
        self._kept: dict[str, Content | bytes] = {}
        self._more: dict[tuple[str, str], dict[str, bytes]] = {}
        self._named = 0
        self._sweep_at = SWEPT_FROM

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, name: str) -> Content:
        kept = self._kept[name]
        if isinstance(kept, bytes):
            kept = self._kept[name] = unpacked(kept)
        return kept

    def get(self, name: str) -> Content | None:
        """What is kept under this name, if there is anything."""
        return self[name] if name in self._kept else None

    def new_name(self) -> str:
        """A name that no message has had."""
        self._named += 1
        return f"m{self._era}{self._named}"

    def restore(
        self,
        era: str,
        kept: dict[str, bytes],
        more: dict[tuple[str, str], dict[str, bytes]],
    ) -> None:
        """Keep what a store has, as packed there; new names are those of an era of their own."""
        self._era, self._kept, self._more = era, dict(kept), more
        self._sweep_at = max(SWEPT_FROM, 2 * len(kept))

    def keep(self, name: str, content: Content) -> None:
        """Keep what the model is not told of a message."""
        self._kept[name] = content

    def add(self, path: str, name: str, more: Mapping[str, bytes]) -> None:
        """Keep properties that a message of an entity was given by who settled it."""
        self._more[path, name] = {**self.more(path, name), **more}

    def more(self, path: str, name: str) -> Mapping[str, bytes]:
        """The properties that it was given; what is dead has those that it had in life."""
        if not self._more:
            return NOTHING
        given = self._more.get((path, name), NOTHING)
        if not is_dead_letter_queue(path):
            return given
        return {**self._more.get((owner_of(path), name), NOTHING), **given}

    def sweep(self, namespace: Namespace) -> None:
        """Throw away what nobody can be given any more, if it is time."""
        if len(self._kept) < self._sweep_at:
            return
        used = set(_names(namespace))
        self._kept = {name: kept for name, kept in self._kept.items() if name in used}
        self._more = {at: more for at, more in self._more.items() if at[1] in used}
        self._sweep_at = max(SWEPT_FROM, 2 * len(self._kept))


def _names(namespace: Namespace) -> Iterator[str]:
    for queue in namespace.queues.values():
        yield from (stored.message.body for stored in queue.messages.values())
        yield from (waiting.message.body for waiting in queue.calendar.entries.values())
        for passed in queue.passed.values():
            yield from (each.arrival.message.body for each in passed)
    for transaction in namespace.transactions.values():
        rest: Any = None if transaction is None else transaction.staged
        while rest is not None:
            yield rest[0].message.body
            rest = rest[1]


class Hub:
    """The broker's inside; everything in it runs in one thread.

    Args:
        bus: what decides.
        keys: who may do what.
        limits: how much each client may have.
    """

    def __init__(self, bus: Bus, keys: Keys, limits: Limits = ALL_DEFAULT) -> None:
        self.bus = bus
        self.limits = limits
        self.stage = Stage(bus)
        self.keys = keys
        self.max_message = limits.message or _largest(bus)
        self.contents = Contents()
        self.configured: Callable[[], Bus] = lambda: bus.anew(bus.namespace.profile)
        """Makes the namespace anew with which the broker began."""
        self.renew: Callable[[], None] = _nothing_to_renew
        """Reads the keys and certificates again, where they were read from."""
        self.warn: Callable[[str], None] = _be_silent
        """Is told what whoever runs the broker should know."""
        self.journal: Journal = Silent()
        """Is told what happens."""
        self.opened = 0
        """How many connections there ever were."""
        self.identifies = True
        """Whether what was sent without a MessageId goes out with one."""
        self.connections: set[Connection] = set()
        self.statuses = Statuses()
        self.saver: Saver | None = None
        """Writes all that is decided to a store, if there is one."""
        self.era = ""
        """What tells names of this run of a store from those of earlier ones."""
        self.stated: dict[tuple[str, str], int] = {}
        """Path and session id to when its state was last set, in milliseconds since 1970."""
        self.loop = asyncio.get_running_loop()
        self._waiting: dict[tuple[str, str | None], deque[Waiter]] = {}
        self._seen: dict[str, Queue | None] = {}
        self._called = False
        self._timer = self.loop.call_later(TICK, self._tick)

    def close(self) -> None:
        """Look for nothing any more."""
        self._timer.cancel()

    def begin(self, bus: Bus) -> None:
        """Serve another namespace, empty; all clients of this one are let go."""
        for connection in list(self.connections):
            connection.drop()
        self.bus = bus
        self.stage = Stage(bus)
        self.max_message = self.limits.message or _largest(bus)
        self.contents = Contents(self.era)
        self.statuses = Statuses()
        self.stated.clear()
        self._waiting.clear()
        self._seen.clear()
        if self.saver is not None:
            self.saver.begin(bus)

    def renew_keys(self, rules: Iterable[Key]) -> None:
        """Have other keys; what needs a claim that was proved by one that is gone ends."""
        renewed = tuple(rules)
        self.keys.renew(renewed)
        self.journal.info("keys-renewed", rules=[each.name for each in renewed])
        for connection in list(self.connections):
            connection.renew_claims()

    def complain(self, who: str, error: Exception) -> None:
        """Say where we failed on what a client sent; nothing of what it sent is told."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        self.warn(f"{who} is ended, because of {type(error).__name__} at {place}")

    def parsed(self, raw: bytes) -> Parsed:
        """A message that came in, under a name of its own.

        Raises:
            ValueError: these bytes are no AMQP message.
            Refusal: it stands for more bytes than any message has.
        """
        name, now = self.contents.new_name(), self.now_ms()
        parsed = parse(raw, name, now, identified=self.identifies)
        message = parsed.message
        if message.stands_in and (message.size or 0) > LARGEST_STOOD_FOR:
            raise too_large(message.size or 0, LARGEST_STOOD_FOR)
        return parsed

    def shown(self, view: MessageView) -> Content:
        """What goes out of a message: what was kept, or what a bus says of it that may be wrong.

        What a rule's action has changed is not as it was kept either.
        """
        if self.bus.is_model and RULE_NAME not in view.properties:
            return self.contents[view.body]
        return remade(view, self.contents.get(view.body))

    def wait(self, waiter: Waiter) -> None:
        """Let a link be served when there is something for it."""
        line = self._waiting.setdefault(waiter.place, deque())
        if waiter not in line:
            line.append(waiter)
        self._seen.setdefault(waiter.place[0], self.bus.namespace.queues.get(waiter.place[0]))

    def leave(self, waiter: Waiter) -> None:
        """Forget a link that waits no more."""
        line = self._waiting.get(waiter.place)
        if line is not None and waiter in line:
            line.remove(waiter)
            if not line:
                del self._waiting[waiter.place]

    def changed(self) -> None:
        """Something happened; whoever waits is served before long."""
        if self.bus.is_model:
            self.contents.sweep(self.bus.namespace)
        self.note()
        if not self._called and self._waiting:
            self._called = True
            self.loop.call_soon(self._serve)

    def say_status(self, path: str, status: str) -> None:
        """Disable an entity or enable it; links that give what is disabled end."""
        self.statuses.say(path, status)
        for connection in list(self.connections):
            connection.review_links()

    def now_ms(self) -> int:
        """The time as clients are told it."""
        return self.bus.epoch_ms(self.bus.now)

    def _serve(self) -> None:
        self._called = False
        for place in list(self._waiting):
            queue = self.bus.namespace.queues.get(place[0])
            if self._seen.get(place[0]) is not queue or queue is None:
                self._serve_place(place)
        for path in {path for path, _ in self._waiting}:
            self._seen[path] = self.bus.namespace.queues.get(path)

    def _serve_place(self, place: tuple[str, str | None]) -> None:
        """Serve those who wait here in turn, until there is nothing left for the next."""
        for _ in range(len(self._waiting.get(place, ()))):
            line = self._waiting.get(place)
            if not line:
                break
            waiter = line.popleft()
            if waiter.serve():
                # By its name, and once: what came meanwhile may have put it into a line again.
                self.wait(waiter)
                break
        if not self._waiting.get(place):
            self._waiting.pop(place, None)

    def _tick(self) -> None:
        self._timer = self.loop.call_later(TICK, self._tick)
        if not self._waiting:
            return
        now = self.bus.now
        queues = self.bus.namespace.queues
        if not self.bus.is_model:
            for place in list(self._waiting):
                self._serve_place(place)
            return
        later = any(
            (first := top(queue.calendar)) is not None and first.due.latest < now
            for queue in queues.values()
        )
        for place in list(self._waiting):
            path = place[0]
            queue = queues.get(path)
            mortal = is_dead_letter_queue(path) and _may_bury(queues.get(owner_of(path)), now)
            mortal = mortal or any(feeding(self.bus.namespace, path))
            if later or mortal or queue is None or _has_expired(queue, place, now):
                self._serve_place(place)

    def note(self) -> None:
        """A command is decided: whatever comes next is another."""
        if self.saver is not None:
            self.saver.note()

    def tell(self, telling: Callable[[], object]) -> None:
        """Do this, which tells a client something, once all that was decided is kept for good."""
        if self.saver is None:
            telling()
        else:
            self.saver.tell(telling)

    async def saved(self) -> None:
        """Wait until all that was decided is kept for good."""
        if self.saver is not None:
            await self.saver.saved()

    def check_room(self) -> None:
        """Insist that there is room for more messages.

        Raises:
            Refusal: the disk of the store is full.
        """
        if self.saver is not None:
            self.saver.check_room()

    def wall(self) -> float:
        """Seconds since 1970, by which tokens expire."""
        return time.time()


def _be_silent(_: str) -> None:
    """Nobody is told."""


def _nothing_to_renew() -> None:
    raise UsageError("no keys were read from anywhere; start busproof serve with --keys")


def _largest(bus: Bus) -> int:
    """The largest message that is taken, in bytes."""
    return LARGEST_OF_PREMIUM if bus.namespace.profile.tier is Tier.PREMIUM else LARGEST


def _has_expired(queue: Queue, place: tuple[str, str | None], now: int) -> bool:
    """Whether a lock has ended of a message here, or of the session that is waited in."""
    session = queue.sessions.get(place[1] or "")
    ended = session is not None and session.expiry.latest < now
    return ended or (queue.timers is not None and queue.timers[1][0] < now)


def _may_bury(owner: Queue | None, now: int) -> bool:
    """Whether something that has outlived its time to live may become a dead letter of this."""
    if owner is None or not owner.settings.dead_letter_expired:
        return False
    deaths = owner.deaths
    first = smallest(deaths.ahead), smallest(deaths.due)
    return deaths.left is not None or any(each is not None and each[0] < now for each in first)
