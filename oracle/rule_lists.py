"""Lists of rules that depend on conditions."""

from busproof.vocabulary.values import RuleId


def rules_if(*cases: tuple[object, *tuple[RuleId, ...]]) -> tuple[RuleId, ...]:
    """Return the rules of the cases that hold; a case is its condition, then its rules."""
    rules: tuple[RuleId, ...] = ()
    for case in cases:
        if case[0]:
            rules += case[1:]
    return rules
