"""The model's states are asked once each, and those taken for one are asked again."""

import pytest

from busproof.errors import TlcError
from busproof.tla.answering import Answers
from busproof.tla.manifest import Setting
from busproof.tla.twin import Twin, born

SEND, RECEIVE, FORWARD = 0, 1, 2
COMMANDS = [
    {"op": "Send", "queue": "q"},
    {"op": "Receive", "queue": "q"},
    {"op": "Forward", "message": 1},
]
SETTING = Setting(edges=0, queue={"partitioned": False}, silent=("Forward",))


def start() -> Twin:
    return born(SETTING, iter(COMMANDS))


def test_a_state_is_known_again_however_it_was_reached() -> None:
    answers = Answers(COMMANDS, SETTING, alone=True, every=1)
    first = answers.number(start())
    (empty,) = answers.offers(first, RECEIVE)
    (sent,) = answers.offers(first, SEND)
    assert (first, (("Empty",),)) == (empty.after, empty.replies)
    assert sent.after != first
    assert answers.number(start()) == first


def sent_and_received() -> tuple[Twin, Twin]:
    """The model with a message, and after that was received."""
    (sent,) = start().offers(COMMANDS[SEND], SETTING) or ()
    (received,) = sent.twin.offers(COMMANDS[RECEIVE], SETTING) or ()
    return sent.twin, received.twin


@pytest.mark.parametrize("every", [1, 3])
def test_states_that_are_taken_for_one_and_answer_differently_are_told(
    monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    """As if no message made a difference; each third is asked again, if so many are to be."""
    monkeypatch.setattr("busproof.tla.twin.sameness", lambda _namespace, **_: ())
    answers = Answers(COMMANDS, SETTING, alone=True, every=every)
    sent, received = sent_and_received()
    first = answers.number(sent)
    assert [first] * (every - 1) == [answers.number(received) for _ in range(1, every)]
    with pytest.raises(TlcError, match=r"'Receive'.*'Received'.* first way only.*'Empty'"):
        answers.number(received)
