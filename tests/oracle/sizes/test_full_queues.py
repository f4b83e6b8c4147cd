"""Queues, topics and transactions without room for one more message."""

import attrs
import pytest
from large_messages import FULL, LARGE, LESS, MORE, TOO_LARGE, fill, large
from observing import DONE, LOST, Observer, observing, received, refuses, shows

from busproof.oracle.storage_used import most
from busproof.vocabulary.commands import (
    BeginTransaction,
    CancelScheduled,
    CommitTransaction,
    Complete,
    CreateSubscription,
    CreateTopic,
    DeadLetter,
    Defer,
    DeleteQueue,
    GetQueue,
    Receive,
    RollBackTransaction,
    Schedule,
)
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Described, QueueDescription, Scheduled
from busproof.vocabulary.values import ReceiveMode, Tier

LATER = 3_600_000_000

BEGIN = BeginTransaction(transaction="t")

COMMIT = CommitTransaction(transaction="t")


class TestEntities:
    def test_a_regular_queue_is_full_at_its_size(self, observer: Observer) -> None:
        observer.queue(partitioned=False)
        refuses(observer, large(observer), FULL, "SIZE-11", "SIZE-12", "SIZE-10")
        fill(observer)
        refuses(observer, large(observer), DONE, "SIZE-10", "SIZE-11")
        shows(observer, large(observer), FULL, "SIZE-10", "SIZE-11")
        shows(observer, Receive(queue="q"), received("m2", lock_token="l"), "SIZE-11")

    def test_what_is_full_is_not_limited(self) -> None:
        observer = observing({"GET-LAG": "at-once"})
        observer.queue(partitioned=False)
        fill(observer)
        observer.has(large(observer), FULL)
        limited = QueueDescription(queue="q", availability=Availability.LIMITED)
        refuses(observer, GetQueue(queue="q"), Described(description=limited), "MGMT-22", "SIZE-11")

    def test_a_message_that_was_removed_makes_room(self, observer: Observer) -> None:
        observer.queue(partitioned=False)
        fill(observer)
        observer.has(large(observer), FULL)
        observer.has(Receive(queue="q"), received("m1", lock_token="l"))
        observer.has(Complete(queue="q", lock_token="l"))
        shows(observer, large(observer), DONE, "SIZE-12")
        observer.has(large(observer), FULL)

    def test_room_of_one_key_is_no_evidence_of_another(self, observer: Observer) -> None:
        observer.queue()
        observer.send(partition=1, partition_key="b")
        fill(observer, partition=0, partition_key="a")
        observer.has(large(observer, partition_key="a"), FULL)
        observer.has(
            Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE),
            received("m1", 1, partition_key="b"),
        )
        assert "SIZE-12" not in observer.saw(large(observer, partition_key="a"), FULL).rules

    @pytest.mark.parametrize("fate", ["locked", "deferred", "dead"])
    def test_whatever_lies_in_a_queue_takes_its_room(self, observer: Observer, fate: str) -> None:
        observer.queue(partitioned=False)
        fill(observer)
        for number in range(1, MORE + 1):
            seen = received(f"m{number}", number=number, lock_token=f"l{number}")
            observer.has(Receive(queue="q"), seen)
            if fate == "deferred":
                observer.has(Defer(queue="q", lock_token=f"l{number}"))
            if fate == "dead":
                observer.has(DeadLetter(queue="q", lock_token=f"l{number}"))
        refuses(observer, large(observer), DONE, "SIZE-10", "SIZE-13")
        shows(observer, large(observer), FULL, "SIZE-13")

    def test_what_is_scheduled_takes_room(self, observer: Observer) -> None:
        observer.queue(partitioned=False)
        for number in range(MORE):
            later = Schedule(
                queue="q", message=observer.message(size=LARGE, stands_in=True), delay=LATER
            )
            observer.has(later, Scheduled(sequence_number=number))
        observer.has(
            Schedule(queue="q", message=observer.message(size=LARGE, stands_in=True), delay=LATER),
            FULL,
        )
        shows(observer, large(observer), FULL, "SIZE-13")
        observer.has(CancelScheduled(queue="q", sequence_number=0))
        observer.has(large(observer))

    def test_what_may_be_gone_is_not_relied_on(self, observer: Observer) -> None:
        observer.queue(partitioned=False)
        fill(observer)
        observer.has(Receive(queue="q"), received("m1", lock_token="l"))
        observer.has(Complete(queue="q", lock_token="l"), LOST)
        observer.has(large(observer))

    def test_what_a_lost_receive_may_have_taken_is_not_relied_on(self, observer: Observer) -> None:
        observer.queue(partitioned=False)
        fill(observer)
        observer.has(Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE), LOST)
        observer.has(large(observer))

    def test_part_of_a_history_reveals_nothing_about_room(self) -> None:
        observer = observing(left_out=frozenset({"c2"}))
        observer.queue(partitioned=False)
        fill(observer, 2 * MORE)

    def test_a_copy_takes_no_room(self, observer: Observer) -> None:
        observer.queue(partitioned=False, duplicate_detection=True)
        for number in range(MORE):
            assert observer.send(size=LARGE, message_id=str(number)).possible
        observer.has(large(observer, message_id="0"))
        refuses(observer, large(observer, message_id="new"), DONE, "SIZE-10")

    def test_a_message_may_be_too_large(self, observer: Observer) -> None:
        observer.queue()
        observer.has(large(observer), TOO_LARGE)
        assert not observer.send(TOO_LARGE, size=100_000).possible
        premium = observing(tier=Tier.PREMIUM)
        premium.queue(partitioned=False)
        assert not premium.send(TOO_LARGE, size=900_000).possible

    def test_a_topic_may_keep_a_message_for_each_subscription(self, observer: Observer) -> None:
        observer.has(CreateTopic(topic="q"))
        for name in ("s", "t"):
            observer.has(CreateSubscription(topic="q", subscription=name))
        fill(observer, 3, partition_key="a")
        observer.has(large(observer, partition_key="a"), FULL)
        fill(observer, 2 * MORE, partition_key="a")

    def test_all_that_a_message_carries_may_take_room(self) -> None:
        """Up to four bytes a character, and something besides."""
        message = Message(body="12", subject="345", properties={"67": 8})
        assert most(message) == 4 * 8 + most(Message(body=""))


class TestTransactions:
    def test_nothing_of_what_does_not_fit_is_kept(self, observer: Observer) -> None:
        observer.queue()
        observer.has(BEGIN)
        for _ in range(MORE + 1):
            assert observer.send(
                partition=0, transaction="t", size=LARGE, partition_key="a"
            ).possible
        refuses(observer, COMMIT, DONE, "SIZE-14")
        shows(observer, COMMIT, FULL, "SIZE-14", "SIZE-11")
        refuses(observer, Receive(queue="q"), received("m1"), "SIZE-14")

    def test_a_send_in_it_may_be_refused_instead(self, observer: Observer) -> None:
        observer.queue()
        fill(observer, partition=0, partition_key="a")
        observer.has(BEGIN)
        sent = attrs.evolve(large(observer, partition_key="a"), transaction="t")
        shows(observer, sent, FULL, "SIZE-14", "SIZE-07")

    def test_a_regular_queue_takes_no_more_in_one(self, observer: Observer) -> None:
        observer.queue(partitioned=False)
        observer.has(BEGIN)
        for _ in range(MORE + 1):
            observer.has(attrs.evolve(large(observer), transaction="t"))
        refuses(observer, COMMIT, DONE, "SIZE-14")
        observer.has(COMMIT, FULL)

    def test_what_fits_is_committed_and_takes_room(self, observer: Observer) -> None:
        observer.queue(partitioned=False)
        observer.has(BEGIN)
        for _ in range(LESS):
            observer.has(attrs.evolve(large(observer), transaction="t"))
        observer.has(COMMIT)
        fill(observer, 1)
        refuses(observer, large(observer), DONE, "SIZE-10")

    def test_what_was_sent_of_several_keys_or_copies_is_not_relied_on(
        self, observer: Observer
    ) -> None:
        observer.queue(partitioned=False, duplicate_detection=True)
        observer.has(BEGIN)
        for _ in range(MORE + 1):
            observer.has(attrs.evolve(large(observer, message_id="x"), transaction="t"))
        observer.has(COMMIT)

    def test_what_was_sent_to_a_deleted_queue_is_not_relied_on(self, observer: Observer) -> None:
        observer.queue()
        observer.has(BEGIN)
        for _ in range(MORE + 1):
            observer.has(attrs.evolve(large(observer, partition_key="a"), transaction="t"))
        observer.has(DeleteQueue(queue="q"))
        observer.queue()
        fill(observer, LESS, partition_key="a")
        observer.has(COMMIT)

    def test_a_message_in_it_may_be_too_large(self, observer: Observer) -> None:
        observer.queue()
        observer.has(BEGIN)
        observer.has(attrs.evolve(large(observer, partition_key="a"), transaction="t"), TOO_LARGE)

    def test_what_waits_may_take_room_until_it_is_rolled_back(self, observer: Observer) -> None:
        observer.queue(partitioned=False)
        observer.has(BEGIN)
        for _ in range(LESS):
            observer.has(attrs.evolve(large(observer), transaction="t"))
        observer.has(large(observer), FULL)
        observer.has(RollBackTransaction(transaction="t"))
        fill(observer)
