"""Scheduled messages: none before its time, none that was cancelled, and under which number."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.deliveries import named
from busproof.pipeline.frames import Frames, sends
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]


def _scheduled(frames: Frames) -> DataFrame:
    """Messages that were scheduled for sure, once, and in no transaction."""
    alone = sf.col("send.sure") & sf.col("send.transaction").isNull()
    return frames.messages.where(sf.col("once") & (sf.col("send.op") == "Schedule") & alone)


def _waits() -> Column:
    """Whether its time was still to come when it was scheduled."""
    return sf.col("send.delay") > 0


def _too_early(situation: Column, expected: str) -> Judgement:
    """Given before it was due; the first receive of all is known to have tried meanwhile."""
    early = sf.filter("live", lambda give: give["t_hi"] < sf.col("due_lo"))
    tried = (sf.col("first_receive.lo") > sf.col("send.hi")) & (
        sf.col("first_receive.t_hi") < sf.col("due_lo")
    )
    return Judgement(
        situation=situation & _waits() & (tried | (sf.size(early) > 0)),
        broken=sf.size(early) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.get(early, sf.lit(0))["seq"]),
        expected=named("", expected),
        actual="it was received before",
    )


def sched_01(_: Held) -> Judgement:
    """SCHED-01: a scheduled message is given to nobody before it is due."""
    return _too_early(~sf.col("requires_session"), "is not received before it is due")


def sched_13(_: Held) -> Judgement:
    """SCHED-13: nor to who holds its session."""
    return _too_early(sf.col("requires_session"), "is not in its session before it is due")


def _cancelled_in_time(*outcomes: str) -> Column:
    """Requests to cancel that were surely answered before it was due, and made first of all."""
    return sf.filter(
        "cancels",
        lambda cancel: (
            cancel["outcome"].isin(*outcomes)
            & (cancel["lo"] > sf.col("send.hi"))
            & (cancel["t_hi"] < sf.col("due_lo"))
            & ~sf.exists(
                "cancels",
                lambda other: (
                    (other["seq"] != cancel["seq"]) & other["taken"] & (other["lo"] <= cancel["hi"])
                ),
            )
        ),
    )


def sched_03(_: Held) -> Judgement:
    """SCHED-03: by the number that scheduling tells, it can be cancelled before it is due."""
    answered = _cancelled_in_time("Done", "Refused")
    refused = _cancelled_in_time("Refused")
    return Judgement(
        situation=(sf.size(answered) > 0) & (sf.col("downs") == 0),
        broken=sf.size(refused) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.get(refused, sf.lit(0))["seq"]),
        expected="success: its message is not due yet",
        actual="the cancellation was refused",
    )


def sched_04(_: Held) -> Judgement:
    """SCHED-04: what was cancelled before it was due never comes."""
    done = _cancelled_in_time("Done")
    first = sf.get(done, sf.lit(0))
    again = sf.filter("views", lambda view: view["lo"] > first["hi"])
    return Judgement(
        situation=sf.size(done) > 0,
        broken=sf.size(again) > 0,
        seqs=sf.array(sf.col("send.seq"), first["seq"], sf.get(again, sf.lit(0))["seq"]),
        expected=named("never again ", "which was cancelled"),
        actual=named("", "was seen afterwards"),
    )


def sched_06(_: Held) -> Judgement:
    """SCHED-06: a message that has come has another number than it was scheduled under."""
    told = sf.filter("live", lambda give: give["v"]["sequence_number"].isNotNull())
    same = sf.filter(told, lambda give: give["v"]["sequence_number"] == sf.col("send.told_number"))
    return Judgement(
        situation=sf.col("send.told_number").isNotNull() & (sf.size(told) > 0),
        broken=sf.size(same) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.get(same, sf.lit(0))["seq"]),
        expected="a number of its own, now that it has come",
        actual=sf.concat(sf.lit("the one it was scheduled under: "), sf.col("send.told_number")),
    )


def sched_08(_: Held) -> Judgement:
    """SCHED-08: a peek that tells a state tells that it is scheduled."""
    early = sf.filter(
        "shown",
        lambda peek: peek["v"]["state"].isNotNull() & (peek["t_hi"] < sf.col("due_lo")),
    )
    wrong = sf.filter(early, lambda peek: peek["v"]["state"] != "scheduled")
    return Judgement(
        situation=_waits() & (sf.size(early) > 0),
        broken=sf.size(wrong) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.get(wrong, sf.lit(0))["seq"]),
        expected=named("", "shown as scheduled"),
        actual="it was shown in another state",
    )


def _answered() -> Column:
    answered = sf.col("outcome").isin("Scheduled", "Done", "Refused")
    return (sf.col("op") == "Schedule") & answered & sf.col("transaction").isNull()


def sched_12(held: Held) -> Judgement:
    """SCHED-12: a message whose keys differ cannot be scheduled (REGULAR-KEYS)."""
    concerned = sf.lit(True) if held.reads("REGULAR-KEYS") == "refused" else sf.col("partitioned")
    both = (sf.col("sent.session_id") != "") & (sf.col("sent.partition_key") != "")
    differ = both & (sf.col("sent.session_id") != sf.col("sent.partition_key"))
    return Judgement(
        situation=_answered() & concerned & differ,
        broken=sf.col("outcome") != "Refused",
        seqs=sf.array("seq"),
        expected="a refusal: its SessionId and its PartitionKey differ",
        actual=sf.concat(sf.lit("'"), sf.col("sent.body"), sf.lit("' was scheduled")),
    )


_NEEDS = frozenset({"sent", "seen", "settings", "delay"})

QUERIES = (
    Query(rule="SCHED-01", frame=_scheduled, judge=sched_01, needs=_NEEDS),
    Query(rule="SCHED-03", frame=_scheduled, judge=sched_03, needs=_NEEDS | {"told_number"}),
    Query(rule="SCHED-04", frame=_scheduled, judge=sched_04, needs=_NEEDS | {"told_number"}),
    Query(rule="SCHED-06", frame=_scheduled, judge=sched_06, needs=_NEEDS | {"told_number"}),
    Query(rule="SCHED-08", frame=_scheduled, judge=sched_08, needs=_NEEDS),
    Query(rule="SCHED-12", frame=sends, judge=sched_12, needs=_NEEDS),
    Query(rule="SCHED-13", frame=_scheduled, judge=sched_13, needs=_NEEDS),
)
