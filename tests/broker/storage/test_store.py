"""A store by itself: moves that are cut, what is damaged, what is newer, and what is full."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from busproof import vocabulary as v
from busproof.broker.amqp.messages import Content
from busproof.broker.bus import Bus
from busproof.broker.payloads import Contents
from busproof.broker.storage.change_log import ChangeLog
from busproof.broker.storage.codec import encode_value, read
from busproof.broker.storage.databases import Database, Full
from busproof.broker.storage.payload_codec import pack, unpack
from busproof.broker.storage.recovery import load_store
from busproof.broker.storage.store import Store
from busproof.broker.storage.write_set import NAMESPACE, Changes, Statement
from busproof.errors import UsageError
from busproof.model import Namespace, new_namespace
from busproof.spec import load


class Cut(Exception):
    """The broker is no more."""


def empty() -> Namespace:
    return new_namespace(v.profile_for(load(), partitions=4))


@attrs.define
class Writing:
    """A bus and its store, which is written when the test says so."""

    folder: Path
    bus: Bus = attrs.field(
        factory=lambda: Bus(v.profile_for(load(), partitions=4), clock="virtual")
    )
    log: ChangeLog = attrs.field(init=False)
    number: int = 0

    def __attrs_post_init__(self) -> None:
        self.log = ChangeLog(self.bus.namespace)
        self.bus.listeners.append(self.log.note)

    def ask(self, *commands: object) -> None:
        for command in commands:
            assert self.bus.ask(command, "c").refused is None

    def changes(self) -> Changes:
        self.number += 1
        found = self.log.changes(self.number, 0, Contents(), {})
        found.add(NAMESPACE, Statement.PUT_NOTE, "stores", "4")
        found.close()
        return found

    def written(self, store: Store) -> None:
        store.widen(4)
        changes = self.changes()
        store.begin(changes)
        store.finish(changes)


def held(folder: Path) -> dict[str, list[str]]:
    """Each entity, and the messages that it has when the store is opened."""
    store, namespace = Store(folder), empty()
    try:
        load_store(store, namespace)
    finally:
        store.close()
    return {
        path: sorted(each.message.body for each in entity.messages.values())
        for path, entity in namespace.entities.items()
    }


@pytest.fixture
def forwarding(tmp_path: Path) -> Iterator[Writing]:
    """A queue that forwards to another, the commits of both written."""
    writing = Writing(tmp_path / "store")
    writing.ask(
        v.CreateQueue(queue="there"),
        v.CreateQueue(queue="aside"),
        v.CreateQueue(queue="here", forward_to="there"),
    )
    store = Store(writing.folder)
    writing.written(store)
    writing.ask(*(v.Send(queue="aside", message=v.Message(body=f"a{n}")) for n in range(4)))
    writing.written(store)
    store.close()
    yield writing


def cut_after(monkeypatch: pytest.MonkeyPatch, commits: int) -> None:
    """Let nothing last after so many commits of single databases."""
    left = [commits]
    commit = Database.commit

    def counted(database: Database) -> None:
        if not left[0]:
            raise Cut
        left[0] -= 1
        commit(database)

    monkeypatch.setattr(Database, "commit", counted)


@pytest.mark.parametrize("commits", range(7))
def test_change_to_several_databases_is_kept_whole_or_not_at_all(
    forwarding: Writing, monkeypatch: pytest.MonkeyPatch, commits: int
) -> None:
    """However far the writing came: a batch that goes to all partitions, and with it the rest."""
    before = held(forwarding.folder)
    bus = forwarding.bus
    batch = [v.Send(queue="here", message=v.Message(body=f"b{n}")) for n in range(6)]
    assert bus.ask_all(batch, "c")[-1].refused is None
    take = v.Receive(queue="aside", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    assert bus.wait_for(take, "c") is not None
    changes = forwarding.changes()
    assert changes.spans
    after = {**before, "there": [f"b{n}" for n in range(6)], "aside": ["a1", "a2", "a3"]}
    store = Store(forwarding.folder)
    with monkeypatch.context() as patch:
        cut_after(patch, commits)
        try:
            store.begin(changes)
            store.finish(changes)
        except Cut:
            assert commits < 5
    store.close()
    assert held(forwarding.folder) == (after if commits else before)
    assert held(forwarding.folder) == (after if commits else before)


def test_a_move_that_was_completed_once_is_not_done_again(forwarding: Writing) -> None:
    """It stays in the namespace's database until the next one is written there."""
    store = Store(forwarding.folder)
    batch = [v.Send(queue="here", message=v.Message(body=f"b{n}")) for n in range(4)]
    forwarding.bus.ask_all(batch, "c")
    forwarding.written(store)
    take = v.Receive(queue="there", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    for _ in range(4):
        answer = forwarding.bus.wait_for(take, "c")
        assert answer is not None
        assert isinstance(answer.outcome, v.Received)
        changes = forwarding.log.changes(9, 0, Contents(), {})
        assert not changes.spans
        store.begin(changes)
        store.finish(changes)
    store.close()
    assert held(forwarding.folder)["there"] == []


def test_rows_of_a_deleted_entity_belong_to_no_other_entity(forwarding: Writing) -> None:
    store = Store(forwarding.folder)
    store.begin(
        gone := Changes(
            9,
            0,
            {NAMESPACE: {Statement.DROP_ENTITY: [(number,) for number in (4, 5, 6)]}},
            left=[NAMESPACE],
        )
    )
    store.finish(gone)
    found = load_store(store, namespace := empty())
    assert "aside" not in namespace.entities
    assert {4} == {number for numbers in found.strays.values() for number in numbers}
    forwarding.log.clear(found.strays)
    forwarding.written(store)
    assert [] == list(store.rows(0, "SELECT * FROM messages"))
    store.close()


def test_a_store_is_used_by_one_broker_only(tmp_path: Path) -> None:
    """The second one is refused, and the first goes on."""
    store = Store(tmp_path)
    with pytest.raises(UsageError, match="in use by another broker"):
        Store(tmp_path)
    store.close()
    Store(tmp_path).close()


@pytest.mark.parametrize("name", ["namespace.db", "partition-2.db"])
@pytest.mark.parametrize("made", [3, 5], ids=["older", "newer"])
def test_a_store_of_another_format_is_named_and_left_as_it_is(
    forwarding: Writing, name: str, made: int
) -> None:
    path = forwarding.folder / name
    with sqlite3.connect(path) as newer:
        newer.execute(f"PRAGMA user_version = {made}")
    newer.close()
    before = contents(forwarding.folder)
    said = f"{name} has format {made}, .* reads format 4; nothing was"
    with pytest.raises(UsageError, match=said):
        Store(forwarding.folder)
    assert before[name] == contents(forwarding.folder)[name]


@pytest.mark.parametrize("name", ["namespace.db", "partition-2.db"])
@pytest.mark.parametrize("damage", [b"", b"not a database" * 40])
def test_a_damaged_store_is_named_and_left_as_it_is(
    forwarding: Writing, name: str, damage: bytes
) -> None:
    path = forwarding.folder / name
    path.write_bytes(damage)
    with pytest.raises(UsageError, match=f"{name} is damaged: .*another --store"):
        Store(forwarding.folder)
    assert damage == path.read_bytes()


def test_the_pages_of_a_database_are_looked_at_too(forwarding: Writing) -> None:
    path = forwarding.folder / "partition-1.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(UsageError, match=r"partition-1\.db is damaged"):
        held(forwarding.folder)


def test_a_row_that_cannot_be_read_is_named(forwarding: Writing) -> None:
    with sqlite3.connect(forwarding.folder / "partition-1.db") as other:
        other.execute("UPDATE messages SET message = '[\"Nothing\", {}]'")
    other.close()
    with pytest.raises(UsageError, match=r"partition-1\.db is damaged: of its messages"):
        held(forwarding.folder)


@pytest.mark.parametrize("name", ["namespace.db", "partition-2.db"])
def test_a_file_that_is_missing_is_named(forwarding: Writing, name: str) -> None:
    (forwarding.folder / name).unlink()
    with pytest.raises(UsageError, match=f"{name} is damaged: it is missing"):
        Store(forwarding.folder)


def test_another_database_is_not_taken_for_a_store(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "namespace.db") as other:
        other.execute("CREATE TABLE mine (id)")
    other.close()
    with pytest.raises(UsageError, match="not a database of a busproof store"):
        Store(tmp_path)


def test_write_that_does_not_fit_is_repeated_once_there_is_space(
    forwarding: Writing, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(forwarding.folder)
    forwarding.ask(*(v.Send(queue="aside", message=v.Message(body=f"c{n}")) for n in range(4)))
    changes = forwarding.changes()
    store.begin(changes)
    commit, failing = Database.commit, ["partition-2.db"]

    def full(database: Database) -> None:
        if database.path.name in failing:
            failing.clear()
            database._sqlite.execute("ROLLBACK")
            raise Full("database or disk is full")
        commit(database)

    with monkeypatch.context() as patch:
        patch.setattr(Database, "commit", full)
        with pytest.raises(Full):
            store.finish(changes)
        store.begin(changes)
        store.finish(changes)
    store.close()
    assert 8 == len(held(forwarding.folder)["aside"])


def test_a_database_that_may_not_grow_says_that_it_is_full(forwarding: Writing) -> None:
    store = Store(forwarding.folder)
    for place in store.partitions:
        (pages,) = next(store.rows(place, "PRAGMA page_count"))
        assert [(pages,)] == list(store.rows(place, f"PRAGMA max_page_count = {pages}"))
    before = held_by(forwarding)
    forwarding.ask(
        *(v.Send(queue="aside", message=v.Message(body=f"d{n}" + "x" * 9000)) for n in range(4))
    )
    with pytest.raises(Full):
        store.begin(forwarding.changes())
    store.close()
    assert before == held(forwarding.folder)["aside"]


def held_by(writing: Writing) -> list[str]:
    entity = writing.bus.namespace.entities["aside"]
    return sorted(each.message.body for each in entity.messages.values())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.db")}


def test_a_store_that_cannot_be_written_is_called_read_only(forwarding: Writing) -> None:
    store = Store(forwarding.folder)
    store._databases[NAMESPACE]._sqlite.execute("PRAGMA query_only = 1")
    forwarding.ask(v.CreateQueue(queue="more"))
    changes = forwarding.changes()
    with pytest.raises(UsageError, match=r"namespace\.db is read-only for the broker"):
        store.begin(changes)
    store.close()


def test_a_copy_of_a_store_is_a_store(forwarding: Writing, tmp_path: Path) -> None:
    shutil.copytree(forwarding.folder, tmp_path / "copy")
    assert held(forwarding.folder) == held(tmp_path / "copy")


def test_a_text_that_says_nothing_known_is_an_error() -> None:
    for text in (
        '{"Set": [1, 2]} and more',
        '["Message", {"nonsense": 1}]',
        '["Message"]',
        '["Nothing", {}]',
        "{",
    ):
        with pytest.raises(ValueError, match=r"."):
            read(text, body=None)
    assert v.Message(body="a") == read(encode_value(v.Message(body="a")))


@pytest.mark.parametrize(
    "content",
    [
        Content(),
        Content(
            True,
            9,
            5_000,
            (2, b"passing"),
            (4, b"ann"),
            b"props",
            b"app",
            b"body",
            1_700_000_000_000,
        ),
        Content(body=b"\x00" * 70_000),
    ],
)
def test_packed_content_is_unpacked_unchanged(content: Content) -> None:
    assert content == unpack(pack(content))


def test_bytes_that_are_too_few_were_not_packed() -> None:
    with pytest.raises(ValueError, match="3 bytes are no message"):
        unpack(b"abc")
