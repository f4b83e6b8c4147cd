"""Quotas of all entities, in Standard and in Premium."""

import attrs
import pytest
from entity_quotas import (
    FULL,
    MANY,
    REGULAR,
    SUBSCRIPTION,
    TOPIC,
    filled,
    permits,
    queue,
    refuses,
    shows,
)
from observing import DONE, OTHER, Observer, observing

from busproof import vocabulary as v


class TestEntities:
    def test_the_last_is_accepted_and_no_further_one(self, observer: Observer) -> None:
        filled(observer, regular=MANY - 1)
        refuses(observer, REGULAR, FULL, "QUOTA-07")
        shows(observer, REGULAR, DONE, "QUOTA-07")
        more = queue("r", partitioned=False)
        refuses(observer, more, DONE, "QUOTA-08")
        shows(observer, more, OTHER, "QUOTA-08")

    @pytest.mark.parametrize(
        ("reading", "answers"),
        [("one", (DONE,)), ("either", (DONE, FULL, OTHER)), ("per-partition", (FULL, OTHER))],
    )
    def test_partitions_may_count_one_by_one(
        self, reading: str, answers: tuple[object, ...]
    ) -> None:
        observer = observing({"QUOTA-WEIGHT": reading})
        permits(filled(observer, queues=90, regular=9_637), queue(), *answers)
        permits(filled(observer, queues=90, regular=9_636), queue(), DONE)

    @pytest.mark.parametrize(
        ("reading", "answers"),
        [("ten-thousand", (DONE,)), ("either", (DONE, FULL, OTHER))],
    )
    def test_one_more_than_1000_may_be_refused_if_so_read(
        self, reading: str, answers: tuple[object, ...]
    ) -> None:
        observer = observing({"QUOTA-ENTITIES": reading})
        permits(filled(observer, regular=1_000), REGULAR, *answers)
        permits(filled(observer, regular=999), REGULAR, DONE)
        permits(filled(observer, regular=MANY), REGULAR, FULL, OTHER)

    def test_1000_are_not_partitions_even_if_each_of_them_counts(self) -> None:
        """QUOTA-01 and QUOTA-06: 100 partitioned queues leave room beside them."""
        observer = observing({"QUOTA-ENTITIES": "either", "QUOTA-WEIGHT": "either"})
        permits(filled(observer, queues=99), queue(), DONE)
        permits(filled(observer, queues=100), REGULAR, DONE)

    def test_that_one_counts_once_is_shown_beyond_so_many_partitions(
        self, observer: Observer
    ) -> None:
        filled(observer, queues=100, regular=9_600)
        refuses(observer, REGULAR, OTHER, "QUOTA-09")
        shows(observer, REGULAR, DONE, "QUOTA-06", "QUOTA-09")

    @pytest.mark.parametrize(
        ("reading", "answers"),
        [
            ("either", (DONE, FULL, OTHER)),
            ("not-counted", (DONE,)),
            ("counted", (FULL, OTHER)),
        ],
    )
    def test_subscriptions_may_count(self, reading: str, answers: tuple[object, ...]) -> None:
        observer = observing({"QUOTA-SUBSCRIPTIONS": reading})
        observer.has(TOPIC)
        permits(filled(observer, regular=9_000, subscriptions=1_000), REGULAR, *answers)
        permits(filled(observer, regular=9_000, subscriptions=1_000), SUBSCRIPTION, *answers)
        permits(filled(observer, regular=9_000, subscriptions=999), SUBSCRIPTION, DONE)

    def test_that_subscriptions_may_count_is_shown_by_either_answer(
        self, observer: Observer
    ) -> None:
        filled(observer, regular=9_000, subscriptions=1_000)
        shows(observer, REGULAR, OTHER, "QUOTA-10")
        shows(observer, REGULAR, DONE, "QUOTA-10")

    def test_a_topic_may_have_no_more_subscriptions(self, observer: Observer) -> None:
        """From outside the five: 2,000."""
        observer.has(TOPIC)
        permits(observer, SUBSCRIPTION, DONE)
        (namespace,) = observer.possible
        topic = namespace.queues["t"]
        role = attrs.evolve(topic.role, subscriptions=("t/subscriptions/x",) * 2_000)
        queues = namespace.queues.set("t", attrs.evolve(topic, role=role))
        observer.possible = (attrs.evolve(namespace, queues=queues),)
        permits(observer, SUBSCRIPTION, DONE, FULL, OTHER)

    def test_a_subscription_that_is_refused(self, observer: Observer) -> None:
        observer.has(TOPIC)
        refuses(observer, SUBSCRIPTION, FULL, "QUOTA-07")
        refuses(observer, SUBSCRIPTION, OTHER)

    def test_a_topic_that_is_refused_for_no_reason(self, observer: Observer) -> None:
        found = observer.saw(TOPIC, OTHER)
        assert not any(rule.startswith("QUOTA") for rule in found.rules)
        refuses(observer, v.CreateTopic(topic="r", partitioned=False), FULL, "QUOTA-07")


class TestPremium:
    @pytest.mark.parametrize(
        ("reading", "few", "some", "many"),
        [
            ("either", (DONE,), (DONE, FULL, OTHER), (DONE, FULL, OTHER)),
            ("quota", (DONE,), (DONE,), (DONE,)),
            ("counting", (DONE,), (DONE,), (FULL, OTHER)),
        ],
    )
    def test_another_number_may_decide(
        self,
        reading: str,
        few: tuple[object, ...],
        some: tuple[object, ...],
        many: tuple[object, ...],
    ) -> None:
        observer = observing({"QUOTA-PREMIUM": reading}, tier=v.Tier.PREMIUM)
        permits(filled(observer, regular=999), REGULAR, *few)
        permits(filled(observer, regular=1_000), REGULAR, *some)
        permits(filled(observer, regular=MANY), REGULAR, *many)

    @pytest.mark.parametrize(("units", "limit"), [(1, 1_000), (4, 4_000)])
    def test_messaging_units_give_1000_entities_each(self, units: int, limit: int) -> None:
        """QUOTA-14: fewer are never refused; QUOTA-15: more are, if they are read to be a limit."""
        for reading, beyond in (("either", (DONE, FULL, OTHER)), ("per-unit", (FULL, OTHER))):
            observer = observing(
                {"QUOTA-PREMIUM": reading}, tier=v.Tier.PREMIUM, messaging_units=units
            )
            permits(filled(observer, regular=limit - 1), REGULAR, DONE)
            refuses(observer, REGULAR, OTHER, "QUOTA-14")
            shows(observer, REGULAR, DONE, "QUOTA-14")
            observer = observing(
                {"QUOTA-PREMIUM": reading}, tier=v.Tier.PREMIUM, messaging_units=units
            )
            permits(filled(observer, regular=limit), REGULAR, *beyond)
        refuses(observer, REGULAR, DONE, "QUOTA-15")
        shows(observer, REGULAR, OTHER, "QUOTA-15")

    def test_a_partitioned_namespace_may_have_more_than_100_partitioned_entities(self) -> None:
        observer = observing(tier=v.Tier.PREMIUM, namespace_partitions=2, messaging_units=2)
        permits(filled(observer, queues=1_999), v.CreateQueue(queue="q"), DONE)
        permits(filled(observer, queues=2_000), v.CreateQueue(queue="q"), DONE, FULL, OTHER)

    def test_either_answer_shows_it(self) -> None:
        observer = filled(observing(tier=v.Tier.PREMIUM), regular=1_000)
        shows(observer, REGULAR, OTHER, "QUOTA-11")
        shows(observer, REGULAR, DONE, "QUOTA-11")
        shows(observing(tier=v.Tier.PREMIUM), REGULAR, DONE)

    @pytest.mark.parametrize(
        ("reading", "there", "command", "rule"),
        [
            ("QUOTA-SHARED=shared", {"queues": 50, "topics": 50}, queue(), "QUOTA-02"),
            ("QUOTA-SHARED=shared", {"queues": 50, "topics": 50}, TOPIC, "QUOTA-03"),
            (
                "QUOTA-SUBSCRIPTIONS=counted",
                {"regular": MANY - 1, "subscriptions": 1},
                REGULAR,
                "QUOTA-08",
            ),
        ],
    )
    def test_what_a_reading_demands_is_blamed_on_no_permission(
        self, reading: str, there: dict[str, int], command: object, rule: str
    ) -> None:
        """A permission that a reading makes a duty is the duty of the rule with the number."""
        name, chosen = reading.split("=")
        refuses(filled(observing({name: chosen}), **there), command, DONE, rule)

    def test_the_last_of_the_ten_thousand_is_demanded_where_they_count(self) -> None:
        """Which no permission can be: QUOTA-11 had been blamed."""
        observer = observing({"QUOTA-PREMIUM": "counting"}, tier=v.Tier.PREMIUM)
        refuses(filled(observer, regular=MANY - 1), REGULAR, FULL, "QUOTA-12")
        shows(filled(observer, regular=MANY - 1), REGULAR, DONE, "QUOTA-12")
        one_more = queue("r", partitioned=False)
        refuses(filled(observer, regular=MANY), one_more, DONE, "QUOTA-12")
        shows(filled(observer, regular=MANY), one_more, OTHER, "QUOTA-12")

    def test_no_number_is_refused_where_there_is_none(self) -> None:
        observer = observing({"QUOTA-PREMIUM": "quota"}, tier=v.Tier.PREMIUM)
        refuses(filled(observer, regular=MANY), REGULAR, FULL, "QUOTA-13")
        shows(filled(observer, regular=MANY), REGULAR, DONE, "QUOTA-13")
        shows(filled(observer, regular=MANY - 1), queue("r", partitioned=False), DONE)

    @pytest.mark.parametrize(
        ("reading", "answers"), [("either", (DONE, FULL, OTHER)), ("not-counted", (DONE,))]
    )
    def test_what_is_there_from_before_may_count(
        self, reading: str, answers: tuple[object, ...]
    ) -> None:
        observer = observing({"QUOTA-EXISTING": reading}, tier=v.Tier.PREMIUM)
        permits(filled(observer, regular=999, restored=1), REGULAR, *answers)

    @pytest.mark.parametrize(
        ("reading", "answers"), [("either", (DONE, FULL, OTHER)), ("not-counted", (DONE,))]
    )
    def test_subscriptions_may_count_there_too(
        self, reading: str, answers: tuple[object, ...]
    ) -> None:
        observer = observing({"QUOTA-SUBSCRIPTIONS": reading}, tier=v.Tier.PREMIUM)
        permits(filled(observer, regular=999, subscriptions=1), REGULAR, *answers)
