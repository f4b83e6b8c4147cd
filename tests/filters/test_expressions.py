"""The cost of SQL expressions: linear matching and parsing, bounds of length, levels and cache."""

import re
import time
from random import Random

import pytest

from busproof.filters.actions import parsed_action
from busproof.filters.matching import takes
from busproof.filters.nodes import depth_of, walked
from busproof.filters.parser import DEEPEST, KEPT, LONGEST, Outside, parsed
from busproof.vocabulary.messages import Message
from busproof.vocabulary.subscription_rules import SqlFilter

GENEROUS = 5.0
"""Seconds of CPU that a bounded expression is far from, and a catastrophic one exceeds."""


def fits(value: str, pattern: str, escape: str = "") -> bool | None:
    quoted = [text.replace("'", "''") for text in (pattern, escape)]
    ending = f" ESCAPE '{quoted[1]}'" if escape else ""
    message = Message(body="m", properties={"a": value})
    return takes(SqlFilter(expression=f"a LIKE '{quoted[0]}'{ending}"), message)


def as_regex(pattern: str) -> str:
    """The obvious meaning of a pattern, which takes exponential time for some."""
    wildcards = {"%": ".*", "_": "."}
    return "".join(wildcards.get(sign, re.escape(sign)) for sign in pattern)


def test_like_matches_as_the_obvious_regular_expression_does() -> None:
    """For short texts and patterns of few letters, so that many of them match."""
    random = Random(5)
    matched = 0
    for _ in range(3_000):
        value = "".join(random.choice("ab\n") for _ in range(random.randrange(7)))
        pattern = "".join(random.choice("ab_%\n") for _ in range(random.randrange(7)))
        expected = re.fullmatch(as_regex(pattern), value, re.DOTALL) is not None
        assert fits(value, pattern) is expected, (value, pattern)
        matched += expected
    assert 300 < matched < 2_700


@pytest.mark.parametrize(
    ("value", "pattern", "expected"),
    [("ABC", "a%", None), ("ABC", "A%", True), ("ABC", "b%", False), ("É", "é", None)],
)
def test_like_is_open_where_it_depends_on_case(
    value: str, pattern: str, expected: bool | None
) -> None:
    """And decided where case makes no difference."""
    assert fits(value, pattern) is expected


def test_escaped_wildcards_are_letters() -> None:
    """And an escape of something else is open."""
    assert fits("50%", "50!%", "!") is True
    assert fits("500", "50!%", "!") is False
    assert fits("a!", "_!!", "!") is True
    assert fits("a", "!a", "!") is None
    assert fits("a", "a!", "!") is None


@pytest.mark.parametrize(
    ("value", "pattern"),
    [
        ("a" * 40, "%a" * 14 + "b"),
        ("a" * 30_000, "%a" * 400 + "b"),
        ("a" * 30_000, "%" + "a" * 500 + "_b%"),
        ("a" * 30_000, "_%" * 400 + "b"),
    ],
)
def test_like_takes_linear_time(value: str, pattern: str) -> None:
    """Whatever wildcards there are: a backtracking matcher does not end."""
    before = time.process_time()
    assert fits(value, pattern) is False
    assert time.process_time() - before < GENEROUS


LONG = {
    "disjunction": " OR ".join(["a=1"] * 140),
    "conjunction": "NOT " * 20 + " AND ".join(["a=1"] * 100),
    "parentheses": "(" * 480 + "a=1" + ")" * 480,
    "parentheses of values": "(" * 480 + "a" + ")" * 480 + "=1",
    "open parentheses": "(" * LONGEST,
    "list": f"a IN ({', '.join(['1'] * 300)})",
    "texts": "a = '" + "'" * 1_000,
}


@pytest.mark.parametrize("name", LONG)
def test_expression_of_the_greatest_length_is_parsed_in_linear_time(name: str) -> None:
    """Twenty of them in less time than ten took when the parser was not linear."""
    before = time.process_time()
    for _ in range(20):
        assert parsed(LONG[name]) is not Outside.EXCESS
        parsed.cache_clear()
    assert time.process_time() - before < GENEROUS


@pytest.mark.parametrize(
    "expression",
    [
        "a=1" + "+1" * 500,
        "a=" + "-" * 1_000 + "1",
        "NOT " * 250 + "a=1",
        "a = '" + "x" * LONGEST + "'",
        "(" * 100_000,
    ],
)
def test_expression_beyond_the_bounds_is_not_evaluated(expression: str) -> None:
    """Nothing is said of what it takes."""
    assert parsed(expression) is Outside.EXCESS
    assert takes(SqlFilter(expression=expression), Message(body="m")) is None


@pytest.mark.parametrize("action", ["SET a = 1" + "+1" * 500, "SET a = '" + "x" * LONGEST + "'"])
def test_action_beyond_the_bounds_is_not_evaluated(action: str) -> None:
    """Nothing is said of what it does."""
    assert parsed_action(action) is Outside.EXCESS


def test_as_many_levels_as_allowed_are_evaluated() -> None:
    """Without exhausting Python's stack."""
    expression = "a=1" + "+1" * (DEEPEST - 3)
    condition = parsed(expression)
    assert not isinstance(condition, Outside)
    assert depth_of(condition) <= DEEPEST
    assert len(list(walked(condition))) == 2 * (DEEPEST - 2) + 1
    holds = Message(body="m", properties={"a": DEEPEST - 2})
    assert takes(SqlFilter(expression=expression), holds) is True


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("(a=1) + 2 = 3", Outside.WRONG),
        ("(a=1)+2 AND 5", Outside.WRONG),
        ("(a) IS NULL", Outside.WRONG),
        ("NOT (a)", Outside.BEYOND),
        ("((a)) AND b = 1", Outside.BEYOND),
        ("a = 9223372036854775808", Outside.BEYOND),
        ("a = (b = 1", Outside.WRONG),
    ],
)
def test_value_and_condition_are_distinguished_behind_parentheses(
    expression: str, why: Outside
) -> None:
    """Though one grammar reads both."""
    assert parsed(expression) is why


def test_parsed_expressions_are_kept_up_to_a_bound() -> None:
    """Filters and actions alike."""
    assert parsed.cache_info().maxsize == KEPT
    assert parsed_action.cache_info().maxsize == KEPT
