"""Checkpoints of tables that are used several times, so that Spark computes them once."""

from pyspark.sql import DataFrame

__all__ = ["keep_rows"]


def keep_rows(frame: DataFrame) -> DataFrame:
    """Return the rows, computed now and stored as long as anything refers to them.

    If `spark.checkpoint.dir` is set, rows are stored in that folder, which all machines must share,
    and survive the loss of a machine. Otherwise executors store them, and the loss of an executor
    ends the check.

    A stored table has a short plan. Without checkpoints, plans would have thousands of steps, and
    Spark traverses the whole plan whenever a step is added.
    """
    place = frame.sparkSession.conf.get("spark.checkpoint.dir", "")
    return frame.checkpoint() if place else frame.localCheckpoint()
