"""FILTER-21, FILTER-29: what the statements of an action change."""

from itertools import islice
from typing import Any

import pytest

from busproof.filters.actions import (
    Changed,
    changed,
    fresh_ids,
    is_plain,
    made_by,
    moves_copies,
    objection,
    sets_a_key,
)
from busproof.filters.facts import Arrival
from busproof.filters.nodes import Statement
from busproof.filters.parser import Outside, parsed_action
from busproof.filters.readings import Readings
from busproof.vocabulary.messages import Message, same_properties

ARRIVAL = Arrival(
    entity="t/subscriptions/s",
    enqueued_at=1_000,
    sequence_number=7,
    scheduled_for=None,
    expires_at=9_000,
    time_to_live=8_000,
    size=3,
)


def statements_of(action: str) -> tuple[Statement, ...]:
    statements = parsed_action(action)
    assert not isinstance(statements, Outside), statements.reason
    return statements


def message(**properties: Any) -> Message:
    return Message(body="m", message_id="i", properties=properties)


def judged(action: str, sent: Message) -> Changed:
    return changed(statements_of(action), sent)


def made(action: str, sent: Message) -> Message:
    return made_by(statements_of(action), sent, ARRIVAL, fresh_ids("a"))


DEFINED = [
    ("SET a = 2; REMOVE b;", {"a": 2}),
    ("set user.c = b + 1", {"a": 1, "b": 3, "c": 4}),
    ("REMOVE c", {"a": 1, "b": 3}),
    ("SET c = TRUE", {"a": 1, "b": 3, "c": True}),
    ("SET a = b SET b = a", {"a": 3, "b": 3}),
    ("SET a = 'x', SET a = 'y'", None),
    ("REMOVE a; SET a = 'y'", {"a": "y", "b": 3}),
    ("SET a = a + 1, SET b = a;", {"a": 2, "b": 2}),
    ("REMOVE A", {"b": 3}),
    ("REMOVE a SET c = b", {"b": 3, "c": 3}),
    ("SET [a b] = p('b')", {"a": 1, "b": 3, "a b": 3}),
    ("SET f = 1.5; SET f = 2", {"a": 1, "b": 3, "f": 2.0}),
]


@pytest.mark.parametrize(("action", "after"), DEFINED)
def test_statements_run_one_after_the_other(action: str, after: dict[str, object] | None) -> None:
    """A judge and a bus agree where the documents define the result; `None` where they do not."""
    found = judged(action, message(a=1, b=3))
    if after is None:
        assert found.open_properties
        return
    assert found == Changed(message(**after))
    assert made(action, message(a=1, b=3)) == message(**after)


def test_texts_of_the_system_are_set_and_removed() -> None:
    sent = Message(body="m", message_id="i", to="t", content_type="c")
    action = "SET sys.Label = 'x'; SET sys.replyto = sys.To; REMOVE sys.ContentType"
    after = Message(body="m", message_id="i", to="t", subject="x", reply_to="t")
    assert judged(action, sent) == Changed(after)
    assert made(action, sent) == after


OPEN = [
    ("SET A = 1", {"a"}, {"a": 1, "b": "x"}),
    ("SET c = a / 0", {"c"}, {"a": 1, "b": "x"}),
    ("SET c = nothing", {"c"}, {"a": 1, "b": "x"}),
    ("SET a = NULL", {"a"}, {"b": "x"}),
    ("SET a = 'x'", {"a"}, {"a": "x", "b": "x"}),
    ("SET c = 'x' + 1; SET d = c", {"c", "d"}, {"a": 1, "b": "x"}),
    ("SET c = sys.SequenceNumber", {"c"}, {"a": 1, "b": "x", "c": 7}),
    ("SET c = p('sys.To')", {"c"}, {"a": 1, "b": "x"}),
    ("SET c = nothing; SET a = NULL", {"a", "c"}, {"b": "x"}),
    ("SET c = nothing; SET c = 5", set(), {"a": 1, "b": "x", "c": 5}),
    ("SET c = nothing; REMOVE c", set(), {"a": 1, "b": "x"}),
]


@pytest.mark.parametrize(("action", "names", "after"), OPEN)
def test_values_that_the_documents_leave_to_the_bus_are_open(action, names, after) -> None:
    """And the bus of this package has one of its own for each."""
    assert judged(action, message(a=1, b="x")).open_properties == names
    assert made(action, message(a=1, b="x")) == message(**after)


def test_reading_decides_what_set_makes_of_null() -> None:
    sent = message(a=1, b=2)
    readings = Readings(set_null="removed")
    found = changed(statements_of("SET a = NULL; SET b = nothing"), sent, readings)
    assert found == Changed(message())


def test_system_properties_are_open_for_anything_but_a_text() -> None:
    sent = Message(body="m", subject="s")
    assert judged("SET sys.Label = 1", sent).open_fields == {"subject"}
    assert judged("SET sys.Label = 1; SET sys.Label = 'x'", sent).open_fields == frozenset()
    reading = judged("SET sys.Label = NULL; SET a = sys.Label", sent)
    assert reading.open_properties == {"a"}
    assert made("SET sys.Label = 1", sent).subject == "1"
    assert made("SET sys.Label = NULL", sent).subject is None
    assert made("SET sys.Label = sys.ForcePersistence + 1", sent).subject is None


def test_property_in_two_spellings_becomes_one() -> None:
    sent = Message(body="m", properties={"a": 1, "A": 2})
    assert judged("REMOVE a", sent) == Changed(Message(body="m"))
    assert judged("SET a = 3", sent).open_properties == {"a"}
    assert len(made("SET a = 3", sent).properties) == 1


def test_time_to_live_is_set_in_milliseconds() -> None:
    sent = message()
    assert made("SET sys.TimeToLive = 5", sent).time_to_live == 5_000
    assert made("SET sys.TimeToLive = 'x'", sent) == sent
    assert made("SET sys.ForcePersistence = TRUE", sent) == sent
    assert judged("SET sys.TimeToLive = 5", sent) == Changed(sent)


def test_new_ids_differ() -> None:
    after = made("SET a = newid(); SET b = newid(); SET sys.MessageId = newid()", message())
    ids = {after.properties["a"], after.properties["b"], after.message_id}
    assert len(ids) == 3
    assert not ids & set(islice(fresh_ids("b"), 3))
    found = judged("SET a = newid(); SET sys.To = newid()", message(a="x"))
    assert not found.open_properties | found.open_fields
    assert same_properties(found.message.properties, after.properties.delete("b"))
    assert found.message.to == after.message_id
    assert not same_properties(found.message.properties, message(a="x").properties)
    assert judged("SET a = newid()", message(a=1)).open_properties == {"a"}


# -- Which actions there are -----------------------------------------------------------------------
@pytest.mark.parametrize(
    ("action", "key", "moves", "plain"),
    [
        ("SET a = 1; REMOVE b", False, False, True),
        ("REMOVE sys.Label", False, False, True),
        ("SET sys.SessionId = 'x'", True, True, True),
        ("SET sys.messageid = newid()", True, True, True),
        ("REMOVE sys.PartitionKey", True, True, True),
        ("SET sys.TimeToLive = 1", False, True, True),
        ("SET sys.SequenceNumber = 1", False, False, False),
        ("SET sys.Nothing = 1", False, False, False),
    ],
)
def test_actions_differ_in_what_they_change(action, *, key, moves, plain) -> None:
    statements = statements_of(action)
    assert sets_a_key(statements) is key
    assert moves_copies(statements) is moves
    assert is_plain(statements) is plain


def test_objections_say_whose_property_it_is() -> None:
    assert "sys.Size, which is set by the service alone" in str(
        objection(statements_of("SET sys.Size = 1"))
    )
    assert "sys.Nope, which is no property" in str(objection(statements_of("REMOVE sys.Nope")))
