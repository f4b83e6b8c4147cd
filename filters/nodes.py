"""Syntax trees of SQL filters and actions: conditions and terms."""

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
    "Negative",
    "Not",
    "Or",
    "Property",
    "Term",
    "depth_of",
    "walked",
]


@attrs.frozen
class Constant:
    """A literal; `None` is NULL."""

    value: str | int | float | bool | None


@attrs.frozen
class Property:
    """A property of a message; names are case-insensitive."""

    scope: Literal["sys", "user"]
    name: str


@attrs.frozen
class Negative:
    """The negative of a number."""

    term: "Term"


@attrs.frozen
class Arithmetic:
    """An arithmetic operation on two numbers."""

    operator: str
    left: "Term"
    right: "Term"


Term = Constant | Property | Negative | Arithmetic


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
    """The conjunction of two conditions."""

    left: "Condition"
    right: "Condition"


@attrs.frozen
class Or:
    """The disjunction of two conditions."""

    left: "Condition"
    right: "Condition"


Condition = Compare | IsNull | Exists | In | Like | Not | And | Or


def walked(part: Any) -> Iterator[Any]:
    """Yield a condition or term with everything that it contains."""
    left = [part]
    while left:
        part = left.pop()
        yield part
        left.extend(reversed(_parts_of(part)))


def depth_of(part: Any) -> int:
    """Return the nesting depth of an expression."""
    depth, level = 0, [part]
    while level:
        depth, level = depth + 1, [inner for outer in level for inner in _parts_of(outer)]
    return depth


def _parts_of(part: Any) -> list[Any]:
    values = [getattr(part, field.name) for field in attrs.fields(type(part))]
    several = [value if isinstance(value, tuple) else (value,) for value in values]
    return [inner for some in several for inner in some if attrs.has(type(inner))]
