"""Receives by number: each number that was asked for, beside the message that has it."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.deliveries import failed, has_lock, locked_until, surely_done, untouched
from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.rules_deferral import BY_NUMBER, by_number
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]


def _numbered(frames: Frames) -> DataFrame:
    """Messages that were seen under one number, which is theirs for good."""
    numbers = sf.array_distinct(
        sf.array_compact(sf.transform("live", lambda give: give["v"]["sequence_number"]))
    )
    concerned = sf.lit(True) if frames.held.unique_numbers else ~sf.col("partitioned")
    return (
        frames.messages.where(sf.col("once") & (sf.size("live") > 0) & concerned)
        .withColumn("numbers", numbers)
        .where(sf.size("numbers") == 1)
        .withColumn("number", sf.get("numbers", sf.lit(0)))
    )


def _asked(frames: Frames) -> DataFrame:
    """Every answered receive by number, once for each number that it asked for, with its message.

    `got` tells whether the message came, `aside` whether it surely was deferred and nobody had
    taken it away, and `free` whether nobody held it locked.
    """
    held = frames.held
    requests = (
        frames.base.where(
            (sf.col("op") == BY_NUMBER)
            & ~sf.col("dead")
            & sf.col("outcome").isin("Received", "ReceivedSeveral", "Empty", "Refused")
        )
        .withColumn("number", sf.explode("sequence_numbers"))
        .select(
            "history_id",
            sf.col("owner").alias("entity"),
            "number",
            sf.struct(
                "seq",
                "lo",
                "hi",
                "t_lo",
                "t_hi",
                "outcome",
                sf.size("sequence_numbers").alias("numbers"),
                (sf.size("sequence_numbers") > 1).alias("several"),
                sf.coalesce(
                    sf.transform("seen", lambda view: view["body"]),
                    sf.array().cast("array<string>"),
                ).alias("bodies"),
            ).alias("by"),
        )
    )
    beside = requests.join(_numbered(frames), ["history_id", "entity", "number"], "inner")
    by = sf.col("by")
    return (
        beside.withColumn("got", sf.array_contains("by.bodies", sf.col("body")))
        .withColumn("aside", _aside(by))
        .withColumn("free", _free(by, held))
    )


def _aside(by: Column) -> Column:
    """Whether the message had surely been deferred and nothing can have removed it since."""
    deferred = sf.exists("deferrals", lambda act: act["hi"] < by["lo"])
    removed = sf.exists(
        "live",
        lambda give: (
            (give["deleting"] & (give["seq"] != by["seq"]) & (give["lo"] <= by["hi"]))
            | (~give["deleting"] & ~has_lock(give))
            | sf.exists(
                give["acts"],
                lambda act: (
                    act["taken"]
                    & act["op"].isin("Complete", "DeadLetter")
                    & (act["lo"] <= by["hi"])
                ),
            )
        ),
    )
    return deferred & ~removed & (sf.col("lost_receives") == 0)


def _free(by: Column, held: Held) -> Column:
    """Whether each earlier receive by number has surely given it back."""

    def given_back(give: Column) -> Column:
        deferred = sf.exists(surely_done(give, "Defer"), lambda act: act["hi"] < by["lo"])
        return deferred | failed(give, by, held)

    others = sf.filter(
        "live",
        lambda give: by_number(give) & (give["seq"] != by["seq"]) & (give["lo"] <= by["hi"]),
    )
    return sf.forall(others, given_back)


def _must_come(situation: Column) -> Judgement:
    plainly = ~sf.col("requires_session") & sf.col("lives").isNull() & ~sf.col("by.several")
    return Judgement(
        situation=plainly & situation & sf.col("aside") & sf.col("free"),
        broken=~sf.col("got"),
        seqs=sf.array(sf.get("deferrals", sf.lit(0))["seq"], sf.col("by.seq")),
        expected=sf.concat(
            sf.lit("'"), "body", sf.lit("', which was deferred and is locked by nobody")
        ),
        actual=sf.lower("by.outcome"),
    )


def defer_02(_: Held) -> Judgement:
    """DEFER-02: a deferred message that nobody holds is received by its number."""
    return _must_come(sf.col("downs") == 0)


def defer_13(_: Held) -> Judgement:
    """DEFER-13: it can be received by its number after an outage as well."""
    return _must_come((sf.col("downs") > 0) & (sf.col("by.lo") > sf.col("all_up")))


def _must_not_come(situation: Column, why: str) -> Judgement:
    return Judgement(
        situation=situation,
        broken=sf.col("got"),
        seqs=sf.array_distinct(
            sf.concat(sf.transform("live", lambda give: give["seq"]), sf.array("by.seq"))
        ),
        expected=f"a refusal: {why}",
        actual=sf.concat(sf.lit("'"), "body", sf.lit("' was given by its number")),
    )


def defer_03(_: Held) -> Judgement:
    """DEFER-03: the number of a message that is gone is refused."""
    by = sf.col("by")
    gone = sf.exists(
        "live",
        lambda give: (
            (give["deleting"] & (give["hi"] < by["lo"]))
            | sf.exists(
                surely_done(give, "Complete", "DeadLetter"), lambda act: act["hi"] < by["lo"]
            )
        ),
    )
    return Judgement(
        situation=gone & ~sf.col("by.several"),
        broken=sf.col("by.outcome") != "Refused",
        seqs=sf.array("by.seq"),
        expected="a refusal: no message has that number any more",
        actual=sf.lower("by.outcome"),
    )


def defer_04(_: Held) -> Judgement:
    """DEFER-04: refusals of messages that nobody had deferred; `rules_deferral` judges the rest."""
    return Judgement(
        situation=(sf.size("deferrals") == 0) & (sf.col("by.outcome") == "Refused"),
        broken=sf.lit(False),
        seqs=sf.array("by.seq"),
        expected="",
        actual="",
    )


def defer_05(held: Held) -> Judgement:
    """DEFER-05: while one receiver holds a deferred message, no other is given it."""
    by = sf.col("by")
    locked = sf.exists(
        "live",
        lambda give: (
            by_number(give)
            & (give["hi"] < by["lo"])
            & untouched(give, by)
            & (by["t_hi"] < locked_until(give, held))
        ),
    )
    return _must_not_come(
        locked & ~sf.col("requires_session") & ~sf.col("by.several"), "it is locked"
    )


def defer_07(_: Held) -> Judgement:
    """DEFER-07: one that was received by number and settled for good comes no more."""
    by = sf.col("by")
    settled = sf.exists(
        "live",
        lambda give: (
            by_number(give)
            & sf.exists(
                surely_done(give, "Complete", "DeadLetter"), lambda act: act["hi"] < by["lo"]
            )
        ),
    )
    return _must_not_come(settled, "it was settled for good")


def _together(frames: Frames) -> DataFrame:
    """One row a request for several messages that all were deferred and free."""
    partition = sf.when(sf.col("partitioned"), sf.get("partitions", sf.lit(0))).when(
        ~sf.col("partitioned"), sf.lit(-1)
    )
    plainly = (
        ~sf.col("requires_session")
        & sf.col("lives").isNull()
        & (sf.col("downs") == 0)
        & (sf.size("partitions") == 1)
    )
    return (
        _asked(frames)
        .where(sf.col("by.several"))
        .groupBy("history_id", "entity", sf.col("by.seq").alias("seq"))
        .agg(
            (sf.count("*") == sf.max("by.numbers")).alias("all_known"),
            sf.bool_and(sf.col("aside") & sf.col("free") & plainly).alias("ready"),
            (sf.min(partition) == sf.max(partition)).alias("in_one"),
            sf.bool_and("got").alias("got"),
            sf.min("by.outcome").alias("outcome"),
        )
    )


def defer_11(_: Held) -> Judgement:
    """DEFER-11: deferred messages of one partition come together where all are asked for."""
    return Judgement(
        situation=sf.col("ready") & sf.col("in_one") & sf.col("all_known"),
        broken=~sf.col("got"),
        seqs=sf.array("seq"),
        expected="all messages that were asked for: each is deferred and free, in one partition",
        actual=sf.concat(sf.lit("not all of them: "), sf.lower("outcome")),
    )


_NEEDS = frozenset({"sent", "seen", "settings", "lock_token", "mode", "sequence_numbers"})

QUERIES = (
    Query(rule="DEFER-02", frame=_asked, judge=defer_02, needs=_NEEDS),
    Query(rule="DEFER-03", frame=_asked, judge=defer_03, needs=_NEEDS),
    Query(rule="DEFER-04", frame=_asked, judge=defer_04, needs=_NEEDS),
    Query(rule="DEFER-05", frame=_asked, judge=defer_05, needs=_NEEDS),
    Query(rule="DEFER-07", frame=_asked, judge=defer_07, needs=_NEEDS),
    Query(rule="DEFER-11", frame=_together, judge=defer_11, needs=_NEEDS),
    Query(rule="DEFER-13", frame=_asked, judge=defer_13, needs=_NEEDS),
)
