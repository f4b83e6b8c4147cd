"""Updates of the size of queues and topics (SIZE-UPDATE)."""

import pytest
from managed_topics import path, subscription, topic, with_topic
from observing import (
    DONE,
    INVALID,
    LOST,
    OTHER,
    Observer,
    described_as,
    observing,
    refuses,
    shows,
    update,
)

from busproof import vocabulary as v

GET = v.GetQueue(queue="q")


@pytest.mark.parametrize(("partitioned", "whole"), [(True, 4), (False, 1)])
def test_larger_size_is_given_and_described(partitioned: bool, whole: int) -> None:
    observer = observing()
    observer.queue(partitioned=partitioned, max_size=1)
    refuses(observer, update(max_size=2), INVALID, "SIZE-16", "MGMT-12")
    observer.has(update(max_size=2))
    shows(observer, GET, described_as(max_size=2 * whole), "SIZE-16")
    refuses(observer, GET, described_as(max_size=whole), "SIZE-16")


def test_size_that_is_named_again_is_no_change(observer: Observer) -> None:
    observer.queue(partitioned=False, max_size=2)
    refuses(observer, update(max_size=2), OTHER)
    observer.has(update(max_size=2))
    shows(observer, GET, described_as(max_size=2), "SIZE-01")


def test_smaller_size_may_be_refused(observer: Observer) -> None:
    observer.queue(partitioned=False, max_size=3)
    observer.has(update(max_size=2), OTHER)
    shows(observer, GET, described_as(max_size=3), "SIZE-01")
    observer.has(update(max_size=2))
    shows(observer, GET, described_as(max_size=2), "SIZE-16")


def test_size_that_the_tier_lacks_is_refused_or_replaced(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.has(update(max_size=7), INVALID)
    observer.has(update(max_size=7))
    assert len(observer.possible) == 5
    observer.has(GET, described_as(max_size=5))
    refuses(observer, GET, described_as(max_size=7), "SIZE-16")


@pytest.mark.parametrize("size", [1, 4])
def test_size_is_that_of_one_partition_or_of_all_where_no_edition_says_which(size: int) -> None:
    observer = observing(silent=frozenset({"SIZE-04"}))
    observer.queue(max_size=1)
    refuses(observer, GET, described_as(max_size=3), "MGMT-11")
    observer.has(GET, described_as(max_size=size))


def test_size_may_have_to_stay() -> None:
    observer = observing({"SIZE-UPDATE": "refused"})
    observer.queue(partitioned=False)
    refuses(observer, update(max_size=2), DONE, "SIZE-17")
    shows(observer, update(max_size=2), OTHER, "SIZE-17")
    shows(observer, GET, described_as(max_size=1), "SIZE-01")
    observer.has(update(max_size=2), LOST)
    refuses(observer, GET, described_as(max_size=2))


def test_entity_whose_partitions_may_depend_on_its_size_is_no_longer_judged() -> None:
    observer = observing({"GB-PARTITIONS": "per-gb"})
    observer.queue()
    observer.has(update(max_size=2), OTHER)
    observer.has(update(max_size=2))
    observer.has(GET, described_as(max_size=99))


def test_unanswered_update_leaves_the_size_open(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.has(update(max_size=2), LOST)
    observer.has(GET, described_as(max_size=2))
    observer.has(GET, described_as(max_size=1))


def test_subscriptions_have_the_new_size_of_their_topic(observer: Observer) -> None:
    """And none of their own that could be changed."""
    with_topic(observer, "s", partitioned=False)
    observer.has(v.UpdateTopic(topic="t", max_size=2))
    shows(observer, v.GetTopic(topic="t"), topic(max_size=2), "SIZE-16")
    (namespace,) = observer.possible
    assert 2 == namespace.queues[path("s")].settings.max_size
    observer.has(v.UpdateQueue(queue=path("s"), max_size=3), OTHER)
    observer.has(v.GetQueue(queue=path("s")), subscription())
