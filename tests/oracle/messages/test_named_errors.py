"""Errors that the documents name are required where no other is possible."""

import pytest
from telling import OTHER, Told, is_allowed, locked, received, telling

from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    AdvanceClock,
    Complete,
    CreateQueue,
    DeadLetter,
    Defer,
    Receive,
    ReceiveDeferred,
    RenewLock,
    Settlement,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.vocabulary.messages import SEQUENCE_BITS
from busproof.vocabulary.outcomes import Refused
from busproof.vocabulary.values import Error

RECEIVE = Receive(queue="q")
COMPLETE = Complete(queue="q", lock_token="l")
LOCK_LOST = Refused(error=Error.LOCK_LOST)
NO_MESSAGE = Refused(error=Error.MESSAGE_NOT_FOUND)


@pytest.mark.parametrize("kind", [Complete, Abandon, DeadLetter, Defer, RenewLock])
@pytest.mark.parametrize("ended", [AdvanceClock(duration=61_000_000), COMPLETE])
def test_error_of_a_lost_lock_is_the_one_that_is_named(
    told: Told, ended: object, kind: type[Settlement | RenewLock]
) -> None:
    locked(told)
    told.has(ended)
    command = kind(queue="q", lock_token="l")
    assert is_allowed(told, command, LOCK_LOST)
    assert not is_allowed(told, command, OTHER)


def test_error_of_a_lost_lock_is_open_where_something_else_may_be_named(told: Told) -> None:
    """In an outage, in a session, with a lock that nobody was given, behind a client library."""
    locked(told)
    told.has(COMPLETE)
    assert is_allowed(told, Complete(queue="q", lock_token="none"), OTHER)
    told.has(TakePartitionDown(queue="q", partition=2))
    assert is_allowed(told, COMPLETE, OTHER)
    behind = telling(assigns_message_ids=True)
    behind.queue()
    behind.send(partition=1)
    behind.has(RECEIVE, received("m1", 1, message_id="x", lock_token="l"))
    behind.has(COMPLETE)
    assert is_allowed(behind, COMPLETE, OTHER)
    told = telling()
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(AcceptSession(queue="q", session_id="a"))
    taken = received("m1", 1, session_id="a", lock_token="l")
    told.has(Receive(queue="q", session_id="a"), taken)
    told.has(COMPLETE)
    assert is_allowed(told, COMPLETE, Refused(error=Error.SESSION_LOCK_LOST))


def test_error_of_a_number_without_message_is_named_where_it_surely_has_none(told: Told) -> None:
    told.queue()
    by_number = ReceiveDeferred(queue="q", sequence_numbers=((1 << SEQUENCE_BITS) + 1,))
    assert is_allowed(told, by_number, NO_MESSAGE)
    assert not is_allowed(told, by_number, OTHER)
    told.send(partition=1)
    assert is_allowed(told, by_number, OTHER)
    told.has(RECEIVE, received("m1", 1, lock_token="l"))
    assert is_allowed(told, by_number, OTHER)
    told.has(COMPLETE)
    assert is_allowed(told, by_number, NO_MESSAGE)
    assert not is_allowed(told, by_number, OTHER)
    told.has(TakePartitionDown(queue="q", partition=2))
    assert is_allowed(told, by_number, OTHER)


def test_numbers_of_several_partitions_may_be_refused_for_that(told: Told) -> None:
    """DEFER-10: a conforming bus in JavaScript names this error, and was accused of DEFER-02."""
    told.queue()
    several = tuple((partition << SEQUENCE_BITS) + 1 for partition in (3, 1))
    assert is_allowed(told, ReceiveDeferred(queue="q", sequence_numbers=several), OTHER)
    assert is_allowed(told, ReceiveDeferred(queue="q", sequence_numbers=several), NO_MESSAGE)
    assert not is_allowed(told, ReceiveDeferred(queue="q", sequence_numbers=several[:1]), OTHER)


def test_errors_on_a_queue_that_forwards_are_open(told: Told) -> None:
    """Its receivers may be refused for the forwarding, with any error."""
    locked(told)
    told.has(COMPLETE)
    told.has(CreateQueue(queue="end"))
    told.has(UpdateQueue(queue="q", forward_to="end"))
    by_number = ReceiveDeferred(queue="q", sequence_numbers=((1 << SEQUENCE_BITS) + 1,))
    for command in (COMPLETE, by_number):
        assert is_allowed(told, command, OTHER)
