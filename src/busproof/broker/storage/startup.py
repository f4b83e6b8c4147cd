"""Startup from a store: load its namespace, or create one in it."""

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from busproof import vocabulary as v
from busproof.broker.bus import Bus
from busproof.broker.client_descriptions import Descriptions
from busproof.broker.configuration.emulator import Configuration
from busproof.broker.core import Hub
from busproof.broker.payloads import Contents
from busproof.broker.server import create
from busproof.broker.storage.change_log import ChangeLog
from busproof.broker.storage.codec import read
from busproof.broker.storage.commits import Saver
from busproof.broker.storage.databases import damage_error
from busproof.broker.storage.recovery import Loaded, load_store
from busproof.broker.storage.store import Store
from busproof.broker.storage.write_set import NAMESPACE
from busproof.errors import ConformanceError, UsageError
from busproof.spec import load

__all__ = ["Keeping"]


class Keeping:
    """A store, from its opening to its closing.

    Args:
        folder: the folder of the store.
        synced: whether answered requests survive a power failure.
        accepts_loss: whether to use a store that has lost commits, without them.

    Raises:
        UsageError: the store cannot be used.
    """

    def __init__(self, folder: Path, *, synced: bool = False, accepts_loss: bool = False) -> None:
        self._store = Store(folder, synced=synced, accepts_loss=accepts_loss)
        self.losses = self._store.losses
        self._synced = synced
        self._notes: dict[str, str] = {}
        self._found: Loaded | None = None
        self._log: ChangeLog | None = None
        self._failure: ConformanceError | None = None

    def bus(
        self, configuration: Configuration, made: Callable[[], Bus], chosen: Mapping[str, Any]
    ) -> Bus:
        """Return a bus with the namespace in the store and the configured entities.

        Args:
            configuration: the configuration.
            made: a function that creates the bus of a new namespace.
            chosen: the policy and the clock of the bus.

        Raises:
            UsageError: the store cannot be read, or has another profile.
        """
        try:
            rows = self._store.rows(NAMESPACE, "SELECT * FROM notes")
            self._notes = {str(name): str(value) for name, value in rows}
            return self._resume(configuration, chosen) if "profile" in self._notes else made()
        except BaseException:
            self.close()
            raise

    def attach(self, hub: Hub, failed: Callable[[], None]) -> Saver:
        """Attach a hub, whose state the store keeps from now on; `failed` stops the broker."""
        run = int(self._notes.get("run", "0")) + 1
        # Names of messages and connections begin anew in each run, but must not repeat stored ones.
        hub.era = "" if run == 1 else f"{run}-"
        recovered, log = self._found, self._log or ChangeLog(hub.bus.namespace)
        hub.contents = Contents(hub.era)
        known = {} if recovered is None else recovered.descriptions
        hub.descriptions = Descriptions(known, stored=True)
        if recovered is not None:
            hub.stated.update(recovered.stated)
            for path, status in read(self._notes.get("statuses", "[]")):
                hub.statuses.say(path, status)
        saver = hub.saver = Saver(hub, self._store, log, in_thread=self._synced)
        if recovered is None:
            saver.begin(hub.bus)
        else:
            listeners = hub.bus.listeners
            # The log already has what was decided during the start. From here on, failing to record
            # a change stops the broker.
            listeners[listeners.index(log.note)] = saver.hear
            log.clear(recovered.strays)
        saver.keep("run", str(run))
        # Save before the first client connects: a kill must not give two runs the same names.
        saver.save()

        def end(error: ConformanceError) -> None:
            self._failure = error
            failed()

        saver.failed = end
        self._found = self._log = None
        return saver

    def check(self) -> None:
        """Check that everything was written.

        Raises:
            ConformanceError: the store could no longer be written.
        """
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Close the store, so that other processes can use it."""
        self._store.close()

    def _resume(self, configuration: Configuration, chosen: Mapping[str, Any]) -> Bus:
        bus = Bus(self._profile(), **chosen)
        with _pause_collection():
            self._found = load_store(self._store, bus.namespace)
        bus.answer_as_seen()
        entities = int(self._notes.get("entities", "0"))
        self._log = ChangeLog(bus.namespace, self._found.numbers, entities)
        bus.listeners.append(self._log.note)
        bus.resume(int(self._notes["epoch"]))
        # Without a configuration, the store alone determines the entities.
        if configuration != Configuration():
            self._compare(configuration, bus.namespace.profile)
            create(bus, configuration)
        return bus

    def _profile(self) -> v.Profile:
        path = self._store.path(NAMESPACE)
        try:
            edition, tier, readings, partitions, *premium = read(self._notes["profile"])
            # Stores from before 2026-11 have no note about partitioned namespaces.
            namespace_partitions, units = premium or (1, None)
            int(self._notes["epoch"])
        except (KeyError, ValueError) as error:
            raise damage_error(path, f"of its notes, {error}") from None
        try:
            return v.profile_for(
                load(),
                edition=edition,
                tier=tier,
                readings=readings,
                partitions=partitions,
                namespace_partitions=namespace_partitions,
                messaging_units=units,
            )
        except UsageError as error:
            raise UsageError(
                f"{path} has a profile that this busproof does not know: {error}"
            ) from None

    def _compare(self, configuration: Configuration, profile: v.Profile) -> None:
        """Check that the configuration has the profile that the store was created with."""
        wanted: dict[str, Any] = {
            "Tier": (configuration.tier, profile.tier.value),
            "Partitions": (configuration.partitions or profile.partitions, profile.partitions),
            "NamespacePartitions": (
                configuration.namespace_partitions,
                profile.namespace_partitions,
            ),
            "MessagingUnits": (
                configuration.messaging_units or profile.messaging_units,
                profile.messaging_units,
            ),
            "Edition": (configuration.edition or profile.edition, profile.edition),
        }
        for name, reading in configuration.readings.items():
            wanted[name] = reading, profile.readings.get(name)
        for name, (configured, known) in wanted.items():
            if configured != known:
                raise UsageError(
                    f"{name} is {configured!r} in the configuration and {known!r} in the store "
                    f"{self._store.folder}; change it there, or choose another --store"
                )


@contextmanager
def _pause_collection() -> Iterator[None]:
    """Disable garbage collection during loading, which creates no garbage.

    Collecting took as long as everything else.
    """
    gc.disable()
    try:
        yield
    finally:
        # Loaded records stay for long, so later collections skip them.
        gc.freeze()
        gc.enable()
