"""Requests on queues that were never answered, and take effect when nobody expects it any more."""

import pytest
from telling import (
    DONE,
    GONE,
    LOST,
    MISSING,
    OTHER,
    Told,
    down,
    knows,
    knows_nothing_of,
    received,
    telling,
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
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Described, Empty, Listed, QueueDescription, Refused
from busproof.vocabulary.values import Error

TAKEN = Refused(error=Error.ALREADY_EXISTS)
CREATE = CreateQueue(queue="q")
DELETE = DeleteQueue(queue="q")
RECEIVE = Receive(queue="q")
SUBSCRIPTION = "t/subscriptions/s"
SENT = Message(body="sent")


# Creations


def test_a_creation_may_come_once_there_is_what_it_forwards_to(told: Told) -> None:
    told.has(CreateQueue(queue="p", forward_to="q"), LOST)
    told.queue()
    told.has(ListQueues(), Listed(names=("p", "q")))
    told.has(Send(queue="p", message=SENT))
    told.has(RECEIVE, received("sent"))


def test_send_before_an_unanswered_creation_may_arrive_late(told: Told) -> None:
    told.has(Send(queue="q", message=SENT), LOST)
    told.has(CREATE, LOST)
    knows_nothing_of(told, "q")


def test_a_creation_may_come_once_its_name_is_free_and_forward_then(told: Told) -> None:
    told.queue()
    told.has(CreateQueue(queue="p"))
    told.has(CreateQueue(queue="p", forward_to="q"), LOST)
    told.has(CreateQueue(queue="p", forward_to="q"), LOST)
    knows(told, "q")
    told.has(DeleteQueue(queue="p"))
    told.has(Send(queue="p", message=SENT))
    told.has(RECEIVE, received("sent"))


def test_a_creation_in_an_outage_may_have_been_made_in_part() -> None:
    for reading in ("either", "whole"):
        told = telling({"MANAGEMENT-IN-OUTAGE": reading})
        told.has(down(0))
        told.has(CREATE, LOST)
        told.has(GetQueue(queue="q"), Described(description=QueueDescription(queue="q")))
        told.has(up(0))
        assert (reading == "either") is bool(told.saw(RECEIVE, MISSING).possible)


def test_a_creation_that_must_fail_in_an_outage_may_come_after_it() -> None:
    told = telling({"MANAGEMENT-IN-OUTAGE": "fails"})
    told.has(down(0))
    told.has(CREATE, LOST)
    told.has(up(0))
    told.has(RECEIVE, Empty())


@pytest.mark.parametrize("outcome", [DONE, LOST])
def test_a_creation_may_come_in_an_outage_and_be_made_in_part(told: Told, outcome: object) -> None:
    told.has(CREATE, LOST)
    told.has(down(0), outcome)
    told.has(GetQueue(queue="q"), Described(description=QueueDescription(queue="q")))
    told.has(up(0))
    told.has(RECEIVE, MISSING)


def test_a_creation_that_can_only_be_whole_is_there_or_not_in_an_outage() -> None:
    told = telling({"MANAGEMENT-IN-OUTAGE": "whole"})
    told.has(CREATE, LOST)
    told.has(down(0))
    told.has(RECEIVE, Empty())
    told.has(up(0))
    assert not told.saw(RECEIVE, MISSING).possible


def test_possible_forwarding_queue_is_not_judged_after_an_outage(told: Told) -> None:
    told.has(CreateQueue(queue="p"))
    told.has(CreateQueue(queue="q", forward_to="p"), LOST)
    told.has(down(0))
    knows_nothing_of(told, "p")


def test_a_topic_that_may_be_there_is_not_told_of_after_an_outage(told: Told) -> None:
    told.has(CreateTopic(topic="t"), LOST)
    told.has(TakePartitionDown(queue="t", partition=0))
    told.has(CreateSubscription(topic="t", subscription="s"))
    knows_nothing_of(told, SUBSCRIPTION)


def test_queue_used_before_it_surely_existed_is_not_judged(told: Told) -> None:
    for used in (Send(queue="q", message=SENT), UpdateQueue(queue="q", lock_duration=5)):
        told = telling()
        told.has(CREATE, LOST)
        told.has(used, LOST)
        told.has(CREATE)
        knows_nothing_of(told, "q")


def test_partly_created_queue_with_an_unanswered_use_is_not_judged(
    told: Told,
) -> None:
    told.has(down(0))
    told.has(CREATE, GONE)
    told.has(Send(queue="q", message=SENT), LOST)
    told.has(up(0))
    told.has(CREATE)
    knows_nothing_of(told, "q")


def test_another_creation_does_not_make_whole_what_was_made_in_part(told: Told) -> None:
    told.has(down(0))
    told.has(CREATE, GONE)
    told.has(up(0))
    told.has(CreateQueue(queue="q", max_delivery_count=3), TAKEN)
    told.has(RECEIVE, MISSING)
    told.has(CreateQueue(queue="q", max_delivery_count=3))
    knows_nothing_of(told, "q")


def test_remainder_of_a_regular_queue_is_regular(told: Told) -> None:
    create = CreateQueue(queue="q", partitioned=False)
    told.has(down(0))
    told.has(create, GONE)
    told.has(up(0))
    told.has(create, TAKEN)
    regular = Described(description=QueueDescription(queue="q", partitioned=False))
    told.has(GetQueue(queue="q"), regular)


def test_remainder_of_a_forwarding_queue_is_not_judged(told: Told) -> None:
    told.has(CreateQueue(queue="p"))
    told.has(down(0))
    told.has(CreateQueue(queue="q", forward_to="p"), GONE)
    knows_nothing_of(told, "p")


def test_a_restoration_of_what_may_be_there(told: Told) -> None:
    told.has(CREATE, LOST)
    told.has(RestoreQueue(queue="q"))
    knows_nothing_of(told, "q")


# Deletions


def test_late_send_to_a_deleted_queue_reaches_its_successor(told: Told) -> None:
    told.queue()
    told.has(Send(queue="q", message=SENT), LOST)
    told.has(DELETE)
    told.has(CREATE)
    told.has(RECEIVE, received("sent"))


def test_a_late_look_at_a_deleted_queue_does_nothing(told: Told) -> None:
    told.queue()
    told.has(GetQueue(queue="q"), LOST)
    told.has(DELETE)
    told.has(CREATE)
    knows(told, "q")


def test_a_late_commit_may_reach_a_new_queue_of_the_name(told: Told) -> None:
    told.queue()
    told.has(BeginTransaction(transaction="t"))
    told.send(transaction="t", partition_key="a")
    told.has(CommitTransaction(transaction="t"), LOST)
    told.has(CommitTransaction(transaction="none"), LOST)
    told.has(DELETE)
    told.has(CREATE)
    told.has(RECEIVE, received("m1", partition_key="a"))


@pytest.mark.parametrize("outcome", [DONE, OTHER])
def test_a_transaction_may_be_bound_to_the_key_that_a_deleted_queue_had(
    told: Told, outcome: object
) -> None:
    told.queue()
    told.has(BeginTransaction(transaction="t"))
    told.send(transaction="t", partition_key="a")
    told.has(DELETE)
    told.has(CREATE)
    assert told.send(outcome, transaction="t", partition_key="b").possible


def test_a_transaction_is_not_in_doubt_while_its_queues_are_there(told: Told) -> None:
    told.queue()
    told.has(BeginTransaction(transaction="t"))
    told.send(transaction="t", partition_key="a")
    assert not told.send(DONE, transaction="t", partition_key="b").possible


def test_nothing_is_told_of_what_a_deleted_queue_forwarded_to(told: Told) -> None:
    told.has(CreateQueue(queue="o"))
    told.has(CreateQueue(queue="p", forward_to="o"))
    told.has(CreateQueue(queue="q", forward_to="p"))
    told.has(DELETE)
    told.has(Receive(queue="o"), received("never sent"))


def test_nothing_is_told_of_what_a_queue_that_may_be_deleted_forwards_to(told: Told) -> None:
    told.has(CreateQueue(queue="p"))
    told.has(CreateQueue(queue="q", forward_to="p"))
    told.has(DELETE, LOST)
    knows_nothing_of(told, "p")


def test_nothing_is_told_of_what_forwards_to_a_queue_that_may_be_there_in_part(told: Told) -> None:
    told.queue()
    told.has(CreateQueue(queue="p", forward_to="q"))
    told.has(down(0))
    told.has(DELETE, GONE)
    knows_nothing_of(told, "p")


def test_queue_created_to_forward_to_a_doubtful_name_is_not_judged(told: Told) -> None:
    told.queue()
    told.has(DELETE, LOST)
    told.has(CreateQueue(queue="p", forward_to="q"), OTHER)
    told.has(Receive(queue="p"), MISSING)
    told.has(CreateQueue(queue="p", forward_to="q"))
    knows_nothing_of(told, "p")


def test_unanswered_creation_that_forwards_to_a_doubtful_name_is_not_judged(told: Told) -> None:
    told.queue()
    told.has(DELETE, LOST)
    told.has(CreateQueue(queue="p", forward_to="q"), LOST)
    knows_nothing_of(told, "p")


def test_a_subscription_of_such_a_topic_may_forward(told: Told) -> None:
    told.queue()
    told.has(CreateTopic(topic="t"))
    told.has(CreateSubscription(topic="t", subscription="s", forward_to="q"))
    told.has(DeleteQueue(queue="t"), LOST)
    knows_nothing_of(told, "q")


def test_a_deletion_by_the_name_of_dead_letters_may_do_anything_to_their_queue(told: Told) -> None:
    told.queue()
    told.has(DeleteQueue(queue="q/$deadletterqueue"), LOST)
    knows_nothing_of(told, "q")


def test_partitions_that_a_deleted_queue_did_not_have_may_still_be_down(told: Told) -> None:
    told.has(down(1))
    told.has(CreateQueue(queue="q", partitioned=False))
    told.has(DELETE)
    told.has(CREATE, GONE)
