"""`busproof check --engine spark`, as a user runs it."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
import recorded_cases as cases
from pyspark.sql import SparkSession
from spark_samples import SMALL

from busproof.cli import main
from busproof.history.conformance import Verdict
from busproof.reports import conformance as reports

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
PATIENCE = 1200

FEW = ("sequence-numbers", "witness")
"""Capabilities to which few rules apply, and these by plans that are soon made."""


@attrs.frozen
class Ended:
    """What the command left."""

    code: int
    out: str
    err: str


TRIED = """\
{"record":"started","scenario":"missed"}
{"record":"ended","verdict":"inconclusive"}
{"record":"started","scenario":"another"}
{"record":"ended","verdict":"passed"}
{"record":"started","scenario":"missed","feature":"repeated"}
{"record":"ended","verdict":"inconclusive"}
{"record":"started","scenario":"missed","feature":"repeated"}
{"record":"ended","verdict":"passed"}
"""
"""A scenario that missed an answer, tried again until it came; beside another."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a valid history, one that breaks KEY-02, and a line that is no record."""
    folder = tmp_path_factory.mktemp("check")
    (broken,) = cases.corrupted("key moved", 4, 1)
    histories = [*cases.clean("round-robin", (1,)), broken]
    first = cases.header() if FULL else attrs.evolve(cases.header(), capabilities=FEW)
    cases.write(folder / "h.jsonl", histories, first)
    with (folder / "h.jsonl").open("a") as file:
        file.write(TRIED)
        file.write('{"record":"started","scenario":"cut"}\nno JSON\n')
    return folder


@pytest.fixture(scope="module")
def ended(folder: Path, request: pytest.FixtureRequest) -> Ended:
    """The command has run: at full size in a process of its own, else in the Spark of the tests."""
    told = ["--violations", "found", "--violations-format", "json", "--as-table", "table"]
    words = ["check", "h.jsonl", "--engine", "spark", *told, "--report", "told", "--explain"]
    if FULL:
        return _by_itself(folder, words)
    spark: SparkSession = request.getfixturevalue("spark")
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        code = main(words)
    assert spark.range(1).count(), "a Spark that was there before goes on"
    return Ended(code, out.getvalue(), err.getvalue())


def _by_itself(folder: Path, words: list[str]) -> Ended:
    settings = [word for name, value in SMALL.items() for word in ("--conf", f"{name}={value}")]
    ended = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "busproof", *words, "--master", "local[1]", *settings],
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def test_a_violation_ends_with_its_code_and_is_told(ended, folder) -> None:
    """With the events concerned, out of the file."""
    assert 1 == ended.code, ended.err
    report = reports.read(folder / "told")
    (told,) = [each for each in report.rules if each.id == "KEY-02"]
    assert Verdict.VIOLATED is told.verdict
    assert told.counterexample is not None
    assert 2 == len(told.counterexample.events)
    assert told.counterexample.scenario.startswith("key moved")


def test_a_rule_without_a_query_is_no_pass(ended, folder) -> None:
    assert ended.code
    verdicts = {each.id: each for each in reports.read(folder / "told").rules}
    assert Verdict.INCONCLUSIVE is verdicts["KEY-14"].verdict
    assert "has no query for it" in verdicts["KEY-14"].cause
    assert Verdict.SHOWN is verdicts["LIFE-01"].verdict
    assert verdicts["LIFE-01"].events > 0


def test_a_scenario_that_was_tried_again_counts_once(ended, folder) -> None:
    """As with the engine local: the latest try counts."""
    assert ended.code
    told = reports.read(folder / "told").scenarios
    assert "inconclusive" not in told
    assert 2 == told["passed"]
    # The reader who judges in one process breaks off at the line that is no record.
    readable = (folder / "h.jsonl").read_text().removesuffix("no JSON\n")
    (folder / "readable.jsonl").write_text(readable)
    main(["check", str(folder / "readable.jsonl"), "--report", str(folder / "local")])
    local = reports.read(folder / "local").scenarios
    assert told["passed"] == local["passed"]


def test_a_line_that_could_not_be_read_is_a_problem(ended, folder) -> None:
    (problem, *_) = reports.read(folder / "told").problems
    assert problem.startswith("1 line could not be read or used, so that 1 history was not judged")
    assert ended.out.count("no record")


def test_spark_itself_says_nothing(ended) -> None:
    """Only what was written where, and the plan that was asked for."""
    lines = ended.err.splitlines()
    assert [] == [line for line in lines if not line.startswith(("Violations:", "Table:", "Plan:"))]
    assert 3 == len(lines)


def test_a_folder_that_is_there_is_not_written_over(folder: Path) -> None:
    """It is told before Spark is started."""
    for option in ("--violations", "--as-table"):
        command = ["check", "h.jsonl", "--engine", "spark", option, "."]
        ended = subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "busproof", *command],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
        assert (2, "") == (ended.returncode, ended.stdout)
        assert f"busproof: {option} is ., which is there already" in ended.stderr


def test_violations_and_lines_are_written(ended, folder) -> None:
    assert ended.code
    files = (folder / "found" / "violations").glob("*.json")
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert {"KEY-02", "KEY-07"} <= {row["rule"] for row in rows}
    kept = [*(folder / "found" / "quarantine").glob("*.json")]
    assert any("no JSON" in file.read_text() for file in kept)
    assert (folder / "table" / "_header.json").exists()
    assert (folder / "table" / "_SUCCESS").exists()
