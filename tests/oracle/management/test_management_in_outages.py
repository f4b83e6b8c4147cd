"""Queues being created, updated and deleted while a partition is down."""

import pytest
from telling import (
    DONE,
    GONE,
    MISSING,
    OTHER,
    SECOND,
    Told,
    down,
    received,
    refuses,
    shows,
    telling,
    told_of,
    up,
    update,
)

from busproof.vocabulary.commands import (
    CreateQueue,
    DeleteQueue,
    GetQueue,
    ListQueues,
    Peek,
    Receive,
    Send,
)
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Listed, Refused
from busproof.vocabulary.values import Error

TAKEN = Refused(error=Error.ALREADY_EXISTS)
GET = GetQueue(queue="q")
DELETE = DeleteQueue(queue="q")


def receive() -> Receive:
    return Receive(queue="q")


@pytest.mark.parametrize(("reading", "done"), [("either", True), ("whole", True), ("fails", False)])
@pytest.mark.parametrize("command", [update(lock_duration=5), DELETE])
def test_a_change_in_an_outage(reading: str, done: bool, command: object) -> None:
    told = telling({"MANAGEMENT-IN-OUTAGE": reading})
    told.queue()
    told.has(down(0))
    shows(told, command, OTHER, "MGMT-18")
    if not done:
        refuses(told, command, DONE, "MGMT-18")
    else:
        shows(told, command, DONE, "MGMT-18")


@pytest.mark.parametrize("reading", ["either", "whole"])
def test_a_refused_update_can_be_repeated(reading: str) -> None:
    told = telling({"MANAGEMENT-IN-OUTAGE": reading})
    told.queue()
    told.send(partition=0)
    told.has(down(0))
    told.has(update(lock_duration=5), GONE)
    in_part = told.saw(GET, told_of(lock_duration=5)).possible
    assert bool(in_part) is (reading == "either")
    told.has(GET, told_of(lock_duration=60 * SECOND))
    told.has(up(0))
    refuses(told, update(lock_duration=5), OTHER, "MGMT-19")
    shows(told, update(lock_duration=5), DONE, "MGMT-19")
    refuses(told, GET, told_of(lock_duration=60 * SECOND), "MGMT-12")
    late = received("m1", lock_token="a", locked_until=60 * SECOND)
    assert "MGMT-19" in told.saw(receive(), late).rules


@pytest.mark.parametrize("reading", ["either", "whole"])
def test_a_refused_deletion_can_be_repeated(reading: str) -> None:
    told = telling({"MANAGEMENT-IN-OUTAGE": reading})
    told.queue()
    told.send(partition=0)
    told.has(down(1))
    told.has(DELETE, GONE)
    told.has(up(1))
    whole = reading == "whole"
    assert bool(told.saw(Peek(queue="q"), MISSING).possible) is not whole
    refuses(told, DELETE, OTHER, "MGMT-19")
    shows(told, DELETE, DONE, "MGMT-19")


def partially_applied() -> Told:
    """A queue that may have been deleted in part, with every partition up."""
    told = telling()
    told.queue()
    told.send(partition=0)
    told.send(partition=1, partition_key="a")
    told.has(down(1))
    told.has(DELETE, GONE)
    told.has(up(1))
    return told


def test_a_refused_deletion_may_have_been_made() -> None:
    told = partially_applied()
    shows(told, DELETE, MISSING, "MGMT-19")
    refuses(told, GET, told_of(), "MGMT-15")


def test_partly_deleted_queue_is_open_in_all_respects() -> None:
    told = partially_applied()
    told.has(GET, told_of(lock_duration=1))
    told.has(receive(), Empty())
    told.has(receive(), OTHER)
    told.has(receive(), received("m1", lock_token="a"))
    told.has(Send(queue="q", message=Message(body="m9")), OTHER)
    told.has(ListQueues(), Listed())
    told.has(update(lock_duration=5), OTHER)
    told.has(down(2), OTHER)
    told.has(down(2), DONE)
    told.has(down(9), OTHER)
    told.has(DELETE, OTHER)
    told.has(up(2), DONE)
    told.has(CreateQueue(queue="q"), TAKEN)
    told.has(CreateQueue(queue="q"), DONE)
    told.has(receive(), received("m2", partition=1, partition_key="a"))


def test_in_a_queue_deleted_in_part_order_and_copies_are_open() -> None:
    told = telling()
    told.queue(duplicate_detection=True)
    told.send(partition=0, partition_key="a", message_id="x")
    told.send(partition=0, partition_key="a", message_id="y")
    told.has(down(1))
    told.has(DELETE, GONE)
    told.has(up(1))
    told.send(partition=0, partition_key="a", message_id="x")
    told.has(receive(), received("m3", number=3, partition_key="a", message_id="x"))


def test_in_a_session_queue_deleted_in_part_a_session_may_be_empty() -> None:
    from busproof.vocabulary.commands import AcceptSession  # noqa: PLC0415

    told = telling()
    told.queue(requires_session=True)
    told.send(partition=0, session_id="s")
    told.has(down(1))
    told.has(DELETE, GONE)
    told.has(up(1))
    told.has(AcceptSession(queue="q", session_id="s"))
    told.has(Receive(queue="q", session_id="s"), Empty())


@pytest.mark.parametrize("reading", ["either", "whole"])
def test_a_refused_creation_can_be_repeated(reading: str) -> None:
    told = telling({"MANAGEMENT-IN-OUTAGE": reading})
    told.has(down(0))
    shows(told, CreateQueue(queue="q"), OTHER, "MGMT-18")
    told.has(CreateQueue(queue="q"), OTHER)
    told.has(up(0))
    refuses(told, CreateQueue(queue="q"), OTHER, "MGMT-19" if reading == "either" else "MGMT-02")
    again = TAKEN if reading == "either" else DONE
    shows(told, CreateQueue(queue="q"), again, "MGMT-19")
    shows(told, CreateQueue(queue="q"), TAKEN, "MGMT-09")


def test_a_refused_creation_that_succeeds_when_repeated_is_whole(told: Told) -> None:
    told.has(down(0))
    told.has(CreateQueue(queue="q"), OTHER)
    told.has(CreateQueue(queue="q"), TAKEN)
    told.has(up(0))
    shows(told, CreateQueue(queue="q"), DONE, "MGMT-19")
    refuses(told, GET, MISSING, "MGMT-20")


def test_a_queue_is_created_with_the_outages_of_its_name(told: Told) -> None:
    told.has(down(0))
    shows(told, CreateQueue(queue="q"), DONE, "MGMT-18")
    told.has(GET, told_of(availability=Availability.LIMITED))
    told.has(DELETE)
    told.has(up(0))
    told.queue()
    refuses(told, GET, told_of(availability=Availability.LIMITED), "MGMT-22")
    told.has(DELETE)
    told.queue(partitioned=False)


def test_outage_may_outlast_a_deletion_or_not(told: Told) -> None:
    told.queue()
    told.has(down(0))
    told.has(DELETE)
    told.queue()
    for each in Availability:
        told.has(GET, told_of(availability=each))
    told.has(DELETE)
    told.queue()


def test_queue_used_while_partly_created_is_not_judged(told: Told) -> None:
    told.has(down(0))
    told.has(CreateQueue(queue="q"), OTHER)
    told.send()
    told.has(up(0))
    shows(told, CreateQueue(queue="q"), TAKEN, "MGMT-19")
    told.has(receive(), received("never sent"))
    told.has(receive(), Empty())


def test_a_queue_that_is_there_in_part_is_offered_as_one_that_may_be() -> None:
    told = partially_applied()
    assert any(isinstance(each.outcome, Refused) for each in told.step(receive()))
    assert [DONE, MISSING] == [each.outcome for each in told.step(down(2))]
