"""The databases of a store: the namespace's and one per partition, each with its own commits."""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from busproof.broker.storage.write_set import ARGUMENTS, STATEMENTS, Statement
from busproof.errors import UsageError

__all__ = [
    "FORMAT",
    "Database",
    "Full",
    "Rows",
    "check",
    "damage_error",
    "last_commit",
    "sync_names",
]

FORMAT: Final = 4
"""Format of the databases; stores in another format are not opened."""
APPLICATION: Final = 0x62707266
"""SQLite application id of busproof's databases: `bprf`."""

HEAD: Final = 100
MAGIC: Final = b"SQLite format 3\x00"
"""First bytes of every SQLite file; `HEAD` is the size of its header."""

Rows = Mapping[Statement, list[tuple[Any, ...]]]

_SCHEMA: Final = {
    "namespace": f"""
        CREATE TABLE entities (id INTEGER PRIMARY KEY, path TEXT NOT NULL, entity TEXT NOT NULL);
        CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE descriptions (
            path TEXT PRIMARY KEY, description TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE moves (
            id INTEGER PRIMARY KEY, move INTEGER NOT NULL, partition INTEGER NOT NULL,
            statement INTEGER NOT NULL, {", ".join(f"a{number}" for number in range(ARGUMENTS))}
        );
    """,
    "partition": """
        CREATE TABLE messages (
            id INTEGER PRIMARY KEY, state INTEGER NOT NULL, deliveries INTEGER NOT NULL,
            failed INTEGER NOT NULL, locked_until INTEGER NOT NULL, cached_by TEXT,
            arrival INTEGER NOT NULL, enqueued_at INTEGER NOT NULL, expires_at INTEGER,
            reason TEXT, more TEXT,
            name TEXT NOT NULL, message TEXT NOT NULL, content BLOB
        );
        CREATE TABLE scheduled (
            id INTEGER PRIMARY KEY, due INTEGER NOT NULL, source TEXT NOT NULL, key TEXT NOT NULL,
            name TEXT NOT NULL, message TEXT NOT NULL, content BLOB
        );
        CREATE TABLE sessions (
            entity INTEGER NOT NULL, name TEXT NOT NULL, holder TEXT,
            locked_until INTEGER NOT NULL, state TEXT, stated INTEGER, PRIMARY KEY (entity, name)
        ) WITHOUT ROWID;
        CREATE TABLE duplicates (
            entity INTEGER NOT NULL, source TEXT NOT NULL, key TEXT NOT NULL,
            message_id TEXT NOT NULL, until INTEGER NOT NULL,
            PRIMARY KEY (entity, source, key, message_id)
        ) WITHOUT ROWID;
        CREATE TABLE homes (
            entity INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (entity, name)
        ) WITHOUT ROWID;
        CREATE TABLE counters (
            entity INTEGER PRIMARY KEY, arrivals INTEGER NOT NULL
        );
    """,
}
_COMMITS: Final = """
    CREATE TABLE commits (
        only_one INTEGER PRIMARY KEY CHECK (only_one = 1), number INTEGER NOT NULL,
        now INTEGER NOT NULL
    );
    INSERT INTO commits VALUES (1, 0, 0);
"""

# SQLite reports a full disk by several errors, depending on what it was doing.
_NO_ROOM: Final = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR_WRITE,
    sqlite3.SQLITE_IOERR_FSYNC,
    sqlite3.SQLITE_IOERR_TRUNCATE,
    sqlite3.SQLITE_IOERR_SHMSIZE,
}


class Full(Exception):
    """The disk has no room for a write; this may pass."""


def damage_error(path: Path, why: object) -> UsageError:
    """Return the error for a damaged store."""
    return UsageError(
        f"{path} is damaged: {why}; its contents are unchanged; put an intact copy in "
        "its place, or start with another --store"
    )


class Database:
    """A database file, created if it does not exist.

    Args:
        path: the path of the file.
        kind: `namespace` or `partition`.
        synced: whether commits survive a power failure.

    Raises:
        UsageError: the file is damaged, or cannot be written.
        Full: there is no room for the file.
    """

    def __init__(self, path: Path, kind: str, *, synced: bool) -> None:
        self.path = path
        with self._watched():
            if not path.exists():
                _make(path, kind, synced=synced)
            # The event loop begins commits and a thread ends them, but never both at once.
            self._sqlite = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._sqlite.execute("PRAGMA busy_timeout = 500")
            self._sqlite.execute("PRAGMA journal_mode = WAL")
            # NORMAL does not flush a commit: it survives a kill, but perhaps not a power failure.
            self._sqlite.execute(f"PRAGMA synchronous = {'FULL' if synced else 'NORMAL'}")
            # A checkpoint takes long, so the saver does it in its thread, one database at a time.
            self._sqlite.execute("PRAGMA wal_autocheckpoint = 0")
            # Some builds overwrite deleted data with zeros, which needs room even on a full disk.
            self._sqlite.execute("PRAGMA secure_delete = OFF")

    def close(self) -> None:
        """Close the database; everything written is in the file afterwards."""
        self._sqlite.close()

    def write(self, rows: Rows, number: int, now: int) -> None:
        """Begin a commit of these rows.

        Raises:
            Full: there is no room; no commit has begun.
        """
        with self._watched():
            self._sqlite.execute("BEGIN IMMEDIATE")
            for statement, values in rows.items():
                self._sqlite.executemany(STATEMENTS[statement], values)
            self._sqlite.execute("UPDATE commits SET number = ?, now = ?", (number, now))

    def commit(self) -> None:
        """End the commit; its rows are durable then.

        Raises:
            Full: there is no room; the commit was rolled back.
        """
        with self._watched():
            self._sqlite.execute("COMMIT")

    @property
    def has_begun(self) -> bool:
        """Whether a commit has begun and not ended."""
        return self._sqlite.in_transaction

    def run(self, sql: str, values: Any = ()) -> None:
        """Execute a statement within a commit, once for each of the values."""
        with self._watched():
            self._sqlite.executemany(sql, values)

    def rows(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query."""
        try:
            yield from self._sqlite.execute(sql)
        except sqlite3.DatabaseError as error:
            raise damage_error(self.path, error) from None

    @property
    def last(self) -> tuple[int, int]:
        """The number of the last commit, and the time of the bus at that commit."""
        ((number, now),) = self.rows("SELECT number, now FROM commits")
        return number, now

    def checkpoint(self, *, shrink: bool = False) -> None:
        """Move the contents of the write-ahead log into the file, and truncate the log.

        Raises:
            Full: there is no room for the contents.
        """
        with self._watched():
            if shrink:
                # Vacuum first, so that the checkpoint leaves free pages out of the file.
                self._sqlite.execute("PRAGMA incremental_vacuum").fetchall()
            self._sqlite.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    @property
    def log_size(self) -> int:
        """Size of the write-ahead log, in bytes."""
        try:
            return self.path.with_name(f"{self.path.name}-wal").stat().st_size
        except OSError:
            return 0

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            # Roll back a failed commit as a whole, so that it can be written again from the start.
            if hasattr(self, "_sqlite") and self._sqlite.in_transaction:
                self._sqlite.execute("ROLLBACK")
            if _is_full(error):
                raise Full(str(error)) from None
            if _is_read_only(error):
                raise UsageError(
                    f"{self.path} is read-only for the broker; nothing was changed; let it write "
                    "the folder and its files, or choose another --store"
                ) from None
            raise damage_error(self.path, error) from None


def _make(path: Path, kind: str, *, synced: bool) -> None:
    """Create an empty database atomically."""
    begun = path.with_name(f"{path.name}-new")
    for stale in (begun, begun.with_name(f"{begun.name}-journal")):
        stale.unlink(missing_ok=True)
    # The log inherits the permissions; other users must not be able to read messages.
    begun.touch(0o600)
    made = sqlite3.connect(begun, isolation_level=None)
    try:
        made.execute(f"PRAGMA synchronous = {'FULL' if synced else 'OFF'}")
        made.executescript(
            # SQLite accepts this setting only before a database has its first table.
            f"PRAGMA auto_vacuum = INCREMENTAL; BEGIN; {_SCHEMA[kind]} {_COMMITS} "
            f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT}; COMMIT;"
        )
    finally:
        made.close()
    # A file of this name is complete: a kill leaves only the other name, which is made again.
    begun.rename(path)
    if synced:
        sync_names(path.parent)


def sync_names(folder: Path) -> None:
    """Make new file names survive a power failure, on systems that require a sync for that."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def check(path: Path) -> None:
    """Check by its first bytes that a file is a busproof database, because opening would change it.

    Raises:
        UsageError: the file is not, or it has another format.
    """
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if len(head) < HEAD or not head.startswith(MAGIC):
        raise damage_error(path, "it does not begin like a database")
    # SQLite stores the application id and the user version at these positions.
    ours, made = (int.from_bytes(head[place : place + 4], "big") for place in (68, 60))
    if ours != APPLICATION:
        raise UsageError(f"{path} is not a database of a busproof store; move it elsewhere")
    if made != FORMAT:
        raise UsageError(
            f"{path} has format {made}, and this busproof reads format {FORMAT}; nothing was "
            "changed; use the busproof that wrote it, or another --store"
        )


def last_commit(path: Path) -> int:
    """Return the number of the last commit that SQLite reads in a database, without changing it.

    Raises:
        UsageError: the database cannot be read.
    """
    # Only the index of its log, which SQLite makes anew at each opening, is written.
    database = None
    try:
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        ((number,),) = database.execute("SELECT number FROM commits").fetchall()
    except (sqlite3.DatabaseError, ValueError) as error:
        raise damage_error(path, error) from None
    finally:
        if database is not None:
            database.close()
    return int(number)


def _is_read_only(error: sqlite3.DatabaseError) -> bool:
    # The lowest byte of a code is its kind.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
    )


def _is_full(error: sqlite3.DatabaseError) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code in _NO_ROOM
