"""FILTER-03, FILTER-04, FILTER-11 to FILTER-18: which messages a filter takes."""

import pytest
from rows import rows_of

from busproof import vocabulary as v
from busproof.filters.facts import Arrival, facts_of
from busproof.filters.matching import takes
from busproof.filters.readings import EVERY, OURS, Readings, read

LABEL = v.CorrelationFilter(subject="x")


def sql(expression: str) -> v.SqlFilter:
    return v.SqlFilter(expression=expression)


@pytest.mark.parametrize(("expression", "properties", "taken"), rows_of(__file__, "sql"))
def test_sql_takes_what_the_documents_say(expression, properties, taken) -> None:
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


@pytest.mark.parametrize(
    ("expression", "properties", "reading", "taken"), rows_of(__file__, "open_questions")
)
def test_reading_decides_an_open_question(expression, properties, reading, *, taken) -> None:
    """Each question of the register; it is open otherwise, unless no case of letters fits."""
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
def test_a_correlation_filter_takes_what_is_equal(wanted, message, taken) -> None:
    assert takes(wanted, message) is taken
