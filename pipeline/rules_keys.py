"""What messages with one key, one MessageId or one transaction have in common."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from busproof.pipeline.frames import RECEIVES, Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.schema import NEVER
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]

SESSION_ID, PARTITION_KEY, MESSAGE_ID = "SessionId", "PartitionKey", "MessageId"


def _key_of(sent: str) -> tuple[Column, Column, Column]:
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


def _keyed(frames: Frames) -> DataFrame:
    """Messages of partitioned queues that surely have a key: `kind` and `key` say which.

    Whether an empty property counts as set is open (EMPTY-KEY): such messages are left out. Whether
    two properties of one value are one key is open too (KEY-PROPERTIES): they are two here.
    """
    kind, key, empty = _key_of("send.sent")
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
        _keyed(frames)
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
        _keyed(frames)
        .where((sf.col("downs") > 0) & (sf.size("partitions") == 1))
        .withColumn("partition", sf.get("partitions", sf.lit(0)))
    )
    homes = placed.groupBy(*keys).agg(
        sf.min("partition").alias("partition"),
        sf.max("partition").alias("other"),
        sf.min("send.seq").alias("home_seq"),
    )
    known = homes.where(sf.col("partition") == sf.col("other")).drop("other")
    kind, key, empty = _key_of("sent")
    answered = frames.sends.where(
        (sf.col("downs") > 0)
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


def _receives_in_turn(frames: Frames) -> DataFrame:
    """Each receive of an entity with one receiver, beside the message that waits for it longest."""
    free = (
        ~sf.col("requires_session")
        & ~sf.col("detecting")
        & (sf.col("downs") == 0)
        & (sf.col("lost_receives") == 0)
        & sf.col("one_receiver")
    )
    plainly = sf.col("once") & (sf.col("send.op") == "Send")
    sent = sf.col("send.sure") & sf.col("send.transaction").isNull()
    arrived = frames.messages.where(free & plainly & sent).select(
        "history_id",
        "entity",
        sf.col("send.hi").alias("at"),
        sf.lit(1).alias("step"),
        sf.struct(
            sf.col("waits_until").alias("until"),
            sf.col("send.seq").alias("seq"),
            "body",
        ).alias("arrival"),
    )
    receives = frames.base.where(
        (sf.col("op") == RECEIVES[0])
        & sf.col("session_id").isNull()
        & ~sf.col("dead")
        & sf.col("outcome").isin("Received", "Empty")
    ).select(
        "history_id",
        "entity",
        sf.col("lo").alias("at"),
        sf.lit(0).alias("step"),
        sf.struct("hi", "lo", "seq", "outcome").alias("asked"),
    )
    both = arrived.unionByName(receives, allowMissingColumns=True)
    return _beside_the_latest(both, ["history_id", "entity"]).where(sf.col("asked").isNotNull())


def life_09(_: Held) -> Judgement:
    """LIFE-09: with one receiver and every partition up, a receive finds what is there."""
    waiting = sf.col("before.until") >= sf.col("asked.lo")
    empty = sf.col("asked.outcome") == "Empty"
    surely = sf.col("before.until") > sf.col("asked.hi")
    return Judgement(
        situation=sf.when(empty, surely).otherwise(waiting),
        broken=empty & surely,
        seqs=sf.array("before.seq", "asked.seq"),
        expected=sf.concat(sf.lit("a message: '"), sf.col("before.body"), sf.lit("' is there")),
        actual="the receive came back empty",
    )


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


def _transacted(frames: Frames) -> DataFrame:
    """One row a transaction and partitioned entity: the keys of the sends that were accepted."""
    session, partition = sf.col("sent.session_id"), sf.col("sent.partition_key")
    own = sf.when(sf.col("detecting"), sf.col("sent.message_id"))
    clear = ~session.eqNullSafe("") & ~partition.eqNullSafe("") & ~own.eqNullSafe("")
    accepted = (
        sf.col("transaction").isNotNull() & (sf.col("outcome") == "Done") & sf.col("partitioned")
    )
    sends = frames.sends.where(accepted & clear)
    once = frames.transactions.where(sf.col("begun") == 1).select("history_id", "transaction")
    return (
        sends.join(once, ["history_id", "transaction"], "inner")
        .groupBy("history_id", "entity", "transaction")
        .agg(
            sf.first("requires_session").alias("requires_session"),
            sf.array_sort(sf.collect_set(sf.coalesce(session, partition, own))).alias("keys"),
            sf.array_sort(sf.collect_list("seq")).alias("seqs"),
        )
    )


def _one_key(held: Held, *, sessions: bool) -> Judgement | None:
    if held.reads("TXN-REFUSAL") != "at-send":
        return None
    aware = sf.col("requires_session")
    what = "session" if sessions else "key"
    return Judgement(
        situation=(aware if sessions else ~aware) & (sf.size("seqs") > 1),
        broken=sf.size("keys") > 1,
        seqs=sf.col("seqs"),
        expected=f"a refusal: another {what} than the transaction's first",
        actual=sf.concat(
            sf.lit(f"sends with these {what}s were accepted: "),
            sf.array_join(sf.col("keys"), ", "),
        ),
    )


def txn_04(held: Held) -> Judgement | None:
    """TXN-04: different keys in one transaction are refused."""
    return _one_key(held, sessions=False)


def txn_08(held: Held) -> Judgement | None:
    """TXN-08: two sessions in one transaction are refused."""
    return _one_key(held, sessions=True)


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
    Query(rule="KEY-06", frame=_in_turn, judge=key_06, needs=_NEEDS),
    Query(rule="KEY-17", frame=_in_turn, judge=key_17, needs=_NEEDS | {"connection"}),
    Query(rule="LIFE-09", frame=_receives_in_turn, judge=life_09, needs=_NEEDS | {"connection"}),
    Query(rule="KEY-11", frame=_copies, judge=key_11, needs=_NEEDS),
    Query(rule="DUP-05", frame=_copies, judge=dup_05, needs=_NEEDS),
    Query(rule="TXN-04", frame=_transacted, judge=txn_04, needs=_NEEDS | {"transaction"}),
    Query(rule="TXN-08", frame=_transacted, judge=txn_08, needs=_NEEDS | {"transaction"}),
)
