"""Descriptions of entities: what may be late, what is not said, and what has to be right."""

import pytest
from told import Told

from busproof import vocabulary as v

GET = v.GetQueue(queue="q")
GET_TOPIC = v.GetTopic(topic="t")


def queue(**fields: object) -> v.Outcome:
    return v.Described(description=v.QueueDescription(queue="q", **fields))  # type: ignore[arg-type]


def topic(**fields: object) -> v.Outcome:
    return v.TopicDescribed(description=v.TopicDescription(topic="t", **fields))  # type: ignore[arg-type]


def created(reading: str = "bounded", **settings: object) -> Told:
    """A queue has just been created; the reading is that of GET-LAG."""
    creation = v.CreateQueue(queue="q", partitioned=True, **settings)  # type: ignore[arg-type]
    return Told(GET_LAG=reading).of(creation)


def filled(reading: str = "bounded") -> Told:
    told = created(reading)
    for body in ("m1", "m2"):
        told.of(v.Send(queue="q", message=v.Message(body=body)))
    return told


@pytest.mark.parametrize(("count", "allowed"), [(0, True), (1, True), (2, True), (3, False)])
def test_counts_may_be_old_and_no_greater_than_ever(count: int, allowed: bool) -> None:
    assert filled().may_be(GET, queue(message_count=count)) is allowed


@pytest.mark.parametrize(("count", "allowed"), [(1, False), (2, True), (3, False)])
def test_counts_of_the_moment_are_exact(count: int, allowed: bool) -> None:
    assert filled("at-once").may_be(GET, queue(message_count=count)) is allowed


def test_an_outage_is_told_late_and_never_before() -> None:
    limited = queue(availability=v.Availability.LIMITED)
    told = created()
    assert not told.may_be(GET, limited)
    told.of(v.TakePartitionDown(queue="q", partition=0))
    told.of(GET, queue(availability=v.Availability.AVAILABLE))
    told.of(v.BringPartitionUp(queue="q", partition=0))
    assert told.may_be(GET, limited)


def test_an_outage_of_an_earlier_queue_is_over() -> None:
    told = created().of(v.TakePartitionDown(queue="q", partition=0)).of(v.DeleteQueue(queue="q"))
    told.of(v.BringPartitionUp(queue="q", partition=0)).of(v.CreateQueue(queue="q"))
    assert not told.may_be(GET, queue(availability=v.Availability.LIMITED))


def test_only_an_unlimited_lifetime_may_be_told_in_any_way() -> None:
    assert created().may_be(GET, queue(time_to_live=7))
    assert not created(time_to_live=5).may_be(GET, queue(time_to_live=7))


def test_a_description_names_its_entity() -> None:
    other = v.Described(description=v.QueueDescription(queue="p"))
    assert not created().may_be(GET, other)


@pytest.mark.parametrize(("count", "allowed"), [(0, True), (1, True), (2, False)])
def test_subscriptions_are_counted_once_they_were_made(count: int, allowed: bool) -> None:
    told = Told().of(v.CreateTopic(topic="t"))
    told.of(v.CreateSubscription(topic="t", subscription="s"))
    assert told.may_be(GET_TOPIC, topic(subscription_count=count)) is allowed


@pytest.mark.parametrize("size", range(1, 7))
def test_a_size_that_the_tier_lacks_is_replaced_by_another(size: int) -> None:
    told = Told().of(v.CreateTopic(topic="t", partitioned=False, max_size=9))
    assert told.may_be(GET_TOPIC, topic(max_size=size)) is (size < 6)
