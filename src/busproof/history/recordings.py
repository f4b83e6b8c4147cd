"""Recordings of `busproof record`: folders whose files are parts of one history."""

import gzip
import re
from collections.abc import Generator
from itertools import islice
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
    found = {int(match[1]): path for path in folder.iterdir() if (match := _match_part(path))}
    return [found[number] for number in sorted(found)]


def _match_part(path: Path) -> re.Match[str] | None:
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
        before = self._notes()
        left = _find_open_requests(before)
        parts = parts_of(self._folder)
        lines = 0
        for number, path in enumerate(parts):
            lines = 0
            with _open_part(path) as file:
                # Each part begins with the header of the whole.
                if number:
                    file.readline(LIMIT + 1)
                for line in file:
                    if line.endswith(b"\n"):
                        lines += 1
                        if left:
                            left.pop(_who(line), None)
                        yield line
        yield from left.values()
        if (after := self._notes()) != before:
            header = int(len(parts) > 1)
            yield from self._read_meanwhile(before, after, parts[-2:], lines + header)

    def _read_meanwhile(
        self, before: bytes, after: bytes, parts: list[Path], lines: int
    ) -> Generator[bytes]:
        """Yield the requests that were opened while a recording that goes on was read.

        Each may have an answer that was written too late for this reading, and an effect that was
        not.

        Args:
            before: the notes on open requests before the reading.
            after: those after it.
            parts: the last two parts that were read.
            lines: how many lines of the last one were read.

        Raises:
            HistoryError: so much happened meanwhile that some notes are lost.
        """
        if not after.startswith(before):
            raise HistoryError(
                f"the recording in {self._folder} went on while it was read; read it once more"
            )
        left = _find_open_requests(after[len(before) :], with_closed=True)
        for path in parts:
            with _open_part(path) as file:
                for line in islice(file, lines if path == parts[-1] else None):
                    left.pop(_who(line), None)
        yield from left.values()

    def _notes(self) -> bytes:
        """Return the lines about open requests; the end of their file is zeros, room for more."""
        try:
            data = (self._folder / OPEN_REQUESTS).read_bytes()
        except FileNotFoundError:
            return b""
        return data[: data.rfind(b"\n") + 1]


def _find_open_requests(notes: bytes, *, with_closed: bool = False) -> dict[bytes, bytes]:
    """Return the events of requests without an answer, by who made them and when."""
    left: dict[int, bytes] = {}
    for line in notes.splitlines(keepends=True):
        note, _, event = line.partition(b",")
        kind, _, number = note.partition(b":")
        if kind == b'{"open"':
            left[int(number)] = event.removeprefix(b'"event":').removesuffix(b"}\n") + b"\n"
        elif not with_closed:
            left.pop(int(number.removesuffix(b"}\n")), None)
    return {_who(event): event for event in left.values()}


def _who(line: bytes) -> bytes:
    """Return the beginning of an event, with its client and the time of its call."""
    return line[: line.find(b",", line.find(b'"called":'))]


def _open_part(path: Path) -> IO[bytes]:
    packed = path if path.suffix == ".gz" else path.with_name(f"{path.name}.gz")
    try:
        return cast(IO[bytes], gzip.open(path)) if path == packed else path.open("rb")
    except FileNotFoundError:
        # It was packed meanwhile.
        return cast(IO[bytes], gzip.open(packed))
