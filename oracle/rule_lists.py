"""Lists of rules that depend on conditions."""

from busproof.vocabulary.values import RuleId


def rules_if(*cases: tuple[object, *tuple[RuleId, ...]]) -> tuple[RuleId, ...]:
    """Return the rules of the cases that hold; a case is its condition, then its rules."""
    return tuple(rule for holds, *rules in cases if holds for rule in rules)
