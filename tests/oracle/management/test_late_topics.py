"""Requests on topics, subscriptions and rules that were never answered, and take effect late."""

import pytest
from telling import (
    DONE,
    GONE,
    LOST,
    MISSING,
    OTHER,
    Told,
    down,
    knows,
    knows_nothing_of,
    received,
    telling,
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

TAKEN = Refused(error=Error.ALREADY_EXISTS)
CREATE = CreateQueue(queue="q")
DELETE = DeleteQueue(queue="q")
RECEIVE = Receive(queue="q")
SUBSCRIPTION = "t/subscriptions/s"
SENT = Message(body="sent")


def test_send_before_the_topic_exists_may_arrive_late(told: Told) -> None:
    told.has(Send(queue="t", message=SENT), LOST)
    told.has(CreateTopic(topic="t"))
    told.has(CreateSubscription(topic="t", subscription="s"))
    told.has(Receive(queue=SUBSCRIPTION), received("sent"))


def test_a_change_of_rules_before_there_is_a_subscription_may_come_late(told: Told) -> None:
    told.has(CreateTopic(topic="t"))
    add = AddRule(topic="t", subscription="s", rule="r", filter=TrueFilter())
    told.has(add, LOST)
    told.has(CreateSubscription(topic="t", subscription="s"))
    told.has(add, TAKEN)
    told.has(add, DONE)


def test_early_request_on_a_topic_or_subscription_may_take_effect_late(
    told: Told,
) -> None:
    subscribe = CreateSubscription(topic="t", subscription="s")
    told.has(CreateTopic(topic="t"))
    told.has(subscribe, LOST)
    told.has(Receive(queue=SUBSCRIPTION), LOST)
    told.has(subscribe)
    knows_nothing_of(told, SUBSCRIPTION)
    told = telling()
    told.has(CreateTopic(topic="t"), LOST)
    told.has(Send(queue="t", message=SENT), LOST)
    told.has(CreateTopic(topic="t"))
    told.has(subscribe)
    told.has(Receive(queue=SUBSCRIPTION), received("sent"))


def test_a_subscription_may_come_once_there_is_what_it_forwards_to(told: Told) -> None:
    told.has(CreateTopic(topic="t"))
    told.has(CreateSubscription(topic="t", subscription="s", forward_to="q"), LOST)
    told.queue()
    told.has(CreateSubscription(topic="t", subscription="s"), TAKEN)
    told.has(Send(queue="t", message=SENT))
    told.has(RECEIVE, received("sent"))


def test_queue_with_a_missing_destination_does_not_exist_yet(told: Told) -> None:
    told.has(CreateQueue(queue="p", forward_to=SUBSCRIPTION), LOST)
    told.has(CreateTopic(topic="t"))
    knows(told, "p")
    told.has(CreateSubscription(topic="t", subscription="s"))
    knows_nothing_of(told, "p")


def test_a_creation_refused_in_an_outage_may_leave_what_forwards_to_such_a_name(
    told: Told,
) -> None:
    told.queue()
    told.has(DELETE, LOST)
    told.has(CreateQueue(queue="p", forward_to="q"), GONE)
    knows_nothing_of(told, "p")


@pytest.mark.parametrize("outcome", [DONE, OTHER])
def test_a_transaction_is_in_doubt_once_a_queue_of_it_may_be_deleted(
    told: Told, outcome: object
) -> None:
    told.queue()
    told.has(BeginTransaction(transaction="t"))
    told.send(transaction="t", partition_key="a")
    told.has(DELETE, LOST)
    told.has(CommitTransaction(transaction="t"), outcome)


@pytest.mark.parametrize("outcome", [DONE, OTHER])
def test_a_send_to_no_queue_may_end_its_transaction(told: Told, outcome: object) -> None:
    told.has(BeginTransaction(transaction="t"))
    told.send(MISSING, transaction="t", partition_key="a")
    told.has(CommitTransaction(transaction="t"), outcome)


@pytest.mark.parametrize("outcome", [DONE, OTHER])
def test_a_lost_send_to_no_queue_may_end_its_transaction(told: Told, outcome: object) -> None:
    told.has(BeginTransaction(transaction="t"))
    told.send(LOST, transaction="t", partition_key="a")
    told.has(CommitTransaction(transaction="t"), outcome)


def test_a_late_commit_may_take_what_was_sent_after_it(told: Told) -> None:
    schedule = Schedule(queue="q", message=SENT, delay=5, transaction="t")
    for command, outcome in ((None, DONE), (schedule, Scheduled(sequence_number=1))):
        told = telling()
        told.queue()
        told.has(BeginTransaction(transaction="t"))
        told.has(CommitTransaction(transaction="t"), LOST)
        if command is None:
            told.send(transaction="t", partition_key="a")
        else:
            told.has(command, outcome)
        knows_nothing_of(told, "q")


def test_partitions_that_what_may_be_there_has_not_may_be_down(told: Told) -> None:
    told.has(down(2))
    told.has(CreateQueue(queue="q", partitioned=False), LOST)
    told.has(CREATE, GONE)
    partitioned = Described(description=QueueDescription(queue="q", partitioned=True))
    told.has(GetQueue(queue="q"), partitioned)


@pytest.mark.parametrize("answer", [DONE, LOST])
def test_a_late_commit_may_change_a_rule_that_was_asked_for_after_it(
    told: Told, answer: Outcome
) -> None:
    told.has(CreateTopic(topic="t", partitioned=False))
    told.has(CreateSubscription(topic="t", subscription="s"))
    told.has(BeginTransaction(transaction="x"))
    told.has(CommitTransaction(transaction="x"), LOST)
    told.has(RemoveRule(topic="t", subscription="s", rule=DEFAULT_RULE, transaction="x"), answer)
    told.has(Send(queue="t", message=SENT))
    told.has(Receive(queue=SUBSCRIPTION), Empty())
    told.has(ListRules(topic="t", subscription="s"), RulesListed())


def test_rules_that_change_after_a_lost_commit_may_decide_what_it_brings(told: Told) -> None:
    told.has(CreateTopic(topic="t"))
    told.has(CreateSubscription(topic="t", subscription="s"))
    told.has(RemoveRule(topic="t", subscription="s", rule=DEFAULT_RULE))
    told.has(BeginTransaction(transaction="x"))
    message = Message(body="sent", partition_key="a")
    told.has(Send(queue="t", message=message, transaction="x"))
    told.has(CommitTransaction(transaction="x"), LOST)
    told.has(AddRule(topic="t", subscription="s", rule="r", filter=TrueFilter()))
    brought = told.saw(Receive(queue=SUBSCRIPTION), received("sent", partition_key="a"))
    assert brought.possible
    assert not {rule for rule in brought.rules if rule.startswith(("FILTER", "FEAT-01", "FEAT-02"))}


def with_topic(**told: object) -> Told:
    found = telling(**told)
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
    told = with_topic()
    for each in before:
        told.has(each, LOST)
    told.has(creation, outcome)
    told.has(Send(queue="t", message=SENT))
    knows_nothing_of(told, SUBSCRIPTION)


def test_a_queue_that_may_not_have_the_name_of_a_subscription_changes_nothing() -> None:
    told = with_topic()
    told.has(CreateSubscription(topic="t", subscription="s"))
    told.has(CreateQueue(queue=SUBSCRIPTION), Refused(error=Error.INVALID_OPERATION))
    told.has(Send(queue="t", message=SENT))
    assert not told.saw(Receive(queue=SUBSCRIPTION), Empty()).possible
    told.has(Receive(queue=SUBSCRIPTION), received("sent"))


def test_in_an_outage_even_its_refusal_may_have_left_something() -> None:
    told = with_topic()
    told.has(TakePartitionDown(queue="t", partition=0))
    told.has(CreateQueue(queue=SUBSCRIPTION), Refused(error=Error.UNAVAILABLE))
    told.has(BringPartitionUp(queue="t", partition=0))
    knows_nothing_of(told, SUBSCRIPTION)


def test_a_queue_may_have_had_the_name_before_there_was_the_topic() -> None:
    told = telling()
    told.has(CreateQueue(queue=SUBSCRIPTION))
    told.has(CreateTopic(topic="t"))
    subscription = CreateSubscription(topic="t", subscription="s")
    assert told.saw(subscription, TAKEN).possible
    told.has(subscription)
    knows_nothing_of(told, SUBSCRIPTION)


def test_a_lost_change_of_a_rule_changes_no_queue() -> None:
    told = telling()
    told.has(CreateQueue(queue=SUBSCRIPTION))
    told.has(AddRule(topic="t", subscription="s", rule="r", filter=TrueFilter()), LOST)
    told.has(Send(queue=SUBSCRIPTION, message=SENT))
    assert not told.saw(Receive(queue=SUBSCRIPTION), Empty()).possible
    told.has(Receive(queue=SUBSCRIPTION), received("sent"))


def test_topic_that_shares_a_doubtful_name_is_not_judged() -> None:
    told = telling()
    told.has(CreateQueue(queue="t"), LOST)
    told.has(CreateTopic(topic="t"))
    knows_nothing_of(told, "t")


def test_a_topic_that_was_refused_in_an_outage_may_be_there_in_part() -> None:
    told = telling()
    told.has(TakePartitionDown(queue="t", partition=0))
    told.has(CreateTopic(topic="t"), Refused(error=Error.UNAVAILABLE))
    told.has(BringPartitionUp(queue="t", partition=0))
    knows_nothing_of(told, "t")
