"""The files of a recording: events as JSON lines, and the requests that still await an answer.

Whatever is passed on is written first. A request is noted in the file of open requests when it is
passed to the service; its event goes to the recording before its answer is passed to the client. So
a proxy that is killed leaves a recording in which every request that the service may have got is
found, answered or not (`history.recordings` reads it so).
"""

import gzip
import json
import shutil
import threading
import time
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import unstructure
from busproof.history.lines import encode_line
from busproof.history.recordings import part_name
from busproof.history.records import Header, Record
from busproof.recorder.open_requests import OpenRequests
from busproof.recorder.requests import Call, Requests

__all__ = ["Journal", "Rolling"]

MICROSECONDS: Final = 1_000_000
UNANSWERED: Final = '{"type":"Indeterminate"}'
DONE: Final = '{"type":"Done"}'
"""The outcome of most requests, of which encoding takes as long as the rest of an event."""


@attrs.frozen
class Rolling:
    """When a file of a recording is followed by the next one.

    Attributes:
        size: maximum size of a file before it is packed, in bytes.
        seconds: maximum time from its first event to its last, in seconds.
    """

    size: int = 256 * 1024 * 1024
    seconds: float = 3600.0


class Journal(Requests):
    """The events of a recording, written to files in a folder.

    Lines gather in memory until `flush`, which has to be called before any byte is passed on.

    Args:
        folder: the folder; it must have no recording yet.
        header: the first record of each file.
        rolling: when the next file begins.
        heard: called for each event, in the order of their answers.

    Raises:
        HistoryError: a file cannot be written; `flush` and `close` raise this too.
    """

    def __init__(
        self,
        folder: Path,
        header: Header,
        rolling: Rolling,
        heard: Callable[[bytes], None] | None = None,
    ) -> None:
        super().__init__(int(time.time() * MICROSECONDS))
        self._folder = folder
        self._rolling = rolling
        self._header = encode_line(unstructure(header, union=Record))
        self._heard = heard
        self._began = time.monotonic()
        self.parts = 0
        self._lines: list[bytes] = []
        self._number = 0
        self._open: dict[int, Call] = {}
        self._ended: list[int] = []
        """Numbers of open requests that have ended, until their answers are written."""
        self._size = 0
        self._since = 0.0
        self.failure = ""
        """Why nothing can be written any more; empty as long as something can."""
        self._packing: list[threading.Thread] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise HistoryError(
                    f"{folder} is not empty; name a new folder, so that no recording is overwritten"
                )
            self._asked = OpenRequests(folder)
            self._file = self._next_part()
        except OSError as error:
            raise self._note_failure(error) from None

    def now(self) -> int:
        """Return the time on the recording's clock, in microseconds; it never goes backwards."""
        return int((time.monotonic() - self._began) * MICROSECONDS)

    def _note_open(self, call: Call) -> None:
        self._number += 1
        call.number = self._number
        self._open[call.number] = call
        self._note(_opening(call))

    def _note_closed(self, call: Call) -> None:
        self._ended.append(call.number)

    def _keep(self, call: Call, returned: int | None, outcome: v.Outcome) -> None:
        said = DONE if type(outcome) is v.Done else _json(unstructure(outcome))
        line = _event(call, returned, said).encode() + b"\n"
        self._lines.append(line)
        if self._heard is not None:
            self._heard(line)

    def flush(self) -> None:
        """Write all lines that have gathered; afterwards, what they are about may be passed on.

        Raises:
            HistoryError: they could not be written; from then on, nothing may be passed on.
        """
        if self.failure:
            raise HistoryError(self.failure)
        try:
            if self._lines:
                data = b"".join(self._lines)
                self._lines.clear()
                _put(self._file, data)
                self._size += len(data)
                if self._is_full():
                    self._roll()
            # Only now: a kill before would lose a request that is neither open nor answered.
            if self._ended:
                for number in self._ended:
                    del self._open[number]
                self._note(b"".join(b'{"closed":%d}\n' % number for number in self._ended))
                self._ended.clear()
        except OSError as error:
            raise self._note_failure(error) from None

    def close(self) -> None:
        """Write what has gathered, close the files, and wait until the last one is packed.

        Raises:
            HistoryError: something could not be written.
        """
        try:
            if not self.failure:
                self.flush()
                for call in list(self._open.values()):
                    self.end(call, v.Indeterminate(detail="the recording ended before an answer"))
                self.flush()
        finally:
            self._file.close()
            self._asked.close(is_answered=not self.failure and not self._open)
            for thread in self._packing:
                thread.join()

    def _note(self, line: bytes) -> None:
        if self.failure:
            return
        try:
            self._asked.note(line, (_opening(call) for call in self._open.values()))
        except OSError as error:
            # The next `flush` raises it, before anything is passed on.
            self._note_failure(error)

    def _is_full(self) -> bool:
        return (
            self._size >= self._rolling.size
            or time.monotonic() - self._since >= self._rolling.seconds
        )

    def _roll(self) -> None:
        old = self._file
        path = self._folder / part_name(self.parts)
        self._file = self._next_part()
        old.close()
        self._packing = [thread for thread in self._packing if thread.is_alive()]
        thread = threading.Thread(target=_pack, args=(path,), daemon=True)
        self._packing.append(thread)
        thread.start()

    def _next_part(self) -> FileIO:
        self.parts += 1
        file = (self._folder / part_name(self.parts)).open("xb", buffering=0)
        _put(file, self._header)
        self._size = len(self._header)
        self._since = time.monotonic()
        return file

    def _note_failure(self, error: OSError) -> HistoryError:
        self.failure = f"cannot write the recording in {self._folder}: {error.strerror or error}"
        return HistoryError(self.failure)


_json: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
"""Encodes as ASCII; made once, because making one takes as long as encoding a message."""


def _opening(call: Call) -> bytes:
    """Return the line that notes a request as open."""
    return b'{"open":%d,"event":%s}\n' % (
        call.number,
        _event(call, None, UNANSWERED).encode("ascii"),
    )


def _event(call: Call, returned: int | None, outcome: str) -> str:
    if not call.written:
        call.written = _json(unstructure(call.command))
    ends = "" if returned is None else f',"returned":{returned}'
    # Names of clients and connections are the recorder's own, and need no escapes.
    return (
        f'{{"record":"event","client":"{call.client}","connection":"{call.connection}",'
        f'"called":{call.called}{ends},"command":{call.written},"outcome":{outcome}}}'
    )


def _put(file: FileIO, data: bytes) -> None:
    """Pass bytes to the operating system; a disk may take them in pieces."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


def _pack(path: Path) -> None:
    """Compress a complete file; a reader finds either the one or the other."""
    packed = path.with_name(f"{path.name}.gz")
    unfinished = path.with_name(f"{path.name}.packing")
    try:
        with path.open("rb") as plain, gzip.open(unfinished, "wb", compresslevel=6) as file:
            shutil.copyfileobj(plain, file, 1_048_576)
        unfinished.replace(packed)
        path.unlink()
    except OSError:
        # The disk has no room for both: the file stays as it is, and can be read.
        unfinished.unlink(missing_ok=True)
