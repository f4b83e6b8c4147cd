"""Values of SQL terms for a message (FILTER-11, FILTER-16 to FILTER-18).

A term is made into a function once, and the function is called for each message. Arithmetic follows
the operators of C#, which the documents refer to: 64-bit integers, truncating division, doubles.
"""

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final, assert_never

from busproof.filters.facts import SYSTEM, Facts, Missing, Value, field_of
from busproof.filters.nodes import (
    Arithmetic,
    Constant,
    Named,
    Negative,
    NewId,
    Parameter,
    Property,
    Term,
)
from busproof.filters.readings import Readings

__all__ = ["Valuation", "valuation"]

Valuation = Callable[[Facts], Value]

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
_LEAST: Final = -(2**63)
_END: Final = 2**63


def valuation(  # noqa: PLR0911 - one closed match
    term: Term, parts: Mapping[int, Any], readings: Readings
) -> Valuation:
    """Return the function that gives a term's value for a message.

    Args:
        term: the term.
        parts: the functions of the terms in it, by the identity of each.
        readings: how open questions are read.
    """
    match term:
        case Constant(value=value):
            fixed = _check_range(value)
            return lambda _: fixed
        case Property(scope="user", name=name):
            return _read_application_property(name.lower())
        case Property(name=name):
            return _read_system_property(name)
        case Named(name=inner):
            return _read_named(parts[id(inner)])
        case NewId():
            return lambda _: Missing.FRESH
        case Parameter():
            return lambda _: Missing.OPEN
        case Negative(term=inner, signs=signs):
            return _negative(parts[id(inner)], signs, readings)
        case Arithmetic(first=first, steps=steps):
            rest = tuple((step.operator, parts[id(step.term)]) for step in steps)
            return _arithmetic(parts[id(first)], rest, readings)
        case _:
            assert_never(term)


def _check_range(value: str | float | bool | None) -> Value:
    """Return the value of a constant; a number out of its type's range has none that is defined."""
    if value is None:
        return Missing.NULL
    if isinstance(value, int) and not _LEAST <= value < _END:
        return Missing.OPEN
    return Missing.OPEN if value in (math.inf, -math.inf) else value


def _read_application_property(name: str) -> Valuation:
    unknown = Missing.UNKNOWN
    return lambda facts: facts.user.get(name, unknown)


def _read_system_property(name: str) -> Valuation:
    value_of = SYSTEM.get(name.lower())
    field = field_of(name)
    if value_of is None:
        return lambda _: Missing.OPEN
    return lambda facts: (
        Missing.OPEN if field in facts.open else value_of(facts.message, facts.arrival)
    )


def _read_named(inner: Valuation) -> Valuation:
    def value(facts: Facts) -> Value:
        name = inner(facts)
        if not isinstance(name, str):
            # The documents want a text, and do not say what comes of anything else.
            return Missing.UNKNOWN if name is Missing.UNKNOWN else Missing.OPEN
        # Nor do they say whether the text may have a scope.
        if name.lower().startswith(("sys.", "user.")):
            return Missing.OPEN
        return facts.user.get(name.lower(), Missing.UNKNOWN)

    return value


def _negative(inner: Valuation, signs: int, readings: Readings) -> Valuation:
    def value(facts: Facts) -> Value:
        result = inner(facts)
        for _ in range(signs):
            result = _calculate_step("-", 0, result, readings)
        return result

    return value


def _arithmetic(
    first: Valuation, rest: tuple[tuple[str, Valuation], ...], readings: Readings
) -> Valuation:
    def value(facts: Facts) -> Value:
        result = first(facts)
        for sign, operand in rest:
            right = operand(facts)
            if type(result) is int and type(right) is int and sign in "+-*":
                # This is what most operations are; the others take five times as long.
                whole = _WHOLE[sign](result, right)
                if _LEAST <= whole < _END:
                    result = whole
                    continue
            result = _calculate_step(sign, result, right, readings)
        return result

    return value


def _calculate_step(sign: str, left: Value, right: Value, readings: Readings) -> Value:
    """FILTER-16, FILTER-17: return the result of one operation."""
    if left is Missing.UNKNOWN or right is Missing.UNKNOWN:
        return Missing.UNKNOWN
    if left is Missing.NULL or right is Missing.NULL:
        return Missing.UNKNOWN if readings.nulls == "unknown" else Missing.OPEN
    if isinstance(left, Missing) or isinstance(right, Missing):
        return Missing.OPEN
    if isinstance(left, str | bool) or isinstance(right, str | bool):
        return Missing.UNKNOWN if readings.types == "unknown" else Missing.OPEN
    result = _result(sign, left, right)
    if result is None:
        return Missing.UNKNOWN if readings.overflow == "unknown" else Missing.OPEN
    return result


def _result(sign: str, left: float, right: float) -> float | None:
    """Return the result of two numbers; `None` if their type cannot hold it."""
    if sign in "/%" and right == 0:
        return None
    if isinstance(left, int) and isinstance(right, int):
        whole = _WHOLE[sign](left, right)
        return whole if _LEAST <= whole < _END else None
    if not (math.isfinite(left) and math.isfinite(right)):
        return None
    reckoned = _RECKONED[sign](float(left), float(right))
    return reckoned if math.isfinite(reckoned) else None
