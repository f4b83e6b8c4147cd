"""Rules that a subscription exercises by taking a message, or by not taking it (FILTER)."""

from typing import Any, Final, assert_never

from busproof import vocabulary as v
from busproof.filters.nodes import (
    And,
    Arithmetic,
    Compare,
    Condition,
    Constant,
    Exists,
    In,
    IsNull,
    Like,
    Named,
    Negative,
    NewId,
    Not,
    Or,
    Property,
    Statement,
    walked,
)
from busproof.filters.parser import Outside, is_regular, parsed, parsed_action
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Subscription

_OF_NODES: Final[dict[type, v.RuleId]] = {
    Compare: "FILTER-11",
    And: "FILTER-12",
    Or: "FILTER-12",
    IsNull: "FILTER-13",
    Exists: "FILTER-13",
    In: "FILTER-14",
    Like: "FILTER-15",
    Arithmetic: "FILTER-16",
    Negative: "FILTER-16",
    Named: "FILTER-30",
}
"""Part of an SQL condition to the rule that it exercises."""

OF_SQL: Final = frozenset(
    (*_OF_NODES.values(), "FILTER-17", "FILTER-18", "FILTER-28", "FILTER-31", "FILTER-32")
)
"""Rules on the SQL of filters."""


def shown_by_taking(
    role: Subscription, message: v.Message, answers: dict[str, bool | None], surely: list[str]
) -> tuple[v.RuleId, ...]:
    """FILTER-01 to FILTER-05, FILTER-07: return the rules exercised by taking a message.

    Args:
        role: the subscription.
        message: the message.
        answers: the name of each rule to whether it takes the message.
        surely: the names of the rules that surely take it.
    """
    # If several rules take the message, the copy does not show which of them did.
    if len(surely) > 1:
        return ("FILTER-05",)
    by_default = surely == [v.DEFAULT_RULE]
    return rules_if(
        (len(answers) > 1, "FILTER-05"),
        (by_default, "FILTER-01"),
        (not by_default, *_rules_of(role.rules[surely[0]], message, taken=True)),
        (not by_default, "FILTER-07"),
    )


def shown_by_not_taking(role: Subscription, message: v.Message) -> tuple[v.RuleId, ...]:
    """FILTER-02 to FILTER-04, FILTER-06, FILTER-07: return the rules shown if no copy is taken."""
    if not role.rules:
        return ("FILTER-06", "FILTER-07")
    rules = [
        # Sorted by name, because the order of rules must not decide which evidence a report names
        # first.
        rule
        for _, condition in sorted(role.rules.items())
        for rule in _rules_of(condition, message, taken=False)
    ]
    return tuple(dict.fromkeys((*rules, "FILTER-07")))


def _rules_of(wanted: v.Filter, message: v.Message, *, taken: bool) -> tuple[v.RuleId, ...]:
    """Return the rules that say why this filter takes the message, or does not."""
    match wanted:
        case v.TrueFilter() | v.FalseFilter():
            return ("FILTER-02",)
        case v.CorrelationFilter():
            return ("FILTER-03",) if taken else ("FILTER-04", "FILTER-03")
        case v.SqlFilter(expression=expression):
            condition = parsed(expression)
            # What is outside of the grammar exercises no rule.
            return () if isinstance(condition, Outside) else _of_sql(condition, message)
        case _:
            assert_never(wanted)


def rules_of_sql(expression: str) -> tuple[v.RuleId, ...]:
    """FILTER-11 to FILTER-16, FILTER-30, FILTER-31: return the rules on what a filter has in it."""
    condition = parsed(expression)
    return () if isinstance(condition, Outside) else _of_nodes(list(walked(condition)))


def _of_nodes(nodes: list[Any]) -> tuple[v.RuleId, ...]:
    # NOT counts as an operator unless it belongs to NOT IN, NOT LIKE or IS NOT NULL.
    negates = any(
        isinstance(node, Not) and not isinstance(node.condition, In | Like | IsNull)
        for node in nodes
    )
    named = [node for node in nodes if isinstance(node, Property)]
    rules = (
        *(_OF_NODES[type(node)] for node in nodes if type(node) in _OF_NODES),
        *rules_if(
            (negates, "FILTER-12"),
            (any(not is_regular(node.name) for node in named), "FILTER-30"),
            (any(_is_partition_key(node) for node in named), "FILTER-31"),
        ),
    )
    return tuple(dict.fromkeys(rules))


def _is_partition_key(named: Property) -> bool:
    return named.scope == "sys" and named.name.lower() == "partitionkey"


def shown_by_acting(action: str) -> tuple[v.RuleId, ...]:
    """FILTER-21 to FILTER-23, FILTER-29: return the rules that a copy by an action exercises."""
    statements = parsed_action(action)
    several = not isinstance(statements, Outside) and _depend(statements)
    return ("FILTER-21", "FILTER-22", "FILTER-23", *rules_if((several, "FILTER-29")))


def _depend(statements: tuple[Statement, ...]) -> bool:
    """Return whether a statement reads or changes what an earlier one has changed."""
    changed: set[tuple[str, str]] = set()
    for statement in statements:
        parts = (part for part in walked(statement) if isinstance(part, Property))
        if any((part.scope, part.name.lower()) in changed for part in parts):
            return True
        changed.add((statement.property.scope, statement.property.name.lower()))
    return False


def _of_sql(condition: Condition, message: v.Message) -> tuple[v.RuleId, ...]:
    """FILTER-11 to FILTER-18, FILTER-28: return the rules that the condition exercises."""
    nodes = list(walked(condition))
    named = {node.name for node in nodes if isinstance(node, Property) and node.scope == "user"}
    # A property with another case is found (FILTER-18); a property that is missing makes the
    # condition unknown (FILTER-17).
    own = set(message.properties)
    alike = {name.lower() for name in own}
    rules = (
        *rules_if(
            (any(name not in own and name.lower() in alike for name in named), "FILTER-18"),
            (any(name.lower() not in alike for name in named), "FILTER-17"),
            (any(_has_other_types(node, message) for node in nodes), "FILTER-28"),
        ),
        *_of_nodes(nodes),
    )
    return tuple(dict.fromkeys(rules))


def _has_other_types(node: Any, message: v.Message) -> bool:
    """Return whether a node asks if a property equals a constant of another type."""
    if not isinstance(node, Compare) or node.operator != "=":
        return False
    left, right = node.left, node.right
    if not isinstance(left, Property) or not isinstance(right, Constant):
        return isinstance(left, NewId) or isinstance(right, NewId)
    own = message.properties.get(left.name)
    return own is not None and right.value is not None and _kind(own) is not _kind(right.value)


def _kind(value: v.PropertyValue) -> type:
    return float if type(value) is int else type(value)
