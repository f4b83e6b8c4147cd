"""The features on our own broker over AMQP: what the model shows by itself is shown there too."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import run_here

from busproof.cli.running.consent import MOST, Work
from busproof.history.files import load as load_history
from busproof.spec import load
from busproof.vocabulary.commands import Creation

pytestmark = pytest.mark.slow

SAMPLE = "TXN-13"
"""A rule whose scenarios send in transactions, receive and settle, with partitions told apart."""


def verdicts(folder: Path, *options: str) -> dict[str, Any]:
    """What a run comes to."""
    ended = run_here("run", "--format", "json", *options, folder=folder)
    assert ended.out, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def by_rule(conformance: dict[str, Any]) -> dict[str, str]:
    return {rule["id"]: rule["verdict"] for rule in conformance["rules"]}


def test_a_rule_is_shown_over_the_wire(tmp_path: Path) -> None:
    """By the strict oracle: the broker reveals its choices."""
    conformance = verdicts(tmp_path, "--adapter", "amqp", "--rule", SAMPLE)
    assert by_rule(conformance)[SAMPLE] == "shown"
    assert conformance["oracle"] == "strict"
    assert "amqp" in conformance["capabilities"]


@pytest.mark.full_size("minutes for all distilled sequences: run by the nightly part broker")
def test_no_distilled_sequence_accuses_the_broker(tmp_path: Path) -> None:
    options = ("--adapter", "amqp", "--name", "wire", "--only", "distilled")
    wire = by_rule(verdicts(tmp_path, *options))
    assert "shown" in wire.values()
    assert [rule for rule, verdict in wire.items() if verdict in ("violated", "errored")] == []
    history = tmp_path / "reports" / "runs" / "wire" / "history.jsonl"
    within(MOST["distilled"], asked_in(history, fills=False))


@pytest.mark.full_size("all features, twice: run by the nightly part broker")
def test_all_that_the_model_shows_is_shown_over_the_wire(tmp_path: Path) -> None:
    """Nothing is violated, and no request is made without the consent of the owner."""
    features = ("--only", "features")
    model = by_rule(verdicts(tmp_path, "--adapter", "model", "--name", "model", *features))
    wire = by_rule(verdicts(tmp_path, "--adapter", "amqp", "--name", "wire", *features))
    shown = [rule for rule, verdict in model.items() if verdict == "shown"]
    assert [rule for rule, verdict in wire.items() if verdict in ("violated", "errored")] == []
    assert [rule for rule in shown if wire[rule] != "shown"] == []
    history = tmp_path / "reports" / "runs" / "wire" / "history.jsonl"
    for part in ("features", "filling"):
        within(MOST[part], asked_in(history, fills=part == "filling"))


def within(most: Work, asked: Work) -> None:
    """The owner of the namespace was asked for no less."""
    assert asked.entities <= most.entities
    assert asked.at_once <= most.at_once
    assert asked.operations <= most.operations


def asked_in(history: Path, *, fills: bool) -> Work:
    """How much a run has asked, in scenarios that fill a namespace or in all others.

    The namespace's owner is asked beforehand.
    """
    filling = {rule.id for rule in load().rules if "disposable-namespace" in rule.needs}
    kinds = [
        [each.command for each in scenario.events]
        for scenario in load_history(history).scenarios
        if bool(filling & set(scenario.rules)) is fills
    ]
    created = [sum(isinstance(each, Creation) for each in scenario) for scenario in kinds]
    return Work(entities=sum(created), at_once=max(created), operations=sum(map(len, kinds)))
