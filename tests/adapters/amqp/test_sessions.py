"""Receivers whose partition, entity or link goes: the sessions they keep, the errors they get."""

from collections.abc import Callable

from answers import error_of, message_of

from busproof import vocabulary as v
from busproof.adapters.amqp.adapter import EmbeddedAdapter

Ask = Callable[..., v.Outcome]

ACCEPT = v.AcceptSession(queue="q", session_id="s")
CLOSE = v.CloseSession(queue="q", session_id="s")
RECEIVE = v.Receive(queue="q", session_id="s")


def hold(ask: Ask) -> None:
    """Let c1 hold a session with two messages."""
    ask(v.CreateQueue(queue="q", requires_session=True))
    for body in ("m1", "m2"):
        ask(v.Send(queue="q", message=v.Message(body=body, session_id="s")))
    assert ask(ACCEPT) == v.Done()


def test_session_stays_locked_when_its_partition_is_down(adapter: EmbeddedAdapter) -> None:
    adapter.do(v.CreateQueue(queue="q", requires_session=True), "c1")
    sent = adapter.do(v.Send(queue="q", message=v.Message(body="m1", session_id="s")), "c1")
    assert sent.witness is not None
    partition = sent.witness.partition
    adapter.do(ACCEPT, "c1")
    adapter.do(v.TakePartitionDown(queue="q", partition=partition), "c1")
    assert adapter.do(RECEIVE, "c1").outcome == v.Empty()
    refused = adapter.do(ACCEPT, "c2").outcome
    assert error_of(refused) is v.Error.SESSION_CANNOT_BE_LOCKED
    adapter.do(v.BringPartitionUp(queue="q", partition=partition), "c1")
    assert message_of(adapter.do(RECEIVE, "c1").outcome).body == "m1"


def test_session_of_a_queue_disabled_for_a_while_goes_on(ask: Ask) -> None:
    hold(ask)
    token = message_of(ask(RECEIVE)).lock_token
    assert token is not None
    ask(v.UpdateQueue(queue="q", status=v.EntityStatus.DISABLED))
    assert error_of(ask(RECEIVE)) is v.Error.ENTITY_DISABLED
    assert error_of(ask(CLOSE)) is v.Error.ENTITY_DISABLED
    ask(v.UpdateQueue(queue="q", status=v.EntityStatus.ACTIVE))
    assert error_of(ask(ACCEPT, "c2")) is v.Error.SESSION_CANNOT_BE_LOCKED
    assert message_of(ask(RECEIVE)).body == "m2"
    assert ask(v.Complete(queue="q", lock_token=token)) == v.Done()
    assert ask(CLOSE) == v.Done()
    assert ask(ACCEPT, "c2") == v.Done()


def test_session_of_a_queue_disabled_for_too_long_is_lost(ask: Ask) -> None:
    hold(ask)
    ask(v.UpdateQueue(queue="q", status=v.EntityStatus.DISABLED))
    ask(v.AdvanceClock(duration=61 * v.MICROSECONDS))
    ask(v.UpdateQueue(queue="q", status=v.EntityStatus.ACTIVE))
    assert error_of(ask(CLOSE)) is v.Error.SESSION_LOCK_LOST
    assert ask(ACCEPT, "c2") == v.Done()


def test_session_of_a_deleted_queue_is_not_found(ask: Ask) -> None:
    hold(ask)
    ask(v.DeleteQueue(queue="q"))
    assert error_of(ask(CLOSE)) is v.Error.NOT_FOUND
    assert error_of(ask(RECEIVE)) is v.Error.NOT_FOUND


def test_session_is_lost_though_its_queue_is_created_again(ask: Ask) -> None:
    hold(ask)
    ask(v.DeleteQueue(queue="q"))
    ask(v.CreateQueue(queue="q", requires_session=True))
    assert error_of(ask(RECEIVE)) is v.Error.SESSION_LOCK_LOST
    assert error_of(ask(CLOSE)) is v.Error.SESSION_LOCK_LOST


def test_queue_that_was_created_again_is_received_from(ask: Ask) -> None:
    for _ in range(2):
        ask(v.CreateQueue(queue="q"))
        assert ask(v.Receive(queue="q")) == v.Empty()
        ask(v.DeleteQueue(queue="q"))


def test_queue_that_was_disabled_meanwhile_is_received_from(ask: Ask) -> None:
    ask(v.CreateQueue(queue="q"))
    assert ask(v.Receive(queue="q")) == v.Empty()
    ask(v.UpdateQueue(queue="q", status=v.EntityStatus.DISABLED))
    ask(v.UpdateQueue(queue="q", status=v.EntityStatus.ACTIVE))
    assert ask(v.Receive(queue="q")) == v.Empty()
