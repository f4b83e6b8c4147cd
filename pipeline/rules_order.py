"""Order: each delivery beside what was sent before it."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.rules_keys import PARTITION_KEY, SESSION_ID
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]


def _in_turn(frames: Frames) -> DataFrame:
    """Each first delivery of a message with a key, beside one that was sent before it.

    Of the messages of a key that were surely sent before, `before` is the one that was received
    latest: its `until` is where its first delivery may be, at the earliest. All messages of a key
    are looked at in one pass, by the order of what was sent and asked.
    """
    keyed = _sessions_and_keys(frames).where(sf.col("send.transaction").isNull())
    by = ["history_id", "entity", "kind", "key"]
    kept = [*by, "lock", "one_receiver", "requires_session"]
    arrived = keyed.where(sf.col("send.sure")).select(
        *kept,
        sf.col("send.hi").alias("at"),
        sf.lit(1).alias("step"),
        sf.struct(
            sf.col("waits_until").alias("until"),
            sf.col("send.t_lo").alias("t_lo"),
            sf.col("send.seq").alias("seq"),
            "body",
        ).alias("arrival"),
    )
    first = sf.array_min(
        sf.transform("live", lambda give: sf.struct(give["hi"], give["t_hi"], give["seq"]))
    )
    asked = keyed.where(sf.col("given_hi").isNotNull()).select(
        *kept,
        sf.col("send.lo").alias("at"),
        sf.lit(0).alias("step"),
        sf.struct(first.alias("give"), sf.col("send.seq").alias("seq"), "body").alias("asked"),
    )
    both = arrived.unionByName(asked, allowMissingColumns=True)
    return _beside_the_latest(both, by).where(sf.col("asked").isNotNull())


def _beside_the_latest(rows: DataFrame, by: list[str]) -> DataFrame:
    """Each row with the arrival before it that stays longest."""
    so_far = (
        Window.partitionBy(*by)
        .orderBy("at", "step")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    return rows.withColumn("before", sf.max("arrival").over(so_far))


def _sessions_and_keys(frames: Frames) -> DataFrame:
    """Messages that stand in a line: of a session, or with a key; without copies and outages."""
    sent = "send.sent"
    session, partition = sf.col(f"{sent}.session_id"), sf.col(f"{sent}.partition_key")
    kind = sf.when(session != "", SESSION_ID).when(
        session.isNull() & (partition != "") & sf.col("partitioned"), PARTITION_KEY
    )
    undisturbed = (sf.col("downs") == 0) & (sf.col("lost_receives") == 0) & ~sf.col("detecting")
    return (
        frames.messages.where(
            sf.col("once") & (sf.col("send.op") == "Send") & undisturbed & kind.isNotNull()
        )
        .withColumn("kind", kind)
        .withColumn("key", sf.coalesce(session, partition))
    )


def _in_order(situation: Column) -> Judgement:
    return Judgement(
        situation=sf.col("before").isNotNull() & situation,
        broken=sf.col("before.until") > sf.col("asked.give.hi"),
        seqs=sf.array("before.seq", "asked.seq", "asked.give.seq"),
        expected=sf.concat(
            sf.lit("'"), sf.col("before.body"), sf.lit("' first, which was sent before")
        ),
        actual=sf.concat(sf.lit("'"), sf.col("asked.body"), sf.lit("' was received")),
    )


def key_06(_: Held) -> Judgement:
    """KEY-06: on a session-aware entity a session is received in the order of sending."""
    return _in_order(sf.col("requires_session") & (sf.col("kind") == SESSION_ID))


def key_17(held: Held) -> Judgement | None:
    """KEY-17: messages with one key are received in order, by one receiver (KEY-ORDER).

    While nothing that a front end cached can have expired there: within a lock's duration.
    """
    if held.reads("KEY-ORDER") == "sessions-only":
        return None
    fresh = sf.col("asked.give.t_hi") < sf.col("before.t_lo") + sf.col("lock") - held.slack
    return _in_order(~sf.col("requires_session") & sf.col("one_receiver") & fresh)


_NEEDS = frozenset({"sent", "seen", "settings"})

QUERIES = (
    Query(rule="KEY-06", frame=_in_turn, judge=key_06, needs=_NEEDS),
    Query(rule="KEY-17", frame=_in_turn, judge=key_17, needs=_NEEDS | {"connection"}),
)
