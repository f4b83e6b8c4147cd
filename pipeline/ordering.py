"""When each event took place, and how each entity was created.

Where requests overlap, or answers are missing, an event has no place in the order but a range of
them, from `lo` to `hi`: one event was surely before another exactly if its `hi` is less than the
other's `lo`. An answer that never came has no `hi`: its request may take effect at any later time.
"""

from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from busproof.pipeline.granted import beyond_basic, is_partitioned, lawful_window
from busproof.pipeline.keeping import kept
from busproof.pipeline.schema import NEVER, SUBSCRIPTIONS
from busproof.pipeline.terms import Held
from busproof.vocabulary.paths import DEAD_LETTERS

__all__ = ["CREATIONS", "QUEUES", "RECEIVES", "entities", "ordered"]

RECEIVES: Final = ("Receive", "ReceiveDeferred")
QUEUES: Final = ("CreateQueue", "RestoreQueue")
CREATIONS: Final = (*QUEUES, "CreateTopic", "CreateSubscription")
_OUTAGE: Final = ("TakePartitionDown", "BringPartitionUp")


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

    `plain` is an entity that was surely created, once, neither changed nor deleted, and used
    without batches; `downs` counts its outages, and after `all_up` every partition is up again,
    as far as is known; `lost_receives` and `lost_accepts` count requests without an answer;
    `first_receive` is the one that was called first, `last_receive` and `last_dead_receive` are
    when one was called last. `forwards` tells whether any entity of the history passes messages
    on.
    """
    told = ordered(events, held)
    created = sf.col("op").isin(*CREATIONS) & sf.col("taken")
    found = told.groupBy("history_id", "owner").agg(*_created(created), *_used(), *_outages())
    whole = Window.partitionBy("history_id")
    related = Window.partitionBy("history_id", sf.substring_index("owner", SUBSCRIPTIONS, 1))
    once = (sf.col("created") == 1) & (sf.col("doubtful") == 0) & (sf.col("changed") == 0)
    one_by_one = (sf.col("taken_down") == sf.col("brought_up")) & (
        sf.size("taken_down") == sf.col("downs")
    )
    calm = one_by_one & (sf.col("ups") == sf.col("downs")) & (sf.col("up_lo") > sf.col("down_hi"))
    return kept(
        found.where(sf.col("created") > 0)
        .withColumns(_granted(held))
        .withColumn("changed", sf.sum("changed").over(related))
        .withColumn("forwards", sf.max("forwards").over(whole))
        .withColumn("plain", once)
        .withColumn(
            "all_up",
            sf.when(sf.col("downs") == 0, sf.lit(-1))
            .when(calm, sf.col("up_hi"))
            .otherwise(sf.lit(NEVER)),
        )
        .drop("created", "doubtful", "changed", "taken_down", "brought_up", "ups")
        .drop("up_lo", "up_hi", "down_hi", "version")
    )


def _granted(held: Held) -> dict[str, Column]:
    """What of the settings may be others than was asked for; null where that is not known."""
    kind, version = sf.col("kind"), sf.col("version")
    return {
        "partitioned": is_partitioned(kind, sf.col("partitioned"), version, held),
        "requires_session": beyond_basic(sf.col("requires_session"), held),
        "detecting": beyond_basic(sf.col("detecting"), held),
    }


def _created(created: Column) -> tuple[Column, ...]:
    """How the entity was created, and how often."""

    def first(name: str) -> Column:
        return sf.first(sf.when(created, sf.col(name)), ignorenulls=True)

    return (
        first("op").alias("kind"),
        first("settings.partitioned").alias("partitioned"),
        first("settings.api_version").alias("version"),
        first("settings.requires_session").alias("requires_session"),
        first("settings.duplicate_detection").alias("detecting"),
        lawful_window(first("settings.duplicate_window")).alias("window"),
        first("settings.lock_duration").alias("lock"),
        first("settings.max_delivery_count").alias("deliveries"),
        first("settings.max_size").alias("max_size"),
        first("settings.time_to_live").alias("longest_life"),
        first("settings.dead_letter_expired").alias("buries_expired"),
        sf.max(_destination()).isNotNull().alias("forwards"),
        sf.max(sf.when(created, sf.col("hi"))).alias("born"),
        sf.count(sf.when(created, 1)).alias("created"),
        sf.count(sf.when(created & sf.col("lost"), 1)).alias("doubtful"),
        _counted(_UNSETTLING, sf.col("taken")).alias("changed"),
    )


_UNSETTLING = (
    *("UpdateQueue", "DeleteQueue", "UpdateTopic", "DeleteTopic"),
    *("SendBatch", "ReceiveBatch"),
)
"""Requests after which an entity is not judged: it is another, or batches are not followed.

Nor is what belongs to the same topic: a deletion takes the subscriptions along.
"""


def _destination() -> Column:
    """Where messages or dead letters are to go on to, by a creation or an update."""
    onward = sf.coalesce("settings.forward_to", "settings.forward_dead_letters_to")
    return sf.when(onward != "", onward)


def _used() -> tuple[Column, ...]:
    """Who received from it, and what was left unanswered."""
    receive = sf.col("op").isin(*RECEIVES)
    receives = sf.when(receive, sf.col("connection"))

    def last(condition: Column) -> Column:
        return sf.max(sf.when((sf.col("op") == RECEIVES[0]) & condition, sf.col("t_lo")))

    answered = sf.col("taken") & ~sf.col("lost")
    return (
        _counted(RECEIVES, sf.col("lost")).alias("lost_receives"),
        _counted(("AcceptSession", "AcceptNextSession"), sf.col("lost")).alias("lost_accepts"),
        (sf.min(receives) == sf.max(receives)).alias("one_receiver"),
        sf.min(sf.when(receive & ~sf.col("dead"), sf.struct("lo", "hi", "t_hi"))).alias(
            "first_receive"
        ),
        last(answered & ~sf.col("dead")).alias("last_receive"),
        last(answered & sf.col("dead")).alias("last_dead_receive"),
    )


def _outages() -> tuple[Column, ...]:
    """Its outages: how many, of which partitions, and between when."""
    down, up = ((sf.col("op") == op) & sf.col("taken") for op in _OUTAGE)
    return (
        sf.count(sf.when(down, 1)).alias("downs"),
        sf.count(sf.when(up, 1)).alias("ups"),
        sf.array_sort(sf.collect_set(sf.when(down, sf.col("partition")))).alias("taken_down"),
        sf.array_sort(sf.collect_set(sf.when(up, sf.col("partition")))).alias("brought_up"),
        sf.max(sf.when(down, sf.col("hi"))).alias("down_hi"),
        sf.min(sf.when(up, sf.col("lo"))).alias("up_lo"),
        sf.max(sf.when(up, sf.col("hi"))).alias("up_hi"),
    )


def _counted(ops: tuple[str, ...], condition: Column) -> Column:
    return sf.count(sf.when(sf.col("op").isin(*ops) & condition, 1))
