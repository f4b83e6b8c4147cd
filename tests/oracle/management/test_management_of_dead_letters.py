"""What management does to dead letters and locks, and what a dead-letter queue is asked."""

import pytest
from managed_queues import RECEIVE
from observing import DONE, INVALID, LOST, MISSING, OTHER, SECOND, Observer, observing, received

from busproof.vocabulary.commands import (
    BringPartitionUp,
    CreateQueue,
    DeadLetter,
    DeleteQueue,
    GetQueue,
    ListQueues,
    Receive,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.vocabulary.outcomes import Described, Empty, Listed, QueueDescription

MINUTE = 60 * SECOND
DEAD = "q/$deadletterqueue"
FROM_DEAD = Receive(queue=DEAD)


def buried(observer: Observer) -> None:
    """A message that is a dead letter."""
    observer.queue()
    observer.send(partition=1)
    observer.has(RECEIVE, received("m1", 1, lock_token="l", locked_until=MINUTE))
    observer.has(DeadLetter(queue="q", lock_token="l"))


def test_dead_letters_go_with_their_queue(observer: Observer) -> None:
    buried(observer)
    observer.has(DeleteQueue(queue="q"))
    observer.has(FROM_DEAD, MISSING)
    observer.queue()
    found = observer.saw(FROM_DEAD, received("m1", 1))
    assert found.possible == ()
    observer.has(FROM_DEAD, Empty())


def test_dead_letters_of_a_queue_that_may_be_there_go_when_it_is_created(
    observer: Observer,
) -> None:
    observer.has(CreateQueue(queue="q"), LOST)
    observer.has(FROM_DEAD, MISSING)
    observer.queue()
    observer.has(FROM_DEAD, Empty())


def test_a_dead_letter_queue_that_answers_shows_that_its_queue_is_there(observer: Observer) -> None:
    observer.has(CreateQueue(queue="q"), LOST)
    observer.has(FROM_DEAD, Empty())
    assert not observer.saw(RECEIVE, MISSING).possible


def test_an_outage_of_a_dead_letter_queue_is_that_of_its_queue(observer: Observer) -> None:
    observer.has(TakePartitionDown(queue=DEAD, partition=1))
    observer.has(CreateQueue(queue="q"), LOST)
    observer.has(BringPartitionUp(queue=DEAD, partition=1))
    observer.has(TakePartitionDown(queue=DEAD, partition=2))
    observer.queue()
    assert observer.possible[0].queues["q"].outages.down == 0b100


def test_a_list_may_name_the_queues_of_dead_letters(observer: Observer) -> None:
    buried(observer)
    for names in (("q",), ("q", DEAD)):
        observer.has(ListQueues(), Listed(names=names))
    assert Listed(names=("q",)) == observer.step(ListQueues())[0].outcome
    assert not observer.saw(ListQueues(), Listed(names=(DEAD,))).possible


@pytest.mark.parametrize("kind", [GetQueue, UpdateQueue, DeleteQueue])
def test_management_of_dead_letters_alone_is_not_judged(kind: type) -> None:
    observer = observing()
    buried(observer)
    observer.has(kind(queue=DEAD), OTHER)
    observer.has(FROM_DEAD, received("m1", 1, lock_token="m"))
    assert INVALID == observer.step(kind(queue=DEAD))[0].outcome


def test_a_dead_letter_queue_that_is_deleted_alone_leaves_nothing_to_judge(
    observer: Observer,
) -> None:
    buried(observer)
    observer.has(GetQueue(queue=DEAD), Described(description=QueueDescription(queue="any")))
    assert not observer.saw(FROM_DEAD, received("never sent")).possible
    observer.has(DeleteQueue(queue=DEAD))
    observer.has(RECEIVE, received("never sent"))


def test_a_dead_letter_queue_cannot_be_created(observer: Observer) -> None:
    observer.has(CreateQueue(queue=DEAD), OTHER)
    assert not observer.saw(CreateQueue(queue=DEAD), DONE).possible


def test_an_update_may_change_the_locks_of_dead_letters(observer: Observer) -> None:
    for until in (MINUTE, 5 * SECOND):
        observer = observing()
        buried(observer)
        observer.has(UpdateQueue(queue="q", lock_duration=5 * SECOND))
        observer.has(FROM_DEAD, received("m1", 1, lock_token="m", locked_until=until))


def test_no_update_makes_locks_longer_than_five_minutes(observer: Observer) -> None:
    long = UpdateQueue(queue="q", lock_duration=10 * MINUTE)
    observer.queue()
    assert observer.saw(long, OTHER).rules == ("LOCK-03",)
    assert observer.saw(long).rules[0] == "LOCK-03"
    observer.send(partition=1)
    wrong = received("m1", 1, lock_token="l", locked_until=10 * MINUTE)
    assert {"MGMT-12", "LOCK-03"} <= set(observer.saw(RECEIVE, wrong).rules)
    observer.has(RECEIVE, received("m1", 1, lock_token="l", locked_until=5 * MINUTE))


def test_an_unanswered_update_may_make_locks_of_five_minutes(observer: Observer) -> None:
    observer.queue()
    observer.has(UpdateQueue(queue="q", lock_duration=10 * MINUTE), LOST)
    observer.has(UpdateQueue(queue="q", max_delivery_count=5), LOST)
    observer.send(partition=1)
    observer.has(RECEIVE, received("m1", 1, lock_token="l", locked_until=5 * MINUTE))


def test_a_lock_in_a_cache_may_be_older_than_an_update(observer: Observer) -> None:
    """Only if there was a receive since the message came and before the update."""
    for received_before in (True, False):
        observer = observing()
        observer.queue()
        observer.send(partition=1)
        if received_before:
            observer.send(partition=2)
            observer.has(RECEIVE, received("m2", 2, lock_token="n"), connection="c2")
        observer.has(UpdateQueue(queue="q", lock_duration=5 * SECOND))
        old = received("m1", 1, lock_token="l", locked_until=MINUTE)
        assert bool(observer.saw(RECEIVE, old).possible) is received_before
