"""FILTER-03, FILTER-04, FILTER-11 to FILTER-18: which messages a filter takes."""

import pytest

from busproof.filters.matching import takes
from busproof.vocabulary.messages import Message
from busproof.vocabulary.subscription_rules import CorrelationFilter, Filter, SqlFilter

LABEL = CorrelationFilter(subject="x")


def sql(expression: str) -> SqlFilter:
    return SqlFilter(expression=expression)


SQL = [
    ("a = 1", {"a": 1}, True),
    ("a = 1", {"a": 1.0}, True),
    ("a = 1", {"a": 2}, False),
    ("a = 1", {}, False),
    ("a = 1", {"a": "1"}, None),
    ("a = 1", {"a": True}, None),
    ("a = 1", {"A": 1, "a": 1}, None),
    ("NOT a = 1", {}, False),
    ("NOT a = 1", {"a": 2}, True),
    ("a <> 1", {"a": 2}, True),
    ("a != 'x'", {"a": "X"}, True),
    ("a < 2 AND a <= 1 AND a > 0 AND a >= 1", {"a": 1}, True),
    ("a < 'b'", {"a": "a"}, None),
    ("a = TRUE", {"a": True}, True),
    ("a = FALSE", {"a": True}, False),
    ("a < TRUE", {"a": False}, None),
    ("a = NULL", {"a": 1}, False),
    ("NULL = NULL", {}, None),
    ("a <> NULL", {"a": 1}, None),
    ("a = 1 OR b = 1", {"b": 1}, True),
    ("a = 1 OR b = 1", {"b": 2}, False),
    ("a = 1 AND b = 1", {"b": 2}, False),
    ("NOT (a = 1 AND b = 1)", {"b": 2}, True),
    ("a IS NULL", {}, True),
    ("a IS NULL", {"a": 1}, False),
    ("a IS NOT NULL", {"a": 1}, True),
    ("sys.Label IS NULL", {}, True),
    ("sys.Nothing IS NULL", {}, None),
    ("EXISTS (a)", {"a": 1}, True),
    ("EXISTS (a)", {}, False),
    ("EXISTS (a)", {"a": 1, "A": 2}, None),
    ("EXISTS (sys.MessageId)", {}, None),
    ("EXISTS (sys.To)", {}, True),
    ("sys.To = 'there'", {}, True),
    ("sys.TO = 'There'", {}, False),
    ("sys.Label = 'x'", {}, False),
    ("sys.Label <> 'x'", {}, None),
    ("NOT sys.Label = 'x'", {}, None),
    ("a IN (1, 2)", {"a": 2}, True),
    ("a IN (1, 2)", {"a": 3}, False),
    ("a IN (1, 2)", {}, False),
    ("a NOT IN (1, 2)", {}, False),
    ("a NOT IN (1, b)", {"a": 3}, None),
    ("a IN (3, b)", {"a": 3}, True),
    ("a LIKE 'x%'", {"a": "xyz"}, True),
    ("a LIKE 'x_z'", {"a": "xyz"}, True),
    ("a LIKE 'x_z'", {"a": "xyyz"}, False),
    ("a LIKE 'X%'", {"a": "xyz"}, None),
    ("a NOT LIKE 'x%'", {}, False),
    ("a LIKE '!%' ESCAPE '!'", {"a": "%"}, True),
    ("a LIKE '!%' ESCAPE '!'", {"a": "x"}, False),
    ("a LIKE '!x' ESCAPE '!'", {"a": "x"}, None),
    ("a LIKE 'x!' ESCAPE '!'", {"a": "x"}, None),
    ("a LIKE 'x' ESCAPE '!!'", {"a": "x"}, None),
    ("a LIKE 'x'", {"a": 1}, None),
    ("sys.Label LIKE 'x'", {}, False),
    ("a + 1 = 3", {"a": 2}, True),
    ("a - 1.5 = 0.5", {"a": 2}, True),
    ("a * 2 = 4", {"a": 2}, True),
    ("a / 2 = -3", {"a": -7}, True),
    ("a % 3 = -1", {"a": -7}, True),
    ("a / 2.0 = 3.5", {"a": 7}, True),
    ("-a = 2", {"a": -2}, True),
    ("+a = 2", {"a": 2}, True),
    ("a + 1 = 3", {}, False),
    ("a / 0 = 1", {"a": 1}, None),
    ("a + 'x' = 'yx'", {"a": "y"}, None),
    ("a * a = 1", {"a": 2**62}, None),
    ("a * 1.5 = 1", {"a": 1.7e308}, None),
    ("a * 1000000000000000000.0 > 1", {"a": 1e300}, None),
    ("a = 'it''s'", {"a": "it's"}, True),
    ("user.A = 1", {"a": 1}, True),
    ("a", {"a": True}, None),
    ("newid() = a", {"a": 1}, None),
    ("99999999999999999999 = a", {"a": 1}, None),
]


@pytest.mark.parametrize(("expression", "properties", "taken"), SQL)
def test_sql_takes_what_the_documents_say(
    expression: str, properties: dict[str, object], taken: bool | None
) -> None:
    message = Message(body="m", to="there", properties=properties)
    assert takes(sql(expression), message) is taken


CORRELATED = [
    (LABEL, Message(body="m", subject="x"), True),
    (LABEL, Message(body="m", subject="X"), False),
    (LABEL, Message(body="m"), False),
    (CorrelationFilter(properties={"a": 1}), Message(body="m", properties={"a": 1}), True),
    (CorrelationFilter(properties={"a": 1}), Message(body="m", properties={"a": 1.0}), None),
    (CorrelationFilter(properties={"a": 1}), Message(body="m"), False),
    (CorrelationFilter(), Message(body="m"), None),
]


@pytest.mark.parametrize(("wanted", "message", "taken"), CORRELATED)
def test_a_correlation_filter_takes_what_is_equal(
    wanted: Filter, message: Message, taken: bool | None
) -> None:
    assert takes(wanted, message) is taken
