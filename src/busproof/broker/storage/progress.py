"""How far each database of a store has come, kept beside them.

SQLite takes a log that was cut or damaged for one that a crash has cut, and reads what comes before
without a word. So the number of each database's last commit is also in a file of its own, which is
written after the commit and before any answer: a database that is behind it has lost commits.
"""

import os
from pathlib import Path
from struct import Struct
from typing import BinaryIO, Final

from busproof.broker.storage.databases import Full, sync_names
from busproof.broker.storage.write_set import NAMESPACE
from busproof.errors import UsageError

__all__ = ["Progress", "progress_in"]

RECORD: Final = Struct(">QQ")
"""A commit's number, and its complement, by which damage of the file is noticed."""
ALL: Final = 2**64 - 1
NAME: Final = "progress"


def progress_in(folder: Path) -> dict[int, int]:
    """Return the number of the last commit of each database, by partition or `NAMESPACE`.

    Raises:
        ValueError: the file is missing or damaged.
    """
    try:
        data = (folder / NAME).read_bytes()
    except OSError as error:
        raise ValueError(f"{NAME} cannot be read: {error.strerror}") from None
    found = {}
    for place in range(NAMESPACE, NAMESPACE + len(data) // RECORD.size):
        number, complement = RECORD.unpack_from(data, (place - NAMESPACE) * RECORD.size)
        if number ^ ALL != complement:
            raise ValueError(f"a number in {NAME} is damaged")
        found[place] = number
    if not found or len(data) % RECORD.size:
        raise ValueError(f"{NAME} was cut")
    return found


class Progress:
    """The file that says how far each database has come.

    Args:
        folder: the folder of the store.

    Raises:
        UsageError: the file cannot be written.
        Full: there is no room for the file.
    """

    def __init__(self, folder: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        try:
            # For its owner alone, as the databases.
            number = os.open(folder / NAME, flags, 0o600)
        except OSError as error:
            raise UsageError(f"cannot write {folder / NAME}: {error.strerror}") from None
        self._file: BinaryIO = os.fdopen(number, "r+b", buffering=0)
        if not os.fstat(number).st_size:
            # The file has a record before there is a database: without one it counts as damaged.
            self.reach(NAMESPACE, 0)
            os.fsync(number)
            sync_names(folder)

    def reach(self, place: int, number: int) -> None:
        """Record that a database has a commit.

        Raises:
            Full: there is no room; the call can be repeated.
        """
        try:
            self._file.seek((place - NAMESPACE) * RECORD.size)
            self._file.write(RECORD.pack(number, number ^ ALL))
        except OSError as error:
            raise Full(str(error)) from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()
