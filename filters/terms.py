"""Values of SQL filter terms for a message (FILTER-11, FILTER-16 to FILTER-18).

Arithmetic follows the operators of C#, which the documents refer to: 64-bit integers, truncating
division, doubles. A result that these do not define is *open*.
"""

import math
import operator
from collections.abc import Callable
from enum import Enum
from typing import Final, assert_never

from immutables import Map

from busproof.filters.parser import Arithmetic, Constant, Negative, Property, Term
from busproof.vocabulary.messages import Message, PropertyValue

__all__ = ["Missing", "Value", "field_of", "is_of_the_system", "is_there", "value_of"]


class Missing(Enum):
    """Reason why a term has no value."""

    UNKNOWN = "a missing application property, or a value computed from one"
    NULL = "null: the constant, or a system property that is not set"
    OPEN = "not defined by the documents"


Value = str | int | float | bool | Missing

_SYSTEM: Final = {
    "messageid": "message_id",
    "sessionid": "session_id",
    "correlationid": "correlation_id",
    "to": "to",
    "replyto": "reply_to",
    "label": "subject",
    "replytosessionid": "reply_to_session_id",
    "contenttype": "content_type",
}
"""Lower-case names of system properties to their names in the vocabulary."""

_RECKONED: Final[dict[str, Callable[[float, float], float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": math.fmod,
}
_WHOLE: Final[dict[str, Callable[[int, int], int]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: abs(left) // abs(right) * (1 if (left < 0) is (right < 0) else -1),
    "%": lambda left, right: abs(left) % abs(right) * (-1 if left < 0 else 1),
}


def field_of(name: str) -> str | None:
    """Return the vocabulary's name of a system property; `None` if there is no such property."""
    return _SYSTEM.get(name.lower())


def is_of_the_system(name: str) -> bool:
    """Return whether a filter can read a system property of this name."""
    return name.lower() in _SYSTEM


def value_of(term: Term, message: Message) -> Value:
    """Return the value of a term for a message, or why it has none."""
    match term:
        case Constant(value=value):
            return Missing.NULL if value is None else value
        case Property():
            return _property(term, message)
        case Negative(term=inner):
            return _reckoned("-", 0, value_of(inner, message))
        case Arithmetic(operator=sign, left=left, right=right):
            return _reckoned(sign, value_of(left, message), value_of(right, message))
        case _:
            assert_never(term)


def is_there(named: Property, message: Message) -> bool | None:
    """Return whether the message has the property; `None` where the documents do not say."""
    value = _property(named, message)
    if named.scope == "user":
        return None if value is Missing.OPEN else value is not Missing.UNKNOWN
    return None if isinstance(value, Missing) else True


def _property(named: Property, message: Message) -> Value:
    name = named.name.lower()
    if named.scope == "sys":
        if name not in _SYSTEM:
            return Missing.OPEN
        value = getattr(message, _SYSTEM[name])
        return Missing.NULL if value is None else str(value)
    return _NAMES.of(message.properties).get(name, Missing.UNKNOWN)


class _Names:
    """Properties of the message that was looked at last, by lower-case names.

    They are kept because a message is matched with many filters in a row, and each may name many
    properties.
    """

    def __init__(self) -> None:
        self._properties: Map[str, PropertyValue] = Map()
        self._by_name: dict[str, Value] = {}

    def of(self, properties: Map[str, PropertyValue]) -> dict[str, Value]:
        """Return the values by lower-case name; a name that occurs in two spellings is open."""
        if properties is not self._properties:
            by_name: dict[str, Value] = {}
            for own, value in properties.items():
                name = own.lower()
                by_name[name] = Missing.OPEN if name in by_name else value
            self._properties, self._by_name = properties, by_name
        return self._by_name


_NAMES: Final = _Names()


def _reckoned(sign: str, left: Value, right: Value) -> Value:
    if Missing.UNKNOWN in (left, right):
        return Missing.UNKNOWN
    if not _is_number(left) or not _is_number(right) or (sign in "/%" and right == 0):
        return Missing.OPEN
    if isinstance(left, int) and isinstance(right, int):
        whole = _WHOLE[sign](left, right)
        return whole if -(2**63) <= whole < 2**63 else Missing.OPEN
    reckoned = _RECKONED[sign](float(left), float(right))  # type: ignore[arg-type]  # both are numbers
    return reckoned if math.isfinite(reckoned) else Missing.OPEN


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
