"""Requests of management whose answer never came."""

from managed_queues import DELETE, GET, RECEIVE, TAKEN
from observing import (
    DONE,
    GONE,
    LOST,
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
)

from busproof.vocabulary.commands import (
    BeginTransaction,
    CommitTransaction,
    CreateQueue,
    ListQueues,
)
from busproof.vocabulary.outcomes import Listed


def test_a_deletion_without_answer_leaves_nothing_to_judge(observer: Observer) -> None:
    observer.queue()
    observer.has(BeginTransaction(transaction="t"))
    observer.has(DELETE, LOST)
    observer.has(RECEIVE, received("never sent"))
    observer.has(RECEIVE, LOST)
    observer.send(outcome=OTHER, transaction="t")
    observer.send(transaction="unknown")
    observer.has(CommitTransaction(transaction="t"), OTHER)
    observer.has(ListQueues(), Listed())
    observer.has(CreateQueue(queue="q"), DONE)
    observer.has(RECEIVE, received("never sent"))
    assert MISSING == observer.step(RECEIVE)[0].outcome


def test_a_name_with_late_requests_reveals_nothing_once_its_queue_is_deleted(
    observer: Observer,
) -> None:
    observer.queue()
    observer.send(outcome=LOST)
    observer.send(outcome=LOST)
    observer.has(DELETE)
    observer.queue()
    observer.has(RECEIVE, received("m1"))


def test_a_name_with_late_requests_from_before_it_existed_reveals_nothing(
    observer: Observer,
) -> None:
    observer.send(outcome=LOST)
    observer.queue()
    observer.has(RECEIVE, received("m1"))


def test_a_creation_without_answer(observer: Observer) -> None:
    observer.has(CreateQueue(queue="q"), LOST)
    observer.has(CreateQueue(queue="q"), LOST)
    observer.has(up(1), DONE)
    observer.has(GET, MISSING)
    observer.has(DELETE, MISSING)
    observer.has(GET, described_as(partitioned=True))
    refuses(observer, GET, MISSING, "MGMT-20")


def test_a_creation_that_fails_in_part_over_one_without_answer_leaves_nothing_to_judge() -> None:
    for settings in ({}, {"lock_duration": SECOND}):
        observer = observing()
        observer.has(CreateQueue(queue="q", lock_duration=2 * SECOND), LOST)
        observer.has(down(1), DONE)
        observer.has(CreateQueue(queue="q", **settings), GONE)
        observer.has(GET, described_as(lock_duration=7))


def test_a_creation_refused_twice_in_outages_is_repeated_as_it_was(observer: Observer) -> None:
    observer.has(down(1), DONE)
    observer.has(CreateQueue(queue="q"), GONE)
    observer.has(CreateQueue(queue="q"), GONE)
    observer.has(up(1), DONE)
    shows(observer, CreateQueue(queue="q"), TAKEN, "MGMT-19")
    refuses(observer, GET, described_as(partitioned=False), "MGMT-01")


def test_an_outage_whose_end_was_refused_lasts(observer: Observer) -> None:
    """Of a queue that may be there: a refusal changes nothing."""
    observer.has(CreateQueue(queue="q"), LOST)
    observer.has(down(1), DONE)
    observer.has(up(1), MISSING)
    observer.has(CreateQueue(queue="q"), GONE)


def test_a_send_may_be_refused_for_there_being_no_queue_or_for_another_reason(
    observer: Observer,
) -> None:
    with_queue = observing()
    with_queue.queue(requires_session=True)
    observer.possible += with_queue.possible
    observer.send(outcome=MISSING)
    assert len(observer.possible) == 2


def test_a_queue_that_may_be_there_can_be_created_as_another(observer: Observer) -> None:
    observer.has(CreateQueue(queue="q"), LOST)
    observer.queue(partitioned=False)
    shows(observer, GET, described_as(partitioned=False), "MGMT-03")


def test_a_regular_queue_that_may_be_there_has_one_partition(observer: Observer) -> None:
    observer.has(CreateQueue(queue="q", partitioned=False), LOST)
    observer.has(down(2), DONE)
    observer.has(GET, described_as(partitioned=False))
    refuses(observer, GET, OTHER)


def test_a_creation_without_answer_of_a_queue_that_may_be_of_two_kinds() -> None:
    observer = observing({"PARTITIONING-DEFAULT": "either"})
    observer.has(CreateQueue(queue="q", partitioned=None), LOST)
    refuses(observer, RECEIVE, received("never sent"))
    observer.has(GET, described_as(partitioned=True))
    refuses(observer, GET, described_as(partitioned=False))
