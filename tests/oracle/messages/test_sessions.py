"""Sessions: the next one, their state, their list, renewal, and answers that never came."""

import pytest
from telling import DONE, GONE, LOST, OTHER, Told, received, telling

from busproof.vocabulary.commands import (
    Abandon,
    AcceptNextSession,
    AcceptSession,
    AdvanceClock,
    BeginTransaction,
    CloseSession,
    CommitTransaction,
    Complete,
    GetSessionState,
    ListSessions,
    Peek,
    Receive,
    RenewSessionLock,
    SetSessionState,
    TakePartitionDown,
)
from busproof.vocabulary.outcomes import (
    Empty,
    Outcome,
    Peeked,
    Refused,
    Renewed,
    SessionAccepted,
    SessionsListed,
    SessionState,
)
from busproof.vocabulary.values import Error

SESSION_LOST = Refused(error=Error.SESSION_LOCK_LOST)
NEXT = AcceptNextSession(queue="q")
LIST = ListSessions(queue="q")
MINUTE = 60_000_000


def accept(session: str = "a") -> AcceptSession:
    return AcceptSession(queue="q", session_id=session)


def close(session: str = "a") -> CloseSession:
    return CloseSession(queue="q", session_id=session)


def receive(session: str = "a") -> Receive:
    return Receive(queue="q", session_id=session)


def renew(session: str = "a") -> RenewSessionLock:
    return RenewSessionLock(queue="q", session_id=session)


def put(state: str | None, session: str = "a") -> SetSessionState:
    return SetSessionState(queue="q", session_id=session, state=state)


def get(session: str = "a") -> GetSessionState:
    return GetSessionState(queue="q", session_id=session)


def given(session: str) -> SessionAccepted:
    return SessionAccepted(session_id=session)


def listed(*sessions: str) -> SessionsListed:
    return SessionsListed(session_ids=sessions)


def after(told: Told, duration: int) -> None:
    told.has(AdvanceClock(duration=duration))


def allowed(told: Told, command: object, outcome: Outcome, connection: str = "c1") -> bool:
    """Whether an answer would be allowed, nothing being learned from it."""
    before = told.possible
    found = bool(told.saw(command, outcome, connection=connection).possible)
    told.possible = before
    return found


@pytest.fixture
def told() -> Told:
    told = telling()
    told.queue(requires_session=True)
    return told


def test_the_next_session_is_free_and_has_messages(told: Told) -> None:
    told.send(partition=1, session_id="a")
    assert told.saw(NEXT, given("b")).rules[0] == "SESS-06"
    assert not allowed(told, NEXT, Empty())
    told.has(NEXT, given("a"))
    assert not allowed(told, NEXT, given("a"), "c2")
    assert told.saw(NEXT, Empty(), connection="c2").rules[0] == "SESS-07"
    assert told.saw(NEXT, OTHER, connection="c2").rules[0] == "SESS-07"
    after(told, MINUTE + 1)
    assert not allowed(told, NEXT, Empty(), "c2")
    assert allowed(told, NEXT, given("a"), "c2")


def test_a_queue_without_sessions_has_no_next_one_and_no_list() -> None:
    told = telling()
    told.queue()
    assert told.saw(NEXT, OTHER).possible
    assert told.saw(LIST, OTHER).possible
    assert told.saw(NEXT, given("a")).possible == ()


@pytest.mark.parametrize(("reading", "empty"), [("either", True), ("found", False)])
def test_reading_decides_whether_a_session_is_found_in_an_outage(reading: str, empty: bool) -> None:
    told = telling({"NEXT-IN-OUTAGE": reading})
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(TakePartitionDown(queue="q", partition=0))
    assert allowed(told, NEXT, Empty()) is empty
    assert allowed(told, NEXT, given("a"))
    told.has(TakePartitionDown(queue="q", partition=1))
    assert allowed(told, NEXT, Empty())


@pytest.mark.parametrize(("reading", "refused"), [("others-served", False), ("either", True)])
def test_reading_decides_whether_an_outage_stops_other_sessions(
    reading: str, refused: bool
) -> None:
    told = telling({"SESSION-IN-OUTAGE": reading})
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(TakePartitionDown(queue="q", partition=0))
    assert allowed(told, accept(), GONE) is refused
    assert told.saw(accept()).rules[0] == "SESS-24"
    given_ = received("m1", 1, session_id="a", lock_token="l")
    assert "SESS-24" in told.saw(receive(), given_).rules


def test_session_rules_are_shown_beside_another_and_after_an_abandon() -> None:
    told = telling()
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(accept("b"), connection="c2")
    told.has(accept())
    first = told.saw(receive(), received("m1", 1, session_id="a", lock_token="l"))
    assert "SESS-04" in first.rules
    told.has(Abandon(queue="q", lock_token="l"))
    again = told.saw(receive(), received("m1", 1, session_id="a", lock_token="l2"))
    assert "SESS-15" in again.rules


def test_a_lost_next_session_may_be_any(told: Told) -> None:
    told.send(partition=1, session_id="a")
    told.has(NEXT, LOST)
    for command, outcome in (
        (get(), SessionState()),
        (receive(), received("m1", 1, session_id="a", lock_token="l")),
        (renew(), Renewed()),
        (close(), DONE),
    ):
        assert allowed(told, command, outcome)
        assert allowed(told, command, SESSION_LOST)
    for connection in ("c1", "c2"):
        assert allowed(told, accept(), OTHER, connection)
    assert allowed(told, NEXT, Empty(), "c2")
    told.has(accept(), connection="c2")
    assert not allowed(told, get(), SessionState())
    after(told, MINUTE + 1)
    assert allowed(told, get(), SessionState())
    assert not allowed(told, Receive(queue="q"), Empty(), "c3")
    assert allowed(told, Receive(queue="q"), Empty())


def test_unanswered_accept_may_have_taken_the_session(told: Told) -> None:
    told.has(accept())
    after(told, MINUTE + 1)
    assert not allowed(told, get(), SessionState())
    told.has(NEXT, LOST)
    assert allowed(told, get(), SessionState())


def test_a_renewed_session_lasts_for_another_term(told: Told) -> None:
    told.send(partition=1, session_id="a")
    told.has(accept())
    told.has(receive(), received("m1", 1, session_id="a", lock_token="l"))
    after(told, MINUTE - 1)
    told.has(renew(), Renewed(locked_until=2 * MINUTE - 1))
    after(told, MINUTE - 1)
    busy = Refused(error=Error.SESSION_CANNOT_BE_LOCKED)
    assert "SESS-13" in told.saw(accept(), connection="c2").rules
    assert told.saw(accept(), busy, connection="c2").rules == ("SESS-13", "LIFE-10")
    assert told.saw(Complete(queue="q", lock_token="l")).rules == ("SESS-14", "LIFE-03")
    after(told, MINUTE)
    assert not allowed(told, renew(), Renewed())
    assert told.saw(renew(), SESSION_LOST).rules[0] == "SESS-12"


def test_a_lost_renewal_may_have_worked(told: Told) -> None:
    told.has(renew(), LOST)
    told.has(accept())
    told.has(renew(), LOST)
    after(told, MINUTE + 1)
    assert allowed(told, accept(), DONE, "c2")
    assert allowed(told, accept(), OTHER, "c2")
    after(told, MINUTE)
    assert not allowed(told, accept(), OTHER, "c2")


def test_a_state_is_what_was_set_last(told: Told) -> None:
    told.has(accept())
    assert told.saw(get(), SessionState()).rules[0] == "SESS-16"
    told.has(put("one"))
    told.has(put("two"))
    assert not allowed(told, get(), SessionState(state="one"))
    assert told.saw(get(), SessionState(state="two")).rules[0] == "SESS-17"
    told.has(accept("b"))
    assert told.saw(get("b"), SessionState()).rules[:2] == ("SESS-20", "SESS-16")
    told.has(close())
    assert told.saw(get(), OTHER).rules[0] == "SESS-21"
    told.has(accept())
    assert told.saw(get(), SessionState(state="two")).rules[:2] == ("SESS-19", "SESS-17")
    told.has(put(None))
    assert told.saw(get(), SessionState()).rules[0] == "SESS-18"
    after(told, MINUTE + 1)
    assert told.saw(put("late"), SESSION_LOST).rules == ("SESS-12", "SESS-21")
    assert told.saw(put("late")).rules[0] == "SESS-17"


def test_a_state_whose_setting_was_lost_may_come_once(told: Told) -> None:
    told.has(accept())
    told.has(put("one"))
    told.has(put("two"), LOST)
    told.has(get(), SessionState(state="one"))
    told.has(get(), SessionState(state="two"))
    assert not allowed(told, get(), SessionState(state="one"))
    told.has(put("three"))
    assert not allowed(told, get(), SessionState(state="two"))


def test_the_list_names_what_there_is(told: Told) -> None:
    assert told.saw(LIST, listed()).rules == ()
    told.send(partition=1, session_id="a")
    told.has(accept("b"))
    told.has(put("one", "b"))
    assert told.saw(LIST, listed("a", "b")).rules[0] == "SESS-22"
    for wrong in (("a",), ("b",), ("a", "b", "c"), ("a", "a", "b")):
        assert told.saw(LIST, listed(*wrong)).rules[0] == "SESS-22"
    told.has(put(None, "b"))
    assert not allowed(told, LIST, listed("a", "b"))
    told.has(TakePartitionDown(queue="q", partition=1))
    assert allowed(told, LIST, listed())
    assert allowed(told, LIST, GONE)


def test_a_list_after_a_lost_receive_may_lack_a_session(told: Told) -> None:
    told.send(partition=1, session_id="a")
    told.has(accept())
    told.has(receive(), LOST)
    assert allowed(told, LIST, listed())


def test_a_peek_in_a_session_shows_no_other(told: Told) -> None:
    told.send(partition=1, session_id="a")
    told.send(partition=1, session_id="b")
    peek = Peek(queue="q", session_id="a", count=2)
    mine, other = (
        received(body, 1, number, session_id=session).message
        for body, number, session in (("m1", 1, "a"), ("m2", 2, "b"))
    )
    assert told.saw(peek, Peeked(messages=(mine,))).rules[0] in ("SESS-23", "LIFE-12")
    assert told.saw(peek, Peeked(messages=(other,))).rules[0] == "SESS-23"
    assert "SESS-23" in told.saw(peek, Peeked(messages=(mine,))).rules


@pytest.mark.parametrize(
    ("ended", "count", "rule"), [("closed", 1, "SESS-09"), ("expired", 2, "SESS-10")]
)
def test_a_delivery_counts_unless_the_session_was_closed(
    told: Told, ended: str, count: int, rule: str
) -> None:
    told.send(partition=1, session_id="a")
    told.has(accept())
    first = received("m1", 1, session_id="a", lock_token="k", delivery_count=1)
    told.has(receive(), first)
    if ended == "closed":
        told.has(close())
    else:
        after(told, MINUTE + 1)
    told.has(accept())
    wrong = received("m1", 1, session_id="a", lock_token="l", delivery_count=3 - count)
    assert told.saw(receive(), wrong).rules[0] == rule
    again = received("m1", 1, session_id="a", lock_token="l", delivery_count=count)
    assert told.saw(receive(), again).rules[0] == rule


def test_delivery_without_an_answer_in_a_session_may_count(told: Told) -> None:
    """The receive may have given `m1`, and an abandon that was late may have ended that."""
    told.send(partition=1, session_id="a")
    told.has(accept())
    told.has(receive(), received("m1", 1, session_id="a", lock_token="k", delivery_count=1))
    told.has(Abandon(queue="q", lock_token="k"))
    told.has(receive(), LOST)
    told.has(close())
    told.has(accept())
    again = received("m1", 1, session_id="a", lock_token="l", delivery_count=3)
    assert told.saw(receive(), again).possible


def test_a_delivery_whose_end_is_not_known_may_count(told: Told) -> None:
    for lost in (close(), Abandon(queue="q", lock_token="k")):
        told = telling()
        told.queue(requires_session=True)
        told.send(partition=1, session_id="a")
        told.has(accept())
        told.has(receive(), received("m1", 1, session_id="a", lock_token="k", delivery_count=1))
        told.has(lost, LOST)
        told.has(close(), SESSION_LOST if lost == close() else DONE)
        told.has(accept())
        for count in (1, 2):
            again = received("m1", 1, session_id="a", lock_token="l", delivery_count=count)
            assert allowed(told, receive(), again)


def test_a_message_of_no_session_is_given_in_none(told: Told) -> None:
    assert told.send(partition=1, message_id="x").rules[0] == "SESS-01"
    assert told.send(OTHER).rules[0] == "SESS-01"
    told.has(accept())
    stray = received("m1", 1, message_id="x", lock_token="l")
    assert told.saw(receive(), stray).rules[0] == "SESS-01"
    assert told.saw(Receive(queue="q"), Empty(), connection="c2").rules[0] == "LIFE-09"


def test_a_connection_that_holds_a_session_may_ask_for_none(told: Told) -> None:
    told.has(accept())
    assert allowed(told, Receive(queue="q"), Empty())


def test_a_commit_on_a_regular_queue_spans_sessions() -> None:
    told = telling()
    told.queue(partitioned=False, requires_session=True)
    told.has(BeginTransaction(transaction="t"))
    for session in "ab":
        told.send(transaction="t", session_id=session)
    assert told.saw(CommitTransaction(transaction="t")).rules == ("SESS-26", "TXN-12")
    told.has(accept())
    assert "SESS-26" in told.saw(receive(), Empty()).rules
    assert told.saw(receive(), Empty()).possible == ()


def test_the_model_offers_sessions_states_and_lists(told: Told) -> None:
    told.send(partition=1, session_id="a")
    told.send(partition=1, session_id="b")
    told.has(accept())
    offers = {
        NEXT: given("b"),
        LIST: listed("a", "b"),
        get(): SessionState(),
        renew(): Renewed(locked_until=MINUTE),
    }
    for command, outcome in offers.items():
        assert outcome in [each.outcome for each in told.step(command)]
    shown = told.step(Peek(queue="q", session_id="b"))[0].outcome
    assert isinstance(shown, Peeked)
    assert [view.body for view in shown.messages] == ["m2"]


def test_an_outage_may_be_told_before_a_lost_session(told: Told) -> None:
    told.has(accept())
    after(told, MINUTE + 1)
    assert not allowed(told, receive(), GONE)
    told.has(TakePartitionDown(queue="q", partition=0))
    for command in (receive(), renew(), get(), put("s")):
        assert allowed(told, command, GONE)
        assert allowed(told, command, SESSION_LOST)


def test_a_renewal_gives_no_certainty_back_to_a_lock_that_may_have_ended() -> None:
    """Accepted again by its holder, a session may have given back what was taken in it."""
    told = telling()
    told.queue(requires_session=True)
    told.send(session_id="a", partition=0)
    accept = AcceptSession(queue="q", session_id="a")
    receive = Receive(queue="q", session_id="a")
    told.has(accept)
    told.has(receive, received("m1", session_id="a", lock_token="1"))
    told.has(accept)
    told.has(RenewSessionLock(queue="q", session_id="a"), Renewed(locked_until=60_000_000))
    told.has(receive, received("m1", session_id="a", lock_token="2"))


def test_reaccepted_session_need_not_count_a_delivery() -> None:
    """It may have been given back when its holder accepted the session once more."""
    told = telling(slack=2_000_000)
    told.queue(requires_session=True)
    told.send(session_id="a", partition=0)
    told.has(accept())
    first = received("m1", session_id="a", lock_token="1", delivery_count=1)
    told.has(receive(), first)
    told.has(accept())
    told.has(AdvanceClock(duration=MINUTE))
    told.has(accept(), connection="c2")
    for count in (1, 2):
        again = received("m1", session_id="a", lock_token="2", delivery_count=count)
        before = told.possible
        told.has(receive(), again, connection="c2")
        told.possible = before
