"""Requests to a dead-letter queue: it is there from the start, and nothing is put into it."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.frames import Frames, locks, sends
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.terms import Held
from busproof.vocabulary.paths import DEAD_LETTERS

__all__ = ["QUERIES"]


def _asked(frames: Frames) -> DataFrame:
    """Receives and peeks of dead-letter queues whose entity surely exists and had no outage.

    In an outage, and where a bus need not know peeks (LIBRARIES), any refusal may come.
    """
    ops = ("Receive",) if frames.held.reads("LIBRARIES") == "bus" else ("Receive", "Peek")
    asked = frames.base.where(sf.col("dead") & sf.col("op").isin(*ops) & ~sf.col("lost")).select(
        "history_id", "owner", "entity", "seq", "lo", "outcome", "error"
    )
    return frames.of_plain(asked).where((sf.col("lo") > sf.col("born")) & (sf.col("downs") == 0))


def dlq_08(_: Held) -> Judgement:
    """DLQ-08: every entity has a dead-letter queue, from the start."""
    missing = (sf.col("outcome") == "Refused") & (sf.col("error") == "not-found")
    return Judgement(
        situation=sf.col("outcome").isin("Received", "Empty", "Peeked") | missing,
        broken=missing,
        seqs=sf.array("seq"),
        expected="a dead-letter queue: the entity exists",
        actual="it was not found",
    )


def dlq_10(_: Held) -> Judgement:
    """DLQ-10: nothing is dead-lettered from a dead-letter queue."""
    again = sf.filter("acts", lambda act: act["op"] == "DeadLetter")
    done = sf.filter(again, lambda act: act["done"])
    return Judgement(
        situation=sf.endswith(sf.col("entity"), sf.lit(DEAD_LETTERS)) & (sf.size(again) > 0),
        broken=sf.size(done) > 0,
        seqs=sf.array(sf.get(done, sf.lit(0))["seq"]),
        expected="a refusal: it is a dead letter already",
        actual="it was dead-lettered again",
    )


def dlq_11(_: Held) -> Judgement:
    """DLQ-11: nothing is sent to a dead-letter queue."""
    return Judgement(
        situation=sf.col("dead")
        & (sf.col("op") == "Send")
        & sf.col("outcome").isin("Done", "Refused"),
        broken=sf.col("outcome") == "Done",
        seqs=sf.array("seq"),
        expected="a refusal: it is a dead-letter queue",
        actual=sf.concat(sf.lit("the send of '"), sf.col("sent.body"), sf.lit("' was accepted")),
    )


QUERIES = (
    Query(rule="DLQ-08", frame=_asked, judge=dlq_08, needs=frozenset({"settings"})),
    Query(rule="DLQ-10", frame=locks, judge=dlq_10, needs=frozenset({"lock_token", "settings"})),
    Query(rule="DLQ-11", frame=sends, judge=dlq_11, needs=frozenset({"sent", "settings"})),
)
