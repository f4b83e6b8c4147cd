"""The data pipeline on Spark: histories of any size judged, and the rules once more as a bus."""

from typing import TYPE_CHECKING

from busproof.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from busproof.pipeline.checking import Checked

__all__ = ["check", "spark_session"]


def check(spark: "SparkSession", history: str) -> "Checked":
    """Every rule over a history file, a folder of them or a table, as `busproof check` judges it.

    Args:
        spark: a session, classic or of Spark Connect.
        history: where the history is.

    Raises:
        HistoryError: the history cannot be read.
        UsageError: there is none, or its parts do not fit together.
    """
    from busproof.pipeline import checking  # noqa: PLC0415 - pyspark is of an extra
    from busproof.pipeline.sources import find_source  # noqa: PLC0415

    return checking.check(spark, find_source(history))
