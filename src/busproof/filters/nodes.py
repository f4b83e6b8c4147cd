"""Syntax trees of SQL filters and actions: conditions, terms and statements."""

from collections.abc import Iterator
from typing import Any, Literal

import attrs

__all__ = [
    "And",
    "Arithmetic",
    "Compare",
    "Condition",
    "Constant",
    "Exists",
    "In",
    "IsNull",
    "Like",
    "Named",
    "Negative",
    "NewId",
    "Not",
    "Or",
    "Parameter",
    "Property",
    "Remove",
    "Set",
    "Statement",
    "Step",
    "Term",
    "depth_of",
    "walked",
]


@attrs.frozen
class Constant:
    """A literal; `None` is NULL, and values of different types are different literals."""

    value: str | int | float | bool | None = attrs.field(eq=lambda value: (type(value), value))


@attrs.frozen
class Property:
    """A property of a message; names are case-insensitive."""

    scope: Literal["sys", "user"]
    name: str


@attrs.frozen
class Named:
    """`property(name)`: the property of the application's own whose name is a term's value."""

    name: "Term"


@attrs.frozen
class NewId:
    """`newid()`: an identifier that no other value equals."""


@attrs.frozen
class Parameter:
    """A parameter, such as `@p`, whose value nobody has put in its place."""

    name: str


@attrs.frozen
class Negative:
    """A number behind one or more minus signs.

    A row of signs is one node, and so is a row of operations: no level of nesting for each of them.
    """

    term: "Term"
    signs: int = 1


@attrs.frozen
class Step:
    """An operation of arithmetic on what stands left of it."""

    operator: str
    term: "Term"


@attrs.frozen
class Arithmetic:
    """Operations of one precedence, calculated from left to right."""

    first: "Term"
    steps: tuple[Step, ...]


Term = Constant | Property | Named | NewId | Parameter | Negative | Arithmetic


@attrs.frozen
class Compare:
    """A comparison of two values."""

    operator: str
    left: Term
    right: Term


@attrs.frozen
class IsNull:
    """A test whether a property is missing or null."""

    property: Property


@attrs.frozen
class Exists:
    """A test whether a property exists."""

    property: Property


@attrs.frozen
class In:
    """A test whether a value equals one of several."""

    term: Term
    options: tuple[Term, ...]


@attrs.frozen
class Like:
    """A test whether a text matches a pattern."""

    term: Term
    pattern: Term
    escape: Term | None


@attrs.frozen
class Not:
    """The negation of a condition."""

    condition: "Condition"


@attrs.frozen
class And:
    """The conjunction of two or more conditions."""

    parts: tuple["Condition", ...]


@attrs.frozen
class Or:
    """The disjunction of two or more conditions."""

    parts: tuple["Condition", ...]


Condition = Compare | IsNull | Exists | In | Like | Not | And | Or


@attrs.frozen
class Set:
    """A statement of an action that gives a property a value."""

    property: Property
    term: Term


@attrs.frozen
class Remove:
    """A statement of an action that removes a property."""

    property: Property


Statement = Set | Remove


def walked(part: Any) -> Iterator[Any]:
    """Yield a condition, term or statement with everything that it contains, parents first."""
    left = [part]
    while left:
        part = left.pop()
        yield part
        left.extend(reversed(_parts_of(part)))


def depth_of(part: Any) -> int:
    """Return the nesting depth of a condition, a term or a statement."""
    depth = 0
    level = [part]
    while level:
        depth += 1
        level = [inner for outer in level for inner in _parts_of(outer)]
    return depth


def _parts_of(part: Any) -> list[Any]:
    values = [getattr(part, field.name) for field in attrs.fields(type(part))]
    several = [value if isinstance(value, tuple) else (value,) for value in values]
    return [inner for some in several for inner in some if attrs.has(type(inner))]
