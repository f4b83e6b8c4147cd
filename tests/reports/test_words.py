"""Commands, answers, events and stories as sentences, on one line whatever comes."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows_of

from busproof import vocabulary as v
from busproof.history.codec import structure
from busproof.history.render.commands import command_words
from busproof.history.render.events import event_words, story
from busproof.history.render.outcomes import outcome_words
from busproof.history.render.phrases import one_line, seconds

COMMANDS = rows_of(__file__, "command_words")
OUTCOMES = rows_of(__file__, "outcome_words")


@pytest.mark.parametrize(("words", "command"), COMMANDS)
def test_a_command_reads_as_a_sentence(words: str, command: dict[str, Any]) -> None:
    event = structure({"command": command, "outcome": {"type": "Done"}}, v.Event)
    assert words == command_words(event.command)


@pytest.mark.parametrize(("words", "outcome"), OUTCOMES)
def test_an_outcome_reads_as_a_sentence(words: str, outcome: dict[str, Any]) -> None:
    event = structure({"command": {"type": "ListQueues"}, "outcome": outcome}, v.Event)
    assert words == outcome_words(event.outcome)


@pytest.mark.parametrize(("rows", "union"), [(COMMANDS, v.Command), (OUTCOMES, v.Outcome)])
def test_every_command_and_outcome_is_among_the_sentences(rows: Any, union: Any) -> None:
    assert {each.__name__ for each in get_args(union)} == {value["type"] for _, value in rows}


def test_an_event_shows_what_was_asked_and_what_came_with_the_witness() -> None:
    event = v.Event(
        command=v.Send(queue="q", message=v.Message(body="m1")),
        outcome=v.Done(),
        witness=v.Witness(partition=3),
    )
    assert event_words(event) == "Send to q: body 'm1' -> Done (partition 3)"


def test_a_sequence_number_below_zero_names_no_partition() -> None:
    outcome = v.Received(message=v.MessageView(body="m1", sequence_number=-1))
    assert outcome_words(outcome) == "Received 'm1' (sequence number -1)"


def test_a_story_of_one_client_at_one_time_names_neither() -> None:
    lines = story([v.Event(command=v.Receive(queue="q"), outcome=v.Empty())] * 2)
    assert ["Receive from q (peek-lock) -> Empty"] * 2 == [str(each) for each in lines]


def test_a_story_of_two_clients_names_them_and_their_connections() -> None:
    events = [
        v.Event(command=v.Receive(queue="q"), outcome=v.Empty()),
        v.Event(client="c2", connection="c3", command=v.Receive(queue="q"), outcome=v.Empty()),
    ]
    assert ["c1", "c2 over c3"] == [each.who for each in story(events)]


def test_a_story_in_time_shows_when_each_call_was_made_and_answered() -> None:
    events = [
        v.Event(command=v.Receive(queue="q"), outcome=v.Empty(), returned=0),
        v.Event(
            called=61_500_000, returned=62_000_000, command=v.Receive(queue="q"), outcome=v.Empty()
        ),
        v.Event(called=63_000_000, command=v.Receive(queue="q"), outcome=v.Indeterminate()),
    ]
    expected = ["at 0 s", "at 61.5 s to 62 s", "at 63 s"]
    assert expected == [each.who for each in story(events)]


def test_a_sequence_number_of_a_queue_that_is_not_partitioned_is_whole() -> None:
    received = v.Received(message=v.MessageView(body="m1", sequence_number=5))
    events = [
        v.Event(command=v.CreateQueue(queue="q", partitioned=False), outcome=v.Done()),
        v.Event(command=v.Receive(queue="q"), outcome=received),
        v.Event(command=v.Receive(queue="other"), outcome=received),
    ]
    assert [
        "Done",
        "Received 'm1' (sequence number 5)",
        "Received 'm1' (partition 0, sequence number 5)",
    ] == [each.answer for each in story(events)]


@pytest.mark.parametrize(
    ("duration", "words"),
    [(0, "0 s"), (60_000_000, "60 s"), (1, "0.000001 s"), (-1_500_000, "-1.5 s")],
)
def test_times_are_seconds_without_rounding(duration: int, words: str) -> None:
    assert words == seconds(duration)


def test_long_texts_that_differ_at_either_end_stay_apart() -> None:
    bodies = ["x" * 500, "y" + "x" * 499, "x" * 499 + "y", "x" * 501]
    texts = {command_words(v.Send(queue="q", message=v.Message(body=body))) for body in bodies}
    assert len(texts) == len(bodies)
    assert all(len(words) < 130 for words in texts)


@given(st.text(), st.text())
def test_no_text_breaks_out_of_its_line(body: str, name: str) -> None:
    event = v.Event(
        client=name,
        called=1,
        command=v.Send(queue=name, message=v.Message(body=body, session_id=name), transaction=name),
        outcome=v.Refused(error=v.Error.OTHER, detail=body),
    )
    for line in story([event, v.Event(command=v.Receive(queue="q"), outcome=v.Empty())]):
        assert str(line).isprintable()


@given(st.text())
def test_any_text_fits_on_one_line(text: str) -> None:
    assert one_line(text).isprintable()


def test_escape_codes_are_spelt_out() -> None:
    assert one_line("a\x1b[31m\n b") == "a\\x1b[31m b"
