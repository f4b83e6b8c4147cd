"""The file of requests that were passed on and await an answer.

It is mapped into memory, so that noting a request costs no call of the system, and yet outlives the
process. Its room is written before, so that a full disk is an error and no signal.
"""

import mmap
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from busproof.history.recordings import OPEN_REQUESTS

__all__ = ["ROOM", "OpenRequests"]

ROOM: Final = 1_048_576
"""Size of the file, in bytes; it is larger while the open requests need more."""


class OpenRequests:
    """Lines that each open or close a request.

    Args:
        folder: the folder of the recording.

    Raises:
        OSError: the disk has no room; `note` raises this too.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / OPEN_REQUESTS
        self._map = self._map_file(self._path, ROOM)
        self._end = 0

    def note(self, line: bytes, still_open: Iterable[bytes]) -> None:
        """Note a line; if the file is full, begin it again with the requests that are still open.

        Args:
            line: the line.
            still_open: the lines that opened these; looked at only if they are needed.
        """
        end = self._end + len(line)
        if end > len(self._map):
            self._begin_again(line, b"".join(still_open))
            return
        self._map[self._end : end] = line
        self._end = end

    def close(self, *, is_answered: bool) -> None:
        """Close the file; remove it if it has no open request."""
        self._map.close()
        if is_answered:
            self._path.unlink(missing_ok=True)

    def _begin_again(self, line: bytes, still_open: bytes) -> None:
        fresh = self._path.with_suffix(".new")
        data = still_open + line
        made = self._map_file(fresh, max(ROOM, 2 * len(data)))
        made[: len(data)] = data
        # A reader finds the old file or the new one, and both have all that is open.
        fresh.replace(self._path)
        self._map.close()
        self._map = made
        self._end = len(data)

    def _map_file(self, path: Path, size: int) -> mmap.mmap:
        with path.open("w+b") as file:
            file.write(bytes(size))
            file.flush()
            return mmap.mmap(file.fileno(), size)
