"""Every rule over a history: what was decided how often, and what was broken."""

from collections.abc import Collection, Sequence

import attrs
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sf

from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import CONTRACT, nothing_told
from busproof.pipeline.ordering import entities
from busproof.pipeline.reading import Read
from busproof.pipeline.rules import RULES, everything_told
from busproof.pipeline.terms import Held

__all__ = ["Checked", "Example", "Told", "check"]


@attrs.frozen(kw_only=True)
class Example:
    """One violation: where, which events show it, what was allowed and what came."""

    history_id: int
    entity: str
    seqs: tuple[int, ...]
    expected: str
    actual: str


@attrs.frozen(kw_only=True)
class Told:
    """What a history says of a rule: how often it was decided, and how often it was broken."""

    rule: str
    situations: int
    violations: int
    example: Example | None = None


class Checked:
    """A history that was checked.

    Attributes:
        rules: rule id to what was told of it; a rule that decided nothing is not among them.
        violations: every violation, in the columns of `CONTRACT`; made when it is asked for.
    """

    def __init__(self, rules: dict[str, Told], violations: DataFrame) -> None:
        self.rules = rules
        self.violations = violations


def check(
    read: Read, held: Held, rules: Collection[str] = RULES, config: DataFrame | None = None
) -> Checked:
    """Ask every rule that the history's columns allow, in one job.

    Args:
        read: the history.
        held: what it was held to.
        rules: those that apply.
        config: its entities, where the history itself does not tell of their creation.
    """
    known = entities(read.events, held) if config is None else config
    frames = Frames(read.events, known, held)
    told = everything_told(frames, rules, read.absent)
    if told is None:
        return Checked({}, nothing_told(read.events))
    broken = sf.col("broken")
    rows = (
        told.groupBy("rule")
        .agg(
            sf.count("*").alias("situations"),
            sf.count(sf.when(broken, 1)).alias("violations"),
            sf.min_by(
                sf.struct("history_id", "entity", "seqs", "expected", "actual"),
                sf.when(broken, sf.struct(sf.size("seqs"), "history_id", "seqs")),
            ).alias("example"),
        )
        .collect()
    )
    found = {row["rule"]: _told(row) for row in rows}
    return Checked(found, told.where(broken).select(*CONTRACT))


def _told(row: Row) -> Told:
    example = row["example"] if row["violations"] else None
    return Told(
        rule=row["rule"],
        situations=row["situations"],
        violations=row["violations"],
        example=None if example is None else _example(example),
    )


def _example(row: Row) -> Example:
    seqs: Sequence[int] = row["seqs"]
    return Example(
        history_id=row["history_id"],
        entity=row["entity"] or "",
        seqs=tuple(seqs),
        expected=row["expected"] or "",
        actual=row["actual"] or "",
    )
