"""FILTER, FEAT-01, FEAT-02: rules of subscriptions that take a message, or do not."""

from collections.abc import Iterator
from typing import Any, Final, assert_never

import attrs

from busproof import vocabulary as v
from busproof.filters.facts import Arrival
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
from busproof.judging.coverage.notes import Coverage, Rules, coverage_of
from busproof.model.state import Entity
from busproof.model.subscription_rules import RuleChange, SubscriptionRules

__all__ = ["SeenSubscriptionRules", "of_added", "of_empty"]

OF_NODES: Final[dict[type, v.RuleId]] = {
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
"""Part of an SQL condition to the rule that it shows."""


class SeenSubscriptionRules(SubscriptionRules):
    """Observer of what the rules of a subscription take."""

    def copies(
        self, subscription: Entity, message: v.Message, arrival: Arrival | None = None
    ) -> tuple[v.Message, ...]:
        """Note which copies a subscription takes of a message, and for which rules."""
        made = super().copies(subscription, message, arrival)
        coverage = coverage_of(self)
        notes = coverage.at(subscription)
        bare = attrs.evolve(message, body="")
        again = notes.taken.get(bare) is bool(made)
        changed = notes.rules_added or notes.rules_removed
        partitioned = subscription.settings.partitioned
        more = tuple(
            rule
            for holds, rule in (
                (again, "FILTER-20"),
                (partitioned and notes.rules_added, "FEAT-01"),
                (partitioned and notes.rules_removed, "FEAT-02"),
            )
            if holds
        )
        if changed or not made:
            coverage.journal.put(notes.taken, bare, bool(made))
        if not made:
            rules = (*_of_none(subscription.rules, message), *more)
            coverage.keep_out(subscription, rules)
            return made
        rules_of = subscription.rules
        if len(rules_of) == 1 and rules_of[0].name == v.DEFAULT_RULE:
            coverage.copied = {None: ("FILTER-01", *more)}
            return made
        taking = [rule for rule in rules_of if self.takes(rule.filter, message, arrival)]
        copied = _of_copies(rules_of, taking, message)
        coverage.copied = {name: (*rules, *more) for name, rules in copied}
        return made

    def change(self, subscription: Entity, command: RuleChange) -> None:
        """FEAT-01, FEAT-02: note that a rule was added or removed."""
        super().change(subscription, command)
        coverage = coverage_of(self)
        notes = coverage.at(subscription)
        coverage.change(notes)
        if isinstance(command, v.AddRule):
            notes.rules_added = True
        else:
            notes.rules_removed = True


def _of_copies(
    rules: tuple[v.SubscriptionRule, ...], taking: list[v.SubscriptionRule], message: v.Message
) -> Iterator[tuple[str | None, Rules]]:
    """Yield the rules that each copy shows: one for all rules without action, others each."""
    plain = [rule for rule in taking if rule.action is None]
    acting = [rule for rule in taking if rule.action is not None]
    acted = any(rule.action is not None for rule in rules)
    if plain:
        others = sum(rule.action is None for rule in rules)
        yield None, (*(("FILTER-24",) if acted else ()), *_of_taking(others, plain, message))
    for rule in acting:
        yield rule.name, _of_acting(rule.action or "")


def _of_taking(others: int, taking: list[v.SubscriptionRule], message: v.Message) -> Rules:
    """FILTER-01 to FILTER-05, FILTER-07: return the rules that taking a message shows."""
    # If several rules take the message, the copy does not show which of them did.
    if len(taking) > 1:
        return ("FILTER-05",)
    several: Rules = ("FILTER-05",) if others > 1 else ()
    if taking[0].name == v.DEFAULT_RULE:
        return (*several, "FILTER-01")
    return (*several, *_of_filter(taking[0].filter, message, taken=True), "FILTER-07")


def _of_none(rules: tuple[v.SubscriptionRule, ...], message: v.Message) -> Rules:
    """FILTER-02 to FILTER-04, FILTER-06, FILTER-07: return the rules shown if no copy is taken."""
    if not rules:
        return ("FILTER-06", "FILTER-07")
    found = (one for rule in rules for one in _of_filter(rule.filter, message, taken=False))
    return tuple(dict.fromkeys((*found, "FILTER-07")))


def _of_filter(wanted: v.Filter, message: v.Message, *, taken: bool) -> Rules:
    """Return the rules that say why this filter takes the message, or does not."""
    match wanted:
        case v.TrueFilter() | v.FalseFilter():
            return ("FILTER-02",)
        case v.CorrelationFilter():
            return ("FILTER-03",) if taken else ("FILTER-04", "FILTER-03")
        case v.SqlFilter(expression=expression):
            condition = parsed(expression)
            # What is outside of the grammar shows no rule.
            return () if isinstance(condition, Outside) else _of_sql(condition, message)
        case _:
            assert_never(wanted)


def _of_sql(condition: Condition, message: v.Message) -> Rules:
    """FILTER-11 to FILTER-18, FILTER-28: return the rules that the condition shows."""
    nodes = list(walked(condition))
    named = {node.name for node in nodes if isinstance(node, Property) and node.scope == "user"}
    own = set(message.properties)
    alike = {name.lower() for name in own}
    cases = (
        # A property with another case is found; one that is missing makes the condition unknown.
        (any(name not in own and name.lower() in alike for name in named), "FILTER-18"),
        (any(name.lower() not in alike for name in named), "FILTER-17"),
        (any(_has_other_types(node, message) for node in nodes), "FILTER-28"),
    )
    rules = [rule for holds, rule in cases if holds]
    return tuple(dict.fromkeys((*rules, *_of_nodes(nodes))))


def _of_nodes(nodes: list[Any]) -> Rules:
    """FILTER-11 to FILTER-16, FILTER-30, FILTER-31: return the rules on what a filter has in it."""
    # NOT counts as an operator unless it belongs to NOT IN, NOT LIKE or IS NOT NULL.
    negates = any(
        isinstance(node, Not) and not isinstance(node.condition, In | Like | IsNull)
        for node in nodes
    )
    named = [node for node in nodes if isinstance(node, Property)]
    cases = (
        (negates, "FILTER-12"),
        (any(not is_regular(node.name) for node in named), "FILTER-30"),
        (any(_is_partition_key(node) for node in named), "FILTER-31"),
    )
    found = [OF_NODES[type(node)] for node in nodes if type(node) in OF_NODES]
    return tuple(dict.fromkeys((*found, *(rule for holds, rule in cases if holds))))


def _is_partition_key(named: Property) -> bool:
    return named.scope == "sys" and named.name.lower() == "partitionkey"


def _of_acting(action: str) -> Rules:
    """FILTER-21 to FILTER-23, FILTER-29: return the rules that a copy by an action shows."""
    statements = parsed_action(action)
    several = not isinstance(statements, Outside) and _depend(statements)
    return ("FILTER-21", "FILTER-22", "FILTER-23", *(("FILTER-29",) if several else ()))


def _depend(statements: tuple[Statement, ...]) -> bool:
    """Return whether a statement reads or changes what an earlier one has changed."""
    changed: set[tuple[str, str]] = set()
    for statement in statements:
        parts = (part for part in walked(statement) if isinstance(part, Property))
        if any((part.scope, part.name.lower()) in changed for part in parts):
            return True
        changed.add((statement.property.scope, statement.property.name.lower()))
    return False


def _has_other_types(node: Any, message: v.Message) -> bool:
    """Return whether a node asks if a property equals a constant of another type."""
    if not isinstance(node, Compare) or node.operator != "=":
        return False
    left = node.left
    right = node.right
    if not isinstance(left, Property) or not isinstance(right, Constant):
        return isinstance(left, NewId) or isinstance(right, NewId)
    own = message.properties.get(left.name)
    return own is not None and right.value is not None and _kind(own) is not _kind(right.value)


def _kind(value: v.PropertyValue) -> type:
    return float if type(value) is int else type(value)


def of_added(coverage: Coverage, subscription: Entity, command: v.AddRule) -> None:
    """FEAT-01, FILTER-32: show the rules on a rule that is accepted."""
    sql = isinstance(command.filter, v.SqlFilter)
    coverage.show_if((subscription.settings.partitioned, "FEAT-01"), (sql, "FILTER-32"))


def of_empty(coverage: Coverage, entity: Entity) -> None:
    """TOPIC-03, FILTER-02 to FILTER-18: show why a subscription has no message."""
    notes = coverage.at(entity)
    coverage.show_if((notes.late and not notes.arrivals, "TOPIC-03"))
    coverage.show(*notes.kept_by)
