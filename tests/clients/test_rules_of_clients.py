"""Every rule for clients has a scenario, and a faulty client that its scenario catches."""

import sys
from pathlib import Path

import pytest

from busproof.clients.running import run_scenario
from busproof.clients.scenarios import SCENARIOS
from busproof.clients.verdicts import Verdict, judge_rules
from busproof.spec import load
from busproof.spec.client_rules import load_client_rules

HERE = Path(__file__).resolve().parent
FAULTY = HERE / "faulty_client.py"
RULES = load_client_rules()
LIMIT = 600.0

CATCHES = {
    "session-as-property": "CLIENT-01",
    "key-as-property": "CLIENT-02",
    "key-of-everything": "CLIENT-03",
    "nameless": "CLIENT-04",
    "no-time-to-live": "CLIENT-05",
    "renamed-copies": "CLIENT-06",
    "greedy": "CLIENT-09",
    "impatient": "CLIENT-17",
    "stubborn": "CLIENT-18",
    "liar": "CLIENT-19",
    "one-by-one": "CLIENT-07",
    "at-once": "CLIENT-08",
    "keeping": "CLIENT-10",
    "hoarder": "CLIENT-11",
    "locking": "CLIENT-12",
    "releasing": "CLIENT-13",
    "forgetful": "CLIENT-14",
    "optimist": "CLIENT-15",
    "any-session": "CLIENT-16",
    "careless": "CLIENT-20",
    "quitter": "CLIENT-21",
    "hasty": "CLIENT-22",
    "anonymous": "CLIENT-23",
    "wrong-token": "CLIENT-24",
    "one-token": "CLIENT-25",
    "committer": "CLIENT-27",
    "sleeper": "CLIENT-28",
    "despairing": "CLIENT-30",
    "wrong-path": "CLIENT-26",
    "antique": "CLIENT-29",
    "one-connection-each": "CLIENT-31",
}
"""The faults of the faulty client, and the rule that each breaks."""


def test_every_rule_has_a_scenario_and_a_fault():
    shown = {rule for scenario in SCENARIOS for rule in scenario.rules}
    assert {rule.id for rule in RULES} == shown == set(CATCHES.values())


def test_no_bus_is_held_to_a_rule_for_clients():
    assert not {rule.id for rule in RULES} & {rule.id for rule in load().rules}


@pytest.mark.slow
@pytest.mark.parametrize("fault", CATCHES)
def test_faulty_client_is_caught(fault: str, monkeypatch: pytest.MonkeyPatch):
    rule = next(rule for rule in RULES if rule.id == CATCHES[fault])
    monkeypatch.setenv("BUSPROOF_FAULT", fault)
    results = [
        run_scenario(scenario, [sys.executable, str(FAULTY)], LIMIT)
        for scenario in SCENARIOS
        if rule.id in scenario.rules
    ]
    (verdict,) = judge_rules([rule], results)
    bad = Verdict.NOT_FOLLOWED if rule.modality == "should" else Verdict.VIOLATED
    assert bad is verdict.verdict, verdict.said
