"""Every rule over a history: what was decided how often, and what was broken."""

from collections.abc import Callable, Collection, Sequence

import attrs
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sf

from busproof.pipeline.frames import Frames
from busproof.pipeline.judgement import CONTRACT, Query, nothing_told, told
from busproof.pipeline.keeping import kept
from busproof.pipeline.ordering import entities
from busproof.pipeline.reading import Read
from busproof.pipeline.rules import RULES, by_frame
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
        violations: every violation, in the columns of `CONTRACT`.
        plans: what was computed, one table a frame.
    """

    def __init__(
        self, rules: dict[str, Told], violations: DataFrame, plans: tuple[DataFrame, ...]
    ) -> None:
        self.rules = rules
        self.violations = violations
        self.plans = plans


def check(
    read: Read,
    held: Held,
    rules: Collection[str] | None = None,
    config: DataFrame | None = None,
    done: Callable[[int], None] = lambda _: None,
) -> Checked:
    """Ask every rule that the history's columns allow.

    Args:
        read: the history.
        held: what it was held to.
        rules: those that apply; by default all of which its terms say something.
        config: its entities, where the history itself does not tell of their creation.
        done: is told how many frames have been gone through.
    """
    asked = RULES - held.profile.silent if rules is None else rules
    known = entities(read.events, held) if config is None else config
    found: dict[str, Told] = {}
    broken = nothing_told(read.events)
    plans = []
    for frame, queries in by_frame(Frames(read.events, known, held), asked, read.absent):
        situations = told(frame, queries, held)
        if situations is None:
            continue
        here = _counted(situations)
        found |= {each.rule: _added(found.get(each.rule), each) for each in here}
        wrong = _broken(frame, queries, held, {each.rule for each in here if each.violations})
        if wrong is not None:
            broken = broken.unionByName(wrong)
        plans.append(situations)
        done(len(plans))
    return Checked(found, broken, tuple(plans))


def _broken(
    frame: DataFrame, queries: Sequence[Query], held: Held, rules: Collection[str]
) -> DataFrame | None:
    """The violations of these rules, found once and kept; most frames have none."""
    concerned = [query for query in queries if query.rule in rules]
    wrong = told(frame, concerned, held, only_broken=True)
    return None if wrong is None else kept(wrong.select(*CONTRACT))


def _counted(situations: DataFrame) -> list[Told]:
    """How often each rule of a frame was decided and broken, with the shortest example."""
    broken = sf.col("broken")
    rows = (
        situations.groupBy("rule")
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
    return [_told(row) for row in rows]


def _added(before: Told | None, more: Told) -> Told:
    """What two frames tell of one rule."""
    if before is None:
        return more
    return attrs.evolve(
        before,
        situations=before.situations + more.situations,
        violations=before.violations + more.violations,
        example=before.example or more.example,
    )


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
