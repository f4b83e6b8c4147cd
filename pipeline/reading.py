"""Reading history files of any size: each line has its place, and none vanishes.

Spark reads a large file in blocks, side by side. A line's number, and the scenario that it belongs
to, are found from its place within its block and from what the blocks before it hold, so that no
file has to pass through one task.
"""

from collections.abc import Mapping, Sequence

import attrs
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from busproof.pipeline.keeping import kept
from busproof.pipeline.schema import (
    COMMAND,
    DESCRIPTION,
    EVENT,
    EVENTS,
    KNOWN_COMMANDS,
    KNOWN_OUTCOMES,
    MESSAGE,
    OUTCOME,
    RECORD,
    SETTINGS,
    SUBSCRIPTIONS,
    VIEW,
    ddl,
)

__all__ = ["Read", "read_lines", "read_table"]

_CORRUPT = "_corrupt"
_HISTORIES_A_FILE = 32
"""Bits of a history's number below that of its file."""


@attrs.frozen
class Read:
    """What was read.

    Attributes:
        events: in the published schema; those of histories that can be judged, and no others.
        scenarios: one row a scenario: history_id, scenario, rules, feature, verdict, cause, detail.
        headers: the first line of each file: file, text.
        quarantine: what could not be read or is not known here: file, line, history_id, why, text.
        texts: the lines of events, where there are any: history_id, line, text.
        absent: columns of the published schema that a table does not have.
    """

    events: DataFrame
    scenarios: DataFrame | None
    headers: DataFrame | None
    quarantine: DataFrame
    texts: DataFrame | None = None
    absent: frozenset[str] = frozenset()


def read_lines(spark: SparkSession, paths: Sequence[str]) -> Read:
    """The histories of files in JSON lines."""
    rows = kept(_judged_one_by_one(_placed(_parsed(spark, paths))))
    bad = rows.where(sf.col("why").isNotNull())
    events = rows.where(sf.col("why").isNull() & (sf.col("r.record") == "event"))
    table = kept(_without(events, bad).select(*_columns()))
    return Read(
        events=table,
        texts=events.select("history_id", "line", "text"),
        scenarios=_scenarios(rows),
        headers=rows.where((sf.col("line") == 1) & (sf.col("r.record") == "header")).select(
            "file", "text"
        ),
        quarantine=bad.select(
            "file", "line", "history_id", "why", sf.substring("text", 1, 400).alias("text")
        ),
    )


def read_table(spark: SparkSession, path: str) -> Read:
    """A history in the published schema, as Parquet; raises Spark's errors where it is none."""
    table = spark.read.parquet(path)
    absent = frozenset(EVENTS) - frozenset(table.columns)
    wanted = sf.lit(None)
    for name in sorted(absent):
        table = table.withColumn(name, wanted.cast(EVENTS[name]))
    schema = spark.createDataFrame([], ddl(EVENTS)).schema
    events = table.select(*EVENTS).to(schema)
    placeless = (
        sf.col("history_id").isNull()
        | sf.col("seq").isNull()
        | sf.col("op").isNull()
        | sf.col("outcome").isNull()
    )
    why = sf.when(placeless, "history_id, seq, op or outcome is missing").otherwise(_unheard_of())
    unusable = events.withColumn("why", why).where(sf.col("why").isNotNull())
    twice = (
        events.groupBy("history_id", "seq")
        .agg(sf.count("*").alias("times"), sf.first("op").alias("op"))
        .where((sf.col("times") > 1) & sf.col("history_id").isNotNull())
        .withColumn("why", sf.lit("history_id and seq name more than one event"))
    )
    columns = ["history_id", "seq", "op", "why"]
    bad = kept(unusable.select(*columns).unionByName(twice.select(*columns)))
    return Read(
        events=_without(events.where(~placeless), bad),
        scenarios=None,
        headers=None,
        quarantine=bad.select(
            sf.lit(path).alias("file"),
            sf.col("seq").alias("line"),
            "history_id",
            "why",
            sf.col("op").alias("text"),
        ),
        absent=absent,
    )


def _without(events: DataFrame, bad: DataFrame) -> DataFrame:
    """The events of histories in which nothing is bad."""
    if not bad.limit(1).count():
        return events
    return events.join(sf.broadcast(bad.select("history_id").distinct()), "history_id", "anti")


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
    kinds = {**fields, _CORRUPT: "STRING"}
    return sf.from_json(sf.col(name), ddl(kinds), {"columnNameOfCorruptRecord": _CORRUPT})


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
    return rows.withColumn("why", sf.coalesce(_unreadable(), _unknown()))


def _unreadable() -> Column:
    record = sf.col("r.record")
    event = record == "event"
    given = sf.col("o.type") == "Received"
    return (
        sf.when(
            sf.col(f"r.{_CORRUPT}").isNotNull() | record.isNull(),
            "the line is no record: not a JSON object, or a field of another kind",
        )
        .when(
            ~record.isin("header", "started", "event", "ended"),
            "record must be header, started, event or ended",
        )
        .when(
            (record == "header") != (sf.col("line") == 1),
            "a history begins with its header, and has no other",
        )
        .when(
            event & (sf.col("c.type").isNull() | sf.col("o.type").isNull()),
            "an event has a command and an outcome, each with a type",
        )
        .when(
            event & (sf.col(f"c.{_CORRUPT}").isNotNull() | sf.col(f"o.{_CORRUPT}").isNotNull()),
            "a field of the command or the outcome is of another kind",
        )
        .when(event & given & sf.col("o.message.body").isNull(), "Received names no message")
        .when(
            event & (sf.col("r.returned") < sf.col("r.called")), "it returned before it was called"
        )
    )


def _unknown() -> Column:
    """What this engine does not know, and so does not judge: kinds of requests, and fields."""
    event = sf.col("r.record") == "event"
    shown = sf.from_json(
        "r.outcome",
        "message MAP<STRING, STRING>, messages ARRAY<MAP<STRING, STRING>>, "
        "description MAP<STRING, STRING>",
    )
    sent = sf.from_json("r.command", "message MAP<STRING, STRING>")
    kinds = (
        (sf.json_object_keys("text"), EVENT),
        (sf.json_object_keys("r.command"), COMMAND),
        (sf.json_object_keys("r.outcome"), OUTCOME),
        (sf.map_keys(sent["message"]), MESSAGE),
        (sf.map_keys(shown["message"]), VIEW),
        (sf.map_keys(shown["description"]), DESCRIPTION),
        (
            sf.flatten(sf.transform(shown["messages"], sf.map_keys)),
            VIEW,
        ),
    )
    extra = sf.array_distinct(
        sf.concat(*(sf.coalesce(_beyond(keys, known), sf.array()) for keys, known in kinds))
    )
    return sf.when(
        event,
        sf.coalesce(
            _unheard_of("c.type", "o.type"),
            sf.when(
                sf.size(extra) > 0,
                sf.concat(sf.lit("not known to this engine: "), sf.array_join(extra, ", ")),
            ),
        ),
    )


def _beyond(keys: Column, known: Mapping[str, str]) -> Column:
    names = [sf.lit(name) for name in known]
    return sf.array_except(keys, sf.array(*names))


def _unheard_of(op: str = "op", outcome: str = "outcome") -> Column:
    return sf.when(
        ~sf.col(op).isin(KNOWN_COMMANDS),
        sf.concat(sf.lit("not known to this engine: the command "), sf.col(op)),
    ).when(
        ~sf.col(outcome).isin(KNOWN_OUTCOMES),
        sf.concat(sf.lit("not known to this engine: the outcome "), sf.col(outcome)),
    )


def _columns() -> list[Column]:
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
        "witness": sf.col("r.witness.partition"),
    }
    return [columns[name].cast(kind).alias(name) for name, kind in EVENTS.items()]


def _settings() -> Column:
    """What an entity is created with; an option that the request leaves out on purpose is null."""
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
        *(sf.coalesce(f"c.{name}", defaults.get(name, sf.lit(None))).alias(name) for name in SETTINGS)
    )
    return sf.when(sf.col("c.type").isin(*_CREATIONS), settings)


_CREATIONS = ("CreateQueue", "RestoreQueue", "CreateTopic", "CreateSubscription")


def _scenarios(rows: DataFrame) -> DataFrame:
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
