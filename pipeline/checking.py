"""Histories of any size, judged on Spark: the verdicts, every violation, every unusable line."""

import json
from typing import Final

import attrs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from busproof.history.conformance import Conformance
from busproof.history.records import Header, Oracle
from busproof.judging.scenario_result import Checker
from busproof.judging.summary import Summary
from busproof.judging.verdicts import verdicts
from busproof.pipeline.judge import SUMMARY, UNUSABLE, VIOLATION, judged
from busproof.pipeline.keeping import kept
from busproof.pipeline.naming import AS_PUBLISHED, Naming
from busproof.pipeline.reading import read
from busproof.pipeline.sources import Source, name_of
from busproof.spec import load
from busproof.vocabulary.values import Clock

__all__ = ["Checked", "check"]

_LINES_TOLD: Final = 3
_VIOLATION: Final = (
    "rule STRING, scenario STRING, entity STRING, seqs ARRAY<BIGINT>, expected STRING, "
    "actual STRING"
)
_UNUSABLE: Final = "file STRING, line BIGINT, why STRING, text STRING"


@attrs.frozen(kw_only=True, eq=False)
class Checked:
    """Histories that were judged.

    Attributes:
        header: what they say of themselves.
        summary: what all scenarios came to.
        problems: sentences on lines that could not be used.
        conformance: the verdicts.
        rows: one a record, as it was read.
        violations: one a rule and component that breaks it: rule, history_id, scenario, entity,
            seqs (the lines that show it), expected, actual.
        unusable: one a line that could not be used: file, line, history_id, why, text.
        plan: what was computed.
    """

    header: Header
    summary: Summary
    problems: tuple[str, ...]
    conformance: Conformance
    rows: DataFrame
    violations: DataFrame
    unusable: DataFrame
    plan: DataFrame


def check(
    spark: SparkSession,
    source: Source,
    naming: Naming = AS_PUBLISHED,
    oracle: Oracle | None = None,
) -> Checked:
    """Judge histories with the oracle itself, on Spark's executors.

    Args:
        spark: a session.
        source: where they lie.
        naming: how the columns of a table are called.
        oracle: how they are judged; by default as their header says.

    Raises:
        HistoryError: they cannot be read.
        UsageError: they were held to different terms, or name what is not known here.
    """
    found = read(spark, source, naming)
    terms = Checker(found.header, load(), oracle).terms
    # To be cut into parts, lines are gone through several times.
    rows = kept(found.rows) if found.header.clock is Clock.REAL else found.rows
    plan = judged(rows, found.header, oracle)
    said = kept(plan)
    summary = Summary()
    for row in said.where(sf.col("kind") == SUMMARY).select("told").collect():
        summary.merge(Summary.of(json.loads(row["told"])))
    summary.close()
    unusable = _told(said, UNUSABLE, _UNUSABLE).select("file", "line", "history_id", "why", "text")
    violations = _told(said, VIOLATION, _VIOLATION)
    if problems := _problems(unusable):
        # Parts of a history may have been judged before it was known that another is unusable.
        unjudged = unusable.select("history_id").distinct()
        violations = violations.join(sf.broadcast(unjudged), "history_id", "left_anti")
    return Checked(
        header=found.header,
        summary=summary,
        problems=problems,
        conformance=verdicts(found.header, terms, summary, problems),
        rows=rows,
        violations=violations.select(
            "rule", "history_id", "scenario", "entity", "seqs", "expected", "actual"
        ),
        unusable=unusable,
        plan=plan,
    )


def _told(said: DataFrame, kind: str, fields: str) -> DataFrame:
    rows = said.where(sf.col("kind") == kind)
    return rows.select("history_id", sf.from_json("told", fields).alias("t")).select(
        "history_id", "t.*"
    )


def _problems(unusable: DataFrame) -> tuple[str, ...]:
    """What keeps the verdicts from being complete, in a sentence."""
    counted = unusable.agg(
        sf.count("*").alias("lines"), sf.count_distinct("history_id").alias("histories")
    )
    ((lines, histories),) = counted.collect()
    if not lines:
        return ()
    first = unusable.orderBy("file", "line").limit(_LINES_TOLD).collect()
    told = "; ".join(f"{name_of(row['file'])}:{row['line']}: {row['why']}" for row in first)
    return (
        f"{lines} line{'s' if lines > 1 else ''} could not be read or used, so that "
        f"{histories} histor{'ies were' if histories > 1 else 'y was'} not judged: {told}",
    )
