"""A message's whole story in one row, from its send to where it was seen last."""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.keeping import kept
from busproof.pipeline.ordering import QUEUES
from busproof.pipeline.schema import NEVER
from busproof.pipeline.terms import Held

__all__ = ["gathered"]

_LATER: Final = 48
"""Bits below the partition in a sequence number."""


def gathered(
    *,
    sends: DataFrame,
    locks: DataFrame,
    gives: DataFrame,
    peeks: DataFrame,
    cancels: DataFrame,
    config: DataFrame,
    held: Held,
) -> DataFrame:
    """One row a message of a queue: its sends, the receives that gave it, the peeks.

    Only of queues whose settings are sure, in histories in which nothing is forwarded. It is kept,
    for many frames are made of it. `once` tells whether its body was sent once; the columns are

    - `send`, the first of `sends`, and `cancels`, the requests to cancel it
    - `live`, the receives that gave it, and `views`, these and the peeks that showed it
    - `graves` and `dead_views`, the same of the dead-letter queue
    - `deferrals`, the requests that surely set it aside
    - `partitions` that a witness or a sequence number names
    - `lives`, its time to live, with `dies_lo` and `dies_hi`, between which it dies; a scheduled
      message begins to live when it is `due_lo` at the earliest, and `due_hi` at the latest
    - `waits_until`, where in the order it surely is there to be given, if nobody was given it
    """
    nothing = sf.array().cast(locks.schema["acts"].dataType)
    locked = locks.select("history_id", "owner", "acts", sf.explode("gives").alias("g")).select(
        "history_id",
        "owner",
        "g.body",
        sf.col("g.give").withField("acts", sf.col("acts")).alias("give"),
    )
    unlocked = gives.where(sf.col("token").isNull()).select(
        "history_id", "owner", "body", sf.col("give").withField("acts", nothing).alias("give")
    )
    shown = peeks.select("*", sf.explode("seen").alias("v")).select(
        "history_id",
        "owner",
        "v.body",
        sf.struct("seq", "lo", "hi", "t_lo", "t_hi", "dead", "v").alias("peek"),
    )
    rows = sends
    for more in (locked, unlocked, shown, cancels):
        rows = rows.unionByName(more, allowMissingColumns=True)
    found = rows.groupBy("history_id", "owner", "body").agg(
        sf.collect_list("send").alias("sends"),
        sf.collect_list("give").alias("gives"),
        sf.collect_list("peek").alias("peeks"),
        sf.collect_list("cancel").alias("cancels"),
    )
    queue = sf.col("kind").isin(*QUEUES) & ~sf.col("forwards")
    return kept(_told_apart(found.join(config, ["history_id", "owner"]).where(queue), held))


def _told_apart(found: DataFrame, held: Held) -> DataFrame:
    """With what the rules ask of a message, so that they need not find it again."""
    live = sf.filter("gives", lambda give: ~give["dead"])
    graves = sf.filter("gives", lambda give: give["dead"])
    return (
        found.withColumns(
            {
                "live": live,
                "graves": graves,
                "views": _views(live, sf.filter("peeks", lambda peek: ~peek["dead"])),
                "dead_views": _views(graves, sf.filter("peeks", lambda peek: peek["dead"])),
                "shown": sf.filter("peeks", lambda peek: ~peek["dead"]),
                "once": sf.size("sends") == 1,
                "send": sf.get("sends", sf.lit(0)),
                "entity": sf.col("owner"),
            }
        )
        .withColumns(
            {
                "deferrals": _deferrals(),
                "partitions": sf.array_distinct(sf.array_compact(_named(held))),
                "given_lo": sf.array_min(sf.transform("live", lambda give: give["lo"])),
                "given_hi": sf.array_min(sf.transform("live", lambda give: give["hi"])),
                "lives": sf.least("send.sent.time_to_live", "longest_life"),
                "due_lo": sf.col("send.t_lo") + _delay(held, -1),
                "due_hi": sf.col("send.t_hi") + _delay(held, 1),
            }
        )
        .withColumns(
            {
                "dies_lo": sf.col("due_lo") + sf.col("lives") - held.slack,
                "dies_hi": sf.col("due_hi") + sf.col("lives") + held.slack,
            }
        )
        .withColumn("waits_until", _waits_until())
        .drop("owner")
    )


def _views(gives: Column, peeks: Column) -> Column:
    """Every sight of the message there: seq, lo, hi, t_lo, t_hi, v."""

    def place(each: Column) -> Column:
        return sf.struct(*(each[name] for name in ("seq", "lo", "hi", "t_lo", "t_hi", "v")))

    return sf.concat(sf.transform(gives, place), sf.transform(peeks, place))


def _deferrals() -> Column:
    def of(give: Column) -> Column:
        return sf.filter(give["acts"], lambda act: act["done"] & (act["op"] == "Defer"))

    return sf.flatten(sf.transform("live", of))


def _named(held: Held) -> Column:
    told = sf.transform("sends", lambda send: send["witness"].cast("bigint"))
    if not held.names_partitions:
        return told
    return sf.concat(told, sf.transform("views", lambda view: _partition(view["v"])))


def _partition(view: Column) -> Column:
    """The partition that a view's sequence number names; a scheduled message has none yet."""
    scheduled = view["state"].eqNullSafe(sf.lit("scheduled"))
    return sf.when(~scheduled, sf.shiftright(view["sequence_number"], _LATER))


def _delay(held: Held, sign: int) -> Column:
    """How long after its sending a message comes; at once where it was not scheduled."""
    delay = sf.greatest("send.delay", sf.lit(0)) + sign * held.slack
    return sf.when(sf.col("send.op") == "Schedule", delay).otherwise(sf.lit(0))


def _waits_until() -> Column:
    """Until it was given first, for ever if it never was.

    One that has a time to live may be gone when it is over, or be handed out of a cache even later:
    it surely waits for that receive only that gave it in time.
    """
    first = sf.array_min(sf.transform("live", lambda give: sf.struct(give["lo"], give["t_hi"])))
    mortal = sf.when(first["t_hi"] < sf.col("dies_lo"), first["lo"]).otherwise(sf.lit(0))
    given = sf.coalesce(first["lo"], sf.lit(NEVER))
    return sf.when(sf.col("lives").isNull(), given).otherwise(mortal)
