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
from busproof.broker.amqp.overlays import overlay_action, remade
from busproof.broker.amqp.refusals import (
    too_large,
    too_many_copies,
    too_much_added_by_all,
)
from busproof.broker.amqp.turns import Rota
from busproof.broker.auth.tokens import AccessPolicies, AccessPolicy
from busproof.broker.bus import Bus
from busproof.broker.client_descriptions import Descriptions
from busproof.broker.copies import Copies
from busproof.broker.disturbances import Disturbances
from busproof.broker.due_timers import SLICE, Spread
from busproof.broker.entity_status import Statuses
from busproof.broker.freed_memory import FreedMemory
from busproof.broker.held import Budget
from busproof.broker.limits import ALL_DEFAULT, Limits
from busproof.broker.observability.event_log import Journal, Silent
from busproof.broker.observability.message_counts import Tallies, records_of
from busproof.broker.payloads import Contents
from busproof.broker.roles import ConnectedClient, Saving, Waiter
from busproof.broker.stirred import Place, Stirred
from busproof.broker.transactional_settlement import Stage
from busproof.errors import UsageError
from busproof.filters.actions import RULE_NAME
from busproof.model.journal import Change

__all__ = ["Hub"]

TICK: Final = 0.05
"""Interval between checks whether waiting links can be served, in seconds."""

LARGEST: Final = 262_144
LARGEST_OF_PREMIUM: Final = 1_048_576
"""Maximum size of a message or a batch in the Premium tier, in bytes."""
LARGEST_STOOD_FOR: Final = 100_000_000
"""Maximum size that a small message may stand for, in bytes: the largest in any tier."""

NOBODY: Final[OrderedDict[Waiter, None]] = OrderedDict()
"""The line of a place where no link waits."""

SAYS_AGAIN: Final = 10.0
"""Minimum time between repetitions of a warning, in seconds."""


class Hub:
    """The broker's core, shared by all connections; it runs in a single thread.

    Args:
        bus: the bus that decides requests.
        keys: the namespace's keys and their rights.
        limits: limits on each client.
    """

    _now_ms = 0
    """The result of the last `now_ms`."""

    def __init__(self, bus: Bus, keys: AccessPolicies, limits: Limits = ALL_DEFAULT) -> None:
        self.bus = bus
        self.limits = limits
        self.budget = Budget(limits.held, limits.held_by_all)
        self.stage = Stage(bus)
        self.keys = keys
        self.max_message = limits.message or _largest(bus)
        self.contents = Contents(lasting=not bus.is_trusted)
        self.copies = Copies(bus.namespace)
        self.tallies = self._listening()
        self.configured: Callable[[], Bus] = lambda: bus.anew(bus.namespace.profile)
        """Returns a bus with the namespace that the broker started with."""
        self.renew: Callable[[], None] = _nothing_to_renew
        """Reads keys and certificates again from their sources."""
        self.warn: Callable[[str], None] = _be_silent
        """Reports a sentence to the operator."""
        self.journal: Journal = Silent()
        """Logs events."""
        self.moving: Callable[[], bytes] | None = None
        """Returns the page on what breaks in another namespace; `None` if none is compared."""
        self.opened = 0
        """Number of connections since the start."""
        self.identifies = True
        """Whether a message without a MessageId gets one before the bus decides (KEY-13)."""
        self.connections: set[ConnectedClient] = set()
        self.strangers: dict[ConnectedClient, None] = {}
        """The connections whose clients have not proved who they are, the oldest first."""
        self.owners: dict[str, ConnectedClient] = {}
        """For each open transaction, the client that began it."""
        self.statuses = Statuses()
        self.descriptions = Descriptions()
        """Settings of entities that administration clients wrote and the model does not have."""
        self.saver: Saving | None = None
        """Writes decisions to a store; `None` without a store."""
        self.era = ""
        """Prefix of names, which differs in each run of a broker with a store."""
        self.stated: dict[tuple[str, str], int] = {}
        """Path and session id to when the session's state was set, in milliseconds since 1970."""
        self.loop = asyncio.get_running_loop()
        self.disturbances = Disturbances(self.loop)
        """Faults that clients meet on request."""
        self.freed = FreedMemory(self.loop)
        self.rota = Rota(self.loop)
        self._waiting: dict[str, dict[str | None, OrderedDict[Waiter, None]]] = {}
        """Path and session id, if any, to the waiting links, in the order of waiting."""
        # Serve only the links for which there may be something: looking at all links would cost
        # more the more of them wait.
        self._stirred = Stirred()
        """What may be available since waiting links were last served."""
        self._in_turn = self._serves_later = False
        self.spread = Spread()
        self._says_next = 0.0
        self._timer = self.loop.call_later(TICK, self._tick)

    def close(self) -> None:
        """Stop the timers."""
        self._timer.cancel()
        self.freed.close()

    def make_room(self) -> bool:
        """Disconnect the oldest stranger; return whether there was one."""
        stranger = next(iter(self.strangers), None)
        if stranger is None:
            return False
        self.forget_client(stranger)
        stranger.abort()
        return True

    def forget_client(self, client: ConnectedClient) -> None:
        """Stop counting a client."""
        self.connections.discard(client)
        self.strangers.pop(client, None)

    def begin(self, bus: Bus) -> None:
        """Serve another, empty namespace, and disconnect all clients."""
        for connection in list(self.connections):
            connection.drop()
        bus.watcher = self.bus.watcher
        if bus.watcher is not None:
            bus.watcher.begin(bus)
        self.bus = bus
        self.stage = Stage(bus)
        self.max_message = self.limits.message or _largest(bus)
        self.contents = Contents(self.era, lasting=not bus.is_trusted)
        self.copies = Copies(bus.namespace)
        self.tallies = self._listening()
        self.statuses = Statuses()
        self.descriptions.clear()
        self.stated.clear()
        self._waiting.clear()
        self._stirred = Stirred()
        if self.saver is not None:
            self.saver.begin(bus)

    def renew_keys(self, rules: Iterable[AccessPolicy]) -> None:
        """Replace the keys, and end the links whose claims rest on removed keys."""
        renewed = tuple(rules)
        self.keys.renew(renewed)
        self.journal.info("keys-renewed", rules=[rule.name for rule in renewed])
        for connection in list(self.connections):
            connection.renew_claims()

    def complain(self, who: str, error: Exception) -> None:
        """Report an error in handling a client's data without quoting the data."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        # Leave out the error's message: it may quote data of the client, such as tokens.
        place = f"{Path(last.filename).name}:{last.lineno}"
        self.warn(f"{who} is ended, because of {type(error).__name__} at {place}")

    def refuse_for_files(self) -> None:
        """Report, at intervals, that connections are refused for lack of open files."""
        now = time.monotonic()
        if now >= self._says_next:
            # asyncio tries again many times a second, and each refusal would be a line.
            self._says_next = now + SAYS_AGAIN
            self.warn("connections are refused: the process has reached its limit of open files")

    def parse_message(self, raw: bytes, *, checked: bool = False) -> Parsed:
        """Parse a received message and give it a new name; `checked` if it has been validated.

        Raises:
            ValueError: the bytes are not an AMQP message.
            Refusal: the message stands for more bytes than any message can have.
        """
        name, now = self.contents.new_name(), self.now_ms()
        parsed = parse(raw, name, now, identified=self.identifies, checked=checked)
        message = parsed.message
        # A message that stands for several may exceed the model's limit for one message.
        if message.stands_in and (message.size or 0) > LARGEST_STOOD_FOR:
            raise too_large(message.size or 0, LARGEST_STOOD_FOR)
        return parsed

    def read_content(self, view: v.MessageView) -> Content:
        """Return the content of a message to deliver: usually as it was sent.

        It differs if a subscription rule's action has changed the message, or if a bus other than
        the model presents it differently.
        """
        kept = self.contents.get(view.body)
        if kept is not None and self.bus.is_trusted:
            return overlay_action(view, kept) if RULE_NAME in view.properties else kept
        return remade(view, kept)

    def wait(self, waiter: Waiter) -> None:
        """Serve a link from now on whenever there may be something for it."""
        path, session_id = waiter.place
        lines = self._waiting.setdefault(path, {})
        # A link that is already waiting keeps its place in the line.
        lines.setdefault(session_id, OrderedDict()).setdefault(waiter)

    def leave(self, waiter: Waiter) -> None:
        """Stop serving a link that no longer waits."""
        self._line(waiter.place).pop(waiter, None)
        self._tidy(waiter.place)

    def _line(self, place: Place) -> OrderedDict[Waiter, None]:
        path, session_id = place
        lines = self._waiting.get(path)
        return NOBODY if lines is None else lines.get(session_id, NOBODY)

    def _tidy(self, place: Place) -> None:
        """Remove the line of links for an entity and a session if it is empty."""
        path, session_id = place
        if not self._line(place) and path in self._waiting:
            self._waiting[path].pop(session_id, None)
            if not self._waiting[path]:
                del self._waiting[path]

    def schedule_serving(self) -> None:
        """Schedule serving the waiting links, because something has changed."""
        self.note()
        if self._waiting and (self._stirred or not self.bus.is_trusted):
            # Serve them after all requests of this turn, once.
            if self._in_turn:
                self._serves_later = True
            else:
                self.rota.add(self._serve)

    def begin_turn(self) -> None:
        """Have the waiting links wait until a client's turn is over."""
        self._in_turn = True

    def end_turn(self) -> None:
        """Serve the waiting links after a turn that has changed something."""
        self._in_turn = False
        if self._serves_later:
            self._serves_later = False
            # An iteration of the loop for it alone costs as much as a small request.
            if self.rota.is_free():
                self._serve()
            else:
                self.rota.add(self._serve)

    def count_in(self, transaction: str, size: int) -> None:
        """Count bytes that are kept until a transaction ends, for the client that began it."""
        owner = self.owners.get(transaction)
        # A client may name a transaction that does not exist; the bus then refuses it.
        if owner is not None:
            owner.stage(transaction, size)

    def say_status(self, path: str, status: str) -> None:
        """Set the status of an entity; if it disables receiving, end the entity's receivers."""
        self.statuses.say(path, status)
        for connection in list(self.connections):
            connection.review_links()

    def forget(self, path: str) -> None:
        """Remove the broker's data on a deleted entity, and end its receivers."""
        self.statuses.forget(path)
        for place in [known for known in self.stated if f"{known[0]}/".startswith(f"{path}/")]:
            del self.stated[place]
        self.descriptions.forget(path)
        for connection in list(self.connections) if self.bus.is_trusted else ():
            connection.end_receivers(path)

    def now_ms(self) -> int:
        """Return the bus's time in milliseconds since 1970, the unit that clients use."""
        if (now := self.bus.epoch_ms(self.bus.now)) != self._now_ms:
            # What comes in one moment shares the number, which takes 32 bytes.
            self._now_ms = now
        return self._now_ms

    def _listening(self) -> Tallies:
        """Subscribe to the bus's changes, and return counts of its messages."""
        self.bus.listeners.append(self._hear)
        return Tallies(self.bus.namespace)

    def _hear(self, changes: Sequence[Change]) -> None:
        self.tallies.hear(changes)
        self.copies.hear(changes)
        if self._waiting:
            for record in records_of(changes):
                self._stirred.note(record)

    def is_exhausted(self, path: str, session_id: str | None) -> bool:
        """Return whether a receiver that was given a message finds no further one for now."""
        entity = self.bus.find_entity(path) if self.bus.is_regular else None
        if entity is None or entity.base.down:
            return False
        if session_id is None:
            return self.tallies.is_all_aside(entity)
        session = entity.sessions.get(session_id)
        return session is not None and session.line.first(entity.messages) is None

    def _serve(self) -> None:
        """Serve waiting links until none is left or the turn is over."""
        stirred, self._stirred = self._stirred, Stirred()
        lines = self._waiting
        trusted = self.bus.is_trusted
        places = stirred.places(lines) if trusted else [(p, s) for p in lines for s in lines[p]]
        # Deliver everything at one moment, so that no timer runs in between.
        with self.bus.one_moment():
            for number, place in enumerate(places):
                is_over = number > 0 and self.rota.left() <= 0
                if is_over or not self._serve_place(place):
                    # Thousands of links may wait, so the rest of them have another turn.
                    self._stirred.add(places[number:])
                    self.rota.add(self._serve)
                    break

    def _serve_place(self, place: Place) -> bool:
        """Serve the links that wait for an entity and a session in turn, until one gets nothing.

        Returns:
            whether none is left to serve; otherwise the turn is over.
        """
        # Serve each link at most once, even if it is added again meanwhile.
        for number in range(len(self._line(place))):
            line = self._line(place)
            if not line:
                break
            if number > 0 and self.rota.left() <= 0:
                return False
            waiter, _ = line.popitem(last=False)
            if waiter.serve():
                # `wait` adds a link only once; by now this one may be in a line again.
                self.wait(waiter)
                break
        self._tidy(place)
        return True

    def _tick(self) -> None:
        """Run due timers for the waiting links."""
        self._timer = self.loop.call_later(TICK, self._tick)
        # A request runs due timers itself; only waiting links depend on this timer.
        if not self._waiting:
            return
        self._keep_time()
        if self._stirred or not self.bus.is_trusted:
            self.schedule_serving()

    def _keep_time(self) -> None:
        """Run due timers, a slice at a time."""
        if self.bus.keep_time() and not self._timer.cancelled():
            # Other clients have turns for as long as a slice takes.
            self.loop.call_later(SLICE, self._keep_time)

    def note(self) -> None:
        """Have the store record that a command was decided."""
        if self.saver is not None:
            self.saver.note()

    def tell(self, telling: Callable[[], object]) -> None:
        """Run a callback that answers a client, once all decisions are durable."""
        if self.saver is None:
            telling()
        else:
            self.saver.tell(telling)

    async def wait_until_saved(self) -> None:
        """Wait until all decisions are durable."""
        if self.saver is not None:
            await self.saver.wait_until_saved()

    def check_room(self) -> None:
        """Check that the store has room for more messages.

        Raises:
            Refusal: the disk of the store is full.
        """
        if self.saver is not None:
            self.saver.check_room()

    def check_copies(self, path: str, messages: int) -> None:
        """Check that so many messages for an entity make no more copies than may be made at once.

        Raises:
            Refusal: they make more.
        """
        copies, most = self.copies.of(path), self.limits.copies
        if copies > 1 and messages * copies > most:
            raise too_many_copies(messages, copies, most)

    def check_added(self, size: int) -> None:
        """Check that receivers may add so many bytes to messages and sessions.

        Raises:
            Refusal: they have added as much as they may.
        """
        if self.contents.ledger.total + size > self.limits.added:
            raise too_much_added_by_all(self.limits.added)

    def wall(self) -> float:
        """Return the wall-clock time in seconds since 1970, for the expiry of tokens."""
        return time.time()


def _be_silent(_: str) -> None:
    """Discard a warning."""


def _nothing_to_renew() -> None:
    raise UsageError("the keys have no source to read again; start busproof serve with --keys")


def _largest(bus: Bus) -> int:
    """Return the maximum size of a message in the bus's tier, in bytes."""
    return LARGEST_OF_PREMIUM if bus.namespace.profile.tier is v.Tier.PREMIUM else LARGEST
