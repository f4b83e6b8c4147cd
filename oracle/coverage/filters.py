"""Rules that a subscription exercises by taking a message, or by not taking it (FILTER)."""

from typing import Final, assert_never

from busproof import vocabulary as v
from busproof.filters.nodes import (
    And,
    Arithmetic,
    Compare,
    Condition,
    Exists,
    In,
    IsNull,
    Like,
    Negative,
    Not,
    Or,
    Property,
    walked,
)
from busproof.filters.parser import Outside, parsed
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
}
"""Part of an SQL condition to the rule that it exercises."""


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


def _of_sql(condition: Condition, message: v.Message) -> tuple[v.RuleId, ...]:
    """FILTER-11 to FILTER-18: return the rules on SQL that the condition exercises."""
    nodes = list(walked(condition))
    # NOT counts as an operator unless it belongs to NOT IN, NOT LIKE or IS NOT NULL.
    negates = any(
        isinstance(node, Not) and not isinstance(node.condition, In | Like | IsNull)
        for node in nodes
    )
    named = {node.name for node in nodes if isinstance(node, Property) and node.scope == "user"}
    # A property with another case is found (FILTER-18); a property that is missing makes the
    # condition unknown (FILTER-17).
    own = set(message.properties)
    alike = {name.lower() for name in own}
    rules = (
        *rules_if(
            (any(name not in own and name.lower() in alike for name in named), "FILTER-18"),
            (any(name.lower() not in alike for name in named), "FILTER-17"),
        ),
        *(_OF_NODES[type(node)] for node in nodes if type(node) in _OF_NODES),
        *rules_if((negates, "FILTER-12")),
    )
    return tuple(dict.fromkeys(rules))
