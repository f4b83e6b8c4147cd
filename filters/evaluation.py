"""Evaluation of SQL filter conditions on a message (FILTER-11 to FILTER-18).

A condition is true, false or unknown (`None`). Where the documents do not define the result, the
result is the set of all possible ones.
"""

import operator
from collections.abc import Callable
from typing import Any, Final, assert_never

from busproof.filters.like import Wildcard, folded, matches, signs
from busproof.filters.parser import And, Compare, Condition, Exists, In, IsNull, Like, Not, Or
from busproof.filters.terms import Missing, Value, is_there, value_of
from busproof.vocabulary.messages import Message

__all__ = ["Truth", "truth"]

Truth = frozenset[bool | None]

_UNKNOWN: Final[Truth] = frozenset({None})
_OPEN: Final[Truth] = frozenset({True, False, None})
_NOT_TRUE: Final[Truth] = frozenset({False, None})
_ORDERED: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def truth(condition: Condition, message: Message) -> Truth:  # noqa: PLR0911 - one closed match
    """Return the possible truth values of the condition for this message."""
    match condition:
        case And(left=left, right=right):
            return _combined(_and, truth(left, message), truth(right, message))
        case Or(left=left, right=right):
            return _combined(_or, truth(left, message), truth(right, message))
        case Not(condition=inner):
            return frozenset(
                None if value is None else not value for value in truth(inner, message)
            )
        case Compare(operator=sign, left=left, right=right):
            return _compared(sign, value_of(left, message), value_of(right, message))
        case IsNull(property=named):
            return _is_null(value_of(named, message))
        case Exists(property=named):
            there = is_there(named, message)
            return frozenset({True, False}) if there is None else frozenset({there})
        case In(term=term, options=options):
            return _among(
                value_of(term, message), [value_of(option, message) for option in options]
            )
        case Like(term=term, pattern=pattern, escape=escape):
            values = [value_of(operand, message) for operand in (term, pattern)]
            signs = () if escape is None else (value_of(escape, message),)
            return _fits(*values, *signs)
        case _:
            assert_never(condition)


def _combined(
    how: Callable[[bool | None, bool | None], bool | None], left: Truth, right: Truth
) -> Truth:
    return frozenset(how(one, two) for one in left for two in right)


def _and(left: bool | None, right: bool | None) -> bool | None:
    """FILTER-17: return false if one side is false, otherwise unknown if one side is unknown."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def _or(left: bool | None, right: bool | None) -> bool | None:
    """FILTER-17: return true if one side is true, otherwise unknown if one side is unknown."""
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def _is_null(value: Value) -> Truth:
    """FILTER-13: return whether the property is missing or null."""
    if value is Missing.OPEN:
        return _OPEN
    return frozenset({isinstance(value, Missing)})


def _compared(sign: str, left: Value, right: Value) -> Truth:
    """FILTER-11: compare two values; texts only for equality, and case-sensitively."""
    if Missing.UNKNOWN in (left, right):
        return _UNKNOWN
    if Missing.OPEN in (left, right) or left is right is Missing.NULL:
        return _OPEN
    if Missing.NULL in (left, right):
        return _OPEN if sign in ("<>", "!=") else _NOT_TRUE
    orderless = sign in ("=", "<>", "!=")
    if _kind(left) is not _kind(right) or not (orderless or _kind(left) is float):
        return _OPEN
    return frozenset({_ORDERED[sign](left, right)})


def _kind(value: Value) -> type:
    if isinstance(value, bool):
        return bool
    return str if isinstance(value, str) else float


def _among(value: Value, options: list[Value]) -> Truth:
    """FILTER-14: return whether the value equals one of the options."""
    if value is Missing.UNKNOWN:
        return _UNKNOWN
    result: Truth = frozenset({False})
    for option in options:
        # The documents do not say what an unknown option among others means.
        equal = _OPEN if option is Missing.UNKNOWN else _compared("=", value, option)
        result = _combined(_or, result, equal)
    return result


def _fits(value: Value, pattern: Value, escape: Value = "") -> Truth:
    """FILTER-15: return whether a text matches a pattern; open if upper and lower case decide."""
    if Missing.UNKNOWN in (value, pattern, escape):
        return _UNKNOWN
    if Missing.NULL in (value, pattern):
        return _NOT_TRUE
    if not (isinstance(value, str) and isinstance(pattern, str) and isinstance(escape, str)):
        return _OPEN
    wanted = signs(pattern, escape) if len(escape) <= 1 else None
    if wanted is None:
        return _OPEN
    exactly = matches(wanted, value)
    regardless_of_case = exactly or matches(
        [sign if isinstance(sign, Wildcard) else folded(sign) for sign in wanted], folded(value)
    )
    return frozenset({exactly, regardless_of_case})
