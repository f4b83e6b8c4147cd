"""Checkpoints of tables that are used several times, so that Spark computes them only once."""

from pyspark.sql import DataFrame

__all__ = ["kept"]


def kept(frame: DataFrame) -> DataFrame:
    """Return the rows, computed now and stored while anything refers to them.

    Rows are stored in the folder `spark.checkpoint.dir` if it is set. All machines must share it,
    and the rows survive the loss of a machine. Otherwise they are stored on the executors, and the
    loss of one ends the check.

    A stored table has a short plan. Spark traverses the whole plan of a table on each addition, and
    without checkpoints the plans here would have thousands of steps.
    """
    place = frame.sparkSession.conf.get("spark.checkpoint.dir", "")
    return frame.checkpoint() if place else frame.localCheckpoint()
