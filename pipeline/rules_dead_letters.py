"""Dead letters: how often a message is delivered, why it is a dead letter, and what stays one."""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.deliveries import acted, failed, most_failed, named, pairs, surely_done
from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.rules_messages import is_unchanged
from busproof.pipeline.terms import Held

__all__ = ["EXPIRED", "QUERIES", "given_by_hand"]

TOO_OFTEN: Final = "MaxDeliveryCountExceeded"
EXPIRED: Final = "TTLExpiredException"
DEFAULT_DELIVERIES: Final = 10


def _messages(frames: Frames) -> DataFrame:
    return frames.messages


def given_by_hand() -> Column:
    """The requests to dead-letter the message that may have succeeded."""
    return sf.flatten(sf.transform("live", lambda give: acted(give, "DeadLetter")))


def _dead_lettered() -> Column:
    return sf.flatten(sf.transform("live", lambda give: surely_done(give, "DeadLetter")))


def _told_reasons() -> Column:
    """The dead views that tell why: seq, reason."""
    told = sf.filter("dead_views", lambda view: view["v"]["dead_letter_reason"].isNotNull())
    return sf.transform(
        told,
        lambda view: sf.struct(
            view["seq"].alias("seq"), view["v"]["dead_letter_reason"].alias("reason")
        ),
    )


def _failures_before(give: Column, held: Held) -> Column:
    return sf.size(
        sf.filter(
            "live",
            lambda one: (
                (one["seq"] != give["seq"]) & (one["hi"] < give["lo"]) & failed(one, give, held)
            ),
        )
    )


def dlq_01(held: Held) -> Judgement:
    """DLQ-01: a delivery whose lock ended without a settlement makes the next count higher."""

    def counted(one: Column, other: Column) -> Column:
        counts = one["v"]["delivery_count"] + other["v"]["delivery_count"]
        return (one["hi"] < other["lo"]) & failed(one, other, held) & counts.isNotNull()

    def stays(one: Column, other: Column) -> Column:
        higher = one["v"]["delivery_count"] < other["v"]["delivery_count"]
        return counted(one, other) & ~higher

    found = pairs("live", "live", stays)
    first = sf.get(found, sf.lit(0))
    plain = sf.col("once") & ~sf.col("requires_session")
    return Judgement(
        situation=plain & (sf.size(pairs("live", "live", counted)) > 0),
        broken=sf.size(found) > 0,
        seqs=sf.array(first["one"], first["other"]),
        expected="a higher delivery count, after a delivery that failed",
        actual=named("", "came with the same one or a lower"),
    )


def _too_often(held: Held, concerned: Column) -> Judgement:
    """More deliveries than the entity permits, each after one that surely failed."""
    spare = 1 if held.reads("MAX-DELIVERIES") in {"one-more", "either"} else 0
    most = sf.col("deliveries") + spare
    wrong = sf.filter("live", lambda give: _failures_before(give, held) >= most)
    spent = sf.filter(_told_reasons(), lambda each: each["reason"] == TOO_OFTEN)
    last = sf.get(wrong, sf.lit(0))["seq"]
    given = sf.transform("live", lambda give: give["seq"])
    plain = sf.col("once") & ~sf.col("requires_session") & concerned
    return Judgement(
        situation=plain & ((sf.size(wrong) > 0) | (sf.size(spent) > 0)),
        broken=sf.size(wrong) > 0,
        seqs=sf.concat(sf.array_except(given, sf.array(last)), sf.array(last)),
        expected=sf.concat(
            sf.lit("no delivery after "), most.cast("string"), sf.lit(" that failed")
        ),
        actual=named("", "was given once more"),
    )


def dlq_02(held: Held) -> Judgement:
    """DLQ-02: a message that failed as often as permitted is given no more."""
    return _too_often(held, sf.lit(True))


def dlq_04(held: Held) -> Judgement:
    """DLQ-04: where the entity does not say, 10 deliveries are permitted."""
    return _too_often(held, sf.col("deliveries") == DEFAULT_DELIVERIES)


def _never_by_hand() -> Column:
    return (sf.size(given_by_hand()) == 0) & (sf.col("lost_receives") == 0)


def dlq_02_reason(_: Held) -> Judgement:
    """DLQ-02: what no receiver dead-lettered, and what does not age, failed too often."""
    ageless = sf.col("lives").isNull() | ~sf.col("buries_expired")
    told = _told_reasons()
    wrong = sf.filter(told, lambda each: ~each["reason"].isin(TOO_OFTEN, EXPIRED))
    aged = sf.filter(told, lambda each: each["reason"] != TOO_OFTEN)
    wrong = sf.when(ageless, aged).otherwise(wrong)
    first = sf.get(wrong, sf.lit(0))
    return Judgement(
        situation=sf.col("once") & _never_by_hand() & (sf.size(told) > 0),
        broken=sf.size(wrong) > 0,
        seqs=sf.array(sf.col("send.seq"), first["seq"]),
        expected=f"the reason {TOO_OFTEN}, for no receiver dead-lettered it",
        actual=sf.concat(sf.lit("the reason "), first["reason"]),
    )


def dlq_03(held: Held) -> Judgement:
    """DLQ-03: a message that cannot have failed as often as permitted is no dead letter for it."""
    ageless = sf.col("lives").isNull() | ~sf.col("buries_expired")
    early = sf.filter("dead_views", lambda view: most_failed(view, held) < sf.col("deliveries"))
    again = pairs(
        "live", "live", lambda one, other: (one["hi"] < other["lo"]) & failed(one, other, held)
    )
    plain = sf.col("once") & _never_by_hand() & ageless & ~sf.col("requires_session")
    return Judgement(
        situation=plain & ((sf.size(early) > 0) | (sf.size(again) > 0)),
        broken=sf.size(early) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.get(early, sf.lit(0))["seq"]),
        expected="no dead letter: it did not fail as often as permitted",
        actual=named("", "was found among the dead letters"),
    )


def dlq_05(_: Held) -> Judgement:
    """DLQ-05: a dead letter tells the reason that its receiver gave."""
    done, told = _dead_lettered(), _told_reasons()
    reasons = sf.transform(given_by_hand(), lambda act: act["reason"])
    wrong = sf.filter(told, lambda each: ~sf.array_contains(reasons, each["reason"]))
    first = sf.get(wrong, sf.lit(0))
    return Judgement(
        situation=sf.col("once")
        & (sf.size(done) > 0)
        & (sf.size(told) > 0)
        & sf.forall(reasons, lambda reason: reason != ""),
        broken=sf.size(wrong) > 0,
        seqs=sf.array(sf.get(done, sf.lit(0))["seq"], first["seq"]),
        expected=sf.concat(sf.lit("the reason "), sf.array_join(reasons, " or ")),
        actual=sf.concat(sf.lit("the reason "), first["reason"]),
    )


def dlq_06(held: Held) -> Judgement:
    """DLQ-06: a dead letter is as it was sent."""
    wrong = sf.filter(
        "dead_views",
        lambda view: ~sf.exists("sends", lambda send: is_unchanged(send["sent"], view["v"], held)),
    )
    sent = sf.transform("sends", lambda send: send["seq"])
    return Judgement(
        situation=(sf.size("sends") > 0) & (sf.size("dead_views") > 0),
        broken=sf.size(wrong) > 0,
        seqs=sf.concat(sent, sf.array(sf.get(wrong, sf.lit(0))["seq"])),
        expected="the message as it was sent",
        actual=named("", "has other properties"),
    )


def dlq_07(_: Held) -> Judgement:
    """DLQ-07: a dead letter that was completed, or received and deleted, is gone."""

    def taken(one: Column, other: Column) -> Column:
        removed = sf.exists(surely_done(one, "Complete"), lambda act: act["hi"] < other["lo"])
        deleted = one["deleting"] & (one["hi"] < other["lo"])
        return (one["seq"] != other["seq"]) & (removed | deleted)

    removed = sf.filter(
        "graves", lambda give: give["deleting"] | (sf.size(surely_done(give, "Complete")) > 0)
    )
    found = pairs("graves", "dead_views", taken)
    first = sf.get(found, sf.lit(0))
    return Judgement(
        situation=sf.col("once") & (sf.size(removed) > 0),
        broken=sf.size(found) > 0,
        seqs=sf.array(first["one"], first["other"]),
        expected=named("never again ", "which is gone"),
        actual=named("", "was seen again among the dead letters"),
    )


def dlq_08(_: Held) -> Judgement:
    """DLQ-08: a dead-letter queue shows only what was sent to its entity."""
    return Judgement(
        situation=sf.size("dead_views") > 0,
        broken=sf.size("sends") == 0,
        seqs=sf.array(sf.get("dead_views", sf.lit(0))["seq"]),
        expected="dead letters of this entity only",
        actual=named("", "was never sent to it"),
    )


def dlq_14(_: Held) -> Judgement:
    """DLQ-14: what was dead-lettered is seen in its entity no more."""
    found = pairs_of_acts(_dead_lettered())
    first = sf.get(found, sf.lit(0))
    return Judgement(
        situation=sf.col("once") & (sf.size(_dead_lettered()) > 0),
        broken=sf.size(found) > 0,
        seqs=sf.array(first["one"], first["other"]),
        expected=named("", "among the dead letters only"),
        actual="it was seen in its entity again",
    )


def pairs_of_acts(acts: Column) -> Column:
    """Each of these requests with a later sight of the message outside of the dead letters."""

    def later(act: Column) -> Column:
        return sf.transform(
            sf.filter("views", lambda view: act["hi"] < view["lo"]),
            lambda view: sf.struct(act["seq"].alias("one"), view["seq"].alias("other")),
        )

    return sf.flatten(sf.transform(acts, later))


def dlq_14_refused(_: Held) -> Judgement:
    """DLQ-14: what a receiver was refused to dead-letter is no dead letter by that."""
    refused = sf.flatten(
        sf.transform(
            "live",
            lambda give: sf.filter(
                give["acts"], lambda act: act["refused"] & (act["op"] == "DeadLetter")
            ),
        )
    )
    reasons = sf.transform(refused, lambda act: act["reason"])
    wrong = sf.filter(
        _told_reasons(),
        lambda each: (
            sf.array_contains(reasons, each["reason"]) & ~each["reason"].isin(TOO_OFTEN, EXPIRED)
        ),
    )
    return Judgement(
        situation=sf.col("once") & _never_by_hand() & (sf.size(refused) > 0),
        broken=sf.size(wrong) > 0,
        seqs=sf.array(sf.get(refused, sf.lit(0))["seq"], sf.get(wrong, sf.lit(0))["seq"]),
        expected="no dead letter for that reason: dead-lettering it was refused",
        actual=named("", "was found among the dead letters"),
    )


_NEEDS = frozenset({"sent", "seen", "settings", "lock_token", "mode"})

QUERIES = (
    Query(rule="DLQ-01", frame=_messages, judge=dlq_01, needs=_NEEDS),
    Query(rule="DLQ-02", frame=_messages, judge=dlq_02, needs=_NEEDS),
    Query(rule="DLQ-02", frame=_messages, judge=dlq_02_reason, needs=_NEEDS | {"reason"}),
    Query(rule="DLQ-03", frame=_messages, judge=dlq_03, needs=_NEEDS),
    Query(rule="DLQ-04", frame=_messages, judge=dlq_04, needs=_NEEDS),
    Query(rule="DLQ-05", frame=_messages, judge=dlq_05, needs=_NEEDS | {"reason"}),
    Query(rule="DLQ-06", frame=_messages, judge=dlq_06, needs=_NEEDS),
    Query(rule="DLQ-07", frame=_messages, judge=dlq_07, needs=_NEEDS),
    Query(rule="DLQ-08", frame=_messages, judge=dlq_08, needs=_NEEDS),
    Query(rule="DLQ-14", frame=_messages, judge=dlq_14, needs=_NEEDS),
    Query(rule="DLQ-14", frame=_messages, judge=dlq_14_refused, needs=_NEEDS),
)
