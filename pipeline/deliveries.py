"""What became of a delivery, as far as it is sure: Spark's words for one element of `live`.

`by` is another event: a receive, a peek or a request with `lo`, `hi`, `t_lo` and `t_hi`.
"""

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as sf

from busproof.pipeline.terms import Held

__all__ = [
    "acted",
    "failed",
    "has_lock",
    "locked_until",
    "most_failed",
    "named",
    "pairs",
    "surely_done",
    "untouched",
]


def has_lock(give: Column) -> Column:
    """Whether it came with a lock whose token is known, so that all asked of it is known too."""
    return ~give["deleting"] & give["v"]["lock_token"].isNotNull()


def surely_done(give: Column, *ops: str) -> Column:
    """The requests of these kinds on its lock that succeeded."""
    return sf.filter(give["acts"], lambda act: act["done"] & act["op"].isin(*ops))


def acted(give: Column, *ops: str) -> Column:
    """The requests of these kinds on its lock that may have succeeded."""
    return sf.filter(give["acts"], lambda act: act["taken"] & act["op"].isin(*ops))


def untouched(give: Column, by: Column) -> Column:
    """Whether nothing had been asked of its lock by then."""
    return has_lock(give) & ~sf.exists(
        give["acts"], lambda act: act["taken"] & (act["lo"] <= by["hi"])
    )


def locked_until(give: Column, held: Held) -> Column:
    """Until when it surely locks the message, if nothing is asked of its lock."""
    return sf.least(give["until"], give["t_lo"] + sf.col("lock")) - held.slack


def failed(give: Column, by: Column, held: Held) -> Column:
    """Whether its lock surely ended before, by abandoning or by itself."""
    abandoned = sf.exists(surely_done(give, "Abandon"), lambda act: act["hi"] < by["lo"])
    over = give["t_hi"] + sf.col("lock") + held.slack
    return abandoned | (untouched(give, by) & (by["t_lo"] > over))


def most_failed(by: Column, held: Held) -> Column:
    """How many deliveries of the message may have failed by then, seen or unseen.

    A front end may have cached it and let its lock expire, as often as locks fit into the time.
    """
    known = sf.size(sf.filter("live", lambda give: give["lo"] <= by["hi"]))
    unseen = (by["t_hi"] - sf.col("send.t_lo")) / (sf.col("lock") - held.slack)
    possible = sf.when(sf.col("lock") > held.slack, sf.floor(unseen))
    return known + sf.col("lost_receives") + sf.coalesce(possible, sf.lit(2**31))


def pairs(first: str, second: str, when: Callable[[Column, Column], Column]) -> Column:
    """Each element of one array with one of the other for which this is true: one, other (seq)."""

    def beside(one: Column) -> Column:
        return sf.transform(
            sf.filter(second, lambda other: when(one, other)),
            lambda other: sf.struct(one["seq"].alias("one"), other["seq"].alias("other")),
        )

    return sf.flatten(sf.transform(first, beside))


def named(words: str, after: str) -> Column:
    """A sentence with the message's body in it."""
    return sf.concat(sf.lit(f"{words}'"), sf.col("body"), sf.lit(f"' {after}"))
