"""The record of what was judged in a folder: one file per batch, with a summary of verdicts."""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs

from busproof.errors import HistoryError, UsageError
from busproof.history.codec import structure_union, unstructure
from busproof.history.conformance import Conformance
from busproof.history.records import Header, Oracle, Record
from busproof.judging.scenario_result import Checker
from busproof.judging.summary import Summary
from busproof.judging.verdicts import verdicts
from busproof.pipeline.sources import one_header
from busproof.spec import load as load_catalogue

__all__ = ["Batch", "Ledger", "Open"]

_A_BATCH: Final = 44
"""Number of bits for a scenario's position in its batch; a batch has fewer than 2 ** 12 files."""


@attrs.frozen(kw_only=True)
class Open:
    """A history of a table of which more may come.

    Attributes:
        newest: when the last of its requests so far was made, in microseconds.
        batches: the indices of the batches that have some of it.
        is_ended: whether its end is recorded.
    """

    newest: int
    batches: tuple[int, ...]
    is_ended: bool = False

    def join(self, other: "Open") -> "Open":
        """Return this history with what came later of it."""
        return Open(
            newest=max(self.newest, other.newest),
            batches=(*self.batches, *other.batches),
            is_ended=self.is_ended or other.is_ended,
        )


@attrs.frozen(kw_only=True)
class Batch:
    """Files that are judged together.

    Attributes:
        files: name within the folder to size in bytes.
        header: the header that the files share.
        summary: the merged results of their scenarios.
        problems: sentences about unusable lines.
        histories: the ids of the judged histories, if they are those of a table.
        open: by id, all histories of a table that were not judged yet.
        newest: when the last request of all was made, in microseconds.
    """

    files: Mapping[str, int]
    header: Header
    summary: Summary
    problems: tuple[str, ...] = ()
    histories: frozenset[int] = frozenset()
    open: Mapping[int, Open] = attrs.field(factory=dict)
    newest: int = 0


@attrs.define
class Ledger:
    """A record of the batches that were judged in a folder.

    Attributes:
        place: the folder of the record.
        count: number of batches.
        files: every judged file, with its size at that time.
        batches: the names of the files of each batch.
        first: the file that was judged first, and its header, whose terms all files share.
        summary: the merged results of all scenarios.
        problems: sentences about unusable lines.
        histories: the ids of all judged histories of a table.
        open: by id, the histories of a table that are not judged yet.
        newest: when the last request of all was made, in microseconds.

    Raises:
        HistoryError: the record cannot be read or written.
    """

    place: Path
    count: int = attrs.field(default=0, init=False)
    files: dict[str, int] = attrs.field(factory=dict, init=False)
    batches: list[tuple[str, ...]] = attrs.field(factory=list, init=False)
    first: tuple[str, Header] | None = attrs.field(default=None, init=False)
    summary: Summary = attrs.field(factory=Summary, init=False)
    problems: tuple[str, ...] = attrs.field(default=(), init=False)
    histories: set[int] = attrs.field(factory=set, init=False)
    open: Mapping[int, Open] = attrs.field(factory=dict, init=False)
    newest: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        try:
            self.place.mkdir(parents=True, exist_ok=True)
            for path in sorted(self.place.glob("batch-*.json")):
                self._take(_batch_of(json.loads(path.read_bytes())))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, HistoryError) as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> HistoryError:
        reason = getattr(error, "strerror", None) or error
        return HistoryError(
            f"cannot keep what was judged in {self.place}: {reason}; name another folder with "
            "--checkpoint"
        )

    def _take(self, batch: Batch) -> None:
        first = next(iter(batch.files))
        header = batch.header
        if self.first is not None:
            header = one_header([self.first, (first, header)])
            first = self.first[0]
        self.first = (first, header)
        self.summary.merge(batch.summary.moved(self.count << _A_BATCH))
        self.problems += batch.problems
        self.files |= batch.files
        self.batches.append(tuple(batch.files))
        self.histories |= batch.histories
        self.open = batch.open
        self.newest = batch.newest
        self.count += 1

    def conformance(
        self, oracle: Oracle | None, more: Sequence[str] = (), so_far: Summary | None = None
    ) -> Conformance | None:
        """Return the verdicts on all judged files; `None` if there are none.

        Args:
            oracle: the oracle that judged, if it is not the one in the header.
            more: further problems, one sentence each.
            so_far: the results of histories that are still open.
        """
        if self.first is None:
            return None
        _, header = self.first
        terms = Checker(header, load_catalogue(), oracle).terms
        summary = Summary.of(self.summary.told())
        if so_far is not None:
            summary.merge(so_far.moved(self.count << _A_BATCH))
        return verdicts(header, terms, summary, (*self.problems, *more))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the record; raise `UsageError` if another process has locked it."""
        with (self.place / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UsageError(
                    f"another process follows the same folder with {self.place}; stop it, or name "
                    "another --checkpoint"
                ) from None
            yield

    @property
    def next_name(self) -> str:
        """Return the name of the next batch."""
        return f"batch-{self.count + 1:06}"

    def add(self, batch: Batch) -> None:
        """Record a batch, whose files count as judged from now on."""
        fields = {
            "files": dict(batch.files),
            "header": unstructure(batch.header, union=Record),
            "summary": batch.summary.told(),
            "problems": list(batch.problems),
            "histories": sorted(batch.histories),
            "open": {str(name): attrs.asdict(one) for name, one in batch.open.items()},
            "newest": batch.newest,
        }
        part = self.place / f"{self.next_name}.part"
        try:
            with part.open("w", encoding="utf-8") as file:
                json.dump(fields, file)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.place / f"{self.next_name}.json")
        except OSError as error:
            raise self._unusable(error) from None
        self._take(batch)


def _batch_of(fields: Any) -> Batch:
    return Batch(
        files=fields["files"],
        header=_header_of(structure_union(fields["header"], Record, "the record")),
        summary=Summary.of(fields["summary"]),
        problems=tuple(fields["problems"]),
        histories=frozenset(fields.get("histories", ())),
        open={
            int(name): Open(
                newest=one["newest"], batches=tuple(one["batches"]), is_ended=one["is_ended"]
            )
            for name, one in fields.get("open", {}).items()
        },
        newest=fields.get("newest", 0),
    )


def _header_of(record: object) -> Header:
    if not isinstance(record, Header):
        raise TypeError("there is no header in it")
    return record
