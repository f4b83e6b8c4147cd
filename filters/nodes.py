"""What a SQL filter or action is made of: conditions, and the values that they compare."""

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
    """A value as it is written; `None` is NULL."""

    value: str | int | float | bool | None


@attrs.frozen
class Property:
    """A property of a message; names are told apart without their case."""

    scope: Literal["sys", "user"]
    name: str


@attrs.frozen
class Negative:
    """The negative of a number."""

    term: "Term"


@attrs.frozen
class Arithmetic:
    """Two numbers reckoned together."""

    operator: str
    left: "Term"
    right: "Term"


Term = Constant | Property | Negative | Arithmetic


@attrs.frozen
class Compare:
    """Whether two values stand in this relation."""

    operator: str
    left: Term
    right: Term


@attrs.frozen
class IsNull:
    """Whether a property is not there, or null."""

    property: Property


@attrs.frozen
class Exists:
    """Whether a property is there."""

    property: Property


@attrs.frozen
class In:
    """Whether a value equals one of several."""

    term: Term
    options: tuple[Term, ...]


@attrs.frozen
class Like:
    """Whether a text fits a pattern."""

    term: Term
    pattern: Term
    escape: Term | None


@attrs.frozen
class Not:
    """Whether a condition is false."""

    condition: "Condition"


@attrs.frozen
class And:
    """Whether both conditions are true."""

    left: "Condition"
    right: "Condition"


@attrs.frozen
class Or:
    """Whether one of two conditions is true."""

    left: "Condition"
    right: "Condition"


Condition = Compare | IsNull | Exists | In | Like | Not | And | Or


def walked(part: Any) -> Iterator[Any]:
    """A condition or a term and all that it is made of."""
    left = [part]
    while left:
        part = left.pop()
        yield part
        left.extend(reversed(_parts_of(part)))


def depth_of(part: Any) -> int:
    """How many levels of parts within parts there are."""
    depth, level = 0, [part]
    while level:
        depth, level = depth + 1, [inner for outer in level for inner in _parts_of(outer)]
    return depth


def _parts_of(part: Any) -> list[Any]:
    values = [getattr(part, field.name) for field in attrs.fields(type(part))]
    several = [value if isinstance(value, tuple) else (value,) for value in values]
    return [inner for some in several for inner in some if attrs.has(type(inner))]
