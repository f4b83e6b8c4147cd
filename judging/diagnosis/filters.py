"""Rules on the filters and actions of a subscription that decide which copies it has."""

from collections.abc import Iterator
from typing import Any, Final

from busproof import vocabulary as v
from busproof.filters.nodes import (
    And,
    Arithmetic,
    Compare,
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
    keys = {} if message is None else message.properties
    unknown = message is not None and any(name not in keys for name in own)
    other_case = unknown and any(
        name.lower() == key.lower() and name not in keys for name in own for key in keys
    )
    return rules_if(
        (any(_is_partition_key(node) for node in named), "FILTER-31"),
        (any(not is_regular(node.name) for node in named), "FILTER-30"),
        (other_case, "FILTER-18"),
        *(
            (kind in kinds, rule)
            for kind, rule in OF_NODES.items()
            if kind not in (And, Or, Compare)
        ),
        (Not in kinds, "FILTER-12"),
        (kinds & {And, Or}, "FILTER-12"),
        (unknown and not other_case, "FILTER-17"),
        (Compare in kinds, "FILTER-11"),
    )


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
            case v.CorrelationFilter():
                yield from ("FILTER-03", "FILTER-04")
            case v.SqlFilter(expression=expression):
                yield from rules_of_sql(expression, message)
    yield from rules_if(
        (added and partitioned, "FEAT-01"),
        (removed and partitioned, "FEAT-02"),
        (changes, "FILTER-07"),
        (not changes, "FILTER-01"),
        (True, "FILTER-20"),
    )
