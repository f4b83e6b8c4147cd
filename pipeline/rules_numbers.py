"""Sequence numbers: one message each, the same at each sight, rising as messages arrive."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.rules_keys import key_of
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]


def _numbers() -> Column:
    """The numbers that a message was seen under, once it had come."""
    come = sf.filter("views", lambda view: ~view["v"]["state"].eqNullSafe(sf.lit("scheduled")))
    return sf.array_distinct(
        sf.array_compact(sf.transform(come, lambda view: view["v"]["sequence_number"]))
    )


def _messages(frames: Frames) -> DataFrame:
    return frames.messages


def seq_04(_: Held) -> Judgement:
    """SEQ-04: a message has the same number at each sight."""
    numbers = _numbers()
    told = sf.filter("views", lambda view: view["v"]["sequence_number"].isNotNull())
    sent = sf.col("once") & (sf.col("send.op") == "Send")
    return Judgement(
        situation=sent & (sf.size(told) > 1),
        broken=sf.size(numbers) > 1,
        seqs=sf.array_distinct(sf.transform(told, lambda view: view["seq"])),
        expected="one sequence number",
        actual=sf.concat(sf.lit("these: "), sf.array_join(numbers.cast("array<string>"), ", ")),
    )


def _by_number(frames: Frames) -> DataFrame:
    """One row a number of an entity: the messages that were seen under it."""
    seen = frames.messages.where(sf.col("once") & (sf.size("views") > 0))
    one = sf.struct("body", sf.get("views", sf.lit(0))["seq"].alias("seq"))
    return (
        seen.select(
            "history_id",
            "entity",
            "partitioned",
            one.alias("one"),
            sf.explode(_numbers()).alias("number"),
        )
        .groupBy("history_id", "entity", "partitioned", "number")
        .agg(sf.min("one").alias("one"), sf.max("one").alias("other"))
    )


def seq_03(held: Held) -> Judgement:
    """SEQ-03: a number names one message (SEQUENCE-UNIQUE)."""
    concerned = sf.lit(True) if held.unique_numbers else ~sf.col("partitioned")
    return Judgement(
        situation=concerned,
        broken=sf.col("one.body") != sf.col("other.body"),
        seqs=sf.array_sort(sf.array("one.seq", "other.seq")),
        expected=sf.concat(sf.lit("one message with the number "), sf.col("number")),
        actual=sf.concat(
            sf.lit("'"),
            sf.col("one.body"),
            sf.lit("' and '"),
            sf.col("other.body"),
            sf.lit("' have it"),
        ),
    )


def _in_line(frames: Frames) -> DataFrame:
    """Each numbered message of a key, beside the highest number that was surely sent before it.

    All messages of a key are looked at in one pass, by the order of what was sent and asked.
    """
    kind, key, empty = key_of("send.sent")
    alone = sf.col("send.sure") & sf.col("send.transaction").isNull()
    sent = sf.col("once") & (sf.col("send.op") == "Send") & alone & ~empty
    numbers = _numbers()
    lined = (
        frames.messages.where(sent & (sf.size(numbers) == 1))
        .withColumns({"kind": kind, "key": key, "number": sf.get(numbers, sf.lit(0))})
        .where(sf.col("kind").isNotNull())
    )
    kept = ["history_id", "entity", "partitioned", "requires_session", "kind", "key"]
    here = sf.struct("number", sf.col("send.seq").alias("seq"), "body")
    arrived = lined.select(
        *kept, sf.col("send.hi").alias("at"), sf.lit(1).alias("step"), here.alias("arrival")
    )
    asked = lined.select(
        *kept, sf.col("send.lo").alias("at"), sf.lit(0).alias("step"), here.alias("asked")
    )
    so_far = (
        Window.partitionBy("history_id", "entity", "kind", "key")
        .orderBy("at", "step")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    both = arrived.unionByName(asked, allowMissingColumns=True)
    return both.withColumn("before", sf.max("arrival").over(so_far)).where(
        sf.col("asked").isNotNull()
    )


def _rising(concerned: Callable[[], Column]) -> Callable[[Held], Judgement]:
    def judge(_: Held) -> Judgement:
        return Judgement(
            situation=concerned() & sf.col("before").isNotNull(),
            broken=sf.col("before.number") > sf.col("asked.number"),
            seqs=sf.array("before.seq", "asked.seq"),
            expected=sf.concat(
                sf.lit("a number above "),
                sf.col("before.number"),
                sf.lit(", which was sent before with the same key"),
            ),
            actual=sf.col("asked.number"),
        )

    return judge


def _partitioned() -> Column:
    return sf.col("partitioned")


def _regular() -> Column:
    """Only within a session: of sends side by side it is not asked which came first."""
    return ~sf.col("partitioned") & sf.col("requires_session") & (sf.col("kind") == "SessionId")


_NEEDS = frozenset({"sent", "seen", "settings"})

QUERIES = (
    Query(rule="SEQ-01", frame=_in_line, judge=_rising(_partitioned), needs=_NEEDS),
    Query(rule="SEQ-03", frame=_by_number, judge=seq_03, needs=_NEEDS),
    Query(rule="SEQ-04", frame=_messages, judge=seq_04, needs=_NEEDS),
    Query(rule="SEQ-05", frame=_in_line, judge=_rising(_regular), needs=_NEEDS),
)
