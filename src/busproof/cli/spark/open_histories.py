"""Histories of a followed table that go on in later files, until nothing more of them can come.

A history is *open* until its end is recorded, or until the newest request of all was made so much
later than its own last one as the watermark says. Then it is judged, as a whole.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

import attrs
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from busproof.cli.frame import Options
from busproof.cli.spark.check import convert_errors, naming_of
from busproof.cli.spark.ledger import Ledger, Open
from busproof.errors import UsageError
from busproof.pipeline.lines import is_record
from busproof.pipeline.reading import read
from busproof.pipeline.sources import HEADER_NAME, Source, name_of

__all__ = ["Ripe", "ripe_histories", "source_of"]

MICROSECONDS: Final = 1_000_000


@attrs.frozen(kw_only=True)
class Ripe:
    """What is to be judged after some files have arrived, and what has to wait.

    Attributes:
        source: the rows to judge.
        histories: the ids of the histories of a table that are judged.
        open: by id, the histories of which more may come.
        newest: when the last request of all was made, in microseconds.
        problems: sentences about rows that came too late.
    """

    source: Source
    histories: frozenset[int] = frozenset()
    open: Mapping[int, Open] = attrs.field(factory=dict)
    newest: int = 0
    problems: tuple[str, ...] = ()


def source_of(
    folder: Path, files: Iterable[str], histories: frozenset[int] | None = None
) -> Source:
    """Return the rows of files in a folder, or of some histories in them."""
    paths = tuple(str((folder / name).absolute()) for name in files)
    if (folder / HEADER_NAME).is_file():
        table = str(folder.absolute())
        return Source(paths, is_table=True, table=table, histories=histories)
    return Source(paths, is_table=False)


def ripe_histories(
    spark: SparkSession, folder: Path, files: Iterable[str], ledger: Ledger, args: Options
) -> Ripe:
    """Return what is to be judged now that files have arrived.

    Raises:
        UsageError: without a watermark, a history continues one that was judged.
        SparkError: Spark broke off.
    """
    source = source_of(folder, files)
    if not source.is_table:
        return Ripe(source=source)
    arrived = _read_arrivals(spark, source, ledger, args)
    again = arrived.keys() & ledger.histories
    if args.watermark is None:
        if again:
            raise UsageError(
                f"history_id {min(again)} of {', '.join(map(name_of, source.paths[:3]))} is also "
                "in a file that was judged before; write each history whole, into one file, or "
                "under an id of its own, or say with --watermark how long more of it may come"
            )
        return Ripe(source=source, histories=frozenset(arrived))
    for number in again:
        del arrived[number]
    still = dict(ledger.open)
    for number, one in arrived.items():
        still[number] = still[number].join(one) if number in still else one
    newest = max((ledger.newest, *(one.newest for one in arrived.values())))
    until = newest - args.watermark * MICROSECONDS
    ripe = {number for number, one in still.items() if one.is_ended or one.newest < until}
    judged = frozenset(ripe)
    files_of = [*ledger.batches, tuple(files)]
    numbers = sorted({at for number in ripe for at in still[number].batches})
    names = [name for at in numbers for name in files_of[at]]
    return Ripe(
        source=source_of(folder, names or files, judged),
        histories=judged,
        open={number: one for number, one in still.items() if number not in ripe},
        newest=newest,
        problems=_late(again, args.watermark),
    )


def _read_arrivals(
    spark: SparkSession, source: Source, ledger: Ledger, args: Options
) -> dict[int, Open]:
    """Return what the files of the next batch have of each history."""
    called = sf.get_json_object("text", "$.called").cast("long")
    with convert_errors():
        rows = read(spark, source, naming_of(args, source)).rows
        found = (
            rows.groupBy("history_id")
            .agg(
                sf.coalesce(sf.max(called), sf.lit(0)).alias("newest"),
                sf.max(is_record("text", "ended")).alias("is_ended"),
            )
            .collect()
        )
    batch = (ledger.count,)
    return {
        row["history_id"]: Open(newest=row["newest"], batches=batch, is_ended=row["is_ended"])
        for row in found
    }


def _late(late: Collection[int], watermark: int) -> tuple[str, ...]:
    """Return a sentence about histories of which more came after they were judged."""
    if not late:
        return ()
    return (
        f"records of {len(late)} histor{'ies' if len(late) > 1 else 'y'} came after the verdict "
        f"and were left out, first those of history_id {min(late)}; --watermark was {watermark} s",
    )
