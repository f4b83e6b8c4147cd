"""What becomes of a message, from its send to where it was seen last.

A message is told from others by its body. Where a queue was sent one body several times, most rules
say nothing: a view may be of either.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.deliveries import named
from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import Judgement, Query
from busproof.pipeline.schema import PROPERTIES
from busproof.pipeline.terms import Held

__all__ = ["QUERIES", "is_unchanged", "removals_of"]


def _messages(frames: Frames) -> DataFrame:
    return frames.messages


def _same(sent: Column, seen: Column) -> Column:
    """Whether a property came back; an empty one may come back as none."""
    return sf.nullif(sent, sf.lit("")).eqNullSafe(sf.nullif(seen, sf.lit("")))


def is_unchanged(sent: Column, view: Column, held: Held) -> Column:
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
    views = sf.col("views")

    def fits(view: Column) -> Column:
        return sf.exists(
            "sends",
            lambda send: (send["lo"] <= view["hi"]) & is_unchanged(send["sent"], view["v"], held),
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
        actual=sf.when(never, named("", "was never sent")).otherwise(
            named("", "was seen with other properties, or before it was sent")
        ),
    )


def removals_of() -> Column:
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
    removals, views = removals_of(), sf.col("views")

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
        expected=named("never again ", "which is gone"),
        actual=named("", "was seen again"),
    )


def life_12(_: Held) -> Judgement:
    """LIFE-12: every sight of a message names the same partition, by the same number."""
    numbers = sf.array_distinct(
        sf.array_compact(
            sf.transform(
                sf.filter(
                    "views", lambda view: ~view["v"]["state"].eqNullSafe(sf.lit("scheduled"))
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


_NEEDS = frozenset({"sent", "seen", "settings"})

QUERIES = (
    Query(rule="LIFE-01", frame=_messages, judge=life_01, needs=_NEEDS),
    Query(rule="LIFE-03", frame=_messages, judge=life_03, needs=_NEEDS | {"lock_token", "mode"}),
    Query(rule="LIFE-12", frame=_messages, judge=life_12, needs=_NEEDS),
)
