"""What a single request and its answer show: row by row, in one scan."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.frames import Frames, sends
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]


def _set(name: str) -> Column:
    """Whether a property is surely set; whether an empty one is, is open (EMPTY-KEY)."""
    return sf.coalesce(sf.col(f"sent.{name}") != "", sf.lit(False))


def _unset(name: str) -> Column:
    return sf.col(f"sent.{name}").isNull()


def _differ() -> Column:
    both = _set("session_id") & _set("partition_key")
    return both & (sf.col("sent.session_id") != sf.col("sent.partition_key"))


def _must_be_refused(situation: Column, why: str) -> Judgement:
    """A send that is never accepted; which refusal came is not looked at."""
    answered = (sf.col("op") == "Send") & sf.col("outcome").isin("Done", "Refused")
    return Judgement(
        situation=situation & answered,
        broken=sf.col("outcome") == "Done",
        seqs=sf.array("seq"),
        expected=f"a refusal: {why}",
        actual=sf.concat(sf.lit("the send of '"), sf.col("sent.body"), sf.lit("' was accepted")),
    )


def key_08(held: Held) -> Judgement:
    """KEY-08: SessionId and PartitionKey that differ are refused (REGULAR-KEYS).

    In a transaction on a session-aware entity that is TXN-07.
    """
    concerned = sf.lit(True) if held.reads("REGULAR-KEYS") == "refused" else sf.col("partitioned")
    elsewhere = sf.col("transaction").isNotNull() & sf.col("requires_session")
    if held.reads("TXN-REFUSAL") != "at-send":
        elsewhere = sf.col("transaction").isNotNull()
    return _must_be_refused(
        concerned & _differ() & ~elsewhere, "its SessionId and its PartitionKey differ"
    )


def txn_03(held: Held) -> Judgement | None:
    """TXN-03: a message without a key is refused in a transaction."""
    if held.reads("TXN-REFUSAL") != "at-send" or held.library:
        return None
    no_id = _unset("message_id")
    if held.reads("TXN-MESSAGE-ID") == "with-duplicate-detection":
        no_id = no_id | ~sf.col("detecting")
    keyless = _unset("session_id") & _unset("partition_key") & no_id
    within = sf.col("transaction").isNotNull() & sf.col("partitioned")
    return _must_be_refused(
        within & ~sf.col("requires_session") & keyless, "it has no key and is in a transaction"
    )


def txn_06(held: Held) -> Judgement | None:
    """TXN-06: a session-aware entity needs a SessionId in a transaction."""
    if held.reads("TXN-REFUSAL") != "at-send":
        return None
    within = sf.col("transaction").isNotNull() & sf.col("partitioned")
    return _must_be_refused(
        within & sf.col("requires_session") & _unset("session_id"),
        "it has no SessionId and is in a transaction to a session-aware entity",
    )


def txn_07(held: Held) -> Judgement | None:
    """TXN-07: in a transaction on a session-aware entity the two properties must agree."""
    if held.reads("TXN-REFUSAL") != "at-send":
        return None
    within = sf.col("transaction").isNotNull() & sf.col("partitioned")
    return _must_be_refused(
        within & sf.col("requires_session") & _differ(),
        "its SessionId and its PartitionKey differ, in a transaction",
    )


def _peeks(frames: Frames) -> DataFrame:
    return frames.peeks


def life_07(held: Held) -> Judgement | None:
    """LIFE-07: a peek shows each partition's messages in order of their sequence numbers."""
    if not held.names_partitions:
        return None
    numbered = sf.filter(
        "seen",
        lambda view: (
            view["sequence_number"].isNotNull() & ~view["state"].eqNullSafe(sf.lit("scheduled"))
        ),
    )
    numbers = sf.transform(numbered, lambda view: view["sequence_number"])
    places = sf.sequence(sf.lit(2), sf.size(numbers))

    def too_late(place: Column) -> Column:
        number = sf.element_at(numbers, place)
        return sf.exists(
            sf.slice(numbers, 1, place - 1),
            lambda before: (
                (sf.shiftright(before, 48) == sf.shiftright(number, 48)) & (before >= number)
            ),
        )

    several = sf.size(numbers) > 1
    return Judgement(
        situation=sf.size("seen") > 0,
        broken=sf.when(several, sf.exists(places, too_late)).otherwise(sf.lit(False)),
        seqs=sf.array("seq"),
        expected="messages of a partition by rising sequence numbers",
        actual=sf.concat(
            sf.lit("numbers in this order: "), sf.array_join(numbers.cast("array<string>"), ", ")
        ),
    )


def sess_23(_: Held) -> Judgement:
    """SESS-23: a peek in a session shows that session only."""
    asked = sf.col("session_id")
    foreign = sf.filter(
        "seen",
        lambda view: sf.coalesce(view["session_id"], sf.lit("")) != sf.coalesce(asked, sf.lit("")),
    )
    return Judgement(
        situation=(asked != "") & (sf.size("seen") > 0) & ~sf.col("dead"),
        broken=sf.size(foreign) > 0,
        seqs=sf.array("seq"),
        expected=sf.concat(sf.lit("messages of the session '"), asked, sf.lit("' only")),
        actual=sf.concat(sf.lit("'"), sf.get(foreign, sf.lit(0))["body"], sf.lit("' was shown")),
    )


def _gives(frames: Frames) -> DataFrame:
    return frames.gives


def sess_04(_: Held) -> Judgement:
    """SESS-04: the holder of a session is given messages of this session only."""
    asked = sf.col("give.asked")
    in_session = (sf.col("give.op") == "Receive") & (asked != "") & ~sf.col("give.dead")
    came = sf.coalesce(sf.col("give.v.session_id"), sf.lit(""))
    return Judgement(
        situation=in_session & (came != ""),
        broken=came != asked,
        seqs=sf.array("give.seq"),
        expected=sf.concat(sf.lit("a message of the session '"), asked, sf.lit("'")),
        actual=sf.concat(
            sf.lit("'"), sf.col("body"), sf.lit("' of the session '"), came, sf.lit("'")
        ),
    )


def sess_01(_: Held) -> Judgement:
    """SESS-01: where sessions are required, a message without one is given to nobody.

    Its situation is told by refused sends (`sess_01_refused`).
    """
    in_session = (sf.col("give.op") == "Receive") & (sf.col("give.asked") != "")
    without = in_session & ~sf.col("give.dead") & sf.col("give.v.session_id").isNull()
    return Judgement(
        situation=without,
        broken=sf.lit(True),
        seqs=sf.array("give.seq"),
        expected="a message of the session, or none",
        actual=sf.concat(sf.lit("'"), sf.col("body"), sf.lit("', which has no SessionId")),
    )


def sess_01_refused(_: Held) -> Judgement:
    """SESS-01: a message without SessionId that was refused where sessions are required."""
    alone = sf.col("transaction").isNull() & sf.col("requires_session") & _unset("session_id")
    alone = alone & (sf.col("op") == "Send")
    return Judgement(
        situation=alone & (sf.col("outcome") == "Refused"),
        broken=sf.lit(False),
        seqs=sf.array("seq"),
        expected="",
        actual="",
    )


QUERIES = (
    Query(rule="KEY-08", frame=sends, judge=key_08, needs=frozenset({"sent", "settings"})),
    Query(rule="TXN-03", frame=sends, judge=txn_03, needs=frozenset({"transaction", "sent"})),
    Query(rule="TXN-06", frame=sends, judge=txn_06, needs=frozenset({"transaction", "sent"})),
    Query(rule="TXN-07", frame=sends, judge=txn_07, needs=frozenset({"transaction", "sent"})),
    Query(rule="LIFE-07", frame=_peeks, judge=life_07, needs=frozenset({"seen"})),
    Query(rule="SESS-23", frame=_peeks, judge=sess_23, needs=frozenset({"seen", "session_id"})),
    Query(rule="SESS-01", frame=sends, judge=sess_01_refused, needs=frozenset({"sent"})),
    Query(rule="SESS-01", frame=_gives, judge=sess_01, needs=frozenset({"seen", "session_id"})),
    Query(rule="SESS-04", frame=_gives, judge=sess_04, needs=frozenset({"seen", "session_id"})),
)
