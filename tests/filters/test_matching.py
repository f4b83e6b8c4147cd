"""FILTER-03, FILTER-04, FILTER-11 to FILTER-18: which messages a filter takes."""

import pytest

from busproof import vocabulary as v
from busproof.filters.facts import Arrival, facts_of
from busproof.filters.matching import takes
from busproof.filters.readings import EVERY, OURS, Readings, read

LABEL = v.CorrelationFilter(subject="x")


def sql(expression: str) -> v.SqlFilter:
    return v.SqlFilter(expression=expression)


SQL = [
    ("a = 1", {"a": 1}, True),
    ("a = 1", {"a": 1.0}, True),
    ("a = 1", {"a": 2}, False),
    ("a = 1", {}, False),
    ("a = 1", {"a": "1"}, False),
    ("a <> 1", {"a": "1"}, None),
    ("a = 1", {"a": True}, False),
    ("a = 9007199254740993.0", {"a": 2**53 + 1}, True),
    ("[Property With Space] = 1", {"property with space": 1}, True),
    ('"a b" = 1', {"a b": 2}, False),
    ("p('A') = 1", {"a": 1}, True),
    ("p(b) = 1", {"a": 1, "b": "a"}, True),
    ("p(b) = 1", {"a": 1}, False),
    ("p(1) = 1", {"a": 1}, None),
    ("p('sys.To') = 'there'", {}, None),
    ("a > 0.5E-2", {"a": 1}, True),
    ("a = @p", {"a": 1}, None),
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
    ("a = 1 OR b = 1 OR c < 'x'", {"a": 1, "c": "a"}, True),
    ("a = 1 AND b = 1 AND c < 'x'", {"a": 2, "c": "a"}, False),
    ("a IS NULL", {}, True),
    ("a IS NULL", {"a": 1}, False),
    ("a IS NULL", {"a": None}, True),
    ("a IS NOT NULL", {"a": None}, False),
    ("a = 1", {"a": None}, False),
    ("a <> 1", {"a": None}, None),
    ("EXISTS (a)", {"a": None}, None),
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
    ("newid() = a", {"a": "x"}, False),
    ("newid() <> a", {"a": "x"}, None),
    ("newid() IN (newid(), a)", {"a": "x"}, False),
    ("newid() LIKE 'x'", {}, None),
    ("newid() + 1 = 2", {}, None),
    ("a = 1e999", {"a": 1.0}, None),
    ("a + 1 = 2", {"a": float("inf")}, None),
    ("a + NULL = 1", {"a": 1}, None),
    ("a IN (NULL)", {"a": 1}, False),
    ("a LIKE NULL", {"a": "x"}, False),
    ("sys.PartitionKey = 'k'", {}, False),
    ("sys.SequenceNumber = 1", {}, None),
    ("sys.SequenceNumber = 'x'", {}, False),
    ("sys.SequenceNumber IS NULL", {}, False),
    ("sys.EnqueuedTimeUtc > 5", {}, None),
    ("sys.EnqueuedTimeUtc IS NOT NULL AND EXISTS (sys.Size)", {}, True),
    ("sys.LockToken IS NULL", {}, None),
    ("sys.Size = NULL", {}, False),
    ("sys.LockToken = NULL", {}, None),
    ("99999999999999999999 = a", {"a": 1}, None),
]


@pytest.mark.parametrize(("expression", "properties", "taken"), SQL)
def test_sql_takes_what_the_documents_say(
    expression: str, properties: dict[str, object], taken: bool | None
) -> None:
    message = v.Message(body="m", to="there", properties=properties)
    assert takes(sql(expression), message) is taken


KEYS = [
    ("sys.PartitionKey = 'k'", {"partition_key": "k"}, True),
    ("sys.partitionkey LIKE 'k%'", {"partition_key": "x"}, False),
    ("sys.PartitionKey = 's'", {"session_id": "s"}, None),
    ("sys.PartitionKey IS NULL", {}, True),
    ("sys.SessionId = 's'", {"session_id": "s"}, True),
]


@pytest.mark.parametrize(("expression", "keys", "taken"), KEYS)
def test_keys_can_be_compared(expression: str, keys: dict[str, str], *, taken: bool | None) -> None:
    """A session selects the partition, too; whether it reads as the partition key is open."""
    assert takes(sql(expression), v.Message(body="m", **keys)) is taken


ARRIVAL = Arrival(
    entity="t/subscriptions/s",
    enqueued_at=1_000,
    sequence_number=7,
    scheduled_for=None,
    expires_at=9_000,
    time_to_live=8_000,
    size=3,
)
AT_A_BUS = [
    ("sys.SequenceNumber = 7 AND sys.EnqueuedSequenceNumber = 7", True),
    ("sys.EnqueuedTimeUtc >= 1000 AND sys.ExpiresAtUtc < 9001", True),
    ("sys.TimeToLive = 8000 AND sys.Size = 3", True),
    ("sys.ScheduledEnqueueTimeUtc IS NULL", True),
    ("sys.DeliveryCount = 0 AND sys.State = 0", True),
    ("sys.LockToken IS NULL AND sys.LockedUntilUtc IS NULL", True),
    ("sys.DeadLetterSource IS NULL AND sys.ViaPartitionKey IS NULL", True),
    ("sys.ForcePersistence = FALSE", True),
    ("sys.PartitionKey IS NULL", True),
    ("sys.Nothing = 1", None),
]


@pytest.mark.parametrize(("expression", "taken"), AT_A_BUS)
def test_bus_knows_what_it_gives_a_message(expression: str, *, taken: bool | None) -> None:
    message = v.Message(body="m", session_id="s")
    assert takes(sql(expression), message, readings=OURS, arrival=ARRIVAL) is taken


# Each question of the register, with the answer of each of its readings, and of `either`.
OPEN_QUESTIONS = [
    ("a > 'x'", {"a": "y"}, {"types": "unknown"}, False),
    ("NOT a = 1", {"a": "1"}, {"types": "unknown"}, False),
    ("NOT a + 'x' = 1", {"a": 1}, {"types": "unknown"}, False),
    ("NOT a LIKE 'x'", {"a": 1}, {"types": "unknown"}, False),
    ("NOT a LIKE 'x!y' ESCAPE '!'", {"a": "x"}, {"types": "unknown"}, False),
    ("a <> NULL", {"a": 1}, {"nulls": "unknown"}, False),
    ("NOT a + NULL = 1", {"a": 1}, {"nulls": "unknown"}, False),
    ("NOT a IN (NULL, b)", {"a": 1}, {"nulls": "unknown"}, False),
    ("NOT sys.Label LIKE 'x'", {}, {"nulls": "unknown"}, False),
    ("NOT a / 0 = 1", {"a": 1}, {"overflow": "unknown"}, False),
    ("NOT a + 1 = 1", {"a": 2**63 - 1}, {"overflow": "unknown"}, False),
    ("a LIKE 'X%'", {"a": "xy"}, {"like_case": "sensitive"}, False),
    ("a LIKE 'X%'", {"a": "xy"}, {"like_case": "insensitive"}, True),
    ("a NOT LIKE 'X%'", {"a": "yy"}, {"like_case": "insensitive"}, True),
]


@pytest.mark.parametrize(("expression", "properties", "reading", "taken"), OPEN_QUESTIONS)
def test_reading_decides_an_open_question(
    expression: str, properties: dict[str, object], reading: dict[str, str], *, taken: bool
) -> None:
    """Which is open otherwise, unless no case of letters fits."""
    message = v.Message(body="m", properties=properties)
    assert takes(sql(expression), message, readings=Readings(**reading)) is taken
    assert takes(sql(expression), message) is (True if "yy" in properties.values() else None)


def test_readings_have_the_names_of_the_register() -> None:
    assert read({}) is EVERY
    assert read({"LIKE-CASE": "sensitive", "KEY-LENGTH": "x"}) == Readings(like_case="sensitive")


def test_facts_are_of_the_message_that_is_asked_about() -> None:
    one, two = v.Message(body="m", properties={"a": 1}), v.Message(body="m", properties={"a": 2})
    assert facts_of(one) is facts_of(one)
    assert facts_of(one).user != facts_of(two).user
    assert takes(sql("a = 1"), one)
    assert not takes(sql("a = 1"), two)


CORRELATED = [
    (v.TrueFilter(), v.Message(body="m"), True),
    (v.FalseFilter(), v.Message(body="m"), False),
    (LABEL, v.Message(body="m", subject="x"), True),
    (LABEL, v.Message(body="m", subject="X"), False),
    (LABEL, v.Message(body="m"), False),
    (v.CorrelationFilter(properties={"a": 1}), v.Message(body="m", properties={"a": 1}), True),
    (v.CorrelationFilter(properties={"a": 1}), v.Message(body="m", properties={"a": 1.0}), None),
    (v.CorrelationFilter(properties={"a": 1}), v.Message(body="m"), False),
    (v.CorrelationFilter(), v.Message(body="m"), None),
]


@pytest.mark.parametrize(("wanted", "message", "taken"), CORRELATED)
def test_a_correlation_filter_takes_what_is_equal(
    wanted: v.Filter, message: v.Message, taken: bool | None
) -> None:
    assert takes(wanted, message) is taken
