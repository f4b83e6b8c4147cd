"""Which entities have to be judged together."""

from busproof.judging.decompose import parts
from busproof.vocabulary.commands import (
    AddRule,
    Command,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    ListRules,
    Receive,
    Send,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done, Event
from busproof.vocabulary.subscription_rules import FalseFilter


def together(*commands: Command) -> list[list[int]]:
    """The parts of a history of these commands."""
    events = [
        Event(client="c", connection="c", called=at, returned=at, command=each, outcome=Done())
        for at, each in enumerate(commands)
    ]
    return sorted(parts(events))


def test_queues_that_have_nothing_to_do_with_each_other_are_apart() -> None:
    """Whatever their names begin with."""
    assert [[0, 2], [1]] == together(
        CreateQueue(queue="a"), CreateQueue(queue="ab"), Receive(queue="a")
    )


def test_forwarding_entities_are_judged_with_their_destinations() -> None:
    """Over however many hops."""
    assert [[0, 1, 2], [3]] == together(
        CreateQueue(queue="end"),
        CreateQueue(queue="middle", forward_to="end"),
        CreateQueue(queue="start", forward_to="middle"),
        CreateQueue(queue="other"),
    )


def test_a_topic_is_judged_with_its_subscriptions_and_where_they_forward_to() -> None:
    """Their rules and dead letters included; another topic is apart."""
    assert [[0, 1, 2, 3, 4, 5, 6], [7, 8]] == together(
        CreateTopic(topic="news"),
        CreateSubscription(topic="news", subscription="one"),
        Send(queue="news", message=Message(body="m")),
        AddRule(topic="news", subscription="one", rule="r", filter=FalseFilter()),
        Receive(queue="news/subscriptions/one/$deadletterqueue"),
        CreateQueue(queue="end"),
        CreateSubscription(topic="news", subscription="two", forward_to="end"),
        CreateTopic(topic="old"),
        Receive(queue="old/subscriptions/one"),
    )


def test_many_entities_are_judged_together() -> None:
    """Whether one more may be refused depends on all of them."""
    few = [CreateQueue(queue=f"q{number}") for number in range(99)]
    assert 99 == len(together(*few))
    gone = DeleteQueue(queue="q0")
    topic = CreateSubscription(topic="news", subscription="one")
    many = (
        *few,
        gone,
        CreateTopic(topic="news"),
        topic,
        ListRules(topic="other", subscription="s"),
    )
    assert [[*range(102)], [102]] == together(*many)
