"""Deliveries in a session, and whether they count once it is closed or lost."""

import pytest
from observing import DONE, LOST, OTHER, Observer, observing, received
from session_requests import (
    MINUTE,
    SESSION_LOST,
    accept,
    after,
    allowed,
    close,
    receive,
)

from busproof import vocabulary as v


@pytest.fixture
def observer() -> Observer:
    observer = observing()
    observer.queue(requires_session=True)
    return observer


@pytest.mark.parametrize(
    ("ended", "count", "rule"), [("closed", 1, "SESS-09"), ("expired", 2, "SESS-10")]
)
def test_a_delivery_counts_unless_the_session_was_closed(
    observer: Observer, ended: str, count: int, rule: str
) -> None:
    observer.send(partition=1, session_id="a")
    observer.has(accept())
    first = received("m1", 1, session_id="a", lock_token="k", delivery_count=1)
    observer.has(receive(), first)
    if ended == "closed":
        observer.has(close())
    else:
        after(observer, MINUTE + 1)
    observer.has(accept())
    wrong = received("m1", 1, session_id="a", lock_token="l", delivery_count=3 - count)
    assert observer.saw(receive(), wrong).rules[0] == rule
    again = received("m1", 1, session_id="a", lock_token="l", delivery_count=count)
    assert observer.saw(receive(), again).rules[0] == rule


def test_delivery_without_an_answer_in_a_session_may_count(observer: Observer) -> None:
    """The receive may have given `m1`, and an abandon that was late may have ended that."""
    observer.send(partition=1, session_id="a")
    observer.has(accept())
    observer.has(receive(), received("m1", 1, session_id="a", lock_token="k", delivery_count=1))
    observer.has(v.Abandon(queue="q", lock_token="k"))
    observer.has(receive(), LOST)
    observer.has(close())
    observer.has(accept())
    again = received("m1", 1, session_id="a", lock_token="l", delivery_count=3)
    assert observer.saw(receive(), again).possible


def test_a_delivery_whose_end_is_not_known_may_count(observer: Observer) -> None:
    for lost in (close(), v.Abandon(queue="q", lock_token="k")):
        observer = observing()
        observer.queue(requires_session=True)
        observer.send(partition=1, session_id="a")
        observer.has(accept())
        observer.has(receive(), received("m1", 1, session_id="a", lock_token="k", delivery_count=1))
        observer.has(lost, LOST)
        observer.has(close(), SESSION_LOST if lost == close() else DONE)
        observer.has(accept())
        for count in (1, 2):
            again = received("m1", 1, session_id="a", lock_token="l", delivery_count=count)
            assert allowed(observer, receive(), again)


def test_a_message_of_no_session_is_given_in_none(observer: Observer) -> None:
    assert observer.send(partition=1, message_id="x").rules[0] == "SESS-01"
    assert observer.send(OTHER).rules[0] == "SESS-01"
    observer.has(accept())
    stray = received("m1", 1, message_id="x", lock_token="l")
    assert observer.saw(receive(), stray).rules[0] == "SESS-01"
    assert observer.saw(v.Receive(queue="q"), v.Empty(), connection="c2").rules[0] == "LIFE-09"


def test_a_renewal_gives_no_certainty_back_to_a_lock_that_may_have_ended() -> None:
    """Accepted again by its holder, a session may have given back what was taken in it."""
    observer = observing()
    observer.queue(requires_session=True)
    observer.send(session_id="a", partition=0)
    accept = v.AcceptSession(queue="q", session_id="a")
    receive = v.Receive(queue="q", session_id="a")
    observer.has(accept)
    observer.has(receive, received("m1", session_id="a", lock_token="1"))
    observer.has(accept)
    observer.has(v.RenewSessionLock(queue="q", session_id="a"), v.Renewed(locked_until=60_000_000))
    observer.has(receive, received("m1", session_id="a", lock_token="2"))


def test_reaccepted_session_need_not_count_a_delivery() -> None:
    """It may have been given back when its holder accepted the session once more."""
    observer = observing(slack=2_000_000)
    observer.queue(requires_session=True)
    observer.send(session_id="a", partition=0)
    observer.has(accept())
    first = received("m1", session_id="a", lock_token="1", delivery_count=1)
    observer.has(receive(), first)
    observer.has(accept())
    observer.has(v.AdvanceClock(duration=MINUTE))
    observer.has(accept(), connection="c2")
    for count in (1, 2):
        again = received("m1", session_id="a", lock_token="2", delivery_count=count)
        before = observer.possible
        observer.has(receive(), again, connection="c2")
        observer.possible = before


@pytest.mark.parametrize("lost", [accept(), close()], ids=["accept", "close"])
@pytest.mark.parametrize("earlier", [True, False])
def test_unanswered_request_of_the_holder_may_release_what_it_received(
    observer: Observer, lost: v.Command, earlier: bool
) -> None:
    """Before or after the request, which may take effect at any time from then on."""
    observer.send(partition=1, session_id="a")
    observer.send(partition=1, session_id="a")
    observer.has(accept())
    first = received("m1", 1, session_id="a", lock_token="k", delivery_count=1)
    if earlier:
        observer.has(receive(), first)
    observer.has(lost, LOST)
    if not earlier:
        observer.has(receive(), first)
    for count in (1, 2):
        again = received("m1", 1, session_id="a", lock_token="l", delivery_count=count)
        assert allowed(observer, receive(), again)
    assert allowed(observer, receive(), received("m2", 1, number=2, session_id="a"))


@pytest.mark.parametrize("reading", ["either", "ends", "lasts"])
@pytest.mark.parametrize("answer", [DONE, LOST])
def test_session_accepted_again_may_release_what_waits_for_a_commit(
    reading: str, answer: v.Outcome
) -> None:
    """The readings of LOCK-IN-TRANSACTION are about the time of a lock, not about its session."""
    observer = observing({"LOCK-IN-TRANSACTION": reading})
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(accept())
    first = received("m1", 1, session_id="a", lock_token="k", delivery_count=1)
    observer.has(receive(), first)
    observer.has(v.BeginTransaction(transaction="t"))
    observer.has(v.Complete(queue="q", lock_token="k", transaction="t"))
    observer.has(accept(), answer)
    commit = v.CommitTransaction(transaction="t")
    assert allowed(observer, commit, DONE)
    assert allowed(observer, commit, v.Refused(error=v.Error.LOCK_LOST))
    observer.has(receive(), received("m1", 1, session_id="a", lock_token="l", delivery_count=2))
    assert not allowed(observer, commit, DONE)
