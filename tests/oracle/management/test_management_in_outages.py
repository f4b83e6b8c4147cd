"""Queues being created, updated and deleted while a partition is down."""

import pytest
from managed_queues import DELETE, GET, RECEIVE, TAKEN
from observing import (
    DONE,
    GONE,
    MISSING,
    OTHER,
    SECOND,
    Observer,
    described_as,
    down,
    observing,
    received,
    refuses,
    shows,
    up,
    update,
)

from busproof import vocabulary as v


@pytest.mark.parametrize(("reading", "done"), [("either", True), ("whole", True), ("fails", False)])
@pytest.mark.parametrize("command", [update(lock_duration=5), DELETE])
def test_a_change_in_an_outage(reading: str, done: bool, command: object) -> None:
    observer = observing({"MANAGEMENT-IN-OUTAGE": reading})
    observer.queue()
    observer.has(down(0))
    shows(observer, command, OTHER, "MGMT-18")
    if not done:
        refuses(observer, command, DONE, "MGMT-18")
    else:
        shows(observer, command, DONE, "MGMT-18")


@pytest.mark.parametrize("command", [v.CreateQueue, v.CreateTopic])
@pytest.mark.parametrize("reading", ["either", "fails"])
def test_creation_may_fail_for_partitions_that_the_tier_may_give(reading: str, command) -> None:
    """A request without the option may get partitions in Basic, and one of them is down."""
    readings = {"BASIC-REGULAR": "either", "MANAGEMENT-IN-OUTAGE": reading}
    observer = observing(readings, tier=v.Tier.BASIC)
    observer.has(down(2))
    asked = command(**{"queue" if command is v.CreateQueue else "topic": "q"}, partitioned=None)
    assert observer.saw(asked, OTHER).possible
    assert observer.saw(asked, DONE).possible


@pytest.mark.parametrize("reading", ["either", "whole"])
def test_a_refused_update_can_be_repeated(reading: str) -> None:
    observer = observing({"MANAGEMENT-IN-OUTAGE": reading})
    observer.queue()
    observer.send(partition=0)
    observer.has(down(0))
    observer.has(update(lock_duration=5), GONE)
    in_part = observer.saw(GET, described_as(lock_duration=5)).possible
    assert bool(in_part) is (reading == "either")
    observer.has(GET, described_as(lock_duration=60 * SECOND))
    observer.has(up(0))
    refuses(observer, update(lock_duration=5), OTHER, "MGMT-19")
    shows(observer, update(lock_duration=5), DONE, "MGMT-19")
    refuses(observer, GET, described_as(lock_duration=60 * SECOND), "MGMT-12")
    late = received("m1", lock_token="a", locked_until=60 * SECOND)
    assert "MGMT-19" in observer.saw(RECEIVE, late).rules


@pytest.mark.parametrize("reading", ["either", "whole"])
def test_a_refused_deletion_can_be_repeated(reading: str) -> None:
    observer = observing({"MANAGEMENT-IN-OUTAGE": reading})
    observer.queue()
    observer.send(partition=0)
    observer.has(down(1))
    observer.has(DELETE, GONE)
    observer.has(up(1))
    whole = reading == "whole"
    assert bool(observer.saw(v.Peek(queue="q"), MISSING).possible) is not whole
    refuses(observer, DELETE, OTHER, "MGMT-19")
    shows(observer, DELETE, DONE, "MGMT-19")


def partially_applied() -> Observer:
    """A queue that may have been deleted in part, with every partition up."""
    observer = observing()
    observer.queue()
    observer.send(partition=0)
    observer.send(partition=1, partition_key="a")
    observer.has(down(1))
    observer.has(DELETE, GONE)
    observer.has(up(1))
    return observer


def test_a_refused_deletion_may_have_been_made() -> None:
    observer = partially_applied()
    shows(observer, DELETE, MISSING, "MGMT-19")
    refuses(observer, GET, described_as(), "MGMT-15")


def test_partly_deleted_queue_is_open_in_all_respects() -> None:
    observer = partially_applied()
    observer.has(GET, described_as(lock_duration=1))
    observer.has(RECEIVE, v.Empty())
    observer.has(RECEIVE, OTHER)
    observer.has(RECEIVE, received("m1", lock_token="a"))
    observer.has(v.Send(queue="q", message=v.Message(body="m9")), OTHER)
    observer.has(v.ListQueues(), v.Listed())
    observer.has(update(lock_duration=5), OTHER)
    observer.has(down(2), OTHER)
    observer.has(down(2), DONE)
    observer.has(down(9), OTHER)
    observer.has(DELETE, OTHER)
    observer.has(up(2), DONE)
    observer.has(v.CreateQueue(queue="q"), TAKEN)
    observer.has(v.CreateQueue(queue="q"), DONE)
    observer.has(RECEIVE, received("m2", partition=1, partition_key="a"))


def test_in_a_queue_deleted_in_part_order_and_copies_are_open() -> None:
    observer = observing()
    observer.queue(duplicate_detection=True)
    observer.send(partition=0, partition_key="a", message_id="x")
    observer.send(partition=0, partition_key="a", message_id="y")
    observer.has(down(1))
    observer.has(DELETE, GONE)
    observer.has(up(1))
    observer.send(partition=0, partition_key="a", message_id="x")
    observer.has(RECEIVE, received("m3", number=3, partition_key="a", message_id="x"))


def test_in_a_session_queue_deleted_in_part_a_session_may_be_empty() -> None:
    from busproof.vocabulary.commands import AcceptSession

    observer = observing()
    observer.queue(requires_session=True)
    observer.send(partition=0, session_id="s")
    observer.has(down(1))
    observer.has(DELETE, GONE)
    observer.has(up(1))
    observer.has(AcceptSession(queue="q", session_id="s"))
    observer.has(v.Receive(queue="q", session_id="s"), v.Empty())


@pytest.mark.parametrize("reading", ["either", "whole"])
def test_a_refused_creation_can_be_repeated(reading: str) -> None:
    observer = observing({"MANAGEMENT-IN-OUTAGE": reading})
    observer.has(down(0))
    shows(observer, v.CreateQueue(queue="q"), OTHER, "MGMT-18")
    observer.has(v.CreateQueue(queue="q"), OTHER)
    observer.has(up(0))
    refuses(
        observer, v.CreateQueue(queue="q"), OTHER, "MGMT-19" if reading == "either" else "MGMT-02"
    )
    again = TAKEN if reading == "either" else DONE
    shows(observer, v.CreateQueue(queue="q"), again, "MGMT-19")
    shows(observer, v.CreateQueue(queue="q"), TAKEN, "MGMT-09")


def test_a_refused_creation_that_succeeds_when_repeated_is_whole(observer: Observer) -> None:
    observer.has(down(0))
    observer.has(v.CreateQueue(queue="q"), OTHER)
    observer.has(v.CreateQueue(queue="q"), TAKEN)
    observer.has(up(0))
    shows(observer, v.CreateQueue(queue="q"), DONE, "MGMT-19")
    refuses(observer, GET, MISSING, "MGMT-20")


def test_a_queue_is_created_with_the_outages_of_its_name(observer: Observer) -> None:
    observer.has(down(0))
    shows(observer, v.CreateQueue(queue="q"), DONE, "MGMT-18")
    observer.has(GET, described_as(availability=v.Availability.LIMITED))
    observer.has(DELETE)
    observer.has(up(0))
    observer.queue()
    refuses(observer, GET, described_as(availability=v.Availability.LIMITED), "MGMT-22")
    observer.has(DELETE)
    observer.queue(partitioned=False)


def test_outage_may_outlast_a_deletion_or_not(observer: Observer) -> None:
    observer.queue()
    observer.has(down(0))
    observer.has(DELETE)
    observer.queue()
    for each in v.Availability:
        observer.has(GET, described_as(availability=each))
    observer.has(DELETE)
    observer.queue()


def test_queue_used_while_partly_created_is_not_judged(observer: Observer) -> None:
    observer.has(down(0))
    observer.has(v.CreateQueue(queue="q"), OTHER)
    observer.send()
    observer.has(up(0))
    shows(observer, v.CreateQueue(queue="q"), TAKEN, "MGMT-19")
    observer.has(RECEIVE, received("never sent"))
    observer.has(RECEIVE, v.Empty())


def test_a_queue_that_is_there_in_part_is_offered_as_one_that_may_be() -> None:
    observer = partially_applied()
    assert any(isinstance(each.outcome, v.Refused) for each in observer.step(RECEIVE))
    assert [DONE, MISSING] == [each.outcome for each in observer.step(down(2))]
