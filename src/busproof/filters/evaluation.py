"""Evaluation of SQL conditions on a message (FILTER-11 to FILTER-18).

A condition is true, false or unknown. Where the documents do not define which, the result has a bit
for each that is possible. A condition is made into a function once, which calls those of its parts.
"""

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, assert_never

from busproof.filters.facts import Facts, Missing, Value
from busproof.filters.like import Pattern, fold_text, pattern_of
from busproof.filters.nodes import (
    And,
    Compare,
    Condition,
    Constant,
    Exists,
    In,
    IsNull,
    Like,
    Not,
    Or,
    Property,
    Step,
    Term,
    walked,
)
from busproof.filters.parser import KEPT, Outside, parsed
from busproof.filters.readings import Readings
from busproof.filters.terms import Valuation, valuation

__all__ = ["FALSE", "TRUE", "UNKNOWN", "Verdict", "function_of", "valuation_of", "verdict_of"]

Verdict = Callable[[Facts], int]
"""Function that gives the possible truth values of a condition for a message, as bits."""

TRUE: Final = 1
FALSE: Final = 2
UNKNOWN: Final = 4
_OPEN: Final = TRUE | FALSE | UNKNOWN
_NOT_TRUE: Final = FALSE | UNKNOWN
_EITHER: Final = TRUE | FALSE

_ORDERED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_EQUALITIES: Final = ("=", "<>", "!=")
_EXACT: Final = 2**53
"""Greatest size of whole numbers that doubles hold exactly."""


def _table(how: Callable[[int, int], int]) -> tuple[tuple[int, ...], ...]:
    """Return the results for all pairs of sets of truth values, as rows."""
    values = (TRUE, FALSE, UNKNOWN)

    def combine(left: int, right: int) -> int:
        result = 0
        for one in values:
            for two in values:
                if left & one and right & two:
                    result |= how(one, two)
        return result

    return tuple(tuple(combine(left, right) for right in range(8)) for left in range(8))


def _both(left: int, right: int) -> int:
    """FILTER-17: return false if one side is false, otherwise unknown if one side is unknown."""
    if FALSE in (left, right):
        return FALSE
    return UNKNOWN if UNKNOWN in (left, right) else TRUE


def _any(left: int, right: int) -> int:
    """FILTER-17: return true if one side is true, otherwise unknown if one side is unknown."""
    if TRUE in (left, right):
        return TRUE
    return UNKNOWN if UNKNOWN in (left, right) else FALSE


_AND: Final = _table(_both)
_OR: Final = _table(_any)
_NEGATED: Final = tuple(
    (FALSE if truth & TRUE else 0) | (TRUE if truth & FALSE else 0) | truth & UNKNOWN
    for truth in range(8)
)


@lru_cache(KEPT)
def verdict_of(expression: str, readings: Readings) -> Verdict | None:
    """Return the function that evaluates a filter; `None` if it is outside of the grammar."""
    condition = parsed(expression)
    return None if isinstance(condition, Outside) else function_of(condition, readings)


def valuation_of(term: Term, readings: Readings) -> Valuation:
    """Return the function that gives the value of a term of an action."""
    made: Valuation = function_of(term, readings)
    return made


def function_of(root: Condition | Term, readings: Readings) -> Any:
    """Return the function of a tree; the parts come first, whatever the nesting."""
    made: dict[int, Any] = {}
    for part in reversed(list(walked(root))):
        if isinstance(part, Term):
            made[id(part)] = valuation(part, made, readings)
        elif not isinstance(part, Step):
            made[id(part)] = _verdict(part, made, readings)
    return made[id(root)]


def _verdict(  # noqa: PLR0911 - one closed match
    condition: Condition, parts: Mapping[int, Any], readings: Readings
) -> Verdict:
    """Return the function of a condition, given those of its parts."""
    match condition:
        case And(parts=inner):
            return _join_verdicts(_AND, FALSE, [parts[id(part)] for part in inner])
        case Or(parts=inner):
            return _join_verdicts(_OR, TRUE, [parts[id(part)] for part in inner])
        case Not(condition=negated):
            positive = parts[id(negated)]
            return lambda facts: _NEGATED[positive(facts)]
        case Compare(operator=sign, left=left, right=right):
            if isinstance(left, Property) and isinstance(right, Constant):
                return _compare_with_constant(
                    sign, parts[id(left)], parts[id(right)], right.value, readings
                )
            one = parts[id(left)]
            two = parts[id(right)]
            return lambda facts: _compare_values(sign, one(facts), two(facts), readings)
        case IsNull(property=named):
            value_of = parts[id(named)]
            return lambda facts: _is_null(value_of(facts))
        case Exists(property=named):
            return _exists(parts[id(named)])
        case In(term=term, options=options):
            constants = tuple(each.value for each in options if isinstance(each, Constant))
            functions = [parts[id(option)] for option in options]
            return _among(parts[id(term)], functions, constants, readings)
        case Like():
            return _like(condition, parts, readings)
        case _:
            assert_never(condition)


def _join_verdicts(
    table: tuple[tuple[int, ...], ...], decisive: int, verdicts: list[Verdict]
) -> Verdict:
    """FILTER-12: return the function that combines conditions; one that decides ends it."""
    first, *others = verdicts

    def verdict(facts: Facts) -> int:
        truth = first(facts)
        for other in others:
            if truth == decisive:
                return truth
            truth = table[truth][other(facts)]
        return truth

    return verdict


def _is_null(value: Value) -> int:
    """FILTER-13: return whether the property is missing or null."""
    if value is Missing.OPEN:
        return _EITHER
    return TRUE if value is Missing.UNKNOWN or value is Missing.NULL else FALSE


def _exists(value_of: Valuation) -> Verdict:
    """FILTER-13: return the function that says whether there is the property.

    The documents do not say whether a property exists that is null, or one of the system that is
    not set.
    """

    def verdict(facts: Facts) -> int:
        value = value_of(facts)
        if value is Missing.OPEN or value is Missing.NULL:
            return _EITHER
        return FALSE if value is Missing.UNKNOWN else TRUE

    return verdict


def _compare_with_constant(
    sign: str, value_of: Valuation, constant_of: Valuation, constant: Any, readings: Readings
) -> Verdict:
    """Return the function that compares a property with a constant, mostly of the same type."""
    ordered = _ORDERED[sign]
    kind = type(constant)
    quick = kind is int or (kind in (bool, str) and sign in _EQUALITIES)

    def verdict(facts: Facts) -> int:
        value = value_of(facts)
        if quick and type(value) is kind:
            return TRUE if ordered(value, constant) else FALSE
        if value is Missing.UNKNOWN:
            return UNKNOWN
        return _compare_values(sign, value, constant_of(facts), readings)

    return verdict


def _compare_values(sign: str, left: Value, right: Value, readings: Readings) -> int:  # noqa: PLR0911
    """FILTER-11, FILTER-28: compare two values."""
    if type(left) is type(right) is int:
        return TRUE if _ORDERED[sign](left, right) else FALSE
    if left is Missing.UNKNOWN or right is Missing.UNKNOWN:
        return UNKNOWN
    if left is Missing.NULL or right is Missing.NULL:
        return _compare_with_null(sign, left, right, readings)
    if left is Missing.OPEN or right is Missing.OPEN:
        return _OPEN
    if left is Missing.THERE or right is Missing.THERE:
        return _OPEN
    one = _kind(left)
    two = _kind(right)
    if one is not two or one is Missing.FRESH:
        return _compare_other_types(sign, readings)
    if isinstance(left, Missing) or isinstance(right, Missing):
        return _EITHER
    if sign not in _EQUALITIES and one is not float:
        return UNKNOWN if readings.types == "unknown" else _OPEN
    if type(left) is not type(right) and one is float:
        # C# makes a double of a whole number that it compares with one.
        left = float(left)
        right = float(right)
    return TRUE if _ORDERED[sign](left, right) else FALSE


def _compare_with_null(sign: str, left: Value, right: Value, readings: Readings) -> int:
    if readings.nulls == "unknown":
        return UNKNOWN
    if left is right or Missing.OPEN in (left, right) or sign in ("<>", "!="):
        return _OPEN
    return _NOT_TRUE


def _compare_other_types(sign: str, readings: Readings) -> int:
    """FILTER-28: compare values of types that C# does not compare; they are never equal."""
    if readings.types == "unknown":
        return UNKNOWN
    return _NOT_TRUE if sign == "=" else _OPEN


def _kind(value: Value) -> Any:
    if isinstance(value, Missing):
        return float if value is Missing.NUMBER else value
    if isinstance(value, bool):
        return bool
    return str if isinstance(value, str) else float


def _among(
    term: Valuation, options: list[Valuation], constants: tuple[Any, ...], readings: Readings
) -> Verdict:
    """FILTER-14: return the function that says whether a value equals one of the options.

    Args:
        term: the value's function.
        options: the options' functions.
        constants: the values of the options that are constants.
        readings: how open questions are read.
    """
    kinds = {type(constant) for constant in constants}
    alike = len(constants) == len(options) and kinds in ({int}, {str})
    kind, values = (kinds.pop(), frozenset(constants)) if alike else (None, frozenset())
    # The documents do not say what an unknown option among others means.
    unknown = UNKNOWN if readings.nulls == "unknown" else _OPEN

    def verdict(facts: Facts) -> int:
        value = term(facts)
        if value is Missing.UNKNOWN:
            return UNKNOWN
        if type(value) is kind:
            return TRUE if value in values else FALSE
        result = FALSE
        for option_of in options:
            option = option_of(facts)
            missing = option is Missing.UNKNOWN
            equal = unknown if missing else _compare_values("=", value, option, readings)
            result = _OR[result][equal]
        return result

    return verdict


def _like(like: Like, parts: Mapping[int, Any], readings: Readings) -> Verdict:
    """FILTER-15: return the function that says whether a text matches a pattern."""
    value_of = parts[id(like.term)]
    pattern_value = parts[id(like.pattern)]
    escape_value = _no_escape if like.escape is None else parts[id(like.escape)]
    text = like.pattern.value if isinstance(like.pattern, Constant) else None
    # Most patterns are constants, which are read once.
    wanted = pattern_of(text, "") if isinstance(text, str) and like.escape is None else None

    def verdict(facts: Facts) -> int:
        if wanted is not None and type(value := value_of(facts)) is str:
            return _fits(readings, value, wanted)
        value = value_of(facts)
        pattern = pattern_value(facts)
        escape = escape_value(facts)
        if type(value) is type(pattern) is type(escape) is str:
            return _fits(readings, value, pattern_of(pattern, escape))
        if Missing.UNKNOWN in (value, pattern, escape):
            return UNKNOWN
        if Missing.NULL in (value, pattern):
            return UNKNOWN if readings.nulls == "unknown" else _NOT_TRUE
        return UNKNOWN if readings.types == "unknown" else _OPEN

    return verdict


def _no_escape(_: Facts) -> Value:
    return ""


def _fits(readings: Readings, value: str, wanted: Pattern | None) -> int:
    """Return whether a text matches a pattern, which may be none; case may decide or not."""
    if wanted is None:
        return UNKNOWN if readings.types == "unknown" else _OPEN
    if readings.like_case != "insensitive" and wanted.fits(value):
        return TRUE
    if readings.like_case == "sensitive" or not wanted.fits_folded(fold_text(value)):
        return FALSE
    return TRUE if readings.like_case == "insensitive" else _EITHER
