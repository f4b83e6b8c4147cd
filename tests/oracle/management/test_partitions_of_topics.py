"""Partitions of a topic and of its subscriptions, and their outages."""

import pytest
from managed_topics import (
    UNAVAILABLE,
    publish,
    take,
    with_topic,
)
from observing import DONE, Observer, observing, received

from busproof.vocabulary.commands import (
    BringPartitionUp,
    TakePartitionDown,
)
from busproof.vocabulary.outcomes import Empty


def test_a_key_selects_a_partition_of_the_topic(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("m", partition_key="a"), partition=1)
    wrong = observer.saw(publish("n", partition_key="a"), DONE, 2)
    assert wrong.possible == ()
    assert "TOPIC-07" in wrong.rules
    assert "TOPIC-07" in observer.saw(publish("n", partition_key="a"), DONE, 1).rules


def test_a_key_selects_a_partition_of_each_subscription(observer: Observer) -> None:
    with_topic(observer, "s")
    for body in ("m", "n", "o"):
        observer.has(publish(body, partition_key="a"), partition=1)
    observer.has(take(), received("m", 3, 1, partition_key="a"))
    wrong = observer.saw(take(), received("n", 2, 2, partition_key="a"))
    assert wrong.possible == ()
    assert "TOPIC-07" in wrong.rules
    assert "TOPIC-07" in observer.saw(take(), received("n", 3, 2, partition_key="a")).rules


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("same", False)])
def test_the_readings_of_where_copies_are_differ_in_their_partition(
    reading: str, allowed: bool
) -> None:
    observer = with_topic(observing({"SUBSCRIPTION-PARTITIONS": reading}), "s")
    observer.has(publish("m", partition_key="a"), partition=1)
    elsewhere = received("m", 2, partition_key="a")
    assert bool(observer.saw(take(), elsewhere).possible) is allowed


def test_copies_in_the_partition_of_their_message_show_where_keys_lead() -> None:
    observer = with_topic(observing({"SUBSCRIPTION-PARTITIONS": "same"}), "s")
    observer.has(publish("m", partition_key="a"))
    observer.has(take(), received("m", 3, partition_key="a"))
    assert observer.saw(publish("n", partition_key="a"), DONE, 2).possible == ()
    observer.has(publish("n", partition_key="a"), DONE, partition=3)


def test_a_key_whose_partition_is_down_is_refused_by_the_topic(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("m", partition_key="a"), partition=1)
    observer.has(TakePartitionDown(queue="t", partition=1))
    assert observer.saw(publish("n", partition_key="a"), DONE, 2).possible == ()
    assert "TOPIC-10" in observer.saw(publish("n", partition_key="a"), UNAVAILABLE).rules
    observer.has(BringPartitionUp(queue="t", partition=1))
    wrong = observer.saw(take(), received("n", 1))
    assert wrong.possible == ()
    assert "TOPIC-10" in wrong.rules


def test_a_subscription_has_the_outages_of_its_topic(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("m", partition_key="a"), partition=1)
    observer.has(TakePartitionDown(queue="t", partition=1))
    observer.has(take(), Empty())
    observer.has(BringPartitionUp(queue="t", partition=1))
    assert observer.saw(take(), Empty()).possible == ()


def test_a_message_without_key_goes_round_an_outage_of_the_topic(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(TakePartitionDown(queue="t", partition=0))
    wrong = observer.saw(publish("m"), UNAVAILABLE)
    assert wrong.possible == ()
    assert "TOPIC-11" in wrong.rules
    assert "TOPIC-11" in observer.saw(publish("m"), DONE, 3).rules
