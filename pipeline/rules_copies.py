"""Copies: messages of one MessageId within the duplicate window."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]


def _copies(frames: Frames) -> DataFrame:
    """Messages of one MessageId that all arrived, each beside the one sent before it.

    Sends with other keys are no copies of each other, or may be none (DUPLICATES-ACROSS-KEYS).
    """
    sent = "send.sent"
    session, partition = sf.col(f"{sent}.session_id"), sf.col(f"{sent}.partition_key")
    own = sf.col(f"{sent}.message_id")
    seen = (sf.size("gives") > 0) | (sf.size("peeks") > 0)
    plainly = (
        sf.col("once")
        & (sf.col("send.op") == "Send")
        & sf.col("send.sure")
        & sf.col("send.transaction").isNull()
    )
    clear = (own != "") & ~session.eqNullSafe("") & ~partition.eqNullSafe("")
    key = sf.when(
        sf.col("partitioned"), sf.to_json(sf.struct(session.alias("s"), partition.alias("p")))
    ).otherwise("")
    found = frames.messages.where(sf.col("detecting") & seen & plainly & clear).select(
        "history_id",
        "entity",
        "window",
        "partitioned",
        "body",
        own.alias("message_id"),
        key.alias("key"),
        (session.isNull() & partition.isNull()).alias("by_id"),
        sf.struct("send.t_lo", "send.t_hi", "send.seq", "body").alias("send"),
        sf.array_min(
            sf.concat(
                sf.transform("gives", lambda give: give["seq"]),
                sf.transform("peeks", lambda peek: peek["seq"]),
            )
        ).alias("sight"),
    )
    by = Window.partitionBy("history_id", "entity", "message_id", "key").orderBy("send")
    return found.withColumn("before", sf.lag("send").over(by))


def _eliminated(concerned: Column, held: Held) -> Judgement:
    apart = sf.greatest("send.t_hi", "before.t_hi") - sf.least("send.t_lo", "before.t_lo")
    return Judgement(
        situation=concerned,
        broken=sf.col("before").isNotNull() & (apart < sf.col("window") - held.slack),
        seqs=sf.array("before.seq", "send.seq", "sight"),
        expected=sf.concat(
            sf.lit("one message with the MessageId '"),
            sf.col("message_id"),
            sf.lit("' within the duplicate window"),
        ),
        actual=sf.concat(
            sf.lit("'"),
            sf.col("before.body"),
            sf.lit("' and '"),
            sf.col("body"),
            sf.lit("' both arrived"),
        ),
    )


def key_11(held: Held) -> Judgement:
    """KEY-11: copies of a MessageId that is the key are eliminated within the window."""
    return _eliminated(sf.col("partitioned") & sf.col("by_id"), held)


def dup_05(held: Held) -> Judgement:
    """DUP-05: on a regular entity copies are eliminated whatever their keys."""
    return _eliminated(sf.col("partitioned").eqNullSafe(sf.lit(False)), held)


_NEEDS = frozenset({"sent", "seen", "settings"})

QUERIES = (
    Query(rule="KEY-11", frame=_copies, judge=key_11, needs=_NEEDS),
    Query(rule="DUP-05", frame=_copies, judge=dup_05, needs=_NEEDS),
)
