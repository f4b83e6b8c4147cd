"""SQL conditions and actions of the whole documented grammar, drawn as trees and written as text.

Most operands have the type that their operator wants, and most names and values are those that
messages in explorations have, so that a condition is often true and often not.
"""

from typing import Any, Final

from hypothesis import strategies as st

from busproof.filters.nodes import (
    And,
    Arithmetic,
    Compare,
    Condition,
    Constant,
    Exists,
    In,
    IsNull,
    Like,
    Named,
    Negative,
    NewId,
    Not,
    Or,
    Property,
    Remove,
    Set,
    Statement,
    Step,
    Term,
)
from busproof.filters.printing import written, written_action

__all__ = ["ACTION_TEXTS", "ACTION_TREES", "CONDITION_TEXTS", "CONDITION_TREES"]

_NUMERIC: Final = ("a", "b", "size", "SIZE", "B")
_TEXTUAL: Final = ("color", "Color", "shop.type", "Shop.Type")
_SYSTEM: Final = ("Label", "label", "CorrelationId", "To", "ReplyTo", "ContentType")
_GIVEN: Final = (
    *("SequenceNumber", "EnqueuedTimeUtc", "TimeToLive", "DeliveryCount", "Size", "State"),
    *("ScheduledEnqueueTimeUtc", "ExpiresAtUtc", "LockedUntilUtc", "PartitionKey", "SessionId"),
)
_TEXTS: Final = ("red", "RED", "blue", "a_c", "abc", "a%", "x", "X", "order", "it's", "")
_PATTERNS: Final = ("a_c", "a%", "%b%", "r__", "%", "_", "%R%", "o%r", "")


def _user(names: tuple[str, ...]) -> st.SearchStrategy[Property]:
    return st.sampled_from(names).map(lambda name: Property("user", name))


def _system(names: tuple[str, ...]) -> st.SearchStrategy[Property]:
    return st.sampled_from(names).map(lambda name: Property("sys", name))


def _constants(*values: Any) -> st.SearchStrategy[Constant]:
    return st.sampled_from(values).map(Constant)


_NUMBERS: Final = _constants(0, 1, 2, 3, 4, 2.5, 0.005, 2.0, 1e22, 2**63 - 1)
_TEXT_CONSTANTS: Final = _constants(*_TEXTS)
_NUMBER: Final[st.SearchStrategy[Term]] = st.one_of(
    _user(_NUMERIC), _NUMBERS, st.sampled_from(_NUMERIC).map(lambda name: Named(Constant(name)))
)
_STEPS: Final = tuple(
    st.lists(st.builds(Step, st.sampled_from(signs), _NUMBER), min_size=1, max_size=2).map(tuple)
    for signs in (("+", "-"), ("*", "/", "%"))
)
_SUM: Final[st.SearchStrategy[Term]] = st.one_of(
    _NUMBER,
    st.builds(Negative, _user(_NUMERIC), st.integers(1, 2)),
    *(st.builds(Arithmetic, _NUMBER, steps) for steps in _STEPS),
)
_TEXT: Final[st.SearchStrategy[Term]] = st.one_of(
    _user(_TEXTUAL), _system(_SYSTEM), _TEXT_CONSTANTS
)
_ANYTHING: Final[st.SearchStrategy[Term]] = st.one_of(
    _SUM, _TEXT, _system(_GIVEN), st.just(NewId()), _constants(None, True, False)
)
_NAMES: Final = st.one_of(_user(_NUMERIC), _user(_TEXTUAL), _system(_SYSTEM), _system(_GIVEN))
_ORDERS: Final = st.sampled_from(("=", "<>", "!=", "<", "<=", ">", ">="))
_EQUALITIES: Final = st.sampled_from(("=", "<>", "!="))
_ATOMS: Final[st.SearchStrategy[Condition]] = st.one_of(
    st.builds(Compare, _ORDERS, _user(_NUMERIC), _NUMBERS),
    st.builds(Compare, _ORDERS, _SUM, _SUM),
    st.builds(Compare, _EQUALITIES, _user(_TEXTUAL), _TEXT_CONSTANTS),
    st.builds(Compare, _EQUALITIES, _TEXT, _TEXT),
    st.builds(Compare, st.just("="), _user(_NUMERIC), _constants("1", "2", True)),
    st.builds(Compare, _EQUALITIES, _system(("PartitionKey", "SessionId")), _constants("a", "b")),
    st.builds(Compare, _ORDERS, _ANYTHING, _ANYTHING),
    st.builds(IsNull, _NAMES),
    st.builds(Exists, _NAMES),
    st.builds(In, _SUM, st.lists(_NUMBER, min_size=1, max_size=3).map(tuple)),
    st.builds(In, _TEXT, st.lists(_TEXT, min_size=1, max_size=3).map(tuple)),
    st.builds(In, _ANYTHING, st.lists(_ANYTHING, min_size=1, max_size=2).map(tuple)),
    st.builds(Like, _TEXT, _constants(*_PATTERNS), st.none()),
    st.builds(Like, _TEXT, _constants("a!_c", "a!%", "!!%", "!a"), _constants("!", "!!")),
    st.builds(Like, _ANYTHING, _ANYTHING, st.none()),
)


def _negate(condition: Condition) -> Condition:
    """Return the negation, which takes back another one as the parser does."""
    return condition.condition if isinstance(condition, Not) else Not(condition)


def _join(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(inner.map(_negate), st.builds(And, several), st.builds(Or, several))


CONDITION_TREES: Final[st.SearchStrategy[Condition]] = st.recursive(_ATOMS, _join, max_leaves=5)
"""Conditions of the whole grammar."""

CONDITION_TEXTS: Final[st.SearchStrategy[str]] = CONDITION_TREES.map(written)
"""The same, as text."""

_TARGETS: Final = st.one_of(_user(_NUMERIC), _user(_TEXTUAL), _system(("Label", "To", "ReplyTo")))
_STATEMENTS: Final[st.SearchStrategy[Statement]] = st.one_of(
    st.builds(Set, _user(("a", "b", "size")), _SUM),
    st.builds(Set, _user(("color", "shop.type")), _TEXT),
    st.builds(Set, _system(("Label", "To", "ReplyTo", "CorrelationId")), _TEXT),
    st.builds(Remove, _TARGETS),
    st.builds(Set, _TARGETS, _ANYTHING),
)

ACTION_TREES: Final = st.lists(_STATEMENTS, min_size=1, max_size=3).map(tuple)
"""Actions of the whole grammar."""

ACTION_TEXTS: Final[st.SearchStrategy[str]] = ACTION_TREES.map(written_action)
"""The same, as text."""
