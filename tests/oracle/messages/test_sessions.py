"""Sessions: the next one, their state, their list, renewal, and answers that never came."""

import pytest
from observing import DONE, GONE, LOST, OTHER, Observer, observing, received
from session_requests import (
    LIST,
    MINUTE,
    NEXT,
    SESSION_LOST,
    accept,
    after,
    allowed,
    close,
    get,
    given,
    listed,
    put,
    receive,
    renew,
)

from busproof.vocabulary.commands import (
    Abandon,
    BeginTransaction,
    CommitTransaction,
    Complete,
    Peek,
    Receive,
    TakePartitionDown,
)
from busproof.vocabulary.outcomes import (
    Empty,
    Peeked,
    Refused,
    Renewed,
    SessionState,
)
from busproof.vocabulary.values import Error


@pytest.fixture
def observer() -> Observer:
    observer = observing()
    observer.queue(requires_session=True)
    return observer


def test_the_next_session_is_free_and_has_messages(observer: Observer) -> None:
    observer.send(partition=1, session_id="a")
    assert observer.saw(NEXT, given("b")).rules[0] == "SESS-06"
    assert not allowed(observer, NEXT, Empty())
    observer.has(NEXT, given("a"))
    assert not allowed(observer, NEXT, given("a"), "c2")
    assert observer.saw(NEXT, Empty(), connection="c2").rules[0] == "SESS-07"
    assert observer.saw(NEXT, OTHER, connection="c2").rules[0] == "SESS-07"
    after(observer, MINUTE + 1)
    assert not allowed(observer, NEXT, Empty(), "c2")
    assert allowed(observer, NEXT, given("a"), "c2")


def test_a_held_session_is_not_the_next_one_while_another_is_free(observer: Observer) -> None:
    for session in ("a", "b"):
        observer.send(partition=1, session_id=session)
    observer.has(accept("a"))
    assert "SESS-07" == observer.saw(NEXT, given("a"), connection="c2").rules[0]
    observer.has(NEXT, given("b"), connection="c2")


def test_a_queue_without_sessions_has_no_next_one_and_no_list() -> None:
    observer = observing()
    observer.queue()
    assert observer.saw(NEXT, OTHER).possible
    assert observer.saw(LIST, OTHER).possible
    assert observer.saw(NEXT, given("a")).possible == ()


@pytest.mark.parametrize(("reading", "empty"), [("either", True), ("found", False)])
def test_reading_decides_whether_a_session_is_found_in_an_outage(reading: str, empty: bool) -> None:
    observer = observing({"NEXT-IN-OUTAGE": reading})
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(TakePartitionDown(queue="q", partition=0))
    assert allowed(observer, NEXT, Empty()) is empty
    assert allowed(observer, NEXT, given("a"))
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert allowed(observer, NEXT, Empty())


@pytest.mark.parametrize(("reading", "refused"), [("others-served", False), ("either", True)])
def test_reading_decides_whether_an_outage_stops_other_sessions(
    reading: str, refused: bool
) -> None:
    observer = observing({"SESSION-IN-OUTAGE": reading})
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(TakePartitionDown(queue="q", partition=0))
    assert allowed(observer, accept(), GONE) is refused
    assert observer.saw(accept()).rules[0] == "SESS-24"
    given_ = received("m1", 1, session_id="a", lock_token="l")
    assert "SESS-24" in observer.saw(receive(), given_).rules


def test_session_rules_are_shown_beside_another_and_after_an_abandon() -> None:
    observer = observing()
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(accept("b"), connection="c2")
    observer.has(accept())
    first = observer.saw(receive(), received("m1", 1, session_id="a", lock_token="l"))
    assert "SESS-04" in first.rules
    observer.has(Abandon(queue="q", lock_token="l"))
    again = observer.saw(receive(), received("m1", 1, session_id="a", lock_token="l2"))
    assert "SESS-15" in again.rules


def test_a_lost_next_session_may_be_any(observer: Observer) -> None:
    observer.send(partition=1, session_id="a")
    observer.has(NEXT, LOST)
    for command, outcome in (
        (get(), SessionState()),
        (receive(), received("m1", 1, session_id="a", lock_token="l")),
        (renew(), Renewed()),
        (close(), DONE),
    ):
        assert allowed(observer, command, outcome)
        assert allowed(observer, command, SESSION_LOST)
    for connection in ("c1", "c2"):
        assert allowed(observer, accept(), OTHER, connection)
    assert allowed(observer, NEXT, Empty(), "c2")
    observer.has(accept(), connection="c2")
    assert not allowed(observer, get(), SessionState())
    after(observer, MINUTE + 1)
    assert allowed(observer, get(), SessionState())
    assert not allowed(observer, Receive(queue="q"), Empty(), "c3")
    assert allowed(observer, Receive(queue="q"), Empty())


def test_unanswered_accept_may_have_taken_the_session(observer: Observer) -> None:
    observer.has(accept())
    after(observer, MINUTE + 1)
    assert not allowed(observer, get(), SessionState())
    observer.has(NEXT, LOST)
    assert allowed(observer, get(), SessionState())


def test_a_renewed_session_lasts_for_another_term(observer: Observer) -> None:
    observer.send(partition=1, session_id="a")
    observer.has(accept())
    observer.has(receive(), received("m1", 1, session_id="a", lock_token="l"))
    after(observer, MINUTE - 1)
    observer.has(renew(), Renewed(locked_until=2 * MINUTE - 1))
    after(observer, MINUTE - 1)
    busy = Refused(error=Error.SESSION_CANNOT_BE_LOCKED)
    assert "SESS-13" in observer.saw(accept(), connection="c2").rules
    assert observer.saw(accept(), busy, connection="c2").rules == ("SESS-13", "LIFE-10")
    assert observer.saw(Complete(queue="q", lock_token="l")).rules == ("SESS-14", "LIFE-03")
    after(observer, MINUTE)
    assert not allowed(observer, renew(), Renewed())
    assert observer.saw(renew(), SESSION_LOST).rules[0] == "SESS-12"


def test_a_lost_renewal_may_have_worked(observer: Observer) -> None:
    observer.has(renew(), LOST)
    observer.has(accept())
    observer.has(renew(), LOST)
    after(observer, MINUTE + 1)
    assert allowed(observer, accept(), DONE, "c2")
    assert allowed(observer, accept(), OTHER, "c2")
    after(observer, MINUTE)
    assert not allowed(observer, accept(), OTHER, "c2")


def test_a_state_is_what_was_set_last(observer: Observer) -> None:
    observer.has(accept())
    assert observer.saw(get(), SessionState()).rules[0] == "SESS-16"
    observer.has(put("one"))
    observer.has(put("two"))
    assert not allowed(observer, get(), SessionState(state="one"))
    assert observer.saw(get(), SessionState(state="two")).rules[0] == "SESS-17"
    observer.has(accept("b"))
    assert observer.saw(get("b"), SessionState()).rules[:2] == ("SESS-20", "SESS-16")
    observer.has(close())
    assert observer.saw(get(), OTHER).rules[0] == "SESS-21"
    observer.has(accept())
    assert observer.saw(get(), SessionState(state="two")).rules[:2] == ("SESS-19", "SESS-17")
    observer.has(put(None))
    assert observer.saw(get(), SessionState()).rules[0] == "SESS-18"
    after(observer, MINUTE + 1)
    assert observer.saw(put("late"), SESSION_LOST).rules == ("SESS-12", "SESS-21")
    assert observer.saw(put("late")).rules[0] == "SESS-12"


def test_a_state_whose_setting_was_lost_may_come_once(observer: Observer) -> None:
    observer.has(accept())
    observer.has(put("one"))
    observer.has(put("two"), LOST)
    observer.has(get(), SessionState(state="one"))
    observer.has(get(), SessionState(state="two"))
    assert not allowed(observer, get(), SessionState(state="one"))
    observer.has(put("three"))
    assert not allowed(observer, get(), SessionState(state="two"))


def test_the_list_names_what_there_is(observer: Observer) -> None:
    assert observer.saw(LIST, listed()).rules == ()
    observer.send(partition=1, session_id="a")
    observer.has(accept("b"))
    observer.has(put("one", "b"))
    assert observer.saw(LIST, listed("a", "b")).rules[0] == "SESS-22"
    for wrong in (("a",), ("b",), ("a", "b", "c"), ("a", "a", "b")):
        assert observer.saw(LIST, listed(*wrong)).rules[0] == "SESS-22"
    observer.has(put(None, "b"))
    assert not allowed(observer, LIST, listed("a", "b"))
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert allowed(observer, LIST, listed())
    assert allowed(observer, LIST, GONE)


def test_a_list_after_a_lost_receive_may_lack_a_session(observer: Observer) -> None:
    observer.send(partition=1, session_id="a")
    observer.has(accept())
    observer.has(receive(), LOST)
    assert allowed(observer, LIST, listed())


def test_a_peek_in_a_session_shows_no_other(observer: Observer) -> None:
    observer.send(partition=1, session_id="a")
    observer.send(partition=1, session_id="b")
    peek = Peek(queue="q", session_id="a", count=2)
    mine, other = (
        received(body, 1, number, session_id=session).message
        for body, number, session in (("m1", 1, "a"), ("m2", 2, "b"))
    )
    assert observer.saw(peek, Peeked(messages=(mine,))).rules[0] in ("SESS-23", "LIFE-12")
    assert observer.saw(peek, Peeked(messages=(other,))).rules[0] == "SESS-23"
    assert "SESS-23" in observer.saw(peek, Peeked(messages=(mine,))).rules


def test_a_connection_that_holds_a_session_may_ask_for_none(observer: Observer) -> None:
    observer.has(accept())
    assert allowed(observer, Receive(queue="q"), Empty())


def test_a_commit_on_a_regular_queue_spans_sessions() -> None:
    observer = observing()
    observer.queue(partitioned=False, requires_session=True)
    observer.has(BeginTransaction(transaction="t"))
    for session in "ab":
        observer.send(transaction="t", session_id=session)
    assert observer.saw(CommitTransaction(transaction="t")).rules == ("SESS-26", "TXN-12")
    observer.has(accept())
    assert "SESS-26" in observer.saw(receive(), Empty()).rules
    assert observer.saw(receive(), Empty()).possible == ()


def test_the_model_offers_sessions_states_and_lists(observer: Observer) -> None:
    observer.send(partition=1, session_id="a")
    observer.send(partition=1, session_id="b")
    observer.has(accept())
    offers = {
        NEXT: given("b"),
        LIST: listed("a", "b"),
        get(): SessionState(),
        renew(): Renewed(locked_until=MINUTE),
    }
    for command, outcome in offers.items():
        assert outcome in [each.outcome for each in observer.step(command)]
    shown = observer.step(Peek(queue="q", session_id="b"))[0].outcome
    assert isinstance(shown, Peeked)
    assert [view.body for view in shown.messages] == ["m2"]


def test_an_outage_may_be_reported_before_a_lost_session(observer: Observer) -> None:
    observer.has(accept())
    after(observer, MINUTE + 1)
    assert not allowed(observer, receive(), GONE)
    observer.has(TakePartitionDown(queue="q", partition=0))
    for command in (receive(), renew(), get(), put("s")):
        assert allowed(observer, command, GONE)
        assert allowed(observer, command, SESSION_LOST)
