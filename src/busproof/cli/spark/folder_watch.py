"""`busproof check --engine spark --follow DIR`: judge each history in a folder once.

A batch is the files that have arrived since the last one. It counts once its record is written,
which happens last and atomically. If the process is killed before that, the same files are judged
again, and nothing of the unfinished batch is left.
"""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from busproof.cli.console import busy, write_aside
from busproof.cli.frame import Options
from busproof.cli.spark.check import check_source, convert_errors
from busproof.cli.spark.ledger import Batch, Ledger
from busproof.cli.spark.open_histories import ripe_histories, source_of
from busproof.errors import UsageError
from busproof.history.conformance import Conformance, Verdict
from busproof.history.records import Oracle
from busproof.pipeline.checking import Checked
from busproof.pipeline.naming import AS_PUBLISHED, read_naming
from busproof.pipeline.session import settings_from, spark_session_for_now
from busproof.pipeline.sources import (
    HEADER_NAME,
    Source,
    header_of,
    header_of_table,
    one_header,
)
from busproof.pipeline.streams import Stream, read_stream, store_arrivals
from busproof.reports.conformance import write as write_report

__all__ = ["await_batches", "find_changes", "follow_folder"]

PLACE: Final = "_busproof"
"""Default folder for progress, inside the followed folder."""
MOST: Final = 1_000
"""Maximum number of files in a batch."""
SETTLED: Final = 1.0
"""Time without a change until a file counts as complete, in seconds."""
LOOKS: Final = 0.5
"""Time between two looks at the folder, in seconds."""
LOOKS_AT_STREAM: Final = 5.0
"""Time between two looks at a stream, in seconds; each starts a query of Spark."""
OPEN: Final = "open"
"""Folder of violations in histories that are still open, beside those of the batches."""


def follow_folder(args: Options) -> Conformance:
    """Return the verdicts on all files in the folder, those judged before included.

    Raises:
        UsageError: the folder does not exist, no file arrived, or the files have different terms.
        HistoryError: a file or the record of progress cannot be read or written.
        SparkError: Spark cannot be started, or broke off.
    """
    folder: Path = args.follow
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder} to follow")
    progress: Path = args.checkpoint or folder / PLACE
    ledger = Ledger(progress)
    conf = settings_from(args.conf or [])
    stream = None if args.stream is None else read_stream(args.stream)
    so_far: Checked | None = None
    with (
        ledger.lock(),
        spark_session_for_now(master=args.master, remote=args.remote, conf=conf) as spark,
        suppress(KeyboardInterrupt),
    ):
        store = _store_nothing
        if stream is not None:
            store = partial(_store, spark, stream, args, progress)
            # What is stored has the published names.
            args = _change_options(args, mapping=None)
        with suppress(KeyboardInterrupt):
            for files in await_batches(folder, ledger, once=args.once, store=store):
                _judge(spark, folder, files, ledger, args)
        so_far = _judge_so_far(spark, folder, ledger, args)
    problems = find_changes(folder, ledger)
    if so_far is not None:
        problems += so_far.problems
    summary = None if so_far is None else so_far.summary
    conformance = ledger.conformance(_oracle(args), problems, summary)
    if conformance is None:
        raise UsageError(
            f"no history file ({_pattern(folder)}) has arrived in {folder}; nothing was judged"
        )
    return conformance


def _change_options(args: Options, **changes: object) -> Options:
    return Options(**{**vars(args), **changes})


def _store_nothing() -> None:
    """Store nothing, because files arrive by themselves."""


def _store(spark: SparkSession, stream: Stream, args: Options, progress: Path) -> None:
    """Store what has arrived in a stream as files of the followed table."""
    naming = AS_PUBLISHED if args.mapping is None else read_naming(args.mapping)
    with convert_errors():
        store_arrivals(spark, stream, naming, args.follow, progress)
    if not (args.follow / HEADER_NAME).is_file():
        raise UsageError(
            f"{args.follow} has no {HEADER_NAME}, and no header came by {stream.place}: write the "
            "header record of a history file there, which says what the histories are held to"
        )


def _judge_so_far(
    spark: SparkSession, folder: Path, ledger: Ledger, args: Options
) -> Checked | None:
    """Judge the histories that are still open, as far as they have come; record nothing."""
    if not ledger.open:
        return None
    numbers = sorted({at for one in ledger.open.values() for at in one.batches})
    names = [name for at in numbers for name in ledger.batches[at]]
    source = source_of(folder, names, frozenset(ledger.open))
    with busy("Judging histories that are still open"):
        return check_source(spark, source, _with_violations(args, OPEN))


def _with_violations(args: Options, name: str) -> Options:
    """Let violations be written into an empty folder of this name."""
    if args.violations is None:
        return args
    place = args.violations / name
    shutil.rmtree(place, ignore_errors=True)
    return _change_options(args, violations=place)


def _oracle(args: Options) -> Oracle | None:
    return None if args.oracle is None else Oracle(args.oracle)


def await_batches(
    folder: Path, ledger: Ledger, *, once: bool, store: Callable[[], None] = _store_nothing
) -> Iterator[dict[str, int]]:
    """Yield the files of each batch as they arrive; with `once`, only until all are judged.

    Args:
        folder: the followed folder.
        ledger: the record of what was judged.
        once: whether to end when all is judged that is there.
        store: what stores the arrivals of a stream in the folder.
    """
    while files := _await_files(folder, ledger, once=once, store=store):
        yield dict(sorted(files.items())[:MOST])


def _await_files(
    folder: Path, ledger: Ledger, *, once: bool, store: Callable[[], None]
) -> dict[str, int]:
    """Wait for files that are not judged yet and return them; none if no more will arrive."""
    pause = LOOKS if store is _store_nothing else LOOKS_AT_STREAM
    store()
    files, unsettled = _find_new(folder, ledger.files)
    if files or (once and not unsettled):
        return files
    with busy(f"Waiting for files in {folder}; Ctrl-C ends this"):
        while not files and (unsettled or not once):
            time.sleep(LOOKS if unsettled else pause)
            if not unsettled:
                store()
            files, unsettled = _find_new(folder, ledger.files)
    return files


def _find_new(folder: Path, known: Mapping[str, int]) -> tuple[dict[str, int], bool]:
    """Return the files that are not judged yet, and whether others are still being written."""
    sizes = dict[str, int]()
    unsettled = False
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
    source = source_of(folder, files)
    _check_terms(folder / next(iter(files)), source, ledger)
    with busy(f"Judging {_files(len(files))}"):
        ripe = ripe_histories(spark, folder, files, ledger, args)
        result = check_source(spark, ripe.source, _with_violations(args, ledger.next_name))
    ledger.add(
        Batch(
            files=files,
            header=result.header,
            summary=result.summary,
            problems=(*ripe.problems, *result.problems),
            histories=ripe.histories,
            open=ripe.open,
            newest=ripe.newest,
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


def find_changes(folder: Path, ledger: Ledger) -> tuple[str, ...]:
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
