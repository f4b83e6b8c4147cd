"""Queues being created and listed: names, versions and tiers, and queues from before."""

import pytest
from telling import (
    DONE,
    LOST,
    MISSING,
    OTHER,
    SECOND,
    Told,
    down,
    is_allowed,
    locked,
    passes,
    received,
    refuses,
    shows,
    telling,
    told_of,
    update,
)

from busproof.vocabulary.commands import (
    Complete,
    CreateQueue,
    CreateTopic,
    DeleteQueue,
    GetQueue,
    ListQueues,
    Peek,
    Receive,
    RestoreQueue,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Described, Empty, Listed, QueueDescription, Refused
from busproof.vocabulary.values import Error, ReceiveMode, Tier

TAKEN = Refused(error=Error.ALREADY_EXISTS)
GET = GetQueue(queue="q")
DELETE = DeleteQueue(queue="q")


def receive() -> Receive:
    return Receive(queue="q")


# Names


def test_a_name_is_taken_once(told: Told) -> None:
    told.queue()
    refuses(told, CreateQueue(queue="q"), DONE, "MGMT-09")
    refuses(told, CreateQueue(queue="q"), OTHER, "MGMT-09")
    shows(told, CreateQueue(queue="q"), TAKEN, "MGMT-09")


@pytest.mark.parametrize(
    "command",
    [
        Send(queue="q", message=Message(body="m")),
        receive(),
        Peek(queue="q"),
        GET,
        update(lock_duration=5),
        DELETE,
    ],
)
def test_missing_entity_is_not_found(told: Told, command: object) -> None:
    refuses(told, command, DONE, "MGMT-10")
    refuses(told, command, OTHER, "MGMT-10")
    shows(told, command, MISSING, "MGMT-10")


def test_a_settlement_on_what_does_not_exist_may_be_refused_in_any_way(told: Told) -> None:
    told.has(Complete(queue="q", lock_token="t"), OTHER)
    told.has(down(1), OTHER)
    told.has(down(9), MISSING)
    refuses(told, down(9), DONE)


def test_repeated_creation_keeps_the_messages_of_a_queue(told: Told) -> None:
    told.queue()
    told.send()
    told.has(CreateQueue(queue="q"), TAKEN)
    assert "MGMT-09" in told.saw(receive(), Empty()).rules


# Lists


def test_a_list_names_every_queue_once(told: Told) -> None:
    told.queue()
    told.has(CreateQueue(queue="p"))
    shows(told, ListQueues(), Listed(names=("q", "p")), "MGMT-16")
    for wrong in (("q",), ("q", "p", "p"), ("q", "p", "r"), ()):
        refuses(told, ListQueues(), Listed(names=wrong), "MGMT-16")
    assert Listed(names=("p", "q")) == told.step(ListQueues())[0].outcome


def test_a_list_may_name_what_may_be_there(told: Told) -> None:
    told.has(CreateQueue(queue="q"), LOST)
    told.has(ListQueues(), Listed())
    told.has(ListQueues(), Listed(names=("q",)))
    told.has(ListQueues(), LOST)


# Versions and tiers


@pytest.mark.parametrize(
    ("version", "refused", "rule"),
    [("2013-10", False, "MGMT-06"), ("2014-01", False, "MGMT-07"), ("2012-01", True, "MGMT-08")],
)
def test_api_versions(version: str, refused: bool, rule: str) -> None:
    told = telling()
    asked = CreateQueue(queue="q", api_version=version)
    assert bool(told.saw(asked, OTHER).possible) is refused
    shows(telling(), asked, DONE, rule)
    if not refused:
        refuses(telling(), asked, OTHER, rule)


def test_an_older_version_may_ignore_the_option(told: Told) -> None:
    told.queue(api_version="")
    told.has(GET, told_of(partitioned=False))
    told.has(CreateQueue(queue="p", api_version="", partitioned=False))


@pytest.mark.parametrize("version", ["2013-9", "abc", "v2014-01", "2014-13", "2014-1", "2014-01 "])
def test_malformed_version_may_be_refused_ignored_or_heeded(version: str) -> None:
    for partitioned in (True, False, None):
        asked = CreateQueue(queue="q", api_version=version, partitioned=partitioned)
        telling().has(asked, OTHER)
        heeded = telling()
        heeded.has(asked)
        heeded.has(GET, told_of(partitioned=False))


@pytest.mark.parametrize("version", ["2013-9", "abc"])
def test_malformed_version_must_be_refused_where_it_is_read_so(version: str) -> None:
    told = telling({"API-VERSION-FORM": "refused"})
    refuses(told, CreateQueue(queue="q", api_version=version), DONE)
    told.has(CreateQueue(queue="q", api_version=version), OTHER)


@pytest.mark.parametrize("version", ["2012-03", ""])
def test_old_version_may_be_refused_for_any_queue(version: str) -> None:
    telling().has(CreateQueue(queue="q", api_version=version, partitioned=False), OTHER)


def test_versions_are_open_where_the_edition_names_none() -> None:
    told = telling(silent=frozenset({"MGMT-06"}))
    told.has(CreateQueue(queue="q", api_version="2013-10"), OTHER)


def test_a_regular_queue_must_be_had(told: Told) -> None:
    refuses(told, CreateQueue(queue="q", partitioned=False), OTHER, "MGMT-03")


@pytest.mark.parametrize(
    ("reading", "refused", "accepted"),
    [("either", True, True), ("refused", True, False), ("offered", False, True)],
)
def test_basic_may_lack_sessions_and_detection(reading: str, refused: bool, accepted: bool) -> None:
    for trait in ("requires_session", "duplicate_detection"):
        asked = CreateQueue(queue="q", **{trait: True})
        for answer, allowed in ((OTHER, refused), (DONE, accepted)):
            told = telling({"BASIC-FEATURES": reading}, tier=Tier.BASIC)
            assert bool(told.saw(asked, answer).possible) is allowed


@pytest.mark.parametrize(
    ("reading", "regular", "partitioned"),
    [("either", True, True), ("as-asked", True, False), ("never", False, True)],
)
@pytest.mark.parametrize("asked", [None, False])
def test_basic_may_partition_every_queue(
    reading: str, regular: bool, partitioned: bool, asked: bool | None
) -> None:
    for told_partitioned, allowed in ((False, regular), (True, partitioned)):
        told = telling({"BASIC-REGULAR": reading}, tier=Tier.BASIC)
        told.has(CreateQueue(queue="q", partitioned=asked))
        got = Described(description=QueueDescription(queue="q", partitioned=told_partitioned))
        assert bool(told.saw(GET, got).possible) is allowed


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("as-asked", False)])
def test_basic_may_partition_every_topic(reading: str, allowed: bool) -> None:
    told = telling({"BASIC-REGULAR": reading}, tier=Tier.BASIC)
    told.has(CreateTopic(topic="t", partitioned=False))
    assert bool(told.saw(TakePartitionDown(queue="t", partition=1)).possible) is allowed


def test_premium_need_not_partition_whatever_is_the_default() -> None:
    told = telling({"PARTITIONING-DEFAULT": "partitioned"}, tier=Tier.PREMIUM)
    told.has(CreateQueue(queue="q", partitioned=None))
    told.has(GET, Described(description=QueueDescription(queue="q", partitioned=False)))


# Restored queues


def test_a_restored_queue_is_there(told: Told) -> None:
    restore = RestoreQueue(queue="q")
    told.has(restore)
    told.has(restore, OTHER)
    refuses(told, restore, DONE)
    told.has(restore, LOST)
    told.has(GET, told_of(partitioned=True))


def test_a_restoration_without_answer(told: Told) -> None:
    told.has(RestoreQueue(queue="q"), LOST)
    told.has(GET, MISSING)
    told.has(GET, told_of(partitioned=True))


@pytest.mark.parametrize(("seconds", "either"), [(60, True), (30, False)])
def test_a_delivery_may_have_failed_by_the_maximum_from_before(
    told: Told, seconds: int, either: bool
) -> None:
    """If its lock can have ended when the update came; one that surely lasts counts by the new."""
    locked(told, until=60 * SECOND, max_delivery_count=10)
    passes(told, seconds)
    told.has(update(max_delivery_count=1))
    passes(told, 60)
    again = received("m1", 1, lock_token="m", delivery_count=2)
    assert is_allowed(told, Receive(queue="q"), again) is either


def test_the_maximum_changes_when_what_was_locked_is_gone(told: Told) -> None:
    """Its lock may have ended, for somebody took it for good."""
    locked(told, until=60 * SECOND, max_delivery_count=10)
    passes(told, 60)
    told.has(Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE), received("m1", 1))
    told.has(update(max_delivery_count=1))
