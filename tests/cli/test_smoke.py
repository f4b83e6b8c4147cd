"""`--profile smoke`: what can be seen without waiting, in every level."""

import os

import pytest

from busproof import vocabulary as v
from busproof.cli.running.child_run import HISTORY, Request
from busproof.cli.running.session import Session
from busproof.history.conformance import Verdict
from busproof.history.files import load
from busproof.history.records import History
from busproof.spec import load as load_catalogue
from busproof.spec.levels import load_levels

pytestmark = pytest.mark.slow

FULL = os.environ.get("BUSPROOF_SIZE") == "full"


SOME = (
    *("DLQ-02", "DUP-06", "SESS-01", "FILTER-06", "FWD-15", "TXN-06", "MGMT-13", "LIMIT-01"),
    *("PART-05", "LOCK-01"),
)
"""At the gate: a rule of each level, and one whose scenarios let time pass."""


def commands_in(history: History) -> set[type[v.Command]]:
    return {type(event.command) for one in history.scenarios for event in one.events}


def test_smoke_run_shows_rules_of_every_level_and_lets_no_time_pass(tmp_path):
    """On a real clock, a wait would be a wait."""
    request = Request(profile="smoke", rules=() if FULL else SOME, jobs=2)
    session = Session(tmp_path, request)
    assert 0 == session.run()
    history = load(tmp_path / HISTORY)
    assert v.AdvanceClock not in commands_in(history)
    levels, catalogue = load_levels(), load_catalogue()
    verdicts = session.recorded.conformance.rules
    shown = {catalogue.rule(each.id) for each in verdicts if each.verdict is Verdict.SHOWN}
    assert {level.id for level in levels.all} == {levels.of(rule).id for rule in shown}
    assert history.header.seed is None


def test_smoke_run_reports_a_broken_rule(busproof):
    """The tier with the fewest rules does."""
    options = ("--profile", "smoke", "--tier", "basic", "--name", "it")
    ended = busproof("run", "--adapter", "faulty:mismatch-accepted", *options)
    assert 1 == ended.code
    assert "KEY-08" in busproof.run("it").rules(Verdict.VIOLATED)
    assert v.AdvanceClock not in commands_in(busproof.run("it").history)
