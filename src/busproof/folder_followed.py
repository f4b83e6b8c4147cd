"""`busproof check --engine spark --follow DIR`: each history file of a folder once, as they come.

A batch is the files that have come since the last one. It counts once its record is there, which
is written last, and whole or not at all: after a kill in its middle the same files are judged
again, and nothing of the half batch is left.
"""

import argparse
import fcntl
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import attrs
from pyspark.sql import SparkSession

from busproof.checking_on_spark import Checking
from busproof.errors import HistoryError, SparkError, UsageError
from busproof.history.codec import structure_union, unstructure
from busproof.history.conformance import Conformance, RuleVerdict, Verdict
from busproof.history.records import Header, Record
from busproof.judging.verdicts import exit_code
from busproof.pipeline.session import said_by_spark, settings_from, spark_session_for_now
from busproof.pipeline.sources import Source, one_header
from busproof.reports.conformance import write as write_report
from busproof.reports.document import conformance_of, view
from busproof.reports.redaction import redacted
from busproof.saying import busy, write_aside

__all__ = ["Ledger", "changed_since", "coming", "followed", "joined"]

PLACE: Final = "_busproof"
"""Under the folder that is followed: where it is kept what was judged, unless named otherwise."""
MOST: Final = 1_000
"""Files of one batch."""
SETTLED: Final = 1.0
"""For how many seconds a file must not have changed, so that nobody is writing it."""
LOOKS: Final = 0.5
"""Seconds between two looks at the folder."""
SCENARIOS_TOLD: Final = 100
"""Of one rule, whatever comes: what is kept of a folder must not grow with each batch."""
WORST_FIRST: Final = (
    Verdict.VIOLATED,
    Verdict.ERRORED,
    Verdict.INCONCLUSIVE,
    Verdict.SHOWN,
    Verdict.NOT_SHOWN,
    Verdict.NOT_APPLICABLE,
)


@attrs.frozen(kw_only=True)
class Batch:
    """What was judged at a time.

    Attributes:
        files: name under the folder to size in bytes.
        header: what the files say of themselves.
        conformance: the verdicts.
    """

    files: Mapping[str, int]
    header: Header
    conformance: Conformance


@attrs.define
class Ledger:
    """What was judged of a folder, batch by batch.

    Attributes:
        place: the folder that it is kept in.
        count: of batches.
        files: every file that was judged, and how large it was then.
        first: the file that was judged first, and its header; all others are of the same terms.
        total: the verdicts on all of them.

    Raises:
        HistoryError: it cannot be read or written.
    """

    place: Path
    count: int = attrs.field(default=0, init=False)
    files: dict[str, int] = attrs.field(factory=dict, init=False)
    first: tuple[str, Header] | None = attrs.field(default=None, init=False)
    total: Conformance | None = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        try:
            self.place.mkdir(parents=True, exist_ok=True)
            for each in sorted(self.place.glob("batch-*.json")):
                self._take(_batch_of(json.loads(each.read_bytes())))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, HistoryError) as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> HistoryError:
        reason = getattr(error, "strerror", None) or error
        return HistoryError(
            f"cannot keep what was judged in {self.place}: {reason}; name another folder with "
            "--checkpoint"
        )

    def _take(self, batch: Batch) -> None:
        self.count += 1
        self.files |= batch.files
        self.first = self.first or (next(iter(batch.files)), batch.header)
        found = batch.conformance
        self.total = found if self.total is None else joined(self.total, found)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else writes it meanwhile; raises `UsageError` where somebody does."""
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
        """What the next batch is called."""
        return f"batch-{self.count + 1:06}"

    def add(self, batch: Batch) -> None:
        """Keep it: from now on its files were judged."""
        told = {
            "files": dict(batch.files),
            "header": unstructure(batch.header, union=Record),
            "conformance": view(redacted(batch.conformance)),
        }
        part = self.place / f"{self.next_name}.part"
        try:
            with part.open("w", encoding="utf-8") as file:
                json.dump(told, file)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.place / f"{self.next_name}.json")
        except OSError as error:
            raise self._unusable(error) from None
        self._take(batch)


def _batch_of(told: Any) -> Batch:
    return Batch(
        files=told["files"],
        header=_header_of(structure_union(told["header"], Record, "the record")),
        conformance=conformance_of(told["conformance"]),
    )


def _header_of(record: object) -> Header:
    if not isinstance(record, Header):
        raise TypeError("it has no header")
    return record


def followed(args: argparse.Namespace) -> Conformance:
    """The verdicts on all files that came into the folder, now and before.

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
    if ledger.total is None:
        raise UsageError(f"no history file (*.jsonl) has come into {folder}; nothing was judged")
    return _with_problems(ledger.total, changed_since(folder, ledger))


def coming(folder: Path, ledger: Ledger, *, once: bool) -> Iterator[dict[str, int]]:
    """The files of each batch, as they come; with `once` until all that are there were judged."""
    while files := _awaited(folder, ledger, once=once):
        yield dict(sorted(files.items())[:MOST])


def _awaited(folder: Path, ledger: Ledger, *, once: bool) -> dict[str, int]:
    """Files that were not judged, as soon as there are some; none where there will be no more."""
    files, unsettled = _new_in(folder, ledger.files)
    if files or (once and not unsettled):
        return files
    with busy(f"Waiting for files in {folder}; Ctrl-C ends this"):
        while not files and (unsettled or not once):
            time.sleep(LOOKS)
            files, unsettled = _new_in(folder, ledger.files)
    return files


def _new_in(folder: Path, known: Mapping[str, int]) -> tuple[dict[str, int], bool]:
    """The files that were not judged, and whether others are still being written."""
    found, unsettled = dict[str, int](), False
    for path in folder.rglob("*.jsonl"):
        place = path.relative_to(folder)
        if str(place) in known or any(part.startswith(("_", ".")) for part in place.parts):
            continue
        with suppress(FileNotFoundError):
            told = path.stat()
            if time.time() - told.st_mtime < SETTLED:
                unsettled = True
            else:
                found[str(place)] = told.st_size
    return found, unsettled


def _judge(
    spark: SparkSession,
    folder: Path,
    files: Mapping[str, int],
    ledger: Ledger,
    args: argparse.Namespace,
) -> None:
    """Judge a batch and keep it; what half a batch has left is removed before."""
    mine = argparse.Namespace(**vars(args))
    if args.violations is not None:
        mine.violations = args.violations / ledger.next_name
        shutil.rmtree(mine.violations, ignore_errors=True)
    paths = tuple(str((folder / name).absolute()) for name in files)
    try:
        with busy(f"Judging {_files(len(files))}"):
            checking = Checking(spark, Source(paths, is_table=False), mine)
            if ledger.first is not None:
                one_header([ledger.first, (next(iter(files)), checking.header)])
            found = checking.conformance()
    except Exception as error:
        if (said := said_by_spark(error)) is None:
            raise
        raise SparkError(f"Spark broke off: {said}") from None
    ledger.add(Batch(files=files, header=checking.header, conformance=found))
    broken = [rule.id for rule in found.rules if rule.verdict is Verdict.VIOLATED]
    write_aside(
        f"{_files(len(files))}, {found.events:,} events: "
        + (f"violated: {', '.join(broken)}" if broken else "nothing violated")
    )
    if args.report is not None and ledger.total is not None:
        write_report(ledger.total, args.report)


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def changed_since(folder: Path, ledger: Ledger) -> tuple[str, ...]:
    """What was judged and is another file now, in a sentence."""
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


def joined(before: Conformance, more: Conformance) -> Conformance:
    """One verdict of both on each rule: the worse one, in the order of `WORST_FIRST`."""
    earlier = {rule.id: rule for rule in before.rules}
    rules = tuple(_worse(earlier.get(rule.id, rule), rule) for rule in more.rules)
    scenarios = Counter(before.scenarios) + Counter(more.scenarios)
    together = attrs.evolve(
        more,
        rules=rules,
        scenarios=dict(scenarios),
        events=before.events + more.events,
        problems=before.problems,
    )
    return _with_problems(together, more.problems)


def _with_problems(found: Conformance, more: Sequence[str]) -> Conformance:
    problems = tuple(dict.fromkeys((*found.problems, *more)))
    return attrs.evolve(found, problems=problems, exit_code=exit_code(found.rules, problems))


def _worse(before: RuleVerdict, more: RuleVerdict) -> RuleVerdict:
    """Of two that are alike the earlier, with the counts of both and a few of the scenarios."""
    if before is more:
        return more
    worse = min((before, more), key=lambda each: WORST_FIRST.index(each.verdict))
    alike = [each for each in (before, more) if each.verdict is worse.verdict]
    names = dict.fromkeys(name for each in alike for name in each.scenarios)
    return attrs.evolve(
        worse, events=before.events + more.events, scenarios=tuple(names)[:SCENARIOS_TOLD]
    )
