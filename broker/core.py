"""State shared by all connections: the bus, the contents of messages and the waiting links."""

import asyncio
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from busproof import vocabulary as v
from busproof.broker.amqp.messages import Content, Parsed, parse
from busproof.broker.amqp.overlays import changed, remade
from busproof.broker.amqp.refusals import too_large
from busproof.broker.auth.tokens import Key, Keys
from busproof.broker.bus import Bus
from busproof.broker.client_descriptions import Descriptions
from busproof.broker.due_timers import SLICE, Spread
from busproof.broker.entity_status import Statuses
from busproof.broker.held import Budget
from busproof.broker.limits import ALL_DEFAULT, Limits
from busproof.broker.observability.event_log import Journal, Silent
from busproof.broker.observability.message_counts import Tallies, records_of
from busproof.broker.payloads import Contents
from busproof.broker.roles import Client, Saving, Waiter
from busproof.broker.transactional_settlement import Stage
from busproof.errors import UsageError
from busproof.filters.actions import RULE_NAME
from busproof.model.journal import Change, Record
from busproof.model.management import parts
from busproof.model.state import Entity

__all__ = ["Hub"]

TICK: Final = 0.05
"""Interval between checks whether waiting links can be served, in seconds."""

LARGEST: Final = 262_144
LARGEST_OF_PREMIUM: Final = 1_048_576
"""Maximum size of a message or a batch, in bytes."""
LARGEST_STOOD_FOR: Final = 100_000_000
"""Maximum size that a message may stand for, in bytes: the largest in any tier."""

SAYS_AGAIN: Final = 10.0
"""Interval between repetitions of a warning, in seconds."""


class Hub:
    """The broker's core; it runs in a single thread.

    Args:
        bus: decides requests.
        keys: the namespace's keys and their rights.
        limits: limits on each client.
    """

    def __init__(self, bus: Bus, keys: Keys, limits: Limits = ALL_DEFAULT) -> None:
        self.bus = bus
        self.limits = limits
        self.budget = Budget(limits.held, limits.held_by_all)
        self.stage = Stage(bus)
        self.keys = keys
        self.max_message = limits.message or _largest(bus)
        self.contents = Contents(lasting=not bus.is_trusted)
        self.tallies = self._listening()
        self.configured: Callable[[], Bus] = lambda: bus.anew(bus.namespace.profile)
        """Creates the namespace that the broker started with."""
        self.renew: Callable[[], None] = _nothing_to_renew
        """Reads keys and certificates again from their sources."""
        self.warn: Callable[[str], None] = _be_silent
        """Reports what the operator should know."""
        self.journal: Journal = Silent()
        """Logs events."""
        self.opened = 0
        """Number of connections since the start."""
        self.identifies = True
        """Whether a message without a MessageId is given one before the bus decides (KEY-13)."""
        self.connections: set[Client] = set()
        self.owners: dict[str, Client] = {}
        """The client that began each open transaction."""
        self.statuses = Statuses()
        self.descriptions = Descriptions()
        """What administration clients wrote about entities."""
        self.saver: Saving | None = None
        """Writes decisions to a store, if there is one."""
        self.era = ""
        """Prefix of the names in this run of a store."""
        self.stated: dict[tuple[str, str], int] = {}
        """Path and session id to when the session's state was set, in milliseconds since 1970."""
        self.loop = asyncio.get_running_loop()
        self._waiting: dict[str, dict[str | None, OrderedDict[Waiter, None]]] = {}
        """Path and session id, if any, to the waiting links in order."""
        # Only links that wait there are served: a look at all of them costs more, the more wait.
        self._stirred: set[str] = set()
        """Paths of entities that changed since waiting links were last served."""
        self.spread = Spread()
        self._called = False
        self._says_next = 0.0
        self._timer = self.loop.call_later(TICK, self._tick)

    def close(self) -> None:
        """Stop the timer."""
        self._timer.cancel()

    def begin(self, bus: Bus) -> None:
        """Serve another, empty namespace; all clients are disconnected."""
        for connection in list(self.connections):
            connection.drop()
        self.bus = bus
        self.stage = Stage(bus)
        self.max_message = self.limits.message or _largest(bus)
        self.contents = Contents(self.era, lasting=not bus.is_trusted)
        self.tallies = self._listening()
        self.statuses = Statuses()
        self.descriptions.clear()
        self.stated.clear()
        self._waiting.clear()
        self._stirred.clear()
        if self.saver is not None:
            self.saver.begin(bus)

    def renew_keys(self, rules: Iterable[Key]) -> None:
        """Replace the keys; links whose claims rest on removed keys are ended."""
        renewed = tuple(rules)
        self.keys.renew(renewed)
        self.journal.info("keys-renewed", rules=[rule.name for rule in renewed])
        for connection in list(self.connections):
            connection.renew_claims()

    def complain(self, who: str, error: Exception) -> None:
        """Report an error in handling a client's data, without any of the data."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        # No message of the error: it may quote what the client sent, tokens among it.
        place = f"{Path(last.filename).name}:{last.lineno}"
        self.warn(f"{who} is ended, because of {type(error).__name__} at {place}")

    def refuse_for_files(self) -> None:
        """Report, at intervals, that connections are refused because too many files are open."""
        now = time.monotonic()
        if now >= self._says_next:
            # asyncio would try again many times a second, and each refusal would be a line.
            self._says_next = now + SAYS_AGAIN
            self.warn("connections are refused: the process has as many files open as it may have")

    def parsed(self, raw: bytes, *, checked: bool = False) -> Parsed:
        """Parse a received message, under a new name; its values may have been checked.

        Raises:
            ValueError: the bytes are not an AMQP message.
            Refusal: it stands for more bytes than a message can have.
        """
        name, now = self.contents.new_name(), self.now_ms()
        parsed = parse(raw, name, now, identified=self.identifies, checked=checked)
        message = parsed.message
        # The model's limit of a message does not hold for one that stands for several.
        if message.stands_in and (message.size or 0) > LARGEST_STOOD_FOR:
            raise too_large(message.size or 0, LARGEST_STOOD_FOR)
        return parsed

    def shown(self, view: v.MessageView) -> Content:
        """Return the content to deliver: as it was sent, or as an untrusted bus presents it.

        The content also differs if a rule's action has changed the message.
        """
        kept = self.contents.get(view.body)
        if kept is not None and self.bus.is_trusted:
            return changed(view, kept) if RULE_NAME in view.properties else kept
        return remade(view, kept)

    def wait(self, waiter: Waiter) -> None:
        """Serve a link when there is something for it."""
        path, session_id = waiter.place
        lines = self._waiting.setdefault(path, {})
        # A link that waits already keeps its place.
        lines.setdefault(session_id, OrderedDict()).setdefault(waiter)

    def leave(self, waiter: Waiter) -> None:
        """Remove a link that no longer waits."""
        self._line(waiter.place).pop(waiter, None)
        self._tidy(waiter.place)

    def _line(self, place: tuple[str, str | None]) -> OrderedDict[Waiter, None]:
        path, session_id = place
        return self._waiting.get(path, {}).get(session_id, OrderedDict())

    def _tidy(self, place: tuple[str, str | None]) -> None:
        """Remove an empty line."""
        path, session_id = place
        if not self._line(place) and path in self._waiting:
            self._waiting[path].pop(session_id, None)
            if not self._waiting[path]:
                del self._waiting[path]

    def changed(self) -> None:
        """Schedule serving the waiting links after a change."""
        self.note()
        if not self._called and self._waiting and (self._stirred or not self.bus.is_trusted):
            self._called = True
            # After the requests of this turn, and once for all of them.
            self.loop.call_soon(self._serve)

    def count_in(self, transaction: str, size: int) -> None:
        """Count bytes that are kept until a transaction ends, for the client that began it."""
        owner = self.owners.get(transaction)
        # A transaction may be named that nobody has begun; the bus refuses it then.
        if owner is not None:
            owner.stage(transaction, size)

    def say_status(self, path: str, status: str) -> None:
        """Set the status of an entity; if that disables receiving, its receivers are ended."""
        self.statuses.say(path, status)
        for connection in list(self.connections):
            connection.review_links()

    def forget(self, path: str) -> None:
        """End the receivers of a deleted entity."""
        self.statuses.forget(path)
        for place in [known for known in self.stated if f"{known[0]}/".startswith(f"{path}/")]:
            del self.stated[place]
        self.descriptions.forget(path)
        for connection in list(self.connections) if self.bus.is_trusted else ():
            connection.end_receivers(path)

    def now_ms(self) -> int:
        """Return the bus's time in milliseconds since 1970, the unit that clients use."""
        return self.bus.epoch_ms(self.bus.now)

    def _listening(self) -> Tallies:
        """Listen to the bus's changes from now on."""
        self.bus.listeners.append(self._hear)
        return Tallies(self.bus.namespace)

    def _hear(self, changes: Sequence[Change]) -> None:
        self.tallies.hear(changes)
        if self._waiting:
            for record in records_of(changes):
                self._stirred.update(_paths_of(record))

    def _serve(self) -> None:
        self._called = False
        stirred, self._stirred = self._stirred, set()
        waiting = self._waiting.keys()
        # What is given out together is given at one time, so that no timer runs in between.
        with self.bus.one_moment():
            for path in sorted(stirred & waiting) if self.bus.is_trusted else list(waiting):
                for session_id in list(self._waiting.get(path, ())):
                    self._serve_place((path, session_id))

    def _serve_place(self, place: tuple[str, str | None]) -> None:
        """Serve the links of a line in turn, until there is nothing for the next."""
        # Each of the links is served at most once, even if it is added again meanwhile.
        for _ in range(len(self._line(place))):
            line = self._line(place)
            if not line:
                break
            waiter, _ = line.popitem(last=False)
            if waiter.serve():
                # Add it with `wait`, which adds it only once: it may be in a line again by now.
                self.wait(waiter)
                break
        self._tidy(place)

    def _tick(self) -> None:
        """Advance the clock for the waiting links, since something may be due."""
        self._timer = self.loop.call_later(TICK, self._tick)
        # Every request runs due timers; only links that wait have nobody else to do it.
        if not self._waiting:
            return
        self._keep_time()
        if self._stirred or not self.bus.is_trusted:
            self.changed()

    def _keep_time(self) -> None:
        """Run due timers, some at a time."""
        if self.bus.keep_time() and not self._timer.cancelled():
            # After a break as long as a slice, in which others have turns.
            self.loop.call_later(SLICE, self._keep_time)

    def note(self) -> None:
        """Record that a command was decided."""
        if self.saver is not None:
            self.saver.note()

    def tell(self, telling: Callable[[], object]) -> None:
        """Run a callback that answers a client once all decisions are durable."""
        if self.saver is None:
            telling()
        else:
            self.saver.tell(telling)

    async def saved(self) -> None:
        """Wait until all decisions are durable."""
        if self.saver is not None:
            await self.saver.saved()

    def check_room(self) -> None:
        """Check that there is room for more messages.

        Raises:
            Refusal: the disk of the store is full.
        """
        if self.saver is not None:
            self.saver.check_room()

    def wall(self) -> float:
        """Return the wall-clock time for the expiry of tokens, in seconds since 1970."""
        return time.time()


def _be_silent(_: str) -> None:
    """Discard a warning."""


def _nothing_to_renew() -> None:
    raise UsageError("no keys were read from anywhere; start busproof serve with --keys")


def _largest(bus: Bus) -> int:
    """Return the maximum size of a message, in bytes."""
    return LARGEST_OF_PREMIUM if bus.namespace.profile.tier is v.Tier.PREMIUM else LARGEST


def _paths_of(record: Record) -> Iterable[str]:
    """Return the entities that a change concerns: in an outage, all that share the partitions."""
    if isinstance(record, Entity):
        return [part.path for part in parts(record)]
    entity: Entity | None = getattr(record, "entity", None)
    return () if entity is None else (entity.path,)
