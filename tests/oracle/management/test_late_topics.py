"""Requests on topics, subscriptions and rules that were never answered, and take effect late."""

import pytest
from managed_queues import CREATE, DELETE, RECEIVE, SENT, SUBSCRIPTION, TAKEN
from observing import (
    DONE,
    GONE,
    LOST,
    MISSING,
    OTHER,
    Observer,
    down,
    knows,
    knows_nothing_of,
    observing,
    received,
)

from busproof.vocabulary.commands import (
    AddRule,
    BeginTransaction,
    BringPartitionUp,
    CommitTransaction,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Creation,
    DeleteQueue,
    GetQueue,
    ListRules,
    Receive,
    RemoveRule,
    RestoreQueue,
    Schedule,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import (
    Described,
    Empty,
    Outcome,
    QueueDescription,
    Refused,
    RulesListed,
    Scheduled,
)
from busproof.vocabulary.subscription_rules import DEFAULT_RULE, TrueFilter
from busproof.vocabulary.values import Error


def test_send_before_the_topic_exists_may_arrive_late(observer: Observer) -> None:
    observer.has(Send(queue="t", message=SENT), LOST)
    observer.has(CreateTopic(topic="t"))
    observer.has(CreateSubscription(topic="t", subscription="s"))
    observer.has(Receive(queue=SUBSCRIPTION), received("sent"))


def test_a_change_of_rules_before_there_is_a_subscription_may_come_late(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t"))
    add = AddRule(topic="t", subscription="s", rule="r", filter=TrueFilter())
    observer.has(add, LOST)
    observer.has(CreateSubscription(topic="t", subscription="s"))
    observer.has(add, TAKEN)
    observer.has(add, DONE)


def test_early_request_on_a_topic_or_subscription_may_take_effect_late(
    observer: Observer,
) -> None:
    subscribe = CreateSubscription(topic="t", subscription="s")
    observer.has(CreateTopic(topic="t"))
    observer.has(subscribe, LOST)
    observer.has(Receive(queue=SUBSCRIPTION), LOST)
    observer.has(subscribe)
    knows_nothing_of(observer, SUBSCRIPTION)
    observer = observing()
    observer.has(CreateTopic(topic="t"), LOST)
    observer.has(Send(queue="t", message=SENT), LOST)
    observer.has(CreateTopic(topic="t"))
    observer.has(subscribe)
    observer.has(Receive(queue=SUBSCRIPTION), received("sent"))


def test_a_subscription_may_come_once_there_is_what_it_forwards_to(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t"))
    observer.has(CreateSubscription(topic="t", subscription="s", forward_to="q"), LOST)
    observer.queue()
    observer.has(CreateSubscription(topic="t", subscription="s"), TAKEN)
    observer.has(Send(queue="t", message=SENT))
    observer.has(RECEIVE, received("sent"))


def test_queue_with_a_missing_destination_does_not_exist_yet(observer: Observer) -> None:
    observer.has(CreateQueue(queue="p", forward_to=SUBSCRIPTION), LOST)
    observer.has(CreateTopic(topic="t"))
    knows(observer, "p")
    observer.has(CreateSubscription(topic="t", subscription="s"))
    knows_nothing_of(observer, "p")


def test_a_creation_refused_in_an_outage_may_leave_what_forwards_to_such_a_name(
    observer: Observer,
) -> None:
    observer.queue()
    observer.has(DELETE, LOST)
    observer.has(CreateQueue(queue="p", forward_to="q"), GONE)
    knows_nothing_of(observer, "p")


@pytest.mark.parametrize("outcome", [DONE, OTHER])
def test_a_transaction_is_in_doubt_once_a_queue_of_it_may_be_deleted(
    observer: Observer, outcome: object
) -> None:
    observer.queue()
    observer.has(BeginTransaction(transaction="t"))
    observer.send(transaction="t", partition_key="a")
    observer.has(DELETE, LOST)
    observer.has(CommitTransaction(transaction="t"), outcome)


@pytest.mark.parametrize("outcome", [DONE, OTHER])
def test_a_send_to_no_queue_may_end_its_transaction(observer: Observer, outcome: object) -> None:
    observer.has(BeginTransaction(transaction="t"))
    observer.send(MISSING, transaction="t", partition_key="a")
    observer.has(CommitTransaction(transaction="t"), outcome)


@pytest.mark.parametrize("outcome", [DONE, OTHER])
def test_a_lost_send_to_no_queue_may_end_its_transaction(
    observer: Observer, outcome: object
) -> None:
    observer.has(BeginTransaction(transaction="t"))
    observer.send(LOST, transaction="t", partition_key="a")
    observer.has(CommitTransaction(transaction="t"), outcome)


def test_a_late_commit_may_take_what_was_sent_after_it(observer: Observer) -> None:
    schedule = Schedule(queue="q", message=SENT, delay=5, transaction="t")
    for command, outcome in ((None, DONE), (schedule, Scheduled(sequence_number=1))):
        observer = observing()
        observer.queue()
        observer.has(BeginTransaction(transaction="t"))
        observer.has(CommitTransaction(transaction="t"), LOST)
        if command is None:
            observer.send(transaction="t", partition_key="a")
        else:
            observer.has(command, outcome)
        knows_nothing_of(observer, "q")


def test_partitions_that_what_may_be_there_has_not_may_be_down(observer: Observer) -> None:
    observer.has(down(2))
    observer.has(CreateQueue(queue="q", partitioned=False), LOST)
    observer.has(CREATE, GONE)
    partitioned = Described(description=QueueDescription(queue="q", partitioned=True))
    observer.has(GetQueue(queue="q"), partitioned)


@pytest.mark.parametrize("answer", [DONE, LOST])
def test_a_late_commit_may_change_a_rule_that_was_asked_for_after_it(
    observer: Observer, answer: Outcome
) -> None:
    observer.has(CreateTopic(topic="t", partitioned=False))
    observer.has(CreateSubscription(topic="t", subscription="s"))
    observer.has(BeginTransaction(transaction="x"))
    observer.has(CommitTransaction(transaction="x"), LOST)
    observer.has(
        RemoveRule(topic="t", subscription="s", rule=DEFAULT_RULE, transaction="x"), answer
    )
    observer.has(Send(queue="t", message=SENT))
    observer.has(Receive(queue=SUBSCRIPTION), Empty())
    observer.has(ListRules(topic="t", subscription="s"), RulesListed())


def test_rules_that_change_after_a_lost_commit_may_decide_what_it_brings(
    observer: Observer,
) -> None:
    observer.has(CreateTopic(topic="t"))
    observer.has(CreateSubscription(topic="t", subscription="s"))
    observer.has(RemoveRule(topic="t", subscription="s", rule=DEFAULT_RULE))
    observer.has(BeginTransaction(transaction="x"))
    message = Message(body="sent", partition_key="a")
    observer.has(Send(queue="t", message=message, transaction="x"))
    observer.has(CommitTransaction(transaction="x"), LOST)
    observer.has(AddRule(topic="t", subscription="s", rule="r", filter=TrueFilter()))
    brought = observer.saw(Receive(queue=SUBSCRIPTION), received("sent", partition_key="a"))
    assert brought.possible
    assert not {rule for rule in brought.rules if rule.startswith(("FILTER", "FEAT-01", "FEAT-02"))}


def with_topic(**fields: object) -> Observer:
    found = observing(**fields)
    found.has(CreateTopic(topic="t"))
    return found


@pytest.mark.parametrize("before", [(), (CreateSubscription(topic="t", subscription="s"),)])
@pytest.mark.parametrize(
    "creation",
    [
        CreateQueue(queue=SUBSCRIPTION),
        RestoreQueue(queue=SUBSCRIPTION),
        CreateTopic(topic=SUBSCRIPTION),
    ],
)
@pytest.mark.parametrize("outcome", [DONE, LOST])
def test_creation_under_the_name_of_a_subscription_stops_the_judging(
    before: tuple[CreateSubscription, ...], creation: Creation, outcome: Outcome
) -> None:
    """The subscription may be there, its creation having been lost, or not."""
    observer = with_topic()
    for each in before:
        observer.has(each, LOST)
    observer.has(creation, outcome)
    observer.has(Send(queue="t", message=SENT))
    knows_nothing_of(observer, SUBSCRIPTION)


@pytest.mark.parametrize("requires_session", [False, True])
def test_creation_without_an_answer_may_come_after_the_deletion_of_a_subscription(
    requires_session: bool,
) -> None:
    """It was sent while the subscription was there, and makes another one when that is gone."""
    observer = with_topic()
    creation = CreateSubscription(topic="t", subscription="s", requires_session=requires_session)
    observer.has(creation)
    observer.has(CreateSubscription(topic="t", subscription="s"), LOST)
    observer.has(DeleteQueue(queue=SUBSCRIPTION))
    observer.has(Send(queue="t", message=SENT))
    knows_nothing_of(observer, SUBSCRIPTION)


def test_a_queue_that_may_not_have_the_name_of_a_subscription_changes_nothing() -> None:
    observer = with_topic()
    observer.has(CreateSubscription(topic="t", subscription="s"))
    observer.has(CreateQueue(queue=SUBSCRIPTION), Refused(error=Error.INVALID_OPERATION))
    observer.has(Send(queue="t", message=SENT))
    assert not observer.saw(Receive(queue=SUBSCRIPTION), Empty()).possible
    observer.has(Receive(queue=SUBSCRIPTION), received("sent"))


def test_in_an_outage_even_its_refusal_may_have_left_something() -> None:
    observer = with_topic()
    observer.has(TakePartitionDown(queue="t", partition=0))
    observer.has(CreateQueue(queue=SUBSCRIPTION), Refused(error=Error.UNAVAILABLE))
    observer.has(BringPartitionUp(queue="t", partition=0))
    knows_nothing_of(observer, SUBSCRIPTION)


def test_a_queue_may_have_had_the_name_before_there_was_the_topic() -> None:
    observer = observing()
    observer.has(CreateQueue(queue=SUBSCRIPTION))
    observer.has(CreateTopic(topic="t"))
    subscription = CreateSubscription(topic="t", subscription="s")
    assert observer.saw(subscription, TAKEN).possible
    observer.has(subscription)
    knows_nothing_of(observer, SUBSCRIPTION)


def test_a_lost_change_of_a_rule_changes_no_queue() -> None:
    observer = observing()
    observer.has(CreateQueue(queue=SUBSCRIPTION))
    observer.has(AddRule(topic="t", subscription="s", rule="r", filter=TrueFilter()), LOST)
    observer.has(Send(queue=SUBSCRIPTION, message=SENT))
    assert not observer.saw(Receive(queue=SUBSCRIPTION), Empty()).possible
    observer.has(Receive(queue=SUBSCRIPTION), received("sent"))


def test_topic_that_shares_a_doubtful_name_is_not_judged() -> None:
    observer = observing()
    observer.has(CreateQueue(queue="t"), LOST)
    observer.has(CreateTopic(topic="t"))
    knows_nothing_of(observer, "t")


def test_a_topic_that_was_refused_in_an_outage_may_be_there_in_part() -> None:
    observer = observing()
    observer.has(TakePartitionDown(queue="t", partition=0))
    observer.has(CreateTopic(topic="t"), Refused(error=Error.UNAVAILABLE))
    observer.has(BringPartitionUp(queue="t", partition=0))
    knows_nothing_of(observer, "t")
