"""Requests of senders and receivers whose answer never came: every end of them stays possible."""

import pytest
from telling import DONE, GONE, LOST, OTHER, Told, is_allowed, locked, received

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


def test_every_end_of_a_lost_send_stays_possible(told: Told) -> None:
    told.queue()
    told.send(LOST, partition_key="a")
    assert told.saw(RECEIVE, Empty()).possible
    assert told.saw(RECEIVE, received("m1", 2, partition_key="a", lock_token="l")).possible
    assert told.send(partition=1, partition_key="a").possible == ()


def test_every_end_of_a_lost_receive_stays_possible(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    told.send(partition=1)
    told.has(RECEIVE, LOST)
    assert told.saw(RECEIVE, received("m2", 1, 2, lock_token="l")).possible
    assert told.saw(RECEIVE, Empty()).possible
    assert told.saw(RECEIVE, received("m1", 1, 1)).possible


def test_a_receive_that_was_lost_elsewhere_may_have_cached_everything(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    told.send(partition=1)
    told.has(RECEIVE, LOST, connection="c2")
    assert told.saw(RECEIVE, Empty(), connection="c1").possible


def test_every_end_of_a_lost_completion_stays_possible(told: Told) -> None:
    locked(told)
    told.has(Complete(queue="q", lock_token="l"), LOST)
    told.has(Complete(queue="q", lock_token="none"), LOST)
    assert told.saw(Complete(queue="q", lock_token="l"), LOCK_LOST).possible
    told.has(AdvanceClock(duration=MINUTE + 1))
    assert told.saw(RECEIVE, Empty()).possible
    assert told.saw(RECEIVE, received("m1", 1, lock_token="n")).possible


def test_every_end_of_a_lost_abandonment_stays_possible(told: Told) -> None:
    locked(told)
    told.has(Abandon(queue="q", lock_token="l"), LOST)
    told.has(Abandon(queue="q", lock_token="none"), LOST)
    assert told.saw(RECEIVE, Empty()).possible
    assert told.saw(RECEIVE, received("m1", 1, lock_token="n", locked_until=MINUTE)).possible


def test_every_end_of_a_lost_session_request_stays_possible(told: Told) -> None:
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(CLOSE, LOST)
    told.has(ACCEPT, LOST)
    assert told.saw(SESSION, OTHER).possible
    assert told.saw(SESSION, OTHER, connection="c2").possible
    assert told.saw(ACCEPT, OTHER, connection="c2").possible
    told.has(ACCEPT, connection="c2")
    told.has(CLOSE, LOST, connection="c2")
    assert told.saw(ACCEPT).possible


def test_every_end_of_a_lost_creation_stays_possible(told: Told) -> None:
    create = CreateQueue(queue="q")
    told.has(create, LOST)
    told.has(create, LOST)
    assert told.saw(create, Refused(error=Error.ALREADY_EXISTS)).possible
    assert told.send(Refused(error=Error.NOT_FOUND)).possible
    assert told.send(partition=1).possible
    assert told.send(Refused(error=Error.NOT_FOUND)).possible == ()


def test_every_end_of_a_lost_outage_stays_possible(told: Told) -> None:
    told.queue()
    told.has(TakePartitionDown(queue="q", partition=1), LOST)
    assert told.send(GONE, partition_key="a").possible
    assert told.send(partition=1, partition_key="a").possible


def test_every_end_of_a_lost_advance_stays_possible(told: Told) -> None:
    locked(told)
    told.has(AdvanceClock(duration=2 * MINUTE), LOST)
    told.has(Peek(queue="q"), LOST)
    assert told.saw(RECEIVE, Empty()).possible
    assert told.saw(Complete(queue="q", lock_token="l"), LOCK_LOST).possible
    assert told.saw(Complete(queue="q", lock_token="l")).possible


def test_unsupported_command_changes_nothing(told: Told) -> None:
    told.queue()
    before = told.possible
    assert told.saw(RECEIVE, Unsupported()).possible == before


@pytest.mark.parametrize("kind", [Complete, Abandon, DeadLetter, Defer])
@pytest.mark.parametrize("within", [None, "t"])
@pytest.mark.parametrize("lost", [RECEIVE, ReceiveDeferred(queue="q", sequence_numbers=(1,))])
def test_token_that_nobody_saw_may_be_one_of_an_answer_that_was_lost(
    told: Told, lost: Receive | ReceiveDeferred, within: str | None, kind: type[Settlement]
) -> None:
    """Whoever settles with it may have had the answer after all, and gets one again."""
    told.queue()
    told.has(BeginTransaction(transaction="t"))
    told.send(partition=1)
    settlement = kind(queue="q", lock_token="l", transaction=within)
    assert within or not is_allowed(told, settlement, DONE)
    told.has(lost, LOST)
    assert is_allowed(told, settlement, LOCK_LOST)
    told.has(settlement)
    if within:
        assert is_allowed(told, CommitTransaction(transaction="t"), LOCK_LOST)
        told.has(CommitTransaction(transaction="t"))
    told.has(AdvanceClock(duration=MINUTE + 1))
    for outcome in (Empty(), received("m1", 1, 1, lock_token="n")):
        assert is_allowed(told, RECEIVE, outcome)


def test_lock_of_an_answer_that_was_lost_may_be_renewed(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    renewal = RenewLock(queue="q", lock_token="l")
    for outcome in (DONE, Renewed(), Renewed(locked_until=MINUTE)):
        assert not is_allowed(told, renewal, outcome)
    told.has(RECEIVE, LOST)
    assert is_allowed(told, renewal, LOCK_LOST)
    assert is_allowed(told, renewal, Renewed())
    told.has(renewal, Renewed(locked_until=MINUTE))
    told.has(AdvanceClock(duration=MINUTE + 1))
    assert told.saw(RECEIVE, Empty()).possible


def test_token_that_was_seen_is_lost_whatever_answer_was_lost_beside_it(told: Told) -> None:
    locked(told)
    told.has(Complete(queue="q", lock_token="l"))
    told.has(RECEIVE, LOST)
    assert told.saw(Complete(queue="q", lock_token="l")).rules[0] == "LIFE-06"


def test_message_of_a_session_whose_acceptance_was_lost_can_be_settled(told: Told) -> None:
    """It was given, so the session is held: for a whole term at most, from now on."""
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(ACCEPT, LOST)
    told.has(AdvanceClock(duration=MINUTE // 2))
    told.has(SESSION, received("m1", 1, session_id="a", lock_token="l"))
    told.has(AdvanceClock(duration=MINUTE - 1))
    complete = Complete(queue="q", lock_token="l")
    assert is_allowed(told, complete, DONE)
    assert is_allowed(told, complete, LOCK_LOST)
    told.has(AdvanceClock(duration=2))
    assert told.saw(complete).rules[0] == "LIFE-06"


def test_session_may_be_held_anew_by_an_acceptance_that_was_lost(told: Told) -> None:
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(ACCEPT)
    told.has(ACCEPT, LOST)
    told.has(AdvanceClock(duration=MINUTE + 1))
    told.has(SESSION, received("m1", 1, session_id="a", lock_token="l"))
    assert is_allowed(told, Complete(queue="q", lock_token="l"), DONE)
