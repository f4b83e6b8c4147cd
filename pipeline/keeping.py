"""Keeping a table that much is made of, so that it is made once and its plan is read once."""

from pyspark.sql import DataFrame

__all__ = ["kept"]


def kept(frame: DataFrame) -> DataFrame:
    """The same rows, made now and kept until nothing refers to them.

    Where `spark.checkpoint.dir` names a folder that all machines share they are kept there, and
    survive the loss of a machine; else on the executors, whose loss then ends the check.

    What is made of a kept table has a short plan: Spark goes through the whole plan of a table each
    time that something is added to it, and these plans would be thousands of steps long.
    """
    place = frame.sparkSession.conf.get("spark.checkpoint.dir", "")
    return frame.checkpoint() if place else frame.localCheckpoint()
