"""Actions of subscription rules, as far as the catalogue states their language (FILTER-21 on).

The subset has the statements `SET property = term` and `REMOVE property`, separated by semicolons,
with the terms of conditions. The result of an action is *open* if it sets a key or a property that
messages do not have, assigns an undefined value, or reads a property that it changes.
"""

from functools import cache, lru_cache
from typing import Any, Final

import attrs
from immutables import Map
from lark import Lark, v_args
from lark.exceptions import LarkError

from busproof.filters.parser import (
    DEEPEST,
    GRAMMAR,
    KEPT,
    LONGEST,
    OUTSIDE,
    Builder,
    Constant,
    Outside,
    Property,
    Term,
    as_term,
    depth_of,
    walked,
)
from busproof.filters.terms import Missing, field_of, value_of
from busproof.vocabulary.messages import Message, PropertyValue

__all__ = [
    "RULE_NAME",
    "Remove",
    "Set",
    "Statement",
    "changed",
    "is_plain",
    "parsed_action",
    "sets_a_key",
]

RULE_NAME: Final = "RuleName"
"""FILTER-23: property of a copy that has the name of the rule that made it."""

_STATEMENTS: Final = (
    r"""
statements: statement (";" statement)* ";"?
loosely: (";" | "," | statement)+
?statement: _SET property "=" term -> set | _REMOVE property -> remove
_SET: /SET\b/i
_REMOVE: /REMOVE\b/i
"""
    + GRAMMAR
)
_KEYS: Final = frozenset({"message_id", "session_id"})
"""System properties that a message's partition or identity depends on."""

_KEY_NAMES: Final = frozenset({"messageid", "sessionid", "partitionkey"})
"""Lower-case names of keys; a filter cannot read the partition key, but an action can name it."""


@attrs.frozen
class Set:
    """A statement that sets a property."""

    property: Property
    term: Term


@attrs.frozen
class Remove:
    """A statement that removes a property."""

    property: Property


Statement = Set | Remove


@v_args(inline=True)
class _Builder(Builder):
    """Transformer from the grammar's parse tree to statements."""

    def statements(self, *statements: Statement) -> tuple[Statement, ...]:
        return statements

    def set(self, named: Property, term: Any) -> Set:
        return Set(named, as_term(term))

    def remove(self, named: Property) -> Remove:
        return Remove(named)


@cache
def _parser() -> Lark:
    return Lark(
        _STATEMENTS,
        start=["statements", "loosely"],
        parser="lalr",
        maybe_placeholders=True,
    )


@lru_cache(KEPT)
def parsed_action(expression: str) -> tuple[Statement, ...] | Outside:
    """Return the statements of an action, or the reason why it is outside of the subset.

    The documents call semicolons optional, and also separate statements by commas. Such actions are
    neither in the subset nor wrong.
    """
    if len(expression) > LONGEST:
        return Outside.EXCESS
    builder = _Builder()
    try:
        statements: tuple[Statement, ...] = builder.transform(_tree(expression, "statements"))
    except LarkError:
        loose = not expression.strip() or OUTSIDE.search(expression) or _is_loose(expression)
        return Outside.BEYOND if loose else Outside.WRONG
    if any(depth_of(statement) > DEEPEST for statement in statements):
        return Outside.EXCESS
    return Outside.BEYOND if builder.beyond else statements


def _tree(expression: str, start: str) -> Any:
    return _parser().parse(expression, start=start)


def _is_loose(expression: str) -> bool:
    try:
        _Builder().transform(_tree(expression, "loosely"))
    except LarkError:
        return False
    return True


def is_plain(statements: tuple[Statement, ...]) -> bool:
    """Return whether the documents define the result of these statements."""
    targets = [_named(statement.property) for statement in statements]
    terms = [statement.term for statement in statements if isinstance(statement, Set)]
    read = {_named(part) for term in terms for part in walked(term) if isinstance(part, Property)}
    alone = len(set(targets)) == len(targets) and not read & set(targets)
    return alone and all(_is_settable(statement) for statement in statements)


def _named(target: Property) -> tuple[str, str]:
    return target.scope, target.name.lower()


def _is_settable(statement: Statement) -> bool:
    """Return whether a statement may set its property.

    It may not set a key, and it may set a system property only to a text.
    """
    name = statement.property.name
    if statement.property.scope == "user":
        return name.lower() != RULE_NAME.lower() and statement != _to_null(statement)
    text = isinstance(statement, Set) and _is_text(statement.term)
    return text and field_of(name) not in (None, *_KEYS)


def sets_a_key(statements: tuple[Statement, ...]) -> bool:
    """Return whether a statement changes a property that partition or identity depend on."""
    return any(
        statement.property.scope == "sys" and statement.property.name.lower() in _KEY_NAMES
        for statement in statements
    )


def _to_null(statement: Statement) -> Set:
    return Set(statement.property, Constant(None))


def _is_text(term: Term) -> bool:
    return isinstance(term, Constant) and isinstance(term.value, str)


def changed(statements: tuple[Statement, ...], message: Message) -> Message | None:
    """FILTER-21: return the message changed by these plain statements; `None` if that is open.

    Each statement reads the values that the message was sent with.
    """
    after = message
    for statement in statements:
        value = value_of(statement.term, message) if isinstance(statement, Set) else None
        if isinstance(value, Missing):
            return None
        if statement.property.scope == "sys":
            field: dict[str, Any] = {field_of(statement.property.name) or "": value}
            after = attrs.evolve(after, **field)
            continue
        name = statement.property.name
        alike = [own for own in message.properties if own.lower() == name.lower()]
        if any(own != name for own in alike):
            # The documents do not say how the name of the property is spelt afterwards.
            return None
        after = attrs.evolve(after, properties=_with(after.properties, name, value))
    return after


def _with(
    properties: Map[str, PropertyValue], name: str, value: PropertyValue | None
) -> Map[str, PropertyValue]:
    """Return the properties with one of them set or, for `None`, removed."""
    if value is not None:
        return properties.set(name, value)
    return properties.delete(name) if name in properties else properties
