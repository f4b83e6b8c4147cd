"""`busproof check --engine spark`: verdicts from what the queries tell of a history of any size."""

import argparse
import contextlib
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as sf

from busproof.errors import HistoryError, SparkError, UsageError
from busproof.history.codec import structure_union, unstructure
from busproof.history.conformance import Conformance, Counterexample, RuleVerdict, Verdict
from busproof.history.lines import decode_line
from busproof.history.records import AGAIN, EXPLORATION, REPEATED, Header, Oracle, Record
from busproof.judging.applicability import Terms, auto_oracle
from busproof.judging.verdicts import NEVER_AROSE, exit_code, profile_of, subject_of
from busproof.pipeline.checking import Checked, Told, check
from busproof.pipeline.coverage import without_query
from busproof.pipeline.naming import AS_PUBLISHED, Naming, read_naming
from busproof.pipeline.opening import opened
from busproof.pipeline.rules import RULES, missing_columns
from busproof.pipeline.session import said_by_spark, settings_from, spark_session_for_now
from busproof.pipeline.sources import Source, find_source, write_header
from busproof.pipeline.terms import Held
from busproof.saying import write_aside
from busproof.spec import Catalogue, Rule
from busproof.spec import load as load_catalogue
from busproof.vocabulary.outcomes import Event

__all__ = ["Checking", "judged"]

UNJUDGED: Final = "the engine spark has no query for it: {}; --engine local judges it"
_LINES_TOLD: Final = 3
_ENDINGS_TOLD: Final = 1_000
"""Scenarios that did not pass, of which each is looked at."""


def judged(args: argparse.Namespace) -> Conformance:
    """The verdicts on a history, by Spark.

    Raises:
        UsageError: the history, or what is asked of it, does not exist or does not fit.
        HistoryError: the history cannot be read.
        SparkError: Spark cannot be started, or broke off.
    """
    source = find_source(str(args.history))
    for option, place in (("--as-table", args.as_table), ("--violations", args.violations)):
        if place is not None and place.exists():
            raise UsageError(
                f"{option} is {place}, which is there already; name a folder that is not"
            )
    conf = settings_from(args.conf or [])
    with spark_session_for_now(master=args.master, remote=args.remote, conf=conf) as spark:
        try:
            return Checking(spark, source, args).conformance()
        except Exception as error:
            if (said := said_by_spark(error)) is None:
                raise
            raise SparkError(f"Spark broke off: {said}") from None


class Checking:
    """Histories of one implementation being checked.

    Attributes:
        header: what they say of themselves.

    Raises:
        UsageError: they were held to different terms, or name what is not known here.
        HistoryError: one of them cannot be read.
    """

    def __init__(self, spark: SparkSession, source: Source, args: argparse.Namespace) -> None:
        self._spark = spark
        self._args = args
        self._catalogue: Catalogue = load_catalogue()
        self._read, self.header = opened(spark, source, _naming_of(args, source))
        profile = profile_of(self._catalogue, self.header)
        asked = None if args.oracle is None else Oracle(args.oracle)
        oracle = asked or self.header.oracle or auto_oracle(self.header.capabilities)
        self._terms = Terms.of(self._catalogue, self.header, profile, oracle)
        self._held = Held.of(self._catalogue, self.header)

    def conformance(self) -> Conformance:
        """Every verdict; what was asked for besides is written."""
        events = self._read.events.count()
        endings = self._endings()
        applicable = [
            rule.id for rule in self._catalogue.rules if not self._terms.inapplicable(rule)
        ]
        checked = check(self._read, self._held, applicable)
        rules = tuple(
            self._verdict(rule, checked, endings)
            for rule in self._catalogue.rules
            if rule.shown_by != "never"
        )
        problems = (*self._problems(events), *endings.problems(self.header))
        self._write(checked)
        return Conformance(
            catalogue=self._catalogue.version,
            subject=subject_of(self.header, self._terms),
            oracle=self._terms.oracle.value,
            rules=rules,
            scenarios=endings.counts,
            events=events,
            exit_code=exit_code(rules, problems),
            problems=problems,
        )

    def _verdict(  # noqa: PLR0911 - one return a verdict
        self, rule: Rule, checked: Checked, endings: "_Endings"
    ) -> RuleVerdict:
        told = RuleVerdict(
            id=rule.id,
            title=rule.title,
            verdict=Verdict.NOT_SHOWN,
            oracle=self._terms.oracle.value,
            cause=NEVER_AROSE,
        )
        if cause := self._terms.inapplicable(rule):
            return _with(told, verdict=Verdict.NOT_APPLICABLE, cause=cause, oracle="")
        if absent := missing_columns(rule.id, self._read.absent):
            names = sorted(name for each in absent for name in self._read.lacking[each])
            cause = f"columns: the history has no {', '.join(names)}"
            return _with(told, verdict=Verdict.NOT_APPLICABLE, cause=cause, oracle="")
        found = checked.rules.get(rule.id)
        if found is not None and found.violations:
            return self._violated(told, found)
        if rule.id in endings.failed:
            return _failed(told, endings.failed[rule.id])
        if rule.id not in RULES:
            cause = UNJUDGED.format(without_query()[rule.id])
            return _with(told, verdict=Verdict.INCONCLUSIVE, cause=cause)
        if rule.id in endings.errored:
            return _with(told, verdict=Verdict.ERRORED, cause=endings.errored[rule.id])
        if found is not None and found.situations:
            return _with(told, verdict=Verdict.SHOWN, cause="", events=found.situations)
        return told

    def _violated(self, told: RuleVerdict, found: Told) -> RuleVerdict:
        example = found.example
        if example is None:
            raise AssertionError("a violation has an example")
        name = self._name_of(example.history_id)
        many = "" if found.violations == 1 else "s"
        return _with(
            told,
            verdict=Verdict.VIOLATED,
            cause=f"{found.violations} counterexample{many}",
            events=found.situations,
            scenarios=(name,) if name else (),
            counterexample=Counterexample(
                scenario=name,
                events=tuple(self._events(example.history_id, example.seqs)),
                seen=example.actual,
                allowed=(example.expected,),
            ),
        )

    def _name_of(self, history_id: int) -> str:
        scenarios = self._read.scenarios
        if scenarios is None:
            return f"history {history_id}"
        rows = scenarios.where(sf.col("history_id") == history_id).select("scenario").collect()
        return rows[0]["scenario"] or "" if rows else ""

    def _events(self, history_id: int, seqs: Sequence[int]) -> Iterator[Event]:
        """The events concerned, as they were recorded; a table has them no more as such."""
        if self._read.texts is None:
            return
        wanted = (sf.col("history_id") == history_id) & sf.col("line").isin(list(seqs))
        rows = {row["line"]: row["text"] for row in self._read.texts.where(wanted).collect()}
        for seq in seqs:
            if seq in rows:
                event = structure_union(decode_line(rows[seq].encode()), Record, "the record")
                if isinstance(event, Event):
                    yield event

    def _endings(self) -> "_Endings":
        if self._read.scenarios is None:
            return _Endings([], Counter())
        told = self._read.scenarios.where(
            sf.col("scenario").isNotNull() | (sf.col("events") > 0)
        ).withColumn("sequence", sf.coalesce("feature", sf.lit("")).isin(EXPLORATION, AGAIN))
        ending = sf.coalesce(
            "verdict",
            sf.when(sf.coalesce("scenario", sf.lit("")) != "", "interrupted").otherwise("recorded"),
        )
        named = told.withColumn("ending", ending).withColumn("again", _tried_again()).persist()
        counted = named.where(~sf.col("sequence") & ~sf.col("again")).groupBy("ending").count()
        counts = {row["ending"]: row["count"] for row in counted.collect()}
        fine = sf.col("ending").isin("passed", "recorded", "not-applicable")
        others = named.where(~fine).limit(_ENDINGS_TOLD).collect()
        named.unpersist()
        return _Endings(others, Counter(counts))

    def _problems(self, events: int) -> tuple[str, ...]:
        """What keeps the verdicts from being complete."""
        quarantine = self._read.quarantine
        lines = quarantine.count()
        problems = [] if events else ["the history has no events; nothing was judged"]
        if lines:
            first = quarantine.orderBy("file", "line").limit(_LINES_TOLD).collect()
            told = "; ".join(
                f"{Path(row['file']).name}:{row['line']}: {row['why']}" for row in first
            )
            histories = quarantine.select("history_id").distinct().count()
            problems.append(
                f"{lines} line{'s' if lines > 1 else ''} could not be read or used, so that "
                f"{histories} histor{'ies were' if histories > 1 else 'y was'} not judged: {told}"
            )
        return tuple(problems)

    def _write(self, checked: Checked) -> None:
        if self._args.violations is not None:
            place = self._args.violations
            _save(checked.violations, place / "violations", self._args.violations_format)
            _save(self._read.quarantine, place / "quarantine", self._args.violations_format)
            write_aside(f"Violations: {place}")
        if self._args.as_table is not None:
            _save(self._read.events, self._args.as_table, "parquet")
            write_header(self._args.as_table, unstructure(self.header, union=Record))
            write_aside(f"Table: {self._args.as_table}")
        if self._args.explain:
            write_aside(_explained(checked.plans))


def _naming_of(args: argparse.Namespace, source: Source) -> Naming:
    if args.mapping is None:
        return AS_PUBLISHED
    if not source.is_table:
        raise UsageError("--mapping names the columns of a table, and the history is none")
    return read_naming(args.mapping)


def _tried_again() -> Column:
    """Whether the next scenario of the same name is one more try at it, which counts instead."""
    name = sf.coalesce("scenario", sf.col("history_id").cast("string"))
    following = sf.lead("feature").over(Window.partitionBy(name).orderBy("history_id"))
    return sf.coalesce(following, sf.lit("")) == REPEATED


class _Endings:
    """How the scenarios ended."""

    def __init__(self, others: list[Row], counts: Counter[str]) -> None:
        self.counts = dict(counts)
        self.failed = _by_rule(others, "failed")
        self.errored = {
            rule: row["cause"] or row["ending"]
            for ending in ("interrupted", "errored")
            for rule, row in _by_rule(others, ending).items()
        }
        self._interrupted = [row["scenario"] for row in others if row["ending"] == "interrupted"]

    def problems(self, header: Header) -> Iterator[str]:
        """What is missing of the scenarios that were to be run."""
        begun = sum(self.counts.values())
        if header.planned is not None and begun < header.planned:
            yield f"the run stopped after {begun} of {header.planned} scenarios"
        for name in self._interrupted[:_LINES_TOLD]:
            yield f"the run stopped in the middle of {name!r}"


def _by_rule(rows: list[Row], ending: str) -> dict[str, Row]:
    return {rule: row for row in rows if row["ending"] == ending for rule in row["rules"] or ()}


def _failed(told: RuleVerdict, row: Row) -> RuleVerdict:
    """A scenario's own text was not met."""
    name = row["scenario"] or ""
    return _with(
        told,
        verdict=Verdict.VIOLATED,
        cause="a scenario failed",
        scenarios=(name,),
        counterexample=Counterexample(
            scenario=name, events=(), seen=row["detail"] or "", allowed=()
        ),
    )


def _with(told: RuleVerdict, **changes: Any) -> RuleVerdict:
    return attrs.evolve(told, **changes)


def _save(frame: DataFrame, place: Path, form: str) -> None:
    try:
        frame.write.mode("errorifexists").format(form).save(str(place.absolute()))
    except Exception as error:
        if (said := said_by_spark(error)) is None:
            raise
        raise HistoryError(f"cannot write {place}: {said}") from None


def _explained(frames: Sequence[DataFrame]) -> str:
    """How much the plans move about."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        for frame in frames:
            frame.explain("simple")
    plan = said.getvalue()
    exchanges = len(re.findall(r"\bExchange ", plan))
    sorts = len(re.findall(r"\bSort ", plan))
    return f"Plan: {len(frames)} frames, {exchanges} exchanges, {sorts} sorts"
