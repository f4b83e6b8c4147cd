"""A run plays the same scenarios as pytest does, with the same outcomes."""

import os
import sys
from pathlib import Path

import pytest
from commands import FORKING
from preloaded import run

from busproof.cli.running import child_process
from busproof.cli.running.child_run import HISTORY, Request, environment, pytest_arguments, record
from busproof.history.files import load
from busproof.history.records import Scenario

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
SOME = {
    "model": ("DUP", "PREM", "SEQ", "TXN-01"),
    "faulty:mismatch-accepted": ("KEY-02", "KEY-08", "KEY-09", "SCHED-12"),
}
"""What is played on each adapter; at full size the model plays all."""


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


@pytest.mark.parametrize("adapter", SOME)
def test_run_and_pytest_have_the_same_outcomes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adapter: str
) -> None:
    rules = () if FULL and adapter == "model" else SOME[adapter]
    monkeypatch.setattr(child_process, "subprocess", FORKING)
    request = Request(adapter=adapter, rules=rules, jobs=2)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
    record(request, ours, lambda _: None)
    command = [sys.executable, "-P", "-m", "pytest", *pytest_arguments(request, theirs)]
    run(command, env=environment(), cwd=tmp_path)
    mine, other = by_name(ours), by_name(theirs)
    assert mine.keys() == other.keys()
    assert {name: mine[name] for name in mine if mine[name] != other[name]} == {}
    assert len(mine) > (30 if adapter != "model" else 2_500 if FULL else 150)
    failed = [each for each in mine.values() if "failed" in each]
    assert bool(failed) is (adapter != "model")
