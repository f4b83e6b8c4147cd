"""Requests of management whose answer never came."""

from telling import (
    DONE,
    GONE,
    LOST,
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
)

from busproof.vocabulary.commands import (
    BeginTransaction,
    CommitTransaction,
    CreateQueue,
    DeleteQueue,
    GetQueue,
    ListQueues,
    Receive,
)
from busproof.vocabulary.outcomes import Listed, Refused
from busproof.vocabulary.values import Error

TAKEN = Refused(error=Error.ALREADY_EXISTS)
GET = GetQueue(queue="q")
DELETE = DeleteQueue(queue="q")


def receive() -> Receive:
    return Receive(queue="q")


def test_a_deletion_without_answer_leaves_nothing_to_be_told(told: Told) -> None:
    told.queue()
    told.has(BeginTransaction(transaction="t"))
    told.has(DELETE, LOST)
    told.has(receive(), received("never sent"))
    told.has(receive(), LOST)
    told.send(outcome=OTHER, transaction="t")
    told.send(transaction="unknown")
    told.has(CommitTransaction(transaction="t"), OTHER)
    told.has(ListQueues(), Listed())
    told.has(CreateQueue(queue="q"), DONE)
    told.has(receive(), received("never sent"))
    assert MISSING == told.step(receive())[0].outcome


def test_a_haunted_name_tells_nothing_once_its_queue_is_deleted(told: Told) -> None:
    told.queue()
    told.send(outcome=LOST)
    told.send(outcome=LOST)
    told.has(DELETE)
    told.queue()
    told.has(receive(), received("m1"))


def test_a_name_that_was_haunted_before_it_existed_tells_nothing(told: Told) -> None:
    told.send(outcome=LOST)
    told.queue()
    told.has(receive(), received("m1"))


def test_a_creation_without_answer(told: Told) -> None:
    told.has(CreateQueue(queue="q"), LOST)
    told.has(CreateQueue(queue="q"), LOST)
    told.has(up(1), DONE)
    told.has(GET, MISSING)
    told.has(DELETE, MISSING)
    told.has(GET, told_of(partitioned=True))
    refuses(told, GET, MISSING, "MGMT-20")


def test_a_creation_that_fails_in_part_over_one_without_answer_leaves_nothing_to_be_told() -> None:
    for settings in ({}, {"lock_duration": SECOND}):
        told = telling()
        told.has(CreateQueue(queue="q", lock_duration=2 * SECOND), LOST)
        told.has(down(1), DONE)
        told.has(CreateQueue(queue="q", **settings), GONE)
        told.has(GET, told_of(lock_duration=7))


def test_a_creation_refused_twice_in_outages_is_repeated_as_it_was(told: Told) -> None:
    told.has(down(1), DONE)
    told.has(CreateQueue(queue="q"), GONE)
    told.has(CreateQueue(queue="q"), GONE)
    told.has(up(1), DONE)
    shows(told, CreateQueue(queue="q"), TAKEN, "MGMT-19")
    refuses(told, GET, told_of(partitioned=False), "MGMT-01")


def test_an_outage_whose_end_was_refused_lasts(told: Told) -> None:
    """Of a queue that may be there: a refusal changes nothing."""
    told.has(CreateQueue(queue="q"), LOST)
    told.has(down(1), DONE)
    told.has(up(1), MISSING)
    told.has(CreateQueue(queue="q"), GONE)


def test_a_send_may_be_refused_for_there_being_no_queue_or_for_another_reason(told: Told) -> None:
    with_queue = telling()
    with_queue.queue(requires_session=True)
    told.possible += with_queue.possible
    told.send(outcome=MISSING)
    assert len(told.possible) == 2


def test_a_queue_that_may_be_there_can_be_created_as_another(told: Told) -> None:
    told.has(CreateQueue(queue="q"), LOST)
    told.queue(partitioned=False)
    shows(told, GET, told_of(partitioned=False), "MGMT-03")


def test_a_regular_queue_that_may_be_there_has_one_partition(told: Told) -> None:
    told.has(CreateQueue(queue="q", partitioned=False), LOST)
    told.has(down(2), DONE)
    told.has(GET, told_of(partitioned=False))
    refuses(told, GET, OTHER)


def test_a_creation_without_answer_of_a_queue_that_may_be_of_two_kinds() -> None:
    told = telling({"PARTITIONING-DEFAULT": "either"})
    told.has(CreateQueue(queue="q", partitioned=None), LOST)
    refuses(told, receive(), received("never sent"))
    told.has(GET, told_of(partitioned=True))
    refuses(told, GET, told_of(partitioned=False))
