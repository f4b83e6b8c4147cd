"""TOPIC-22 to TOPIC-26 and what MGMT says of every entity: topics and subscriptions as a whole."""

import pytest
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

from busproof.model.choosing import decided
from busproof.model.commands import (
    AddRule,
    BeginTransaction,
    BringPartitionUp,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    DeleteTopic,
    GetQueue,
    GetTopic,
    ListQueues,
    ListSubscriptions,
    ListTopics,
    Peek,
    Receive,
    Schedule,
    Send,
    TakePartitionDown,
    UpdateQueue,
    UpdateTopic,
)
from busproof.model.filters import TrueFilter
from busproof.model.outcomes import (
    Described,
    Empty,
    Listed,
    Outcome,
    Peeked,
    QueueDescription,
    Refused,
    Scheduled,
    TopicDescribed,
    TopicDescription,
)
from busproof.model.state import Namespace, fresh_namespace
from busproof.model.step import step
from busproof.model.values import (
    Availability,
    EntityStatus,
    Error,
    Message,
    Profile,
    ReceiveMode,
    Tier,
    Vantage,
)

EXISTS = Refused(error=Error.ALREADY_EXISTS)
DISABLED = Refused(error=Error.ENTITY_DISABLED)
GET = GetTopic(topic="t")
DELETE = DeleteTopic(topic="t")
LIST = ListSubscriptions(topic="t")
AGAIN = CreateTopic(topic="t")
SOON = 5 * SECOND


def path(name: str) -> str:
    return f"t/subscriptions/{name}"


def subscribe(name: str = "s", **settings: object) -> CreateSubscription:
    return CreateSubscription(topic="t", subscription=name, **settings)


def publish(body: str, transaction: str | None = None, **properties: object) -> Send:
    return Send(queue="t", message=Message(body=body, **properties), transaction=transaction)


def take(name: str = "s") -> Receive:
    return Receive(queue=path(name), mode=ReceiveMode.RECEIVE_AND_DELETE)


def part(name: str = "s") -> DeleteQueue:
    return DeleteQueue(queue=path(name))


def change(**changes: object) -> UpdateTopic:
    return UpdateTopic(topic="t", **changes)


def update(name: str = "s", **changes: object) -> UpdateQueue:
    return UpdateQueue(queue=path(name), **changes)


def get(name: str = "s") -> GetQueue:
    return GetQueue(queue=path(name))


def topic(**told: object) -> TopicDescribed:
    return TopicDescribed(description=TopicDescription(topic="t", **told))


def subscription(name: str = "s", **told: object) -> Described:
    return Described(description=QueueDescription(queue=path(name), **told))


def listed(*names: str) -> Listed:
    return Listed(names=names)


def with_topic(told: Told, *subscriptions: str, **settings: object) -> Told:
    told.has(CreateTopic(topic="t", **settings))
    for name in subscriptions:
        told.has(subscribe(name))
    return told


def dark(told: Told, partition: int = 1) -> None:
    told.has(TakePartitionDown(queue="t", partition=partition))


def bright(told: Told, partition: int = 1) -> None:
    told.has(BringPartitionUp(queue="t", partition=partition))


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


def test_what_is_its_topics_is_not_looked_at_in_a_subscription(told: Told) -> None:
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


def test_what_a_subscription_passes_on_may_be_counted(told: Told) -> None:
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


def test_where_more_speaks_against_a_name_it_may_be_refused_for_that(told: Told) -> None:
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


def test_what_is_not_known_to_be_there_may_be_listed(told: Told) -> None:
    with_topic(told)
    told.saw(CreateTopic(topic="u"), LOST)
    for names in (("t",), ("t", "u")):
        assert is_allowed(told, ListTopics(), listed(*names))


@pytest.mark.parametrize("command", [GET, change(time_to_live=SOON), DELETE, LIST])
def test_what_is_no_topic_cannot_be_managed(told: Told, command: object) -> None:
    shows(told, command, MISSING, "MGMT-10")
    refuses(told, command, DONE, "MGMT-10")


@pytest.mark.parametrize("command", [get(), update(lock_duration=SOON), part(), take()])
def test_what_is_no_subscription_cannot_be_used(told: Told, command: object) -> None:
    with_topic(told)
    shows(told, command, MISSING, "MGMT-10")
    refuses(told, command, DONE, "MGMT-10")


@pytest.mark.parametrize(
    "command",
    [GetTopic(topic="q"), ListSubscriptions(topic="q"), GetTopic(topic="t/$deadletterqueue")],
)
def test_what_is_asked_of_the_wrong_kind_is_looked_at_by_nobody(
    told: Told, command: object
) -> None:
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
def test_what_a_subscription_has_not_may_be_refused_or_taken(
    told: Told, settings: dict[str, bool]
) -> None:
    with_topic(told, "s", "r")
    assert is_allowed(told, update(**settings), INVALID)
    knows(told, path("s"))
    told.has(update(**settings))
    knows_nothing_of(told, path("s"))
    knows(told, path("r"))


def test_what_has_no_such_status_may_be_refused_or_taken(told: Told) -> None:
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
def test_of_what_may_come_under_either_time_to_live_nothing_is_told(
    told: Told, before: tuple[object, Outcome]
) -> None:
    with_topic(told, "s")
    told.saw(*before)
    told.has(change(time_to_live=SOON))
    knows_nothing_of(told, "t")


def test_what_waits_in_a_transaction_may_come_under_either_time_to_live(told: Told) -> None:
    with_topic(told, "s")
    told.has(BeginTransaction(transaction="x"))
    told.has(publish("m", "x", partition_key="a"))
    told.has(change(time_to_live=SOON))
    knows_nothing_of(told, "t")


@pytest.mark.parametrize("command", [change(time_to_live=SOON), DELETE])
def test_of_a_change_that_was_never_answered_nothing_is_told(told: Told, command: object) -> None:
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


def test_what_waits_for_a_deleted_subscription_is_told_of_no_more(told: Told) -> None:
    with_topic(told, "s", "r")
    told.has(BeginTransaction(transaction="x"))
    told.has(publish("m", "x", partition_key="a"), partition=2)
    told.has(part("s"))
    knows_nothing_of(told, path("s"))
    told.has(CommitTransaction(transaction="x"))
    told.has(take("r"), received("m", 2, partition_key="a"))


@pytest.mark.parametrize("command", [DELETE, part("s")])
def test_of_rules_that_wait_for_a_deleted_subscription_nothing_is_told(
    told: Told, command: object
) -> None:
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


def test_what_is_joined_to_a_deleted_topic_is_told_of_no_more(told: Told) -> None:
    told.has(CreateQueue(queue="end"))
    with_topic(told)
    told.has(subscribe(forward_to="end"))
    told.has(DELETE)
    knows_nothing_of(told, "t")
    knows_nothing_of(told, "end")


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
def test_of_what_is_created_over_something_in_part_nothing_is_told(
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


def test_what_may_be_late_may_come_to_a_subscription_that_was_disabled() -> None:
    told = with_topic(telling(readings={"DISABLED-COPIES": "missed"}), "s")
    told.has(update(status=EntityStatus.DISABLED))
    told.saw(publish("m"), LOST)
    told.has(update(status=EntityStatus.ACTIVE))
    assert is_allowed(told, take(), received("m", 0))
    assert is_allowed(told, take(), Empty())


def test_of_what_is_scheduled_for_a_subscription_that_is_disabled_nothing_is_told(
    told: Told,
) -> None:
    with_topic(told, "s")
    told.has(Schedule(queue="t", message=Message(body="m"), delay=SOON), Scheduled())
    told.has(update(status=EntityStatus.RECEIVE_DISABLED))
    knows_nothing_of(told, path("s"))


def test_of_a_topic_that_something_forwards_to_nothing_is_told_once_it_is_disabled(
    told: Told,
) -> None:
    with_topic(told, "s")
    told.has(CreateQueue(queue="q", forward_to="t"))
    told.has(change(status=EntityStatus.DISABLED))
    knows_nothing_of(told, "t")


# A bus of its own.


def answers(namespace: Namespace, command: object) -> tuple[Outcome, Namespace]:
    first = step(namespace, command)[0]
    return first.outcome, first.next


def own(profile: Profile) -> Namespace:
    namespace = fresh_namespace(decided(profile), Vantage(decides=True))
    for command in (AGAIN, subscribe("s"), subscribe("r"), publish("m")):
        _, namespace = answers(namespace, command)
    return namespace


def test_a_bus_of_its_own_tells_lists_and_deletes() -> None:
    namespace = own(telling().possible[0].profile)
    described, _ = answers(namespace, GET)
    assert described == topic(
        partitioned=True,
        duplicate_detection=False,
        duplicate_window=600 * SECOND,
        subscription_count=2,
        availability=Availability.AVAILABLE,
    )
    outcome, _ = answers(namespace, get())
    assert isinstance(outcome, Described)
    assert outcome.description.partitioned is None
    assert outcome.description.message_count == 1
    assert answers(namespace, LIST)[0] == listed("r", "s")
    assert answers(namespace, update(status=EntityStatus.SEND_DISABLED))[0] == INVALID
    done, left = answers(namespace, DELETE)
    assert done == DONE
    assert not left.queues
    assert answers(left, take())[0] == MISSING
    assert answers(left, Peek(queue=path("s")))[0] != Peeked()
