"""TOPIC-22 to TOPIC-26 and what MGMT says of every entity: topics and subscriptions as a whole."""

import pytest
from managed_topics import (
    AGAIN,
    DELETE,
    EXISTS,
    GET,
    LIST,
    SOON,
    bright,
    change,
    dark,
    get,
    listed,
    part,
    path,
    publish,
    subscribe,
    subscription,
    take,
    topic,
    update,
    with_topic,
)
from telling import (
    DONE,
    GONE,
    INVALID,
    LOST,
    MISSING,
    SECOND,
    Told,
    is_allowed,
    knows,
    knows_nothing_of,
    received,
    refuses,
    shows,
    telling,
)

from busproof.vocabulary.commands import (
    CreateQueue,
    CreateTopic,
    DeleteQueue,
    GetQueue,
    GetTopic,
    ListQueues,
    ListSubscriptions,
    ListTopics,
    TakePartitionDown,
)
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.outcomes import (
    Empty,
    TopicDescribed,
    TopicDescription,
)
from busproof.vocabulary.values import Tier

# What a topic is.


def test_a_topic_is_told_as_it_was_created(told: Told) -> None:
    with_topic(told, "s", duplicate_detection=True, time_to_live=SOON)
    all_told = topic(
        partitioned=True,
        duplicate_detection=True,
        duplicate_window=600 * SECOND,
        time_to_live=SOON,
        subscription_count=1,
        availability=Availability.AVAILABLE,
    )
    shows(told, GET, all_told, "MGMT-01", "MGMT-11", "MGMT-22", "TOPIC-24")
    refuses(told, GET, topic(duplicate_window=SECOND), "MGMT-11")
    refuses(told, GET, topic(duplicate_detection=False), "MGMT-11")
    refuses(told, GET, topic(time_to_live=SECOND), "MGMT-11")
    refuses(told, GET, topic(partitioned=False), "MGMT-01", "MGMT-11")
    wrong = TopicDescribed(description=TopicDescription(topic="u"))
    refuses(told, GET, wrong, "MGMT-11")
    refuses(told, GET, topic(availability=Availability.LIMITED), "MGMT-22")
    assert is_allowed(told, GET, topic())


def test_a_get_of_a_topic_is_no_list_of_messages(told: Told) -> None:
    with_topic(told)
    assert not is_allowed(told, GET, DONE)
    assert not is_allowed(told, GET, GONE)
    assert told.saw(GET, GONE).rules


@pytest.mark.parametrize("lag", ["in-time", "at-once"])
def test_a_topic_counts_its_subscriptions(lag: str) -> None:
    told = with_topic(telling(readings={"GET-LAG": lag}), "s", "r")
    shows(told, GET, topic(subscription_count=2), "TOPIC-24")
    told.has(part("r"))
    shows(told, GET, topic(subscription_count=1), "TOPIC-24")
    assert is_allowed(told, GET, topic(subscription_count=2)) is (lag == "in-time")
    refuses(told, GET, topic(subscription_count=3), "TOPIC-24")
    refuses(told, GET, topic(subscription_count=-1), "TOPIC-24")


def test_a_subscription_that_may_be_there_may_be_counted_and_listed() -> None:
    told = with_topic(telling(readings={"GET-LAG": "at-once"}), "s")
    told.saw(subscribe("r"), LOST)
    for names in (("s",), ("s", "r")):
        assert is_allowed(told, LIST, listed(*names))
        assert is_allowed(told, GET, topic(subscription_count=len(names)))
    assert not is_allowed(told, LIST, listed("r"))
    told.saw(part("s"), LOST)
    for names in ((), ("s",), ("r",), ("s", "r")):
        assert is_allowed(told, LIST, listed(*names))
        assert is_allowed(told, GET, topic(subscription_count=len(names)))


def test_a_subscription_is_told_as_it_was_created(told: Told) -> None:
    with_topic(told)
    told.has(subscribe(lock_duration=SOON, requires_session=True, max_delivery_count=3))
    right = subscription(lock_duration=SOON, requires_session=True, max_delivery_count=3)
    shows(told, get(), right, "MGMT-11")
    refuses(told, get(), subscription(requires_session=False), "MGMT-11")
    refuses(told, get(), subscription(lock_duration=SECOND), "MGMT-11")


def test_settings_of_the_topic_are_not_checked_in_a_subscription(told: Told) -> None:
    with_topic(told, "s", duplicate_detection=True)
    strange = subscription(partitioned=False, duplicate_detection=False, max_size=7)
    assert is_allowed(told, get(), strange)
    assert "MGMT-01" not in told.saw(get(), subscription(partitioned=True)).rules


def test_the_copies_of_a_subscription_are_counted() -> None:
    told = with_topic(telling(readings={"GET-LAG": "at-once"}), "s", "r")
    for number in range(4):
        told.has(publish(f"m{number}"), partition=number)
    told.has(take("s"), received("m0", 0))
    shows(told, get("s"), subscription("s", message_count=3), "MGMT-20")
    shows(told, get("r"), subscription("r", message_count=4), "MGMT-20")
    refuses(told, get("s"), subscription("s", message_count=4), "MGMT-20")


def test_forwarded_messages_of_a_subscription_may_be_counted(told: Told) -> None:
    told.has(CreateQueue(queue="end"))
    with_topic(told)
    told.has(subscribe(forward_to="end"))
    told.has(publish("m"))
    assert is_allowed(told, get(), subscription(message_count=1))
    assert not is_allowed(told, get(), subscription(message_count=-1))


# Names.


def test_the_name_of_a_topic_is_taken_once(told: Told) -> None:
    with_topic(told, "s")
    told.has(publish("m"))
    refuses(told, AGAIN, DONE, "MGMT-09")
    refuses(told, AGAIN, GONE, "MGMT-09")
    shows(told, AGAIN, EXISTS, "MGMT-09")
    refuses(told, CreateQueue(queue="t"), DONE, "MGMT-09")
    shows(told, subscribe(), EXISTS, "MGMT-09")
    refuses(told, subscribe(), DONE, "MGMT-09")
    refuses(told, subscribe(), GONE, "MGMT-09")
    found = told.saw(take(), Empty())
    assert "MGMT-09" in found.rules


def test_no_topic_has_the_name_of_a_queue(told: Told) -> None:
    told.queue()
    shows(told, CreateTopic(topic="q"), EXISTS, "MGMT-09")
    refuses(told, CreateTopic(topic="q"), DONE, "MGMT-09")


def test_another_reason_to_refuse_a_name_may_be_given(told: Told) -> None:
    with_topic(told, "s")
    for more in ({"forward_to": "nowhere"}, {"lock_duration": 900 * SECOND}):
        assert is_allowed(told, subscribe(**more), INVALID)
    basic = with_topic(telling(tier=Tier.BASIC))
    assert is_allowed(basic, AGAIN, INVALID)


def test_basic_need_not_know_what_a_topic_is(told: Told) -> None:
    basic = telling(tier=Tier.BASIC)
    for command in (GET, DELETE, LIST, ListTopics()):
        assert is_allowed(basic, command, INVALID)
        assert not is_allowed(told, command, INVALID)
    assert is_allowed(basic, ListTopics(), listed())


def test_lists_name_what_is_there_and_nothing_else(told: Told) -> None:
    with_topic(told, "s", "r")
    told.has(CreateTopic(topic="u"))
    told.queue()
    shows(told, ListTopics(), listed("u", "t"), "MGMT-16")
    for wrong in (("t",), ("t", "u", "u"), ("t", "u", "q"), ("t", "u", path("s"))):
        refuses(told, ListTopics(), listed(*wrong), "MGMT-16")
    shows(told, LIST, listed("r", "s"), "MGMT-16")
    for wrong in ((), ("s",), ("s", "r", "x"), ("s", "s", "r"), (path("s"), path("r"))):
        refuses(told, LIST, listed(*wrong), "MGMT-16")
    shows(told, ListQueues(), listed("q"), "MGMT-16")


def test_doubtful_topic_may_be_listed(told: Told) -> None:
    with_topic(told)
    told.saw(CreateTopic(topic="u"), LOST)
    for names in (("t",), ("t", "u")):
        assert is_allowed(told, ListTopics(), listed(*names))


@pytest.mark.parametrize("command", [GET, change(time_to_live=SOON), DELETE, LIST])
def test_missing_topic_cannot_be_managed(told: Told, command: object) -> None:
    shows(told, command, MISSING, "MGMT-10")
    refuses(told, command, DONE, "MGMT-10")


@pytest.mark.parametrize("command", [get(), update(lock_duration=SOON), part(), take()])
def test_missing_subscription_cannot_be_used(told: Told, command: object) -> None:
    with_topic(told)
    shows(told, command, MISSING, "MGMT-10")
    refuses(told, command, DONE, "MGMT-10")


@pytest.mark.parametrize(
    "command",
    [GetTopic(topic="q"), ListSubscriptions(topic="q"), GetTopic(topic="t/$deadletterqueue")],
)
def test_request_for_the_wrong_kind_of_entity_changes_nothing(told: Told, command: object) -> None:
    with_topic(told)
    told.queue()
    for answer in (INVALID, MISSING):
        assert is_allowed(told, command, answer)
    knows(told, "q")


def test_a_topic_that_is_deleted_as_a_queue_is_told_of_no_more(told: Told) -> None:
    with_topic(told, "s")
    told.has(GetQueue(queue="t"), INVALID)
    told.has(DeleteQueue(queue="t"), INVALID)
    knows(told, "t")
    told.saw(DeleteQueue(queue="t"), LOST)
    knows_nothing_of(told, "t")


# Outages.


@pytest.mark.parametrize("command", [DELETE, part(), update(lock_duration=SOON), change()])
def test_management_may_fail_in_an_outage(told: Told, command: object) -> None:
    with_topic(told, "s")
    assert not is_allowed(told, command, GONE)
    dark(told)
    shows(told, command, GONE, "MGMT-18")
    assert is_allowed(told, command, DONE)


def test_a_topic_whose_deletion_failed_may_be_gone_in_part(told: Told) -> None:
    with_topic(told, "s", "r")
    told.has(publish("m"), partition=2)
    dark(told)
    told.has(DELETE, GONE)
    for name in ("s", "r"):
        for answer in (Empty(), MISSING, received("m", 2)):
            assert is_allowed(told, take(name), answer)
    for names in ((), ("s",), ("s", "r")):
        assert is_allowed(told, LIST, listed(*names))
    assert is_allowed(told, GET, MISSING)
    bright(told)
    refuses(told, DELETE, GONE, "MGMT-19")
    shows(told, DELETE, DONE, "MGMT-19")
    shows(told, take(), MISSING, "TOPIC-22")


def test_a_deletion_that_is_repeated_may_find_it_done(told: Told) -> None:
    with_topic(told, "s", "r")
    dark(told)
    told.has(part("s"), GONE)
    told.has(publish("m"))
    bright(told)
    shows(told, part("s"), MISSING, "MGMT-19")
    shows(told, LIST, listed("r"), "MGMT-16")
    shows(told, take("r"), received("m", 0), "TOPIC-23")
    dark(told)
    told.has(DELETE, GONE)
    bright(told)
    shows(told, DELETE, MISSING, "MGMT-19")
    told.has(AGAIN)
    shows(told, LIST, listed(), "TOPIC-22")


@pytest.mark.parametrize(
    ("failed", "made", "name"),
    [
        (DELETE, AGAIN, "t"),
        (DELETE, subscribe("r"), "t"),
        (part("s"), subscribe("s"), path("s")),
    ],
)
def test_creation_over_a_partial_entity_stops_the_judging(
    told: Told, failed: object, made: object, name: str
) -> None:
    with_topic(told, "s")
    dark(told)
    told.has(failed, GONE)
    bright(told)
    assert is_allowed(told, made, EXISTS)
    told.has(made)
    knows_nothing_of(told, name)


def test_a_failed_deletion_may_change_nothing(told: Told) -> None:
    told = with_topic(telling(readings={"MANAGEMENT-IN-OUTAGE": "whole"}), "s")
    dark(told)
    told.has(DELETE, GONE)
    bright(told)
    shows(told, LIST, listed("s"), "MGMT-16")


def test_an_update_of_a_time_to_live_that_failed_may_be_in_force(told: Told) -> None:
    with_topic(told, "s")
    dark(told)
    told.has(change(time_to_live=SOON), GONE)
    knows_nothing_of(told, "t")


def test_a_creation_of_a_topic_may_fail_in_an_outage(told: Told) -> None:
    told.has(TakePartitionDown(queue="t", partition=1))
    assert is_allowed(told, AGAIN, GONE)
    shows(told, AGAIN, DONE, "MGMT-18")


def test_in_an_outage_topics_and_subscriptions_are_limited() -> None:
    told = with_topic(telling(readings={"GET-LAG": "at-once"}), "s")
    limited, available = Availability.LIMITED, Availability.AVAILABLE
    dark(told)
    shows(told, GET, topic(availability=limited), "MGMT-21")
    shows(told, get(), subscription(availability=limited), "MGMT-21")
    refuses(told, GET, topic(availability=available), "MGMT-21")
    shows(told, GET, GONE, "MGMT-23")
    bright(told)
    refuses(told, GET, topic(availability=limited), "MGMT-22")
    shows(told, get(), subscription(availability=available), "MGMT-22")


def test_a_get_of_a_topic_may_have_to_fail() -> None:
    told = with_topic(telling(readings={"COUNTS-IN-OUTAGE": "refused"}))
    dark(told)
    assert not is_allowed(told, GET, topic())
    assert is_allowed(told, GET, GONE)


def test_availability_of_a_subscription_may_lag(told: Told) -> None:
    with_topic(told, "s")
    dark(told)
    told.has(take(), Empty())
    bright(told)
    assert is_allowed(told, get(), subscription(availability=Availability.LIMITED))
