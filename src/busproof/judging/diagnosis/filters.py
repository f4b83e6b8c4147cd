"""Rules on the filters and actions of a subscription that decide which copies it has."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.filters.nodes import (
    And,
    Arithmetic,
    Compare,
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
    walked,
)
from busproof.filters.parser import Outside, is_regular, parsed
from busproof.judging.diagnosis.conditions import rules_if
from busproof.judging.diagnosis.scene import Scene
from busproof.model.state import Entity

__all__ = ["rules_of_filters", "rules_of_sql"]

OF_NODES: Final[dict[type, v.RuleId]] = {
    Like: "FILTER-15",
    In: "FILTER-14",
    IsNull: "FILTER-13",
    Exists: "FILTER-13",
    Arithmetic: "FILTER-16",
    Negative: "FILTER-16",
    Named: "FILTER-30",
    NewId: "FILTER-28",
    And: "FILTER-12",
    Or: "FILTER-12",
    Compare: "FILTER-11",
}
"""Part of a condition in SQL to its rule, the rarest part first."""


def rules_of_sql(expression: str, message: v.Message | None = None) -> tuple[v.RuleId, ...]:
    """Return the rules on what a condition in SQL has in it, the rarest part first."""
    condition = parsed(expression)
    if isinstance(condition, Outside):
        return ()
    nodes: list[Any] = list(walked(condition))
    kinds = {type(node) for node in nodes}
    named = [node for node in nodes if isinstance(node, Property)]
    own = [node.name for node in named if node.scope != "sys"]
    keys: Mapping[str, object] = {} if message is None else message.properties
    unknown = message is not None and any(name not in keys for name in own)
    other_case = unknown and any(
        name.lower() == key.lower() and name not in keys for name in own for key in keys
    )
    special = [kind for kind in OF_NODES if kind not in (And, Or, Compare)]
    return rules_if(
        (any(_is_partition_key(node) for node in named), "FILTER-31"),
        (other_case, "FILTER-18"),
        (any(not is_regular(node.name) for node in named), "FILTER-30"),
        *((kind in kinds, OF_NODES[kind]) for kind in special),
        (unknown and not other_case, "FILTER-17"),
        (kinds & {And, Or, Not}, "FILTER-12"),
        (any(_compares_types(node, keys) for node in nodes), "FILTER-28"),
        (Compare in kinds, "FILTER-11"),
    )


def _compares_types(node: Any, properties: Mapping[str, object]) -> bool:
    """FILTER-28: return whether a comparison is of values of different types."""
    if not isinstance(node, Compare):
        return False
    values = [
        side.value if isinstance(side, Constant) else properties.get(getattr(side, "name", ""))
        for side in (node.left, node.right)
    ]
    kinds = {_kind(value) for value in values if value is not None}
    return len(kinds) > 1


def _kind(value: object) -> type:
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return float if is_number else type(value)


def _is_partition_key(named: Property) -> bool:
    return named.scope == "sys" and named.name.lower() == "partitionkey"


def rules_of_filters(scene: Scene, subscription: Entity, message: v.Message) -> Iterator[v.RuleId]:
    """Yield the rules on the filters of a subscription, and on their changes."""
    rules = subscription.rules
    partitioned = subscription.settings.partitioned
    changes = scene.rule_changes(subscription.path)
    added = [one for one in changes if isinstance(one.command, v.AddRule)]
    removed = [one for one in changes if isinstance(one.command, v.RemoveRule)]
    refused = [one for one in changes if isinstance(one.outcome, v.Refused)]
    inside = [one for one in changes if getattr(one.command, "transaction", None) is not None]
    acting = [rule for rule in rules if rule.action is not None]
    yield from rules_if(
        (inside, "FEAT-19" if not partitioned else "FEAT-03"),
        (refused, "FILTER-19"),
        (acting, "FILTER-22"),
        (len(rules) > 1, "FILTER-05"),
        (not rules, "FILTER-06"),
    )
    for rule in rules:
        match rule.filter:
            case v.TrueFilter() if rule.name != v.DEFAULT_RULE:
                yield "FILTER-02"
            case v.FalseFilter():
                yield "FILTER-02"
            case v.CorrelationFilter() as wanted:
                yield from _of_correlation(wanted, message)
            case v.SqlFilter(expression=expression):
                yield from rules_of_sql(expression, message)
    yield from rules_if(
        (added and partitioned, "FEAT-01"),
        (removed and partitioned, "FEAT-02"),
        (changes, "FILTER-07"),
        (True, "FILTER-20"),
        (not changes, "FILTER-01"),
    )


def _of_correlation(wanted: v.CorrelationFilter, message: v.Message) -> tuple[v.RuleId, ...]:
    """FILTER-03, FILTER-04: return the rules on a filter that compares properties."""
    named = [name for name in CORRELATED if getattr(wanted, name, None) is not None]
    lacking = any(getattr(message, name, None) is None for name in named) or any(
        name not in message.properties for name in wanted.properties
    )
    several = len(named) + len(wanted.properties) > 1
    return ("FILTER-04", "FILTER-03") if lacking or several else ("FILTER-03", "FILTER-04")


CORRELATED: Final = tuple(
    field.name for field in attrs.fields(v.CorrelationFilter) if field.name != "properties"
)
"""Conditions of a correlation filter, besides those on properties of the application's own."""
