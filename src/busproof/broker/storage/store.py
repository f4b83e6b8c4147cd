"""A store in a folder: the namespace's database and one per partition.

A commit may change several files. If a single command changes rows in more than one, for example
because it forwards a message, the whole commit is first written as a *move* into the namespace's
database, and counts from then on. The next start completes a move that was interrupted.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from busproof.broker.storage.databases import (
    Database,
    Full,
    Rows,
    check,
    damage_error,
    last_commit,
)
from busproof.broker.storage.progress import Progress, progress_in
from busproof.broker.storage.write_set import ARGUMENTS, NAMESPACE, PARAMETERS, Changes, Statement
from busproof.errors import UsageError

__all__ = ["Store"]

RESERVE: Final = 16 * 1024 * 1024
"""Bytes to reserve on the disk, so that clients can still receive once it is full."""
PIECE: Final = 1024 * 1024
LOG: Final = 4 * 1024 * 1024
"""Size of a log that triggers a checkpoint, in bytes."""
KEEP_MOVE: Final = f"INSERT INTO moves VALUES (NULL, ?, ?, ?{', ?' * ARGUMENTS})"  # noqa: S608 - constant names
FORGET_MOVES: Final = "DELETE FROM moves WHERE move < ?"


class Store:
    """A store, locked for this process.

    Args:
        folder: the folder, which is created if it does not exist.
        synced: whether commits survive a power failure.
        accepts_loss: whether to use a store that has lost commits, without them.

    Raises:
        UsageError: the store cannot be used.
    """

    def __init__(self, folder: Path, *, synced: bool = False, accepts_loss: bool = False) -> None:
        self.folder = folder
        self.losses: list[str] = []
        """Descriptions of the losses that were accepted."""
        self._synced = synced
        self._databases: dict[int, Database] = {}
        self._progress: Progress | None = None
        self._moves = False
        """Whether the namespace's database has moves."""
        self._lock = _lock_folder(folder)
        try:
            self.is_new = not (folder / "namespace.db").exists()
            self._check_neighbours()
            # Opening a file with SQLite changes it, and a start that is refused must change none.
            if not self.is_new:
                self._check_files(accepts_loss=accepts_loss)
            self._progress = Progress(folder)
            self._databases[NAMESPACE] = self._open("namespace.db", "namespace")
            self.widen(self._count())
            self._recover()
            for place, database in self._databases.items():
                self._progress.reach(place, database.last[0])
            self.reserve()
        except Full as full:
            self.close()
            raise UsageError(f"there is no room for a store in {folder}: {full}") from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the store."""
        for database in self._databases.values():
            database.close()
        if self._progress is not None:
            self._progress.close()
        self._lock.close()

    @property
    def last(self) -> tuple[int, int]:
        """The number of the last commit, and the bus's time then, in microseconds."""
        return max(database.last for database in self._databases.values())

    def widen(self, partitions: int) -> None:
        """Create the missing databases for this many partitions."""
        for partition in range(partitions):
            if partition not in self._databases:
                name = f"partition-{partition}.db"
                self._databases[partition] = self._open(name, "partition")
                self._reach(partition, self._databases[partition].last[0])

    def rows(self, place: int, sql: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query in the database of a place."""
        return self._databases[place].rows(sql)

    def path(self, place: int) -> Path:
        """Return the file of the database of a place."""
        return self._databases[place].path

    @property
    def partitions(self) -> list[int]:
        """The partitions that have a database."""
        return sorted(place for place in self._databases if place != NAMESPACE)

    def begin(self, changes: Changes) -> None:
        """Begin a commit; `finish` makes it durable.

        Raises:
            Full: there is no room; the call can be repeated.
        """
        for place in changes.left:
            if not self._databases[place].has_begun:
                self._begin_in(place, changes)

    def finish(self, changes: Changes) -> None:
        """Make a commit durable; databases that rolled back begin again.

        Raises:
            Full: there is no room; the call can be repeated.
        """
        # The namespace's database commits first: that decides a move, and a start completes it.
        while changes.left:
            place = changes.left[0]
            if not self._databases[place].has_begun:
                # A database without room has rolled its part back, and writes it again as a whole.
                self._begin_in(place, changes)
            self._databases[place].commit()
            self._reach(place, changes.number)
            changes.left.pop(0)
            if place == NAMESPACE:
                # Set it only now: a commit that is rolled back leaves the earlier moves in place.
                self._moves = changes.spans

    def reserve(self) -> bool:
        """Reserve room on the disk; return whether there is enough."""
        try:
            with (self.folder / "reserve").open("ab", buffering=0) as file:
                while (size := file.tell()) < RESERVE:
                    # Write real data, because a file with a hole takes no room.
                    file.write(bytes(min(PIECE, RESERVE - size)))
        except OSError:
            self.release()
            return False
        return True

    def release(self) -> None:
        """Release the reserved room."""
        (self.folder / "reserve").unlink(missing_ok=True)

    def logs(self) -> list[int]:
        """Return the databases with long logs; the longest is last."""
        sizes = {place: database.log_size for place, database in self._databases.items()}
        return sorted((place for place in sizes if sizes[place] > LOG), key=sizes.__getitem__)

    def shorten(self, place: int) -> None:
        """Move the log of a database into its file."""
        self._databases[place].checkpoint()

    def make_room(self) -> bool:
        """Return unused room to the disk; return whether the reserve is complete again."""
        for database in self._databases.values():
            # One database without room for its checkpoint must not keep the others from it.
            with suppress(Full):
                database.checkpoint(shrink=True)
        return self.reserve()

    def _open(self, name: str, kind: str) -> Database:
        return Database(self.folder / name, kind, synced=self._synced)

    def _check_neighbours(self) -> None:
        """Check that the folder of a new store is not one whose databases are gone."""
        # Without the namespace's database, a store would begin anew over full partitions.
        if self.is_new and (stray := sorted(self.folder.glob("partition-*.db"))):
            raise damage_error(
                self.folder / "namespace.db", f"it is missing beside {stray[0].name}"
            )
        with suppress(ValueError):
            if self.is_new and any(progress_in(self.folder).values()):
                raise damage_error(self.folder / "namespace.db", "it is missing")

    def _check_files(self, *, accepts_loss: bool) -> None:
        """Check all files before opening any, because opening changes them."""
        for path in self._paths():
            check(path)
        self.losses = list(self._losses())
        if self.losses and not accepts_loss:
            raise UsageError(
                f"{self.folder} has lost messages or settlements: {'; '.join(self.losses)}; "
                "nothing was changed; put an intact copy of the store in its place, or start with "
                "--accept-loss to go on without them"
            )
        there = {path.name for path in self.folder.glob("partition-*.db")}
        # Look for a gap before opening any file; only the namespace's database has the real number.
        for name in (f"partition-{partition}.db" for partition in range(len(there))):
            if name not in there:
                raise damage_error(self.folder / name, "it is missing")

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob("*.db"))

    def _losses(self) -> Iterator[str]:
        """Yield which databases are behind what was written to them."""
        try:
            written = progress_in(self.folder)
        except ValueError as error:
            yield f"{error}, so that nobody knows how far the databases had come"
            return
        for path in self._paths():
            _, _, partition = path.stem.rpartition("-")
            place = int(partition) if partition.isdecimal() else NAMESPACE
            # A kill may come after a new database was made and before its first number.
            if (last := last_commit(path)) < (wanted := written.get(place, 0)):
                yield f"{path.name} ends with commit {last:,}, though commit {wanted:,} was written"

    def _reach(self, place: int, number: int) -> None:
        if self._progress is None:
            raise AssertionError("a store writes after it has opened its files")
        self._progress.reach(place, number)

    def _count(self) -> int:
        """Return the number of partitions; each must have its file."""
        rows = self.rows(NAMESPACE, "SELECT value FROM notes WHERE name = 'stores'")
        count = max((int(value) for (value,) in rows), default=len(self.partitions))
        for partition in range(count):
            path = self.folder / f"partition-{partition}.db"
            if not path.exists():
                raise damage_error(path, "it is missing")
        return count

    def _begin_in(self, place: int, changes: Changes) -> None:
        database, rows = self._databases[place], changes.rows.get(place, {})
        database.write(rows, changes.number, changes.now)
        if place == NAMESPACE:
            # By the next commit, every partition has its part of the last one, so moves are done.
            if self._moves:
                database.run(FORGET_MOVES, [(changes.number,)])
            if changes.spans:
                database.run(KEEP_MOVE, _move(changes))

    def _recover(self) -> None:
        """Complete the moves that were decided but interrupted."""
        records = self.rows(NAMESPACE, "SELECT * FROM moves ORDER BY id")
        moves = [(*row[1:4], row[4:]) for row in records]
        self._moves = bool(moves)
        for (number, partition), rows in groupby(moves, key=lambda row: (row[0], row[1])):
            database = self._databases[partition]
            # A partition that already has the commit must not get it twice.
            if database.last[0] < number:
                _, now = self._databases[NAMESPACE].last
                database.write(_finish(rows), number, now)
                database.commit()


def _move(changes: Changes) -> list[tuple[Any, ...]]:
    """Return the rows of a move, for all partitions."""
    return [
        (changes.number, place, int(statement), *values, *[None] * (ARGUMENTS - len(values)))
        for place, rows in changes.rows.items()
        if place != NAMESPACE
        for statement, entries in rows.items()
        for values in entries
    ]


def _finish(rows: Any) -> Rows:
    by_statement: dict[Statement, list[tuple[Any, ...]]] = {}
    for _, _, number, values in rows:
        statement = Statement(number)
        by_statement.setdefault(statement, []).append(values[: PARAMETERS[statement]])
    return by_statement


def _lock_folder(folder: Path) -> sqlite3.Connection:
    """Lock the folder for this process, until the process ends.

    Raises:
        UsageError: another process uses the folder, or it cannot be created.
    """
    try:
        # Other users must not be able to read messages.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot use {folder} as a store: {error.strerror}") from None
    lock = None
    try:
        # SQLite's lock works on every system, and ends with the process, however that ends.
        lock = sqlite3.connect(folder / "lock", timeout=0, isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if lock is not None:
            lock.close()
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            raise UsageError(
                f"the store {folder} is in use by another broker; stop that, or choose another "
                "--store"
            ) from None
        raise UsageError(f"cannot use {folder} as a store: {error}") from None
    return lock
