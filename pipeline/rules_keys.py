"""Where messages with one key lie: all in one partition, wherever that is."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.schema import NEVER
from busproof.pipeline.terms import Held

__all__ = ["MESSAGE_ID", "PARTITION_KEY", "QUERIES", "SESSION_ID", "key_of", "keyed"]

SESSION_ID, PARTITION_KEY, MESSAGE_ID = "SessionId", "PartitionKey", "MessageId"


def key_of(sent: str) -> tuple[Column, Column, Column]:
    """Which property of a message is its key, its value, and whether that is open (EMPTY-KEY)."""
    session, partition, own = (
        sf.col(f"{sent}.{name}") for name in ("session_id", "partition_key", "message_id")
    )
    kind = (
        sf.when(session.isNotNull(), SESSION_ID)
        .when(partition.isNotNull(), PARTITION_KEY)
        .when(sf.col("detecting") & (own != ""), MESSAGE_ID)
    )
    empty = session.eqNullSafe("") | partition.eqNullSafe("")
    return kind, sf.coalesce(session, partition, own), empty


def keyed(frames: Frames) -> DataFrame:
    """Messages of partitioned queues that surely have a key: `kind` and `key` say which.

    Whether an empty property counts as set is open (EMPTY-KEY): such messages are left out. Whether
    two properties of one value are one key is open too (KEY-PROPERTIES): they are two here.
    """
    kind, key, empty = key_of("send.sent")
    plainly = sf.col("once") & (sf.col("send.op") == "Send") & sf.col("partitioned") & ~empty
    return (
        frames.messages.where(plainly)
        .withColumn("kind", kind)
        .withColumn("key", key)
        .where(sf.col("kind").isNotNull())
    )


def _homes(frames: Frames) -> DataFrame:
    """One row a key: the partitions that its messages were seen in, and two of these messages."""
    placed = (
        keyed(frames)
        .where(sf.size("partitions") == 1)
        .withColumn("partition", sf.get("partitions", sf.lit(0)))
    )
    one = sf.struct("partition", sf.col("send.seq").alias("seq"), "body")
    return placed.groupBy("history_id", "entity", "kind", "key").agg(
        sf.min(one).alias("one"),
        sf.max(one).alias("other"),
        sf.count("*").alias("messages"),
        sf.first("requires_session").alias("requires_session"),
        sf.bool_and(sf.col("detecting") & sf.col("send.sent.message_id").isNotNull()).alias(
            "beside_id"
        ),
    )


def _one_home(*kinds: str, also: str = "") -> Callable[[Held], Judgement]:
    """Messages with the same key of this kind are in one partition."""

    def judge(_: Held) -> Judgement:
        concerned = sf.col("kind").isin(*kinds) if kinds else sf.lit(True)
        if also:
            concerned = concerned & sf.col(also)
        return Judgement(
            situation=concerned & (sf.col("messages") > 1),
            broken=sf.col("one.partition") != sf.col("other.partition"),
            seqs=sf.array_sort(sf.array("one.seq", "other.seq")),
            expected=sf.concat(
                sf.lit("one partition for the "),
                sf.col("kind"),
                sf.lit(" '"),
                sf.col("key"),
                sf.lit("'"),
            ),
            actual=sf.concat(
                sf.lit("partition "),
                sf.col("one.partition").cast("string"),
                sf.lit(" for '"),
                sf.col("one.body"),
                sf.lit("', partition "),
                sf.col("other.partition").cast("string"),
                sf.lit(" for '"),
                sf.col("other.body"),
                sf.lit("'"),
            ),
        )

    return judge


def _downtimes(frames: Frames) -> DataFrame:
    """When a partition was surely down: after `down_hi`, until `up_lo`."""
    down = frames.base.where((sf.col("op") == "TakePartitionDown") & (sf.col("outcome") == "Done"))
    up = frames.base.where((sf.col("op") == "BringPartitionUp") & sf.col("taken"))
    ups = up.select(
        "history_id", "owner", "partition", sf.col("lo").alias("u_lo"), sf.col("hi").alias("u_hi")
    )
    downs = down.select(
        "history_id",
        "owner",
        "partition",
        sf.col("lo").alias("d_lo"),
        sf.col("hi").alias("down_hi"),
        sf.col("seq").alias("down_seq"),
    )
    later = sf.when(sf.col("u_hi") >= sf.col("d_lo"), sf.col("u_lo"))
    return (
        downs.join(ups, ["history_id", "owner", "partition"], "left")
        .groupBy("history_id", "owner", "partition", "d_lo", "down_hi", "down_seq")
        .agg(sf.coalesce(sf.min(later), sf.lit(NEVER)).alias("up_lo"))
        .withColumnRenamed("owner", "entity")
    )


def _sent_in_outages(frames: Frames) -> DataFrame:
    """Answered sends with a key while the partition was surely down that the key selects.

    Only entities that had outages are looked at, which costs next to nothing where none had. A send
    in a transaction may be judged at the commit (TXN-OUTAGE), and is left out.
    """
    keys = ["history_id", "entity", "kind", "key"]
    placed = (
        keyed(frames)
        .where((sf.col("downs") > 0) & (sf.size("partitions") == 1))
        .withColumn("partition", sf.get("partitions", sf.lit(0)))
    )
    homes = placed.groupBy(*keys).agg(
        sf.min("partition").alias("partition"),
        sf.max("partition").alias("other"),
        sf.min("send.seq").alias("home_seq"),
    )
    known = homes.where(sf.col("partition") == sf.col("other")).drop("other")
    kind, key, empty = key_of("sent")
    answered = frames.sends.where(
        (sf.col("downs") > 0)
        & (sf.col("op") == "Send")
        & sf.col("outcome").isin("Done", "Refused")
        & sf.col("transaction").isNull()
        & ~empty
    ).select(
        "history_id",
        "entity",
        "seq",
        "lo",
        "hi",
        "outcome",
        "sent.body",
        kind.alias("kind"),
        key.alias("key"),
    )
    return (
        answered.join(known, keys, "inner")
        .join(sf.broadcast(_downtimes(frames)), ["history_id", "entity", "partition"], "inner")
        .where((sf.col("lo") > sf.col("down_hi")) & (sf.col("hi") < sf.col("up_lo")))
    )


def key_03(_: Held) -> Judgement:
    """KEY-03: a keyed send is refused while its partition is down."""
    return Judgement(
        situation=sf.lit(True),
        broken=sf.col("outcome") == "Done",
        seqs=sf.array_distinct(sf.array("home_seq", "down_seq", "seq")),
        expected=sf.concat(
            sf.lit("a refusal: partition "),
            sf.col("partition").cast("string"),
            sf.lit(" is down, which the "),
            sf.col("kind"),
            sf.lit(" '"),
            sf.col("key"),
            sf.lit("' selects"),
        ),
        actual=sf.concat(sf.lit("the send of '"), sf.col("body"), sf.lit("' was accepted")),
    )


_NEEDS = frozenset({"sent", "seen", "settings"})

QUERIES = (
    Query(rule="KEY-02", frame=_homes, judge=_one_home(), needs=_NEEDS),
    Query(rule="KEY-04", frame=_homes, judge=_one_home(SESSION_ID), needs=_NEEDS),
    Query(
        rule="KEY-05",
        frame=_homes,
        needs=_NEEDS,
        judge=_one_home(SESSION_ID, also="requires_session"),
    ),
    Query(rule="KEY-07", frame=_homes, judge=_one_home(PARTITION_KEY), needs=_NEEDS),
    Query(rule="KEY-10", frame=_homes, judge=_one_home(MESSAGE_ID), needs=_NEEDS),
    Query(
        rule="KEY-24",
        frame=_homes,
        needs=_NEEDS,
        judge=_one_home(SESSION_ID, PARTITION_KEY, also="beside_id"),
    ),
    Query(rule="KEY-03", frame=_sent_in_outages, judge=key_03, needs=_NEEDS | {"partition"}),
)
