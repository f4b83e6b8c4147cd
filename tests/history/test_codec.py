"""The codec gives back what it was given, and refuses everything else in one clear sentence."""

import json
import re

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows_of

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import (
    PROTOCOL,
    check_protocol,
    read_command,
    read_outcome,
    structure,
    structure_union,
    union_of,
    unstructure,
)
from busproof.history.records import Record

SEND = {"type": "Send", "queue": "q", "message": {"body": "b"}}
DONE = {"type": "Done"}


def event(command: object = SEND, outcome: object = DONE, **fields: object) -> dict[str, object]:
    return {"command": command, "outcome": outcome, **fields}


def through_json(value: object) -> object:
    return json.loads(json.dumps(value))


@given(st.from_type(v.Command), st.booleans())
def test_every_command_comes_back(command: v.Command, full: bool) -> None:
    assert command == read_command(through_json(unstructure(command, full=full)))


@given(st.from_type(v.Outcome), st.booleans())
def test_every_outcome_comes_back(outcome: v.Outcome, full: bool) -> None:
    assert outcome == read_outcome(through_json(unstructure(outcome, full=full)))


@given(st.from_type(v.Event), st.booleans())
def test_every_event_comes_back(event: v.Event, full: bool) -> None:
    assert event == structure(through_json(unstructure(event, full=full)), v.Event)


@given(st.from_type(v.Profile), st.booleans())
def test_every_profile_comes_back(profile: v.Profile, full: bool) -> None:
    assert profile == structure(through_json(unstructure(profile, full=full)), v.Profile)


@given(st.from_type(Record), st.booleans())
def test_every_record_comes_back(record: Record, full: bool) -> None:
    line = through_json(unstructure(record, union=Record, full=full))
    assert record == structure_union(line, Record, "the record")


def test_default_values_are_left_out(send: v.Event) -> None:
    expected = {
        "command": {
            "type": "Send",
            "queue": "orders",
            "message": {"body": "b1", "session_id": "s"},
        },
        "outcome": {"type": "Done"},
        "called": 5,
        "returned": 9,
        "witness": {"partition": 3},
    }
    assert expected == unstructure(send)


def test_everything_is_written_when_asked_for() -> None:
    expected = {"type": "Receive", "queue": "q", "mode": "peek-lock", "session_id": None}
    assert expected == unstructure(v.Receive(queue="q"), full=True)


def test_missing_fields_have_their_defaults() -> None:
    assert v.Event(
        command=v.Send(queue="q", message=v.Message(body="b")), outcome=v.Done()
    ) == structure(event(), v.Event)


@pytest.mark.parametrize(("value", "said"), rows_of(__file__, "wrong_events"))
def test_a_wrong_event_is_refused_by_path_value_and_what_was_allowed(value, said) -> None:
    with pytest.raises(HistoryError, match=re.escape(said)):
        structure(value, v.Event)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({}, "edition is missing, and Profile needs it"),
        ({"edition": "e", "partitions": 0}, "partitions is 0, and must be >= 1"),
        ({"edition": "e", "readings": []}, "readings is [], and must be an object"),
        ({"edition": "e", "readings": {"A": 3}}, 'readings["A"] is 3, and must be a string'),
        ({"edition": "e", "silent": [3]}, "silent[0] is 3, and must be a string"),
        ({"edition": "e", "tier": "gold"}, 'tier is "gold", and must be one of "basic", '),
    ],
)
def test_a_wrong_profile_is_refused(value: object, said: str) -> None:
    with pytest.raises(HistoryError, match=re.escape(said)):
        structure(value, v.Profile)


def test_an_unknown_field_is_named_before_a_missing_one() -> None:
    with pytest.raises(HistoryError, match='unknown field "quue", and must have only "queue"'):
        read_command({"type": "Peek", "quue": "q"})


def test_a_huge_value_does_not_fill_the_message() -> None:
    with pytest.raises(HistoryError) as caught:
        read_outcome({"type": "x" * 1_000_000})
    assert len(str(caught.value)) < 1000


def test_refusal_by_a_class_is_reported() -> None:
    def refuse(_: object, __: object, value: str) -> None:
        raise ValueError(f"nobody is called {value}")

    kind = attrs.make_class("Person", {"name": attrs.field(type=str, validator=refuse)})
    with pytest.raises(HistoryError, match="the Person is wrong: nobody is called Bob"):
        structure({"name": "Bob"}, kind)


def test_a_newer_protocol_says_to_upgrade() -> None:
    with pytest.raises(HistoryError, match="protocol is 2, and this busproof reads up to 1: upgr"):
        check_protocol(PROTOCOL + 1)


@pytest.mark.parametrize("value", [None, "1", True, 0, 1.0])
def test_invalid_protocol_version_is_refused(value: object) -> None:
    with pytest.raises(HistoryError, match="and must be 1"):
        check_protocol(value)


@pytest.mark.parametrize("union", [v.Command, v.Outcome, Record])
def test_every_member_of_a_union_has_a_tag(union: object) -> None:
    tagged = union_of(union)
    assert set(tagged.members.values()) == set(union.__args__)


def test_an_undeclared_union_has_no_tags() -> None:
    assert union_of(int | str) is None
