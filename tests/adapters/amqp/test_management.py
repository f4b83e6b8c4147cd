"""Sessions, transactions, rules, management and outages of a real broker, asked over the wire."""

import pytest
from answers import error_of, message_of, send

from busproof import vocabulary as v
from busproof.adapters.amqp.adapter import EmbeddedAdapter
from busproof.spec import load

from .conftest import Ask

pytestmark = pytest.mark.slow

FOR_GOOD = v.ReceiveMode.RECEIVE_AND_DELETE


def test_a_session_belongs_to_one_connection(ask: Ask) -> None:
    """Its messages, its state and its lock; another one gets what is said to it, not a message."""
    ask(v.CreateQueue(queue="q", requires_session=True))
    send(ask, session_id="s")
    assert error_of(ask(v.Receive(queue="q"))) is v.Error.INVALID_OPERATION
    assert error_of(ask(v.Receive(queue="q", session_id="s"))) is v.Error.SESSION_LOCK_LOST
    assert ask(v.AcceptSession(queue="q", session_id="s")) == v.Done()
    taken = ask(v.AcceptSession(queue="q", session_id="s"), "c2")
    assert error_of(taken) is v.Error.SESSION_CANNOT_BE_LOCKED
    assert ask(v.AcceptNextSession(queue="q"), "c2") == v.Empty()
    held = error_of(ask(v.Receive(queue="q", session_id="s"), "c2"))
    assert held is v.Error.SESSION_CANNOT_BE_LOCKED
    assert ask(v.SetSessionState(queue="q", session_id="s", state="state ж")) == v.Done()
    answer = ask(v.GetSessionState(queue="q", session_id="s"))
    assert answer == v.SessionState(state="state ж")
    assert message_of(ask(v.Receive(queue="q", session_id="s"))).session_id == "s"
    assert ask(v.ListSessions(queue="q")) == v.SessionsListed(session_ids=("s",))
    assert isinstance(ask(v.RenewSessionLock(queue="q", session_id="s")), v.Renewed)
    assert ask(v.CloseSession(queue="q", session_id="s")) == v.Done()
    assert ask(v.AcceptNextSession(queue="q"), "c2") == v.SessionAccepted(session_id="s")
    received = ask(v.Receive(queue="q", session_id="s", mode=FOR_GOOD), "c2")
    assert message_of(received).lock_token is None


def test_a_session_that_has_expired_is_accepted_again(ask: Ask) -> None:
    ask(v.CreateQueue(queue="q", requires_session=True))
    send(ask, session_id="s")
    ask(v.AcceptSession(queue="q", session_id="s"))
    ask(v.AdvanceClock(duration=61 * v.MICROSECONDS))
    assert ask(v.AcceptSession(queue="q", session_id="s")) == v.Done()
    assert message_of(ask(v.Receive(queue="q", session_id="s"))).body == "m1"
    assert isinstance(ask(v.RenewSessionLock(queue="q", session_id="s")), v.Renewed)
    ask(v.AdvanceClock(duration=61 * v.MICROSECONDS))
    lost = error_of(ask(v.Receive(queue="q", session_id="s")))
    assert lost is v.Error.SESSION_LOCK_LOST


def test_a_transaction_takes_effect_as_a_whole(ask: Ask, queue: str) -> None:
    """Whichever connection names it; a second key is refused, and what has ended is gone."""
    for name in ("kept", "given up"):
        assert ask(v.BeginTransaction(transaction=name)) == v.Done()
        staged = v.Message(body=name, partition_key="a")
        assert ask(v.Send(queue=queue, message=staged, transaction=name), "c2") == v.Done()
    stranger = v.Message(body="stranger", partition_key="b")
    refused = ask(v.Send(queue=queue, message=stranger, transaction="given up"))
    assert error_of(refused) is v.Error.INVALID_OPERATION
    assert ask(v.Receive(queue=queue)) == v.Empty()
    assert error_of(ask(v.BeginTransaction(transaction="kept"))) is v.Error.ALREADY_EXISTS
    assert ask(v.CommitTransaction(transaction="kept"), "c2") == v.Done()
    assert ask(v.RollBackTransaction(transaction="given up")) == v.Done()
    assert message_of(ask(v.Receive(queue=queue, mode=FOR_GOOD))).body == "kept"
    assert ask(v.Receive(queue=queue)) == v.Empty()
    for name in ("kept", "never begun"):
        assert error_of(ask(v.CommitTransaction(transaction=name))) is v.Error.NOT_FOUND


@pytest.mark.parametrize("commits", [True, False])
def test_settlements_take_effect_with_their_transaction(ask: Ask, commits: bool) -> None:
    """Together with what was sent in it, or not at all: then the messages stay locked."""
    ask(v.CreateQueue(queue="q", partitioned=False))
    for body in ("m1", "m2"):
        send(ask, body=body)
    held = [message_of(ask(v.Receive(queue="q"))).lock_token or "" for _ in range(2)]
    ask(v.BeginTransaction(transaction="t"))
    for token in held:
        settle = v.Complete(queue="q", lock_token=token, transaction="t")
        assert ask(settle) == v.Done()
    staged = v.Message(body="instead")
    assert ask(v.Send(queue="q", message=staged, transaction="t")) == v.Done()
    end = v.CommitTransaction if commits else v.RollBackTransaction
    assert ask(end(transaction="t")) == v.Done()
    if commits:
        assert message_of(ask(v.Receive(queue="q", mode=FOR_GOOD))).body == "instead"
    assert ask(v.Receive(queue="q")) == v.Empty()
    ask(v.AdvanceClock(duration=61 * v.MICROSECONDS))
    left = [ask(v.Receive(queue="q", mode=FOR_GOOD)) for _ in range(3)]
    bodies = [each.message.body for each in left if isinstance(each, v.Received)]
    assert sorted(bodies) == ([] if commits else ["m1", "m2"])


def test_rules_are_listed_as_they_were_added(ask: Ask) -> None:
    ask(v.CreateTopic(topic="t"))
    ask(v.CreateSubscription(topic="t", subscription="s"))
    filters = {
        v.DEFAULT_RULE: v.TrueFilter(),
        "false": v.FalseFilter(),
        "sql": v.SqlFilter(expression="a > 3"),
        "correlation": v.CorrelationFilter(subject="x", properties={"a": 1, "b": "c", "d": True}),
    }
    subscription = {"topic": "t", "subscription": "s"}
    for name, chosen in list(filters.items())[1:]:
        assert ask(v.AddRule(**subscription, rule=name, filter=chosen)) == v.Done()
    listed = ask(v.ListRules(**subscription))
    assert filters == {rule.name: rule.filter for rule in listed.rules}


def test_a_rule_of_a_transaction_that_is_rolled_back_is_not_there(broker: EmbeddedAdapter) -> None:
    broker.start(v.profile_for(load(), edition="fr-2016-09"))

    def ask(command: v.Command) -> v.Outcome:
        return broker.do(command, "c1").outcome

    for partitioned, allowed in ((False, v.Done | v.Refused), (True, v.Refused)):
        topic = "parted" if partitioned else "whole"
        ask(v.CreateTopic(topic=topic, partitioned=partitioned))
        ask(v.CreateSubscription(topic=topic, subscription="s"))
        ask(v.BeginTransaction(transaction=topic))
        rule = v.AddRule(
            topic=topic, subscription="s", rule="r", filter=v.TrueFilter(), transaction=topic
        )
        assert isinstance(ask(rule), allowed)
        ask(v.RollBackTransaction(transaction=topic))
        listed = ask(v.ListRules(topic=topic, subscription="s"))
        assert isinstance(listed, v.RulesListed)
        assert [each.name for each in listed.rules] == ["$Default"]


def test_a_queue_may_be_there_from_before_premium(adapter: EmbeddedAdapter, ask: Ask) -> None:
    adapter.start(v.profile_for(load(), tier="premium"))
    old = v.RestoreQueue(queue="old", requires_session=True, max_size=2)
    assert ask(old) == v.Done()
    assert ask(v.CreateQueue(queue="new")) == v.Done()
    answers = [ask(v.GetQueue(queue=name)) for name in ("old", "new")]
    assert all(isinstance(each, v.Described) for each in answers)
    assert [True, False] == [each.description.partitioned for each in answers]
    assert error_of(ask(old)) is v.Error.ALREADY_EXISTS


def test_what_is_not_there_is_not_found(ask: Ask) -> None:
    """The service, and the broker like it, gives an empty list for it, with the status 200."""
    for command in (
        v.GetQueue(queue="nowhere"),
        v.GetTopic(topic="nowhere"),
        v.ListSubscriptions(topic="nowhere"),
    ):
        assert error_of(ask(command)) is v.Error.NOT_FOUND


def test_a_namespace_begins_empty(adapter: EmbeddedAdapter, ask: Ask, queue: str) -> None:
    ask(v.AdvanceClock(duration=5 * v.MICROSECONDS))
    adapter.start(v.profile_for(load()))
    assert ask(v.ListQueues()) == v.Listed()
    ask(v.CreateQueue(queue=queue))
    send(ask)
    assert message_of(ask(v.Receive(queue=queue))).locked_until == 60 * v.MICROSECONDS
