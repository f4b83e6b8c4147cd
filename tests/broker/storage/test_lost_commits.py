"""Stores that have lost commits, and what a start that is refused leaves as it was."""

import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from busproof import vocabulary as v
from busproof.broker.storage.progress import ALL, RECORD
from busproof.broker.storage.store import Store
from busproof.errors import UsageError

from .test_store import Writing, held

LOG = "partition-0.db-wal"
HEADER = 32
SIZE_OF_FRAME = 24 + 4_096


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A store of 20 messages in one partition as a kill leaves it, its logs beside its files."""
    writing = Writing(tmp_path / "store")
    writing.ask(v.CreateQueue(queue="q", partitioned=False))
    store = Store(writing.folder)
    writing.written(store)
    shutil.copytree(writing.folder, tmp_path / "first")
    for number in range(20):
        writing.ask(v.Send(queue="q", message=v.Message(body=f"m{number}")))
        writing.written(store)
    shutil.copytree(writing.folder, tmp_path / "killed")
    store.close()
    return tmp_path / "killed"


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


def contents(folder: Path) -> dict[str, bytes]:
    """What is in each file but the lock, the indexes of logs, and logs without a commit."""
    files = (path for path in folder.iterdir() if not path.name.startswith("lock"))
    found = {path.name: path.read_bytes() for path in files if not path.name.endswith("-shm")}
    return {name: data for name, data in found.items() if data or not name.endswith("-wal")}


def test_store_left_by_a_kill_is_whole(killed: Path) -> None:
    assert len(held(killed)["q"]) == 20


def cut_frames(frames: int, more: int = 0) -> Callable[[Path], None]:
    return lambda store: cut(store / LOG, HEADER + frames * SIZE_OF_FRAME + more)


def insert(store: Path) -> None:
    data = (store / LOG).read_bytes()
    (store / LOG).write_bytes(data[:40_000] + b"inserted now" + data[40_000:])


def go_back(store: Path) -> None:
    """Put an older copy of one database in its place."""
    with_first = store.parent / "first"
    shutil.copy(with_first / "partition-0.db", store)
    shutil.copy(with_first / LOG, store)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "head": lambda store: flip(store / LOG, 0),
    "frame": lambda store: flip(store / LOG, HEADER + 5 * SIZE_OF_FRAME + 2_000),
    "last frame": lambda store: flip(store / LOG, (store / LOG).stat().st_size - 9),
    "salt of a frame": lambda store: flip(store / LOG, HEADER + 5 * SIZE_OF_FRAME + 9),
    "removed": lambda store: (store / LOG).unlink(),
    "emptied": lambda store: cut(store / LOG, 0),
    "cut in its head": lambda store: cut(store / LOG, 20),
    "cut to its head": cut_frames(0),
    "cut between frames": cut_frames(7),
    "cut in a frame": cut_frames(30, 100),
    "cut in its last frame": lambda store: cut(store / LOG, (store / LOG).stat().st_size - 100),
    "12 bytes inserted": insert,
    "older copy": go_back,
    "log of the namespace cut": lambda store: cut(store / "namespace.db-wal", 20),
    "no progress": lambda store: (store / "progress").unlink(),
    "progress cut": lambda store: cut(store / "progress", 20),
    "progress emptied": lambda store: cut(store / "progress", 0),
    "progress damaged": lambda store: flip(store / "progress", 20),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_lost_commits_are_named_and_no_file_changes(killed: Path, damage: str) -> None:
    DAMAGES[damage](killed)
    before = contents(killed)
    with pytest.raises(UsageError, match=r"has lost messages or settlements: .*--accept-loss"):
        Store(killed)
    assert before == contents(killed)


@pytest.mark.parametrize("damage", DAMAGES)
def test_store_goes_on_without_lost_commits_if_the_loss_is_accepted(
    killed: Path, damage: str
) -> None:
    DAMAGES[damage](killed)
    store = Store(killed, accepts_loss=True)
    assert len(store.losses) == 1
    store.close()
    # From now on it is whole, for a start without the option, too.
    assert len(held(killed).get("q", ())) <= 20
    Store(killed).close()


def test_loss_says_how_far_the_database_has_come(killed: Path) -> None:
    cut_frames(10)(killed)
    with pytest.raises(UsageError, match=r"partition-0\.db ends with commit \d, .* commit 21 was"):
        Store(killed)


def test_databases_that_are_gone_are_no_new_store(killed: Path) -> None:
    for path in killed.glob("*.db*"):
        path.unlink()
    with pytest.raises(UsageError, match=r"namespace\.db is damaged: it is missing"):
        Store(killed)


def test_commit_that_nobody_had_an_answer_of_may_be_lost(killed: Path) -> None:
    data = (killed / "progress").read_bytes()
    cut(killed / LOG, (killed / LOG).stat().st_size - 100)
    with pytest.raises(UsageError):
        Store(killed)
    (killed / "progress").write_bytes(data[:16] + RECORD.pack(20, 20 ^ ALL) + data[32:])
    assert len(held(killed)["q"]) == 19


def test_files_of_a_store_are_for_its_owner_alone(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.widen(1)
    found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in store.folder.glob("*.db*")}
    store.close()
    assert set(found.values()) == {0o600}
    assert {"namespace.db", "namespace.db-wal", "partition-0.db"} <= set(found)
    assert stat.S_IMODE((store.folder / "progress").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "store").stat().st_mode) == 0o700
