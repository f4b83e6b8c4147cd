"""Each request crosses HTTP to a real broker, and its answer comes back."""

import attrs
import pytest
from answers import error_of, message_of

from busproof import vocabulary as v

from .conftest import Ask

pytestmark = pytest.mark.slow

ALL = v.TrueFilter()
FOR_GOOD = v.ReceiveMode.RECEIVE_AND_DELETE
WHOLE = v.Message(
    body="text of any script: ж 漢 \N{PILE OF POO}",
    message_id="id/with a slash",
    session_id="key",
    partition_key="key",
    correlation_id="correlation",
    to="to",
    reply_to="reply",
    subject="label ж",
    reply_to_session_id="session",
    content_type="text/plain",
    properties={"Text": "a", "number": 2**40, "real": 0.5, "whole": 2.0, "truth": True, "n": -3},
    time_to_live=90 * v.MICROSECONDS,
)
NAMES = [field.name for field in attrs.fields(v.Message) if field.name != "time_to_live"]


@pytest.mark.parametrize(
    "command",
    [v.Send(queue="q", message=WHOLE), v.SendBatch(queue="q", messages=(WHOLE,))],
    ids=["alone", "in a batch"],
)
def test_a_message_comes_back_as_it_was_sent(ask: Ask, queue: str, command: v.Command) -> None:
    assert v.Done() == ask(command)
    view = message_of(ask(v.Receive(queue=queue)))
    assert {name: getattr(WHOLE, name) for name in NAMES} == {
        name: getattr(view, name) for name in NAMES
    }
    assert 1 == view.delivery_count


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (v.Send(queue="r", message=v.Message(body="a")), v.Error.NOT_FOUND),
        (v.Receive(queue="r"), v.Error.NOT_FOUND),
        (v.Complete(queue="r", lock_token="none"), v.Error.NOT_FOUND),
        (
            v.Send(queue="q", message=v.Message(body="a", session_id="s", partition_key="k")),
            v.Error.INVALID_OPERATION,
        ),
        (v.Send(queue="q", message=v.Message(body="x" * 300_000)), v.Error.MESSAGE_TOO_LARGE),
    ],
)
def test_refusals_have_their_errors(ask: Ask, command: v.Command, error: v.Error) -> None:
    ask(v.CreateQueue(queue="q"))
    assert error is error_of(ask(command))


def test_a_disabled_queue_and_one_in_an_outage_are_told_apart(ask: Ask, queue: str) -> None:
    ask(v.UpdateQueue(queue=queue, status=v.EntityStatus.DISABLED))
    send = v.Send(queue=queue, message=v.Message(body="a"))
    assert v.Error.ENTITY_DISABLED is error_of(ask(send))
    ask(v.UpdateQueue(queue=queue, status=v.EntityStatus.ACTIVE))
    for partition in range(16):
        ask(v.TakePartitionDown(queue=queue, partition=partition))
    assert v.Error.UNAVAILABLE is error_of(ask(send))


@pytest.mark.parametrize(
    "command",
    [
        v.Peek(queue="q"),
        v.AcceptSession(queue="q", session_id="s"),
        v.Receive(queue="q", session_id="s"),
        v.BeginTransaction(transaction="t"),
        v.Send(queue="q", message=v.Message(body="a"), transaction="t"),
        v.Complete(queue="q", lock_token="x", transaction="t"),
        v.Defer(queue="q", lock_token="x"),
        v.Schedule(queue="q", message=v.Message(body="a"), delay=1),
        v.Send(queue="q", message=v.Message(body="a", properties={"two words": 1})),
        v.Send(queue="q", message=v.Message(body="a", properties={"Content-Length": 1})),
        v.AddRule(topic="t", subscription="s", rule="r", filter=ALL, action="SET [two words] = 1"),
    ],
    ids=str,
)
def test_what_http_cannot_carry_is_unsupported(ask: Ask, command: v.Command) -> None:
    assert isinstance(ask(command), v.Unsupported)


RULES = [
    v.SqlFilter(expression="size > 3 AND color <> '<red>'"),
    v.TrueFilter(),
    v.FalseFilter(),
    v.CorrelationFilter(
        subject="a & b",
        content_type="text/x",
        properties={"s": "<", "i": 3, "l": 2**40, "f": 0.5, "b": True},
    ),
]


@pytest.mark.parametrize("chosen", RULES, ids=lambda chosen: type(chosen).__name__)
@pytest.mark.parametrize("action", [None, "SET color = 'blue'; REMOVE size"])
def test_rules_come_back_as_they_were_added(ask: Ask, chosen: v.Filter, action: str | None) -> None:
    ask(v.CreateTopic(topic="t"))
    ask(v.CreateSubscription(topic="t", subscription="s"))
    add = v.AddRule(topic="t", subscription="s", rule="r", filter=chosen, action=action)
    assert v.Done() == ask(add)
    remove = v.RemoveRule(topic="t", subscription="s", rule=v.DEFAULT_RULE)
    assert v.Done() == ask(remove)
    expected = v.SubscriptionRule(name="r", filter=chosen, action=action)
    assert v.RulesListed(rules=(expected,)) == ask(v.ListRules(topic="t", subscription="s"))
    assert v.Error.NOT_FOUND is error_of(ask(remove))


@pytest.mark.parametrize("together", [False, True], ids=["alone", "in a batch"])
def test_our_own_broker_takes_a_size_at_its_word(ask: Ask, *, together: bool) -> None:
    ask(v.CreateQueue(queue="q", partitioned=False))
    messages = [v.Message(body=f"m{n}", size=100_000_000, stands_in=True) for n in range(11)]
    sends = [
        v.SendBatch(queue="q", messages=(message,))
        if together
        else v.Send(queue="q", message=message)
        for message in messages
    ]
    answers = [ask(send) for send in sends]
    assert [v.Done()] * 10 == answers[:10]
    assert v.Error.QUOTA_EXCEEDED is error_of(answers[10])
    assert 100_000_000 == message_of(ask(v.Receive(queue="q"))).size
    too_large = v.Message(body="m", size=300_000)
    assert v.Error.MESSAGE_TOO_LARGE is error_of(ask(v.Send(queue="q", message=too_large)))
