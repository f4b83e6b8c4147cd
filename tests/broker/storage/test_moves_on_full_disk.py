"""Moves in a store whose disk is full: a disk of its own, which only the test's process sees."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from work import PATIENCE

SMALL: Final = 32
"""Megabytes of the disk: those of the reserve, and some more."""

FILLED: Final = """
import sys
from pathlib import Path

from busproof.broker.storage.databases import Full
from busproof.broker.storage.store import Store
from busproof.broker.storage.write_set import NAMESPACE, Changes, Statement


def commit(number, rows, spans=False):
    changes = Changes(number, 0, rows, spans)
    changes.close()
    return changes


folder = Path(sys.argv[1])
store = Store(folder)
store.widen(2)
move = commit(1, {0: {Statement.PUT_HOME: [(1, "a")]}, 1: {Statement.PUT_HOME: [(1, "b")]}}, True)
store.begin(move)
store.finish(move)
print(len(list(store.rows(NAMESPACE, "SELECT * FROM moves"))))
store.release()
with (folder / "filler").open("wb", buffering=0) as filler:
    try:
        while filler.write(bytes(4096)):
            pass
    except OSError as error:
        print(error.strerror)
note = commit(2, {NAMESPACE: {Statement.PUT_NOTE: [("name", "x" * 100_000)]}})
store.begin(note)
try:
    store.finish(note)
except Full:
    print("full")
(folder / "filler").unlink()
store.begin(note)
store.finish(note)
print(len(list(store.rows(NAMESPACE, "SELECT * FROM moves"))))
print(len(list(store.rows(NAMESPACE, "SELECT * FROM notes WHERE name = 'name'"))))
store.close()
"""
"""Writes a move, fills the disk, and writes a note, first in vain and then once there is room."""


@pytest.mark.needs("own-mount")
def test_move_is_removed_by_a_commit_that_found_no_room_at_first(tmp_path: Path) -> None:
    """Its rows are no longer in the namespace's database once the commit is written."""
    mount = f'mount -t tmpfs -o size={SMALL}m none "$0" && exec "$@"'
    ended = subprocess.run(
        [
            *("unshare", "-rm", "sh", "-c", mount, str(tmp_path)),
            *(sys.executable, "-c", FILLED, str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == ["2", "No space left on device", "full", "0", "1"]
