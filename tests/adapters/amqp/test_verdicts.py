"""The features on our own broker over AMQP: what the model shows by itself is shown there too."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from busproof.consent import MOST, Work
from busproof.history.files import load as load_history
from busproof.model.commands import Creation
from busproof.spec import load

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
NOT_SHOWN: dict[str, str] = yaml.safe_load(
    Path(__file__).with_name("not_shown.yaml").read_text(encoding="utf-8")
)
MOST_NOT_SHOWN = 15
"""Never more than this; less as soon as something of it is shown."""

SHARE_SHOWN = 0.95
SAMPLE = "TXN-12"
"""A rule whose scenarios send in transactions, receive and settle, with partitions told apart."""


def verdicts(folder: Path, *options: str) -> dict[str, Any]:
    """What a run comes to."""
    command = [sys.executable, "-m", "busproof", "run", "--format", "json", *options]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    assert ran.stdout, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def by_rule(conformance: dict[str, Any]) -> dict[str, str]:
    return {rule["id"]: rule["verdict"] for rule in conformance["rules"]}


def test_a_rule_is_shown_over_the_wire(tmp_path: Path) -> None:
    """By the strict oracle, to which the broker tells its choices."""
    conformance = verdicts(tmp_path, "--adapter", "amqp", "--rule", SAMPLE)
    assert by_rule(conformance)[SAMPLE] == "shown"
    assert conformance["oracle"] == "strict"
    assert "amqp" in conformance["capabilities"]


def test_what_is_not_shown_is_of_the_catalogue_and_little() -> None:
    """Each with a reason."""
    known = {rule.id for rule in load().rules}
    assert NOT_SHOWN.keys() <= known
    assert all(NOT_SHOWN.values())
    assert len(NOT_SHOWN) <= MOST_NOT_SHOWN


@pytest.mark.skipif(not FULL, reason="all features, twice: BUSPROOF_SIZE=full")
def test_all_that_the_model_shows_is_shown_over_the_wire(tmp_path: Path) -> None:
    """But for what is pinned with its reason, and is not shown indeed; nothing is violated."""
    features = ("--only", "features")
    model = by_rule(verdicts(tmp_path, "--adapter", "model", "--name", "model", *features))
    wire = by_rule(verdicts(tmp_path, "--adapter", "amqp", "--name", "wire", *features))
    shown = {rule for rule, verdict in model.items() if verdict == "shown"}
    assert [rule for rule, verdict in wire.items() if verdict in ("violated", "errored")] == []
    assert sorted(rule for rule in shown if wire[rule] != "shown") == sorted(NOT_SHOWN)
    assert len(shown - NOT_SHOWN.keys()) >= SHARE_SHOWN * len(shown)
    asked = asked_in(tmp_path / "reports" / "runs" / "wire" / "history.jsonl")
    assert asked.entities <= MOST["features"].entities
    assert asked.at_once <= MOST["features"].at_once
    assert asked.operations <= MOST["features"].operations


def asked_in(history: Path) -> Work:
    """How much a run has asked, of which a namespace's owner is told beforehand."""
    kinds = [
        [each.command for each in scenario.events] for scenario in load_history(history).scenarios
    ]
    created = [sum(isinstance(each, Creation) for each in scenario) for scenario in kinds]
    return Work(entities=sum(created), at_once=max(created), operations=sum(map(len, kinds)))
