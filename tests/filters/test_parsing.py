"""FILTER-19, FILTER-25: which texts are SQL, and why others are not."""

import pytest
from rows import rows_of

from busproof.filters.nodes import (
    And,
    Arithmetic,
    Compare,
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
    Parameter,
    Property,
    Remove,
    Set,
    Step,
)
from busproof.filters.objections import objection_to_action, objection_to_filter
from busproof.filters.parameters import insert_values
from busproof.filters.parser import (
    DEEPEST,
    LONGEST,
    Outside,
    is_doubtful,
    is_doubtful_action,
    parsed,
    parsed_action,
    unknown_properties,
    unknown_properties_of_action,
)
from busproof.filters.printing import written, written_action
from busproof.vocabulary.subscription_rules import SqlFilter, TrueFilter

A = Property("user", "a")
B = Property("user", "b")
ONE = Constant(1)
EQUAL = Compare("=", A, ONE)

TREES = [
    ("a = 1", EQUAL),
    ("[a] = 1", EQUAL),
    ('"a" = 1', EQUAL),
    ("USER . a = 1", EQUAL),
    ("(a = 1)", EQUAL),
    ("((a)) = (1)", EQUAL),
    ("[a]]b] = 1", Compare("=", Property("user", "a]b"), ONE)),
    ('"a""b" = 1', Compare("=", Property("user", 'a"b'), ONE)),
    ("user.[x y] = 1", Compare("=", Property("user", "x y"), ONE)),
    ("sys.[Label] = 1", Compare("=", Property("sys", "Label"), ONE)),
    ("sys = user", Compare("=", Property("user", "sys"), Property("user", "user"))),
    ("p = property", Compare("=", Property("user", "p"), Property("user", "property"))),
    ("p('a') = property ( b )", Compare("=", Named(Constant("a")), Named(B))),
    ("NEWID() <> a", Compare("<>", NewId(), A)),
    ("a = 0.5E-2", Compare("=", A, Constant(0.005))),
    ("a = 101.5e5", Compare("=", A, Constant(10_150_000.0))),
    ("a = 1e3", Compare("=", A, Constant(1000.0))),
    ("a = 2.0", Compare("=", A, Constant(2.0))),
    ("a = -9223372036854775808", Compare("=", A, Constant(-(2**63)))),
    ("a = 'it''s'", Compare("=", A, Constant("it's"))),
    ("a = tRUE", Compare("=", A, Constant(True))),
    ("a != FALSE", Compare("!=", A, Constant(False))),
    ("a = NULL", Compare("=", A, Constant(None))),
    ("a = @p", Compare("=", A, Parameter("@p"))),
    ("a IS NULL", IsNull(A)),
    ("a IS NOT NULL", Not(IsNull(A))),
    ("EXISTS(a)", Exists(A)),
    ("NOT EXISTS(a)", Not(Exists(A))),
    ("a IN (1)", In(A, (ONE,))),
    ("a NOT IN (1, b)", Not(In(A, (ONE, B)))),
    ("a LIKE 'x%'", Like(A, Constant("x%"), None)),
    ("a NOT LIKE b ESCAPE '!'", Not(Like(A, B, Constant("!")))),
    ("NOT a = 1", Not(EQUAL)),
    ("NOT NOT a = 1", EQUAL),
    ("a = 1 AND a = 1 AND a = 1", And((EQUAL, EQUAL, EQUAL))),
    ("a = 1 OR a = 1 AND a = 1", Or((EQUAL, And((EQUAL, EQUAL))))),
    ("(a = 1 OR a = 1) AND a = 1", And((Or((EQUAL, EQUAL)), EQUAL))),
    ("NOT a = 1 AND a = 1", And((Not(EQUAL), EQUAL))),
    ("--a = 1", Compare("=", Negative(A, 2), ONE)),
    ("+a = 1", Compare("=", Arithmetic(Constant(0), (Step("+", A),)), ONE)),
    ("++a = 1", Compare("=", Arithmetic(Constant(0), (Step("+", A),)), ONE)),
    ("a - b + 1 = 1", Compare("=", Arithmetic(A, (Step("-", B), Step("+", ONE))), ONE)),
    ("(a - b) + 1 = 1", Compare("=", Arithmetic(A, (Step("-", B), Step("+", ONE))), ONE)),
    (
        "(a + b) * 1 = 1",
        Compare("=", Arithmetic(Arithmetic(A, (Step("+", B),)), (Step("*", ONE),)), ONE),
    ),
    ("größe = 1", Compare("=", Property("user", "größe"), ONE)),
]


@pytest.mark.parametrize(("text", "tree"), TREES)
def test_condition_is_read_as_the_grammar_says(text: str, tree: object) -> None:
    """Printed, it is read as the same."""
    found = parsed(text)
    assert tree == found
    assert not isinstance(found, Outside)
    assert parsed(written(found)) == found


SET = Set(A, ONE)


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("SET a = 1", (SET,)),
        ("SET a = 1;", (SET,)),
        ("set a = 1 remove b", (SET, Remove(B))),
        ("SET a = 1, REMOVE b", (SET, Remove(B))),
        ("SET a = 1; REMOVE b", (SET, Remove(B))),
        ("SET a = 1;, REMOVE b;", (SET, Remove(B))),
        ("REMOVE [set]", (Remove(Property("user", "set")),)),
    ],
)
def test_statements_may_be_separated_in_four_ways(text: str, statements: object) -> None:
    found = parsed_action(text)
    assert statements == found
    assert not isinstance(found, Outside)
    assert parsed_action(written_action(found)) == found


@pytest.mark.parametrize(("text", "reason"), rows_of(__file__, "wrong"))
def test_refusal_names_the_token_its_place_and_what_could_stand_there(text, reason) -> None:
    found = parsed(text)
    assert isinstance(found, Outside)
    assert found.name == "WRONG"
    assert reason in found.reason
    assert reason in str(objection_to_filter(SqlFilter(expression=text)))


@pytest.mark.parametrize(("text", "reason"), rows_of(__file__, "wrong_actions"))
def test_refusal_of_an_action_names_the_place(text: str, reason: str) -> None:
    found = parsed_action(text)
    assert isinstance(found, Outside)
    assert reason in found.reason
    assert reason in str(objection_to_action(text))


@pytest.mark.parametrize(("text", "doubtful"), rows_of(__file__, "doubtful_texts"))
def test_text_is_doubtful_where_the_documents_can_be_read_in_two_ways(text, *, doubtful) -> None:
    assert is_doubtful(text) is doubtful
    assert is_doubtful_action(f"SET b = {text[4:]}") is (doubtful and "sys" not in text)


@pytest.mark.parametrize(("text", "doubtful"), rows_of(__file__, "doubtful_conditions"))
def test_condition_is_doubtful_whose_operands_have_no_operator(text, *, doubtful) -> None:
    """A bus may see that before a message comes."""
    assert is_doubtful(text) is doubtful


def test_names_that_the_system_does_not_have_are_known() -> None:
    assert unknown_properties("sys.Nope = 1 OR sys.Label = 'x'") == ("Nope",)
    assert unknown_properties_of_action("SET sys.Nope = 1") == ("Nope",)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sys.Nope = 1", "'sys.Nope' is no property that messages have"),
        ("a = @p", "the parameter '@p' has no value"),
        ("a = 9223372036854775808", "the number 9223372036854775808 does not fit"),
    ],
)
def test_model_objects_to_some_texts_of_the_grammar(text: str, reason: str) -> None:
    assert reason in str(objection_to_filter(SqlFilter(expression=text)))
    assert reason in str(objection_to_action(f"SET b = {text.replace('a = ', '').split(' =')[0]}"))


def test_nothing_speaks_against_others() -> None:
    assert objection_to_filter(TrueFilter()) is None
    assert objection_to_filter(SqlFilter(expression="a = 1")) is None
    assert objection_to_action("SET a = 1") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = '" + "x" * LONGEST + "'", "it has 1,030 characters; a filter may have at most 1,024"),
        ("p(" * 300 + "a" + ")" * 300 + "=1", f"more than {DEEPEST} levels"),
    ],
)
def test_filter_may_be_too_long_or_too_deep(text: str, reason: str) -> None:
    found = parsed(text)
    assert isinstance(found, Outside)
    assert found.name == "EXCESS"
    assert reason in found.reason


def test_action_may_be_too_long() -> None:
    found = parsed_action("SET a = '" + "x" * LONGEST + "'")
    assert isinstance(found, Outside)
    assert found.name == "EXCESS"


# -- Parameters ------------------------------------------------------------------------------------
PARAMETERS = {"@P": 5, "text": "it's", "@n": -1.5, "@t": True, "@big": 1e300, "@low": -(2**63)}


@pytest.mark.parametrize(
    ("expression", "filled"),
    [
        ("a = @p AND b = @text", "a = 5 AND b = 'it''s'"),
        ("a - @n = @low", "a - -1.5 = -9223372036854775808"),
        ("a IN (@t, @big)", "a IN (TRUE, 1e+300)"),
        ("a = '@p' OR [@p] = 1 OR \"x@p\" = @p", "a = '@p' OR [@p] = 1 OR \"x@p\" = 5"),
        ("a = @other", "a = @other"),
        ("a = '" + "x" * LONGEST + "' OR a = @p", "a = '" + "x" * LONGEST + "' OR a = @p"),
    ],
)
def test_values_of_parameters_are_put_in_their_places(expression: str, filled: str) -> None:
    assert filled == insert_values(expression, PARAMETERS)


def test_expression_without_parameters_stays() -> None:
    assert "a = @p" == insert_values("a = @p", {})
