"""Sessions, transactions, rules, management and outages of a real broker, asked over the wire."""

import pytest
from answers import error_of, message_of, send

from busproof.adapters.amqp.adapter import EmbeddedAdapter
from busproof.spec import load
from busproof.vocabulary.commands import (
    AcceptNextSession,
    AcceptSession,
    AddRule,
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    CloseSession,
    Command,
    CommitTransaction,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    DeleteTopic,
    GetQueue,
    GetSessionState,
    GetTopic,
    ListQueues,
    ListRules,
    ListSessions,
    ListSubscriptions,
    ListTopics,
    Peek,
    Receive,
    RemoveRule,
    RenewSessionLock,
    RestoreQueue,
    RollBackTransaction,
    Send,
    SetSessionState,
    TakePartitionDown,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import (
    Described,
    Done,
    Empty,
    Listed,
    Outcome,
    Refused,
    Renewed,
    RulesListed,
    SessionAccepted,
    SessionsListed,
    SessionState,
    TopicDescribed,
    TopicDescription,
)
from busproof.vocabulary.profile import profile_for
from busproof.vocabulary.subscription_rules import (
    CorrelationFilter,
    FalseFilter,
    SqlFilter,
    TrueFilter,
)
from busproof.vocabulary.values import MICROSECONDS, Error, ReceiveMode

from .conftest import Ask

pytestmark = pytest.mark.slow

FOR_GOOD = ReceiveMode.RECEIVE_AND_DELETE


def test_a_session_belongs_to_one_connection(ask: Ask) -> None:
    """Its messages, its state and its lock; another one gets what is said to it, not a message."""
    ask(CreateQueue(queue="q", requires_session=True))
    send(ask, session_id="s")
    assert error_of(ask(Receive(queue="q"))) is Error.INVALID_OPERATION
    assert error_of(ask(Receive(queue="q", session_id="s"))) is Error.SESSION_LOCK_LOST
    assert ask(AcceptSession(queue="q", session_id="s")) == Done()
    taken = ask(AcceptSession(queue="q", session_id="s"), "c2")
    assert error_of(taken) is Error.SESSION_CANNOT_BE_LOCKED
    assert ask(AcceptNextSession(queue="q"), "c2") == Empty()
    held = error_of(ask(Receive(queue="q", session_id="s"), "c2"))
    assert held is Error.SESSION_CANNOT_BE_LOCKED
    assert ask(SetSessionState(queue="q", session_id="s", state="state ж")) == Done()
    answer = ask(GetSessionState(queue="q", session_id="s"))
    assert answer == SessionState(state="state ж")
    assert message_of(ask(Receive(queue="q", session_id="s"))).session_id == "s"
    assert ask(ListSessions(queue="q")) == SessionsListed(session_ids=("s",))
    assert isinstance(ask(RenewSessionLock(queue="q", session_id="s")), Renewed)
    assert ask(CloseSession(queue="q", session_id="s")) == Done()
    assert ask(AcceptNextSession(queue="q"), "c2") == SessionAccepted(session_id="s")
    received = ask(Receive(queue="q", session_id="s", mode=FOR_GOOD), "c2")
    assert message_of(received).lock_token is None


def test_a_session_that_has_expired_is_accepted_again(ask: Ask) -> None:
    """By the same connection, beside the link that has lost it."""
    ask(CreateQueue(queue="q", requires_session=True))
    send(ask, session_id="s")
    ask(AcceptSession(queue="q", session_id="s"))
    ask(AdvanceClock(duration=61 * MICROSECONDS))
    assert ask(AcceptSession(queue="q", session_id="s")) == Done()
    assert message_of(ask(Receive(queue="q", session_id="s"))).body == "m1"
    assert isinstance(ask(RenewSessionLock(queue="q", session_id="s")), Renewed)
    ask(AdvanceClock(duration=61 * MICROSECONDS))
    lost = error_of(ask(Receive(queue="q", session_id="s")))
    assert lost is Error.SESSION_LOCK_LOST


def test_a_transaction_takes_effect_as_a_whole(ask: Ask, queue: str) -> None:
    """Whichever connection names it; a second key is refused, and what has ended is gone."""
    for name in ("kept", "given up"):
        assert ask(BeginTransaction(transaction=name)) == Done()
        staged = Message(body=name, partition_key="a")
        assert ask(Send(queue=queue, message=staged, transaction=name), "c2") == Done()
    stranger = Message(body="stranger", partition_key="b")
    refused = ask(Send(queue=queue, message=stranger, transaction="given up"))
    assert error_of(refused) is Error.INVALID_OPERATION
    assert ask(Receive(queue=queue)) == Empty()
    assert error_of(ask(BeginTransaction(transaction="kept"))) is Error.ALREADY_EXISTS
    assert ask(CommitTransaction(transaction="kept"), "c2") == Done()
    assert ask(RollBackTransaction(transaction="given up")) == Done()
    assert message_of(ask(Receive(queue=queue, mode=FOR_GOOD))).body == "kept"
    assert ask(Receive(queue=queue)) == Empty()
    for name in ("kept", "never begun"):
        assert error_of(ask(CommitTransaction(transaction=name))) is Error.NOT_FOUND


def test_rules_of_subscriptions_are_listed_as_they_were_added(ask: Ask) -> None:
    """Of every kind; what is removed is gone, and what a rule does not take does not come."""
    ask(CreateTopic(topic="t"))
    ask(CreateSubscription(topic="t", subscription="s"))
    filters = {
        "true": TrueFilter(),
        "false": FalseFilter(),
        "sql": SqlFilter(expression="a > 3"),
        "correlation": CorrelationFilter(subject="x", properties={"a": 1, "b": "c", "d": True}),
    }
    subscription = {"topic": "t", "subscription": "s"}
    for name, chosen in filters.items():
        assert ask(AddRule(**subscription, rule=name, filter=chosen)) == Done()
    listed = ask(ListRules(**subscription))
    assert isinstance(listed, RulesListed)
    filters_by_name = {rule.name: rule.filter for rule in listed.rules}
    assert filters_by_name == {"$Default": TrueFilter(), **filters}
    for name in ("$Default", "true"):
        assert ask(RemoveRule(**subscription, rule=name)) == Done()
    for body, properties in (("no", {"a": 2}), ("yes", {"a": 4})):
        ask(Send(queue="t", message=Message(body=body, properties=properties)))
    path = "t/subscriptions/s"
    assert message_of(ask(Receive(queue=path, mode=FOR_GOOD))).body == "yes"
    assert ask(Receive(queue=path)) == Empty()


def test_a_rule_of_a_transaction_that_is_rolled_back_is_not_there(broker: EmbeddedAdapter) -> None:
    """Where it is taken at all, which it is not for a partitioned topic."""
    broker.start(profile_for(load(), edition="fr-2016-09"))

    def ask(command: Command) -> Outcome:
        return broker.do(command, "c1").outcome

    for partitioned, allowed in ((False, Done | Refused), (True, Refused)):
        topic = "parted" if partitioned else "whole"
        ask(CreateTopic(topic=topic, partitioned=partitioned))
        ask(CreateSubscription(topic=topic, subscription="s"))
        ask(BeginTransaction(transaction=topic))
        rule = AddRule(
            topic=topic, subscription="s", rule="r", filter=TrueFilter(), transaction=topic
        )
        assert isinstance(ask(rule), allowed)
        ask(RollBackTransaction(transaction=topic))
        listed = ask(ListRules(topic=topic, subscription="s"))
        assert isinstance(listed, RulesListed)
        assert [each.name for each in listed.rules] == ["$Default"]


def test_queues_are_managed(ask: Ask, queue: str) -> None:
    """Described, listed, changed and deleted."""
    seconds = 30 * MICROSECONDS
    assert ask(UpdateQueue(queue=queue, lock_duration=seconds)) == Done()
    answer = ask(GetQueue(queue=queue))
    assert isinstance(answer, Described)
    assert (answer.description.partitioned, answer.description.lock_duration) == (True, seconds)
    assert error_of(ask(CreateQueue(queue=queue, max_delivery_count=3))) is Error.ALREADY_EXISTS
    assert ask(ListQueues()) == Listed(names=("q",))
    assert ask(DeleteQueue(queue=queue)) == Done()
    assert ask(ListQueues()) == Listed()
    for command in (
        GetQueue(queue=queue),
        Send(queue=queue, message=Message(body="m")),
        Receive(queue=queue),
        Peek(queue=queue),
    ):
        assert error_of(ask(command)) is Error.NOT_FOUND


def test_a_partition_that_is_down_takes_nothing(ask: Ask, queue: str) -> None:
    """Before the queue is there, too; one that the queue does not have is refused."""
    send(ask, partition_key="a")
    where = (message_of(ask(Receive(queue=queue))).sequence_number or 0) >> 48
    assert ask(TakePartitionDown(queue=queue, partition=where)) == Done()
    late = ask(Send(queue=queue, message=Message(body="m2", partition_key="a")))
    assert error_of(late) is Error.UNAVAILABLE
    assert ask(BringPartitionUp(queue=queue, partition=where)) == Done()
    assert ask(TakePartitionDown(queue="not yet there", partition=0)) == Done()
    assert isinstance(ask(TakePartitionDown(queue=queue, partition=99)), Refused)


def test_a_queue_may_be_there_from_before_premium(adapter: EmbeddedAdapter, ask: Ask) -> None:
    """It alone is partitioned there; there is one of a name."""
    adapter.start(profile_for(load(), tier="premium"))
    old = RestoreQueue(queue="old", requires_session=True, max_size=2)
    assert ask(old) == Done()
    assert ask(CreateQueue(queue="new")) == Done()
    answers = [ask(GetQueue(queue=name)) for name in ("old", "new")]
    assert all(isinstance(each, Described) for each in answers)
    assert [True, False] == [each.description.partitioned for each in answers]  # type: ignore[union-attr]
    assert error_of(ask(old)) is Error.ALREADY_EXISTS


def test_topics_and_subscriptions_are_described_listed_changed_and_deleted(ask: Ask) -> None:
    """Each by the kind that it is."""
    ask(CreateTopic(topic="managed", duplicate_detection=True))
    for name in ("s", "r"):
        ask(CreateSubscription(topic="managed", subscription=name))
    path = "managed/subscriptions/s"
    assert ask(ListSubscriptions(topic="managed")) == Listed(names=("r", "s"))
    listed = ask(ListTopics())
    assert isinstance(listed, Listed)
    assert "managed" in listed.names
    assert ask(UpdateTopic(topic="managed", time_to_live=20 * MICROSECONDS)) == Done()
    assert ask(UpdateQueue(queue=path, lock_duration=20 * MICROSECONDS)) == Done()
    answer = ask(GetTopic(topic="managed"))
    assert isinstance(answer, TopicDescribed)
    assert answer.description == TopicDescription(
        topic="managed",
        partitioned=True,
        duplicate_detection=True,
        duplicate_window=600 * MICROSECONDS,
        time_to_live=20 * MICROSECONDS,
        max_size=16,
        subscription_count=2,
        availability=Availability.AVAILABLE,
    )
    one = ask(GetQueue(queue=path))
    assert isinstance(one, Described)
    assert one.description.lock_duration == 20 * MICROSECONDS
    assert ask(DeleteQueue(queue=path)) == Done()
    assert ask(ListSubscriptions(topic="managed")) == Listed(names=("r",))
    assert ask(DeleteTopic(topic="managed")) == Done()
    assert error_of(ask(GetTopic(topic="managed"))) is Error.NOT_FOUND
    assert error_of(ask(GetQueue(queue="managed/subscriptions/r"))) is Error.NOT_FOUND


def test_a_namespace_begins_empty(adapter: EmbeddedAdapter, ask: Ask, queue: str) -> None:
    """Nothing of the last one is left, its clock included."""
    ask(AdvanceClock(duration=5 * MICROSECONDS))
    adapter.start(profile_for(load()))
    assert ask(ListQueues()) == Listed()
    ask(CreateQueue(queue=queue))
    send(ask)
    assert message_of(ask(Receive(queue=queue))).locked_until == 60 * MICROSECONDS
