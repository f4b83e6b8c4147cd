"""Clocks that may stand still in an outage: of locks, sessions and duplicate windows."""

import pytest
from telling import (
    DONE,
    SECOND,
    Told,
    down,
    is_allowed,
    locked,
    passes,
    received,
    telling,
    up,
)

from busproof.vocabulary.commands import (
    AcceptNextSession,
    AcceptSession,
    Complete,
    Receive,
    RenewLock,
    RenewSessionLock,
    SetSessionState,
)
from busproof.vocabulary.outcomes import Empty, Refused, Renewed, SessionAccepted
from busproof.vocabulary.values import Error

RECEIVE = Receive(queue="q")
COMPLETE = Complete(queue="q", lock_token="l")
LOCK_LOST = Refused(error=Error.LOCK_LOST)
SESSION_LOST = Refused(error=Error.SESSION_LOCK_LOST)
RUNS = {"OUTAGE-CLOCK": "runs"}
ACCEPT = AcceptSession(queue="q", session_id="s")


def after_an_outage(told: Told, seconds: float) -> Told:
    """Partition 1 was down for so long, and is up again."""
    told.has(down(1))
    passes(told, seconds)
    told.has(up(1))
    return told


def test_lock_may_last_for_as_long_again_as_the_outage() -> None:
    told = after_an_outage(locked(telling()), 90)
    assert is_allowed(told, COMPLETE, DONE)
    assert is_allowed(told, COMPLETE, LOCK_LOST)
    assert is_allowed(told, RECEIVE, Empty())
    assert is_allowed(told, RECEIVE, received("m1", 1))


def test_lock_ends_a_whole_duration_after_the_outage_at_last() -> None:
    told = after_an_outage(locked(telling()), 90)
    passes(told, 61)
    assert not is_allowed(told, COMPLETE, DONE)
    assert not is_allowed(told, RECEIVE, Empty())
    assert is_allowed(told, RECEIVE, received("m1", 1))


def test_lock_ends_in_time_where_clocks_are_read_to_run() -> None:
    told = after_an_outage(locked(telling(RUNS)), 90)
    assert not is_allowed(told, COMPLETE, DONE)
    assert not is_allowed(told, RECEIVE, Empty())


def test_lock_that_was_over_before_the_outage_stays_over() -> None:
    told = locked(telling())
    passes(told, 61)
    assert not is_allowed(after_an_outage(told, 90), COMPLETE, DONE)


def test_lock_that_was_over_while_nobody_asked_stays_over() -> None:
    told = locked(telling(), until=60 * SECOND)
    passes(told, 100)
    assert not is_allowed(told, COMPLETE, DONE)


def test_lock_given_after_the_outage_is_not_longer_for_it() -> None:
    told = after_an_outage(telling_with_one(), 90)
    passes(told, 5)
    told.has(RECEIVE, received("m1", 1, lock_token="l", locked_until=155 * SECOND))
    assert is_allowed(told, COMPLETE, DONE)
    passes(told, 61)
    assert not is_allowed(told, COMPLETE, DONE)


def telling_with_one() -> Told:
    told = telling()
    told.queue()
    told.send(partition=1)
    return told


def test_in_the_outage_a_lock_may_be_over_or_not() -> None:
    told = locked(telling())
    told.has(down(0))
    passes(told, 90)
    assert is_allowed(told, COMPLETE, DONE)
    assert is_allowed(told, COMPLETE, LOCK_LOST)
    assert is_allowed(told, RECEIVE, received("m1", 1))
    assert is_allowed(told, RenewLock(queue="q", lock_token="l"), Renewed(locked_until=None))


def with_a_session(told: Told) -> Told:
    told.queue(requires_session=True)
    told.send(partition=1, session_id="s")
    told.has(ACCEPT)
    return told


def test_session_may_be_held_for_as_long_again_as_the_outage() -> None:
    told = after_an_outage(with_a_session(telling()), 90)
    own = SetSessionState(queue="q", session_id="s", state="x")
    renew = RenewSessionLock(queue="q", session_id="s")
    following = AcceptNextSession(queue="q")
    assert is_allowed(told, own, DONE)
    assert is_allowed(told, renew, SESSION_LOST)
    assert is_allowed(told, ACCEPT, Refused(error=Error.SESSION_CANNOT_BE_LOCKED), connection="c2")
    assert is_allowed(told, ACCEPT, DONE, connection="c2")
    assert is_allowed(told, following, Empty(), connection="c2")
    assert is_allowed(told, following, SessionAccepted(session_id="s"), connection="c2")
    passes(told, 61)
    assert not is_allowed(told, own, DONE)
    assert not is_allowed(told, following, Empty(), connection="c2")


def test_session_ends_in_time_where_clocks_are_read_to_run() -> None:
    told = after_an_outage(with_a_session(telling(RUNS)), 90)
    own = SetSessionState(queue="q", session_id="s", state="x")
    assert not is_allowed(told, own, DONE)


@pytest.mark.parametrize(("readings", "remembered"), [({}, True), (RUNS, False)])
def test_message_id_may_be_remembered_for_as_long_again_as_the_outage(
    readings: dict[str, str], remembered: bool
) -> None:
    told = telling(readings)
    told.queue(duplicate_detection=True, duplicate_window=60 * SECOND)
    told.send(partition=1, message_id="x")
    after_an_outage(told, 90)
    told.send(message_id="x")
    told.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    assert remembered is is_allowed(told, RECEIVE, Empty())


def test_message_id_is_forgotten_a_whole_window_after_the_outage_at_last() -> None:
    told = telling()
    told.queue(duplicate_detection=True, duplicate_window=60 * SECOND)
    told.send(partition=1, message_id="x")
    after_an_outage(told, 90)
    passes(told, 61)
    told.send(message_id="x")
    told.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    assert not is_allowed(told, RECEIVE, Empty())
