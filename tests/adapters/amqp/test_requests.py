"""Each request of the vocabulary crosses the wire to a real broker, and its answer comes back."""

import attrs
import pytest

from busproof.adapters.amqp.adapter import EmbeddedAdapter
from busproof.adapters.amqp.messages import decoded, encoded
from busproof.spec import load
from busproof.vocabulary.commands import (
    Abandon,
    AcceptNextSession,
    AcceptSession,
    AddRule,
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    CancelScheduled,
    CloseSession,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeadLetter,
    Defer,
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
    ReceiveDeferred,
    RemoveRule,
    RenewLock,
    RenewSessionLock,
    RestoreQueue,
    RollBackTransaction,
    Schedule,
    Send,
    SetSessionState,
    TakePartitionDown,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.messages import Message, MessageState, MessageView
from busproof.vocabulary.outcomes import (
    Described,
    Done,
    Empty,
    Listed,
    Outcome,
    Peeked,
    Received,
    ReceivedSeveral,
    Refused,
    Renewed,
    RulesListed,
    Scheduled,
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

DEAD = "q/$deadletterqueue"
FOR_GOOD = ReceiveMode.RECEIVE_AND_DELETE


def message_of(outcome: Outcome) -> MessageView:
    assert isinstance(outcome, Received), outcome
    return outcome.message


def error_of(outcome: Outcome) -> Error:
    assert isinstance(outcome, Refused), outcome
    return outcome.error


@pytest.fixture
def queue(ask: Ask) -> str:
    """A partitioned queue."""
    assert ask(CreateQueue(queue="q")) == Done()
    return "q"


def send(ask: Ask, **said: object) -> None:
    given = {"body": "m1", **said}
    assert ask(Send(queue="q", message=Message(**given))) == Done()  # type: ignore[arg-type]


def test_a_message_comes_back_as_it_was_sent(ask: Ask, queue: str) -> None:
    """Every property of it; what was not set is not there."""
    whole = Message(
        body="text of any script: ж 漢 \N{PILE OF POO}",
        message_id="id",
        partition_key="key",
        correlation_id="correlation",
        to="to",
        reply_to="reply",
        subject="label",
        reply_to_session_id="session",
        content_type="text/plain",
        properties={"text": "a", "number": 2**40, "real": 0.5, "truth": True, "small": -3},
    )
    ask(Send(queue=queue, message=whole))
    ask(Send(queue=queue, message=Message(body="bare")))
    given = [message_of(ask(Receive(queue=queue, mode=FOR_GOOD))) for _ in range(2)]
    # They have no key in common, and so no order.
    for view, sent in zip(sorted(given, key=_body), (Message(body="bare"), whole), strict=True):
        names = [field.name for field in attrs.fields(Message) if field.name != "stands_in"]
        carried = {name: getattr(view, name) for name in names}
        assert carried == {name: getattr(sent, name) for name in names}


def _body(view: MessageView) -> str:
    return view.body


@pytest.mark.parametrize(("counted", "most"), [(True, 200), (False, 101_000)])
def test_a_message_is_padded_to_its_size_unless_that_is_counted(counted: bool, most: int) -> None:
    """And its text comes back without that."""
    raw = encoded(Message(body="m1", size=100_000), counted=counted)
    view = decoded(raw)
    assert (view.body, view.size) == ("m1", 100_000)
    assert most - 1_000 < len(raw) < most


@pytest.mark.parametrize("later", [False, True], ids=["sent", "scheduled"])
def test_our_own_broker_takes_a_size_at_its_word(ask: Ask, later: bool) -> None:
    """Ten messages that cross the wire in no time fill a GB, the eleventh does not fit."""
    ask(CreateQueue(queue="q", partitioned=False))
    answers = []
    for number in range(11):
        message = Message(body=f"m{number}", size=100_000_000, stands_in=True)
        answers.append(
            ask(Schedule(queue="q", message=message, delay=60 * MICROSECONDS))
            if later
            else ask(Send(queue="q", message=message))
        )
    assert not any(isinstance(each, Refused) for each in answers[:10])
    assert error_of(answers[10]) is Error.QUOTA_EXCEEDED
    too_large = Send(queue="q", message=Message(body="m", size=100_000_001))
    assert error_of(ask(too_large)) is Error.MESSAGE_TOO_LARGE


def test_the_partition_that_took_a_message_is_reported(adapter: EmbeddedAdapter, ask: Ask) -> None:
    """By the broker at once, and by the number of the message later."""
    ask(CreateQueue(queue="q"))
    witnesses = []
    for name in ("a", "b", "c"):
        observed = adapter.do(Send(queue="q", message=Message(body=name)), "c1")
        assert observed.witness is not None
        witnesses.append((name, observed.witness.partition))
    seen = []
    for _ in witnesses:
        view = message_of(ask(Receive(queue="q")))
        assert view.sequence_number is not None
        seen.append((view.body, view.sequence_number >> 48))
    assert sorted(seen) == witnesses
    assert len({partition for _, partition in witnesses}) == 3


@pytest.mark.parametrize("connection", ["c1", "c2"])
def test_a_locked_message_is_settled_once(ask: Ask, queue: str, connection: str) -> None:
    """On the link on which it came, or by request from another connection."""
    send(ask)
    token = message_of(ask(Receive(queue=queue))).lock_token or ""
    assert ask(Complete(queue=queue, lock_token=token), connection) == Done()
    assert error_of(ask(Complete(queue=queue, lock_token=token), connection)) is Error.LOCK_LOST
    assert ask(Receive(queue=queue)) == Empty()


def test_a_refused_settlement_keeps_no_receive_from_its_answer(ask: Ask, queue: str) -> None:
    """The broker once forgot to answer a drain while it still held the delivery."""
    send(ask)
    token = message_of(ask(Receive(queue=queue))).lock_token or ""
    ask(AdvanceClock(duration=61 * MICROSECONDS))
    assert error_of(ask(Complete(queue=queue, lock_token=token))) is Error.LOCK_LOST
    token = message_of(ask(Receive(queue=queue))).lock_token or ""
    assert ask(Complete(queue=queue, lock_token=token)) == Done()
    assert ask(Receive(queue=queue)) == Empty()


@pytest.mark.parametrize("connection", ["c1", "c2"])
def test_an_abandoned_message_comes_again(ask: Ask, queue: str, connection: str) -> None:
    """And the answer has its delivery count."""
    send(ask)
    first = message_of(ask(Receive(queue=queue)))
    assert ask(Receive(queue=queue)) == Empty()
    ask(Abandon(queue=queue, lock_token=first.lock_token or ""), connection)
    again = message_of(ask(Receive(queue=queue)))
    assert (first.delivery_count, again.delivery_count) == (1, 2)
    assert first.sequence_number == again.sequence_number


@pytest.mark.parametrize("connection", ["c1", "c2"])
def test_a_dead_letter_shows_why(ask: Ask, queue: str, connection: str) -> None:
    """The reason is no property of the application's."""
    send(ask, properties={"a": 1})
    token = message_of(ask(Receive(queue=queue))).lock_token or ""
    ask(DeadLetter(queue=queue, lock_token=token, reason="no good"), connection)
    dead = message_of(ask(Receive(queue=DEAD)))
    assert (dead.dead_letter_reason, dict(dead.properties)) == ("no good", {"a": 1})
    assert error_of(ask(Send(queue=DEAD, message=Message(body="m")))) is Error.INVALID_OPERATION


def test_a_deferred_message_is_received_by_its_number(ask: Ask, queue: str) -> None:
    """Not otherwise; it is peeked meanwhile, and settled by request."""
    send(ask)
    view = message_of(ask(Receive(queue=queue)))
    assert ask(Defer(queue=queue, lock_token=view.lock_token or "")) == Done()
    assert ask(Receive(queue=queue)) == Empty()
    peeked = ask(Peek(queue=queue, count=3))
    assert isinstance(peeked, Peeked)
    assert [each.state for each in peeked.messages] == [MessageState.DEFERRED]
    numbers = (view.sequence_number or 0,)
    came = ask(ReceiveDeferred(queue=queue, sequence_numbers=numbers))
    assert isinstance(came, ReceivedSeveral)
    token = came.messages[0].lock_token or ""
    assert ask(Complete(queue=queue, lock_token=token)) == Done()
    missing = ask(ReceiveDeferred(queue=queue, sequence_numbers=numbers))
    assert error_of(missing) is Error.MESSAGE_NOT_FOUND


def test_a_lock_ends_at_its_announced_time(ask: Ask, queue: str) -> None:
    """Unless it was renewed; times are those of the recording."""
    send(ask)
    view = message_of(ask(Receive(queue=queue)))
    assert view.locked_until == 60 * MICROSECONDS
    ask(AdvanceClock(duration=50 * MICROSECONDS))
    renewed = ask(RenewLock(queue=queue, lock_token=view.lock_token or ""))
    assert renewed == Renewed(locked_until=110 * MICROSECONDS)
    ask(AdvanceClock(duration=59 * MICROSECONDS))
    assert ask(Receive(queue=queue)) == Empty()
    ask(AdvanceClock(duration=2 * MICROSECONDS))
    assert message_of(ask(Receive(queue=queue))).body == "m1"
    late = ask(RenewLock(queue=queue, lock_token=view.lock_token or ""))
    assert error_of(late) is Error.LOCK_LOST


def test_a_scheduled_message_comes_when_it_is_due(ask: Ask, queue: str) -> None:
    """One that was taken back never does."""
    numbers = []
    for body in ("kept", "taken back"):
        message = Message(body=body, partition_key="k")
        outcome = ask(Schedule(queue=queue, message=message, delay=10 * MICROSECONDS))
        assert isinstance(outcome, Scheduled)
        numbers.append(outcome.sequence_number or 0)
    assert ask(CancelScheduled(queue=queue, sequence_number=numbers[1])) == Done()
    assert ask(Receive(queue=queue)) == Empty()
    ask(AdvanceClock(duration=11 * MICROSECONDS))
    assert message_of(ask(Receive(queue=queue))).body == "kept"
    assert ask(Receive(queue=queue)) == Empty()


@pytest.mark.parametrize("partitioned", [False, True])
def test_peek_that_continues_after_a_scheduled_message_misses_nothing(
    ask: Ask, partitioned: bool
) -> None:
    """What comes after it has a greater number, in the partition that they share."""
    ask(CreateQueue(queue="q", partitioned=partitioned))
    later = Message(body="later", partition_key="a")
    ask(Schedule(queue="q", message=later, delay=60 * MICROSECONDS))
    shown = ask(Peek(queue="q"))
    assert isinstance(shown, Peeked)
    (number,) = [each.sequence_number or 0 for each in shown.messages]
    ask(Send(queue="q", message=Message(body="after", partition_key="a")))
    shown = ask(Peek(queue="q", count=10, from_sequence_number=number + 1))
    assert isinstance(shown, Peeked)
    assert [each.body for each in shown.messages] == ["after"]
    assert (shown.messages[0].sequence_number or 0) >> 48 == number >> 48


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
