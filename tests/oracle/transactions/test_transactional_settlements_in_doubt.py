"""Settlements made twice or without an answer, and those whose queue is gone or down."""

import pytest
from in_transactions import (
    BEGIN,
    COMMIT,
    DEAD,
    KINDS,
    LOCK_LOST,
    PLAIN,
    RECEIVE,
    ROLL_BACK,
    UNKNOWN,
    again,
    enlisted,
    within,
)
from observing import (
    DONE,
    INVALID,
    LOST,
    OTHER,
    Observer,
    is_allowed,
    locked,
    observing,
    passes,
    received,
)

from busproof import vocabulary as v


def test_settling_twice_is_open(observer: Observer) -> None:
    enlisted(observer)
    assert is_allowed(observer, PLAIN, LOCK_LOST)
    assert is_allowed(observer, within(v.Abandon), INVALID)
    observer.has(within(v.Abandon))
    assert is_allowed(observer, PLAIN, LOCK_LOST)
    observer.has(PLAIN)
    assert is_allowed(observer, COMMIT, DONE)
    observer.has(COMMIT, LOCK_LOST)
    passes(observer, 61)
    assert not is_allowed(observer, RECEIVE, again())


def test_only_the_same_message_is_in_doubt_then(observer: Observer) -> None:
    observer.queue(partitioned=False)
    for token in "ln":
        observer.send()
        observer.has(
            RECEIVE, received(f"m{observer.bodies}", number=observer.bodies, lock_token=token)
        )
    observer.has(BEGIN)
    observer.has(within(token="l"))
    observer.has(within(token="n"))
    observer.has(PLAIN)
    observer.has(COMMIT)
    passes(observer, 61)
    assert not is_allowed(observer, RECEIVE, received("m2", number=2))


def test_settling_after_the_transaction_was_given_up_is_open(observer: Observer) -> None:
    enlisted(observer)
    observer.has(COMMIT, LOST)
    assert is_allowed(observer, PLAIN, LOCK_LOST)
    observer.has(COMMIT, UNKNOWN)
    assert is_allowed(observer, PLAIN, LOCK_LOST)
    observer.has(PLAIN)


@pytest.mark.parametrize("kind", KINDS)
def test_a_commit_without_answer_may_settle(kind: type[v.Settlement]) -> None:
    observer = enlisted(observing(), kind)
    observer.has(COMMIT, LOST)
    passes(observer, 61)
    assert is_allowed(observer, RECEIVE, again())
    assert is_allowed(observer, RECEIVE, v.Empty())
    assert is_allowed(observer, v.Receive(queue=DEAD), again()) is (kind is v.DeadLetter)


def test_a_settlement_without_answer_may_be_part_of_it(observer: Observer) -> None:
    locked(observer)
    observer.has(BEGIN)
    observer.has(within(), LOST)
    observer.has(COMMIT)
    passes(observer, 61)
    assert is_allowed(observer, RECEIVE, again())
    assert is_allowed(observer, RECEIVE, v.Empty())


def test_one_outside_of_the_transaction_without_answer_leaves_it_in_doubt(
    observer: Observer,
) -> None:
    enlisted(observer)
    observer.has(PLAIN, LOST)
    assert is_allowed(observer, COMMIT, DONE)
    assert is_allowed(observer, COMMIT, LOCK_LOST)


def test_one_with_a_lost_lock_and_without_answer_changes_nothing(observer: Observer) -> None:
    locked(observer)
    observer.has(BEGIN)
    passes(observer, 61)
    observer.has(RECEIVE, again())
    observer.has(within(), LOST)
    assert not is_allowed(observer, RECEIVE, again("o"))


def test_a_deleted_queue_leaves_its_commit_open(observer: Observer) -> None:
    enlisted(observer)
    observer.has(v.DeleteQueue(queue="q"))
    assert is_allowed(observer, COMMIT, LOCK_LOST)
    assert is_allowed(observer, ROLL_BACK, DONE)
    observer.has(COMMIT)
    assert observer.saw(RECEIVE, UNKNOWN).rules[0] == "MGMT-15"


@pytest.mark.parametrize("received_again", [False, True])
def test_queue_that_was_created_again_leaves_its_commit_open(
    observer: Observer, received_again: bool
) -> None:
    """Found by exploring transactions across entities: nothing says what such a commit does."""
    enlisted(observer)
    observer.has(v.DeleteQueue(queue="q"))
    observer.has(v.CreateQueue(queue="q"))
    if received_again:
        observer.has(v.Send(queue="q", message=v.Message(body="m2")))
        observer.has(RECEIVE, received("m2", 1, lock_token="l"))
    assert is_allowed(observer, COMMIT, DONE)
    assert is_allowed(observer, COMMIT, LOCK_LOST)
    observer.has(COMMIT)
    assert is_allowed(observer, PLAIN, DONE) is received_again


def test_a_deleted_queue_is_not_asked_by_a_commit_without_answer(observer: Observer) -> None:
    enlisted(observer)
    observer.has(v.DeleteQueue(queue="q"))
    observer.has(COMMIT, LOST)
    observer.has(RECEIVE, UNKNOWN)


def test_an_outage_may_keep_the_commit_from_settling(observer: Observer) -> None:
    enlisted(observer)
    observer.has(v.TakePartitionDown(queue="q", partition=1))
    assert is_allowed(observer, COMMIT, v.Refused(error=v.Error.UNAVAILABLE))
    assert is_allowed(observer, COMMIT, DONE)


@pytest.mark.parametrize("down", [True, False])
def test_commit_on_a_subscription_may_fail_in_an_outage_of_its_topic(down: bool) -> None:
    observer = observing()
    observer.has(v.CreateTopic(topic="t", partitioned=True))
    observer.has(v.CreateSubscription(topic="t", subscription="s"))
    message = v.Message(body="m1", partition_key="a")
    observer.has(v.Send(queue="t", message=message), partition=1)
    path = v.subscription_path("t", "s")
    given = received("m1", 1, partition_key="a", lock_token="l")
    observer.has(v.Receive(queue=path), given)
    observer.has(BEGIN)
    observer.has(v.Complete(queue=path, lock_token="l", transaction="t"))
    observer.has(v.TakePartitionDown(queue="t", partition=1 if down else 2))
    assert is_allowed(observer, COMMIT, OTHER) is down
    assert is_allowed(observer, COMMIT, DONE)
