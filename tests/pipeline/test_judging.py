"""Judged on Spark, a history has the verdicts that it has in one process, to the letter."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import recorded_cases as cases
from corrupting import CORRUPTIONS
from exploring import explored
from pyspark.sql import SparkSession

from busproof.adapters.faults import make
from busproof.adapters.model import ModelAdapter
from busproof.history.files import load
from busproof.judging.verdicts import conformance
from busproof.pipeline.checking import Checked, check
from busproof.pipeline.components import number_components
from busproof.pipeline.reading import publish_columns
from busproof.pipeline.sources import find_source, write_header
from busproof.reports.document import view
from busproof.spec import load as load_catalogue

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
PATIENCE = 1_200
SEEDS = range(12 if FULL else 1)
CLIENTS = (1, 4) if FULL else (4,)
TRIES = 8 if FULL else 1
FAULTY = "faulty:mismatch-accepted"
RULES = ("KEY-08", "SESS-04", "DLQ-05", "TXN-13", "SCHED-03")
"""Of several families, for the run of the suite that is judged again."""


def locally(file: Path) -> dict[str, Any]:
    return view(conformance(load(file), load_catalogue()))


def on_spark(spark: SparkSession, place: Path) -> Checked:
    return check(spark, find_source(str(place)))


def alike(spark: SparkSession, file: Path) -> dict[str, Any]:
    """What both engines say of a file, after they were found to say the same."""
    one, other = locally(file), view(on_spark(spark, file).conformance)
    assert json.dumps(one, indent=1) == json.dumps(other, indent=1)
    return one


def test_a_run_of_the_suite_has_the_same_verdicts(spark: SparkSession, tmp_path: Path) -> None:
    """Scenarios of several families, some of which fail, on a bus with a fault."""
    which = [] if FULL else [word for rule in RULES for word in ("--rule", rule)]
    command = [sys.executable, "-m", "busproof", "run", "--adapter", FAULTY]
    ended = subprocess.run(
        [*command, "--name", "run", *which],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert ended.returncode in (1, 3), ended.stderr
    report = alike(spark, tmp_path / "reports" / "runs" / "run" / "history.jsonl")
    assert report["summary"]["shown"] > 0


def test_an_exploration_has_the_same_verdicts(spark: SparkSession, tmp_path: Path) -> None:
    """With what it met of the situations that it must meet."""
    explored(ModelAdapter(), sequences=200 if FULL else 15).history(tmp_path)
    report = alike(spark, tmp_path / "history.jsonl")
    assert report["explored"]["goals"]
    assert 0 == report["summary"]["violated"]


def test_an_exploration_that_finds_a_fault_has_the_same_verdicts(spark, tmp_path) -> None:
    """With its small failure and the replays of it."""
    explored(make("mismatch-accepted"), sequences=10).history(tmp_path)
    report = alike(spark, tmp_path / "history.jsonl")
    assert 1 == report["exit_code"]


def test_overlapping_and_corrupted_histories_have_the_same_verdicts(spark, tmp_path) -> None:
    """On a real clock, with lost answers; each is cut into parts, which tasks judge apart."""
    histories = [*cases.clean("round-robin", SEEDS), *cases.clean("hostile", SEEDS)]
    histories += [*cases.lossy(SEEDS), *cases.crowded(SEEDS)]
    for kind in CORRUPTIONS if FULL else [*CORRUPTIONS][::2]:
        for clients in CLIENTS:
            histories += cases.corrupted(kind, clients, TRIES)
    cases.write(tmp_path / "history.jsonl", histories, cases.header())
    report = alike(spark, tmp_path / "history.jsonl")
    assert report["summary"]["violated"] >= 5


def test_a_history_of_events_alone_is_cut_into_parts(spark: SparkSession, tmp_path: Path) -> None:
    """As production systems record them; a table of the same has the same verdicts."""
    (case,) = cases.corrupted("key moved", 4, 1)
    file, table = tmp_path / "history.jsonl", tmp_path / "table"
    cases.write(file, [case], cases.header())
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if '"record":"started"' not in line))
    found = on_spark(spark, file)
    assert locally(file) == view(found.conformance)
    assert 1 < number_components(found.rows).select("part").distinct().count()
    publish_columns(found.rows).write.parquet(str(table))
    (header,) = [json.loads(line) for line in lines[:1]]
    write_header(table, header)
    again = on_spark(spark, table).conformance
    assert view(found.conformance)["rules"] == view(again)["rules"]


@pytest.mark.full_size("the runs of all seeded faults: run by the nightly part spark")
@pytest.mark.parametrize("faulty", [True, False])
def test_runs_of_seeded_faults_have_the_same_verdicts(spark, tmp_path, faulty) -> None:
    """Of every fault, and of each bus without it."""
    every = {rule.id for rule in load_catalogue().rules}
    file = tmp_path / "history.jsonl"
    cases.write(file, [*cases.seeded(faulty=faulty, rules=every)], cases.faults_header())
    report = alike(spark, file)
    assert (1 if faulty else 3) == report["exit_code"]
