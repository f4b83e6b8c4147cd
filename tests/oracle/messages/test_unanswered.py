"""Requests of senders and receivers whose answer never came: every end of them stays possible."""

from telling import GONE, LOST, OTHER, Told, locked, received

from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    AdvanceClock,
    CloseSession,
    Complete,
    CreateQueue,
    Peek,
    Receive,
    TakePartitionDown,
)
from busproof.vocabulary.outcomes import Empty, Refused, Unsupported
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
