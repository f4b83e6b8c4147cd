"""`busproof check --engine spark`, as a user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import recorded_cases as cases
from spark_samples import SMALL

from busproof.history.conformance import Verdict
from busproof.reports import conformance as reports

pytestmark = pytest.mark.slow

PATIENCE = 1200


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a valid history, one that breaks KEY-02, and a line that is no record."""
    folder = tmp_path_factory.mktemp("check")
    (broken,) = cases.corrupted("key moved", 4, 1)
    histories = [*cases.clean("round-robin", (1,)), broken]
    cases.write(folder / "h.jsonl", histories, cases.header())
    with (folder / "h.jsonl").open("a") as file:
        file.write('{"record":"started","scenario":"cut"}\nno JSON\n')
    return folder


@pytest.fixture(scope="module")
def ended(folder: Path) -> subprocess.CompletedProcess[str]:
    settings = [word for name, value in SMALL.items() for word in ("--conf", f"{name}={value}")]
    options = ["--violations", "found", "--violations-format", "json", "--as-table", "table"]
    command = [sys.executable, "-m", "busproof", "check", "h.jsonl", "--engine", "spark"]
    return subprocess.run(  # noqa: S603 - our own command
        [*command, "--master", "local[1]", *settings, *options, "--report", "told", "--explain"],
        cwd=folder,
        env={**os.environ, "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def test_a_violation_ends_with_its_code_and_is_told(ended, folder) -> None:
    """With the events concerned, out of the file."""
    assert 1 == ended.returncode, ended.stderr
    report = reports.read(folder / "told")
    (told,) = [each for each in report.rules if each.id == "KEY-02"]
    assert Verdict.VIOLATED is told.verdict
    assert told.counterexample is not None
    assert 2 == len(told.counterexample.events)
    assert told.counterexample.scenario.startswith("key moved")


def test_a_rule_without_a_query_is_no_pass(ended, folder) -> None:
    assert ended.returncode
    verdicts = {each.id: each for each in reports.read(folder / "told").rules}
    assert Verdict.INCONCLUSIVE is verdicts["LIFE-04"].verdict
    assert "has no query for it" in verdicts["LIFE-04"].cause
    assert Verdict.SHOWN is verdicts["LIFE-01"].verdict
    assert verdicts["LIFE-01"].events > 0


def test_a_line_that_could_not_be_read_is_a_problem(ended, folder) -> None:
    (problem, *_) = reports.read(folder / "told").problems
    assert problem.startswith("1 line could not be read or used, so that 1 history was not judged")
    assert ended.stdout.count("no record")


def test_spark_itself_says_nothing(ended) -> None:
    """Only what was written where, and the plan that was asked for."""
    lines = ended.stderr.splitlines()
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
    assert ended.returncode
    files = (folder / "found" / "violations").glob("*.json")
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert {"KEY-02", "KEY-07"} <= {row["rule"] for row in rows}
    kept = [*(folder / "found" / "quarantine").glob("*.json")]
    assert any("no JSON" in file.read_text() for file in kept)
    assert (folder / "table" / "_header.json").exists()
    assert (folder / "table" / "_SUCCESS").exists()
