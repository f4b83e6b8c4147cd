"""The actions of rules, as far as the catalogue states their language (FILTER-21 on).

The subset: `SET property = term` and `REMOVE property`, one behind the other with semicolons, where
a term is what it is in a condition. What an action makes of a copy is *open* where it sets what is
a key or what no message has, sets a property to what is not defined, or reads what it changes.
"""

from functools import cache
from typing import Any, Final

import attrs
from immutables import Map
from lark import Lark, v_args
from lark.exceptions import LarkError, VisitError

from busproof.filters.parser import (
    GRAMMAR,
    OUTSIDE,
    Builder,
    Constant,
    Outside,
    Property,
    Term,
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
"""FILTER-23: the property of a copy that names the rule which made it."""

_STATEMENTS: Final = (
    r"""
statements: statement (";" statement)* [_END]
loosely: (";" | "," | statement)+
?statement: _SET property "=" term -> set | _REMOVE property -> remove
_END: ";"
_SET: /SET\b/i
_REMOVE: /REMOVE\b/i
"""
    + GRAMMAR
)
_KEYS: Final = frozenset({"message_id", "session_id"})
"""Properties of the system by which a message is placed or told apart."""

_KEY_NAMES: Final = frozenset({"messageid", "sessionid", "partitionkey"})
"""Their names without case; a filter sees no partition key, an action may still name it."""


@attrs.frozen
class Set:
    """Give a property a value."""

    property: Property
    term: Term


@attrs.frozen
class Remove:
    """Take a property away."""

    property: Property


Statement = Set | Remove


@v_args(inline=True)
class _Builder(Builder):
    """Makes statements of what the grammar finds."""

    def statements(self, *found: Statement | None) -> tuple[Statement, ...]:
        return tuple(each for each in found if each is not None)

    def set(self, named: Property, term: Term) -> Set:
        return Set(named, term)

    def remove(self, named: Property) -> Remove:
        return Remove(named)


@cache
def _parser() -> Lark:
    return Lark(
        _STATEMENTS,
        start=["statements", "loosely"],
        parser="earley",
        lexer="dynamic",
        maybe_placeholders=True,
    )


@cache
def parsed_action(expression: str) -> tuple[Statement, ...] | Outside:
    """The statements of an action, or why they are none of the subset.

    Semicolons are said to be optional, and commas to stand between statements: what is written so
    is neither in the subset nor wrong.
    """
    try:
        found: Any = _Builder().transform(_parser().parse(expression, start="statements"))
    except VisitError:
        return Outside.BEYOND
    except LarkError:
        loose = not expression.strip() or OUTSIDE.search(expression) or _is_loose(expression)
        return Outside.BEYOND if loose else Outside.WRONG
    return tuple(found)


def _is_loose(expression: str) -> bool:
    try:
        _parser().parse(expression, start="loosely")
    except LarkError:
        return False
    return True


def is_plain(statements: tuple[Statement, ...]) -> bool:
    """Whether the documents say what these statements do, but for the values that they read."""
    targets = [_named(each.property) for each in statements]
    terms = [each.term for each in statements if isinstance(each, Set)]
    read = {_named(part) for term in terms for part in walked(term) if isinstance(part, Property)}
    alone = len(set(targets)) == len(targets) and not read & set(targets)
    return alone and all(_is_settable(each) for each in statements)


def _named(found: Property) -> tuple[str, str]:
    return found.scope, found.name.lower()


def _is_settable(statement: Statement) -> bool:
    """Whether its property is one of the application's own, or a text of the system and no key."""
    name = statement.property.name
    if statement.property.scope == "user":
        return name.lower() != RULE_NAME.lower() and statement != _to_null(statement)
    text = isinstance(statement, Set) and _is_text(statement.term)
    return text and field_of(name) not in (None, *_KEYS)


def sets_a_key(statements: tuple[Statement, ...]) -> bool:
    """Whether one of them sets, or removes, what a message is placed or told apart by."""
    return any(
        each.property.scope == "sys" and each.property.name.lower() in _KEY_NAMES
        for each in statements
    )


def _to_null(statement: Statement) -> Set:
    return Set(statement.property, Constant(None))


def _is_text(term: Term) -> bool:
    return isinstance(term, Constant) and isinstance(term.value, str)


def changed(statements: tuple[Statement, ...], message: Message) -> Message | None:
    """FILTER-21: the message once these plain statements have changed it; `None` if that is open.

    Each reads the message as it was sent.
    """
    after = message
    for each in statements:
        value = value_of(each.term, message) if isinstance(each, Set) else None
        if isinstance(value, Missing):
            return None
        if each.property.scope == "sys":
            told: dict[str, Any] = {field_of(each.property.name) or "": value}
            after = attrs.evolve(after, **told)
            continue
        name = each.property.name
        alike = [own for own in message.properties if own.lower() == name.lower()]
        if any(own != name for own in alike):
            # Which spelling the property has then is not said.
            return None
        after = attrs.evolve(after, properties=_with(after.properties, name, value))
    return after


def _with(
    properties: Map[str, PropertyValue], name: str, value: PropertyValue | None
) -> Map[str, PropertyValue]:
    """The properties with one that is set, or taken away."""
    if value is not None:
        return properties.set(name, value)
    return properties.delete(name) if name in properties else properties
