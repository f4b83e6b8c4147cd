"""The Spark pipeline, which judges histories of any size and has a second bus for cross-checks."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from busproof.errors import UsageError
from busproof.pipeline.progress import progress as progress_of
from busproof.pipeline.progress import write_to_stderr
from busproof.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from busproof.pipeline.checking import Checked

__all__ = ["check", "spark_session"]


def check(
    spark: "SparkSession",
    histories: str | Path,
    *,
    mapping: str | Path | None = None,
    oracle: str | None = None,
    screen: bool = False,
    progress: Callable[[str], None] | None = write_to_stderr,
) -> "Checked":
    """Check every rule on histories, as `busproof check --engine spark` does.

    The header of the histories decides which rules apply, by its edition, tier, readings and
    capabilities; so does `oracle`, as in the command. A notebook shows the result as a table of the
    rules that were not shown to hold. The result has `verdicts` (a row per rule), `violations` (a
    row per violation) and `unusable` (a row per line that could not be used) as DataFrames, and
    `conformance` for `busproof.reports`; as text, it is one sentence.

    Args:
        spark: a Spark session, classic or over Spark Connect.
        histories: path or address of a history file, of a folder of them, or of a table.
        mapping: a TOML file that maps fields to a table's columns, where their names differ.
        oracle: `strict` or `client`; by default strict if the histories name partitions.
        screen: whether to judge only scenarios that 15 cheap rules make look suspicious.
        progress: called every ten seconds with a sentence about the time taken and the number of
            finished tasks; by default it writes to standard error. `None` for silence.

    Raises:
        HistoryError: the histories cannot be read.
        UsageError: there are no histories, they do not fit together, or an argument does not fit
            them.
    """
    from busproof.history.records import Oracle  # optional dependencies
    from busproof.pipeline import checking
    from busproof.pipeline.naming import AS_PUBLISHED, read_naming
    from busproof.pipeline.sources import find_source

    if oracle not in (None, *Oracle):
        raise UsageError(f"oracle is {oracle!r}, and must be strict, client or None")
    source = find_source(str(histories))
    if mapping is not None and not source.is_table:
        raise UsageError("mapping names the columns of a table, and the histories are files")
    naming = AS_PUBLISHED if mapping is None else read_naming(Path(mapping))
    judge = None if oracle is None else Oracle(oracle)
    with progress_of(spark, progress):
        return checking.check(spark, source, naming, judge, screen=screen)
