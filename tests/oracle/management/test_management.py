"""Queues being created and listed: names, versions and tiers, and queues from before."""

import pytest
from managed_queues import DELETE, GET, RECEIVE, TAKEN
from observing import (
    DONE,
    LOST,
    MISSING,
    OTHER,
    SECOND,
    Observer,
    described_as,
    down,
    is_allowed,
    locked,
    observing,
    passes,
    received,
    refuses,
    shows,
    update,
)

from busproof import vocabulary as v

# Names


def test_a_name_is_taken_once(observer: Observer) -> None:
    observer.queue()
    refuses(observer, v.CreateQueue(queue="q"), DONE, "MGMT-09")
    refuses(observer, v.CreateQueue(queue="q"), OTHER, "MGMT-09")
    shows(observer, v.CreateQueue(queue="q"), TAKEN, "MGMT-09")


@pytest.mark.parametrize(
    "command",
    [
        v.Send(queue="q", message=v.Message(body="m")),
        RECEIVE,
        v.Peek(queue="q"),
        GET,
        update(lock_duration=5),
        DELETE,
    ],
)
def test_missing_entity_is_not_found(observer: Observer, command: object) -> None:
    refuses(observer, command, DONE, "MGMT-10")
    refuses(observer, command, OTHER, "MGMT-10")
    shows(observer, command, MISSING, "MGMT-10")


def test_a_settlement_on_what_does_not_exist_may_be_refused_in_any_way(observer: Observer) -> None:
    observer.has(v.Complete(queue="q", lock_token="t"), OTHER)
    observer.has(down(1), OTHER)
    observer.has(down(9), MISSING)
    refuses(observer, down(9), DONE)


def test_repeated_creation_keeps_the_messages_of_a_queue(observer: Observer) -> None:
    observer.queue()
    observer.send()
    observer.has(v.CreateQueue(queue="q"), TAKEN)
    assert "MGMT-09" in observer.saw(RECEIVE, v.Empty()).rules


# Lists


def test_a_list_names_every_queue_once(observer: Observer) -> None:
    observer.queue()
    observer.has(v.CreateQueue(queue="p"))
    shows(observer, v.ListQueues(), v.Listed(names=("q", "p")), "MGMT-16")
    for wrong in (("q",), ("q", "p", "p"), ("q", "p", "r"), ()):
        refuses(observer, v.ListQueues(), v.Listed(names=wrong), "MGMT-16")
    assert v.Listed(names=("p", "q")) == observer.step(v.ListQueues())[0].outcome


def test_a_list_may_name_what_may_be_there(observer: Observer) -> None:
    observer.has(v.CreateQueue(queue="q"), LOST)
    observer.has(v.ListQueues(), v.Listed())
    observer.has(v.ListQueues(), v.Listed(names=("q",)))
    observer.has(v.ListQueues(), LOST)


# Versions and tiers


@pytest.mark.parametrize(
    ("version", "refused", "rule"),
    [("2013-10", False, "MGMT-06"), ("2014-01", False, "MGMT-07"), ("2012-01", True, "MGMT-08")],
)
def test_api_versions(version: str, refused: bool, rule: str) -> None:
    observer = observing()
    asked = v.CreateQueue(queue="q", api_version=version)
    assert bool(observer.saw(asked, OTHER).possible) is refused
    shows(observing(), asked, DONE, rule)
    if not refused:
        refuses(observing(), asked, OTHER, rule)


def test_an_older_version_may_ignore_the_option(observer: Observer) -> None:
    observer.queue(api_version="")
    observer.has(GET, described_as(partitioned=False))
    observer.has(v.CreateQueue(queue="p", api_version="", partitioned=False))


@pytest.mark.parametrize("version", ["2013-9", "abc", "v2014-01", "2014-13", "2014-1", "2014-01 "])
def test_malformed_version_may_be_refused_ignored_or_heeded(version: str) -> None:
    for partitioned in (True, False, None):
        asked = v.CreateQueue(queue="q", api_version=version, partitioned=partitioned)
        observing().has(asked, OTHER)
        heeded = observing()
        heeded.has(asked)
        heeded.has(GET, described_as(partitioned=False))


@pytest.mark.parametrize("version", ["2013-9", "abc"])
def test_malformed_version_must_be_refused_where_it_is_read_so(version: str) -> None:
    observer = observing({"API-VERSION-FORM": "refused"})
    refuses(observer, v.CreateQueue(queue="q", api_version=version), DONE)
    observer.has(v.CreateQueue(queue="q", api_version=version), OTHER)


@pytest.mark.parametrize("version", ["2012-03", ""])
def test_old_version_may_be_refused_for_any_queue(version: str) -> None:
    observing().has(v.CreateQueue(queue="q", api_version=version, partitioned=False), OTHER)


def test_versions_are_open_where_the_edition_names_none() -> None:
    observer = observing(silent=frozenset({"MGMT-06"}))
    observer.has(v.CreateQueue(queue="q", api_version="2013-10"), OTHER)


def test_a_regular_queue_must_be_had(observer: Observer) -> None:
    refuses(observer, v.CreateQueue(queue="q", partitioned=False), OTHER, "MGMT-03")


@pytest.mark.parametrize(
    ("reading", "refused", "accepted"),
    [("either", True, True), ("refused", True, False), ("offered", False, True)],
)
def test_basic_may_lack_sessions_and_detection(reading: str, refused: bool, accepted: bool) -> None:
    for trait in ("requires_session", "duplicate_detection"):
        asked = v.CreateQueue(queue="q", **{trait: True})
        for answer, allowed in ((OTHER, refused), (DONE, accepted)):
            observer = observing({"BASIC-FEATURES": reading}, tier=v.Tier.BASIC)
            assert bool(observer.saw(asked, answer).possible) is allowed


@pytest.mark.parametrize(
    ("reading", "regular", "partitioned"),
    [("either", True, True), ("as-asked", True, False), ("never", False, True)],
)
@pytest.mark.parametrize("asked", [None, False])
def test_basic_may_partition_every_queue(
    reading: str, regular: bool, partitioned: bool, asked: bool | None
) -> None:
    for partitioned_ones, allowed in ((False, regular), (True, partitioned)):
        observer = observing({"BASIC-REGULAR": reading}, tier=v.Tier.BASIC)
        observer.has(v.CreateQueue(queue="q", partitioned=asked))
        got = v.Described(description=v.QueueDescription(queue="q", partitioned=partitioned_ones))
        assert bool(observer.saw(GET, got).possible) is allowed


def test_basic_that_partitions_all_does_so_for_an_old_version_too() -> None:
    for partitioned in (True, False):
        observer = observing({"BASIC-REGULAR": "never"}, tier=v.Tier.BASIC)
        observer.has(v.CreateQueue(queue="q", api_version="2012-03"))
        got = v.Described(description=v.QueueDescription(queue="q", partitioned=partitioned))
        assert bool(observer.saw(GET, got).possible) is partitioned


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("as-asked", False)])
def test_basic_may_partition_every_topic(reading: str, allowed: bool) -> None:
    observer = observing({"BASIC-REGULAR": reading}, tier=v.Tier.BASIC)
    observer.has(v.CreateTopic(topic="t", partitioned=False))
    assert bool(observer.saw(v.TakePartitionDown(queue="t", partition=1)).possible) is allowed


def test_premium_need_not_partition_whatever_is_the_default() -> None:
    observer = observing({"PARTITIONING-DEFAULT": "partitioned"}, tier=v.Tier.PREMIUM)
    observer.has(v.CreateQueue(queue="q", partitioned=None))
    observer.has(GET, v.Described(description=v.QueueDescription(queue="q", partitioned=False)))


# Restored queues


def test_a_restored_queue_is_there(observer: Observer) -> None:
    restore = v.RestoreQueue(queue="q")
    observer.has(restore)
    observer.has(restore, OTHER)
    refuses(observer, restore, DONE)
    observer.has(restore, LOST)
    observer.has(GET, described_as(partitioned=True))


def test_a_restoration_without_answer(observer: Observer) -> None:
    observer.has(v.RestoreQueue(queue="q"), LOST)
    observer.has(GET, MISSING)
    observer.has(GET, described_as(partitioned=True))


@pytest.mark.parametrize(("seconds", "either"), [(60, True), (30, False)])
def test_a_delivery_may_have_failed_by_the_maximum_from_before(
    observer: Observer, seconds: int, either: bool
) -> None:
    """If its lock can have ended when the update came; one that surely lasts counts by the new."""
    locked(observer, until=60 * SECOND, max_delivery_count=10)
    passes(observer, seconds)
    observer.has(update(max_delivery_count=1))
    passes(observer, 60)
    again = received("m1", 1, lock_token="m", delivery_count=2)
    assert is_allowed(observer, v.Receive(queue="q"), again) is either


def test_the_maximum_changes_when_what_was_locked_is_gone(observer: Observer) -> None:
    """Its lock may have ended, for somebody took it for good."""
    locked(observer, until=60 * SECOND, max_delivery_count=10)
    passes(observer, 60)
    observer.has(v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE), received("m1", 1))
    observer.has(update(max_delivery_count=1))
