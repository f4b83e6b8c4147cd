"""What is locked: given to nobody else meanwhile, and settled by nobody afterwards."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.schema import NEVER
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]


def _messages(frames: Frames) -> DataFrame:
    return frames.messages


def _given_again() -> Column:
    """Receives that gave the message while another's lock surely lasted, as its later use shows."""

    def within(one: Column) -> Column:
        waited = sf.exists(one["acts"], lambda act: act["hi"] == NEVER)
        uses = sf.filter(one["acts"], lambda act: act["done"] & ~waited)
        others = sf.filter(
            "live", lambda other: (other["seq"] != one["seq"]) & (one["hi"] < other["lo"])
        )
        return sf.flatten(
            sf.transform(
                others,
                lambda other: sf.transform(
                    sf.filter(uses, lambda use: other["hi"] < use["lo"]),
                    lambda use: sf.struct(
                        one["seq"].alias("first"),
                        other["seq"].alias("again"),
                        use["seq"].alias("use"),
                        use["op"].alias("op"),
                    ),
                ),
            )
        )

    return sf.flatten(sf.transform("live", within))


def _uses_after_another(rule_ops: tuple[str, ...]) -> Judgement:
    """A lock that was used after the message had been given to another: it must have been lost.

    Either the message was given too early or the lock was used too late; where a front end may have
    cached the message, its lock may have ended at any time, so that the later one is to blame.
    """
    found = sf.filter(_given_again(), lambda each: each["op"].isin(*rule_ops))
    first = sf.get(found, sf.lit(0))
    several = (sf.size("live") > 1) & ~sf.col("requires_session")
    return Judgement(
        situation=sf.col("once") & several & (sf.size(found) > 0),
        broken=sf.size(found) > 0,
        seqs=sf.array(first["first"], first["again"], first["use"]),
        expected="a refusal: the message has been given to another since, so the lock is lost",
        actual=sf.concat(first["op"], sf.lit(" succeeded")),
    )


def life_06(_: Held) -> Judgement:
    """LIFE-06: completing or abandoning with a lock that was lost to another receiver."""
    return _uses_after_another(("Complete", "Abandon"))


def lock_05(_: Held) -> Judgement:
    """LOCK-05: renewing a lock that was lost to another receiver."""
    return _uses_after_another(("RenewLock",))


def lock_06(_: Held) -> Judgement:
    """LOCK-06: dead-lettering or deferring with a lock that was lost to another receiver."""
    return _uses_after_another(("DeadLetter", "Defer"))


def life_02(held: Held) -> Judgement:
    """LIFE-02: a locked message is not given to another, where it is told how long it is locked.

    Judged only where nothing was asked of the lock before the message was given again: a
    settlement or a renewal, answered or not, moves its end.
    """

    def too_early(one: Column) -> Column:
        return sf.filter(
            "live",
            lambda other: (
                (other["seq"] != one["seq"])
                & (one["hi"] < other["lo"])
                & (other["t_hi"] < one["until"] - held.slack)
                & ~sf.exists(one["acts"], lambda act: act["taken"] & (act["lo"] <= other["hi"]))
            ),
        )

    pairs = sf.flatten(
        sf.transform(
            "live",
            lambda one: sf.transform(
                too_early(one),
                lambda other: sf.struct(one["seq"].alias("one"), other["seq"].alias("other")),
            ),
        )
    )
    first = sf.get(pairs, sf.lit(0))
    told = (sf.size("live") > 1) & sf.exists("live", lambda one: one["until"].isNotNull())
    return Judgement(
        situation=sf.col("once") & told & ~sf.col("requires_session"),
        broken=sf.size(pairs) > 0,
        seqs=sf.array(first["one"], first["other"]),
        expected="nobody else is given the message before its lock ends",
        actual=sf.concat(sf.lit("'"), "body", sf.lit("' was given again before")),
    )


_NEEDS = frozenset({"sent", "seen", "settings", "lock_token", "mode"})

QUERIES = (
    Query(rule="LIFE-02", frame=_messages, judge=life_02, needs=_NEEDS),
    Query(rule="LIFE-06", frame=_messages, judge=life_06, needs=_NEEDS),
    Query(rule="LOCK-05", frame=_messages, judge=lock_05, needs=_NEEDS),
    Query(rule="LOCK-06", frame=_messages, judge=lock_06, needs=_NEEDS),
)
