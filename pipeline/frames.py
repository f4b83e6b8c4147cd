"""What the rules are asked of: a history's events, brought together by what they are about.

Each frame costs one shuffle, and each is used by many rules. Where requests overlap, or answers are
missing, an event has no place in the order but a range of them, from `lo` to `hi`: one event was
surely before another exactly if its `hi` is less than the other's `lo`. An answer that never came
has no `hi`: its request may take effect at any later time.
"""

from functools import cached_property
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from busproof.pipeline.keeping import kept
from busproof.pipeline.schema import DEAD_LETTERS, NEVER
from busproof.pipeline.terms import Held

__all__ = ["RECEIVES", "SETTLEMENTS", "TERMINAL", "Frames", "entities", "ordered"]

RECEIVES: Final = ("Receive", "ReceiveDeferred")
TERMINAL: Final = ("Complete", "Abandon", "DeadLetter", "Defer")
"""Requests that use a lock up."""

SETTLEMENTS: Final = (*TERMINAL, "RenewLock")
_CREATIONS: Final = ("CreateQueue", "RestoreQueue", "CreateTopic", "CreateSubscription")
_QUEUES: Final = ("CreateQueue", "RestoreQueue")
_LATER: Final = 48
"""Bits below the partition in a sequence number."""


def ordered(events: DataFrame, held: Held) -> DataFrame:
    """The events with their range in the order and in time, and what they are about.

    A virtual clock is moved by `AdvanceClock` and by nothing else; the recorded order is then the
    true one. On a real clock both are from the call to the return.
    """
    lost = sf.col("outcome") == "Indeterminate"
    never = sf.lit(NEVER)
    if held.virtual:
        lo, hi = sf.col("seq"), sf.col("seq")
        t_lo = _moved(sf.col("outcome") == "Done")
        t_hi = _moved(~sf.col("outcome").isin("Refused", "Unsupported"))
    else:
        lo, hi = sf.col("called"), sf.coalesce("returned", never)
        t_lo, t_hi = lo, hi
    return events.select(
        "*",
        lo.alias("lo"),
        sf.when(lost, never).otherwise(hi).alias("hi"),
        t_lo.alias("t_lo"),
        sf.when(lost, never).otherwise(t_hi).alias("t_hi"),
        sf.regexp_replace("entity", r"/\$deadletterqueue$", "").alias("owner"),
        sf.endswith(sf.col("entity"), sf.lit(DEAD_LETTERS)).alias("dead"),
        lost.alias("lost"),
        (~sf.col("outcome").isin("Refused", "Unsupported")).alias("taken"),
    )


def _moved(condition: Column) -> Column:
    """How far a virtual clock was moved until now, by the requests of which this is true."""
    moves = (sf.col("op") == "AdvanceClock") & condition
    so_far = (
        Window.partitionBy("history_id")
        .orderBy("seq")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    return sf.sum(sf.when(moves, sf.col("duration")).otherwise(sf.lit(0))).over(so_far)


def entities(events: DataFrame, held: Held) -> DataFrame:
    """The config of a history: one row for each entity that was created in it, and how.

    `plain` is an entity that was surely created, once, and neither changed nor deleted; `downs`
    counts its outages, `lost_receives` and `lost_accepts` requests without an answer.
    `forwards` tells whether any entity of the history passes messages on.
    """
    told = ordered(events, held)
    created = sf.col("op").isin(*_CREATIONS) & sf.col("taken")

    def first(value: Column) -> Column:
        return sf.first(sf.when(created, value), ignorenulls=True)

    def counted(ops: tuple[str, ...], condition: Column) -> Column:
        return sf.count(sf.when(sf.col("op").isin(*ops) & condition, 1))

    receives = sf.when(sf.col("op").isin(*RECEIVES), sf.col("connection"))
    accepts = ("AcceptSession", "AcceptNextSession")
    found = told.groupBy("history_id", "owner").agg(
        first(sf.col("op")).alias("kind"),
        first(sf.col("settings.partitioned")).alias("partitioned"),
        first(sf.col("settings.requires_session")).alias("requires_session"),
        first(sf.col("settings.duplicate_detection")).alias("detecting"),
        first(sf.col("settings.duplicate_window")).alias("window"),
        first(sf.col("settings.lock_duration")).alias("lock"),
        first(sf.col("settings.time_to_live")).alias("longest_life"),
        sf.max(sf.when(created, sf.col("settings.forward_to"))).isNotNull().alias("forwards"),
        sf.max(sf.when(created, sf.col("hi"))).alias("born"),
        sf.count(sf.when(created, 1)).alias("created"),
        sf.count(sf.when(created & sf.col("lost"), 1)).alias("doubtful"),
        counted(("UpdateQueue", "DeleteQueue"), sf.col("taken")).alias("changed"),
        counted(("TakePartitionDown",), sf.col("taken")).alias("downs"),
        counted(RECEIVES, sf.col("lost")).alias("lost_receives"),
        counted(accepts, sf.col("lost")).alias("lost_accepts"),
        (sf.min(receives) == sf.max(receives)).alias("one_receiver"),
    )
    whole = Window.partitionBy("history_id")
    once = (sf.col("created") == 1) & (sf.col("doubtful") == 0) & (sf.col("changed") == 0)
    return kept(
        found.where(sf.col("created") > 0)
        .withColumn("forwards", sf.max("forwards").over(whole))
        .withColumn("plain", once)
        .drop("created", "doubtful", "changed")
    )


class Frames:
    """The frames of one history, or of many in one table; each is made once.

    Args:
        events: in the published schema.
        config: as `entities` makes it.
        held: what the history was held to.
    """

    def __init__(self, events: DataFrame, config: DataFrame, held: Held) -> None:
        self.held = held
        self.config = config
        self.base = ordered(events, held)

    @cached_property
    def sends(self) -> DataFrame:
        """Every send to an entity whose settings are sure, with these."""
        return self.of_plain(
            self.base.where(sf.col("op") == "Send").select(
                "history_id",
                "seq",
                "entity",
                "owner",
                "lo",
                "hi",
                "t_lo",
                "t_hi",
                "transaction",
                "sent",
                "outcome",
                "error",
                "witness",
            )
        )

    @cached_property
    def peeks(self) -> DataFrame:
        """Every answer to a peek, with what it showed."""
        shown = (sf.col("op") == "Peek") & (sf.col("outcome") == "Peeked")
        return self.base.where(shown).select(
            "history_id", "seq", "entity", "owner", "dead", "lo", "hi", "session_id", "seen"
        )

    @cached_property
    def gives(self) -> DataFrame:
        """Every message that a receive was given."""
        given = sf.col("op").isin(*RECEIVES) & sf.col("seen").isNotNull()
        locked = sf.col("mode") == "peek-lock"
        rows = self.base.where(given).select("*", sf.explode("seen").alias("v"))
        return rows.select(
            "history_id",
            "entity",
            "owner",
            sf.col("v.body").alias("body"),
            sf.when(locked, sf.col("v.lock_token")).alias("token"),
            sf.struct(
                "seq",
                "lo",
                "hi",
                "t_lo",
                "t_hi",
                "dead",
                "connection",
                "op",
                sf.col("session_id").alias("asked"),
                (~locked).alias("deleting"),
                sf.when(locked, sf.col("v.locked_until")).alias("until"),
                "v",
            ).alias("give"),
        )

    @cached_property
    def locks(self) -> DataFrame:
        """One row a lock token: the receives that told it, and what was done with it."""
        acts = self.base.where(sf.col("op").isin(*SETTLEMENTS)).select(
            "history_id",
            "entity",
            "owner",
            sf.col("lock_token").alias("token"),
            sf.struct(
                "seq",
                "lo",
                "hi",
                "t_lo",
                "t_hi",
                "op",
                "taken",
                sf.col("outcome").isin("Done", "Renewed").alias("done"),
            ).alias("act"),
        )
        both = self.gives.where(sf.col("token").isNotNull()).unionByName(
            acts, allowMissingColumns=True
        )
        return both.groupBy("history_id", "entity", "owner", "token").agg(
            sf.collect_list(sf.when(sf.col("give").isNotNull(), sf.struct("body", "give"))).alias(
                "gives"
            ),
            sf.collect_list("act").alias("acts"),
        )

    @cached_property
    def settled(self) -> DataFrame:
        """The locks of entities whose settings are sure."""
        return self.of_plain(self.locks)

    @cached_property
    def messages(self) -> DataFrame:
        """One row a message of a queue: its sends, the receives that gave it, the peeks.

        Only of queues whose settings are sure, in histories in which nothing is forwarded. `live`
        are the receives that are not of the dead-letter queue, `shown` the peeks of that kind;
        `partitions` are those that a witness or a sequence number names.
        It is kept, for many frames are made of it.
        """
        sends = self.base.where(sf.col("op").isin("Send", "Schedule") & sf.col("taken")).select(
            "history_id",
            "owner",
            sf.col("sent.body").alias("body"),
            sf.struct(
                "seq",
                "lo",
                "hi",
                "t_lo",
                "t_hi",
                "op",
                "transaction",
                "witness",
                "sent",
                (~sf.col("lost")).alias("sure"),
            ).alias("send"),
        )
        nothing = sf.array().cast(self.locks.schema["acts"].dataType)
        locked = self.locks.select(
            "history_id", "owner", "acts", sf.explode("gives").alias("g")
        ).select(
            "history_id",
            "owner",
            "g.body",
            sf.col("g.give").withField("acts", sf.col("acts")).alias("give"),
        )
        unlocked = self.gives.where(sf.col("token").isNull()).select(
            "history_id", "owner", "body", sf.col("give").withField("acts", nothing).alias("give")
        )
        shown = self.peeks.select("*", sf.explode("seen").alias("v")).select(
            "history_id",
            "owner",
            "v.body",
            sf.struct("seq", "lo", "hi", "dead", "v").alias("peek"),
        )
        rows = sends
        for more in (locked, unlocked, shown):
            rows = rows.unionByName(more, allowMissingColumns=True)
        found = rows.groupBy("history_id", "owner", "body").agg(
            sf.collect_list("send").alias("sends"),
            sf.collect_list("give").alias("gives"),
            sf.collect_list("peek").alias("peeks"),
        )
        queue = sf.col("kind").isin(*_QUEUES) & ~sf.col("forwards")
        live = sf.filter("gives", lambda give: ~give["dead"])
        peeked = sf.filter("peeks", lambda peek: ~peek["dead"])
        named = sf.concat(
            sf.transform("sends", lambda send: send["witness"].cast("bigint")),
            sf.transform("live", lambda give: _partition(give["v"])),
            sf.transform("shown", lambda peek: _partition(peek["v"])),
        )
        lives = sf.least("send.sent.time_to_live", "longest_life")
        return kept(
            self.of_plain(found)
            .where(queue)
            .withColumns(
                {
                    "live": live,
                    "shown": peeked,
                    "once": sf.size("sends") == 1,
                    "send": sf.get("sends", sf.lit(0)),
                    "entity": sf.col("owner"),
                }
            )
            .withColumns(
                {
                    "partitions": sf.array_distinct(sf.array_compact(named)),
                    "given_lo": sf.array_min(sf.transform("live", lambda give: give["lo"])),
                    "given_hi": sf.array_min(sf.transform("live", lambda give: give["hi"])),
                    "lives": lives,
                    "waits_until": self._waits_until(lives),
                }
            )
            .drop("owner")
        )

    def _waits_until(self, lives: Column) -> Column:
        """Where in the order a sent message surely is there to be given, if nobody was given it.

        That is until it was given first, for ever if it never was. One that has a time to live may
        be gone when it is over, or be handed out of a cache even later: it surely waits for that
        receive only that gave it in time.
        """
        first = sf.array_min(sf.transform("live", lambda give: sf.struct(give["lo"], give["t_hi"])))
        in_time = first["t_hi"] < sf.col("send.t_lo") + lives - self.held.slack
        mortal = sf.when(in_time, first["lo"]).otherwise(sf.lit(0))
        return sf.when(lives.isNull(), sf.coalesce(first["lo"], sf.lit(NEVER))).otherwise(mortal)

    @cached_property
    def transactions(self) -> DataFrame:
        """One row a transaction: how often it was begun, and what may have ended it."""
        ops = ("BeginTransaction", "CommitTransaction", "RollBackTransaction")
        commit, back = sf.col("op") == ops[1], sf.col("op") == ops[2]
        return (
            self.base.where(sf.col("op").isin(*ops) & sf.col("taken"))
            .groupBy("history_id", "transaction")
            .agg(
                sf.count(sf.when(sf.col("op") == ops[0], 1)).alias("begun"),
                sf.min(sf.when(commit, sf.col("lo"))).alias("commit_lo"),
                sf.min(sf.when(commit, sf.col("seq"))).alias("commit_seq"),
                sf.min(sf.when(back & ~sf.col("lost"), sf.col("lo"))).alias("back_lo"),
                sf.min(sf.when(back & ~sf.col("lost"), sf.col("seq"))).alias("back_seq"),
            )
        )

    def of_plain(self, rows: DataFrame) -> DataFrame:
        """The rows that are about an entity whose settings are sure, with these."""
        sure = self.config.where("plain").drop("plain")
        return rows.join(sure, ["history_id", "owner"], "inner")


def _partition(view: Column) -> Column:
    """The partition that a view's sequence number names; a scheduled message has none yet."""
    scheduled = view["state"].eqNullSafe(sf.lit("scheduled"))
    return sf.when(~scheduled, sf.shiftright(view["sequence_number"], _LATER))
