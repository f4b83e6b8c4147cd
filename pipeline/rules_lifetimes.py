"""Time to live: what has surely outlived it, and what surely has not."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.deliveries import (
    failed,
    has_lock,
    most_failed,
    named,
    pairs,
    surely_done,
    untouched,
)
from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.rules_dead_letters import EXPIRED, given_by_hand
from busproof.pipeline.rules_deferral import by_number
from busproof.pipeline.schema import NEVER
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]


def _mortal(frames: Frames) -> DataFrame:
    """Messages with a time to live, sent for sure and alone.

    Whether one of a transaction lives from its send or from the commit is open
    (LIFETIME-IN-TRANSACTION). `late` are the receives that came too late.
    """
    alone = sf.col("send.sure") & sf.col("send.transaction").isNull()
    mortal = frames.messages.where(sf.col("once") & alone & sf.col("lives").isNotNull())
    return mortal.withColumn("late", _too_late(frames.held))


def _may_leave_cache(held: Held) -> Column:
    """How long after its death a cache may still hand the message out (CACHE-EXPIRY).

    That is a lock's duration, if any receive has filled a cache: the first one of all finds none.
    """
    if held.reads("CACHE-EXPIRY") == "not-handed-out":
        return sf.lit(0)
    return sf.when(sf.col("requires_session"), sf.lit(0)).otherwise(sf.col("lock") + held.slack)


def _too_late(held: Held) -> Column:
    """The first receives that gave the message after its death, and that no cache explains."""

    def late(give: Column) -> Column:
        first = (sf.col("first_receive.lo") >= give["lo"]) & (sf.col("lost_receives") == 0)
        lasts = sf.when(first, sf.lit(0)).otherwise(_may_leave_cache(held))
        earlier = sf.exists(
            "live", lambda one: (one["seq"] != give["seq"]) & (one["lo"] <= give["hi"])
        )
        return ~by_number(give) & ~earlier & (give["t_lo"] > sf.col("dies_hi") + lasts)

    return sf.filter("live", late)


def _given_too_late(concerned: Callable[[], Column]) -> Callable[[Held], Judgement]:
    """No receive is given the message for the first time after its time to live."""

    def judge(held: Held) -> Judgement:
        late = sf.col("late")
        grows = sf.lit(held.reads("OUTAGE-CLOCK") == "runs") | (sf.col("downs") == 0)
        asked = sf.col("last_receive") > sf.col("dies_hi")
        unseen = (sf.size("live") == 0) & asked
        return Judgement(
            situation=concerned() & grows & (unseen | (sf.size(late) > 0)),
            broken=sf.size(late) > 0,
            seqs=sf.array(sf.col("send.seq"), sf.get(late, sf.lit(0))["seq"]),
            expected=named("", "is not received: its time to live is over"),
            actual="it was received",
        )

    return judge


def _any() -> Column:
    return sf.lit(True)


def _unset() -> Column:
    return sf.col("send.sent.time_to_live").isNull()


def _two() -> Column:
    return sf.col("send.sent.time_to_live") != sf.col("longest_life")


def _in_outage() -> Column:
    return sf.col("downs") > 0


def ttl_02(held: Held) -> Judgement | None:
    """TTL-02: no message is dead-lettered for its age while it lives (MESSAGES-EXPIRE)."""
    if held.reads("MESSAGES-EXPIRE") == "message":
        return None
    early = sf.filter(
        "dead_views",
        lambda view: (
            (view["v"]["dead_letter_reason"] == EXPIRED) & (view["t_hi"] < sf.col("dies_lo"))
        ),
    )
    by_hand = sf.exists(given_by_hand(), lambda act: act["reason"] == EXPIRED)
    alive = sf.filter("live", lambda give: give["t_hi"] < sf.col("dies_lo"))
    return Judgement(
        situation=~by_hand & ((sf.size(early) > 0) | (sf.size(alive) > 0)),
        broken=sf.size(early) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.get(early, sf.lit(0))["seq"]),
        expected="no dead letter: its time to live is not over",
        actual=named("", f"is one, for the reason {EXPIRED}"),
    )


def _refused_in_time(held: Held) -> Column:
    """Settlements of a message that had died, under a lock that surely lasted: seq, refused."""

    def of(give: Column) -> Column:
        until = give["until"] - held.slack

        def in_time(act: Column) -> Column:
            alone = ~sf.exists(
                give["acts"],
                lambda other: (
                    (other["seq"] != act["seq"]) & other["taken"] & (other["lo"] <= act["hi"])
                ),
            )
            after = act["t_lo"] > sf.col("dies_hi")
            answered = act["done"] | act["refused"]
            ops = act["op"].isin("Complete", "DeadLetter", "Defer")
            return ops & answered & after & alone & (act["t_hi"] < until)

        return sf.filter(give["acts"], in_time)

    return sf.flatten(sf.transform(sf.filter("live", has_lock), of))


def ttl_05(held: Held) -> Judgement:
    """TTL-05: a message that dies under a lock is settled with that lock."""
    found = _refused_in_time(held)
    wrong = sf.filter(found, lambda act: act["refused"])
    plain = ~sf.col("requires_session") & (sf.col("downs") == 0)
    return Judgement(
        situation=plain & (sf.size(found) > 0),
        broken=sf.size(wrong) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.get(wrong, sf.lit(0))["seq"]),
        expected="success: its lock outlasts its time to live",
        actual=sf.concat(sf.get(wrong, sf.lit(0))["op"], sf.lit(" was refused")),
    )


def ttl_06(held: Held) -> Judgement:
    """TTL-06: what died under a lock is not given again when that ends."""

    def died_under(one: Column, by: Column) -> Column:
        abandoned = sf.exists(
            surely_done(one, "Abandon"),
            lambda act: (act["hi"] < by["lo"]) & (act["t_lo"] > sf.col("dies_hi")),
        )
        lasted = one["until"] - held.slack > sf.col("dies_hi")
        return abandoned | (untouched(one, by) & lasted & failed(one, by, held))

    def again(one: Column, other: Column) -> Column:
        return ~by_number(other) & (one["hi"] < other["lo"]) & died_under(one, other)

    def ended(one: Column) -> Column:
        end = sf.struct(
            sf.lit(NEVER).alias("lo"),
            sf.lit(NEVER).alias("hi"),
            sf.col("last_receive").alias("t_lo"),
        )
        return died_under(one, end)

    found = pairs("live", "live", again)
    first = sf.get(found, sf.lit(0))
    grows = sf.lit(held.reads("OUTAGE-CLOCK") == "runs") | (sf.col("downs") == 0)
    plain = ~sf.col("requires_session") & (sf.size("deferrals") == 0) & grows
    return Judgement(
        situation=plain & sf.exists("live", ended),
        broken=sf.size(found) > 0,
        seqs=sf.array(first["one"], first["other"]),
        expected=named("", "is not given again: its time to live passed under the lock"),
        actual="it was received again",
    )


def ttl_07(held: Held) -> Judgement:
    """TTL-07: a dead letter that can have come by its age only says so."""
    told = sf.filter("dead_views", lambda view: view["v"]["dead_letter_reason"].isNotNull())
    by_age = sf.filter(told, lambda view: most_failed(view, held) < sf.col("deliveries"))
    wrong = sf.filter(by_age, lambda view: view["v"]["dead_letter_reason"] != EXPIRED)
    first = sf.get(wrong, sf.lit(0))
    never_by_hand = (sf.size(given_by_hand()) == 0) & (sf.col("lost_receives") == 0)
    return Judgement(
        situation=sf.col("buries_expired") & never_by_hand & (sf.size(by_age) > 0),
        broken=sf.size(wrong) > 0,
        seqs=sf.array(sf.col("send.seq"), first["seq"]),
        expected=f"the reason {EXPIRED}",
        actual=sf.concat(sf.lit("the reason "), first["v"]["dead_letter_reason"]),
    )


def _is_no_dead_letter(situation: Column) -> Judgement:
    found = sf.filter("dead_views", lambda view: view["v"]["dead_letter_reason"] == EXPIRED)
    by_hand = sf.exists(given_by_hand(), lambda act: act["reason"] == EXPIRED)
    asked = sf.col("last_dead_receive") > sf.col("dies_hi")
    sure = ~by_hand & (sf.col("lost_receives") == 0)
    return Judgement(
        situation=situation & sure & (asked | (sf.size(found) > 0)),
        broken=sf.size(found) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.get(found, sf.lit(0))["seq"]),
        expected="no dead letter for its age",
        actual=named("", f"is one, for the reason {EXPIRED}"),
    )


def ttl_08(_: Held) -> Judgement:
    """TTL-08: where expired messages are not dead-lettered, none is a dead letter for its age."""
    return _is_no_dead_letter(~sf.col("buries_expired"))


def ttl_10(_: Held) -> Judgement:
    """TTL-10: a deferred message is not dead-lettered for its age."""
    asked = sf.exists("live", by_number)
    early = sf.exists("deferrals", lambda act: act["t_hi"] < sf.col("dies_lo"))
    return _is_no_dead_letter(sf.col("buries_expired") & early & ~asked)


_NEEDS = frozenset({"sent", "seen", "settings", "lock_token", "mode"})

QUERIES = (
    Query(rule="TTL-01", frame=_mortal, judge=_given_too_late(_any), needs=_NEEDS),
    Query(rule="TTL-02", frame=_mortal, judge=ttl_02, needs=_NEEDS),
    Query(rule="TTL-03", frame=_mortal, judge=_given_too_late(_unset), needs=_NEEDS),
    Query(rule="TTL-04", frame=_mortal, judge=_given_too_late(_two), needs=_NEEDS),
    Query(rule="TTL-05", frame=_mortal, judge=ttl_05, needs=_NEEDS),
    Query(rule="TTL-06", frame=_mortal, judge=ttl_06, needs=_NEEDS),
    Query(rule="TTL-07", frame=_mortal, judge=ttl_07, needs=_NEEDS),
    Query(rule="TTL-08", frame=_mortal, judge=ttl_08, needs=_NEEDS),
    Query(rule="TTL-10", frame=_mortal, judge=ttl_10, needs=_NEEDS),
    Query(rule="TTL-13", frame=_mortal, judge=_given_too_late(_in_outage), needs=_NEEDS),
)
