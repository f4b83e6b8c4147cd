"""Tuples of rule ids that depend on conditions."""

from busproof.vocabulary.values import RuleId


def rules_if(*cases: tuple[object, *tuple[RuleId, ...]]) -> tuple[RuleId, ...]:
    """Return the rules of all cases whose condition is true; a case is (condition, *rules)."""
    rules: tuple[RuleId, ...] = ()
    for case in cases:
        if case[0]:
            rules += case[1:]
    return rules
