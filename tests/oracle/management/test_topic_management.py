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
from observing import (
    DONE,
    GONE,
    INVALID,
    LOST,
    MISSING,
    SECOND,
    Observer,
    is_allowed,
    knows,
    knows_nothing_of,
    observing,
    received,
    refuses,
    shows,
)

from busproof import vocabulary as v

# What a topic is.


def test_a_topic_is_described_as_it_was_created(observer: Observer) -> None:
    with_topic(observer, "s", duplicate_detection=True, time_to_live=SOON)
    all_described = topic(
        partitioned=True,
        duplicate_detection=True,
        duplicate_window=600 * SECOND,
        time_to_live=SOON,
        subscription_count=1,
        availability=v.Availability.AVAILABLE,
    )
    shows(observer, GET, all_described, "MGMT-01", "MGMT-11", "MGMT-22", "TOPIC-24")
    refuses(observer, GET, topic(duplicate_window=SECOND), "MGMT-11")
    refuses(observer, GET, topic(duplicate_detection=False), "MGMT-11")
    refuses(observer, GET, topic(time_to_live=SECOND), "MGMT-11")
    refuses(observer, GET, topic(partitioned=False), "MGMT-01", "MGMT-11")
    wrong = v.TopicDescribed(description=v.TopicDescription(topic="u"))
    refuses(observer, GET, wrong, "MGMT-11")
    refuses(observer, GET, topic(availability=v.Availability.LIMITED), "MGMT-22")
    assert is_allowed(observer, GET, topic())


def test_a_get_of_a_topic_is_no_list_of_messages(observer: Observer) -> None:
    with_topic(observer)
    assert not is_allowed(observer, GET, DONE)
    assert not is_allowed(observer, GET, GONE)
    assert observer.saw(GET, GONE).rules


@pytest.mark.parametrize("lag", ["in-time", "at-once"])
def test_a_topic_counts_its_subscriptions(lag: str) -> None:
    observer = with_topic(observing(readings={"GET-LAG": lag}), "s", "r")
    shows(observer, GET, topic(subscription_count=2), "TOPIC-24")
    observer.has(part("r"))
    shows(observer, GET, topic(subscription_count=1), "TOPIC-24")
    assert is_allowed(observer, GET, topic(subscription_count=2)) is (lag == "in-time")
    refuses(observer, GET, topic(subscription_count=3), "TOPIC-24")
    refuses(observer, GET, topic(subscription_count=-1), "TOPIC-24")


def test_a_subscription_that_may_be_there_may_be_counted_and_listed() -> None:
    observer = with_topic(observing(readings={"GET-LAG": "at-once"}), "s")
    observer.saw(subscribe("r"), LOST)
    for names in (("s",), ("s", "r")):
        assert is_allowed(observer, LIST, listed(*names))
        assert is_allowed(observer, GET, topic(subscription_count=len(names)))
    assert not is_allowed(observer, LIST, listed("r"))
    observer.saw(part("s"), LOST)
    for names in ((), ("s",), ("r",), ("s", "r")):
        assert is_allowed(observer, LIST, listed(*names))
        assert is_allowed(observer, GET, topic(subscription_count=len(names)))


def test_a_subscription_is_described_as_it_was_created(observer: Observer) -> None:
    with_topic(observer)
    observer.has(subscribe(lock_duration=SOON, requires_session=True, max_delivery_count=3))
    right = subscription(lock_duration=SOON, requires_session=True, max_delivery_count=3)
    shows(observer, get(), right, "MGMT-11")
    refuses(observer, get(), subscription(requires_session=False), "MGMT-11")
    refuses(observer, get(), subscription(lock_duration=SECOND), "MGMT-11")


def test_settings_of_the_topic_are_not_checked_in_a_subscription(observer: Observer) -> None:
    with_topic(observer, "s", duplicate_detection=True)
    strange = subscription(partitioned=False, duplicate_detection=False, max_size=7)
    assert is_allowed(observer, get(), strange)
    assert "MGMT-01" not in observer.saw(get(), subscription(partitioned=True)).rules


def test_the_copies_of_a_subscription_are_counted() -> None:
    observer = with_topic(observing(readings={"GET-LAG": "at-once"}), "s", "r")
    for number in range(4):
        observer.has(publish(f"m{number}"), partition=number)
    observer.has(take("s"), received("m0", 0))
    shows(observer, get("s"), subscription("s", message_count=3), "MGMT-20")
    shows(observer, get("r"), subscription("r", message_count=4), "MGMT-20")
    refuses(observer, get("s"), subscription("s", message_count=4), "MGMT-20")


def test_forwarded_messages_of_a_subscription_may_be_counted(observer: Observer) -> None:
    observer.has(v.CreateQueue(queue="end"))
    with_topic(observer)
    observer.has(subscribe(forward_to="end"))
    observer.has(publish("m"))
    assert is_allowed(observer, get(), subscription(message_count=1))
    assert not is_allowed(observer, get(), subscription(message_count=-1))


# Names.


def test_the_name_of_a_topic_is_taken_once(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("m"))
    refuses(observer, AGAIN, DONE, "MGMT-09")
    refuses(observer, AGAIN, GONE, "MGMT-09")
    shows(observer, AGAIN, EXISTS, "MGMT-09")
    refuses(observer, v.CreateQueue(queue="t"), DONE, "MGMT-09")
    shows(observer, subscribe(), EXISTS, "MGMT-09")
    refuses(observer, subscribe(), DONE, "MGMT-09")
    refuses(observer, subscribe(), GONE, "MGMT-09")
    found = observer.saw(take(), v.Empty())
    assert "MGMT-09" in found.rules


def test_no_topic_has_the_name_of_a_queue(observer: Observer) -> None:
    observer.queue()
    shows(observer, v.CreateTopic(topic="q"), EXISTS, "MGMT-09")
    refuses(observer, v.CreateTopic(topic="q"), DONE, "MGMT-09")


def test_another_reason_to_refuse_a_name_may_be_given(observer: Observer) -> None:
    with_topic(observer, "s")
    for more in ({"forward_to": "nowhere"}, {"lock_duration": 900 * SECOND}):
        assert is_allowed(observer, subscribe(**more), INVALID)
    basic = with_topic(observing(tier=v.Tier.BASIC))
    assert is_allowed(basic, AGAIN, INVALID)


def test_basic_need_not_know_what_a_topic_is(observer: Observer) -> None:
    basic = observing(tier=v.Tier.BASIC)
    for command in (GET, DELETE, LIST, v.ListTopics()):
        assert is_allowed(basic, command, INVALID)
        assert not is_allowed(observer, command, INVALID)
    assert is_allowed(basic, v.ListTopics(), listed())


def test_lists_name_what_is_there_and_nothing_else(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    observer.has(v.CreateTopic(topic="u"))
    observer.queue()
    shows(observer, v.ListTopics(), listed("u", "t"), "MGMT-16")
    for wrong in (("t",), ("t", "u", "u"), ("t", "u", "q"), ("t", "u", path("s"))):
        refuses(observer, v.ListTopics(), listed(*wrong), "MGMT-16")
    shows(observer, LIST, listed("r", "s"), "MGMT-16")
    for wrong in ((), ("s",), ("s", "r", "x"), ("s", "s", "r"), (path("s"), path("r"))):
        refuses(observer, LIST, listed(*wrong), "MGMT-16")
    shows(observer, v.ListQueues(), listed("q"), "MGMT-16")


def test_doubtful_topic_may_be_listed(observer: Observer) -> None:
    with_topic(observer)
    observer.saw(v.CreateTopic(topic="u"), LOST)
    for names in (("t",), ("t", "u")):
        assert is_allowed(observer, v.ListTopics(), listed(*names))


@pytest.mark.parametrize("command", [GET, change(time_to_live=SOON), DELETE, LIST])
def test_missing_topic_cannot_be_managed(observer: Observer, command: object) -> None:
    shows(observer, command, MISSING, "MGMT-10")
    refuses(observer, command, DONE, "MGMT-10")


@pytest.mark.parametrize("command", [get(), update(lock_duration=SOON), part(), take()])
def test_missing_subscription_cannot_be_used(observer: Observer, command: object) -> None:
    with_topic(observer)
    shows(observer, command, MISSING, "MGMT-10")
    refuses(observer, command, DONE, "MGMT-10")


@pytest.mark.parametrize(
    "command",
    [v.GetTopic(topic="q"), v.ListSubscriptions(topic="q"), v.GetTopic(topic="t/$deadletterqueue")],
)
def test_request_for_the_wrong_kind_of_entity_changes_nothing(
    observer: Observer, command: object
) -> None:
    with_topic(observer)
    observer.queue()
    for answer in (INVALID, MISSING):
        assert is_allowed(observer, command, answer)
    knows(observer, "q")


def test_a_topic_that_is_deleted_as_a_queue_is_no_longer_judged(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(v.GetQueue(queue="t"), INVALID)
    observer.has(v.DeleteQueue(queue="t"), INVALID)
    knows(observer, "t")
    observer.saw(v.DeleteQueue(queue="t"), LOST)
    knows_nothing_of(observer, "t")


# Outages.


@pytest.mark.parametrize("command", [DELETE, part(), update(lock_duration=SOON), change()])
def test_management_may_fail_in_an_outage(observer: Observer, command: object) -> None:
    with_topic(observer, "s")
    assert not is_allowed(observer, command, GONE)
    dark(observer)
    shows(observer, command, GONE, "MGMT-18")
    assert is_allowed(observer, command, DONE)


def test_a_topic_whose_deletion_failed_may_be_gone_in_part(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    observer.has(publish("m"), partition=2)
    dark(observer)
    observer.has(DELETE, GONE)
    for name in ("s", "r"):
        for answer in (v.Empty(), MISSING, received("m", 2)):
            assert is_allowed(observer, take(name), answer)
    for names in ((), ("s",), ("s", "r")):
        assert is_allowed(observer, LIST, listed(*names))
    assert is_allowed(observer, GET, MISSING)
    bright(observer)
    refuses(observer, DELETE, GONE, "MGMT-19")
    shows(observer, DELETE, DONE, "MGMT-19")
    shows(observer, take(), MISSING, "TOPIC-22")


def test_a_deletion_that_is_repeated_may_find_it_done(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    dark(observer)
    observer.has(part("s"), GONE)
    observer.has(publish("m"))
    bright(observer)
    shows(observer, part("s"), MISSING, "MGMT-19")
    shows(observer, LIST, listed("r"), "MGMT-16")
    shows(observer, take("r"), received("m", 0), "TOPIC-23")
    dark(observer)
    observer.has(DELETE, GONE)
    bright(observer)
    shows(observer, DELETE, MISSING, "MGMT-19")
    observer.has(AGAIN)
    shows(observer, LIST, listed(), "TOPIC-22")


@pytest.mark.parametrize(
    ("failed", "made", "name"),
    [
        (DELETE, AGAIN, "t"),
        (DELETE, subscribe("r"), "t"),
        (part("s"), subscribe("s"), path("s")),
    ],
)
def test_creation_over_a_partial_entity_stops_the_judging(
    observer: Observer, failed: object, made: object, name: str
) -> None:
    with_topic(observer, "s")
    dark(observer)
    observer.has(failed, GONE)
    bright(observer)
    assert is_allowed(observer, made, EXISTS)
    observer.has(made)
    knows_nothing_of(observer, name)


def test_a_failed_deletion_may_change_nothing(observer: Observer) -> None:
    observer = with_topic(observing(readings={"MANAGEMENT-IN-OUTAGE": "whole"}), "s")
    dark(observer)
    observer.has(DELETE, GONE)
    bright(observer)
    shows(observer, LIST, listed("s"), "MGMT-16")


def test_an_update_of_a_time_to_live_that_failed_may_be_in_force(observer: Observer) -> None:
    with_topic(observer, "s")
    dark(observer)
    observer.has(change(time_to_live=SOON), GONE)
    knows_nothing_of(observer, "t")


def test_a_creation_of_a_topic_may_fail_in_an_outage(observer: Observer) -> None:
    observer.has(v.TakePartitionDown(queue="t", partition=1))
    assert is_allowed(observer, AGAIN, GONE)
    shows(observer, AGAIN, DONE, "MGMT-18")


def test_in_an_outage_topics_and_subscriptions_are_limited() -> None:
    observer = with_topic(observing(readings={"GET-LAG": "at-once"}), "s")
    limited, available = v.Availability.LIMITED, v.Availability.AVAILABLE
    dark(observer)
    shows(observer, GET, topic(availability=limited), "MGMT-21")
    shows(observer, get(), subscription(availability=limited), "MGMT-21")
    refuses(observer, GET, topic(availability=available), "MGMT-21")
    shows(observer, GET, GONE, "MGMT-23")
    bright(observer)
    refuses(observer, GET, topic(availability=limited), "MGMT-22")
    shows(observer, get(), subscription(availability=available), "MGMT-22")


def test_a_get_of_a_topic_may_have_to_fail() -> None:
    observer = with_topic(observing(readings={"COUNTS-IN-OUTAGE": "refused"}))
    dark(observer)
    assert not is_allowed(observer, GET, topic())
    assert is_allowed(observer, GET, GONE)


def test_availability_of_a_subscription_may_lag(observer: Observer) -> None:
    with_topic(observer, "s")
    dark(observer)
    observer.has(take(), v.Empty())
    bright(observer)
    assert is_allowed(observer, get(), subscription(availability=v.Availability.LIMITED))
