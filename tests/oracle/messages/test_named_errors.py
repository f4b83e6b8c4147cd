"""Errors that the documents name are required where no other is possible."""

import pytest
from observing import OTHER, Observer, is_allowed, locked, observing, received

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
    observer: Observer, ended: object, kind: type[Settlement | RenewLock]
) -> None:
    locked(observer)
    observer.has(ended)
    command = kind(queue="q", lock_token="l")
    assert is_allowed(observer, command, LOCK_LOST)
    assert not is_allowed(observer, command, OTHER)


def test_error_of_a_lost_lock_is_open_where_something_else_may_be_named(observer: Observer) -> None:
    """In an outage, in a session, with a lock that nobody was given, behind a client library."""
    locked(observer)
    observer.has(COMPLETE)
    assert is_allowed(observer, Complete(queue="q", lock_token="none"), OTHER)
    observer.has(TakePartitionDown(queue="q", partition=2))
    assert is_allowed(observer, COMPLETE, OTHER)
    behind = observing(assigns_message_ids=True)
    behind.queue()
    behind.send(partition=1)
    behind.has(RECEIVE, received("m1", 1, message_id="x", lock_token="l"))
    behind.has(COMPLETE)
    assert is_allowed(behind, COMPLETE, OTHER)
    observer = observing()
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(AcceptSession(queue="q", session_id="a"))
    taken = received("m1", 1, session_id="a", lock_token="l")
    observer.has(Receive(queue="q", session_id="a"), taken)
    observer.has(COMPLETE)
    assert is_allowed(observer, COMPLETE, Refused(error=Error.SESSION_LOCK_LOST))


def test_error_of_a_number_without_message_is_named_where_it_surely_has_none(
    observer: Observer,
) -> None:
    observer.queue()
    by_number = ReceiveDeferred(queue="q", sequence_numbers=((1 << SEQUENCE_BITS) + 1,))
    assert is_allowed(observer, by_number, NO_MESSAGE)
    assert not is_allowed(observer, by_number, OTHER)
    observer.send(partition=1)
    assert is_allowed(observer, by_number, OTHER)
    observer.has(RECEIVE, received("m1", 1, lock_token="l"))
    assert is_allowed(observer, by_number, OTHER)
    observer.has(COMPLETE)
    assert is_allowed(observer, by_number, NO_MESSAGE)
    assert not is_allowed(observer, by_number, OTHER)
    observer.has(TakePartitionDown(queue="q", partition=2))
    assert is_allowed(observer, by_number, OTHER)


def test_numbers_of_several_partitions_may_be_refused_for_that(observer: Observer) -> None:
    """DEFER-10: a conforming bus in JavaScript names this error, and was accused of DEFER-02."""
    observer.queue()
    several = tuple((partition << SEQUENCE_BITS) + 1 for partition in (3, 1))
    assert is_allowed(observer, ReceiveDeferred(queue="q", sequence_numbers=several), OTHER)
    assert is_allowed(observer, ReceiveDeferred(queue="q", sequence_numbers=several), NO_MESSAGE)
    assert not is_allowed(observer, ReceiveDeferred(queue="q", sequence_numbers=several[:1]), OTHER)


def test_errors_on_a_queue_that_forwards_are_open(observer: Observer) -> None:
    """Its receivers may be refused for the forwarding, with any error."""
    locked(observer)
    observer.has(COMPLETE)
    observer.has(CreateQueue(queue="end"))
    observer.has(UpdateQueue(queue="q", forward_to="end"))
    by_number = ReceiveDeferred(queue="q", sequence_numbers=((1 << SEQUENCE_BITS) + 1,))
    for command in (COMPLETE, by_number):
        assert is_allowed(observer, command, OTHER)
