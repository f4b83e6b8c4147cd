"""Names of sequences that a machine found, and what would be wrong at their end."""

import pytest

from busproof import vocabulary as v
from busproof.history.render.gherkin import request_of
from busproof.history.render.sequence_names import sequence_name
from busproof.history.render.wrong_answers import what_is_wrong

CREATE = 'Create queue, queue "orders"'
SEND = 'Send, queue "orders", message body "m1"'
RECEIVE = 'Receive, queue "orders"'


@pytest.mark.parametrize(
    ("commands", "name"),
    [
        ([RECEIVE], "Receive from a queue that does not exist"),
        ([CREATE, SEND, RECEIVE], "Receive from a queue, after send"),
        ([CREATE, SEND, SEND, SEND, RECEIVE], "Receive from a queue, after send 3 times"),
        (
            [f"{CREATE}, partitioned false, requires session true", RECEIVE],
            "Receive from a queue that is not partitioned and requires sessions",
        ),
        (
            [CREATE, f'{SEND}, message session id "a", message partition key "b"'],
            "Send a message with SessionId and another PartitionKey to a queue",
        ),
        (
            [CREATE, f'{SEND}, message session id ""'],
            "Send a message with empty SessionId to a queue",
        ),
        (
            [CREATE, 'Begin transaction, transaction "t"', f'{SEND}, transaction "t"'],
            "Send a message to a queue, in a transaction",
        ),
        (
            ['Create topic, topic "news"', 'Take partition down, queue "news", partition 1',
             'Send, queue "news", message body "m1"'],
            "Send a message to a topic, after outage of a partition",
        ),
        (
            ['Create topic, topic "news"', 'Create subscription, topic "news", subscription "s"',
             'Peek, queue "news/subscriptions/s/$deadletterqueue"'],
            "Peek at the dead-letter queue of a subscription",
        ),
        (
            [CREATE, 'Update queue, queue "orders", status "disabled"'],
            "Update a queue so that it has status disabled",
        ),
        ([f'{CREATE}, max size 2'], "Create a queue that has max size 2 GB"),
        (
            [CREATE, "Advance clock, duration 5 s", RECEIVE],
            "Receive from a queue, after a wait of 5 s",
        ),
    ],
)  # fmt: skip
def test_a_sequence_is_named_after_its_last_command(commands: list[str], name: str):
    assert name == sequence_name([request_of(each) for each in commands])


def answered(text: str, outcome: v.Outcome) -> v.Event:
    """Return the event of a command."""
    return v.Event(client="c", connection="c", command=request_of(text), outcome=outcome)


M1, M2 = v.MessageView(body="m1"), v.MessageView(body="m2", delivery_count=2)
REFUSED = v.Refused(error=v.Error.INVALID_OPERATION)


@pytest.mark.parametrize(
    ("command", "wrong", "right", "sentence"),
    [
        (SEND, v.Done(), REFUSED, "it is accepted instead of a refusal as invalid-operation"),
        (CREATE, REFUSED, v.Done(), "it is refused as invalid-operation"),
        (
            CREATE,
            REFUSED,
            v.Refused(error=v.Error.ALREADY_EXISTS),
            "it is refused as invalid-operation instead of already-exists",
        ),
        (SEND, v.Done(), v.Done(), "it goes to another partition"),
        (RECEIVE, v.Empty(), v.Received(message=M1), "it delivers no message"),
        (RECEIVE, v.Received(message=M1), v.Empty(), "it delivers 'm1'"),
        (
            RECEIVE,
            v.Received(message=v.MessageView(body="m2")),
            v.Received(message=M2),
            "it delivers 'm2' with delivery count none instead of 2",
        ),
        (RECEIVE, v.Peeked(messages=(M1, M2)), v.Peeked(), "it shows 'm1' and 'm2'"),
        (RECEIVE, v.SessionsListed(), v.Done(), "it returns: Listed nothing"),
    ],
)
def test_a_wrong_answer_is_reported_beside_the_right_one(command, wrong, right, sentence):
    assert sentence == what_is_wrong(answered(command, wrong), answered(command, right), last=True)


def test_a_wrong_answer_before_the_end_is_named_by_its_command():
    sentence = what_is_wrong(answered(CREATE, v.Done()), answered(CREATE, REFUSED), last=False)
    assert sentence == (
        "the earlier creation of a queue succeeds instead of a refusal as invalid-operation"
    )
