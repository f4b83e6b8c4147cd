"""Why a filter or an action is refused when its rule is added (FILTER-19, FILTER-25)."""

from collections.abc import Iterable
from typing import Any

from busproof.filters.actions import objection
from busproof.filters.nodes import Constant, Parameter, walked
from busproof.filters.parser import (
    Outside,
    is_beyond,
    parsed,
    parsed_action,
    unknown_properties,
    unknown_properties_of_action,
)
from busproof.vocabulary.subscription_rules import Filter, SqlFilter

__all__ = ["objection_to_action", "objection_to_filter"]


def objection_to_filter(wanted: Filter) -> str | None:
    """Return why the reference model refuses a filter, as a part of a sentence, or `None`."""
    if not isinstance(wanted, SqlFilter):
        return None
    condition = parsed(wanted.expression)
    if isinstance(condition, Outside):
        return condition.reason
    return _objection_to_parts(unknown_properties(wanted.expression), (condition,))


def objection_to_action(action: str) -> str | None:
    """Return why the reference model refuses an action, as a part of a sentence, or `None`."""
    statements = parsed_action(action)
    if isinstance(statements, Outside):
        return statements.reason
    unknown = unknown_properties_of_action(action)
    return _objection_to_parts(unknown, statements) or objection(statements)


def _objection_to_parts(unknown: tuple[str, ...], trees: Iterable[Any]) -> str | None:
    """Return what is wrong with a part of a text that the grammar derives."""
    if unknown:
        return (
            f"'sys.{unknown[0]}' is no property that messages have; "
            "a property of the application's own has no scope, or `user.`"
        )
    for part in (part for tree in trees for part in walked(tree)):
        if isinstance(part, Parameter):
            return f"the parameter {part.name!r} has no value"
        if isinstance(part, Constant) and is_beyond(part):
            return f"the number {part.value} does not fit into 64 bits"
    return None
