"""Messages that are too large, and keys that are too long, where a bus is held to limits."""

from collections.abc import Callable
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as sf

from busproof.pipeline.frames import sends
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.terms import Held
from busproof.vocabulary.values import Tier

__all__ = ["QUERIES"]

LARGEST: Final = 256
"""KB of the largest message of Basic and Standard."""
LARGEST_IN_PREMIUM: Final = 100 * 1024
LONGEST_KEY: Final = 128
"""In characters."""
LIMITS: Final = "limits"
"""The capability without which a bus is not held to them."""


def _refused(held: Held, beyond: Column, limit: str) -> Judgement:
    """What is beyond a limit is never taken; which refusal came is not looked at.

    Where a transaction's refusal may come at its commit, its sends tell nothing (TXN-REFUSAL).
    """
    taken = sf.col("outcome").isin("Done", "Scheduled")
    answered = taken | (sf.col("outcome") == "Refused")
    if held.reads("TXN-REFUSAL") != "at-send":
        answered = answered & sf.col("transaction").isNull()
    return Judgement(
        situation=sf.coalesce(beyond, sf.lit(False)) & answered,
        broken=taken,
        seqs=sf.array("seq"),
        expected=f"a refusal: {limit}",
        actual=sf.concat(sf.lit("'"), sf.col("sent.body"), sf.lit("' was accepted")),
    )


def _too_large(held: Held) -> Column:
    """Whether the body is larger than any message of the tier, and does not stand for several.

    In bytes, of which a KB has no more than the reading says (KB-BYTES).
    """
    bytes_of_kb = 1000 if held.reads("KB-BYTES") == "decimal" else 1024
    premium = held.profile.tier is Tier.PREMIUM
    most = (LARGEST_IN_PREMIUM if premium else LARGEST) * bytes_of_kb
    alone = ~sf.coalesce(sf.col("sent.stands_in"), sf.lit(False))
    return (sf.col("sent.size") > most) & alone


def _plain() -> Column:
    """Whether a message is sent at once, and in no transaction."""
    return (sf.col("op") == "Send") & sf.col("transaction").isNull()


def limit_02(held: Held) -> Judgement | None:
    """LIMIT-02: in Basic and Standard no message is larger than 256 KB."""
    if LIMITS not in held.capabilities or held.profile.tier is Tier.PREMIUM:
        return None
    return _refused(held, _too_large(held) & _plain(), "it is larger than 256 KB")


def limit_06(held: Held) -> Judgement | None:
    """LIMIT-06: nor are those that are scheduled."""
    if LIMITS not in held.capabilities:
        return None
    later = (sf.col("op") == "Schedule") & sf.col("transaction").isNull()
    return _refused(held, _too_large(held) & later, "it is larger than its tier takes")


def limit_21(held: Held) -> Judgement | None:
    """LIMIT-21: nor are those of a transaction (TXN-REFUSAL)."""
    if LIMITS not in held.capabilities or held.reads("TXN-REFUSAL") != "at-send":
        return None
    within = sf.col("transaction").isNotNull()
    return _refused(held, _too_large(held) & within, "it is larger than its tier takes")


def _too_long(name: str, told: str) -> Callable[[Held], Judgement | None]:
    """A key has no more than 128 characters."""

    def judge(held: Held) -> Judgement | None:
        if LIMITS not in held.capabilities:
            return None
        beyond = sf.char_length(sf.col(f"sent.{name}")) > LONGEST_KEY
        return _refused(held, beyond, f"its {told} has more than {LONGEST_KEY} characters")

    return judge


_NEEDS: Final = frozenset({"sent"})

QUERIES = (
    Query(rule="LIMIT-02", frame=sends, judge=limit_02, needs=_NEEDS),
    Query(rule="LIMIT-06", frame=sends, judge=limit_06, needs=_NEEDS),
    Query(rule="LIMIT-21", frame=sends, judge=limit_21, needs=frozenset({"sent", "transaction"})),
    Query(rule="LIMIT-08", frame=sends, judge=_too_long("message_id", "MessageId"), needs=_NEEDS),
    Query(rule="LIMIT-10", frame=sends, judge=_too_long("session_id", "SessionId"), needs=_NEEDS),
    Query(
        rule="LIMIT-12", frame=sends, judge=_too_long("partition_key", "PartitionKey"), needs=_NEEDS
    ),
)
