"""A rule that permits answers, and forbids none, is broken by nothing."""

import attrs
import pytest

from busproof.history.conformance import ExitCode, Verdict
from busproof.history.records import Ended, Header, History, Oracle, Scenario, ScenarioVerdict
from busproof.judging.applicability import Terms
from busproof.judging.scenario_result import to_blame
from busproof.judging.verdicts import conformance
from busproof.mutants import MUTANTS
from busproof.spec import load
from busproof.vocabulary.profile import profile_for

CATALOGUE = load()
PERMISSIONS = sorted(rule.id for rule in CATALOGUE.rules if rule.shown_by == "allowed")


def test_no_seeded_fault_breaks_a_permission() -> None:
    assert [] == [fault.id for fault in MUTANTS if fault.rule in PERMISSIONS]


@pytest.mark.parametrize("rule", PERMISSIONS)
def test_permission_is_not_blamed_where_something_else_is(rule: str) -> None:
    terms = Terms(
        catalogue=CATALOGUE,
        profile=profile_for(CATALOGUE),
        capabilities=frozenset({"witness"}),
        oracle=Oracle.STRICT,
    )
    assert "KEY-02" == to_blame((rule, "KEY-02"), (rule,), terms)


@pytest.mark.parametrize("rule", PERMISSIONS)
def test_permission_is_blamed_nowhere_even_if_nothing_else_is(rule: str) -> None:
    """A reading may make a duty of what the rule permits, which is the duty of no permission."""
    terms = Terms(
        catalogue=CATALOGUE,
        profile=profile_for(CATALOGUE),
        capabilities=frozenset(),
        oracle=Oracle.STRICT,
    )
    assert "LIFE-01" == to_blame((rule,), (rule,), terms)


def test_scenario_of_permissions_that_fails_by_its_own_words_is_inconclusive() -> None:
    header = Header(profile=profile_for(CATALOGUE), capabilities=("outages", "peek-lock"))
    ended = Ended(verdict=ScenarioVerdict.FAILED, detail="too few messages")
    scenario = Scenario(name="few", feature="x.feature", rules=("LIFE-11",), events=(), ended=ended)
    history = History(header=header, scenarios=(scenario,))
    found = conformance(history, CATALOGUE)
    (rule,) = [each for each in found.rules if each.id == "LIFE-11"]
    assert Verdict.INCONCLUSIVE is rule.verdict
    assert ExitCode.INCOMPLETE is found.exit_code
    also = attrs.evolve(scenario, rules=("LIFE-11", "LIFE-01"))
    verdicts = {
        each.id: each.verdict
        for each in conformance(attrs.evolve(history, scenarios=(also,)), CATALOGUE).rules
    }
    assert Verdict.VIOLATED is verdicts["LIFE-01"]
    assert Verdict.VIOLATED is not verdicts["LIFE-11"]
