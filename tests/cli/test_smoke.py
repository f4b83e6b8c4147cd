"""`--profile smoke`: what can be seen without waiting, in every level."""

import pytest

from busproof import vocabulary as v
from busproof.history.conformance import Verdict
from busproof.spec import load
from busproof.spec.levels import load_levels

pytestmark = pytest.mark.slow


def test_smoke_run_shows_rules_of_every_level_and_lets_no_time_pass(busproof):
    """On a real clock, a wait would be a wait."""
    ended = busproof("run", "--profile", "smoke", "--name", "it")
    run = busproof.run("it")
    assert 0 == ended.code
    commands = {type(event.command) for one in run.history.scenarios for event in one.events}
    assert v.AdvanceClock not in commands
    levels, catalogue = load_levels(), load()
    shown = {levels.of(catalogue.rule(rule)).id for rule in run.rules(Verdict.SHOWN)}
    assert {level.id for level in levels.all} == shown
    assert run.history.header.seed is None


def test_smoke_run_reports_a_broken_rule(busproof):
    ended = busproof("run", "--profile", "smoke", "--adapter", "faulty:mismatch-accepted")
    assert 1 == ended.code
    assert "KEY-08" in ended.out
