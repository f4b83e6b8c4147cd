"""Screening points to what may be wrong; only what the judge confirms there is a violation."""

import contextlib
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import recorded_cases as cases
from corrupting import CORRUPTIONS
from exploring import explored
from pyspark.sql import SparkSession

from busproof.adapters.model import ModelAdapter
from busproof.history.conformance import Conformance, ExitCode, Verdict
from busproof.pipeline.checking import Checked, check
from busproof.pipeline.reading import read
from busproof.pipeline.screening.events import _parse_lines
from busproof.pipeline.screening.suspicions import SCREENED, suspicions_of
from busproof.pipeline.sources import find_source
from busproof.spec import load as load_catalogue

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SEEDS = range(12 if FULL else 2)
COMPILED_BY_JAVA = 8_000
"""Bytes of a method that Java still compiles; a greater one is interpreted."""
UNNOTICED = {
    "delivery-limit-is-never-lowered": "updates are not looked at",
    "empty-text-is-lost": "of a message's content only the keys are compared",
    "large-numbers-rounded": "of a message's content only the keys are compared",
    "letters-are-replaced": "of a message's content only the keys are compared",
    "null-becomes-a-text": "of a message's content only the keys are compared",
    "mismatch-wrong-error": "the send is refused, with another error",
    "older-lock-renews": "renewals are not looked at",
    "peek-tells-another-number": "peeks are not looked at",
    "property-lost-at-redelivery": "of a message's content only the keys are compared",
    "session-out-of-order-after-abandon": "only first deliveries have an order",
    "settles-after-expiry": "there is no clock",
    "spent-for-another-reason": "reasons are not looked at",
    "spent-is-lost": "nothing is missed that does not come",
    "truth-becomes-a-number": "of a message's content only the keys are compared",
}
"""Faults of screened rules that screening does not notice, and why."""


def screened(spark: SparkSession, file: Path) -> Checked:
    return check(spark, find_source(str(file)), screen=True)


def of(report: Conformance, verdict: Verdict) -> set[str]:
    return {rule.id for rule in report.rules if rule.verdict is verdict}


def accuses_nobody(report: Conformance) -> None:
    assert set() == of(report, Verdict.VIOLATED) | of(report, Verdict.SHOWN)
    assert ExitCode.INCOMPLETE is report.exit_code


def suspected(spark: SparkSession, file: Path, histories: list[cases.Case]) -> dict[str, set[str]]:
    """The rules of the suspicions, by the name of the history."""
    found: dict[str, set[str]] = {}
    for row in suspicions_of(read(spark, find_source(str(file)))).collect():
        case = histories[(row["history_id"] & 0xFFFFFFFF) - 1]
        found.setdefault(case.name, set()).add(row["rule"])
    return found


def test_overlapping_histories_with_lost_answers_are_not_accused(spark, tmp_path) -> None:
    """Under every policy, on a real clock; what looks suspicious is counted and cleared."""
    histories = [*cases.clean("round-robin", SEEDS), *cases.clean("hostile", SEEDS)]
    histories += [*cases.lossy(SEEDS), *cases.crowded(SEEDS)]
    cases.write(tmp_path / "h.jsonl", histories, cases.header())
    report = screened(spark, tmp_path / "h.jsonl").conformance
    accuses_nobody(report)
    first, second, *_ = report.problems
    assert f"screened for violations of {len(SCREENED)} rules and not judged" in first
    assert re.match(r"[1-9]\d* components looked suspicious \(.*LIFE-06 \d", second)
    assert re.search(r"were judged: 0 with a violation, [1-9]\d* without a confirmed one", second)


def test_exploration_of_the_model_is_not_accused(spark: SparkSession, tmp_path: Path) -> None:
    explored(ModelAdapter(), sequences=200 if FULL else 15).history(tmp_path)
    accuses_nobody(screened(spark, tmp_path / "history.jsonl").conformance)


def test_buses_without_their_faults_are_not_accused(spark: SparkSession, tmp_path: Path) -> None:
    every = {rule.id for rule in load_catalogue().rules} if FULL else {*SCREENED}
    histories = [*cases.seeded(faulty=False, rules=every)]
    cases.write(tmp_path / "h.jsonl", histories, cases.faults_header())
    accuses_nobody(screened(spark, tmp_path / "h.jsonl").conformance)


def test_seeded_faults_of_screened_rules_are_found(spark: SparkSession, tmp_path: Path) -> None:
    """Each rule has one that is, and those that are not are listed."""
    file = tmp_path / "h.jsonl"
    histories = [*cases.seeded(faulty=True, rules=SCREENED)]
    cases.write(file, histories, cases.faults_header())
    found = suspected(spark, file, histories)
    unnoticed = {case.name for case in histories} - found.keys()
    assert {*UNNOTICED} == unnoticed
    noticed = {rule for case in histories if case.name in found for rule in case.broken}
    assert {*SCREENED} == noticed
    checked = screened(spark, file)
    assert found.keys() == {row["scenario"] for row in checked.violations.collect()}
    assert set() == of(checked.conformance, Verdict.SHOWN)
    assert ExitCode.VIOLATION is checked.conformance.exit_code


@pytest.mark.full_size("the whole judge has them in test_judging: run by the nightly part spark")
def test_corrupted_histories_have_the_violations_of_the_whole_judge(spark, tmp_path) -> None:
    """Or none, where nothing looked suspicious."""
    histories = [case for kind in CORRUPTIONS for case in cases.corrupted(kind, 4, 1)]
    cases.write(tmp_path / "h.jsonl", histories, cases.header())
    pairs = [
        {(row["scenario"], row["rule"]) for row in checked.violations.collect()}
        for checked in (
            screened(spark, tmp_path / "h.jsonl"),
            check(spark, find_source(str(tmp_path))),
        )
    ]
    assert len(pairs[0]) >= 7
    assert pairs[0] < pairs[1]


def test_only_suspicious_parts_of_a_production_history_are_judged(spark, tmp_path) -> None:
    (case,) = cases.corrupted("key moved", 4, 1)
    file = tmp_path / "h.jsonl"
    cases.write(file, [case], cases.header())
    lines = [line for line in file.read_text().splitlines() if '"started"' not in line]
    file.write_text("\n".join(lines) + "\n")
    report = screened(spark, file).conformance
    assert {"KEY-02"} == of(report, Verdict.VIOLATED)
    assert 0 < report.events < len(lines) - 1
    assert "1 component looked suspicious (KEY-02 1) and was judged" in report.problems[1]


def test_history_with_an_unreadable_line_is_not_accused(spark, tmp_path) -> None:
    """The line may be the event without which others look wrong."""
    (case,) = cases.corrupted("key moved", 4, 1)
    file = tmp_path / "h.jsonl"
    cases.write(file, [case], cases.header())
    lines = [line for line in file.read_text().splitlines() if '"started"' not in line]
    file.write_text("\n".join([*lines[:5], "no JSON", *lines[5:]]) + "\n")
    report = screened(spark, file).conformance
    accuses_nobody(report)
    assert "1 line could not be read, and screening left them out" in report.problems
    assert "so that 1 history was not judged: h.jsonl:6" in report.problems[-1]


def test_line_that_cannot_be_parsed_leaves_others_their_places() -> None:
    """Arrow refuses a whole batch for one such line, and takes two objects on a line for two."""
    texts = [
        "no JSON",
        None,
        ' {"record":"event","command":{"queue":"q"},"new":1} ',
        '{"record":"event","command":',
        '{"queue":"half"}}',
        '{"record":"event"}{"record":"event"}',
        '{"record":"event","command":{"max_delivery_count":"ten"}}',
        '{"record":"event","outcome":{"message":{"sequence_number":7}}}',
    ]
    rows = rows_of(texts)
    assert [*range(len(texts))] == [row["line"] for row in rows]
    usable = {row["line"]: row for row in rows if row["record"] is not None}
    assert [2, 7] == [*usable]
    assert "q" == usable[2]["command"]["queue"]
    assert 7 == usable[7]["outcome"]["message"]["sequence_number"]
    as_many = texts[3:6]
    assert [None] * 3 == [row["record"] for row in rows_of(as_many)]


def rows_of(texts: list[str | None]) -> list[dict[str, Any]]:
    lines = [*range(len(texts))]
    batch = pa.record_batch([lines, lines, texts], names=["history_id", "line", "text"])
    rows: list[dict[str, Any]] = pa.Table.from_batches(_parse_lines([batch])).to_pylist()
    return rows


@pytest.fixture
def compiling(spark: SparkSession) -> Iterator[SparkSession]:
    """The Spark of the tests with generated code, and without a way round its failure."""
    wanted = {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
        "spark.sql.codegen.fallback": "false",
        "spark.sql.codegen.wholeStage": "true",
    }
    before = {name: spark.conf.get(name) or "" for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    yield spark
    for name, value in before.items():
        spark.conf.set(name, value)


def test_plan_is_compiled_and_moves_rows_twice(compiling: SparkSession, tmp_path: Path) -> None:
    """No stage falls back to interpretation, in Spark or in Java."""
    cases.write(tmp_path / "h.jsonl", [*cases.clean("round-robin", (1,))], cases.header())
    found = suspicions_of(read(compiling, find_source(str(tmp_path))))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        found.explain("codegen")
    sizes = [int(size) for size in re.findall(r"maxMethodCodeSize:(\d+)", said.getvalue())]
    assert len(sizes) >= 3
    assert max(sizes) < COMPILED_BY_JAVA
    with contextlib.redirect_stdout(io.StringIO()) as said:
        found.explain("simple")
    plan = said.getvalue()
    operators = re.findall(r"^[\s:+*(\d)-]*(\w+)", plan, re.MULTILINE)
    assert (2, 1) == (operators.count("Exchange"), operators.count("Sort")), plan
    found.write.format("noop").mode("overwrite").save()
