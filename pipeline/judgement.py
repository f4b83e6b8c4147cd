"""A rule as a query: over which frame, when its situation arose, when it was broken.

The rules of one frame are asked in one pass over it (`told`); each can be asked alone as well
(`violations`). Both give the same columns.
"""

from collections.abc import Callable, Sequence
from typing import Final

import attrs
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from busproof.pipeline.frames import Frames
from busproof.pipeline.terms import Held

__all__ = ["CONTRACT", "Judgement", "Query", "nothing_told", "told", "violations"]

CONTRACT: Final = ("rule", "history_id", "entity", "seqs", "expected", "actual")
"""The columns of every table of violations; `seqs` are the events concerned."""


@attrs.frozen(kw_only=True, eq=False)
class Judgement:
    """What a rule says of one row of its frame.

    Attributes:
        situation: whether the rule decides anything here; where it does not, nothing is said.
        broken: whether it is broken.
        seqs: the events that show it, the one to blame last.
        expected: what was allowed, in words.
        actual: what came instead, in words.
    """

    situation: Column
    broken: Column
    seqs: Column
    expected: Column | str
    actual: Column | str


@attrs.frozen(kw_only=True)
class Query:
    """A rule as a query.

    Attributes:
        rule: its id.
        frame: what it is asked of; rules with one frame share its cost.
        judge: its judgement, `None` where the readings taken let nothing be judged.
        needs: columns of the published schema without which it cannot be judged.
    """

    rule: str
    frame: Callable[[Frames], DataFrame]
    judge: Callable[[Held], Judgement | None]
    needs: frozenset[str] = frozenset()


def told(
    frame: DataFrame, queries: Sequence[Query], held: Held, *, only_broken: bool = False
) -> DataFrame | None:
    """Every situation of these rules in one frame, in one pass, and whether it was broken.

    Args:
        frame: what the rules are asked of.
        queries: the rules, all of this frame.
        held: what the history was held to.
        only_broken: whether the situations that are not are left out.
    """
    judged = [(query.rule, each) for query in queries if (each := query.judge(held)) is not None]
    if not judged:
        return None
    rows = []
    for rule, each in judged:
        concerned = each.situation & each.broken if only_broken else each.situation
        rows.append(sf.when(sf.coalesce(concerned, sf.lit(False)), _row(rule, each)))
    found = frame.select(
        "history_id", "entity", sf.explode(sf.array_compact(sf.array(*rows))).alias("t")
    )
    return found.select(
        "t.rule", "history_id", "entity", "t.seqs", "t.expected", "t.actual", "t.broken"
    )


def violations(query: Query, frames: Frames) -> DataFrame:
    """The violations of one rule; empty where it held."""
    judgement = query.judge(frames.held)
    frame = query.frame(frames)
    if judgement is None:
        return _with_contract(frame.where(sf.lit(False)), query.rule, None)
    wrong = sf.coalesce(judgement.situation & judgement.broken, sf.lit(False))
    return _with_contract(frame.where(wrong), query.rule, judgement)


def nothing_told(events: DataFrame) -> DataFrame:
    """No violations, in the columns of `CONTRACT`."""
    return _with_contract(events.where(sf.lit(False)), "", None)


def _with_contract(rows: DataFrame, rule: str, judgement: Judgement | None) -> DataFrame:
    nothing = Judgement(
        situation=sf.lit(False),
        broken=sf.lit(False),
        seqs=sf.array().cast("array<bigint>"),
        expected="",
        actual="",
    )
    each = judgement or nothing
    return rows.select(
        sf.lit(rule).alias("rule"),
        "history_id",
        "entity",
        each.seqs.cast("array<bigint>").alias("seqs"),
        _words(each.expected).alias("expected"),
        _words(each.actual).alias("actual"),
    )


def _row(rule: str, judgement: Judgement) -> Column:
    """What is told of a situation; its words only where it was broken."""
    broken = sf.coalesce(judgement.broken, sf.lit(False))

    def where_broken(value: Column) -> Column:
        return sf.when(broken, value)

    return sf.struct(
        sf.lit(rule).alias("rule"),
        where_broken(judgement.seqs.cast("array<bigint>")).alias("seqs"),
        where_broken(_words(judgement.expected)).alias("expected"),
        where_broken(_words(judgement.actual)).alias("actual"),
        broken.alias("broken"),
    )


def _words(value: Column | str) -> Column:
    return sf.lit(value) if isinstance(value, str) else value.cast("string")
