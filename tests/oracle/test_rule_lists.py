"""Lists of rules that depend on conditions."""

from busproof.oracle.rule_lists import rules_if


def test_cases_that_hold_give_their_rules_in_order() -> None:
    assert ("B-1", "A-1", "A-2") == rules_if((True, "B-1"), (0, "C-1"), ([1], "A-1", "A-2"))


def test_no_case_that_holds_gives_no_rules() -> None:
    assert () == rules_if((None, "A-1"), ("", "A-2"))
