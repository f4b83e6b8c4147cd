"""Lists of rules that are charged under conditions, as a table in a function."""

from busproof import vocabulary as v

__all__ = ["rules_if"]


def rules_if(*rows: tuple[object, *tuple[v.RuleId, ...]]) -> tuple[v.RuleId, ...]:
    """Return the rules of the rows whose condition holds: each is a condition and its rules."""
    return tuple(rule for condition, *rules in rows if condition for rule in rules)
