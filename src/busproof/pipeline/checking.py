"""Checks of histories of any size on Spark: verdicts, violations and unusable lines."""

import json
from typing import Final

import attrs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from busproof import vocabulary as v
from busproof.history.conformance import Conformance
from busproof.history.records import Began, Header, Oracle
from busproof.judging.scenario_result import Checker
from busproof.judging.summary import Summary
from busproof.judging.verdicts import verdicts
from busproof.pipeline import tables
from busproof.pipeline.judge import (
    SUMMARY,
    UNUSABLE,
    VIOLATION,
    judge_records,
    split_into_components,
)
from busproof.pipeline.keeping import keep_rows
from busproof.pipeline.naming import AS_PUBLISHED, Naming
from busproof.pipeline.reading import read
from busproof.pipeline.screening.confirming import conclude, find_suspects, findings_of
from busproof.pipeline.screening.suspicions import suspicions_of
from busproof.pipeline.sources import Source, name_of
from busproof.spec import load

__all__ = ["Checked", "check"]

_LINES_TOLD: Final = 3
_VIOLATION: Final = (
    "rule STRING, part BIGINT, scenario STRING, entity STRING, seqs ARRAY<BIGINT>, "
    "expected STRING, actual STRING"
)
_UNUSABLE: Final = "file STRING, line BIGINT, why STRING, text STRING"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Checked:
    """The result of a check; a notebook shows it as a table.

    Attributes:
        header: the header that all histories share.
        summary: the merged results of all scenarios.
        problems: sentences about unusable lines.
        conformance: the verdicts.
        rows: one row per record, as read.
        violations: one row per component and broken rule: rule, history_id, scenario, entity, seqs
            (the lines that show the violation), expected, actual.
        unusable: one row per unusable line: file, line, history_id, why, text.
        plan: the judging as a query.
    """

    header: Header
    summary: Summary
    problems: tuple[str, ...]
    conformance: Conformance
    rows: DataFrame
    violations: DataFrame
    unusable: DataFrame
    plan: DataFrame

    @property
    def verdicts(self) -> DataFrame:
        """One row per rule: rule, family, title, verdict, cause, events (that the rule decided)."""
        spark = self.rows.sparkSession
        return spark.createDataFrame(list(tables.rows(self.conformance)), tables.VERDICTS)

    def __repr__(self) -> str:
        return tables.headline(self.conformance)

    def _repr_html_(self) -> str:
        return tables.html_table(self.conformance, self.problems)


def check(
    spark: SparkSession,
    source: Source,
    naming: Naming = AS_PUBLISHED,
    oracle: Oracle | None = None,
    *,
    screen: bool = False,
    began: Began | None = None,
) -> Checked:
    """Judge histories with the oracle on Spark's executors.

    Args:
        spark: a Spark session.
        source: the files or the table to read.
        naming: mapping of a table's columns.
        oracle: the oracle to use; by default the one in the header.
        screen: whether to judge only components that look suspicious to `screening`; there are no
            verdicts on the others.
        began: what was there before the histories; by default what their header says.

    Raises:
        HistoryError: the histories cannot be read.
        UsageError: the histories have different terms, or terms that are unknown here.
    """
    history = read(spark, source, naming)
    if began is not None:
        history = attrs.evolve(history, header=attrs.evolve(history.header, began=began))
    terms = Checker(history.header, load(), oracle).terms
    # Without this, splitting histories on a real clock would read the rows several times.
    split = history.header.clock is v.Clock.REAL and not screen
    rows = keep_rows(history.rows) if split else history.rows
    screening = (
        find_suspects(rows, history.header, keep_rows(suspicions_of(history))) if screen else None
    )
    whole = screening.rows if screening else split_into_components(rows, history.header)
    plan = judge_records(whole, history.header, oracle)
    results = keep_rows(plan)
    summary = Summary()
    for row in results.where(sf.col("kind") == SUMMARY).select("told").collect():
        summary.merge(Summary.of(json.loads(row["told"])))
    summary.close()
    unusable = _rows_of_kind(results, UNUSABLE, _UNUSABLE).select(
        "file", "line", "history_id", "why", "text"
    )
    violations = _rows_of_kind(results, VIOLATION, _VIOLATION)
    if problems := _problems(unusable):
        # Some parts of a history may already have violations when another turns out unusable.
        unjudged = unusable.select("history_id").distinct()
        violations = violations.join(sf.broadcast(unjudged), "history_id", "left_anti")
    if screening is None:
        conformance = verdicts(history.header, terms, summary, problems)
    else:
        findings = findings_of(screening, violations)
        conformance = conclude(history.header, terms, summary, findings, problems)
    return Checked(
        header=history.header,
        summary=summary,
        problems=problems,
        conformance=conformance,
        rows=rows,
        violations=violations.select(
            "rule", "history_id", "scenario", "entity", "seqs", "expected", "actual"
        ),
        unusable=unusable,
        plan=plan,
    )


def _rows_of_kind(results: DataFrame, kind: str, fields: str) -> DataFrame:
    rows = results.where(sf.col("kind") == kind)
    return rows.select("history_id", sf.from_json("told", fields).alias("t")).select(
        "history_id", "t.*"
    )


def _problems(unusable: DataFrame) -> tuple[str, ...]:
    """Return why the verdicts are incomplete: at most one sentence."""
    counted = unusable.agg(
        sf.count("*").alias("lines"), sf.count_distinct("history_id").alias("histories")
    )
    ((lines, histories),) = counted.collect()
    if not lines:
        return ()
    first = unusable.orderBy("file", "line").limit(_LINES_TOLD).collect()
    reasons = "; ".join(f"{name_of(row['file'])}:{row['line']}: {row['why']}" for row in first)
    return (
        f"{lines} line{'s' if lines > 1 else ''} could not be read or used, so that "
        f"{histories} histor{'ies were' if histories > 1 else 'y was'} not judged: {reasons}",
    )
