"""Requests on queues that were never answered, and take effect when nobody expects it any more."""

import pytest
from managed_queues import CREATE, DELETE, RECEIVE, SENT, SUBSCRIPTION, TAKEN
from observing import (
    DONE,
    GONE,
    LOST,
    MISSING,
    OTHER,
    Observer,
    down,
    knows,
    knows_nothing_of,
    observing,
    received,
    up,
)

from busproof.vocabulary.commands import (
    BeginTransaction,
    CommitTransaction,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    GetQueue,
    ListQueues,
    Receive,
    RestoreQueue,
    Send,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.vocabulary.outcomes import Described, Empty, Listed, QueueDescription

# Creations


def test_a_creation_may_come_once_there_is_what_it_forwards_to(observer: Observer) -> None:
    observer.has(CreateQueue(queue="p", forward_to="q"), LOST)
    observer.queue()
    observer.has(ListQueues(), Listed(names=("p", "q")))
    observer.has(Send(queue="p", message=SENT))
    observer.has(RECEIVE, received("sent"))


def test_send_before_an_unanswered_creation_may_arrive_late(observer: Observer) -> None:
    observer.has(Send(queue="q", message=SENT), LOST)
    observer.has(CREATE, LOST)
    knows_nothing_of(observer, "q")


def test_a_creation_may_come_once_its_name_is_free_and_forward_then(observer: Observer) -> None:
    observer.queue()
    observer.has(CreateQueue(queue="p"))
    observer.has(CreateQueue(queue="p", forward_to="q"), LOST)
    observer.has(CreateQueue(queue="p", forward_to="q"), LOST)
    knows(observer, "q")
    observer.has(DeleteQueue(queue="p"))
    observer.has(Send(queue="p", message=SENT))
    observer.has(RECEIVE, received("sent"))


def test_a_creation_in_an_outage_may_have_been_made_in_part() -> None:
    for reading in ("either", "whole"):
        observer = observing({"MANAGEMENT-IN-OUTAGE": reading})
        observer.has(down(0))
        observer.has(CREATE, LOST)
        observer.has(GetQueue(queue="q"), Described(description=QueueDescription(queue="q")))
        observer.has(up(0))
        assert (reading == "either") is bool(observer.saw(RECEIVE, MISSING).possible)


def test_a_creation_that_must_fail_in_an_outage_may_come_after_it() -> None:
    observer = observing({"MANAGEMENT-IN-OUTAGE": "fails"})
    observer.has(down(0))
    observer.has(CREATE, LOST)
    observer.has(up(0))
    observer.has(RECEIVE, Empty())


@pytest.mark.parametrize("outcome", [DONE, LOST])
def test_a_creation_may_come_in_an_outage_and_be_made_in_part(
    observer: Observer, outcome: object
) -> None:
    observer.has(CREATE, LOST)
    observer.has(down(0), outcome)
    observer.has(GetQueue(queue="q"), Described(description=QueueDescription(queue="q")))
    observer.has(up(0))
    observer.has(RECEIVE, MISSING)


def test_a_creation_that_can_only_be_whole_is_there_or_not_in_an_outage() -> None:
    observer = observing({"MANAGEMENT-IN-OUTAGE": "whole"})
    observer.has(CREATE, LOST)
    observer.has(down(0))
    observer.has(RECEIVE, Empty())
    observer.has(up(0))
    assert not observer.saw(RECEIVE, MISSING).possible


def test_possible_forwarding_queue_is_not_judged_after_an_outage(observer: Observer) -> None:
    observer.has(CreateQueue(queue="p"))
    observer.has(CreateQueue(queue="q", forward_to="p"), LOST)
    observer.has(down(0))
    knows_nothing_of(observer, "p")


def test_a_topic_that_may_be_there_is_not_judged_after_an_outage(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t"), LOST)
    observer.has(TakePartitionDown(queue="t", partition=0))
    observer.has(CreateSubscription(topic="t", subscription="s"))
    knows_nothing_of(observer, SUBSCRIPTION)


def test_queue_used_before_it_surely_existed_is_not_judged(observer: Observer) -> None:
    for used in (Send(queue="q", message=SENT), UpdateQueue(queue="q", lock_duration=5)):
        observer = observing()
        observer.has(CREATE, LOST)
        observer.has(used, LOST)
        observer.has(CREATE)
        knows_nothing_of(observer, "q")


def test_partly_created_queue_with_an_unanswered_use_is_not_judged(
    observer: Observer,
) -> None:
    observer.has(down(0))
    observer.has(CREATE, GONE)
    observer.has(Send(queue="q", message=SENT), LOST)
    observer.has(up(0))
    observer.has(CREATE)
    knows_nothing_of(observer, "q")


def test_another_creation_does_not_make_whole_what_was_made_in_part(observer: Observer) -> None:
    observer.has(down(0))
    observer.has(CREATE, GONE)
    observer.has(up(0))
    observer.has(CreateQueue(queue="q", max_delivery_count=3), TAKEN)
    observer.has(RECEIVE, MISSING)
    observer.has(CreateQueue(queue="q", max_delivery_count=3))
    knows_nothing_of(observer, "q")


def test_remainder_of_a_regular_queue_is_regular(observer: Observer) -> None:
    create = CreateQueue(queue="q", partitioned=False)
    observer.has(down(0))
    observer.has(create, GONE)
    observer.has(up(0))
    observer.has(create, TAKEN)
    regular = Described(description=QueueDescription(queue="q", partitioned=False))
    observer.has(GetQueue(queue="q"), regular)


def test_remainder_of_a_forwarding_queue_is_not_judged(observer: Observer) -> None:
    observer.has(CreateQueue(queue="p"))
    observer.has(down(0))
    observer.has(CreateQueue(queue="q", forward_to="p"), GONE)
    knows_nothing_of(observer, "p")


def test_a_restoration_of_what_may_be_there(observer: Observer) -> None:
    observer.has(CREATE, LOST)
    observer.has(RestoreQueue(queue="q"))
    knows_nothing_of(observer, "q")


# Deletions


def test_late_send_to_a_deleted_queue_reaches_its_successor(observer: Observer) -> None:
    observer.queue()
    observer.has(Send(queue="q", message=SENT), LOST)
    observer.has(DELETE)
    observer.has(CREATE)
    observer.has(RECEIVE, received("sent"))


def test_a_late_look_at_a_deleted_queue_does_nothing(observer: Observer) -> None:
    observer.queue()
    observer.has(GetQueue(queue="q"), LOST)
    observer.has(DELETE)
    observer.has(CREATE)
    knows(observer, "q")


def test_a_late_commit_may_reach_a_new_queue_of_the_name(observer: Observer) -> None:
    observer.queue()
    observer.has(BeginTransaction(transaction="t"))
    observer.send(transaction="t", partition_key="a")
    observer.has(CommitTransaction(transaction="t"), LOST)
    observer.has(CommitTransaction(transaction="none"), LOST)
    observer.has(DELETE)
    observer.has(CREATE)
    observer.has(RECEIVE, received("m1", partition_key="a"))


@pytest.mark.parametrize("outcome", [DONE, OTHER])
def test_a_transaction_may_be_bound_to_the_key_that_a_deleted_queue_had(
    observer: Observer, outcome: object
) -> None:
    observer.queue()
    observer.has(BeginTransaction(transaction="t"))
    observer.send(transaction="t", partition_key="a")
    observer.has(DELETE)
    observer.has(CREATE)
    assert observer.send(outcome, transaction="t", partition_key="b").possible


def test_a_transaction_is_not_in_doubt_while_its_queues_are_there(observer: Observer) -> None:
    observer.queue()
    observer.has(BeginTransaction(transaction="t"))
    observer.send(transaction="t", partition_key="a")
    assert not observer.send(DONE, transaction="t", partition_key="b").possible


def test_nothing_is_known_of_what_a_deleted_queue_forwarded_to(observer: Observer) -> None:
    observer.has(CreateQueue(queue="o"))
    observer.has(CreateQueue(queue="p", forward_to="o"))
    observer.has(CreateQueue(queue="q", forward_to="p"))
    observer.has(DELETE)
    observer.has(Receive(queue="o"), received("never sent"))


def test_nothing_is_known_of_what_a_queue_that_may_be_deleted_forwards_to(
    observer: Observer,
) -> None:
    observer.has(CreateQueue(queue="p"))
    observer.has(CreateQueue(queue="q", forward_to="p"))
    observer.has(DELETE, LOST)
    knows_nothing_of(observer, "p")


def test_nothing_is_known_of_what_forwards_to_a_queue_that_may_be_there_in_part(
    observer: Observer,
) -> None:
    observer.queue()
    observer.has(CreateQueue(queue="p", forward_to="q"))
    observer.has(down(0))
    observer.has(DELETE, GONE)
    knows_nothing_of(observer, "p")


def test_queue_created_to_forward_to_a_doubtful_name_is_not_judged(observer: Observer) -> None:
    observer.queue()
    observer.has(DELETE, LOST)
    observer.has(CreateQueue(queue="p", forward_to="q"), OTHER)
    observer.has(Receive(queue="p"), MISSING)
    observer.has(CreateQueue(queue="p", forward_to="q"))
    knows_nothing_of(observer, "p")


def test_unanswered_creation_that_forwards_to_a_doubtful_name_is_not_judged(
    observer: Observer,
) -> None:
    observer.queue()
    observer.has(DELETE, LOST)
    observer.has(CreateQueue(queue="p", forward_to="q"), LOST)
    knows_nothing_of(observer, "p")


def test_a_subscription_of_such_a_topic_may_forward(observer: Observer) -> None:
    observer.queue()
    observer.has(CreateTopic(topic="t"))
    observer.has(CreateSubscription(topic="t", subscription="s", forward_to="q"))
    observer.has(DeleteQueue(queue="t"), LOST)
    knows_nothing_of(observer, "q")


def test_a_deletion_by_the_name_of_dead_letters_may_do_anything_to_their_queue(
    observer: Observer,
) -> None:
    observer.queue()
    observer.has(DeleteQueue(queue="q/$deadletterqueue"), LOST)
    knows_nothing_of(observer, "q")


def test_partitions_that_a_deleted_queue_did_not_have_may_still_be_down(observer: Observer) -> None:
    observer.has(down(1))
    observer.has(CreateQueue(queue="q", partitioned=False))
    observer.has(DELETE)
    observer.has(CREATE, GONE)
