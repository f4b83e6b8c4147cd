"""The Spark pipeline: it judges histories of any size, and has a second bus for cross-checks."""

from typing import TYPE_CHECKING

from busproof.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from busproof.pipeline.checking import Checked

__all__ = ["check", "spark_session"]


def check(spark: "SparkSession", history: str) -> "Checked":
    """Check every rule on a history file, a folder of files or a table, as `busproof check` does.

    Args:
        spark: a Spark session, classic or over Spark Connect.
        history: path or address of the history.

    Raises:
        HistoryError: the history cannot be read.
        UsageError: there is no history, or its files do not fit together.
    """
    from busproof.pipeline import checking  # noqa: PLC0415 - optional dependency
    from busproof.pipeline.sources import find_source  # noqa: PLC0415

    return checking.check(spark, find_source(history))
