"""When what is decided is written to a store, and who hears of it only then.

All that was asked for in one turn of the event loop is one commit. Nothing that a client is told
leaves the broker before everything that was decided until then is written.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from busproof.broker.changes import NAMESPACE, Changes, Statement
from busproof.broker.databases import Full
from busproof.broker.messages import Content
from busproof.broker.noting import Notes
from busproof.broker.refusals import Refusal
from busproof.broker.store import Store
from busproof.broker.wording import written
from busproof.errors import ConformanceError
from busproof.vocabulary.values import Clock

if TYPE_CHECKING:
    from busproof.broker.bus import Bus
    from busproof.broker.hub import Hub

__all__ = ["Saver", "namespace_notes"]

AGAIN: Final = 0.2
"""After how long it is tried again whether there is room, in seconds."""
BETWEEN: Final = 16
"""After how many commits the lengths of the logs are looked at."""

Telling = Callable[[], object]


class _Kept:
    """What the hub keeps beside the model's state."""

    def __init__(self, hub: "Hub") -> None:
        self._hub = hub

    def content(self, name: str) -> Content | None:
        return self._hub.contents.get(name)

    def more(self, path: str, name: str) -> Mapping[str, bytes]:
        return self._hub.contents.more(path, name)

    def stated(self, path: str, session_id: str) -> int | None:
        return self._hub.stated.get((path, session_id))


class Saver:
    """Writes what a hub's bus decides.

    Args:
        hub: the broker's inside.
        store: where to.
        entities: how many entities there ever were in it.
        in_thread: whether commits wait for the disk, in a thread of their own.
    """

    def __init__(
        self, hub: "Hub", store: Store, entities: int = 0, *, in_thread: bool = False
    ) -> None:
        self._hub = hub
        self._store = store
        self.notes = Notes(_Kept(hub), entities)
        self._number = store.last[0]
        self._more: dict[str, str] = {}
        self._statuses: dict[str, str] = dict(hub.statuses.said)
        self._now = hub.bus.namespace.now.latest
        self._held: list[Telling] = []
        self._called = self._running = False
        self._pending: Changes | None = None
        """What is being written; nobody is told of it yet."""
        self.is_full = False
        self.commits, self.seconds = 0, 0.0
        """How often something was written, and how long that took altogether."""
        self._begun = 0.0
        self.failed: Callable[[ConformanceError], None] = _raise
        """Is told that the store cannot be written any more."""
        self._in_thread = in_thread
        self._pool = ThreadPoolExecutor(1, "store")

    def note(self) -> None:
        """See what a command has changed, which is written before long."""
        bus, said = self._hub.bus, self._hub.statuses.said
        bus.namespace = self.notes.look(bus.namespace)
        if said != self._statuses:
            self._statuses = dict(said)
            self._more["statuses"] = written(tuple(sorted(said.items())))
        if bus.clock is Clock.VIRTUAL and bus.namespace.now.latest != self._now:
            self._now = bus.namespace.now.latest
            self._more["clock"] = str(self._now)
        if self._is_behind and not self._called and not self._running:
            self._called = True
            self._hub.loop.call_soon(self._commit)

    def tell(self, telling: Telling) -> None:
        """Do this, which tells a client something, once all that was decided is written."""
        self.note()
        if self._is_behind or self._pending is not None or self._held:
            self._held.append(telling)
        else:
            telling()

    async def saved(self) -> None:
        """Wait until all that was decided is written."""
        written_down = asyncio.Event()
        self.tell(written_down.set)
        await written_down.wait()

    def begin(self, bus: "Bus") -> None:
        """Another namespace, in the place of all that was there."""
        self.notes.look(bus.anew(bus.namespace.profile).namespace)
        self._store.widen(bus.namespace.profile.partitions)
        self._more |= namespace_notes(bus, self._store)
        bus.namespace = self.notes.look(bus.namespace)

    def keep(self, name: str, value: str) -> None:
        """Write a note into the namespace's own database."""
        self._more[name] = value

    def save(self) -> None:
        """Write all that was decided, now."""
        self.note()
        if not self._running and self._is_behind:
            changes = self._changes()
            self._store.begin(changes)
            self._store.finish(changes)

    def close(self) -> None:
        """Write all that was decided, tell who waits for it, and be done with the store."""
        self._pool.shutdown()
        self._called, self._running = True, False
        try:
            if self._pending is not None:
                self._store.begin(self._pending)
                self._store.finish(self._pending)
            self.save()
        except Full:
            self._held.clear()
        except ConformanceError as error:
            self._held.clear()
            self.failed(error)
        held, self._held = self._held, []
        for telling in held:
            telling()
        self._store.close()

    def check_room(self) -> None:
        """Insist that there is room for messages.

        Raises:
            Refusal: the disk is full.
        """
        if self.is_full:
            raise Refusal(
                "amqp:resource-limit-exceeded",
                "The disk of the store is full: receive messages, or make room on it.",
                403,
            )

    @property
    def _is_behind(self) -> bool:
        return self.notes.any or bool(self._more)

    def _changes(self) -> Changes:
        self._number += 1
        namespace = self._hub.bus.namespace
        changes = self.notes.changes(self._number, namespace.now.latest, namespace)
        for name, value in self._more.items():
            changes.add(NAMESPACE, Statement.PUT_NOTE, name, value)
        self._more.clear()
        changes.close()
        return changes

    def _commit(self) -> None:
        self._called = False
        if self._running:
            return
        self.note()
        held, self._held = self._held, []
        if not self._is_behind:
            self._done(held)
            return
        self._running, self._pending = True, self._changes()
        self._begun = time.monotonic()
        self._write(self._pending, held)

    def _write(self, changes: Changes, held: list[Telling]) -> None:
        try:
            self._store.begin(changes)
            if not self._in_thread:
                self._store.finish(changes)
        except Full:
            self._wait_for_room(changes, held)
        except ConformanceError as error:
            self.failed(error)
        else:
            if not self._in_thread:
                self._done(held)
                return
            ending = self._hub.loop.run_in_executor(self._pool, self._store.finish, changes)
            ending.add_done_callback(lambda ended: self._ended(ended, changes, held))

    def _ended(self, ended: "asyncio.Future[None]", changes: Changes, held: list[Telling]) -> None:
        if ended.cancelled():
            return
        error = ended.exception()
        if error is None:
            self._done(held)
        elif isinstance(error, Full):
            self._wait_for_room(changes, held)
        elif isinstance(error, ConformanceError):
            self.failed(error)
        else:
            raise error

    def _wait_for_room(self, changes: Changes, held: list[Telling]) -> None:
        """Write it again once there is room, which the reserve gives if it was there."""
        first, self.is_full = not self.is_full, True
        if first:
            self._hub.warn("the disk of the store is full: what is sent is refused until it is not")
        self._store.release()
        if first:
            self._hub.loop.call_later(AGAIN, self._look_for_room)
        self._hub.loop.call_later(0 if first else AGAIN, self._write, changes, held)

    def _look_for_room(self) -> None:
        if self._running:
            self._hub.loop.call_later(AGAIN, self._look_for_room)
            return
        self._running = True
        looking = self._hub.loop.run_in_executor(self._pool, self._store.make_room)
        looking.add_done_callback(self._looked)

    def _looked(self, looking: "asyncio.Future[bool]") -> None:
        self.is_full = looking.cancelled() or not looking.result()
        if self.is_full:
            self._hub.loop.call_later(AGAIN, self._look_for_room)
        else:
            self._hub.warn("there is room on the disk of the store again")
        self._go_on()

    def _done(self, held: list[Telling]) -> None:
        if self._pending is not None:
            self.commits += 1
            self.seconds += time.monotonic() - self._begun
        self._pending = None
        for telling in held:
            telling()
        if not self._number % BETWEEN and (long := self._store.logs()):
            self._running = True
            ending = self._hub.loop.run_in_executor(self._pool, self._store.shorten, long[0])
            ending.add_done_callback(lambda _: self._go_on())
        else:
            self._go_on()

    def _go_on(self) -> None:
        self._running = False
        if (self._is_behind or self._held) and not self._called:
            self._called = True
            self._hub.loop.call_soon(self._commit)


def _raise(error: ConformanceError) -> None:
    raise error


def namespace_notes(bus: "Bus", store: Store) -> dict[str, str]:
    """What a namespace is held to, and when its time began."""
    profile = bus.namespace.profile
    held = (profile.edition, profile.tier.value, profile.readings, profile.partitions)
    return {
        "profile": written(held),
        "epoch": str(bus.epoch),
        "stores": str(len(store.partitions)),
    }
