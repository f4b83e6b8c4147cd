"""TOPIC-22 to TOPIC-26 and what MGMT says of every entity: topics and subscriptions that change."""

import pytest
from managed_topics import (
    AGAIN,
    DELETE,
    DISABLED,
    EXISTS,
    GET,
    LIST,
    SOON,
    change,
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
    passes,
    received,
    refuses,
    shows,
    telling,
)

from busproof.vocabulary.commands import (
    AddRule,
    BeginTransaction,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateTopic,
    ListTopics,
    Peek,
    Receive,
    Schedule,
)
from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Outcome, Scheduled
from busproof.vocabulary.subscription_rules import TrueFilter
from busproof.vocabulary.values import ReceiveMode

# What can be changed.


def test_a_topic_keeps_what_is_fixed(told: Told) -> None:
    with_topic(told)
    for setting, rule in (("partitioned", "MGMT-04"), ("duplicate_detection", "MGMT-14")):
        other = setting == "duplicate_detection"
        told.has(change(**{setting: other}), INVALID)
        told.has(change(**{setting: other}))
        shows(told, GET, topic(**{setting: not other}), rule)
        refuses(told, GET, topic(**{setting: other}), rule)


def test_a_subscription_keeps_whether_it_requires_sessions(told: Told) -> None:
    with_topic(told, "s")
    told.has(update(requires_session=True), INVALID)
    told.has(update(requires_session=True))
    shows(told, get(), subscription(requires_session=False), "MGMT-13")
    refuses(told, get(), subscription(requires_session=True), "MGMT-13")


def test_an_update_of_a_subscription_is_in_force_and_of_no_other(told: Told) -> None:
    with_topic(told, "s", "r")
    refuses(told, update(lock_duration=SOON), GONE, "MGMT-12")
    told.has(update(lock_duration=SOON))
    right = subscription(lock_duration=SOON, max_delivery_count=10)
    shows(told, get(), right, "MGMT-12", "MGMT-17")
    refuses(told, get("r"), subscription("r", lock_duration=SOON), "MGMT-12")
    told.has(publish("m"))
    lock = received("m", 0, lock_token="k", locked_until=SOON)
    told.has(Receive(queue=path("s")), lock)


@pytest.mark.parametrize("settings", [{"partitioned": False}, {"duplicate_detection": True}])
def test_setting_that_subscriptions_lack_may_be_refused(
    told: Told, settings: dict[str, bool]
) -> None:
    with_topic(told, "s", "r")
    assert is_allowed(told, update(**settings), INVALID)
    knows(told, path("s"))
    told.has(update(**settings))
    knows_nothing_of(told, path("s"))
    knows(told, path("r"))


def test_status_that_does_not_fit_the_kind_may_be_refused(told: Told) -> None:
    with_topic(told, "s")
    for command, name in (
        (update(status=EntityStatus.SEND_DISABLED), path("s")),
        (change(status=EntityStatus.RECEIVE_DISABLED), "t"),
    ):
        told.has(command, INVALID)
        knows(told, name)
        assert is_allowed(told, command, DONE)
        refused = with_topic(telling(readings={"ROLE-STATUS": "refused"}), "s")
        assert not is_allowed(refused, command, DONE)
        told.saw(command, LOST)
        knows_nothing_of(told, name)


def test_a_topics_time_to_live_is_in_force_for_what_comes(told: Told) -> None:
    with_topic(told, "s")
    told.has(publish("early"))
    told.has(change(time_to_live=SOON))
    told.has(publish("late"))
    shows(told, GET, topic(time_to_live=SOON), "MGMT-12")
    refuses(told, GET, topic(time_to_live=9 * SECOND), "MGMT-12")
    passes(told, 6)
    assert "MGMT-12" in told.saw(take(), received("late", 0)).rules
    told.has(take(), received("early", 0))
    told.has(take(), Empty())


@pytest.mark.parametrize(
    "before",
    [
        (publish("adrift"), LOST),
        (Schedule(queue="t", message=Message(body="m"), delay=SOON), Scheduled()),
        (change(partitioned=True), LOST),
    ],
)
def test_message_under_either_lifetime_is_not_judged(
    told: Told, before: tuple[object, Outcome]
) -> None:
    with_topic(told, "s")
    told.saw(*before)
    told.has(change(time_to_live=SOON))
    knows_nothing_of(told, "t")


def test_buffered_send_may_have_either_lifetime(told: Told) -> None:
    with_topic(told, "s")
    told.has(BeginTransaction(transaction="x"))
    told.has(publish("m", "x", partition_key="a"))
    told.has(change(time_to_live=SOON))
    knows_nothing_of(told, "t")


@pytest.mark.parametrize("command", [change(time_to_live=SOON), DELETE])
def test_unanswered_change_of_a_topic_stops_the_judging(told: Told, command: object) -> None:
    with_topic(told, "s")
    told.saw(command, LOST)
    knows_nothing_of(told, "t")


def test_an_update_that_names_nothing_may_be_lost(told: Told) -> None:
    with_topic(told, "s")
    told.saw(change(), LOST)
    knows(told, "t")


def test_an_update_is_in_force_although_a_redirection_waits(told: Told) -> None:
    told.has(CreateQueue(queue="end"))
    with_topic(told, "s")
    told.has(BeginTransaction(transaction="x"))
    told.has(publish("m", "x", partition_key="a"))
    told.has(update(forward_to="end"))
    knows_nothing_of(told, path("s"))


def test_a_subscription_begins_to_forward(told: Told) -> None:
    told.has(CreateQueue(queue="end"))
    with_topic(told, "s")
    told.has(update(forward_to="end"))
    told.has(publish("m"))
    end = Receive(queue="end", mode=ReceiveMode.RECEIVE_AND_DELETE)
    told.has(end, received("m", 0))
    assert not is_allowed(told, take(), received("m", 0))


# What a deletion takes along.


def test_a_deleted_topic_takes_its_subscriptions_along(told: Told) -> None:
    with_topic(told, "s", "r")
    told.has(publish("m"), partition=2)
    told.has(DELETE)
    refuses(told, take(), received("m", 2), "TOPIC-22")
    for command in (take(), get(), update(lock_duration=SOON), part("r"), Peek(queue=path("r"))):
        shows(told, command, MISSING, "TOPIC-22", "MGMT-15", "MGMT-10")
    shows(told, publish("n"), MISSING, "MGMT-15")
    shows(told, ListTopics(), listed(), "MGMT-16")


def test_a_topic_that_is_created_again_begins_without_subscriptions(told: Told) -> None:
    with_topic(told, "s", duplicate_detection=True)
    told.has(publish("m", message_id="x"), partition=2)
    told.has(DELETE)
    refuses(told, AGAIN, INVALID, "MGMT-15")
    told.has(AGAIN)
    refuses(told, LIST, listed("s"), "MGMT-16", "TOPIC-22")
    shows(told, LIST, listed(), "TOPIC-22")
    shows(told, take(), MISSING, "TOPIC-22")
    refuses(told, subscribe(), EXISTS, "TOPIC-22")
    told.has(subscribe())
    refuses(told, take(), received("m", 2), "MGMT-15")
    shows(told, take(), Empty(), "MGMT-15", "MGMT-17")
    told.has(publish("n", message_id="x"))
    assert {"MGMT-15", "TOPIC-22"} <= set(told.saw(take(), Empty()).rules)


def test_a_topic_that_is_created_again_may_have_the_other_option(told: Told) -> None:
    with_topic(told)
    told.has(DELETE)
    told.has(CreateTopic(topic="t", partitioned=False))
    shows(told, GET, topic(partitioned=False), "MGMT-03", "MGMT-05")
    refuses(told, GET, topic(partitioned=True), "MGMT-03", "MGMT-05")


def test_a_deleted_subscription_leaves_the_others(told: Told) -> None:
    with_topic(told, "s", "r")
    told.has(publish("m"), partition=2)
    refuses(told, part("s"), GONE, "MGMT-15")
    told.has(part("s"))
    shows(told, take("s"), MISSING, "MGMT-15", "MGMT-10")
    assert "TOPIC-23" in told.saw(take("r"), Empty()).rules
    assert "TOPIC-23" in told.saw(publish("n"), GONE).rules
    told.has(publish("n"))
    shows(told, take("r"), received("m", 2), "TOPIC-23")
    shows(told, take("r"), received("n", 0), "TOPIC-23")
    shows(told, LIST, listed("r"), "MGMT-16")


def test_a_subscription_that_is_created_again_begins_empty(told: Told) -> None:
    with_topic(told, "s")
    told.has(publish("m"), partition=2)
    told.has(Receive(queue=path("s")), received("m", 2, lock_token="k"))
    told.has(part())
    refuses(told, subscribe(), EXISTS, "MGMT-15")
    told.has(subscribe())
    assert not is_allowed(told, Complete(queue=path("s"), lock_token="k"), DONE)
    shows(told, take(), Empty(), "MGMT-15")
    told.has(publish("n"))
    told.has(take(), received("n", 0))


def test_buffered_send_for_a_deleted_subscription_is_not_judged(told: Told) -> None:
    with_topic(told, "s", "r")
    told.has(BeginTransaction(transaction="x"))
    told.has(publish("m", "x", partition_key="a"), partition=2)
    told.has(part("s"))
    knows_nothing_of(told, path("s"))
    told.has(CommitTransaction(transaction="x"))
    told.has(take("r"), received("m", 2, partition_key="a"))


@pytest.mark.parametrize("command", [DELETE, part("s")])
def test_buffered_rule_of_a_deleted_subscription_is_not_judged(told: Told, command: object) -> None:
    with_topic(told, "s", partitioned=False)
    told.has(BeginTransaction(transaction="x"))
    rule = AddRule(topic="t", subscription="s", rule="a", filter=TrueFilter(), transaction="x")
    told.has(rule)
    told.has(command)
    knows_nothing_of(told, path("s"))
    told.has(CommitTransaction(transaction="x"))


def test_a_request_without_answer_may_reach_a_later_subscription(told: Told) -> None:
    with_topic(told, "s")
    told.saw(take(), LOST)
    told.has(part())
    told.has(subscribe())
    knows_nothing_of(told, path("s"))


def test_entities_linked_to_a_deleted_topic_are_not_judged(told: Told) -> None:
    told.has(CreateQueue(queue="end"))
    with_topic(told)
    told.has(subscribe(forward_to="end"))
    told.has(DELETE)
    knows_nothing_of(told, "t")
    knows_nothing_of(told, "end")


# Statuses.


@pytest.mark.parametrize("status", [EntityStatus.DISABLED, EntityStatus.SEND_DISABLED])
def test_a_disabled_topic_takes_nothing_and_its_subscriptions_give(
    told: Told, status: EntityStatus
) -> None:
    with_topic(told, "s")
    told.has(publish("m"))
    told.has(change(status=status))
    refuses(told, publish("n"), DONE, "MGMT-26")
    shows(told, publish("n"), DISABLED, "MGMT-26")
    assert "TOPIC-26" in told.saw(take(), DISABLED).rules
    assert is_allowed(told, GET, topic(subscription_count=1))
    shows(told, take(), received("m", 0), "TOPIC-26")
    told.has(change(status=EntityStatus.ACTIVE))
    told.has(publish("o"))
    after = told.saw(take(), received("o", 1))
    assert after.possible
    assert "TOPIC-26" not in after.rules


def test_a_subscription_that_is_closed_to_receivers_has_its_copies(told: Told) -> None:
    with_topic(told, "s")
    told.has(publish("early"))
    told.has(update(status=EntityStatus.RECEIVE_DISABLED))
    told.has(publish("late"))
    assert "MGMT-27" in told.saw(take(), received("early", 0)).rules
    shows(told, take(), DISABLED, "MGMT-27")
    told.has(update(status=EntityStatus.ACTIVE))
    told.has(take(), received("early", 0))
    assert "TOPIC-25" in told.saw(take(), Empty()).rules
    shows(told, take(), received("late", 1), "TOPIC-25")


@pytest.mark.parametrize(
    ("reading", "answers"),
    [("either", (True, True)), ("collected", (True, False)), ("missed", (False, True))],
)
def test_a_disabled_subscription_has_copies_or_has_none(
    reading: str, answers: tuple[bool, bool]
) -> None:
    told = with_topic(telling(readings={"DISABLED-COPIES": reading}), "s")
    told.has(update(status=EntityStatus.DISABLED))
    told.has(publish("m"))
    told.has(update(status=EntityStatus.ACTIVE))
    assert is_allowed(told, take(), received("m", 0)) is answers[0]
    assert is_allowed(told, take(), Empty()) is answers[1]


def test_late_message_may_reach_a_subscription_that_was_disabled() -> None:
    told = with_topic(telling(readings={"DISABLED-COPIES": "missed"}), "s")
    told.has(update(status=EntityStatus.DISABLED))
    told.saw(publish("m"), LOST)
    told.has(update(status=EntityStatus.ACTIVE))
    assert is_allowed(told, take(), received("m", 0))
    assert is_allowed(told, take(), Empty())


def test_message_scheduled_for_a_disabled_subscription_is_not_judged(
    told: Told,
) -> None:
    with_topic(told, "s")
    told.has(Schedule(queue="t", message=Message(body="m"), delay=SOON), Scheduled())
    told.has(update(status=EntityStatus.RECEIVE_DISABLED))
    knows_nothing_of(told, path("s"))


def test_disabled_topic_with_a_forwarding_source_is_not_judged(
    told: Told,
) -> None:
    with_topic(told, "s")
    told.has(CreateQueue(queue="q", forward_to="t"))
    told.has(change(status=EntityStatus.DISABLED))
    knows_nothing_of(told, "t")
