"""History files: one record per line, so that a crash loses no complete record."""

import gzip
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, cast

import attrs

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import check_protocol, unstructure
from busproof.history.lines import LIMIT, decode_line, encode_line
from busproof.history.packed import PackedEvents, packed
from busproof.history.recordings import JoinedParts, parts_of
from busproof.history.records import (
    Ended,
    Header,
    History,
    Record,
    Scenario,
    Started,
    read_record,
)

__all__ = ["HistoryReader", "HistoryWriter", "RecordTooLong", "load", "read", "scenarios"]


class RecordTooLong(HistoryError):
    """A record is longer than a line may be; whatever produces such records has to change.

    Nothing of the record was written, and further records can be.
    """


class HistoryWriter:
    """Writer of a history file; each record is written at once, so that a killed run keeps it.

    An existing file is overwritten, unless `append` is set. Use the writer as a context manager, or
    call `close`.

    Args:
        path: the file to write, in an existing folder.
        file: the file, already open and without a buffer, for systems where it has no name;
            messages still use `path`.
        append: whether to go on after the records of an existing file.

    Raises:
        HistoryError: the file cannot be written; `write` and `close` raise this too. After a failed
            write the file has every earlier record, and nothing more is written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        file: FileIO | None = None,
        *,
        append: bool = False,
    ) -> None:
        self._path = Path(path)
        self._kept = 0
        self._failure = ""
        try:
            self._file = file or self._path.open("ab" if append else "wb", buffering=0)
            if append:
                self._kept = self._file.seek(0, os.SEEK_END)
        except OSError as error:
            raise HistoryError(f"cannot write the history {self._path}: {_reason(error)}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def write(self, record: Record) -> None:
        """Append a record, and pass it to the operating system.

        Raises:
            RecordTooLong: the line would be too long for readers; the file stays as it was.
        """
        if self._failure:
            raise HistoryError(self._failure)
        line = encode_line(unstructure(record, union=Record))
        if len(line) > LIMIT + 1:
            raise RecordTooLong(
                f"a record of {len(line) - 1} bytes does not fit into the history {self._path}: "
                f"a line must not exceed {LIMIT} bytes"
            )
        try:
            self._append(line)
        except (OSError, ValueError) as error:
            raise self._note_failure(error) from None
        self._kept += len(line)

    def close(self) -> None:
        """Close the file; it may be called twice."""
        try:
            self._file.close()
        except OSError as error:
            raise self._note_failure(error) from None

    def _append(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[self._file.write(rest) :]

    def _note_failure(self, error: OSError | ValueError) -> HistoryError:
        with suppress(OSError, ValueError):
            self._file.truncate(self._kept)
        self._failure = (
            f"cannot write the history {self._path}: {_reason(error)}; "
            f"the first {self._kept} bytes were kept and can be read"
        )
        return HistoryError(self._failure)


class HistoryReader(Iterator[Record]):
    """Reader of a history file: an iterator of its records, the header first.

    Args:
        path: the file.
        growing: called at the end of the file, also in the middle of a line; it waits a little and
            returns whether more may still be written. By default nothing more is.
        file: the file, already open for reading, for systems where it has no name.

    Attributes:
        path: the file.
        line: the number of the last line read, from 1 on.
        cut: whether the last line was incomplete and left out; known once all records are read.

    Raises:
        HistoryError: the file cannot be read or is not a history; the message names file and line.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        growing: Callable[[], bool] | None = None,
        file: BinaryIO | None = None,
    ) -> None:
        self.path = Path(path)
        self.line = 0
        self.cut = False
        self._growing = growing
        self._begun = False
        try:
            self._file: BinaryIO = file or _open_history(self.path)
        except OSError as error:
            raise HistoryError(f"cannot read the history {self.path}: {_reason(error)}") from None
        self._records = self._read()

    def __iter__(self) -> Iterator[Record]:
        return self._records

    def __next__(self) -> Record:
        return next(self._records)

    def close(self) -> None:
        """Stop reading; not needed after the last record."""
        self._records.close()
        self._file.close()

    def wrong(self, message: str) -> HistoryError:
        """Return an error about the last line read."""
        return HistoryError(f"{self.path}:{self.line}: {message}")

    def _read(self) -> Generator[Record]:
        with self._file:
            for raw, last in self._lines():
                try:
                    record = _record(raw)
                except HistoryError as error:
                    self.cut = last and self._begun and _is_cut(raw)
                    if self.cut:
                        return
                    raise self.wrong(str(error)) from None
                self._check_header(record)
                yield record
            if not self._begun:
                raise HistoryError(f"{self.path} is empty, and a history begins with a header")

    def _lines(self) -> Iterator[tuple[bytes, bool]]:
        following = self._next_line()
        while raw := following:
            following = self._next_line()
            self.line += 1
            if len(raw) > LIMIT and not raw.endswith(b"\n"):
                raise self.wrong(f"a line must not exceed {LIMIT} bytes: this is not a history")
            if not raw.isspace():
                yield raw, not following

    def _next_line(self) -> bytes:
        try:
            line = self._file.readline(LIMIT + 1)
            if line.endswith(b"\n"):
                return line
            while self._growing is not None and len(line) <= LIMIT and not line.endswith(b"\n"):
                # This is called before the file is read again, so that no record written until then
                # is missed.
                if not self._growing():
                    self._growing = None
                line += self._file.readline(LIMIT + 1 - len(line))
        except OSError as error:
            raise HistoryError(f"cannot read the history {self.path}: {_reason(error)}") from None
        return line

    def _check_header(self, record: Record) -> None:
        if isinstance(record, Header) == self._begun:
            raise self.wrong(
                "a second header begins here: keep each history in a file of its own"
                if self._begun
                else 'a history must begin with a header, {"record":"header",…}'
            )
        self._begun = True


class _Grouping:
    """Collector of the events of the scenario that is being read.

    Events without the start of a scenario are accepted only if the history has no scenarios.
    """

    def __init__(self, reader: HistoryReader) -> None:
        self._reader = reader
        self._open: Scenario | None = None
        self._events = PackedEvents()
        self._bare = True

    def add(self, event: v.Event) -> None:
        """Add an event to the scenario that is being read."""
        if self._open is None:
            if not self._bare:
                raise self._reader.wrong("an event outside of a scenario: begin one with started")
            self.begin(Scenario())
        self._events.append(event)

    def begin(self, scenario: Scenario) -> None:
        """Start reading a scenario."""
        self._open = scenario
        self._events = PackedEvents()
        self._bare = False

    def end(self, ended: Ended | None) -> Iterator[Scenario]:
        """Yield the scenario that was being read, if there was one."""
        if self._open is not None:
            yield attrs.evolve(self._open, events=packed(self._events), ended=ended)
        elif ended is not None:
            raise self._reader.wrong("a scenario ends here that did not begin")
        self._open = None


def read(path: str | os.PathLike[str], growing: Callable[[], bool] | None = None) -> HistoryReader:
    """Return a reader of a history file's records; see `HistoryReader` for the errors."""
    return HistoryReader(path, growing)


def scenarios(reader: HistoryReader) -> Iterator[Scenario]:
    """Yield the scenarios in the remaining records, each as soon as it is complete.

    A history that has only events is one scenario.

    Raises:
        HistoryError: as from `HistoryReader`, or because a record is outside of a scenario.
    """
    grouping = _Grouping(reader)
    for record in reader:
        match record:
            case v.Event():
                grouping.add(record)
            case Started(scenario=name, rules=rules, feature=feature):
                yield from grouping.end(None)
                grouping.begin(Scenario(name=name, rules=rules, feature=feature))
            case Ended():
                yield from grouping.end(record)
            case Header():
                pass
    yield from grouping.end(None)


def load(path: str | os.PathLike[str], file: BinaryIO | None = None) -> History:
    """Return a whole history; raise `HistoryError` as `read` and `scenarios` do.

    Args:
        path: the file.
        file: the file, already open for reading, for systems where it has no name; it is closed.
    """
    with closing(HistoryReader(path, file=file)) as reader:
        header = cast(Header, next(reader))
        return History(header=header, scenarios=tuple(scenarios(reader)), cut=reader.cut)


def _open_history(path: Path) -> BinaryIO:
    """Open a history, which may be packed, or be a folder with the parts of a recording."""
    if path.is_dir() and parts_of(path):
        return cast(BinaryIO, JoinedParts(path))
    return cast(BinaryIO, gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _record(raw: bytes) -> Record:
    value = decode_line(raw)
    if value.get("record") == "header":
        check_protocol(value.get("protocol"))
    return read_record(value)


def _is_cut(raw: bytes) -> bool:
    """Return whether a last line that cannot be read is the beginning of one."""
    try:
        decode_line(raw)
    except HistoryError:
        return not raw.endswith(b"\n") or (raw.startswith(b"{") and not raw.strip().endswith(b"}"))
    return False


def _reason(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
