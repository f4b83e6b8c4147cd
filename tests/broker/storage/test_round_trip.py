"""What is written to a store and read again is the same, whatever led to it."""

import shutil
from pathlib import Path
from random import Random
from typing import Any

import attrs
import pytest
from model_driver import state_of
from random_commands import Commands, any_profile

from busproof import vocabulary as v
from busproof.broker.amqp.messages import Content
from busproof.broker.payloads import Contents, Name
from busproof.broker.storage.change_log import ChangeLog
from busproof.broker.storage.recovery import Loaded, load_store
from busproof.broker.storage.rows import DURABLE
from busproof.broker.storage.store import Store
from busproof.broker.storage.write_set import NAMESPACE, Changes, Statement
from busproof.model import Namespace, Scripted, new_namespace, step
from busproof.model.state import Entity

from ..conftest import FULL

pytestmark = pytest.mark.slow

SEEDS = 200 if FULL else 8
LENGTH = 120

FORGOTTEN = {"transactions", "enlisted", "last"}
"""What a restart forgets: a transaction is rolled back, the turns of round robin begin anew."""

FIRST = attrs.fields_dict(Entity)["last"].default
"""Where the turns of round robin begin."""


STAYS: dict[str, set[str]] = {
    "Entity": {"path", "kind", "partitions", "base", "owner", "dead_letters", "transfers"}
    | {"namespace", "subscriptions"},
    "Partition": {"number"},
    "Session": {"entity", "name", "partition"},
    "QueuedMessage": {"entity", "number", "partition", "message", "arrival", "session"}
    | {"enqueued_at", "expires_at", "reason"},
    "ScheduledMessage": {"entity", "number", "partition", "message", "key", "due"},
    "DuplicateEntry": {"entity", "name"},
}
"""What a record keeps as long as it is there, or what a change of another record shows."""

DERIVED: dict[str, set[str]] = {
    "Entity": {"down", "last", "homes", "messages", "scheduled", "duplicates", "sessions"},
    "Partition": {"messages", "bytes"},
    "Session": {"messages"},
    "QueuedMessage": {"token", "enlisted"},
    "ScheduledMessage": {"state"},
    "DuplicateEntry": set(),
}
"""What is made anew of other rows, has rows of its own, or is forgotten."""


def test_each_value_of_a_record_is_durable_or_said_not_to_be() -> None:
    """So that a new one is not forgotten unawares: few random commands change one alone."""
    for kind, durable in DURABLE.items():
        said = sorted([*durable, *STAYS[kind.__name__], *DERIVED[kind.__name__]])
        assert said == sorted(kind.names), kind


class Lenient(Scripted):
    """A script that may name a place behind the last candidate."""

    def _chosen(self, count: int) -> int:
        return super()._chosen(count) % count


@attrs.define
class Kept:
    """A namespace, and the store that it is written to."""

    folder: Path
    namespace: Namespace
    store: Store
    log: ChangeLog
    contents: Contents = attrs.field(factory=Contents)
    number: int = 0

    def write(self) -> None:
        self.number += 1
        stated = {("s", "a"): self.number}
        changes = self.log.changes(self.number, self.namespace.now, self.contents, stated)
        changes.spans |= self.number % 5 == 0
        self.store.widen(self.log.widest)
        changes.add(NAMESPACE, Statement.PUT_NOTE, "stores", str(self.log.widest))
        changes.close()
        self.store.begin(changes)
        self.store.finish(changes)
        assert not self.log.any

    def read(self, *, anew: bool) -> tuple[Namespace, Loaded]:
        if anew:
            self.store.close()
            self.store = Store(self.folder)
        namespace = new_namespace(self.namespace.profile)
        return namespace, load_store(self.store, namespace)

    def restart(self) -> None:
        namespace, found = self.read(anew=True)
        assert not found.strays
        (entities,) = next(
            self.store.rows(NAMESPACE, "SELECT value FROM notes WHERE name = 'entities'")
        )
        self.namespace = namespace
        self.log = ChangeLog(namespace, found.numbers, int(entities))


def durable(thing: Any) -> Any:
    """A state without what a restart forgets."""
    if isinstance(thing, dict):
        found = {name: durable(each) for name, each in thing.items() if name not in FORGOTTEN}
        if "line" not in found and found.get("holder") is None and "deliveries" not in found:
            # Of a session that nobody holds; a message has its own.
            found.pop("locked_until", None)
        return found
    return [durable(each) for each in thing] if isinstance(thing, list) else thing


def named(command: v.Command) -> v.Command:
    """The command, whose messages have names with content."""

    def with_name(message: v.Message) -> v.Message:
        name = Name(message.body)
        name.packed = Content(body=message.body.encode(), enqueued=len(message.body))
        return attrs.evolve(message, body=name)

    if isinstance(command, v.Send | v.Schedule):
        return attrs.evolve(command, message=with_name(command.message))
    if isinstance(command, v.SendBatch):
        return attrs.evolve(command, messages=tuple(map(with_name, command.messages)))
    return command


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_commands_are_restored_from_the_store(tmp_path: Path, seed: int) -> None:
    """As it was; and a namespace that is read again and again answers as one that never is."""
    random = Random(seed)
    held_to = any_profile(random)
    direct, folder = new_namespace(held_to), tmp_path / "store"
    namespace = new_namespace(held_to)
    kept = Kept(folder, namespace, Store(folder), ChangeLog(namespace))
    kept.log.begin(namespace)
    commands = Commands(random, direct)
    plan = [(command, "c1") for command in commands.setup()]
    restarts = 0
    for number in range(LENGTH):
        command, connection = plan[number] if number < len(plan) else commands.any()
        command = named(command)
        script = [random.randrange(2) for _ in range(8)]
        first = step(direct, command, connection, Lenient(script))
        second = step(kept.namespace, command, connection, Lenient(script))
        assert first == second, (seed, number, command)
        kept.log.note(second.changes)
        if random.random() < 0.3:
            continue
        kept.write()
        read, _ = kept.read(anew=number % 7 == 0)
        assert durable(state_of(direct)) == durable(state_of(read)), (seed, number, command)
        for entity in read.entities.values():
            for message in [each.message for each in entity.messages.values()]:
                assert isinstance(message.body, Name)
                assert message.body.content == Content(
                    body=message.body.encode(), enqueued=len(message.body)
                )
        transactions = direct.transactions.values()
        if random.random() < (0.4 if restarts > 2 else 0.8) and all(
            each.ended for each in transactions
        ):
            kept.restart()
            direct.transactions.clear()
            for entity in direct.entities.values():
                entity.last = FIRST
            restarts += 1
    kept.store.close()
    shutil.rmtree(folder)
    assert restarts >= 3


def test_content_and_properties_come_back_with_their_message(tmp_path: Path) -> None:
    profile = any_profile(Random(1))
    namespace = new_namespace(attrs.evolve(profile, partitions=2, readings=profile.readings))
    kept = Kept(tmp_path, namespace, Store(tmp_path), ChangeLog(namespace))
    kept.log.begin(namespace)

    def ask(command: v.Command) -> Any:
        answer = step(kept.namespace, command, "c1", Scripted())
        assert answer.refused is None
        kept.log.note(answer.changes)
        return answer.outcome

    ask(v.CreateQueue(queue="q"))
    name = kept.contents.new_name()
    kept.contents.keep(name, Content(priority=3, body=b"b"))
    ask(v.Send(queue="q", message=v.Message(body=name)))
    for more in ({"a": b"1"}, {"b": b"2"}):
        token = ask(v.Receive(queue="q")).message.lock_token
        ask(v.Abandon(queue="q", lock_token=token))
        kept.contents.add("q", name, more)
        kept.write()
    token = ask(v.Receive(queue="q")).message.lock_token
    ask(v.DeadLetter(queue="q", lock_token=token))
    kept.write()
    read, _ = kept.read(anew=True)
    path = "q" + v.DEAD_LETTERS
    (dead,) = read.entities[path].messages.values()
    assert {"a": b"1", "b": b"2"} == kept.contents.more(path, dead.message.body)
    assert Content(priority=3, body=b"b") == kept.contents.get(dead.message.body)
    kept.store.close()


def test_changes_undone_between_two_commits_are_not_written() -> None:
    profile = any_profile(Random(1))
    namespace = new_namespace(profile)
    log = ChangeLog(namespace)

    def ask(*commands: v.Command) -> None:
        for command in commands:
            answer = step(namespace, command, "c1", Scripted())
            assert answer.refused is None
            log.note(answer.changes)

    def changes() -> Changes:
        return log.changes(1, 0, Contents(), {})

    ask(v.CreateQueue(queue="q"), v.Send(queue="q", message=v.Message(body="a")))
    changes()
    partition = 0
    take = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    ask(v.Send(queue="q", message=v.Message(body="b")), take, take)
    found = changes()
    assert {Statement.DROP_MESSAGE, Statement.PUT_COUNTERS} == set(found.rows[partition])
    assert 1 == len(found.rows[partition][Statement.DROP_MESSAGE])
    ask(v.Peek(queue="q", count=1))
    assert not log.any
