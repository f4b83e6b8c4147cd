"""The Spark pipeline: it judges histories of any size, and has a second bus for cross-checks."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from busproof.errors import UsageError
from busproof.pipeline.progress import progress as progress_of
from busproof.pipeline.progress import to_stderr
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
    progress: Callable[[str], None] | None = to_stderr,
) -> "Checked":
    """Check every rule on histories, as `busproof check --engine spark` does.

    The rules that apply are those of the command: the edition, tier, readings and capabilities in
    the histories' header decide, and so does `oracle`. The result shows itself in a notebook as a
    table of the rules that were not shown. It has `verdicts` (a row per rule), `violations` (a row
    per violation) and `unusable` (a row per line that could not be used) as DataFrames,
    `conformance` for `busproof.reports`, and is one sentence as text.

    Args:
        spark: a Spark session, classic or over Spark Connect.
        histories: path or address of a history file, of a folder of them, or of a table.
        mapping: a TOML file with the columns of a table, where they have other names.
        oracle: `strict` or `client`; by default strict if the histories name partitions.
        screen: whether to judge only what looks suspicious to 15 cheap rules.
        progress: receives a sentence every ten seconds: how long it has taken, and how many tasks
            are done; by default it goes to the standard error. `None` for silence.

    Raises:
        HistoryError: the histories cannot be read.
        UsageError: there are none, they do not fit together, or an argument does not fit them.
    """
    from busproof.history.records import Oracle  # noqa: PLC0415 - optional dependencies
    from busproof.pipeline import checking  # noqa: PLC0415
    from busproof.pipeline.naming import AS_PUBLISHED, read_naming  # noqa: PLC0415
    from busproof.pipeline.sources import find_source  # noqa: PLC0415

    if oracle not in (None, *Oracle):
        raise UsageError(f"oracle is {oracle!r}, and must be strict, client or None")
    source = find_source(str(histories))
    if mapping is not None and not source.is_table:
        raise UsageError("mapping names the columns of a table, and the histories are files")
    naming = AS_PUBLISHED if mapping is None else read_naming(Path(mapping))
    judge = None if oracle is None else Oracle(oracle)
    with progress_of(spark, progress):
        return checking.check(spark, source, naming, judge, screen=screen)
