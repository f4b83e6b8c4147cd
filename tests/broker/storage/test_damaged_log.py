"""Logs of a store that were damaged, and what a start that is refused leaves as it was."""

import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from busproof.broker.storage.store import Store
from busproof.broker.write_ahead_log import HEADER, damage_in
from busproof.errors import UsageError
from busproof.vocabulary.commands import CreateQueue, Send
from busproof.vocabulary.messages import Message

from .test_store import Writing, held

LOG = "partition-0.db-wal"
SIZE_OF_FRAME = 24 + 4_096


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A store of 20 messages in one partition as a kill leaves it, its logs beside its files."""
    writing = Writing(tmp_path / "store")
    writing.ask(CreateQueue(queue="q", partitioned=False))
    store = Store(writing.folder)
    writing.written(store)
    for number in range(20):
        writing.ask(Send(queue="q", message=Message(body=f"m{number}")))
        writing.written(store)
    shutil.copytree(writing.folder, tmp_path / "killed")
    store.close()
    return tmp_path / "killed"


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


def contents(folder: Path) -> dict[str, bytes]:
    """What is in each file but that of the lock, which every start takes."""
    files = (path for path in folder.iterdir() if not path.name.startswith("lock"))
    return {path.name: path.read_bytes() for path in files}


def test_log_left_by_a_kill_is_whole(killed: Path) -> None:
    assert {damage_in(path) for path in killed.glob("*-wal")} == {None}
    assert len(held(killed)["q"]) == 20


@pytest.mark.parametrize(
    "place", [0, HEADER.size + 5 * SIZE_OF_FRAME + 2_000], ids=["head", "frame"]
)
def test_damaged_log_is_named_and_no_file_changes(killed: Path, place: int) -> None:
    flip(killed / LOG, place)
    before = contents(killed)
    with pytest.raises(UsageError, match=r"partition-0\.db has lost .*--accept-loss"):
        Store(killed)
    assert before == contents(killed)


def test_store_goes_on_without_what_the_damaged_log_has_lost(killed: Path) -> None:
    flip(killed / LOG, (killed / LOG).stat().st_size // 2)
    store = Store(killed, accepts_loss=True)
    assert store.losses == [f"{LOG} is damaged, so that commits in it are lost"]
    store.close()
    assert 0 < len(held(killed)["q"]) < 20


def test_log_whose_last_frame_was_cut_is_whole(killed: Path) -> None:
    """A kill may come while a commit is written, and nobody has an answer of it then."""
    data = (killed / LOG).read_bytes()
    (killed / LOG).write_bytes(data[:-100])
    assert damage_in(killed / LOG) is None
    assert len(held(killed)["q"]) == 19


def test_frames_of_an_earlier_log_are_no_damage(tmp_path: Path) -> None:
    """SQLite begins a log anew over the frames that are in the database by now."""
    path = tmp_path / "some.db"
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE some (text)")
    for _ in range(10):
        database.execute("INSERT INTO some VALUES (?)", ("x" * 5_000,))
    database.execute("PRAGMA wal_checkpoint(FULL)").fetchall()
    database.execute("INSERT INTO some VALUES ('y')")
    log = tmp_path / "some.db-wal"
    assert log.stat().st_size > 20 * SIZE_OF_FRAME
    assert damage_in(log) is None
    flip(log, HEADER.size + 200)
    assert damage_in(log) == "some.db-wal is damaged, so that commits in it are lost"
    database.close()


def test_store_of_another_format_is_refused_before_any_file_changes(killed: Path) -> None:
    flip(killed / "partition-2.db", 63)
    before = contents(killed)
    with pytest.raises(UsageError, match=r"partition-2\.db has format"):
        Store(killed)
    assert before == contents(killed)


def test_files_of_a_store_are_for_its_owner_alone(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.widen(1)
    found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in store.folder.glob("*.db*")}
    store.close()
    assert set(found.values()) == {0o600}
    assert {"namespace.db", "namespace.db-wal", "partition-0.db"} <= set(found)
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700
