"""Deferred messages: set aside for good, and given by their numbers only."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.deliveries import failed, has_lock, named, pairs
from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.terms import Held

__all__ = ["BY_NUMBER", "QUERIES", "by_number"]

RECEIVE, BY_NUMBER = "Receive", "ReceiveDeferred"


def _messages(frames: Frames) -> DataFrame:
    return frames.messages


def by_number(give: Column) -> Column:
    """Whether a receive asked for the message by its number."""
    return give["op"] == BY_NUMBER


def _asked_between(one: Column, other: Column) -> Column:
    """Whether a receive by number may have had the message in between."""
    return sf.exists(
        "live",
        lambda each: by_number(each) & (each["hi"] >= one["lo"]) & (each["lo"] < other["lo"]),
    )


def _given_after(found: Column, situation: Column) -> Judgement:
    first = sf.get(found, sf.lit(0))
    return Judgement(
        situation=sf.col("once") & situation,
        broken=sf.size(found) > 0,
        seqs=sf.array(first["one"], first["other"]),
        expected=named("", "by its number only, for it was deferred"),
        actual="an ordinary receive was given it",
    )


def defer_01(_: Held) -> Judgement:
    """DEFER-01: a deferred message is given to no ordinary receive."""

    def given(one: Column, other: Column) -> Column:
        later = (other["op"] == RECEIVE) & (one["hi"] < other["lo"])
        return later & ~_asked_between(one, other)

    return _given_after(pairs("deferrals", "live", given), sf.size("deferrals") > 0)


def defer_06(held: Held) -> Judgement:
    """DEFER-06: it stays deferred where the lock of a receive by number ends."""

    def given(one: Column, other: Column) -> Column:
        later = (other["op"] == RECEIVE) & (one["hi"] < other["lo"])
        return later & _asked_between(one, other)

    def came_back(one: Column, other: Column) -> Column:
        return by_number(one) & (one["hi"] < other["lo"]) & failed(one, other, held)

    again = sf.size(pairs("live", "live", came_back)) > 0
    return _given_after(pairs("deferrals", "live", given), again & (sf.size("deferrals") > 0))


def defer_08(_: Held) -> Judgement:
    """DEFER-08: a message that is received by number has the number that it had before."""

    def other_number(one: Column, other: Column) -> Column:
        numbers = one["v"]["sequence_number"] != other["v"]["sequence_number"]
        return (one["op"] == RECEIVE) & by_number(other) & numbers

    def told(one: Column, other: Column) -> Column:
        numbers = one["v"]["sequence_number"] + other["v"]["sequence_number"]
        return (one["op"] == RECEIVE) & by_number(other) & numbers.isNotNull()

    found = pairs("live", "live", other_number)
    first = sf.get(found, sf.lit(0))
    return Judgement(
        situation=sf.col("once") & (sf.size(pairs("live", "live", told)) > 0),
        broken=sf.size(found) > 0,
        seqs=sf.array(first["one"], first["other"]),
        expected="the number that it had before it was deferred",
        actual=named("", "has another"),
    )


def defer_09(_: Held) -> Judgement:
    """DEFER-09: a peek that tells a state tells that a deferred message is deferred."""

    def shown(one: Column, other: Column) -> Column:
        return (one["hi"] < other["lo"]) & other["v"]["state"].isNotNull()

    def shown_otherwise(one: Column, other: Column) -> Column:
        return shown(one, other) & (other["v"]["state"] != "deferred")

    found = pairs("deferrals", "shown", shown_otherwise)
    first = sf.get(found, sf.lit(0))
    return Judgement(
        situation=sf.col("once") & (sf.size(pairs("deferrals", "shown", shown)) > 0),
        broken=sf.size(found) > 0,
        seqs=sf.array(first["one"], first["other"]),
        expected=named("", "shown as deferred"),
        actual="it was shown in another state",
    )


def defer_04(_: Held) -> Judgement:
    """DEFER-04: what nobody can have deferred is not received by its number."""

    def aside(give: Column) -> Column:
        return sf.exists(
            "live",
            lambda one: (
                ~has_lock(one) & ~one["deleting"]
                | sf.exists(
                    one["acts"],
                    lambda act: act["taken"] & (act["op"] == "Defer") & (act["lo"] <= give["hi"]),
                )
            ),
        )

    wrong = sf.filter("live", lambda give: by_number(give) & ~aside(give))
    return Judgement(
        situation=sf.col("once") & (sf.col("lost_receives") == 0) & (sf.size(wrong) > 0),
        broken=sf.size(wrong) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.get(wrong, sf.lit(0))["seq"]),
        expected="a refusal: the message was not deferred",
        actual=named("", "was given by its number"),
    )


def defer_12(_: Held) -> Judgement:
    """DEFER-12: a deferred message of a session is given to no receive outside of that session."""
    asked = sf.filter("live", by_number)
    wrong = sf.filter(asked, lambda give: ~give["asked"].eqNullSafe(sf.col("send.sent.session_id")))
    return Judgement(
        situation=sf.col("once") & sf.col("requires_session") & (sf.size(asked) > 0),
        broken=sf.size(wrong) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.get(wrong, sf.lit(0))["seq"]),
        expected=sf.concat(
            sf.lit("a refusal outside of the session '"),
            sf.coalesce("send.sent.session_id", sf.lit("")),
            sf.lit("'"),
        ),
        actual=named("", "was given"),
    )


_NEEDS = frozenset({"sent", "seen", "settings", "lock_token", "mode"})

QUERIES = (
    Query(rule="DEFER-01", frame=_messages, judge=defer_01, needs=_NEEDS),
    Query(rule="DEFER-04", frame=_messages, judge=defer_04, needs=_NEEDS),
    Query(rule="DEFER-06", frame=_messages, judge=defer_06, needs=_NEEDS),
    Query(rule="DEFER-08", frame=_messages, judge=defer_08, needs=_NEEDS),
    Query(rule="DEFER-09", frame=_messages, judge=defer_09, needs=_NEEDS),
    Query(rule="DEFER-12", frame=_messages, judge=defer_12, needs=_NEEDS),
)
