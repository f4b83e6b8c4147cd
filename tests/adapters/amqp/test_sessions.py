"""Receivers whose partition, entity or link goes: the sessions they keep, the errors they get."""

from collections.abc import Callable

from answers import error_of, message_of

from busproof.adapters.amqp.adapter import EmbeddedAdapter
from busproof.vocabulary.commands import (
    AcceptSession,
    AdvanceClock,
    BringPartitionUp,
    CloseSession,
    Complete,
    CreateQueue,
    DeleteQueue,
    Receive,
    Send,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done, Empty, Outcome
from busproof.vocabulary.values import MICROSECONDS, Error

Ask = Callable[..., Outcome]

ACCEPT = AcceptSession(queue="q", session_id="s")
CLOSE = CloseSession(queue="q", session_id="s")
RECEIVE = Receive(queue="q", session_id="s")


def hold(ask: Ask) -> None:
    """Let c1 hold a session with two messages."""
    ask(CreateQueue(queue="q", requires_session=True))
    for body in ("m1", "m2"):
        ask(Send(queue="q", message=Message(body=body, session_id="s")))
    assert ask(ACCEPT) == Done()


def test_session_stays_locked_when_its_partition_is_down(adapter: EmbeddedAdapter) -> None:
    adapter.do(CreateQueue(queue="q", requires_session=True), "c1")
    sent = adapter.do(Send(queue="q", message=Message(body="m1", session_id="s")), "c1")
    assert sent.witness is not None
    partition = sent.witness.partition
    adapter.do(ACCEPT, "c1")
    adapter.do(TakePartitionDown(queue="q", partition=partition), "c1")
    assert adapter.do(RECEIVE, "c1").outcome == Empty()
    refused = adapter.do(ACCEPT, "c2").outcome
    assert error_of(refused) is Error.SESSION_CANNOT_BE_LOCKED
    adapter.do(BringPartitionUp(queue="q", partition=partition), "c1")
    assert message_of(adapter.do(RECEIVE, "c1").outcome).body == "m1"


def test_session_of_a_queue_disabled_for_a_while_goes_on(ask: Ask) -> None:
    hold(ask)
    token = message_of(ask(RECEIVE)).lock_token
    assert token is not None
    ask(UpdateQueue(queue="q", status=EntityStatus.DISABLED))
    assert error_of(ask(RECEIVE)) is Error.ENTITY_DISABLED
    assert error_of(ask(CLOSE)) is Error.ENTITY_DISABLED
    ask(UpdateQueue(queue="q", status=EntityStatus.ACTIVE))
    assert error_of(ask(ACCEPT, "c2")) is Error.SESSION_CANNOT_BE_LOCKED
    assert message_of(ask(RECEIVE)).body == "m2"
    assert ask(Complete(queue="q", lock_token=token)) == Done()
    assert ask(CLOSE) == Done()
    assert ask(ACCEPT, "c2") == Done()


def test_session_of_a_queue_disabled_for_too_long_is_lost(ask: Ask) -> None:
    hold(ask)
    ask(UpdateQueue(queue="q", status=EntityStatus.DISABLED))
    ask(AdvanceClock(duration=61 * MICROSECONDS))
    ask(UpdateQueue(queue="q", status=EntityStatus.ACTIVE))
    assert error_of(ask(CLOSE)) is Error.SESSION_LOCK_LOST
    assert ask(ACCEPT, "c2") == Done()


def test_session_of_a_deleted_queue_is_not_found(ask: Ask) -> None:
    hold(ask)
    ask(DeleteQueue(queue="q"))
    assert error_of(ask(CLOSE)) is Error.NOT_FOUND
    assert error_of(ask(RECEIVE)) is Error.NOT_FOUND


def test_session_is_lost_though_its_queue_is_created_again(ask: Ask) -> None:
    hold(ask)
    ask(DeleteQueue(queue="q"))
    ask(CreateQueue(queue="q", requires_session=True))
    assert error_of(ask(RECEIVE)) is Error.SESSION_LOCK_LOST
    assert error_of(ask(CLOSE)) is Error.SESSION_LOCK_LOST


def test_queue_that_was_created_again_is_received_from(ask: Ask) -> None:
    for _ in range(2):
        ask(CreateQueue(queue="q"))
        assert ask(Receive(queue="q")) == Empty()
        ask(DeleteQueue(queue="q"))


def test_queue_that_was_disabled_meanwhile_is_received_from(ask: Ask) -> None:
    ask(CreateQueue(queue="q"))
    assert ask(Receive(queue="q")) == Empty()
    ask(UpdateQueue(queue="q", status=EntityStatus.DISABLED))
    ask(UpdateQueue(queue="q", status=EntityStatus.ACTIVE))
    assert ask(Receive(queue="q")) == Empty()
