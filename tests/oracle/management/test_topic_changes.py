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
    passes,
    received,
    refuses,
    shows,
)

from busproof import vocabulary as v

# What can be changed.


def test_a_topic_keeps_what_is_fixed(observer: Observer) -> None:
    with_topic(observer)
    for setting, rule in (("partitioned", "MGMT-04"), ("duplicate_detection", "MGMT-14")):
        other = setting == "duplicate_detection"
        observer.has(change(**{setting: other}), INVALID)
        observer.has(change(**{setting: other}))
        shows(observer, GET, topic(**{setting: not other}), rule)
        refuses(observer, GET, topic(**{setting: other}), rule)


def test_a_subscription_keeps_whether_it_requires_sessions(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(update(requires_session=True), INVALID)
    observer.has(update(requires_session=True))
    shows(observer, get(), subscription(requires_session=False), "MGMT-13")
    refuses(observer, get(), subscription(requires_session=True), "MGMT-13")


def test_an_update_of_a_subscription_is_in_force_and_of_no_other(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    refuses(observer, update(lock_duration=SOON), GONE, "MGMT-12")
    observer.has(update(lock_duration=SOON))
    right = subscription(lock_duration=SOON, max_delivery_count=10)
    shows(observer, get(), right, "MGMT-12", "MGMT-17")
    refuses(observer, get("r"), subscription("r", lock_duration=SOON), "MGMT-12")
    observer.has(publish("m"))
    lock = received("m", 0, lock_token="k", locked_until=SOON)
    observer.has(v.Receive(queue=path("s")), lock)


@pytest.mark.parametrize("settings", [{"partitioned": False}, {"duplicate_detection": True}])
def test_setting_that_subscriptions_lack_may_be_refused(
    observer: Observer, settings: dict[str, bool]
) -> None:
    with_topic(observer, "s", "r")
    assert is_allowed(observer, update(**settings), INVALID)
    knows(observer, path("s"))
    observer.has(update(**settings))
    knows_nothing_of(observer, path("s"))
    knows(observer, path("r"))


def test_status_that_does_not_fit_the_kind_may_be_refused(observer: Observer) -> None:
    with_topic(observer, "s")
    for command, name in (
        (update(status=v.EntityStatus.SEND_DISABLED), path("s")),
        (change(status=v.EntityStatus.RECEIVE_DISABLED), "t"),
    ):
        observer.has(command, INVALID)
        knows(observer, name)
        assert is_allowed(observer, command, DONE)
        refused = with_topic(observing(readings={"ROLE-STATUS": "refused"}), "s")
        assert not is_allowed(refused, command, DONE)
        observer.saw(command, LOST)
        knows_nothing_of(observer, name)


def test_a_topics_time_to_live_is_in_force_for_what_comes(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("early"))
    observer.has(change(time_to_live=SOON))
    observer.has(publish("late"))
    shows(observer, GET, topic(time_to_live=SOON), "MGMT-12")
    refuses(observer, GET, topic(time_to_live=9 * SECOND), "MGMT-12")
    passes(observer, 6)
    assert "MGMT-12" in observer.saw(take(), received("late", 0)).rules
    observer.has(take(), received("early", 0))
    observer.has(take(), v.Empty())


@pytest.mark.parametrize(
    "before",
    [
        (publish("adrift"), LOST),
        (v.Schedule(queue="t", message=v.Message(body="m"), delay=SOON), v.Scheduled()),
        (change(partitioned=True), LOST),
    ],
)
def test_message_under_either_lifetime_is_not_judged(
    observer: Observer, before: tuple[object, v.Outcome]
) -> None:
    with_topic(observer, "s")
    observer.saw(*before)
    observer.has(change(time_to_live=SOON))
    knows_nothing_of(observer, "t")


def test_buffered_send_may_have_either_lifetime(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(v.BeginTransaction(transaction="x"))
    observer.has(publish("m", "x", partition_key="a"))
    observer.has(change(time_to_live=SOON))
    knows_nothing_of(observer, "t")


@pytest.mark.parametrize("command", [change(time_to_live=SOON), DELETE])
def test_unanswered_change_of_a_topic_stops_the_judging(
    observer: Observer, command: object
) -> None:
    with_topic(observer, "s")
    observer.saw(command, LOST)
    knows_nothing_of(observer, "t")


def test_an_update_that_names_nothing_may_be_lost(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.saw(change(), LOST)
    knows(observer, "t")


def test_an_update_is_in_force_although_a_redirection_waits(observer: Observer) -> None:
    observer.has(v.CreateQueue(queue="end"))
    with_topic(observer, "s")
    observer.has(v.BeginTransaction(transaction="x"))
    observer.has(publish("m", "x", partition_key="a"))
    observer.has(update(forward_to="end"))
    knows_nothing_of(observer, path("s"))


def test_a_subscription_begins_to_forward(observer: Observer) -> None:
    observer.has(v.CreateQueue(queue="end"))
    with_topic(observer, "s")
    observer.has(update(forward_to="end"))
    observer.has(publish("m"))
    end = v.Receive(queue="end", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    observer.has(end, received("m", 0))
    assert not is_allowed(observer, take(), received("m", 0))


# What a deletion takes along.


def test_a_deleted_topic_takes_its_subscriptions_along(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    observer.has(publish("m"), partition=2)
    observer.has(DELETE)
    refuses(observer, take(), received("m", 2), "TOPIC-22")
    for command in (take(), get(), update(lock_duration=SOON), part("r"), v.Peek(queue=path("r"))):
        shows(observer, command, MISSING, "TOPIC-22", "MGMT-15", "MGMT-10")
    shows(observer, publish("n"), MISSING, "MGMT-15")
    shows(observer, v.ListTopics(), listed(), "MGMT-16")


def test_a_topic_that_is_created_again_begins_without_subscriptions(observer: Observer) -> None:
    with_topic(observer, "s", duplicate_detection=True)
    observer.has(publish("m", message_id="x"), partition=2)
    observer.has(DELETE)
    refuses(observer, AGAIN, INVALID, "MGMT-15")
    observer.has(AGAIN)
    refuses(observer, LIST, listed("s"), "MGMT-16", "TOPIC-22")
    shows(observer, LIST, listed(), "TOPIC-22")
    shows(observer, take(), MISSING, "TOPIC-22")
    refuses(observer, subscribe(), EXISTS, "TOPIC-22")
    observer.has(subscribe())
    refuses(observer, take(), received("m", 2), "MGMT-15")
    shows(observer, take(), v.Empty(), "MGMT-15", "MGMT-17")
    observer.has(publish("n", message_id="x"))
    assert {"MGMT-15", "TOPIC-22"} <= set(observer.saw(take(), v.Empty()).rules)


def test_a_topic_that_is_created_again_may_have_the_other_option(observer: Observer) -> None:
    with_topic(observer)
    observer.has(DELETE)
    observer.has(v.CreateTopic(topic="t", partitioned=False))
    shows(observer, GET, topic(partitioned=False), "MGMT-03", "MGMT-05")
    refuses(observer, GET, topic(partitioned=True), "MGMT-03", "MGMT-05")


def test_a_deleted_subscription_leaves_the_others(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    observer.has(publish("m"), partition=2)
    refuses(observer, part("s"), GONE, "MGMT-15")
    observer.has(part("s"))
    shows(observer, take("s"), MISSING, "MGMT-15", "MGMT-10")
    assert "TOPIC-23" in observer.saw(take("r"), v.Empty()).rules
    assert "TOPIC-23" in observer.saw(publish("n"), GONE).rules
    observer.has(publish("n"))
    shows(observer, take("r"), received("m", 2), "TOPIC-23")
    shows(observer, take("r"), received("n", 0), "TOPIC-23")
    shows(observer, LIST, listed("r"), "MGMT-16")


def test_a_subscription_that_is_created_again_begins_empty(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("m"), partition=2)
    observer.has(v.Receive(queue=path("s")), received("m", 2, lock_token="k"))
    observer.has(part())
    refuses(observer, subscribe(), EXISTS, "MGMT-15")
    observer.has(subscribe())
    assert not is_allowed(observer, v.Complete(queue=path("s"), lock_token="k"), DONE)
    shows(observer, take(), v.Empty(), "MGMT-15")
    observer.has(publish("n"))
    observer.has(take(), received("n", 0))


def test_buffered_send_for_a_deleted_subscription_is_not_judged(observer: Observer) -> None:
    with_topic(observer, "s", "r")
    observer.has(v.BeginTransaction(transaction="x"))
    observer.has(publish("m", "x", partition_key="a"), partition=2)
    observer.has(part("s"))
    knows_nothing_of(observer, path("s"))
    observer.has(v.CommitTransaction(transaction="x"))
    observer.has(take("r"), received("m", 2, partition_key="a"))


@pytest.mark.parametrize("command", [DELETE, part("s")])
def test_buffered_rule_of_a_deleted_subscription_is_not_judged(
    observer: Observer, command: object
) -> None:
    with_topic(observer, "s", partitioned=False)
    observer.has(v.BeginTransaction(transaction="x"))
    rule = v.AddRule(topic="t", subscription="s", rule="a", filter=v.TrueFilter(), transaction="x")
    observer.has(rule)
    observer.has(command)
    knows_nothing_of(observer, path("s"))
    observer.has(v.CommitTransaction(transaction="x"))


def test_a_request_without_answer_may_reach_a_later_subscription(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.saw(take(), LOST)
    observer.has(part())
    observer.has(subscribe())
    knows_nothing_of(observer, path("s"))


def test_entities_linked_to_a_deleted_topic_are_not_judged(observer: Observer) -> None:
    observer.has(v.CreateQueue(queue="end"))
    with_topic(observer)
    observer.has(subscribe(forward_to="end"))
    observer.has(DELETE)
    knows_nothing_of(observer, "t")
    knows_nothing_of(observer, "end")


# Statuses.


@pytest.mark.parametrize("status", [v.EntityStatus.DISABLED, v.EntityStatus.SEND_DISABLED])
def test_a_disabled_topic_takes_nothing_and_its_subscriptions_give(
    observer: Observer, status: v.EntityStatus
) -> None:
    with_topic(observer, "s")
    observer.has(publish("m"))
    observer.has(change(status=status))
    refuses(observer, publish("n"), DONE, "MGMT-26")
    shows(observer, publish("n"), DISABLED, "MGMT-26")
    assert "TOPIC-26" in observer.saw(take(), DISABLED).rules
    assert is_allowed(observer, GET, topic(subscription_count=1))
    shows(observer, take(), received("m", 0), "TOPIC-26")
    observer.has(change(status=v.EntityStatus.ACTIVE))
    observer.has(publish("o"))
    after = observer.saw(take(), received("o", 1))
    assert after.possible
    assert "TOPIC-26" not in after.rules


def test_a_subscription_that_is_closed_to_receivers_has_its_copies(observer: Observer) -> None:
    with_topic(observer, "s")
    observer.has(publish("early"))
    observer.has(update(status=v.EntityStatus.RECEIVE_DISABLED))
    observer.has(publish("late"))
    assert "MGMT-27" in observer.saw(take(), received("early", 0)).rules
    shows(observer, take(), DISABLED, "MGMT-27")
    observer.has(update(status=v.EntityStatus.ACTIVE))
    observer.has(take(), received("early", 0))
    assert "TOPIC-25" in observer.saw(take(), v.Empty()).rules
    shows(observer, take(), received("late", 1), "TOPIC-25")


@pytest.mark.parametrize(
    ("reading", "answers"),
    [("either", (True, True)), ("collected", (True, False)), ("missed", (False, True))],
)
def test_a_disabled_subscription_has_copies_or_has_none(
    reading: str, answers: tuple[bool, bool]
) -> None:
    observer = with_topic(observing(readings={"DISABLED-COPIES": reading}), "s")
    observer.has(update(status=v.EntityStatus.DISABLED))
    observer.has(publish("m"))
    observer.has(update(status=v.EntityStatus.ACTIVE))
    assert is_allowed(observer, take(), received("m", 0)) is answers[0]
    assert is_allowed(observer, take(), v.Empty()) is answers[1]


def test_late_message_may_reach_a_subscription_that_was_disabled() -> None:
    observer = with_topic(observing(readings={"DISABLED-COPIES": "missed"}), "s")
    observer.has(update(status=v.EntityStatus.DISABLED))
    observer.saw(publish("m"), LOST)
    observer.has(update(status=v.EntityStatus.ACTIVE))
    assert is_allowed(observer, take(), received("m", 0))
    assert is_allowed(observer, take(), v.Empty())


def test_message_scheduled_for_a_disabled_subscription_is_not_judged(
    observer: Observer,
) -> None:
    with_topic(observer, "s")
    observer.has(v.Schedule(queue="t", message=v.Message(body="m"), delay=SOON), v.Scheduled())
    observer.has(update(status=v.EntityStatus.RECEIVE_DISABLED))
    knows_nothing_of(observer, path("s"))


def test_disabled_topic_with_a_forwarding_source_is_not_judged(
    observer: Observer,
) -> None:
    with_topic(observer, "s")
    observer.has(v.CreateQueue(queue="q", forward_to="t"))
    observer.has(change(status=v.EntityStatus.DISABLED))
    knows_nothing_of(observer, "t")
