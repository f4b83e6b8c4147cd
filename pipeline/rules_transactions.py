"""Transactions: one key in each, and nothing of one before its end."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.deliveries import named
from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.schema import NEVER
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]


def _transacted(frames: Frames) -> DataFrame:
    """One row a transaction and partitioned entity: the keys of the sends that were accepted."""
    session, partition = sf.col("sent.session_id"), sf.col("sent.partition_key")
    own = sf.when(sf.col("detecting"), sf.col("sent.message_id"))
    clear = ~session.eqNullSafe("") & ~partition.eqNullSafe("") & ~own.eqNullSafe("")
    accepted = (
        sf.col("transaction").isNotNull() & (sf.col("outcome") == "Done") & sf.col("partitioned")
    )
    sends = frames.sends.where(accepted & clear & (sf.col("op") == "Send"))
    once = frames.transactions.where(sf.col("begun") == 1).select("history_id", "transaction")
    return (
        sends.join(once, ["history_id", "transaction"], "inner")
        .groupBy("history_id", "entity", "transaction")
        .agg(
            sf.first("requires_session").alias("requires_session"),
            sf.array_sort(sf.collect_set(sf.coalesce(session, partition, own))).alias("keys"),
            sf.array_sort(sf.collect_list("seq")).alias("seqs"),
        )
    )


def _one_key(held: Held, *, sessions: bool) -> Judgement | None:
    if held.reads("TXN-REFUSAL") != "at-send":
        return None
    aware = sf.col("requires_session")
    what = "session" if sessions else "key"
    return Judgement(
        situation=(aware if sessions else ~aware) & (sf.size("seqs") > 1),
        broken=sf.size("keys") > 1,
        seqs=sf.col("seqs"),
        expected=f"a refusal: another {what} than the transaction's first",
        actual=sf.concat(
            sf.lit(f"sends with these {what}s were accepted: "),
            sf.array_join(sf.col("keys"), ", "),
        ),
    )


def txn_04(held: Held) -> Judgement | None:
    """TXN-04: different keys in one transaction are refused."""
    return _one_key(held, sessions=False)


def txn_08(held: Held) -> Judgement | None:
    """TXN-08: two sessions in one transaction are refused."""
    return _one_key(held, sessions=True)


def _staged(frames: Frames) -> DataFrame:
    """Messages that were sent in a transaction, with what ended it."""
    within = sf.col("send.transaction").isNotNull() & (sf.col("send.op") == "Send")
    staged = frames.messages.where(within & sf.col("once"))
    named = staged.withColumn("transaction", sf.col("send.transaction"))
    return named.join(
        frames.transactions.where(sf.col("begun") == 1), ["history_id", "transaction"], "inner"
    )


def txn_12(_: Held) -> Judgement:
    """TXN-12: nothing of a transaction is receivable before its commit."""
    never = sf.lit(NEVER)
    limit = sf.least(sf.coalesce("commit_lo", never), sf.coalesce("back_lo", never))
    early = sf.filter(sf.col("views"), lambda view: view["hi"] < limit)
    return Judgement(
        situation=sf.col("commit_lo").isNotNull() | (sf.size(early) > 0),
        broken=sf.size(early) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.get(early, sf.lit(0))["seq"]),
        expected="nothing of the transaction before it is committed",
        actual=named("", "was seen before"),
    )


def txn_13(_: Held) -> Judgement:
    """TXN-13: what was rolled back is never received or shown."""
    back = sf.col("commit_lo").isNull() & sf.col("back_lo").isNotNull()
    late = sf.filter(sf.col("views"), lambda view: view["hi"] >= sf.col("back_lo"))
    return Judgement(
        situation=back,
        broken=sf.size(late) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.col("back_seq"), sf.get(late, sf.lit(0))["seq"]),
        expected="nothing of a transaction that was rolled back",
        actual=named("", "was seen"),
    )


_NEEDS = frozenset({"sent", "seen", "settings", "transaction"})

QUERIES = (
    Query(rule="TXN-04", frame=_transacted, judge=txn_04, needs=_NEEDS),
    Query(rule="TXN-08", frame=_transacted, judge=txn_08, needs=_NEEDS),
    Query(rule="TXN-12", frame=_staged, judge=txn_12, needs=_NEEDS),
    Query(rule="TXN-13", frame=_staged, judge=txn_13, needs=_NEEDS),
)
