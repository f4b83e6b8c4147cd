"""`busproof check --engine spark --follow DIR`: each history file of a folder once, as they come.

A batch is the files that have come since the last one. It counts once its record is there, which
is written last, and whole or not at all: after a kill in its middle the same files are judged
again, and nothing of the half batch is left.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import attrs
from pyspark.sql import SparkSession

from busproof.cli.console import busy, write_aside
from busproof.cli.frame import Options
from busproof.cli.spark.check import checked
from busproof.errors import HistoryError, UsageError
from busproof.history.codec import structure_union, unstructure
from busproof.history.conformance import Conformance, Verdict
from busproof.history.records import Header, Oracle, Record
from busproof.judging.scenario_result import Checker
from busproof.judging.summary import Summary
from busproof.judging.verdicts import verdicts
from busproof.pipeline.session import settings_from, spark_session_for_now
from busproof.pipeline.sources import Source, header_of, one_header
from busproof.reports.conformance import write as write_report
from busproof.spec import load as load_catalogue

__all__ = ["Ledger", "changed_since", "coming", "followed"]

PLACE: Final = "_busproof"
"""Default folder for progress, below the followed folder."""
MOST: Final = 1_000
"""Maximum number of files in a batch."""
SETTLED: Final = 1.0
"""Seconds without a change until a file counts as complete."""
LOOKS: Final = 0.5
"""Seconds between two looks at the folder."""
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
    """

    files: Mapping[str, int]
    header: Header
    summary: Summary
    problems: tuple[str, ...] = ()


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

    Raises:
        HistoryError: it cannot be read or written.
    """

    place: Path
    count: int = attrs.field(default=0, init=False)
    files: dict[str, int] = attrs.field(factory=dict, init=False)
    first: tuple[str, Header] | None = attrs.field(default=None, init=False)
    summary: Summary = attrs.field(factory=Summary, init=False)
    problems: tuple[str, ...] = attrs.field(default=(), init=False)

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
        self.count += 1

    def conformance(self, oracle: Oracle | None, more: Sequence[str] = ()) -> Conformance | None:
        """Return the verdicts on all judged files; `None` if there are none.

        Args:
            oracle: how it was judged, if not as the header says.
            more: sentences on what else is wrong.
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
    )


def _header_of(record: object) -> Header:
    if not isinstance(record, Header):
        raise TypeError("it has no header")
    return record


def followed(args: Options) -> Conformance:
    """Return the verdicts on all files that arrived in the folder, now and before.

    Raises:
        UsageError: there is no such folder, no file came, or one is of other terms than the rest.
        HistoryError: a file, or what is kept, cannot be read or written.
        SparkError: Spark cannot be started, or broke off.
    """
    folder: Path = args.follow
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder} to be followed")
    ledger = Ledger(args.checkpoint or folder / PLACE)
    conf = settings_from(args.conf or [])
    with (
        ledger.held(),
        spark_session_for_now(master=args.master, remote=args.remote, conf=conf) as spark,
        suppress(KeyboardInterrupt),
    ):
        for files in coming(folder, ledger, once=args.once):
            _judge(spark, folder, files, ledger, args)
    found = ledger.conformance(_oracle(args), changed_since(folder, ledger))
    if found is None:
        raise UsageError(f"no history file (*.jsonl) has come into {folder}; nothing was judged")
    return found


def _oracle(args: Options) -> Oracle | None:
    return None if args.oracle is None else Oracle(args.oracle)


def coming(folder: Path, ledger: Ledger, *, once: bool) -> Iterator[dict[str, int]]:
    """Yield the files of each batch as they arrive; with `once`, until all are judged."""
    while files := _awaited(folder, ledger, once=once):
        yield dict(sorted(files.items())[:MOST])


def _awaited(folder: Path, ledger: Ledger, *, once: bool) -> dict[str, int]:
    """Wait for unjudged files and return them; none if no more will come."""
    files, unsettled = _new_in(folder, ledger.files)
    if files or (once and not unsettled):
        return files
    with busy(f"Waiting for files in {folder}; Ctrl-C ends this"):
        while not files and (unsettled or not once):
            time.sleep(LOOKS)
            files, unsettled = _new_in(folder, ledger.files)
    return files


def _new_in(folder: Path, known: Mapping[str, int]) -> tuple[dict[str, int], bool]:
    """Return the unjudged files, and whether others are still being written."""
    found, unsettled = dict[str, int](), False
    for path in folder.rglob("*.jsonl"):
        place = path.relative_to(folder)
        if str(place) in known or any(part.startswith(("_", ".")) for part in place.parts):
            continue
        with suppress(FileNotFoundError):
            status = path.stat()
            if time.time() - status.st_mtime < SETTLED:
                unsettled = True
            else:
                found[str(place)] = status.st_size
    return found, unsettled


def _judge(
    spark: SparkSession,
    folder: Path,
    files: Mapping[str, int],
    ledger: Ledger,
    args: Options,
) -> None:
    """Judge and record a batch; remove the remains of an unfinished one first."""
    mine = Options(**vars(args))
    if args.violations is not None:
        mine.violations = args.violations / ledger.next_name
        shutil.rmtree(mine.violations, ignore_errors=True)
    _check_terms(folder / next(iter(files)), ledger)
    paths = tuple(str((folder / name).absolute()) for name in files)
    with busy(f"Judging {_files(len(files))}"):
        found = checked(spark, Source(paths, is_table=False), mine)
    ledger.add(
        Batch(files=files, header=found.header, summary=found.summary, problems=found.problems)
    )
    rules = found.conformance.rules
    broken = [rule.id for rule in rules if rule.verdict is Verdict.VIOLATED]
    write_aside(
        f"{_files(len(files))}, {found.conformance.events:,} events: "
        + (f"violated: {', '.join(broken)}" if broken else "nothing violated")
    )
    total = ledger.conformance(_oracle(args))
    if args.report is not None and total is not None:
        write_report(total, args.report)


def _check_terms(file: Path, ledger: Ledger) -> None:
    """Refuse a file whose terms differ from the first, before judging it."""
    if ledger.first is None:
        return
    with file.open(encoding="utf-8", errors="replace") as lines:
        header = header_of(next((line for line in lines if line.strip()), ""), f"{file.name}:1")
    one_header([ledger.first, (file.name, header)])


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def changed_since(folder: Path, ledger: Ledger) -> tuple[str, ...]:
    """Return a sentence on files that changed after they were judged."""
    changed = []
    for name, size in sorted(ledger.files.items()):
        with suppress(OSError):
            if (folder / name).stat().st_size != size:
                changed.append(name)
    if not changed:
        return ()
    return (
        f"{_files(len(changed))} changed after being judged, which is not seen: {changed[0]}; "
        "move each file into the folder when it is whole",
    )
