"""Requests of senders and receivers whose answer never came: every end of them stays possible."""

import pytest
from observing import DONE, GONE, LOST, OTHER, Observer, is_allowed, locked, received

from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    AdvanceClock,
    BeginTransaction,
    CloseSession,
    CommitTransaction,
    Complete,
    CreateQueue,
    DeadLetter,
    Defer,
    Peek,
    Receive,
    ReceiveDeferred,
    RenewLock,
    Settlement,
    TakePartitionDown,
)
from busproof.vocabulary.outcomes import Empty, Refused, Renewed, Unsupported
from busproof.vocabulary.values import Error

LOCK_LOST = Refused(error=Error.LOCK_LOST)
RECEIVE = Receive(queue="q")
SESSION = Receive(queue="q", session_id="a")
ACCEPT = AcceptSession(queue="q", session_id="a")
CLOSE = CloseSession(queue="q", session_id="a")
MINUTE = 60_000_000


def test_every_end_of_a_lost_send_stays_possible(observer: Observer) -> None:
    observer.queue()
    observer.send(LOST, partition_key="a")
    assert observer.saw(RECEIVE, Empty()).possible
    assert observer.saw(RECEIVE, received("m1", 2, partition_key="a", lock_token="l")).possible
    assert observer.send(partition=1, partition_key="a").possible == ()


def test_every_end_of_a_lost_receive_stays_possible(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    observer.send(partition=1)
    observer.has(RECEIVE, LOST)
    assert observer.saw(RECEIVE, received("m2", 1, 2, lock_token="l")).possible
    assert observer.saw(RECEIVE, Empty()).possible
    assert observer.saw(RECEIVE, received("m1", 1, 1)).possible


def test_a_receive_that_was_lost_elsewhere_may_have_cached_everything(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    observer.send(partition=1)
    observer.has(RECEIVE, LOST, connection="c2")
    assert observer.saw(RECEIVE, Empty(), connection="c1").possible


def test_every_end_of_a_lost_completion_stays_possible(observer: Observer) -> None:
    locked(observer)
    observer.has(Complete(queue="q", lock_token="l"), LOST)
    observer.has(Complete(queue="q", lock_token="none"), LOST)
    assert observer.saw(Complete(queue="q", lock_token="l"), LOCK_LOST).possible
    observer.has(AdvanceClock(duration=MINUTE + 1))
    assert observer.saw(RECEIVE, Empty()).possible
    assert observer.saw(RECEIVE, received("m1", 1, lock_token="n")).possible


def test_every_end_of_a_lost_abandonment_stays_possible(observer: Observer) -> None:
    locked(observer)
    observer.has(Abandon(queue="q", lock_token="l"), LOST)
    observer.has(Abandon(queue="q", lock_token="none"), LOST)
    assert observer.saw(RECEIVE, Empty()).possible
    assert observer.saw(RECEIVE, received("m1", 1, lock_token="n", locked_until=MINUTE)).possible


def test_every_end_of_a_lost_session_request_stays_possible(observer: Observer) -> None:
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(CLOSE, LOST)
    observer.has(ACCEPT, LOST)
    assert observer.saw(SESSION, OTHER).possible
    assert observer.saw(SESSION, OTHER, connection="c2").possible
    assert observer.saw(ACCEPT, OTHER, connection="c2").possible
    observer.has(ACCEPT, connection="c2")
    observer.has(CLOSE, LOST, connection="c2")
    assert observer.saw(ACCEPT).possible


def test_every_end_of_a_lost_creation_stays_possible(observer: Observer) -> None:
    create = CreateQueue(queue="q")
    observer.has(create, LOST)
    observer.has(create, LOST)
    assert observer.saw(create, Refused(error=Error.ALREADY_EXISTS)).possible
    assert observer.send(Refused(error=Error.NOT_FOUND)).possible
    assert observer.send(partition=1).possible
    assert observer.send(Refused(error=Error.NOT_FOUND)).possible == ()


def test_every_end_of_a_lost_outage_stays_possible(observer: Observer) -> None:
    observer.queue()
    observer.has(TakePartitionDown(queue="q", partition=1), LOST)
    assert observer.send(GONE, partition_key="a").possible
    assert observer.send(partition=1, partition_key="a").possible


def test_every_end_of_a_lost_advance_stays_possible(observer: Observer) -> None:
    locked(observer)
    observer.has(AdvanceClock(duration=2 * MINUTE), LOST)
    observer.has(Peek(queue="q"), LOST)
    assert observer.saw(RECEIVE, Empty()).possible
    assert observer.saw(Complete(queue="q", lock_token="l"), LOCK_LOST).possible
    assert observer.saw(Complete(queue="q", lock_token="l")).possible


def test_unsupported_command_changes_nothing(observer: Observer) -> None:
    observer.queue()
    before = observer.possible
    assert observer.saw(RECEIVE, Unsupported()).possible == before


@pytest.mark.parametrize("kind", [Complete, Abandon, DeadLetter, Defer])
@pytest.mark.parametrize("within", [None, "t"])
@pytest.mark.parametrize("lost", [RECEIVE, ReceiveDeferred(queue="q", sequence_numbers=(1,))])
def test_token_that_nobody_saw_may_be_one_of_an_answer_that_was_lost(
    observer: Observer, lost: Receive | ReceiveDeferred, within: str | None, kind: type[Settlement]
) -> None:
    """Whoever settles with it may have had the answer after all, and gets one again."""
    observer.queue()
    observer.has(BeginTransaction(transaction="t"))
    observer.send(partition=1)
    settlement = kind(queue="q", lock_token="l", transaction=within)
    assert within or not is_allowed(observer, settlement, DONE)
    observer.has(lost, LOST)
    assert is_allowed(observer, settlement, LOCK_LOST)
    observer.has(settlement)
    if within:
        assert is_allowed(observer, CommitTransaction(transaction="t"), LOCK_LOST)
        observer.has(CommitTransaction(transaction="t"))
    observer.has(AdvanceClock(duration=MINUTE + 1))
    for outcome in (Empty(), received("m1", 1, 1, lock_token="n")):
        assert is_allowed(observer, RECEIVE, outcome)


def test_lock_of_an_answer_that_was_lost_may_be_renewed(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    renewal = RenewLock(queue="q", lock_token="l")
    for outcome in (DONE, Renewed(), Renewed(locked_until=MINUTE)):
        assert not is_allowed(observer, renewal, outcome)
    observer.has(RECEIVE, LOST)
    assert is_allowed(observer, renewal, LOCK_LOST)
    assert is_allowed(observer, renewal, Renewed())
    observer.has(renewal, Renewed(locked_until=MINUTE))
    observer.has(AdvanceClock(duration=MINUTE + 1))
    assert observer.saw(RECEIVE, Empty()).possible


def test_token_that_was_seen_is_lost_whatever_answer_was_lost_beside_it(observer: Observer) -> None:
    locked(observer)
    observer.has(Complete(queue="q", lock_token="l"))
    observer.has(RECEIVE, LOST)
    assert observer.saw(Complete(queue="q", lock_token="l")).rules[0] == "LIFE-06"


def test_message_of_a_session_whose_acceptance_was_lost_can_be_settled(observer: Observer) -> None:
    """It was given, so the session is held: for a whole term at most, from now on."""
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(ACCEPT, LOST)
    observer.has(AdvanceClock(duration=MINUTE // 2))
    observer.has(SESSION, received("m1", 1, session_id="a", lock_token="l"))
    observer.has(AdvanceClock(duration=MINUTE - 1))
    complete = Complete(queue="q", lock_token="l")
    assert is_allowed(observer, complete, DONE)
    assert is_allowed(observer, complete, LOCK_LOST)
    observer.has(AdvanceClock(duration=2))
    assert observer.saw(complete).rules[0] == "LIFE-06"


def test_session_may_be_held_anew_by_an_acceptance_that_was_lost(observer: Observer) -> None:
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(ACCEPT)
    observer.has(ACCEPT, LOST)
    observer.has(AdvanceClock(duration=MINUTE + 1))
    observer.has(SESSION, received("m1", 1, session_id="a", lock_token="l"))
    assert is_allowed(observer, Complete(queue="q", lock_token="l"), DONE)
