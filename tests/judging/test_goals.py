"""A run that explores has to come to each goal that applies to it."""

import attrs
import pytest
from exploring import explored

from busproof.adapters.model import ModelAdapter
from busproof.history.conformance import Conformance
from busproof.history.records import EXPLORATION
from busproof.judging import coverage_goals
from busproof.judging.coverage_goals import GOALS
from busproof.judging.verdicts import conformance
from busproof.spec import load
from busproof.vocabulary.profile import profile_for


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    return explored(ModelAdapter(), sequences=25).history(tmp_path_factory.mktemp("run"))


def of(report: Conformance, rule: str) -> tuple[str, str]:
    """The verdict on a rule and its cause."""
    (found,) = [each for each in report.rules if each.id == rule]
    return found.verdict.value, found.cause


def test_goals_are_counted_with_what_was_explored(history) -> None:
    """Each of those that apply, whether it happened or not."""
    explored = conformance(history, load()).explored
    assert (25, 1) == (explored.sequences, explored.seed)
    silent = profile_for(load()).silent
    applying = [goal.name for goal in GOALS if silent.isdisjoint(goal.rules)]
    assert applying == list(explored.goals)
    assert explored.goals["a dropped duplicate"] > 0


def replace_goals(monkeypatch, goals) -> None:
    """Let the judge have other goals, and forget which it has found within reach."""
    monkeypatch.setattr(coverage_goals, "GOALS", goals)
    uncached = coverage_goals._within_reach.__wrapped__
    monkeypatch.setattr(coverage_goals, "_within_reach", uncached)


def test_a_goal_that_never_happened_makes_its_rules_not_shown(history, monkeypatch) -> None:
    """Though events show them."""
    never = attrs.evolve(GOALS[0], reaches=lambda *_: False)
    replace_goals(monkeypatch, (never, *GOALS[1:]))
    report = conformance(history, load())
    cause = "the run never reached a keyed send at a dead partition"
    assert ("not shown", cause) == of(report, "KEY-03")
    assert 3 == report.exit_code


def test_a_goal_is_not_missed_before_what_it_needs_has_happened(history, monkeypatch) -> None:
    """Such as a full partition, on a bus that takes no large messages."""
    never = attrs.evolve(GOALS[0], reaches=lambda *_: False, when=lambda *_: False)
    replace_goals(monkeypatch, (never, *GOALS[1:]))
    report = conformance(history, load())
    assert GOALS[0].name not in report.explored.goals
    assert "shown" == of(report, "KEY-03")[0]


def test_goals_are_nothing_to_a_run_that_does_not_explore(history, monkeypatch) -> None:
    """Such as one of a single scenario."""
    never = tuple(attrs.evolve(goal, reaches=lambda *_: False) for goal in GOALS)
    replace_goals(monkeypatch, never)
    scenarios = tuple(attrs.evolve(each, feature="") for each in history.scenarios)
    report = conformance(attrs.evolve(history, scenarios=scenarios), load())
    assert report.explored is None
    assert "shown" == of(report, "KEY-03")[0]


def test_a_goal_that_does_not_apply_is_not_counted(history) -> None:
    """A bus without transactions commits nothing."""
    some = tuple(each for each in history.header.capabilities if each != "transactions")
    header = attrs.evolve(history.header, capabilities=some)
    report = conformance(attrs.evolve(history, header=header), load())
    assert not [name for name in report.explored.goals if "commit" in name]
    assert "not applicable" == of(report, "TXN-12")[0]


def test_sequences_are_no_scenarios(history) -> None:
    """They are counted by themselves, and have one name."""
    report = conformance(history, load())
    assert {} == report.scenarios
    assert {("Exploration",)} == {each.scenarios for each in report.rules if each.scenarios}
    assert {EXPLORATION} == {each.feature for each in history.scenarios}


@pytest.mark.parametrize("goal", GOALS, ids=[goal.name for goal in GOALS])
def test_a_goal_is_about_rules_that_must_be_kept(goal) -> None:
    """What a bus may do it need never do."""
    assert {"always"} == {load().rule(rule).shown_by for rule in goal.rules}
