"""What is there to be received: no receive is empty while a message surely waits for it.

A message waits from when it was sent, given back or dead-lettered until it is given. It may stop
waiting earlier, at its age or because it failed too often: that is when it waits `until_t`.
"""

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from busproof.pipeline.deliveries import has_lock, surely_done
from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.rules_deferral import RECEIVE
from busproof.pipeline.schema import NEVER
from busproof.pipeline.terms import Held
from busproof.vocabulary.paths import DEAD_LETTERS

__all__ = ["QUERIES"]

SENT, ABANDONED, EXPIRED = "sent", "abandoned", "expired"
BURIED, GIVEN_BACK = "buried", "given back"
_KINDS: Final = (SENT, ABANDONED, EXPIRED, BURIED, GIVEN_BACK)


def _free() -> Column:
    """Whether one receiver asks for what lies in the queue itself, and nothing hides it."""
    plain = ~sf.col("requires_session") & ~sf.col("detecting") & (sf.col("downs") == 0)
    return plain & _one_receiver()


def _one_receiver() -> Column:
    return (sf.col("lost_receives") == 0) & sf.col("one_receiver")


def _next(gives: str, after: Column, field: str) -> Column:
    """When the message was given next, for ever if it was not."""
    later = sf.filter(
        gives, lambda each: (each["seq"] != after["seq"]) & (each["lo"] >= after["lo"])
    )
    return sf.coalesce(sf.array_min(sf.transform(later, lambda each: each[field])), sf.lit(NEVER))


def _spent_at(failed: Column, held: Held) -> Column:
    """Until when a message cannot have failed too often, or died, if so many deliveries failed."""
    life = sf.greatest(sf.col("lock") - held.slack, sf.lit(0))
    return sf.least(sf.col("send.t_lo") + (sf.col("deliveries") - failed) * life, "dies_lo")


def _arrival(kind: str, at: Column, until: Column, until_t: Column, seq: Column) -> Column:
    return sf.struct(
        sf.lit(kind).alias("kind"),
        at.alias("at"),
        until.alias("until"),
        until_t.cast("bigint").alias("until_t"),
        seq.alias("seq"),
    )


def _given_before(give: Column) -> Column:
    return sf.size(sf.filter("live", lambda each: each["lo"] <= give["lo"]))


def _in_order(held: Held) -> Column:
    """Each time that the message began to wait, by its place in the order."""
    sent = _arrival(
        SENT,
        sf.col("send.hi"),
        sf.coalesce("given_lo", sf.lit(NEVER)),
        _spent_at(sf.lit(0), held),
        sf.col("send.seq"),
    )
    plainly = (sf.col("send.op") == "Send") & sf.col("send.transaction").isNull()

    def abandoned(give: Column) -> Column:
        return sf.transform(
            surely_done(give, "Abandon"),
            lambda act: _arrival(
                ABANDONED,
                act["hi"],
                _next("live", give, "lo"),
                _spent_at(_given_before(give), held),
                act["seq"],
            ),
        )

    def buried(give: Column) -> Column:
        first = sf.coalesce(
            sf.array_min(sf.transform("graves", lambda each: each["lo"])), sf.lit(NEVER)
        )
        return sf.transform(
            surely_done(give, "DeadLetter"),
            lambda act: _arrival(BURIED, act["hi"], first, sf.lit(NEVER), act["seq"]),
        )

    def given_back(give: Column) -> Column:
        return sf.transform(
            surely_done(give, "Abandon"),
            lambda act: _arrival(
                GIVEN_BACK, act["hi"], _next("graves", give, "lo"), sf.lit(NEVER), act["seq"]
            ),
        )

    ordinary = sf.filter("live", lambda give: (give["op"] == RECEIVE) & has_lock(give))
    nothing = sf.array().cast(_ARRIVALS)
    alive = sf.when(
        _free(),
        sf.concat(
            sf.when(plainly & sf.col("send.sure"), sf.array(sent)).otherwise(nothing),
            sf.flatten(sf.transform(ordinary, abandoned)),
        ),
    ).otherwise(nothing)
    dead = sf.when(
        _one_receiver(),
        sf.concat(
            sf.flatten(sf.transform("live", buried)),
            sf.flatten(sf.transform("graves", given_back)),
        ),
    ).otherwise(nothing)
    return sf.concat(alive, dead)


_ARRIVALS: Final = (
    "array<struct<kind: string, at: bigint, until: bigint, until_t: bigint, seq: bigint>>"
)


def _in_time(held: Held) -> Column:
    """Each time that the message began to wait because its lock had ended by itself."""

    def expired(give: Column) -> Column:
        at = give["t_hi"] + sf.col("lock") + held.slack
        until_t = sf.least(_next("live", give, "t_lo"), _spent_at(_given_before(give), held))
        return _arrival(EXPIRED, at, sf.lit(NEVER), until_t, give["seq"])

    left = sf.filter(
        "live",
        lambda give: (
            (give["op"] == RECEIVE)
            & has_lock(give)
            & ~sf.exists(give["acts"], lambda act: act["taken"])
        ),
    )
    return sf.when(_free(), sf.transform(left, expired))


def _waiting(frames: Frames, arrivals: Column, asked_at: str) -> DataFrame:
    """Each receive, beside the message of each kind that waits for it longest."""
    arrived = (
        frames.messages.where(sf.col("once"))
        .withColumn("arrival", sf.explode(arrivals))
        .withColumn("dead", sf.col("arrival.kind").isin(BURIED, GIVEN_BACK))
        .select(
            "history_id",
            sf.when(sf.col("dead"), sf.concat("entity", sf.lit(DEAD_LETTERS)))
            .otherwise(sf.col("entity"))
            .alias("entity"),
            sf.col("arrival.at").alias("at"),
            sf.lit(1).alias("step"),
            "arrival.kind",
            sf.col("lives").isNotNull().alias("mortal"),
            sf.struct(
                "arrival.until",
                "arrival.until_t",
                "arrival.seq",
                "body",
                sf.when(sf.col("dead"), sf.col("all_up")).otherwise(-1).alias("all_up"),
                "partitioned",
                (sf.size("graves") >= sf.col("deliveries")).alias("often"),
            ).alias("arrival"),
        )
    )
    receives = frames.base.where(
        (sf.col("op") == RECEIVE)
        & sf.col("session_id").isNull()
        & sf.col("outcome").isin("Received", "Empty")
    ).select(
        "history_id",
        "entity",
        sf.col(asked_at).alias("at"),
        sf.lit(0).alias("step"),
        sf.struct("hi", "lo", "t_lo", "t_hi", "seq", "outcome").alias("asked"),
    )
    so_far = (
        Window.partitionBy("history_id", "entity")
        .orderBy("at", "step")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    both = arrived.unionByName(receives, allowMissingColumns=True)
    latest = {
        f"{kind} {word}".replace(" ", "_"): sf.max(
            sf.when((sf.col("kind") == kind) & (sf.col("mortal") == mortal), sf.col("arrival"))
        ).over(so_far)
        for kind in _KINDS
        for word, mortal in (("for_ever", False), ("for_a_time", True))
    }
    return both.withColumns(latest).where(sf.col("asked").isNotNull())


def _in_turn(frames: Frames) -> DataFrame:
    return _waiting(frames, _in_order(frames.held), "lo")


def _in_time_frame(frames: Frames) -> DataFrame:
    return _waiting(frames, _in_time(frames.held), "t_lo")


def _found(*kinds: str, also: str = "") -> Callable[[Held], Judgement]:
    """A receive finds what waits in one of these ways."""

    def judge(_: Held) -> Judgement:
        named = [kind.replace(" ", "_") for kind in kinds]
        before = sf.greatest(*(sf.col(name) for name in named)) if named[1:] else sf.col(named[0])
        empty = sf.col("asked.outcome") == "Empty"
        in_time = sf.col("asked.t_hi") < before["until_t"]
        up = sf.col("asked.lo") > before["all_up"]
        surely = (before["until"] > sf.col("asked.hi")) & in_time & up
        waiting = (before["until"] >= sf.col("asked.lo")) & in_time & up
        concerned = before[also] if also else sf.lit(True)
        return Judgement(
            situation=concerned & sf.when(empty, surely).otherwise(waiting),
            broken=empty & surely,
            seqs=sf.array(before["seq"], "asked.seq"),
            expected=sf.concat(sf.lit("a message: '"), before["body"], sf.lit("' is there")),
            actual="the receive came back empty",
        )

    return judge


_NEEDS = frozenset({"sent", "seen", "settings", "connection"})
_LOCKED = _NEEDS | {"lock_token", "mode"}
_EVER, _TIME = " for ever", " for a time"

QUERIES = (
    Query(rule="LIFE-09", frame=_in_turn, judge=_found(SENT + _EVER), needs=_NEEDS),
    Query(rule="LIFE-04", frame=_in_turn, judge=_found(ABANDONED + _EVER), needs=_LOCKED),
    Query(rule="LIFE-05", frame=_in_time_frame, judge=_found(EXPIRED + _EVER), needs=_LOCKED),
    Query(rule="DLQ-03", frame=_in_turn, judge=_found(ABANDONED + _EVER), needs=_LOCKED),
    Query(
        rule="TTL-02",
        frame=_in_turn,
        judge=_found(SENT + _TIME, ABANDONED + _TIME),
        needs=_LOCKED,
    ),
    Query(
        rule="DLQ-05",
        frame=_in_turn,
        judge=_found(BURIED + _EVER, BURIED + _TIME),
        needs=_LOCKED,
    ),
    Query(
        rule="DLQ-12",
        frame=_in_turn,
        judge=_found(BURIED + _EVER, BURIED + _TIME, also="partitioned"),
        needs=_LOCKED,
    ),
    Query(
        rule="DLQ-07",
        frame=_in_turn,
        judge=_found(GIVEN_BACK + _EVER, GIVEN_BACK + _TIME),
        needs=_LOCKED,
    ),
    Query(
        rule="DLQ-09",
        frame=_in_turn,
        judge=_found(GIVEN_BACK + _EVER, GIVEN_BACK + _TIME, also="often"),
        needs=_LOCKED,
    ),
)
