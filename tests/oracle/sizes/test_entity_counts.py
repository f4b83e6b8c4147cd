"""Entities that are counted, and the quota of partitioned ones."""

import attrs
import pytest
from entity_quotas import (
    FULL,
    LOST,
    REGULAR,
    SUBSCRIPTION,
    TOPIC,
    entity_counts,
    filled,
    permits,
    queue,
    refuses,
    shows,
    window,
)
from observing import DONE, GONE, INVALID, OTHER, Observer, observing

from busproof.oracle.entity_counts import NO_ENTITIES, EntityCounts
from busproof.oracle.window import Window
from busproof.vocabulary.commands import (
    CreateTopic,
    DeleteQueue,
    GetQueue,
    Receive,
    RestoreQueue,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Refused
from busproof.vocabulary.values import Error, Tier


class TestCounting:
    def test_each_kind_is_counted_by_itself(self, observer: Observer) -> None:
        observer.has(queue())
        observer.has(TOPIC)
        observer.has(SUBSCRIPTION)
        observer.has(queue("r", partitioned=False))
        one = window(1)
        expected = EntityCounts(
            queues=one,
            topics=one,
            regular=one,
            subscriptions=one,
            partitioned=window(2),
            entities=window(3),
            stores=window(9),
        )
        assert expected == entity_counts(observer)

    def test_what_is_deleted_is_not_counted(self, observer: Observer) -> None:
        observer.has(queue())
        observer.has(REGULAR, Refused(error=Error.ALREADY_EXISTS))
        observer.has(DeleteQueue(queue="q"))
        assert entity_counts(observer) == NO_ENTITIES

    def test_dead_letters_count_as_nothing(self, observer: Observer) -> None:
        observer.has(queue())
        before = entity_counts(observer)
        observer.step(Receive(queue="q/$deadletterqueue"))
        observer.has(Receive(queue="q/$deadletterqueue"), LOST)
        assert before == entity_counts(observer)

    def test_using_a_queue_changes_no_count(self, observer: Observer) -> None:
        observer.has(queue())
        before = entity_counts(observer)
        observer.has(Send(queue="q", message=Message(body="m")), DONE, partition=1)
        assert before is entity_counts(observer)

    def test_what_was_restored_counts_apart_where_it_may_not_be_created(self) -> None:
        premium, standard = observing(tier=Tier.PREMIUM), observing()
        for observer in (premium, standard):
            observer.has(RestoreQueue(queue="q"))
        assert (window(1), window(0)) == (
            entity_counts(premium).restored,
            entity_counts(premium).queues,
        )
        assert (window(0), window(1)) == (
            entity_counts(standard).restored,
            entity_counts(standard).queues,
        )

    def test_a_creation_without_answer_may_count(self, observer: Observer) -> None:
        observer.has(queue(), LOST)
        assert Window(0, 1) == entity_counts(observer).queues
        observer.has(Send(queue="q", message=Message(body="m")), DONE, partition=1)
        assert Window(1, 1) == entity_counts(observer).queues

    def test_a_refusal_in_an_outage_may_leave_one(self, observer: Observer) -> None:
        observer.has(TakePartitionDown(queue="q", partition=0))
        observer.has(queue(), GONE)
        assert Window(0, 1) == entity_counts(observer).queues

    def test_of_what_is_unknown_each_name_may_be_anything(self, observer: Observer) -> None:
        observer.has(queue())
        observer.has(TOPIC)
        observer.has(SUBSCRIPTION)
        observer.has(DeleteQueue(queue="q"), LOST)
        assert 1 == entity_counts(observer).unknown
        assert window(0) == entity_counts(observer).queues
        observer.has(GetQueue(queue="q"), Refused(error=Error.NOT_FOUND))
        observer.has(queue("t/subscriptions/s"), OTHER)
        observer.has(queue("t/subscriptions/x"), DONE)
        assert EntityCounts(unknown=3) == attrs.evolve(entity_counts(observer), quota_reached=False)


class TestPartitioned:
    def test_the_hundredth_is_accepted_and_no_further_one(self, observer: Observer) -> None:
        filled(observer, queues=99)
        refuses(observer, queue(), FULL, "QUOTA-01")
        shows(observer, queue(), DONE, "QUOTA-01")
        refuses(observer, queue("r"), DONE, "QUOTA-02")
        shows(observer, queue("r"), FULL, "QUOTA-02")

    def test_another_error_is_not_the_one(self, observer: Observer) -> None:
        refuses(filled(observer, queues=100), queue(), INVALID, "QUOTA-02")

    def test_topics_have_as_many(self, observer: Observer) -> None:
        filled(observer, topics=99)
        refuses(observer, TOPIC, FULL, "QUOTA-03")
        shows(observer, TOPIC, DONE, "QUOTA-03")
        refuses(observer, CreateTopic(topic="u"), DONE, "QUOTA-03")
        shows(observer, CreateTopic(topic="u"), FULL, "QUOTA-03")

    @pytest.mark.parametrize(
        ("reading", "answers"),
        [("either", (DONE, FULL)), ("separate", (DONE,)), ("shared", (FULL,))],
    )
    @pytest.mark.parametrize("command", [queue(), TOPIC])
    def test_queues_and_topics_may_share_them(
        self, reading: str, answers: tuple[object, ...], command: object
    ) -> None:
        observer = observing({"QUOTA-SHARED": reading})
        permits(filled(observer, queues=50, topics=50), command, *answers)
        permits(filled(observer, queues=50, topics=49), command, DONE)

    def test_sharing_is_shown_by_either_answer(self, observer: Observer) -> None:
        filled(observer, queues=50, topics=50)
        shows(observer, queue(), FULL, "QUOTA-04")
        shows(observer, queue(), DONE, "QUOTA-04")

    def test_what_was_deleted_makes_room(self, observer: Observer) -> None:
        observer.has(queue("first"))
        filled(observer, queues=100)
        observer.has(DeleteQueue(queue="first"))
        refuses(observer, queue(), FULL, "QUOTA-05")
        shows(observer, queue(), DONE, "QUOTA-05")

    def test_others_do_not_count(self, observer: Observer) -> None:
        filled(observer, queues=100)
        refuses(observer, REGULAR, FULL, "QUOTA-06")
        shows(observer, REGULAR, DONE, "QUOTA-06")
        filled(observer, regular=101)
        refuses(observer, queue("p"), FULL, "QUOTA-06")
        shows(observer, queue("p"), DONE, "QUOTA-06")

    @pytest.mark.parametrize(
        "there", [{"queues": (99, 100)}, {"queues": 99, "unknown": 1}], ids=str
    )
    def test_where_there_may_be_as_many_both_answers_are_possible(
        self, observer: Observer, there: dict[str, object]
    ) -> None:
        permits(filled(observer, **there), queue(), DONE, FULL)
        shows(observer, queue(), FULL)

    def test_basic_need_not_partition_what_is_one_too_many(self) -> None:
        observer = observing(tier=Tier.BASIC)
        permits(filled(observer, queues=100), queue(partitioned=False), DONE, FULL)
        permits(filled(observer, queues=100), queue(), FULL)

    def test_premium_is_not_held_to_them(self) -> None:
        observer = observing({"PREMIUM-CHECKBOX": "always-on"}, tier=Tier.PREMIUM)
        permits(filled(observer, queues=100), queue(), DONE, FULL)

    def test_a_lost_creation_may_take_effect_once_there_is_room(self, observer: Observer) -> None:
        observer.has(queue("first"))
        filled(observer, queues=100)
        observer.has(queue(), LOST)
        observer.has(DeleteQueue(queue="first"))
        observer.has(queue(), Refused(error=Error.ALREADY_EXISTS))
        permits(observer, queue("r"), DONE, FULL)
