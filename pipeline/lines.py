"""Lines of history files: each has its place, its record, and the columns that it becomes.

Spark reads a large file in blocks, side by side. A line's number, and the scenario that it belongs
to, are found from its place within its block and from what the blocks before it hold, so that no
file has to pass through one task.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from busproof.pipeline.schema import (
    COMMAND,
    EVENTS,
    OUTCOME,
    RECORD,
    SETTINGS,
    SUBSCRIPTIONS,
    ddl,
)
from busproof.pipeline.unusable import CORRUPT, unknown, unreadable

__all__ = ["columns", "scenarios", "told"]

_HISTORIES_A_FILE = 32
"""Bits of a history's number below that of its file."""


def told(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Each line that is not blank: its place, its record, and why it cannot be used, if so."""
    return _judged_one_by_one(_placed(_parsed(spark, paths)))


def _parsed(spark: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Each line that is not blank: its text, its record, and where it was found."""
    raw = spark.read.text(list(paths)).select(
        sf.col("value").alias("text"),
        sf.col("_metadata.file_path").alias("file"),
        sf.col("_metadata.file_block_start").alias("block"),
        sf.monotonically_increasing_id().alias("id"),
    )
    return raw.withColumn("r", _json("text", RECORD))


def _json(name: str, fields: Mapping[str, str]) -> Column:
    kinds = {**fields, CORRUPT: "STRING"}
    return sf.from_json(sf.col(name), ddl(kinds), {"columnNameOfCorruptRecord": CORRUPT})


def _placed(parsed: DataFrame) -> DataFrame:
    """With the number of each line in its file, and of the history that it belongs to."""
    started = sf.col("r.record").eqNullSafe("started").cast("long")
    counted = parsed.withColumn("started", started)
    blocks = counted.groupBy("file", "block").agg(
        sf.min("id").alias("first"),
        sf.count("*").alias("lines"),
        sf.sum("started").alias("begun"),
    )
    before = Window.partitionBy("file").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    places = blocks.select(
        "file",
        "block",
        "first",
        sf.coalesce(sf.sum("lines").over(before), sf.lit(0)).alias("lines_before"),
        sf.coalesce(sf.sum("begun").over(before), sf.lit(0)).alias("begun_before"),
        sf.dense_rank().over(Window.partitionBy(sf.lit(0)).orderBy("file")).alias("file_number"),
    )
    within = (
        Window.partitionBy("file", "block")
        .orderBy("id")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    scenario = sf.col("begun_before") + sf.sum("started").over(within)
    number = sf.shiftleft(sf.col("file_number").cast("long"), _HISTORIES_A_FILE) + scenario
    return (
        counted.join(sf.broadcast(places), ["file", "block"])
        .withColumn("line", sf.col("lines_before") + sf.col("id") - sf.col("first") + 1)
        .withColumn("history_id", number)
        .where(sf.trim("text") != "")
        .select("file", "line", "history_id", "text", "r")
    )


def _judged_one_by_one(rows: DataFrame) -> DataFrame:
    """With command and outcome, and why a line cannot be used, if it cannot."""
    rows = rows.withColumn("c", _json("r.command", COMMAND)).withColumn(
        "o", _json("r.outcome", OUTCOME)
    )
    return rows.withColumn("why", sf.coalesce(unreadable(), unknown()))


def columns() -> list[Column]:
    """The published schema out of a line that was read."""
    several = sf.col("o.type").isin("Peeked", "ReceivedSeveral")
    nothing = sf.lit(None).cast(EVENTS["seen"])
    columns = {
        "history_id": sf.col("history_id"),
        "seq": sf.col("line"),
        "client": sf.coalesce("r.client", sf.lit("c1")),
        "connection": sf.coalesce("r.connection", sf.lit("c1")),
        "called": sf.coalesce("r.called", sf.lit(0)),
        "returned": sf.col("r.returned"),
        "op": sf.col("c.type"),
        "entity": sf.coalesce(
            "c.queue", sf.concat("c.topic", sf.lit(SUBSCRIPTIONS), "c.subscription"), "c.topic"
        ),
        "transaction": sf.col("c.transaction"),
        "lock_token": sf.col("c.lock_token"),
        "mode": sf.coalesce("c.mode", sf.lit("peek-lock")),
        "session_id": sf.col("c.session_id"),
        "partition": sf.col("c.partition"),
        "state": sf.col("c.state"),
        "duration": sf.col("c.duration"),
        "delay": sf.col("c.delay"),
        "sequence_number": sf.col("c.sequence_number"),
        "sequence_numbers": sf.col("c.sequence_numbers"),
        "reason": sf.col("c.reason"),
        "settings": _settings(),
        "sent": sf.col("c.message"),
        "outcome": sf.col("o.type"),
        "error": sf.col("o.error"),
        "seen": sf.when(sf.col("o.type") == "Received", sf.array("o.message")).otherwise(
            sf.when(several, sf.coalesce("o.messages", sf.array().cast(EVENTS["seen"]))).otherwise(
                nothing
            )
        ),
        "told_session": sf.col("o.session_id"),
        "told_state": sf.col("o.state"),
        "told_number": sf.col("o.sequence_number"),
        "described": sf.col("o.description"),
        "witness": sf.col("r.witness.partition"),
    }
    return [columns[name].cast(kind).alias(name) for name, kind in EVENTS.items()]


def _settings() -> Column:
    """What an entity is created with; an option that the request leaves out on purpose is null.

    Of an update what it names.
    """
    left_out = sf.array_contains(sf.json_object_keys("r.command"), "partitioned")
    defaults = {
        "partitioned": sf.when(~left_out, sf.lit(True)),
        "requires_session": sf.lit(False),
        "duplicate_detection": sf.lit(False),
        "duplicate_window": sf.lit(600_000_000),
        "lock_duration": sf.lit(60_000_000),
        "max_delivery_count": sf.lit(10),
        "dead_letter_expired": sf.lit(False),
    }
    settings = sf.struct(
        *(
            sf.coalesce(f"c.{name}", defaults.get(name, sf.lit(None))).alias(name)
            for name in SETTINGS
        )
    )
    changed = sf.struct(*(sf.col(f"c.{name}").alias(name) for name in SETTINGS))
    kind = sf.col("c.type")
    return sf.when(kind.isin(*_CREATIONS), settings).when(
        kind.isin("UpdateQueue", "UpdateTopic"), changed
    )


_CREATIONS = ("CreateQueue", "RestoreQueue", "CreateTopic", "CreateSubscription")


def scenarios(rows: DataFrame) -> DataFrame:
    """One row for each scenario, and one for events that stand in none."""
    good = rows.where(sf.col("why").isNull() & (sf.col("r.record") != "header"))

    def told(record: str, name: str) -> Column:
        return sf.max_by(
            sf.when(sf.col("r.record") == record, sf.col(f"r.{name}")),
            sf.when(sf.col("r.record") == record, sf.col("line")),
        ).alias(name)

    return good.groupBy("history_id").agg(
        told("started", "scenario"),
        told("started", "rules"),
        told("started", "feature"),
        told("ended", "verdict"),
        told("ended", "cause"),
        told("ended", "detail"),
        sf.count(sf.when(sf.col("r.record") == "event", 1)).alias("events"),
    )
