"""Filters of subscriptions in an exploration, and message properties for them to match.

Properties, values and conditions come from small sets, so that some messages match a condition and
others barely miss it. A single number determines the properties of a message: any nine numbers in a
row give each pair of values of `a` and `b`, and each color and size.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import attrs
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.exploration.strategies.sql import CONDITION_TEXTS

__all__ = ["MARKED", "MARKS", "filters", "mark_message"]

T = TypeVar("T")

_HEADERS: Final = (
    "correlation_id",
    "to",
    "reply_to",
    "subject",
    "reply_to_session_id",
    "content_type",
)
_WORDS: Final = ("x", "X")
_NUMBERS: Final = (1, 2, 2.5, 3, 4)
_COLORS: Final = ("red", "RED", "blue", "a_c", "abc", "a%", "ab")

_PROPERTIES: Final[Mapping[str, tuple[v.PropertyValue, ...]]] = {
    "a": (1, 2),
    "b": (1, 2),
    "size": _NUMBERS,
    "color": _COLORS,
    "shop.type": ("order", "item"),
}

MARKED: Final = 9
"""Number of messages with consecutive numbers that together distinguish all conditions."""

_HEADERS_MOD: Final = 11
"""Modulus that decides which numbers have a header; each header is on different numbers."""

_TEXT: Final = st.sampled_from(tuple(f"'{color}'" for color in _COLORS))
_NUMBER: Final = st.sampled_from(tuple(map(str, _NUMBERS)))
_NAME: Final = st.sampled_from(("a", "b", "size", "SIZE", "user.size"))
_COLOR: Final = st.sampled_from(("color", "color", "Color", "user.color"))


def _mostly(weight: int, often: st.SearchStrategy[T], other: st.SearchStrategy[T]) -> Any:
    """Draw `other` once in `weight` times; `one_of` of Hypothesis ignores repeated branches."""
    return st.integers(1, weight).flatmap(lambda drawn: other if drawn == weight else often)


def _write(form: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(form.format, *parts)


_EQUAL: Final = _write("{} = {}", st.sampled_from(("a", "b")), st.sampled_from(("1", "2")))
_ATOM: Final = st.one_of(
    _EQUAL,
    _write("{} {} {}", _NAME, st.sampled_from(("=", "<>", "<", "<=", ">", ">=")), _NUMBER),
    _write("{} {} {}", _COLOR, st.sampled_from(("=", "<>")), _TEXT),
    _write("{} = '{}'", st.sampled_from(("sys.Label", "sys.LABEL")), st.sampled_from(_WORDS)),
    _write("{} {} ({}, {})", _COLOR, st.sampled_from(("IN", "NOT IN")), _TEXT, _TEXT),
    _write("size IN ({}, {})", _NUMBER, _NUMBER),
    _write("color {}", st.sampled_from(("IS NULL", "IS NOT NULL"))),
    _write("{} (size)", st.sampled_from(("EXISTS", "NOT EXISTS"))),
    _write(
        "color LIKE {}",
        st.sampled_from(("'a_c'", "'a%'", "'%b%'", "'a!_c' ESCAPE '!'", "'a!%' ESCAPE '!'")),
    ),
    _write("{} + {} * {} = 4", _NAME, _NUMBER, _NUMBER),
    _write("({} + {}) * 2 = 6", _NAME, _NUMBER),
)
_ALONE: Final = ("{}", "{}", "{}", "NOT {}")
_TOGETHER: Final = (
    "{} AND {}",
    "{} OR {}",
    "NOT {} AND {}",
    "{} OR {} AND {}",
    "({} OR {}) AND {}",
    "NOT ({} AND {})",
)
_BROKEN: Final = st.sampled_from(
    ("size =", "color = 'red", "(a = 1", "= 1 a", "color LIKE", "a = = 'x@y'", "color", "[a = 1")
)
_PART: Final = _mostly(2, _EQUAL, _ATOM)
_CONDITION: Final = st.one_of(
    st.builds(str.format, st.sampled_from(_ALONE), _ATOM),
    st.builds(str.format, st.sampled_from(_TOGETHER), _PART, _PART, _PART),
)

_CONDITIONS: Final[st.SearchStrategy[v.Filter]] = _mostly(
    6, _CONDITION | CONDITION_TEXTS, _BROKEN
).map(lambda written: v.SqlFilter(expression=written))
"""Conditions in the service's SQL, of simple forms and of its whole grammar, a few invalid."""


def _some(most: int) -> st.SearchStrategy[dict[str, Any]]:
    """Draw one or more fields of a message, at most this many, with their values."""
    header = st.tuples(st.sampled_from(_HEADERS), st.sampled_from(_WORDS))
    return st.lists(header | _PROPERTY, min_size=1, max_size=most).map(_fields)


def _fields(pairs: list[tuple[str, v.PropertyValue]]) -> dict[str, Any]:
    headers = {name: value for name, value in pairs if name in _HEADERS}
    return {**headers, "properties": {name: value for name, value in pairs if name not in headers}}


_PROPERTY: Final = st.sampled_from(
    tuple((name, value) for name, values in _PROPERTIES.items() for value in values)
)

MARKS: Final = st.integers(0, 9 * len((*_COLORS, None)) * len((*_NUMBERS, None)) * 11 - 1)
"""Numbers that determine the properties of a message besides its keys."""

_CORRELATIONS: Final[st.SearchStrategy[v.Filter]] = _mostly(
    2,
    _some(2).map(lambda fields: v.CorrelationFilter(**fields)),
    st.sampled_from(
        (
            v.TrueFilter(),
            v.FalseFilter(),
            v.CorrelationFilter(session_id="a"),
            v.CorrelationFilter(message_id="a"),
        )
    ),
)
"""Filters of other kinds than SQL."""


def filters(*, sql: bool) -> st.SearchStrategy[v.Filter]:
    """Draw filters for rules; mostly SQL conditions, if SQL is supported."""
    return _mostly(4, _CONDITIONS, _CORRELATIONS) if sql else _CORRELATIONS


def mark_message(message: v.Message, number: int) -> v.Message:
    """Return a message with the headers and properties that a number stands for."""
    carried = {
        "a": (None, 1, 2)[number % 3],
        "b": (None, 1, 2)[number // 3 % 3],
        "color": (None, *_COLORS)[number % (1 + len(_COLORS))],
        "size": (None, *_NUMBERS)[number % (1 + len(_NUMBERS))],
        "shop.type": (None, "order", "item")[number // 9 % 3],
    }
    there = {name: value for name, value in carried.items() if value is not None}
    headers: dict[str, Any] = {
        name: _header(number, place) for place, name in enumerate(_HEADERS, start=1)
    }
    return attrs.evolve(message, properties=there, **headers)


def _header(number: int, place: int) -> str | None:
    remainder = number * place % _HEADERS_MOD
    return _WORDS[remainder % 2] if remainder < 2 * len(_WORDS) else None
