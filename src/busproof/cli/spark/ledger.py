"""The record of what was judged in a folder: one file a batch, with the summary of its verdicts."""

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
"""Bits for a scenario's position in its batch; a batch has fewer files than 2 ** 12."""


@attrs.frozen(kw_only=True)
class Batch:
    """Files judged together.

    Attributes:
        files: name under the folder to size in bytes.
        header: what the files say of themselves.
        summary: what their scenarios came to.
        problems: sentences on lines that could not be used.
        histories: the ids of their histories, if they are files of a table.
    """

    files: Mapping[str, int]
    header: Header
    summary: Summary
    problems: tuple[str, ...] = ()
    histories: frozenset[int] = frozenset()


@attrs.define
class Ledger:
    """Record of the batches judged in a folder.

    Attributes:
        place: the folder that it is kept in.
        count: of batches.
        files: every file that was judged, and how large it was then.
        first: the file that was judged first, and the header of all, which are of the same terms.
        summary: what all scenarios came to.
        problems: sentences on lines that could not be used.
        histories: the ids of all judged histories of a table.

    Raises:
        HistoryError: it cannot be read or written.
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
            oracle: the oracle that judged, if not the one that the header names.
            more: further problems, one sentence each.
        """
        if self.first is None:
            return None
        _, header = self.first
        terms = Checker(header, load_catalogue(), oracle).terms
        return verdicts(header, terms, self.summary, (*self.problems, *more))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the record; raise `UsageError` if another process holds it."""
        with (self.place / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UsageError(
                    f"another process follows the same folder, by {self.place}; end that, or name "
                    "another --checkpoint"
                ) from None
            yield

    @property
    def next_name(self) -> str:
        """Return the name of the next batch."""
        return f"batch-{self.count + 1:06}"

    def add(self, batch: Batch) -> None:
        """Record a batch: its files are judged from now on."""
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
        raise TypeError("it has no header")
    return record
