"""A run plays the same scenarios as pytest does, with the same outcomes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from busproof.cli.running.child_run import HISTORY, Request, environment, pytest_arguments, record
from busproof.history.files import load
from busproof.history.records import Scenario

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SOME = ("DUP", "FEAT", "PREM", "SCHED", "SEQ", "TTL", "TXN")
"""The families that are played at the gate; at full size all are."""
ADAPTERS = ("model", "faulty:mismatch-accepted")


def by_name(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return what each scenario asked, and how it ended."""
    return {
        scenario.name: outcome(scenario)
        for scenario in load(folder / HISTORY).scenarios
        if scenario.feature == ""
    }


def outcome(scenario: Scenario) -> tuple[object, ...]:
    ended = scenario.ended
    passed = [step for step in ended.steps if step.result == "passed"]
    return scenario.rules, scenario.events, ended.verdict, ended.cause, ended.detail, passed


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_run_and_pytest_have_the_same_outcomes(tmp_path: Path, adapter: str) -> None:
    rules = ("KEY",) if adapter != "model" else () if FULL else SOME
    request = Request(adapter=adapter, rules=rules, jobs=2)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
    record(request, ours, lambda _: None)
    subprocess.run(
        [sys.executable, "-P", "-m", "pytest", *pytest_arguments(request, theirs)],
        env=environment(),
        check=False,
        capture_output=True,
        cwd=tmp_path,
    )
    mine, other = by_name(ours), by_name(theirs)
    assert mine.keys() == other.keys()
    assert {name: mine[name] for name in mine if mine[name] != other[name]} == {}
    assert len(mine) > (50 if adapter != "model" else 2_500 if FULL else 400)
