"""Lists of commands that can be asked again, and the sentences for them."""

import json
import os
from typing import get_args

import attrs
import pytest
from exploring import explored
from hypothesis import given, settings
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.adapters.model import ModelAdapter
from busproof.errors import HistoryError
from busproof.history.render.gherkin import ASKS, request_of, scenario_of, sentence
from busproof.history.replay import (
    CommandFile,
    RecordedCommand,
    commands_of,
    numbered,
    read_commands,
    resolved,
    write_commands,
)

FULL = os.environ.get("BUSPROOF_SIZE") == "full"
PROFILE = v.Profile(edition="de-2021-04", partitions=3)
CREATE = v.Event(command=v.CreateQueue(queue="q"), outcome=v.Done())
GIVEN = v.Event(
    command=v.Receive(queue="q"),
    outcome=v.Received(message=v.MessageView(body="m", lock_token="1/1")),
    connection="c2",
)
SETTLED = v.Event(command=v.Complete(queue="q", lock_token="1/1"), outcome=v.Done())


def test_a_lock_is_named_by_the_receive_that_was_given_it() -> None:
    """Another bus hands out other tokens."""
    asked = commands_of([CREATE, GIVEN, SETTLED])
    assert v.Complete(queue="q", lock_token="@2") == asked[2].command
    assert "c2" == asked[1].connection
    assert SETTLED.command == resolved(asked[2].command, {2: "1/1"})
    assert resolved(asked[2].command, {}) is None


def test_several_locks_are_named_by_their_receives_and_one_without_a_lock_drops_the_request():
    """A request about several locks needs all of them."""
    other = attrs.evolve(
        GIVEN, outcome=v.Received(message=v.MessageView(body="n", lock_token="2/1"))
    )
    several = v.SettleBatch(
        queue="q", lock_tokens=("1/1", "2/1", "none"), disposition=v.Disposition.COMPLETE
    )
    asked = commands_of([CREATE, GIVEN, other, v.Event(command=several, outcome=v.Done())])
    assert ("@2", "@3", "none") == getattr(asked[3].command, "lock_tokens", None)
    assert several == resolved(asked[3].command, {2: "1/1", 3: "2/1"})
    assert resolved(asked[3].command, {2: "1/1"}) is None
    (alone,) = numbered(asked[3:])
    assert ("@0", "@0", "none") == getattr(alone.command, "lock_tokens", None)


def test_a_token_that_nobody_was_given_stays_as_it_is() -> None:
    """It is refused, then as now."""
    (asked,) = commands_of([SETTLED])
    assert SETTLED.command == asked.command == resolved(asked.command, {})


def test_numbers_follow_when_commands_are_left_out() -> None:
    """A reference goes with its command."""
    _, given_, settled = commands_of([CREATE, GIVEN, SETTLED])
    again = numbered([given_, settled])
    assert [1, 2] == [each.number for each in again]
    assert v.Complete(queue="q", lock_token="@1") == again[1].command


def test_pauses_on_a_real_clock_are_asked_for() -> None:
    """They may be what the failure needs."""
    later = v.Event(
        command=v.Receive(queue="q"), outcome=v.Done(), called=5_000_100, returned=5_000_200
    )
    asked = commands_of([CREATE, later], v.Clock.REAL)
    assert v.AdvanceClock(duration=5_000_100) == asked[1].command
    assert 2 == len(commands_of([CREATE, later]))


def test_a_list_is_read_as_it_was_written(tmp_path) -> None:
    """With the profile that it was found under."""
    commands = commands_of([CREATE, GIVEN, SETTLED])
    written = CommandFile(rule="LIFE-03", profile=PROFILE, commands=commands)
    write_commands(tmp_path / "commands.json", written)
    assert written == read_commands(tmp_path / "commands.json")


@settings(deadline=None)
@given(
    own=st.dictionaries(
        st.text(), st.text() | st.integers(-(2**63), 2**63 - 1) | st.booleans(), max_size=3
    )
)
def test_an_application_s_properties_are_said_exactly(own) -> None:
    """Whatever they are called."""
    command = v.Send(queue="q", message=v.Message(body="m", properties=own))
    said = sentence(RecordedCommand(number=1, command=command)).removeprefix("c1 asks: ")
    assert command == request_of(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "JSON"),
        ("[]", "JSON object"),
        ('{"protocol": 9}', "upgrade busproof"),
        ('{"protocol": 1, "commands": []}', "profile"),
        ('{"protocol": 1, "profile": {"edition": "e"}, "commands": [{"number": 1}]}', "command"),
    ],
)
def test_file_without_a_list_is_refused(tmp_path, text: str, said: str) -> None:
    """The sentence names the file."""
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(HistoryError, match=said) as raised:
        read_commands(path)
    assert str(path) in str(raised.value)


def test_a_file_that_is_not_there_is_reported(tmp_path) -> None:
    """By its name."""
    with pytest.raises(HistoryError, match=r"cannot read the commands .*none.json"):
        read_commands(tmp_path / "none.json")


def test_every_command_has_a_sentence_that_means_it() -> None:
    """Whatever an exploration asks."""
    events = explored(ModelAdapter(), sequences=120 if FULL else 60).events
    restored = v.Event(command=v.RestoreQueue(queue="q", max_size=2), outcome=v.Done())
    assert {*get_args(v.Command)} == {v.RestoreQueue, *(type(event.command) for event in events)}
    events = [*events, restored]
    for event in events:
        said = sentence(RecordedCommand(number=1, command=event.command)).removeprefix("c1 asks: ")
        assert event.command == request_of(said), said


@given(body=st.text(), session=st.none() | st.text(), timeout=st.integers(1, 10**12))
def test_any_text_and_any_time_is_said_exactly(body, session, timeout) -> None:
    """Quotes, commas, line ends and microseconds included."""
    message = v.Message(body=body, session_id=session)
    command = v.Send(queue='q", queue "r', message=message, timeout=timeout)
    said = sentence(RecordedCommand(number=1, command=command))
    assert "\n" not in said
    assert command == request_of(said.removeprefix("c1 asks: "))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Sing", "nothing is called 'Sing'; there are Create queue, .*Send"),
        ('Send, queue "q" and more', "cannot be read from ' and more' on"),
        ("Send, queue [q]", "does not begin with a value"),
        ('Receive, queue "q", colour "red"', "colour"),
        ("Take partition down, partition 3", "queue"),
    ],
)
def test_a_sentence_that_asks_nothing_is_refused(text: str, said: str) -> None:
    """And says what it could have asked."""
    with pytest.raises(HistoryError, match=said):
        request_of(text)


def test_a_scenario_has_a_step_for_each_command() -> None:
    """And states that each answer was allowed."""
    text = scenario_of("LIFE-03", commands_of([CREATE, GIVEN, SETTLED]), "Gone")
    assert text.splitlines() == [
        "@LIFE-03",
        "Scenario: Gone",
        '  When c1 asks: Create queue, queue "q"',
        '  And c2 asks: Receive, queue "q"',
        '  And c1 asks: Complete, queue "q", lock token "@2"',
        "  Then every answer was allowed",
    ]
    assert ASKS.startswith("(?P<connection>")
    assert json.dumps("q") in text
