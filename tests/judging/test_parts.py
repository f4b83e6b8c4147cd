"""Which entities have to be judged together."""

from busproof import vocabulary as v
from busproof.judging.decompose import parts


def together(*commands: v.Command) -> list[list[int]]:
    """The parts of a history of these commands."""
    events = [
        v.Event(client="c", connection="c", called=at, returned=at, command=each, outcome=v.Done())
        for at, each in enumerate(commands)
    ]
    return sorted(parts(events))


def test_queues_that_have_nothing_to_do_with_each_other_are_apart() -> None:
    """Whatever their names begin with."""
    assert [[0, 2], [1]] == together(
        v.CreateQueue(queue="a"), v.CreateQueue(queue="ab"), v.Receive(queue="a")
    )


def test_forwarding_entities_are_judged_with_their_destinations() -> None:
    """Over however many hops."""
    assert [[0, 1, 2], [3]] == together(
        v.CreateQueue(queue="end"),
        v.CreateQueue(queue="middle", forward_to="end"),
        v.CreateQueue(queue="start", forward_to="middle"),
        v.CreateQueue(queue="other"),
    )


def test_a_topic_is_judged_with_its_subscriptions_and_where_they_forward_to() -> None:
    """Their rules and dead letters included; another topic is apart."""
    assert [[0, 1, 2, 3, 4, 5, 6], [7, 8]] == together(
        v.CreateTopic(topic="news"),
        v.CreateSubscription(topic="news", subscription="one"),
        v.Send(queue="news", message=v.Message(body="m")),
        v.AddRule(topic="news", subscription="one", rule="r", filter=v.FalseFilter()),
        v.Receive(queue="news/subscriptions/one/$deadletterqueue"),
        v.CreateQueue(queue="end"),
        v.CreateSubscription(topic="news", subscription="two", forward_to="end"),
        v.CreateTopic(topic="old"),
        v.Receive(queue="old/subscriptions/one"),
    )


def test_many_entities_are_judged_together() -> None:
    """Whether one more may be refused depends on all of them."""
    few = [v.CreateQueue(queue=f"q{number}") for number in range(99)]
    assert 99 == len(together(*few))
    gone = v.DeleteQueue(queue="q0")
    topic = v.CreateSubscription(topic="news", subscription="one")
    many = (
        *few,
        gone,
        v.CreateTopic(topic="news"),
        topic,
        v.ListRules(topic="other", subscription="s"),
    )
    assert [[*range(102)], [102]] == together(*many)
