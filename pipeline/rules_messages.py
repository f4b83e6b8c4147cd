"""What becomes of a message, from its send to where it was seen last.

A message is told from others by its body. Where a queue was sent one body several times, most rules
say nothing: a view may be of either.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.schema import NEVER, PROPERTIES
from busproof.pipeline.terms import Held

__all__ = ["QUERIES"]


def _messages(frames: Frames) -> DataFrame:
    return frames.messages


def _views() -> Column:
    """Every sight of the message outside of the dead-letter queue: seq, lo, hi, v."""

    def place(each: Column) -> Column:
        return sf.struct(each["seq"], each["lo"], each["hi"], each["v"])

    return sf.concat(sf.transform("live", place), sf.transform("shown", place))


def _named(words: str, after: str) -> Column:
    return sf.concat(sf.lit(f"{words} '"), sf.col("body"), sf.lit(f"' {after}"))


def _same(sent: Column, seen: Column) -> Column:
    """Whether a property came back; an empty one may come back as none."""
    return sf.nullif(sent, sf.lit("")).eqNullSafe(sf.nullif(seen, sf.lit("")))


def _is_unchanged(sent: Column, view: Column, held: Held) -> Column:
    """Whether this may be a view of this message."""
    keyed_by_session = sent["partition_key"].isNull() & (
        view["partition_key"] == sent["session_id"]
    )
    same = _same(sent["session_id"], view["session_id"]) & (
        _same(sent["partition_key"], view["partition_key"])
        | sf.coalesce(keyed_by_session, sf.lit(False))
    )
    for name in PROPERTIES:
        same = same & _same(sent[name], view[name])
    own = _same(sent["message_id"], view["message_id"])
    if held.library:
        assigned = sent["message_id"].isNull() & (sf.coalesce(view["message_id"], sf.lit("")) != "")
        own = (sent["message_id"].isNotNull() & own) | assigned
    return same & own & _same_properties(sent["properties"], view["properties"])


def _same_properties(sent: Column, seen: Column) -> Column:
    """Whether the application's properties came back; numbers may come back written otherwise."""
    empty = sf.map_from_arrays(sf.array().cast("array<string>"), sf.array().cast("array<string>"))
    mine, theirs = sf.coalesce(sent, empty), sf.coalesce(seen, empty)

    def comes_back(name: Column) -> Column:
        one, other = sf.try_element_at(mine, name), sf.try_element_at(theirs, name)
        as_numbers = one.try_cast("double") == other.try_cast("double")
        return one.eqNullSafe(other) | sf.coalesce(as_numbers, sf.lit(False))

    names = sf.array_union(sf.map_keys(mine), sf.map_keys(theirs))
    return sf.forall(names, comes_back)


def life_01(held: Held) -> Judgement:
    """LIFE-01: what is given or shown was sent to the queue before, and is unchanged."""
    views = _views()

    def fits(view: Column) -> Column:
        return sf.exists(
            "sends",
            lambda send: (send["lo"] <= view["hi"]) & _is_unchanged(send["sent"], view["v"], held),
        )

    wrong = sf.filter(views, lambda view: ~fits(view))
    first = sf.get(wrong, sf.lit(0))
    sent = sf.transform("sends", lambda send: send["seq"])
    never = sf.size("sends") == 0
    return Judgement(
        situation=sf.size(views) > 0,
        broken=sf.size(wrong) > 0,
        seqs=sf.concat(sent, sf.array(first["seq"])),
        expected=sf.when(never, sf.lit("only messages that were sent")).otherwise(
            sf.lit("the message as it was sent, after it was sent")
        ),
        actual=sf.when(never, _named("", "was never sent")).otherwise(
            _named("", "was seen with other properties, or before it was sent")
        ),
    )


def _removals() -> Column:
    """What surely took the message out of the queue: seq, lo, hi, given."""

    def completions(give: Column) -> Column:
        done = sf.filter(give["acts"], lambda act: act["done"] & (act["op"] == "Complete"))
        return sf.transform(
            done,
            lambda act: sf.struct(
                act["seq"], act["lo"], act["hi"], sf.lit(False).alias("deleting")
            ),
        )

    deleted = sf.transform(
        sf.filter("live", lambda give: give["deleting"]),
        lambda give: sf.struct(give["seq"], give["lo"], give["hi"], sf.lit(True).alias("deleting")),
    )
    return sf.concat(deleted, sf.flatten(sf.transform("live", completions)))


def life_03(_: Held) -> Judgement:
    """LIFE-03: what was completed, or received and deleted, is not received or shown again."""
    removals, views = _removals(), _views()

    def comes_again(removal: Column) -> Column:
        return sf.filter(
            views,
            lambda view: (view["seq"] != removal["seq"]) & (removal["hi"] < view["lo"]),
        )

    after = sf.flatten(sf.transform(removals, comes_again))
    deletions = sf.filter(removals, lambda removal: removal["deleting"])
    twice = sf.size(deletions) > 1
    last = sf.when(sf.size(after) > 0, sf.get(after, sf.lit(0))["seq"]).otherwise(
        sf.get(deletions, sf.lit(1))["seq"]
    )
    gone = sf.transform(removals, lambda removal: removal["seq"])
    return Judgement(
        situation=sf.col("once") & (sf.size(removals) > 0),
        broken=(sf.size(after) > 0) | twice,
        seqs=sf.concat(sf.array_except(gone, sf.array(last)), sf.array(last)),
        expected=_named("never again", "which is gone"),
        actual=_named("", "was seen again"),
    )


def _given_again() -> Column:
    """Receives that gave the message while another's lock surely lasted, as its later use shows."""

    def within(one: Column) -> Column:
        uses = sf.filter(one["acts"], lambda act: act["done"])
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
        actual=_named("", "was given again before"),
    )


def life_12(_: Held) -> Judgement:
    """LIFE-12: every sight of a message names the same partition, by the same number."""
    numbers = sf.array_distinct(
        sf.array_compact(
            sf.transform(
                sf.filter(
                    _views(), lambda view: ~view["v"]["state"].eqNullSafe(sf.lit("scheduled"))
                ),
                lambda view: view["v"]["sequence_number"],
            )
        )
    )
    seqs = sf.array_distinct(
        sf.concat(
            sf.transform("sends", lambda send: send["seq"]),
            sf.transform("shown", lambda peek: peek["seq"]),
            sf.transform("live", lambda give: give["seq"]),
        )
    )
    sights = sf.size("live") + sf.size("shown") + sf.size("sends")
    plainly_sent = sf.col("send.op") == "Send"
    return Judgement(
        situation=sf.col("once")
        & plainly_sent
        & sf.col("partitioned")
        & (sf.size("partitions") > 0)
        & (sights > 1),
        broken=(sf.size("partitions") > 1) | (sf.size(numbers) > 1),
        seqs=seqs,
        expected="one partition and one sequence number",
        actual=sf.concat(
            sf.lit("numbers "),
            sf.array_join(numbers.cast("array<string>"), ", "),
            sf.lit(", partitions "),
            sf.array_join(sf.col("partitions").cast("array<string>"), ", "),
        ),
    )


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
    early = sf.filter(_views(), lambda view: view["hi"] < limit)
    return Judgement(
        situation=sf.col("commit_lo").isNotNull() | (sf.size(early) > 0),
        broken=sf.size(early) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.get(early, sf.lit(0))["seq"]),
        expected="nothing of the transaction before it is committed",
        actual=_named("", "was seen before"),
    )


def txn_13(_: Held) -> Judgement:
    """TXN-13: what was rolled back is never received or shown."""
    back = sf.col("commit_lo").isNull() & sf.col("back_lo").isNotNull()
    late = sf.filter(_views(), lambda view: view["hi"] >= sf.col("back_lo"))
    return Judgement(
        situation=back,
        broken=sf.size(late) > 0,
        seqs=sf.array(sf.col("send.seq"), sf.col("back_seq"), sf.get(late, sf.lit(0))["seq"]),
        expected="nothing of a transaction that was rolled back",
        actual=_named("", "was seen"),
    )


_NEEDS = frozenset({"sent", "seen", "settings"})
_LOCKED = _NEEDS | {"lock_token", "mode"}
_IN_TRANSACTION = _NEEDS | {"transaction"}

QUERIES = (
    Query(rule="LIFE-01", frame=_messages, judge=life_01, needs=_NEEDS),
    Query(rule="LIFE-02", frame=_messages, judge=life_02, needs=_LOCKED),
    Query(rule="LIFE-03", frame=_messages, judge=life_03, needs=_LOCKED),
    Query(rule="LIFE-06", frame=_messages, judge=life_06, needs=_LOCKED),
    Query(rule="LIFE-12", frame=_messages, judge=life_12, needs=_NEEDS),
    Query(rule="LOCK-05", frame=_messages, judge=lock_05, needs=_LOCKED),
    Query(rule="LOCK-06", frame=_messages, judge=lock_06, needs=_LOCKED),
    Query(rule="TXN-12", frame=_staged, judge=txn_12, needs=_IN_TRANSACTION),
    Query(rule="TXN-13", frame=_staged, judge=txn_13, needs=_IN_TRANSACTION),
)
