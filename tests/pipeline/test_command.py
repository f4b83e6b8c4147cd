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

from busproof.cli.main import main
from busproof.history.conformance import Verdict
from busproof.reports import conformance as reports

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
PATIENCE = 1200


@attrs.frozen
class Ended:
    """What the command left."""

    code: int
    out: str
    err: str


WRONG = """\
no JSON
{"record":"started","scenario":"wrong"}
{"record":"ended","verdict":"passed"}
{"record":"event","command":{"type":"CreateQueue","queue":"q"},"outcome":{"type":"Done"}}
"""
"""A line that is no record, after events that break a rule; an event in no scenario."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a valid history, one that breaks LIFE-01, and lines that cannot be used."""
    folder = tmp_path_factory.mktemp("check")
    (broken,) = cases.corrupted("never sent", 4, 1)
    histories = [*cases.clean("round-robin", (1,)), broken, attrs.evolve(broken, name="cut")]
    cases.write(folder / "h.jsonl", histories, cases.header())
    with (folder / "h.jsonl").open("a") as file:
        file.write(WRONG)
    return folder


@pytest.fixture(scope="module")
def ended(folder: Path, request: pytest.FixtureRequest) -> Ended:
    """The command has run: at full size in a process of its own, else in the Spark of the tests."""
    options = ["--violations", "found", "--violations-format", "json", "--as-table", "table"]
    words = ["check", "h.jsonl", "--engine", "spark", *options, "--report", "told", "--plan"]
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
    ended = subprocess.run(
        [sys.executable, "-m", "busproof", *words, "--master", "local[1]", *settings],
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def test_a_violation_ends_with_its_code_and_is_reported(ended: Ended, folder: Path) -> None:
    """With the events concerned, out of the file."""
    assert 1 == ended.code, ended.err
    report = reports.read(folder / "told")
    (rule,) = [each for each in report.rules if each.id == "LIFE-01"]
    assert Verdict.VIOLATED is rule.verdict
    assert 2 <= len(rule.counterexample.events)
    assert rule.counterexample.scenario.startswith("never sent")


def test_lines_that_could_not_be_used_are_a_problem(ended: Ended, folder: Path) -> None:
    """The histories that they stand in are not judged, the others are."""
    report = reports.read(folder / "told")
    problem = next(each for each in report.problems if "could not be read" in each)
    assert problem.startswith("2 lines could not be read or used, so that 2 histories were not")
    assert "an event outside of a scenario" in problem
    assert "no JSON" in ended.out
    assert {"interrupted": 2} == report.scenarios


def test_spark_itself_says_nothing(ended: Ended) -> None:
    """Only what was written where, and the plan that was asked for; progress, if it takes long."""
    lines = [line for line in ended.err.splitlines() if not line.startswith("Judging by Spark: ")]
    assert [] == [line for line in lines if not line.startswith(("Violations:", "Table:", "Plan:"))]
    assert 3 == len(lines)
    assert "Plan: 0 exchanges" not in ended.err


def test_a_folder_that_is_there_is_not_written_over(folder, monkeypatch, capsys) -> None:
    """The refusal comes before Spark is started."""
    monkeypatch.chdir(folder)
    for option in ("--violations", "--as-table"):
        assert 2 == main(["check", "h.jsonl", "--engine", "spark", option, "."])
        said = capsys.readouterr()
        assert "" == said.out
        assert f"busproof: {option} is ., which is there already" in said.err


def test_violations_and_lines_are_written(ended: Ended, folder: Path) -> None:
    """One row a violation, with the lines that show it."""
    assert ended.code
    files = (folder / "found" / "violations").glob("*.json")
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    (row,) = [row for row in rows if row["rule"] == "LIFE-01"]
    lines = (folder / "h.jsonl").read_text().splitlines()
    assert '"never sent"' in lines[row["seqs"][-1] - 1]
    assert "keyed" == row["entity"]
    kept = [*(folder / "found" / "quarantine").glob("*.json")]
    assert any("no JSON" in file.read_text() for file in kept)
    assert (folder / "table" / "_header.json").exists()
    assert (folder / "table" / "_SUCCESS").exists()
