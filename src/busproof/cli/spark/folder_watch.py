"""`busproof check --engine spark --follow DIR`: judge each history file in a folder once.

A batch is the files that have arrived since the last one. It counts once its record is written,
which happens last and atomically. If the process is killed before that, the same files are judged
again, and nothing of the unfinished batch is left.
"""

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from busproof.cli.console import busy, write_aside
from busproof.cli.frame import Options
from busproof.cli.spark.check import broken_off, checked, naming_of
from busproof.cli.spark.ledger import Batch, Ledger
from busproof.errors import UsageError
from busproof.history.conformance import Conformance, Verdict
from busproof.history.records import Oracle
from busproof.pipeline.reading import read
from busproof.pipeline.session import settings_from, spark_session_for_now
from busproof.pipeline.sources import (
    HEADER_NAME,
    Source,
    header_of,
    header_of_table,
    name_of,
    one_header,
)
from busproof.reports.conformance import write as write_report

__all__ = ["changed_since", "coming", "followed"]

PLACE: Final = "_busproof"
"""Default folder for progress, inside the followed folder."""
MOST: Final = 1_000
"""Maximum number of files in a batch."""
SETTLED: Final = 1.0
"""Time without a change until a file counts as complete, in seconds."""
LOOKS: Final = 0.5
"""Time between two looks at the folder, in seconds."""


def followed(args: Options) -> Conformance:
    """Return the verdicts on all files in the folder, those judged before included.

    Raises:
        UsageError: the folder does not exist, no file arrived, or the files have different terms.
        HistoryError: a file or the record of progress cannot be read or written.
        SparkError: Spark cannot be started, or broke off.
    """
    folder: Path = args.follow
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder} to follow")
    ledger = Ledger(args.checkpoint or folder / PLACE)
    conf = settings_from(args.conf or [])
    with (
        ledger.held(),
        spark_session_for_now(master=args.master, remote=args.remote, conf=conf) as spark,
        suppress(KeyboardInterrupt),
    ):
        for files in coming(folder, ledger, once=args.once):
            _judge(spark, folder, files, ledger, args)
    conformance = ledger.conformance(_oracle(args), changed_since(folder, ledger))
    if conformance is None:
        raise UsageError(
            f"no history file ({_pattern(folder)}) has arrived in {folder}; nothing was judged"
        )
    return conformance


def _oracle(args: Options) -> Oracle | None:
    return None if args.oracle is None else Oracle(args.oracle)


def coming(folder: Path, ledger: Ledger, *, once: bool) -> Iterator[dict[str, int]]:
    """Yield the files of each batch as they arrive; with `once`, only until all are judged."""
    while files := _awaited(folder, ledger, once=once):
        yield dict(sorted(files.items())[:MOST])


def _awaited(folder: Path, ledger: Ledger, *, once: bool) -> dict[str, int]:
    """Wait for files that are not judged yet and return them; none if no more will arrive."""
    files, unsettled = _new_in(folder, ledger.files)
    if files or (once and not unsettled):
        return files
    with busy(f"Waiting for files in {folder}; Ctrl-C ends this"):
        while not files and (unsettled or not once):
            time.sleep(LOOKS)
            files, unsettled = _new_in(folder, ledger.files)
    return files


def _new_in(folder: Path, known: Mapping[str, int]) -> tuple[dict[str, int], bool]:
    """Return the files that are not judged yet, and whether others are still being written."""
    sizes, unsettled = dict[str, int](), False
    for path in folder.rglob(_pattern(folder)):
        place = path.relative_to(folder)
        if str(place) in known or any(part.startswith(("_", ".")) for part in place.parts):
            continue
        with suppress(FileNotFoundError):
            status = path.stat()
            if time.time() - status.st_mtime < SETTLED:
                unsettled = True
            else:
                sizes[str(place)] = status.st_size
    return sizes, unsettled


def _pattern(folder: Path) -> str:
    """Return the pattern of files to follow: Parquet if the folder has a table's header."""
    return "*.parquet" if (folder / HEADER_NAME).is_file() else "*.jsonl"


def _judge(
    spark: SparkSession,
    folder: Path,
    files: Mapping[str, int],
    ledger: Ledger,
    args: Options,
) -> None:
    """Judge and record a batch, after removing the remains of an unfinished one."""
    mine = Options(**vars(args))
    if args.violations is not None:
        mine.violations = args.violations / ledger.next_name
        shutil.rmtree(mine.violations, ignore_errors=True)
    source = _source_of(folder, files)
    _check_terms(folder / next(iter(files)), source, ledger)
    with busy(f"Judging {_files(len(files))}"):
        histories = _histories(spark, source, mine, ledger) if source.is_table else frozenset[int]()
        result = checked(spark, source, mine)
    ledger.add(
        Batch(
            files=files,
            header=result.header,
            summary=result.summary,
            problems=result.problems,
            histories=histories,
        )
    )
    rules = result.conformance.rules
    broken = [rule.id for rule in rules if rule.verdict is Verdict.VIOLATED]
    write_aside(
        f"{_files(len(files))}, {result.conformance.events:,} events: "
        + (f"violated: {', '.join(broken)}" if broken else "nothing violated")
    )
    total = ledger.conformance(_oracle(args))
    if args.report is not None and total is not None:
        write_report(total, args.report)


def _source_of(folder: Path, files: Mapping[str, int]) -> Source:
    paths = tuple(str((folder / name).absolute()) for name in files)
    if (folder / HEADER_NAME).is_file():
        return Source(paths, is_table=True, table=str(folder.absolute()))
    return Source(paths, is_table=False)


def _histories(
    spark: SparkSession, source: Source, args: Options, ledger: Ledger
) -> frozenset[int]:
    """Return the ids of a batch's histories; refuse histories that continue earlier batches.

    The later part of a history would seem to break rules without its beginning.
    """
    with broken_off():
        rows = read(spark, source, naming_of(args, source)).rows
        ids = {row["history_id"] for row in rows.select("history_id").distinct().collect()}
    if again := ids & ledger.histories:
        raise UsageError(
            f"history_id {min(again)} of {', '.join(map(name_of, source.paths[:3]))} is also in a "
            "file that was judged before; write each history whole, into one file, or under an id "
            "of its own"
        )
    return frozenset(ids)


def _check_terms(file: Path, source: Source, ledger: Ledger) -> None:
    """Refuse a file whose terms differ from those of the first file, before judging it."""
    if ledger.first is None:
        return
    if source.is_table:
        one_header([ledger.first, (HEADER_NAME, header_of_table(source.table))])
        return
    with file.open(encoding="utf-8", errors="replace") as lines:
        header = header_of(next((line for line in lines if line.strip()), ""), f"{file.name}:1")
    one_header([ledger.first, (file.name, header)])


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def changed_since(folder: Path, ledger: Ledger) -> tuple[str, ...]:
    """Return a sentence about files that changed after they were judged."""
    changed = []
    for name, size in sorted(ledger.files.items()):
        with suppress(OSError):
            if (folder / name).stat().st_size != size:
                changed.append(name)
    if not changed:
        return ()
    return (
        f"{_files(len(changed))} changed after being judged, which has no effect: {changed[0]}; "
        "move each file into the folder when it is whole",
    )
