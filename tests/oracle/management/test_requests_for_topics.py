"""Requests for topics name sizes, options and api-versions, as those for queues do."""

from typing import Any

import pytest
from observing import DONE, OTHER, observing, refuses, shows

from busproof import vocabulary as v

GET = v.GetTopic(topic="t")


def observer(**settings: Any) -> v.TopicDescribed:
    return v.TopicDescribed(description=v.TopicDescription(topic="t", **settings))


def asked(**settings: Any) -> v.CreateTopic:
    return v.CreateTopic(topic="t", **settings)


@pytest.mark.parametrize(
    ("partitioned", "size", "whole", "rule"), [(True, 5, 20, "SIZE-04"), (False, 5, 5, "SIZE-06")]
)
def test_topic_has_the_size_that_was_asked_for(
    partitioned: bool, size: int, whole: int, rule: str
) -> None:
    bus = observing()
    shows(bus, asked(partitioned=partitioned, max_size=size), DONE, "SIZE-01")
    shows(bus, GET, observer(max_size=whole), "SIZE-01", rule)
    refuses(bus, GET, observer(max_size=size * 3), rule)


def test_topic_without_a_size_has_one_gb() -> None:
    bus = observing()
    bus.has(asked())
    shows(bus, GET, observer(max_size=4), "SIZE-03", "SIZE-04")
    refuses(bus, GET, observer(max_size=20), "SIZE-03")


def test_topic_of_another_size_is_refused_or_has_one_of_the_tier() -> None:
    observing().has(asked(max_size=6), OTHER)
    bus = observing()
    bus.has(asked(max_size=6, partitioned=False))
    shows(bus, GET, observer(max_size=4), "SIZE-02")
    bus = observing()
    bus.has(asked(max_size=6, partitioned=False))
    refuses(bus, GET, observer(max_size=6), "SIZE-02")


def test_topic_of_a_size_of_the_tier_must_be_had() -> None:
    refuses(observing(), asked(max_size=5), OTHER, "SIZE-01")
    premium = observing(tier=v.Tier.PREMIUM)
    refuses(premium, asked(max_size=80, partitioned=False), OTHER)
    assert "PREM-07" in premium.saw(asked(max_size=80, partitioned=False), OTHER).rules


@pytest.mark.parametrize(("version", "rule"), [("2013-10", "MGMT-06"), ("2021-05", "MGMT-07")])
def test_api_version_that_knows_partitions_creates_a_partitioned_topic(
    version: str, rule: str
) -> None:
    shows(observing(), asked(api_version=version), DONE, rule)
    refuses(observing(), asked(api_version=version), OTHER, rule)


@pytest.mark.parametrize("version", ["", "2012-03", "2013-9"])
def test_topic_by_an_older_or_malformed_version_is_refused_regular_or_partitioned(
    version: str,
) -> None:
    observing().has(asked(api_version=version), OTHER)
    for partitioned in (True, False):
        bus = observing()
        bus.has(asked(api_version=version))
        bus.has(GET, observer(partitioned=partitioned))


def test_malformed_version_is_refused_for_a_topic_where_it_is_read_so() -> None:
    refuses(observing({"API-VERSION-FORM": "refused"}), asked(api_version="2013-9"), DONE)


def test_topic_that_leaves_the_option_out_is_regular() -> None:
    bus = observing()
    bus.has(asked(partitioned=None))
    shows(bus, GET, observer(partitioned=False), "MGMT-03")
    refuses(bus, GET, observer(partitioned=True), "MGMT-03")


def test_topic_that_leaves_the_option_out_is_as_the_reading_has_it() -> None:
    bus = observing({"PARTITIONING-DEFAULT": "partitioned"})
    bus.has(asked(partitioned=None))
    bus.has(GET, observer(partitioned=True))
