"""Sessions: held by one connection at a time, with a state of their own."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from busproof.pipeline.frames import Frames
from busproof.pipeline.granted import LONGEST_LOCK
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.schema import NEVER
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]

_BY = ["history_id", "entity", "session"]


def _of_sessions(frames: Frames, *ops: str) -> DataFrame:
    """These requests to entities that surely require sessions, with the session they are about."""
    rows = frames.base.where(sf.col("op").isin(*ops) & ~sf.col("dead")).withColumn(
        "session", sf.coalesce("session_id", "told_session")
    )
    sure = frames.config.where(sf.col("plain") & sf.col("requires_session")).select(
        "history_id", "owner", "lock", "downs", "lost_accepts"
    )
    return rows.join(sure, ["history_id", "owner"], "inner").where(sf.col("session").isNotNull())


def _accepts(frames: Frames) -> DataFrame:
    """Each request for a session, beside the last that was granted to another before it.

    Cheap first: only those that came within the other's lock go on to be compared with what may
    have ended it.
    """
    accepts = _of_sessions(frames, "AcceptSession", "AcceptNextSession").where(
        (sf.col("downs") == 0) & (sf.col("lost_accepts") == 0)
    )
    granted = sf.col("outcome").isin("Done", "SessionAccepted")
    earlier = (
        Window.partitionBy(*_BY).orderBy("lo", "seq").rowsBetween(Window.unboundedPreceding, -1)
    )
    holder = sf.last(
        sf.when(granted, sf.struct("connection", "lo", "hi", "t_lo", "seq")), ignorenulls=True
    ).over(earlier)
    ended = sf.col("holder.t_lo") + sf.least("lock", sf.lit(LONGEST_LOCK)) - frames.held.slack
    candidates = (
        accepts.withColumn("granted", granted)
        .withColumn("holder", holder)
        .where(sf.col("holder.connection") != sf.col("connection"))
        .where((sf.col("holder.hi") < sf.col("lo")) & (sf.col("t_hi") < ended))
    )
    closes = (
        _of_sessions(frames, "CloseSession")
        .where("taken")
        .groupBy(*_BY)
        .agg(sf.collect_list(sf.struct("connection", "lo", "hi")).alias("closes"))
    )
    return candidates.join(closes, _BY, "left")


def _is_held(op: str) -> Judgement:
    may_end = sf.exists(
        "closes",
        lambda close: (
            (close["connection"] == sf.col("holder.connection"))
            & (close["lo"] <= sf.col("hi"))
            & (close["hi"] >= sf.col("holder.lo"))
        ),
    )
    held = ~sf.coalesce(may_end, sf.lit(False))
    return Judgement(
        situation=(sf.col("op") == op)
        & held
        & sf.col("outcome").isin("Done", "SessionAccepted", "Refused", "Empty"),
        broken=sf.col("granted"),
        seqs=sf.array("holder.seq", "seq"),
        expected=sf.concat(
            sf.lit("a refusal: connection '"),
            sf.col("holder.connection"),
            sf.lit("' holds the session '"),
            sf.col("session"),
            sf.lit("'"),
        ),
        actual="the session was given",
    )


def life_10(_: Held) -> Judgement:
    """LIFE-10: while one connection holds a session, no other is given it."""
    return _is_held("AcceptSession")


def sess_07(_: Held) -> Judgement:
    """SESS-07: accepting the next session never gives one that another holds."""
    return _is_held("AcceptNextSession")


def _receivers(frames: Frames) -> DataFrame:
    """One row a session and connection: when it first asked for the session, and first received."""
    ops = ("AcceptSession", "AcceptNextSession", "Receive")
    rows = _of_sessions(frames, *ops).where(sf.col("lost_accepts") == 0)
    accepts = (sf.col("op") != "Receive") & sf.col("taken")
    receive = sf.col("op") == "Receive"

    def first(outcome: str) -> Column:
        came = receive & (sf.col("outcome") == outcome)
        return sf.min(sf.when(came, sf.struct("hi", "seq")))

    return rows.groupBy(*_BY, "connection").agg(
        sf.coalesce(sf.min(sf.when(accepts, sf.col("lo"))), sf.lit(NEVER)).alias("accepted"),
        first("Received").alias("given"),
        first("Refused").alias("refused"),
    )


def sess_02(_: Held) -> Judgement:
    """SESS-02: a receive over a connection that never asked for the session is refused."""
    given = sf.coalesce(sf.col("given.hi") < sf.col("accepted"), sf.lit(False))
    refused = sf.coalesce(sf.col("refused.hi") < sf.col("accepted"), sf.lit(False))
    return Judgement(
        situation=given | refused,
        broken=given,
        seqs=sf.array("given.seq"),
        expected=sf.concat(
            sf.lit("a refusal: connection '"),
            sf.col("connection"),
            sf.lit("' has not accepted the session '"),
            sf.col("session"),
            sf.lit("'"),
        ),
        actual="a message was given",
    )


def _sessionless(frames: Frames) -> DataFrame:
    """Receives that name no session, of entities that require one.

    What a connection is told that asks for a session as well is open, as long as it is given none.
    """
    receives = frames.base.where(
        (sf.col("op") == "Receive")
        & ~sf.col("dead")
        & sf.col("session_id").isNull()
        & sf.col("outcome").isin("Received", "Empty", "Refused")
    ).select("history_id", "owner", "entity", "seq", "hi", "outcome", "connection")
    asked = (
        frames.base.where(sf.col("op").isin("AcceptSession", "AcceptNextSession") & sf.col("taken"))
        .groupBy("history_id", "owner", "connection")
        .agg(sf.min("lo").alias("asked"))
    )
    return (
        frames.of_plain(receives)
        .where("requires_session")
        .join(asked, ["history_id", "owner", "connection"], "left")
    )


def sess_02_unnamed(_: Held) -> Judgement:
    """SESS-02: a receive in no session at all is refused."""
    open_ = (sf.col("outcome") == "Empty") & sf.coalesce(
        sf.col("asked") <= sf.col("hi"), sf.lit(False)
    )
    return Judgement(
        situation=~open_,
        broken=sf.col("outcome") != "Refused",
        seqs=sf.array("seq"),
        expected="a refusal: the receive is in no session, and the entity requires one",
        actual=sf.lower("outcome"),
    )


def _states(frames: Frames) -> DataFrame:
    """Each answer of a session's state, with all that was ever set for the session."""
    sets = (
        _of_sessions(frames, "SetSessionState")
        .where("taken")
        .groupBy(*_BY)
        .agg(
            sf.collect_list(
                sf.struct(
                    "lo",
                    "hi",
                    "seq",
                    "state",
                    (~sf.col("lost")).alias("sure"),
                )
            ).alias("sets")
        )
    )
    gets = _of_sessions(frames, "GetSessionState").where(sf.col("outcome") == "SessionState")
    nothing = sf.array().cast(sets.schema["sets"].dataType)
    return (
        gets.select(*_BY, "seq", "lo", "hi", sf.col("told_state").alias("told"))
        .join(sets, _BY, "left")
        .withColumn("sets", sf.coalesce("sets", nothing))
    )


def _last_set() -> tuple[Column, Column]:
    """Whether anything can have been set before, and whether what was told can be the last."""
    before = sf.filter("sets", lambda each: each["lo"] <= sf.col("hi"))
    surely = sf.filter(before, lambda each: each["sure"] & (each["hi"] < sf.col("lo")))

    def overwritten(each: Column) -> Column:
        return sf.exists(surely, lambda later: each["hi"] < later["lo"])

    fits = sf.exists(
        before, lambda each: each["state"].eqNullSafe(sf.col("told")) & ~overwritten(each)
    )
    from_the_start = sf.col("told").isNull() & (sf.size(surely) == 0)
    return sf.size(before) > 0, fits | from_the_start


def _state(situation: Column, fits: Column, expected: str) -> Judgement:
    return Judgement(
        situation=situation,
        broken=~fits,
        seqs=sf.concat(
            sf.transform(
                sf.filter("sets", lambda each: each["lo"] <= sf.col("hi")),
                lambda each: each["seq"],
            ),
            sf.array("seq"),
        ),
        expected=expected,
        actual=sf.concat(
            sf.lit("the state "),
            sf.coalesce(sf.concat(sf.lit("'"), "told", sf.lit("'")), sf.lit("none")),
        ),
    )


def sess_16(_: Held) -> Judgement:
    """SESS-16: a session has no state until one is set."""
    has, fits = _last_set()
    return _state(~has, fits, "no state: none was set")


def sess_17(_: Held) -> Judgement:
    """SESS-17: a session's state is the last that was set."""
    has, fits = _last_set()
    return _state(has, fits, "the state that was set last")


_NEEDS = frozenset({"session_id", "connection", "settings"})

QUERIES = (
    Query(rule="LIFE-10", frame=_accepts, judge=life_10, needs=_NEEDS),
    Query(rule="SESS-02", frame=_receivers, judge=sess_02, needs=_NEEDS),
    Query(rule="SESS-02", frame=_sessionless, judge=sess_02_unnamed, needs=_NEEDS),
    Query(rule="SESS-07", frame=_accepts, judge=sess_07, needs=_NEEDS),
    Query(rule="SESS-16", frame=_states, judge=sess_16, needs=_NEEDS | {"state", "told_state"}),
    Query(rule="SESS-17", frame=_states, judge=sess_17, needs=_NEEDS | {"state", "told_state"}),
)
