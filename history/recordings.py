"""Recordings of `busproof record`: folders whose files are parts of one history."""

import gzip
import json
import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, Final, cast

from busproof.errors import HistoryError
from busproof.history.lines import LIMIT

__all__ = ["OPEN_REQUESTS", "JoinedParts", "part_name", "parts_of"]

OPEN_REQUESTS: Final = "open-requests.jsonl"
"""File with the requests that were passed on and await an answer; it is removed at the end."""
PART: Final = re.compile(r"recording-(\d{6,})\.jsonl(\.gz)?")


def part_name(number: int) -> str:
    """Return the name of a part of a recording; parts are numbered from 1."""
    return f"recording-{number:06}.jsonl"


def parts_of(folder: Path) -> list[Path]:
    """Return the parts of the recording in a folder, in their order; none if it has none."""
    found = {int(match[1]): path for path in folder.iterdir() if (match := _matched(path))}
    return [found[number] for number in sorted(found)]


def _matched(path: Path) -> re.Match[str] | None:
    return PART.fullmatch(path.name)


class JoinedParts:
    """The parts of a recording as one file, with the requests that were never answered.

    A proxy that was killed leaves requests open, and perhaps an incomplete line at the end. Such a
    line is left out: what it is about was not passed on.

    Args:
        folder: the folder of the recording.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines = self._read()

    def readline(self, limit: int = -1) -> bytes:
        """Return the next line; nothing at the end."""
        line = next(self._lines, b"")
        if 0 <= limit < len(line):
            raise HistoryError(f"a line of the recording in {self._folder} is too long")
        return line

    def close(self) -> None:
        """Close the part that is being read."""
        self._lines.close()

    def __enter__(self) -> "JoinedParts":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> Generator[bytes]:
        for number, path in enumerate(parts_of(self._folder)):
            with _opened(path) as file:
                # Each part begins with the header of the whole.
                if number:
                    file.readline(LIMIT + 1)
                for line in file:
                    if line.endswith(b"\n"):
                        yield line
        yield from self._unanswered()

    def _unanswered(self) -> Iterator[bytes]:
        path = self._folder / OPEN_REQUESTS
        if not path.exists():
            return
        left: dict[int, bytes] = {}
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    continue
                note = json.loads(line)
                if "open" in note:
                    left[note["open"]] = json.dumps(note["event"]).encode() + b"\n"
                else:
                    left.pop(note["closed"], None)
        yield from left.values()


def _opened(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")
