"""Commits: when decisions are written to a store, and when clients get their answers.

All requests of one turn of the event loop form one commit. No answer leaves the broker before
everything decided until then is durable.
"""

import asyncio
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from busproof import vocabulary as v
from busproof.broker.amqp.refusals import Refusal
from busproof.broker.bus import Bus
from busproof.broker.core import Hub
from busproof.broker.storage.change_log import ChangeLog
from busproof.broker.storage.codec import encode_value
from busproof.broker.storage.databases import Full
from busproof.broker.storage.store import Store
from busproof.broker.storage.write_set import NAMESPACE, Changes, Statement
from busproof.errors import ConformanceError
from busproof.model.journal import Change

__all__ = ["Saver", "namespace_notes"]

AGAIN: Final = 0.2
"""Delay before checking for disk space again, in seconds."""
BETWEEN: Final = 16
"""Number of commits between two checks of the sizes of the logs."""

Telling = Callable[[], object]


class Saver:
    """A writer of the broker's decisions to a store.

    Args:
        hub: the broker's core.
        store: the store to write to.
        log: the changes to the broker's namespace.
        in_thread: whether a separate thread syncs commits to the disk.
    """

    def __init__(self, hub: Hub, store: Store, log: ChangeLog, *, in_thread: bool = False) -> None:
        self._hub = hub
        self._store = store
        self.log = log
        self._number = store.last[0]
        self._more: dict[str, str] = {}
        self._statuses: dict[str, str] = dict(hub.statuses.said)
        self._now = hub.bus.namespace.now
        self._held: list[Telling] = []
        self._called = self._running = False
        self._pending: Changes | None = None
        """The commit in progress; no client has an answer yet that depends on it."""
        self.is_full = False
        self.commits, self.seconds = 0, 0.0
        """The number of commits, and the total time that they took in seconds."""
        self._begun = 0.0
        self._long: list[int] = []
        """Databases whose logs are to be shortened, one after each commit; the longest is last."""
        self.failed: Callable[[ConformanceError], None] = _raise
        """Called when the store can no longer be written."""
        self._is_broken = False
        """Whether the broker is stopping because a write failed."""
        self._in_thread = in_thread
        self._pool = ThreadPoolExecutor(1, "store")

    def hear(self, changes: Sequence[Change]) -> None:
        """Record the changes of a step of the bus."""
        if self._is_broken:
            return
        try:
            self.log.note(changes)
        except Exception as error:  # noqa: BLE001 - a change that is not recorded is never written
            self._give_up(error)

    def note(self) -> None:
        """Schedule a commit if commands have changed anything."""
        if self._is_broken:
            return
        try:
            self._note()
        except Exception as error:  # noqa: BLE001 - the error would recur with each command
            self._give_up(error)

    def _note(self) -> None:
        bus, statuses = self._hub.bus, self._hub.statuses.said
        if statuses != self._statuses:
            self._statuses = dict(statuses)
            self._more["statuses"] = encode_value(tuple(sorted(statuses.items())))
        if bus.clock is v.Clock.VIRTUAL and bus.namespace.now != self._now:
            self._now = bus.namespace.now
            # A virtual clock stands still while the broker is stopped; a real one goes on.
            self._more["clock"] = str(self._now)
        if self._is_behind and not self._called and not self._running:
            self._called = True
            # Write all decisions of this turn of the loop in one commit.
            self._hub.loop.call_soon(self._commit)

    def tell(self, telling: Telling) -> None:
        """Run a callback that answers a client, once all previous decisions are durable."""
        self.note()
        if self._is_broken:
            return
        if self._is_behind or self._pending is not None or self._held:
            # An answer must not overtake an earlier one.
            self._held.append(telling)
        else:
            telling()

    async def wait_until_saved(self) -> None:
        """Wait until all previous decisions are durable."""
        written_down = asyncio.Event()
        self.tell(written_down.set)
        await written_down.wait()

    def begin(self, bus: Bus) -> None:
        """Replace the namespace in the store by another."""
        self.log.begin(bus.namespace)
        bus.listeners.append(self.hear)
        self._store.widen(self.log.widest)
        self._more |= namespace_notes(bus, self._store)

    def keep(self, name: str, value: str) -> None:
        """Write a note to the namespace's database with the next commit."""
        self._more[name] = value

    def save(self) -> None:
        """Write all decisions now."""
        self.note()
        if not self._running and self._is_behind:
            changes = self._changes()
            self._store.begin(changes)
            self._store.finish(changes)

    def close(self) -> None:
        """Write all decisions, send the waiting answers, and close the store."""
        self._pool.shutdown()
        self._called, self._running = True, False
        if not self._is_broken:
            self._write_the_rest()
        self._store.close()

    def _write_the_rest(self) -> None:
        try:
            if self._pending is not None:
                self._store.begin(self._pending)
                self._store.finish(self._pending)
            self.save()
        except Full:
            self._held.clear()
        except Exception as error:  # noqa: BLE001 - the store has to be closed in any case
            self._give_up(error)
        tellings, self._held = self._held, []
        self._tell(tellings)

    def check_room(self) -> None:
        """Check that the disk has room for more messages.

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
        return self.log.any or bool(self._more) or bool(self._hub.descriptions.changed)

    def _changes(self) -> Changes:
        self._number += 1
        hub = self._hub
        if self.log.widest > len(self._store.partitions):
            self._store.widen(self.log.widest)
            self._more["stores"] = str(self.log.widest)
        now = hub.bus.namespace.now
        changes = self.log.changes(self._number, now, hub.contents, hub.stated)
        for name, value in self._more.items():
            changes.add(NAMESPACE, Statement.PUT_NOTE, name, value)
        self._more.clear()
        self._describe(changes)
        changes.close()
        return changes

    def _describe(self, changes: Changes) -> None:
        """Write what administration clients have written about entities since the last commit."""
        descriptions = self._hub.descriptions
        for path in sorted(descriptions.changed):
            if path in descriptions:
                text = encode_value(descriptions.get(path))
                changes.add(NAMESPACE, Statement.PUT_DESCRIPTION, path, text)
            else:
                changes.add(NAMESPACE, Statement.DROP_DESCRIPTION, path)
        descriptions.changed.clear()

    def _commit(self) -> None:
        self._called = False
        if self._running or self._is_broken:
            return
        self.note()
        tellings, self._held = self._held, []
        if not self._is_behind:
            self._tell_done(tellings)
            return
        try:
            self._running, self._pending = True, self._changes()
        except Exception as error:  # noqa: BLE001 - the next commit would fail, too
            self._give_up(error)
            return
        self._begun = time.monotonic()
        self._write(self._pending, tellings)

    def _write(self, changes: Changes, tellings: list[Telling]) -> None:
        try:
            self._store.begin(changes)
            if not self._in_thread:
                self._store.finish(changes)
        except Full:
            self._wait_for_room(changes, tellings)
        except Exception as error:  # noqa: BLE001 - trying again would fail, too
            self._give_up(error)
        else:
            if not self._in_thread:
                self._tell_done(tellings)
                return
            ending = self._hub.loop.run_in_executor(self._pool, self._store.finish, changes)
            ending.add_done_callback(lambda ended: self._end_commit(ended, changes, tellings))

    def _end_commit(
        self, ended: "asyncio.Future[None]", changes: Changes, tellings: list[Telling]
    ) -> None:
        if ended.cancelled():
            return
        error = ended.exception()
        if error is None:
            self._tell_done(tellings)
        elif isinstance(error, Full):
            self._wait_for_room(changes, tellings)
        else:
            self._give_up(error)

    def _give_up(self, error: BaseException) -> None:
        """Stop the broker with a sentence; requests that were not written get no answer."""
        if self._is_broken:
            return
        self._is_broken = True
        self._held.clear()
        if not isinstance(error, ConformanceError):
            last = traceback.extract_tb(error.__traceback__)[-1]
            error = ConformanceError(
                f"the broker ends, because it cannot write to {self._store.folder}: "
                f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno}; the store "
                "has everything that was answered; please report this fault of busproof"
            )
        self.failed(error)

    def _tell(self, tellings: list[Telling]) -> None:
        """Send the waiting answers; a failure of one does not delay the others."""
        for telling in tellings:
            try:
                telling()
            except Exception as error:  # noqa: BLE001 - an error with one client
                self._hub.complain("an answer", error)

    def _wait_for_room(self, changes: Changes, tellings: list[Telling]) -> None:
        """Retry a commit once there is room; releasing the reserve may make some."""
        first, self.is_full = not self.is_full, True
        if first:
            self._hub.warn("the disk of the store is full: sends are refused until there is room")
        # Thanks to the reserve clients can go on receiving, which makes room.
        self._store.release()
        if first:
            self._hub.loop.call_later(AGAIN, self._look_for_room)
        self._hub.loop.call_later(0 if first else AGAIN, self._write, changes, tellings)

    def _look_for_room(self) -> None:
        if self._running:
            self._hub.loop.call_later(AGAIN, self._look_for_room)
            return
        self._running = True
        looking = self._hub.loop.run_in_executor(self._pool, self._store.make_room)
        looking.add_done_callback(self._end_look)

    def _end_look(self, looking: "asyncio.Future[bool]") -> None:
        if not looking.cancelled() and (error := looking.exception()) is not None:
            self._give_up(error)
            return
        self.is_full = looking.cancelled() or not looking.result()
        if self.is_full:
            self._hub.loop.call_later(AGAIN, self._look_for_room)
        else:
            self._hub.warn("the disk of the store has room again")
        self._go_on()

    def _tell_done(self, tellings: list[Telling]) -> None:
        if self._pending is not None:
            self.commits += 1
            self.seconds += time.monotonic() - self._begun
        self._pending = None
        # Send the answers first, because a checkpoint takes long.
        self._tell(tellings)
        if not self._number % BETWEEN:
            self._long = self._store.logs()
        if self._long:
            self._running = True
            place = self._long.pop()
            ending = self._hub.loop.run_in_executor(self._pool, self._store.shorten, place)
            ending.add_done_callback(self._end_checkpoint)
        else:
            self._go_on()

    def _end_checkpoint(self, ending: "asyncio.Future[None]") -> None:
        """Continue after a checkpoint; if there was no room for it, its log stays long."""
        error = None if ending.cancelled() else ending.exception()
        if error is None or isinstance(error, Full):
            self._go_on()
        else:
            self._give_up(error)

    def _go_on(self) -> None:
        self._running = False
        if (self._is_behind or self._held) and not self._called:
            self._called = True
            self._hub.loop.call_soon(self._commit)


def _raise(error: ConformanceError) -> None:
    raise error


def namespace_notes(bus: Bus, store: Store) -> dict[str, str]:
    """Return the profile, the epoch and the number of partitions of a namespace, as notes."""
    profile = bus.namespace.profile
    terms = (
        *(profile.edition, profile.tier.value, profile.readings, profile.partitions),
        *(profile.namespace_partitions, profile.messaging_units),
    )
    return {
        "profile": encode_value(terms),
        "epoch": str(bus.epoch),
        "stores": str(len(store.partitions)),
    }
