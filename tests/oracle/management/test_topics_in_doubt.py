"""Requests to a topic that were never answered."""

from managed_topics import (
    EXISTS,
    NOT_FOUND,
    publish,
    subscribe,
    take,
    with_topic,
)
from observing import DONE, LOST, Observer, received

from busproof.vocabulary.commands import (
    BeginTransaction,
    CommitTransaction,
    CreateQueue,
    CreateTopic,
    Peek,
    Receive,
)
from busproof.vocabulary.outcomes import Empty, Peeked


def test_a_send_that_was_lost_may_be_in_every_subscription_or_in_none(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    observer.has(publish("m"), LOST)
    observer.has(take("s"), Empty())
    observer.has(take("r"), received("m"))


def test_a_send_lost_in_a_transaction_may_arrive_after_it(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(BeginTransaction(transaction="x"))
    observer.has(publish("m", "x", partition_key="a"), LOST)
    observer.has(CommitTransaction(transaction="x"))
    observer.has(take(), Empty())
    observer.has(take(), received("m", partition_key="a"))


def test_a_creation_that_was_lost_may_have_happened(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t"), LOST)
    observer.has(CreateTopic(topic="t"), LOST)
    observer.has(subscribe(), NOT_FOUND)
    observer.has(subscribe(), LOST)
    observer.has(subscribe(), LOST)
    observer.has(publish("m"), NOT_FOUND)
    observer.has(publish("n"))
    observer.has(take(), Empty())
    observer.has(publish("o"))
    assert observer.saw(take(), NOT_FOUND).possible == ()
    observer.has(take(), received("n"))
    observer.has(take(), received("o", number=2))
    assert observer.saw(CreateTopic(topic="t")).possible == ()


def test_a_creation_that_was_lost_can_be_repeated(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t"), LOST)
    observer.has(CreateTopic(topic="t"), DONE)
    observer.has(subscribe(), LOST)
    observer.has(subscribe(), DONE)
    observer.has(publish("m"))
    assert observer.saw(take(), Empty()).possible == ()


def test_either_of_two_unanswered_creations_may_be_first(observer: Observer) -> None:
    with_topic(observer)
    observer.has(CreateQueue(queue="end"))
    observer.has(subscribe(forward_to="end"), LOST)
    observer.has(subscribe(), LOST)
    observer.has(subscribe(), LOST)
    assert 2 == len(observer.possible)
    observer.has(publish("m"), partition=0)
    observer.has(take(), received("m"))
    assert 1 == len(observer.possible)
    observer.has(subscribe(), EXISTS)


def test_a_creation_that_cannot_succeed_leaves_nothing_when_its_answer_is_lost(
    observer: Observer,
) -> None:
    observer.has(subscribe(), NOT_FOUND)
    observer.has(CreateQueue(queue="q", forward_to="end"), LOST)
    observer.has(CreateQueue(queue="q", forward_to="end"), NOT_FOUND)
    assert observer.saw(Peek(queue="q"), Peeked()).possible == ()


def test_subscriptions_outlast_the_doubt_whether_their_topic_was_there(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t", partitioned=False), LOST)
    observer.has(subscribe(), LOST)
    observer.has(CreateTopic(topic="t"))
    observer.has(publish("m"), partition=2)
    observer.has(take(), received("m", 2))
    observer.has(subscribe(), EXISTS)


def test_a_subscription_that_forwards_passes_on_what_arrives_late(observer: Observer) -> None:
    with_topic(observer)
    observer.has(CreateQueue(queue="end"))
    observer.has(publish("m"), LOST)
    observer.has(subscribe(forward_to="end"))
    observer.has(Receive(queue="end"), received("m", 1))
