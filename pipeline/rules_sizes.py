"""How large an entity is told to be, and what is taken in where it is surely full.

Nobody says whether a GB is 10^9 or 2^30 bytes: what is full holds at least the latter.
"""

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from busproof.pipeline.deliveries import has_lock
from busproof.pipeline.frames import Frames, sends
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.ordering import CREATIONS, QUEUES
from busproof.pipeline.rules_keys import key_of
from busproof.pipeline.terms import Held
from busproof.vocabulary.values import Tier

__all__ = ["QUERIES"]

LEAST_GB: Final = 10**9
MOST_GB: Final = 2**30
SIZES: Final = (1, 2, 3, 4, 5)
DEFAULT_SIZE: Final = 1
FEW: Final = 600
"""Entities of which no quota speaks, even if each partition of one counts (QUOTA-WEIGHT)."""


def _described(frames: Frames) -> DataFrame:
    """Every answer that tells how large a queue is, in GB: of the whole, and of one part."""
    told = frames.base.where(
        (sf.col("outcome") == "Described") & sf.col("described.max_size").isNotNull()
    ).select("history_id", "owner", "entity", "seq", sf.col("described.max_size").alias("told"))
    parts = sf.when(sf.col("partitioned"), sf.lit(frames.held.profile.partitions)).otherwise(1)
    return (
        frames.of_plain(told)
        .where((sf.col("kind") == "CreateQueue") & sf.col("partitioned").isNotNull())
        .withColumn("parts", parts)
        .withColumn("given", sf.coalesce("max_size", sf.lit(DEFAULT_SIZE)))
    )


def _in_standard(held: Held) -> bool:
    """Whether it is said which sizes there are."""
    return held.profile.tier is Tier.STANDARD and "SIZE-02" not in held.profile.silent


def _told(concerned: Callable[[], Column]) -> Callable[[Held], Judgement | None]:
    """A queue is told to have the size that it was given, times its partitions."""

    def judge(held: Held) -> Judgement | None:
        if not _in_standard(held):
            return None
        whole = sf.col("given") * sf.col("parts")
        return Judgement(
            situation=concerned() & sf.col("given").isin(*SIZES),
            broken=sf.col("told") != whole,
            seqs=sf.array("seq"),
            expected=sf.concat(whole.cast("string"), sf.lit(" GB")),
            actual=sf.concat(sf.col("told").cast("string"), sf.lit(" GB")),
        )

    return judge


def _stated() -> Column:
    return sf.col("max_size").isNotNull()


def _unstated() -> Column:
    return sf.col("max_size").isNull()


def _partitioned() -> Column:
    return sf.col("partitioned")


def _regular() -> Column:
    return ~sf.col("partitioned")


def size_02(held: Held) -> Judgement | None:
    """SIZE-02: whatever was asked for, the size of a part is one of the five."""
    if not _in_standard(held):
        return None
    sizes = [sf.lit(size) * sf.col("parts") for size in SIZES]
    return Judgement(
        situation=~sf.col("given").isin(*SIZES),
        broken=~sf.col("told").isin(*sizes),
        seqs=sf.array("seq"),
        expected="a size of 1 to 5 GB for each partition",
        actual=sf.concat(sf.col("told").cast("string"), sf.lit(" GB in all")),
    )


def _created(frames: Frames) -> DataFrame:
    """Answered requests for a queue in which nothing but the size is out of the ordinary.

    Where there are many entities, or one was to be in an outage, any refusal may come.
    """
    few = (
        frames.base.where(sf.col("op").isin(*CREATIONS))
        .groupBy("history_id")
        .agg(sf.count("*").alias("created"))
        .where(sf.col("created") < FEW)
        .select("history_id")
    )
    down = frames.base.where(sf.col("op") == "TakePartitionDown").select("history_id", "owner")
    asked = frames.base.where(
        (sf.col("op") == "CreateQueue")
        & ~sf.col("dead")
        & sf.col("outcome").isin("Done", "Refused")
        & sf.col("settings.max_size").isNotNull()
        & sf.col("settings.forward_to").isNull()
        & sf.col("settings.forward_dead_letters_to").isNull()
        & sf.col("settings.api_version").isNull()
        & sf.col("settings.time_to_live").isNull()
        & (sf.col("settings.lock_duration") <= 60_000_000)
        & (sf.col("settings.duplicate_window") <= 600_000_000)
        & (sf.col("settings.max_delivery_count") <= 10)
    )
    return (
        asked.join(sf.broadcast(few), "history_id", "left_semi")
        .join(sf.broadcast(down), ["history_id", "owner"], "left_anti")
        .select(
            "history_id",
            "entity",
            "seq",
            "outcome",
            "error",
            sf.col("settings.max_size").alias("max_size"),
        )
    )


def size_01(held: Held) -> Judgement | None:
    """SIZE-01: a size of 1 to 5 GB is no reason for a refusal."""
    if not _in_standard(held):
        return None
    refused = (sf.col("outcome") == "Refused") & (sf.col("error") == "invalid-operation")
    return Judgement(
        situation=sf.col("max_size").isin(*SIZES) & ((sf.col("outcome") == "Done") | refused),
        broken=refused,
        seqs=sf.array("seq"),
        expected=sf.concat(sf.lit("a queue of "), sf.col("max_size"), sf.lit(" GB")),
        actual="a refusal as an invalid operation",
    )


def size_05(held: Held) -> Judgement:
    """SIZE-05: no message is in a partition beyond those that there are."""
    many = held.profile.partitions
    return Judgement(
        situation=sf.col("partitioned") & sf.col("witness").isNotNull(),
        broken=sf.col("witness") >= many,
        seqs=sf.array("seq"),
        expected=f"a partition below {many}, for they are numbered from 0",
        actual=sf.concat(sf.lit("partition "), sf.col("witness").cast("string")),
    )


def _filling(frames: Frames) -> DataFrame:
    """Each answered send, beside how many bytes surely lay there before: of its key, and in all.

    Surely there is what was sent before, lives for ever, and was neither completed nor deleted;
    `untouched` of it was not even received.
    """
    kind, key, empty = key_of("send.sent")
    removed = sf.exists(
        sf.concat("live", "graves"),
        lambda give: (
            give["deleting"]
            | ~has_lock(give)
            | sf.exists(give["acts"], lambda act: act["taken"] & (act["op"] == "Complete"))
        ),
    )
    stays = (
        sf.col("send.sure")
        & sf.col("send.transaction").isNull()
        & sf.col("lives").isNull()
        & (sf.col("lost_receives") == 0)
        & ~removed
    )
    plain = frames.messages.where(
        sf.col("once") & (sf.col("send.op") == "Send") & ~sf.col("detecting")
    ).withColumns(_key(kind, key, empty))
    bytes_ = sf.coalesce("send.sent.size", sf.lit(0))
    kept = ["history_id", "entity", "partitioned", "max_size", "key_kind", "key"]
    arrived = plain.where(stays & (bytes_ > 0)).select(
        *kept,
        sf.col("send.hi").alias("at"),
        sf.lit(1).alias("step"),
        bytes_.alias("bytes"),
        sf.when(sf.size("live") == 0, bytes_).otherwise(0).alias("unseen"),
    )
    kind, key, empty = key_of("sent")
    queue = sf.col("kind").isin(*QUEUES) & ~sf.col("forwards") & ~sf.col("dead")
    answered = sf.col("outcome").isin("Done", "Refused") & sf.col("transaction").isNull()
    asked = frames.sends.where((sf.col("op") == "Send") & queue & answered & ~sf.col("detecting"))
    asked = asked.withColumns(_key(kind, key, empty))
    nothing = sf.lit(0).cast("bigint")
    requests = asked.select(
        *kept,
        sf.col("lo").alias("at"),
        sf.lit(0).alias("step"),
        nothing.alias("bytes"),
        nothing.alias("unseen"),
        "seq",
        "outcome",
        "error",
    )
    before = (
        Window.partitionBy("history_id", "entity")
        .orderBy("at", "step")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    of_key = (
        Window.partitionBy("history_id", "entity", "key_kind", "key")
        .orderBy("at", "step")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    return (
        arrived.unionByName(requests, allowMissingColumns=True)
        .withColumn("of_key", sf.sum("bytes").over(of_key))
        .withColumn("in_all", sf.sum("bytes").over(before))
        .withColumn("unseen", sf.sum("unseen").over(before))
        .where(sf.col("seq").isNotNull() & _is_known(frames.held))
        .withColumn("limit", sf.coalesce("max_size", sf.lit(DEFAULT_SIZE)) * MOST_GB)
    )


def _key(kind: Column, key: Column, empty: Column) -> dict[str, Column]:
    """The key of a message, if it surely has one: a MessageId that is none selects nothing."""
    sure = ~empty & kind.isNotNull()
    return {"key_kind": sf.when(sure, kind), "key": sf.when(sure, key)}


def _is_known(held: Held) -> Column:
    """Whether it is known of how many parts of the size given an entity is."""
    known = sf.col("partitioned").isNotNull()
    return known & ~sf.col("partitioned") if "SIZE-04" in held.profile.silent else known


def _full(full: Column) -> Judgement:
    """A send to what is surely full is refused, for want of room."""
    refused = (sf.col("outcome") == "Refused") & (sf.col("error") == "quota-exceeded")
    return Judgement(
        situation=full & (refused | (sf.col("outcome") == "Done")),
        broken=sf.col("outcome") == "Done",
        seqs=sf.array("seq"),
        expected="a refusal: there is no room",
        actual="the send was accepted",
    )


def size_07(held: Held) -> Judgement | None:
    """SIZE-07: the messages of a key fill the partition that it selects (FULL-PARTITION)."""
    if not _in_standard(held) or held.reads("FULL-PARTITION") != "per-partition":
        return None
    keyed = sf.col("partitioned") & sf.col("key").isNotNull()
    return _full(keyed & (sf.col("of_key") >= sf.col("limit")))


def size_10(held: Held) -> Judgement | None:
    """SIZE-10: what is full refuses what is sent."""
    if not _in_standard(held):
        return None
    return _full(sf.col("unseen") >= _whole(held))


def size_13(held: Held) -> Judgement | None:
    """SIZE-13: what is locked, deferred or dead-lettered takes room too."""
    if not _in_standard(held):
        return None
    return _full((sf.col("in_all") >= _whole(held)) & (sf.col("unseen") < _whole(held)))


def _whole(held: Held) -> Column:
    parts = sf.when(sf.col("partitioned"), sf.lit(held.profile.partitions)).otherwise(1)
    return sf.col("limit") * parts


_SIZED = frozenset({"described", "settings"})
_NEEDS = frozenset({"sent", "settings", "seen", "lock_token", "mode"})

QUERIES = (
    Query(rule="SIZE-01", frame=_created, judge=size_01, needs=frozenset({"settings"})),
    Query(rule="SIZE-01", frame=_described, judge=_told(_stated), needs=_SIZED),
    Query(rule="SIZE-02", frame=_described, judge=size_02, needs=_SIZED),
    Query(rule="SIZE-03", frame=_described, judge=_told(_unstated), needs=_SIZED),
    Query(rule="SIZE-04", frame=_described, judge=_told(_partitioned), needs=_SIZED),
    Query(rule="SIZE-05", frame=sends, judge=size_05, needs=frozenset({"witness", "sent"})),
    Query(rule="SIZE-06", frame=_described, judge=_told(_regular), needs=_SIZED),
    Query(rule="SIZE-07", frame=_filling, judge=size_07, needs=_NEEDS),
    Query(rule="SIZE-10", frame=_filling, judge=size_10, needs=_NEEDS),
    Query(rule="SIZE-13", frame=_filling, judge=size_13, needs=_NEEDS),
)
