"""Number the lines of history files, and find the history that each belongs to.

Spark reads a large file in parallel blocks. A line's number and scenario follow from its position
in its block and from the counts of the blocks before, so no file has to pass through one task.
"""

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

__all__ = ["first_lines", "placed", "record_of"]

_HISTORIES_A_FILE = 32
"""Bits of a history's number below the number of its file."""


def first_lines(spark: SparkSession, paths: Sequence[str]) -> dict[str, str]:
    """Return the first line of each file that is not blank, by the file's address."""
    raw = _raw(spark, paths).where((sf.col("block") == 0) & (sf.trim("text") != ""))
    # Two passes: selecting the text with the smallest id in one would sort all lines.
    first = raw.groupBy("file").agg(sf.min("id").alias("id"))
    found = raw.select("file", "id", "text").join(sf.broadcast(first), ["file", "id"])
    return {row["file"]: row["text"] for row in found.collect()}


def placed(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Return each line that is not blank, with its number, history and kind of record.

    Files are numbered by address, and the histories in a file by their starts; history 0 of a file
    has the lines before the first scenario.
    """
    raw = _raw(spark, paths).withColumn("record", record_of("text"))
    started = sf.col("record").eqNullSafe("started").cast("long")
    counted = raw.withColumn("started", started)
    blocks = counted.groupBy("file", "block").agg(
        sf.min("id").alias("first"),
        sf.count("*").alias("lines"),
        sf.sum("started").alias("begun"),
    )
    whole = Window.partitionBy("file")
    before = whole.orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    places = blocks.select(
        "file",
        "block",
        "first",
        sf.coalesce(sf.sum("lines").over(before), sf.lit(0)).alias("lines_before"),
        sf.coalesce(sf.sum("begun").over(before), sf.lit(0)).alias("begun_before"),
        sf.sum("lines").over(whole).alias("last_line"),
        sf.dense_rank().over(Window.partitionBy(sf.lit(0)).orderBy("file")).alias("file_number"),
    )
    within = (
        Window.partitionBy("file", "block")
        .orderBy("id")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    scenario = sf.col("begun_before") + sf.sum("started").over(within)
    number = sf.shiftleft(sf.col("file_number").cast("long"), _HISTORIES_A_FILE) + scenario
    line = sf.col("lines_before") + sf.col("id") - sf.col("first") + 1
    return (
        counted.join(sf.broadcast(places), ["file", "block"])
        .withColumn("line", line)
        .withColumn("history_id", number)
        .where(sf.trim("text") != "")
        .select(
            "file",
            "history_id",
            "line",
            "text",
            "record",
            (sf.col("line") == sf.col("last_line")).alias("is_last"),
        )
    )


def record_of(name: str) -> Column:
    """Return the kind of record in this text column; null if it is not a record."""
    return sf.get_json_object(sf.col(name), "$.record")


def _raw(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    return spark.read.text(list(paths)).select(
        sf.col("value").alias("text"),
        sf.col("_metadata.file_path").alias("file"),
        sf.col("_metadata.file_block_start").alias("block"),
        sf.monotonically_increasing_id().alias("id"),
    )
