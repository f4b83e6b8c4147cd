"""What management does to dead letters and locks, and what a dead-letter queue is asked."""

import pytest
from telling import DONE, INVALID, LOST, MISSING, OTHER, SECOND, Told, received, telling

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
RECEIVE = Receive(queue="q")
FROM_DEAD = Receive(queue=DEAD)


def buried(told: Told) -> None:
    """A message that is a dead letter."""
    told.queue()
    told.send(partition=1)
    told.has(RECEIVE, received("m1", 1, lock_token="l", locked_until=MINUTE))
    told.has(DeadLetter(queue="q", lock_token="l"))


def test_dead_letters_go_with_their_queue(told: Told) -> None:
    buried(told)
    told.has(DeleteQueue(queue="q"))
    told.has(FROM_DEAD, MISSING)
    told.queue()
    found = told.saw(FROM_DEAD, received("m1", 1))
    assert found.possible == ()
    told.has(FROM_DEAD, Empty())


def test_dead_letters_of_a_queue_that_may_be_there_go_when_it_is_created(told: Told) -> None:
    told.has(CreateQueue(queue="q"), LOST)
    told.has(FROM_DEAD, MISSING)
    told.queue()
    told.has(FROM_DEAD, Empty())


def test_a_dead_letter_queue_that_answers_tells_that_its_queue_is_there(told: Told) -> None:
    told.has(CreateQueue(queue="q"), LOST)
    told.has(FROM_DEAD, Empty())
    assert not told.saw(RECEIVE, MISSING).possible


def test_an_outage_of_a_dead_letter_queue_is_that_of_its_queue(told: Told) -> None:
    told.has(TakePartitionDown(queue=DEAD, partition=1))
    told.has(CreateQueue(queue="q"), LOST)
    told.has(BringPartitionUp(queue=DEAD, partition=1))
    told.has(TakePartitionDown(queue=DEAD, partition=2))
    told.queue()
    assert told.possible[0].queues["q"].outages.down == 0b100


def test_a_list_may_name_the_queues_of_dead_letters(told: Told) -> None:
    buried(told)
    for names in (("q",), ("q", DEAD)):
        told.has(ListQueues(), Listed(names=names))
    assert Listed(names=("q",)) == told.step(ListQueues())[0].outcome
    assert not told.saw(ListQueues(), Listed(names=(DEAD,))).possible


@pytest.mark.parametrize("kind", [GetQueue, UpdateQueue, DeleteQueue])
def test_management_of_dead_letters_alone_is_not_told_of(kind: type) -> None:
    told = telling()
    buried(told)
    told.has(kind(queue=DEAD), OTHER)
    told.has(FROM_DEAD, received("m1", 1, lock_token="m"))
    assert INVALID == told.step(kind(queue=DEAD))[0].outcome


def test_a_dead_letter_queue_that_is_deleted_alone_leaves_nothing_to_be_told(told: Told) -> None:
    buried(told)
    told.has(GetQueue(queue=DEAD), Described(description=QueueDescription(queue="any")))
    assert not told.saw(FROM_DEAD, received("never sent")).possible
    told.has(DeleteQueue(queue=DEAD))
    told.has(RECEIVE, received("never sent"))


def test_a_dead_letter_queue_cannot_be_created(told: Told) -> None:
    told.has(CreateQueue(queue=DEAD), OTHER)
    assert not told.saw(CreateQueue(queue=DEAD), DONE).possible


def test_an_update_may_change_the_locks_of_dead_letters(told: Told) -> None:
    for until in (MINUTE, 5 * SECOND):
        told = telling()
        buried(told)
        told.has(UpdateQueue(queue="q", lock_duration=5 * SECOND))
        told.has(FROM_DEAD, received("m1", 1, lock_token="m", locked_until=until))


def test_no_update_makes_locks_longer_than_five_minutes(told: Told) -> None:
    long = UpdateQueue(queue="q", lock_duration=10 * MINUTE)
    told.queue()
    assert told.saw(long, OTHER).rules == ("LOCK-03",)
    assert told.saw(long).rules[0] == "LOCK-03"
    told.send(partition=1)
    wrong = received("m1", 1, lock_token="l", locked_until=10 * MINUTE)
    assert {"MGMT-12", "LOCK-03"} <= set(told.saw(RECEIVE, wrong).rules)
    told.has(RECEIVE, received("m1", 1, lock_token="l", locked_until=5 * MINUTE))


def test_an_unanswered_update_may_make_locks_of_five_minutes(told: Told) -> None:
    told.queue()
    told.has(UpdateQueue(queue="q", lock_duration=10 * MINUTE), LOST)
    told.has(UpdateQueue(queue="q", max_delivery_count=5), LOST)
    told.send(partition=1)
    told.has(RECEIVE, received("m1", 1, lock_token="l", locked_until=5 * MINUTE))


def test_a_lock_in_a_cache_may_be_older_than_an_update(told: Told) -> None:
    """Only if there was a receive since the message came and before the update."""
    for received_before in (True, False):
        told = telling()
        told.queue()
        told.send(partition=1)
        if received_before:
            told.send(partition=2)
            told.has(RECEIVE, received("m2", 2, lock_token="n"), connection="c2")
        told.has(UpdateQueue(queue="q", lock_duration=5 * SECOND))
        old = received("m1", 1, lock_token="l", locked_until=MINUTE)
        assert bool(told.saw(RECEIVE, old).possible) is received_before
