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

__all__ = ["Batch", "Ledger"]

_A_BATCH: Final = 44
"""Number of bits for a scenario's position in its batch; a batch has fewer than 2 ** 12 files."""


@attrs.frozen(kw_only=True)
class Batch:
    """Files that are judged together.

    Attributes:
        files: name within the folder to size in bytes.
        header: the header that the files share.
        summary: the merged results of their scenarios.
        problems: sentences about unusable lines.
        histories: the ids of their histories, if they are files of a table.
    """

    files: Mapping[str, int]
    header: Header
    summary: Summary
    problems: tuple[str, ...] = ()
    histories: frozenset[int] = frozenset()


@attrs.define
class Ledger:
    """A record of the batches that were judged in a folder.

    Attributes:
        place: the folder of the record.
        count: number of batches.
        files: every judged file, with its size at that time.
        first: the file that was judged first, and its header, whose terms all files share.
        summary: the merged results of all scenarios.
        problems: sentences about unusable lines.
        histories: the ids of all judged histories of a table.

    Raises:
        HistoryError: the record cannot be read or written.
    """

    place: Path
    count: int = attrs.field(default=0, init=False)
    files: dict[str, int] = attrs.field(factory=dict, init=False)
    first: tuple[str, Header] | None = attrs.field(default=None, init=False)
    summary: Summary = attrs.field(factory=Summary, init=False)
    problems: tuple[str, ...] = attrs.field(default=(), init=False)
    histories: set[int] = attrs.field(factory=set, init=False)

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
        first, header = next(iter(batch.files)), batch.header
        if self.first is not None:
            header = one_header([self.first, (first, header)])
            first = self.first[0]
        self.first = (first, header)
        self.summary.merge(batch.summary.moved(self.count << _A_BATCH))
        self.problems += batch.problems
        self.files |= batch.files
        self.histories |= batch.histories
        self.count += 1

    def conformance(self, oracle: Oracle | None, more: Sequence[str] = ()) -> Conformance | None:
        """Return the verdicts on all judged files; `None` if there are none.

        Args:
            oracle: the oracle that judged, if it is not the one in the header.
            more: further problems, one sentence each.
        """
        if self.first is None:
            return None
        _, header = self.first
        terms = Checker(header, load_catalogue(), oracle).terms
        return verdicts(header, terms, self.summary, (*self.problems, *more))

    @contextmanager
    def held(self) -> Iterator[None]:
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
    )


def _header_of(record: object) -> Header:
    if not isinstance(record, Header):
        raise TypeError("there is no header in it")
    return record
