"""FILTER-21: what the statements of an action change."""

import pytest

from busproof.filters.actions import changed, is_plain, parsed_action
from busproof.filters.parser import Outside
from busproof.vocabulary.messages import Message


# -- The language ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("action", "after"),
    [
        ("SET a = 2; REMOVE b;", {"a": 2}),
        ("set user.c = b + 1", {"a": 1, "b": 3, "c": 4}),
        ("REMOVE c", {"a": 1, "b": 3}),
        ("SET c = TRUE", {"a": 1, "b": 3, "c": True}),
    ],
)
def test_statements_change_properties(action: str, after: dict[str, object]) -> None:
    statements = parsed_action(action)
    assert isinstance(statements, tuple)
    assert is_plain(statements)
    found = changed(statements, Message(body="m", properties={"a": 1, "b": 3}))
    assert found is not None
    assert after == dict(found.properties)


def test_texts_of_the_system_can_be_set() -> None:
    statements = parsed_action("SET sys.Label = 'x'; SET sys.replyto = 'y'")
    assert isinstance(statements, tuple)
    found = changed(statements, Message(body="m", message_id="i"))
    assert Message(body="m", message_id="i", subject="x", reply_to="y") == found


@pytest.mark.parametrize(
    "action",
    [
        "SET a = b; SET b = 1",
        "SET a = 1; SET A = 2",
        "SET a = NULL",
        "SET rulename = 'x'",
        "SET sys.Label = 1",
        "SET sys.SessionId = 'x'",
        "SET sys.PartitionKey = 'x'",
        "REMOVE sys.Label",
    ],
)
def test_some_statements_are_open(action: str) -> None:
    statements = parsed_action(action)
    assert isinstance(statements, tuple)
    assert not is_plain(statements)


@pytest.mark.parametrize("action", ["SET A = 1", "REMOVE A", "SET c = a / 0", "SET c = nothing"])
def test_result_of_an_action_may_be_open(action: str) -> None:
    statements = parsed_action(action)
    assert isinstance(statements, tuple)
    assert changed(statements, Message(body="m", properties={"a": 1})) is None


@pytest.mark.parametrize(
    "action",
    [
        "",
        "SET a = 1 SET b = 2",
        "SET a = 1, REMOVE b",
        ";SET a = 1",
        "SET [a] = 1",
        "SET a = newid()",
        "SET a = 99999999999999999999",
    ],
)
def test_statement_beyond_the_subset_is_not_an_error(action: str) -> None:
    assert parsed_action(action) is Outside.BEYOND
