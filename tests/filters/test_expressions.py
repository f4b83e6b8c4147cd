"""The cost of SQL expressions: linear matching and parsing, bounds of length, levels and cache."""

import re
from random import Random

import attrs
import pytest
from work import TURN, check, count_calls, measure_growth, measure_passes

from busproof.filters import evaluation, parser
from busproof.filters.matching import takes
from busproof.filters.nodes import depth_of, walked
from busproof.filters.parser import DEEPEST, KEPT, LONGEST, Outside, parsed
from busproof.vocabulary.messages import Message
from busproof.vocabulary.subscription_rules import SqlFilter

CALLS_OF_A_CHARACTER = 160
"""At most, to parse it; there are 20 to 75."""


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
def test_like_is_open_where_it_depends_on_case(value, pattern, expected) -> None:
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
    ("length", "pattern"),
    [
        (1_000, "%a%ab%"),
        (3_750, "%a" * 400 + "b%"),
        (3_750, "%" + "a" * 500 + "_b%"),
        (3_750, "_%" * 400 + "b%"),
    ],
)
def test_like_takes_linear_time(length: int, pattern: str) -> None:
    """A text eight times as long takes eight times as long; with backtracking, 64 times or more."""

    def match(length: int) -> None:
        # Several, because a short one takes microseconds; each another, so that nothing is known.
        for more in range(5):
            assert fits("a" * (length + more), pattern) is False

    check(20, lambda: measure_growth(lambda: match(length), lambda: match(8 * length)))


@pytest.mark.parametrize(
    ("value", "pattern", "expected"),
    [
        ("é", "é", True),
        ("é", "É", None),
        ("xéé", "%_é", True),
        ("xéy", "_É_", None),
        ("ß", "ẞ", None),
        ("aß", "%_ẞ", None),
        ("ß", "ss", False),
        ("ŉ", "ẞ", False),
    ],
)
def test_like_knows_letters_in_either_case(value: str, pattern: str, expected: object) -> None:
    """Whether a pattern regards case is open, also for letters that fold to several."""
    assert fits(value, pattern) is expected


@pytest.mark.parametrize("pattern", ["%b%", "%_b%", "b"])
@pytest.mark.parametrize("letter", ["a", "é"])
def test_many_patterns_of_a_long_text_take_less_than_a_turn(letter: str, pattern: str) -> None:
    """A rule of the greatest length, and a message with the longest texts."""
    wanted = SqlFilter(expression=" OR ".join([f"a LIKE '{pattern}'"] * 60))
    lengths = iter([30_001, 30_002, 30_003])

    def measure() -> float:
        # Another text each time, so that nothing is known of it.
        anew = Message(body="m", properties={"a": letter * next(lengths)})
        return measure_passes(lambda: takes(wanted, anew))

    assert takes(wanted, Message(body="m", properties={"a": letter * 30_000})) is False
    check(TURN, measure)


def test_many_names_of_many_properties_take_less_than_a_turn() -> None:
    """Each name is found without a look at all properties."""
    wanted = SqlFilter(expression=" OR ".join(f"p{number}=1" for number in range(110)))
    properties = {f"o{number}": number for number in range(9_000)}
    assert takes(wanted, Message(body="m", properties=properties)) is False
    anew = iter([Message(body="m", properties=properties) for _ in range(3)])
    check(TURN, lambda: measure_passes(lambda: takes(wanted, next(anew))))


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
    """In so many calls for each character, whatever it is."""
    parsed("a=1")  # the grammar is read once
    parser._condition.cache_clear()
    assert count_calls(lambda: parsed(LONG[name])) <= CALLS_OF_A_CHARACTER * len(LONG[name])
    assert getattr(parsed(LONG[name]), "name", "") != "EXCESS"


ROWS = {
    "sums": ("a=1" + "+1" * 500, 501),
    "signs": ("a=" + "-" * 1_000 + "1", 1),
    "negations": ("NOT " * 250 + "a=1", 1),
    "products": ("a=1" + "*1" * 500, 1),
    "pluses": ("a=" + "+" * 1_000 + "1", 1),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_operators_are_no_levels(name: str) -> None:
    """So that a filter of the greatest length is evaluated, whatever it repeats."""
    expression, value = ROWS[name]
    assert len(expression) <= LONGEST
    for number, expected in ((value, True), (value + 1, False)):
        message = Message(body="m", properties={"a": number})
        assert takes(SqlFilter(expression=expression), message) is expected


def test_as_many_levels_as_allowed_are_evaluated() -> None:
    """Without exhausting Python's stack."""
    levels = DEEPEST - 3
    expression = "p(" * levels + "'a'" + ")" * levels + "=1"
    condition = parsed(expression)
    assert not isinstance(condition, Outside)
    assert depth_of(condition) == DEEPEST - 1
    assert len(list(walked(condition))) == levels + 3
    holds = Message(body="m", properties={"a": "a"})
    assert takes(SqlFilter(expression=expression), holds) is False
    assert parsed(expression.replace("'a'", "'a' ")) == condition


def test_parsed_expressions_are_kept_up_to_a_bound() -> None:
    """Filters and actions alike."""
    caches = (parser._condition, parser._statements, evaluation.verdict_of)
    assert {KEPT} == {cache.cache_info().maxsize for cache in caches}


CALLS_OF_A_TERM = 16
"""Most calls of functions for each term of a condition that is evaluated."""


@pytest.mark.parametrize("terms", [10, 100])
@pytest.mark.parametrize("term", ["p{}=1", "p{}='x'", "x LIKE '%{}%'", "p{}+1>2", "p{} IN (1,2)"])
def test_cost_of_a_condition_grows_with_its_terms_alone(term: str, terms: int) -> None:
    """The benchmark of filters has the microseconds."""
    expression = " OR ".join(term.format(number) for number in range(terms))
    wanted = SqlFilter(expression=expression[:LONGEST].rpartition(" OR ")[0])
    properties = {"x": "y", **{f"p{number}": 0 for number in range(terms)}}
    message = Message(body="m", properties=properties)
    assert takes(wanted, message) is False  # it is made into functions once
    again = attrs.evolve(message, body="n")
    written = wanted.expression.count("OR") + 1
    assert count_calls(lambda: takes(wanted, again)) <= 20 + (CALLS_OF_A_TERM + 1) * written + terms
