"""What is written to a store and read again is the same, whatever led to it."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import attrs
import pytest
from hypothesis import HealthCheck, Phase, seed, settings

from busproof.adapters.base import Observed
from busproof.adapters.model import ModelAdapter
from busproof.broker.changes import NAMESPACE, Statement
from busproof.broker.durable import DERIVED, FORGOTTEN, OF_ENTITY, OF_REST, TRACKED
from busproof.broker.loading import Loaded, loaded
from busproof.broker.messages import Content
from busproof.broker.noting import Notes
from busproof.broker.packing import unpacked
from busproof.broker.store import Store
from busproof.oracle.calendar import Calendar
from busproof.oracle.deaths import Deaths
from busproof.oracle.enlisting import released
from busproof.oracle.entity import Queue
from busproof.oracle.room import Room
from busproof.oracle.state import Namespace, fresh_namespace
from busproof.steps.machine import machine_for
from busproof.vocabulary.commands import Command
from busproof.vocabulary.profile import Profile

from .conftest import FULL
from .written_down import differences, looked_at, namespace_told

pytestmark = pytest.mark.slow


class Made:
    """What is kept beside the model's state, made up from the names."""

    def content(self, name: str) -> Content | None:
        return Content(body=name.encode(), enqueued=len(name))

    def more(self, path: str, name: str) -> Mapping[str, bytes]:
        return {"why": path.encode()} if name.endswith("3") else {}

    def stated(self, path: str, session_id: str) -> int | None:
        return len(path) + len(session_id)


class Kept(ModelAdapter):
    """The model, each of whose states is written to a store, read again and gone on with.

    Where a transaction is open it is only compared: a restart rolls it back.
    """

    def __init__(self, policy: str, every: int) -> None:
        super().__init__(policy, seed=7)
        self._every = every
        self._folder: Path | None = None
        self._store: Store | None = None
        self.restarts = 0

    def start(self, profile: Profile) -> None:
        self.stop()
        super().start(profile)
        self._folder = Path(tempfile.mkdtemp())
        self._store = Store(self._folder)
        self._store.widen(self._namespace.profile.partitions)
        self._notes = Notes(Made())
        self._number = self._asked = 0

    def stop(self) -> None:
        super().stop()
        if self._store is not None and self._folder is not None:
            self._store.close()
            shutil.rmtree(self._folder)
            self._store = None

    def do(self, command: Command, connection: str) -> Observed:
        observed = super().do(command, connection)
        self._namespace = self._notes.look(self._namespace)
        self._asked += 1
        if self._asked % self._every == 0:
            self._compare()
        return observed

    def _compare(self) -> None:
        assert self._store is not None
        assert self._folder is not None
        self._number += 1
        now = self._namespace.now.latest
        changes = self._notes.changes(self._number, now, self._namespace)
        changes.spans |= self._number % 5 == 0
        stores = str(self._namespace.profile.partitions)
        changes.add(NAMESPACE, Statement.PUT_NOTE, "stores", stores)
        changes.close()
        self._store.begin(changes)
        self._store.finish(changes)
        empty = fresh_namespace(self._namespace.profile, self._namespace.vantage)
        if self._asked % 3 == 0:
            self._store.close()
            self._store = Store(self._folder)
        found = loaded(self._store, empty)
        self._check(found)
        if not len(self._namespace.transactions):
            self.restarts += 1
            self._notes = Notes(Made(), max((n for n, _ in found.written_as.values()), default=0))
            self._namespace = self._notes.adopt(found.namespace, found.written_as)

    def _check(self, found: Loaded) -> None:
        before = self._namespace
        for transaction in before.transactions.values():
            # A restart rolls it back.
            before = before if transaction is None else released(before, transaction)
        assert [] == list(differences(namespace_told(before), namespace_told(found.namespace)))
        for path, queue in before.queues.items():
            assert looked_at(queue) <= looked_at(found.namespace.queues[path])
        assert _names(before) == set(found.contents)
        for name, content in found.contents.items():
            assert Made().content(name) == unpacked(content)
        for path, name in found.more:
            assert Made().more(path, name) == found.more[path, name]
        assert not found.strays


def _names(namespace: Namespace) -> set[str]:
    return {
        each.message.body
        for queue in namespace.queues.values()
        for held in (queue.messages, queue.calendar.entries)
        for each in held.values()
    }


@pytest.mark.parametrize(("policy", "every"), [("round-robin", 1), ("random", 4)])
def test_whatever_is_asked_comes_back_from_the_store(policy: str, every: int) -> None:
    """As it was, and what is asked next is answered as the rules have it."""
    adapter = Kept(policy, every)
    machine = machine_for(adapter)
    machine.TestCase.settings = settings(
        machine.TestCase.settings,
        phases=[Phase.generate],
        max_examples=400 if FULL else 8,
        stateful_step_count=40,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    seed(11)(machine.TestCase)
    machine.TestCase("runTest").runTest()
    adapter.stop()
    assert adapter.restarts > 20


def test_each_field_of_an_entity_is_durable_or_said_not_to_be() -> None:
    """So that a new one is not forgotten unawares."""
    parts = {"calendar": Calendar, "deaths": Deaths, "room": Room}
    fields = [each.name for each in attrs.fields(Queue) if each.name not in parts]
    for name, kind in parts.items():
        fields += [f"{name}.{each.name}" for each in attrs.fields(kind)]
    assert sorted(fields) == sorted([*OF_ENTITY, *OF_REST, *TRACKED, *DERIVED, *FORGOTTEN])
