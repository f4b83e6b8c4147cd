"""The data pipeline on Spark: rules over histories of any size, in native expressions."""

from typing import TYPE_CHECKING

from busproof.pipeline.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from busproof.pipeline.checking import Checked

__all__ = ["check", "spark_session"]


def check(spark: "SparkSession", history: str) -> "Checked":
    """Every rule that has a query, over a history file, a folder of them or a table.

    Args:
        spark: a session, classic or of Spark Connect.
        history: where the history is.

    Raises:
        HistoryError: the history cannot be read.
        UsageError: there is none, or its parts do not fit together.
    """
    from busproof.pipeline import checking  # noqa: PLC0415 - pyspark is of an extra
    from busproof.pipeline.opening import opened  # noqa: PLC0415
    from busproof.pipeline.sources import find_source  # noqa: PLC0415
    from busproof.pipeline.terms import Held  # noqa: PLC0415
    from busproof.spec import load  # noqa: PLC0415

    read, header = opened(spark, find_source(history))
    return checking.check(read, Held.of(load(), header))
