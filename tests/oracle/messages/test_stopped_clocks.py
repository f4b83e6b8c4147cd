"""Clocks that may stand still in an outage: of locks, sessions and duplicate windows."""

import pytest
from observing import (
    DONE,
    SECOND,
    Observer,
    down,
    is_allowed,
    locked,
    observing,
    passes,
    received,
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


def after_an_outage(observer: Observer, seconds: float) -> Observer:
    """Partition 1 was down for so long, and is up again."""
    observer.has(down(1))
    passes(observer, seconds)
    observer.has(up(1))
    return observer


def test_lock_may_last_for_as_long_again_as_the_outage() -> None:
    observer = after_an_outage(locked(observing()), 90)
    assert is_allowed(observer, COMPLETE, DONE)
    assert is_allowed(observer, COMPLETE, LOCK_LOST)
    assert is_allowed(observer, RECEIVE, Empty())
    assert is_allowed(observer, RECEIVE, received("m1", 1))


def test_lock_ends_a_whole_duration_after_the_outage_at_last() -> None:
    observer = after_an_outage(locked(observing()), 90)
    passes(observer, 61)
    assert not is_allowed(observer, COMPLETE, DONE)
    assert not is_allowed(observer, RECEIVE, Empty())
    assert is_allowed(observer, RECEIVE, received("m1", 1))


def test_lock_ends_in_time_where_clocks_are_read_to_run() -> None:
    observer = after_an_outage(locked(observing(RUNS)), 90)
    assert not is_allowed(observer, COMPLETE, DONE)
    assert not is_allowed(observer, RECEIVE, Empty())


def test_lock_that_was_over_before_the_outage_stays_over() -> None:
    observer = locked(observing())
    passes(observer, 61)
    assert not is_allowed(after_an_outage(observer, 90), COMPLETE, DONE)


def test_lock_that_was_over_while_nobody_asked_stays_over() -> None:
    observer = locked(observing(), until=60 * SECOND)
    passes(observer, 100)
    assert not is_allowed(observer, COMPLETE, DONE)


def test_lock_given_after_the_outage_is_not_longer_for_it() -> None:
    observer = after_an_outage(observing_one(), 90)
    passes(observer, 5)
    observer.has(RECEIVE, received("m1", 1, lock_token="l", locked_until=155 * SECOND))
    assert is_allowed(observer, COMPLETE, DONE)
    passes(observer, 61)
    assert not is_allowed(observer, COMPLETE, DONE)


def observing_one() -> Observer:
    observer = observing()
    observer.queue()
    observer.send(partition=1)
    return observer


def test_in_the_outage_a_lock_may_be_over_or_not() -> None:
    observer = locked(observing())
    observer.has(down(0))
    passes(observer, 90)
    assert is_allowed(observer, COMPLETE, DONE)
    assert is_allowed(observer, COMPLETE, LOCK_LOST)
    assert is_allowed(observer, RECEIVE, received("m1", 1))
    assert is_allowed(observer, RenewLock(queue="q", lock_token="l"), Renewed(locked_until=None))


def with_a_session(observer: Observer) -> Observer:
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="s")
    observer.has(ACCEPT)
    return observer


def test_session_may_be_held_for_as_long_again_as_the_outage() -> None:
    observer = after_an_outage(with_a_session(observing()), 90)
    own = SetSessionState(queue="q", session_id="s", state="x")
    renew = RenewSessionLock(queue="q", session_id="s")
    following = AcceptNextSession(queue="q")
    assert is_allowed(observer, own, DONE)
    assert is_allowed(observer, renew, SESSION_LOST)
    assert is_allowed(
        observer, ACCEPT, Refused(error=Error.SESSION_CANNOT_BE_LOCKED), connection="c2"
    )
    assert is_allowed(observer, ACCEPT, DONE, connection="c2")
    assert is_allowed(observer, following, Empty(), connection="c2")
    assert is_allowed(observer, following, SessionAccepted(session_id="s"), connection="c2")
    passes(observer, 61)
    assert not is_allowed(observer, own, DONE)
    assert not is_allowed(observer, following, Empty(), connection="c2")


def test_session_ends_in_time_where_clocks_are_read_to_run() -> None:
    observer = after_an_outage(with_a_session(observing(RUNS)), 90)
    own = SetSessionState(queue="q", session_id="s", state="x")
    assert not is_allowed(observer, own, DONE)


@pytest.mark.parametrize(("readings", "remembered"), [({}, True), (RUNS, False)])
def test_message_id_may_be_remembered_for_as_long_again_as_the_outage(
    readings: dict[str, str], remembered: bool
) -> None:
    observer = observing(readings)
    observer.queue(duplicate_detection=True, duplicate_window=60 * SECOND)
    observer.send(partition=1, message_id="x")
    after_an_outage(observer, 90)
    observer.send(message_id="x")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    assert remembered is is_allowed(observer, RECEIVE, Empty())


def test_message_id_is_forgotten_a_whole_window_after_the_outage_at_last() -> None:
    observer = observing()
    observer.queue(duplicate_detection=True, duplicate_window=60 * SECOND)
    observer.send(partition=1, message_id="x")
    after_an_outage(observer, 90)
    passes(observer, 61)
    observer.send(message_id="x")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    assert not is_allowed(observer, RECEIVE, Empty())
