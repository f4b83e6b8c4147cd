"""How many entities there can be: what is counted, and what one more may be answered."""

import attrs
import pytest
from observing import DONE, GONE, INVALID, OTHER, Observer, observing

from busproof.oracle.entity_counts import NO_ENTITIES, EntityCounts
from busproof.oracle.window import Window
from busproof.vocabulary.commands import (
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    GetQueue,
    Receive,
    RestoreQueue,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Indeterminate, Refused
from busproof.vocabulary.values import Error, Tier

FULL = Refused(error=Error.QUOTA_EXCEEDED)
LOST = Indeterminate()
MANY = 10_000


def window(number: int | tuple[int, int]) -> Window:
    return Window(number, number) if isinstance(number, int) else Window(*number)


def filled(
    observer: Observer,
    *,
    queues: int | tuple[int, int] = 0,
    topics: int = 0,
    regular: int | tuple[int, int] = 0,
    subscriptions: int | tuple[int, int] = 0,
    restored: int = 0,
    unknown: int = 0,
) -> Observer:
    """A namespace that counts so many, none of which anybody asks for."""
    (namespace,) = observer.possible
    own, others = window(queues), window(regular)
    each = namespace.profile.partitions
    partitioned = Window(own.earliest + topics, own.latest + topics)
    more = restored + topics
    entity_counts = EntityCounts(
        queues=own,
        topics=window(topics),
        partitioned=partitioned,
        regular=others,
        restored=window(restored),
        subscriptions=window(subscriptions),
        entities=Window(
            own.earliest + others.earliest + more,
            own.latest + others.latest + more,
        ),
        stores=Window(
            (own.earliest + more) * each + others.earliest,
            (own.latest + more) * each + others.latest,
        ),
        unknown=unknown,
        quota_reached=partitioned.earliest >= 100,
    )
    observer.possible = (attrs.evolve(namespace, entity_counts=entity_counts),)
    return observer


def entity_counts(observer: Observer) -> EntityCounts:
    (namespace,) = observer.possible
    return namespace.entity_counts


def queue(name: str = "q", *, partitioned: bool = True, **settings: object) -> CreateQueue:
    return CreateQueue(queue=name, partitioned=partitioned, **settings)


REGULAR = queue(partitioned=False)
TOPIC = CreateTopic(topic="t")
SUBSCRIPTION = CreateSubscription(topic="t", subscription="s")


def shows(observer: Observer, command: object, outcome: object, *rules: str) -> None:
    found = observer.saw(command, outcome)
    assert found.possible
    assert set(rules) == {rule for rule in found.rules if rule.startswith("QUOTA")}


def refuses(observer: Observer, command: object, outcome: object, *rules: str) -> None:
    found = observer.saw(command, outcome)
    assert not found.possible
    assert set(rules) <= set(found.rules), found.rules


def permits(observer: Observer, command: object, *outcomes: object) -> None:
    """Whether it is accepted, refused for want of room, and refused for no stated reason."""
    (namespace,) = observer.possible
    answers = (DONE, FULL, OTHER)
    found = {each for each in answers if Observer.saw(_copy(observer), command, each).possible}
    assert set(outcomes) == found
    assert (namespace,) == observer.possible


def _copy(observer: Observer) -> Observer:
    (namespace,) = observer.possible
    copy = Observer(namespace.profile, namespace.observability)
    copy.possible = observer.possible
    return copy


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
        refuses(observer, CreateTopic(topic="r", partitioned=False), FULL, "QUOTA-07")


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
        observer = observing({"QUOTA-PREMIUM": reading}, tier=Tier.PREMIUM)
        permits(filled(observer, regular=999), REGULAR, *few)
        permits(filled(observer, regular=1_000), REGULAR, *some)
        permits(filled(observer, regular=MANY), REGULAR, *many)

    @pytest.mark.parametrize(("units", "limit"), [(1, 1_000), (4, 4_000)])
    def test_messaging_units_give_1000_entities_each(self, units: int, limit: int) -> None:
        """QUOTA-14: fewer are never refused; QUOTA-15: more are, if they are read to be a limit."""
        for reading, beyond in (("either", (DONE, FULL, OTHER)), ("per-unit", (FULL, OTHER))):
            observer = observing(
                {"QUOTA-PREMIUM": reading}, tier=Tier.PREMIUM, messaging_units=units
            )
            permits(filled(observer, regular=limit - 1), REGULAR, DONE)
            refuses(observer, REGULAR, OTHER, "QUOTA-14")
            shows(observer, REGULAR, DONE, "QUOTA-14")
            observer = observing(
                {"QUOTA-PREMIUM": reading}, tier=Tier.PREMIUM, messaging_units=units
            )
            permits(filled(observer, regular=limit), REGULAR, *beyond)
        refuses(observer, REGULAR, DONE, "QUOTA-15")
        shows(observer, REGULAR, OTHER, "QUOTA-15")

    def test_a_partitioned_namespace_may_have_more_than_100_partitioned_entities(self) -> None:
        observer = observing(tier=Tier.PREMIUM, namespace_partitions=2, messaging_units=2)
        permits(filled(observer, queues=1_999), CreateQueue(queue="q"), DONE)
        permits(filled(observer, queues=2_000), CreateQueue(queue="q"), DONE, FULL, OTHER)

    def test_either_answer_shows_it(self) -> None:
        observer = filled(observing(tier=Tier.PREMIUM), regular=1_000)
        shows(observer, REGULAR, OTHER, "QUOTA-11")
        shows(observer, REGULAR, DONE, "QUOTA-11")
        shows(observing(tier=Tier.PREMIUM), REGULAR, DONE)

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
        observer = observing({"QUOTA-PREMIUM": "counting"}, tier=Tier.PREMIUM)
        refuses(filled(observer, regular=MANY - 1), REGULAR, FULL, "QUOTA-12")
        shows(filled(observer, regular=MANY - 1), REGULAR, DONE, "QUOTA-12")
        one_more = queue("r", partitioned=False)
        refuses(filled(observer, regular=MANY), one_more, DONE, "QUOTA-12")
        shows(filled(observer, regular=MANY), one_more, OTHER, "QUOTA-12")

    def test_no_number_is_refused_where_there_is_none(self) -> None:
        observer = observing({"QUOTA-PREMIUM": "quota"}, tier=Tier.PREMIUM)
        refuses(filled(observer, regular=MANY), REGULAR, FULL, "QUOTA-13")
        shows(filled(observer, regular=MANY), REGULAR, DONE, "QUOTA-13")
        shows(filled(observer, regular=MANY - 1), queue("r", partitioned=False), DONE)

    @pytest.mark.parametrize(
        ("reading", "answers"), [("either", (DONE, FULL, OTHER)), ("not-counted", (DONE,))]
    )
    def test_what_is_there_from_before_may_count(
        self, reading: str, answers: tuple[object, ...]
    ) -> None:
        observer = observing({"QUOTA-EXISTING": reading}, tier=Tier.PREMIUM)
        permits(filled(observer, regular=999, restored=1), REGULAR, *answers)

    @pytest.mark.parametrize(
        ("reading", "answers"), [("either", (DONE, FULL, OTHER)), ("not-counted", (DONE,))]
    )
    def test_subscriptions_may_count_there_too(
        self, reading: str, answers: tuple[object, ...]
    ) -> None:
        observer = observing({"QUOTA-SUBSCRIPTIONS": reading}, tier=Tier.PREMIUM)
        permits(filled(observer, regular=999, subscriptions=1), REGULAR, *answers)
