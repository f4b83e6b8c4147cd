"""Every form of the report counts the same rules, and explains each violation."""

from busproof.reports.allure_cases import verdict_cases
from busproof.reports.consequences import CONSEQUENCES
from busproof.reports.document import view
from busproof.reports.levels import levels_found
from busproof.reports.page_data import Comparison, page_data


def test_a_run_the_page_and_allure_count_the_same_rules(conformance, catalogue) -> None:
    """Those that no run can show are only on the page, and marked there."""
    run = {rule.id for rule in conformance.rules}
    page = page_data(Comparison(runs=(conformance,), catalogue=catalogue))
    cases = [each.full_name for each in verdict_cases("x", conformance, catalogue)]
    assert run == {rule["id"] for rule in page["rules"] if "never" not in rule}
    assert run == set(page["runs"][0]["verdicts"])
    assert sorted(f"busproof.verdicts.{each}" for each in run) == sorted(cases)
    assert run == {rule["id"] for rule in view(conformance)["rules"]}


def test_levels_count_each_rule_that_applies_once(conformance, catalogue) -> None:
    applicable = view(conformance)["summary"]["applicable"]
    assert applicable == sum(each.applicable for each in levels_found(conformance, catalogue))


def test_each_family_says_why_it_matters(catalogue) -> None:
    assert {family.id for family in catalogue.families} == set(CONSEQUENCES)
