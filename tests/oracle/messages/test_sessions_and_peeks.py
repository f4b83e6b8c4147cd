"""Holding a session, receiving in it, and looking at what is there."""

from observing import GONE, INVALID, LOST, OTHER, Observer, received, view

from busproof.vocabulary.commands import (
    AcceptSession,
    AdvanceClock,
    CloseSession,
    Complete,
    Peek,
    Receive,
    TakePartitionDown,
)
from busproof.vocabulary.messages import MessageView
from busproof.vocabulary.outcomes import Empty, Peeked, Received, Refused
from busproof.vocabulary.values import Error, ReceiveMode

LOCK_LOST = Refused(error=Error.LOCK_LOST)
RECEIVE = Receive(queue="q")
DELETE = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
SESSION = Receive(queue="q", session_id="a")
ACCEPT = AcceptSession(queue="q", session_id="a")
CLOSE = CloseSession(queue="q", session_id="a")
MINUTE = 60_000_000


def test_a_session_is_held_by_one_connection_until_its_lock_ends(observer: Observer) -> None:
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(ACCEPT)
    assert observer.saw(ACCEPT, connection="c2").rules[0] == "LIFE-10"
    busy = Refused(error=Error.SESSION_CANNOT_BE_LOCKED)
    assert observer.saw(ACCEPT, busy, connection="c2").rules == ("LIFE-10",)
    lost = Refused(error=Error.SESSION_LOCK_LOST)
    assert observer.saw(ACCEPT, lost, connection="c2").rules == ("LIFE-10",)
    assert observer.saw(SESSION, received("m1", 1, session_id="a"), connection="c2").possible == ()
    assert observer.saw(SESSION, OTHER, connection="c2").possible
    observer.has(AdvanceClock(duration=MINUTE + 1))
    assert observer.saw(SESSION, Empty()).possible == ()
    assert observer.saw(ACCEPT, connection="c2").rules == ("SESS-11", "LIFE-10")


def test_a_session_comes_in_order_and_whole(observer: Observer) -> None:
    observer.queue(requires_session=True)
    for session in "aab":
        observer.send(partition=1, session_id=session)
    observer.has(ACCEPT)
    second = received("m2", 1, 2, session_id="a")
    assert observer.saw(SESSION, second).rules[0] == "KEY-06"
    assert observer.saw(SESSION, received("m3", 1, 3, session_id="b")).rules[:2] == (
        "SESS-04",
        "KEY-06",
    )
    assert observer.saw(SESSION, Empty()).rules[0] == "LIFE-09"
    first = received("m1", 1, 1, session_id="a", lock_token="k")
    assert observer.saw(SESSION, first).rules[0] == "KEY-06"
    observer.has(CLOSE)
    observer.has(ACCEPT, connection="c2")
    assert observer.saw(SESSION, first, connection="c2").possible


def test_a_session_in_a_partition_that_is_down_may_be_refused(observer: Observer) -> None:
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert observer.saw(ACCEPT, GONE).rules == ("SESS-25", "LIFE-11")
    observer.has(ACCEPT)
    assert observer.saw(SESSION, Empty()).possible


def test_accepting_a_session_again_may_keep_or_lose_locks(observer: Observer) -> None:
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(ACCEPT)
    observer.has(DELETE.__class__(queue="q", session_id="b"), OTHER)
    first = received("m1", 1, 1, session_id="a", lock_token="k")
    observer.has(SESSION, first)
    observer.has(ACCEPT)
    assert observer.saw(Complete(queue="q", lock_token="k"), LOCK_LOST).possible
    assert observer.saw(Complete(queue="q", lock_token="k")).possible
    observer.has(ACCEPT)


def test_a_receiver_must_fit_its_queue(observer: Observer) -> None:
    observer.queue()
    assert observer.saw(SESSION, INVALID).possible
    assert observer.saw(SESSION, Empty()).possible
    assert observer.saw(SESSION, received("x")).possible == ()
    assert observer.saw(ACCEPT, INVALID).possible
    assert observer.saw(ACCEPT).possible == ()


def test_a_session_that_is_not_held_cannot_be_closed_with_effect(observer: Observer) -> None:
    observer.queue(requires_session=True)
    assert observer.saw(CLOSE, OTHER).possible
    assert observer.saw(CLOSE).possible


def test_a_message_without_session_may_be_refused_where_sessions_are_required(
    observer: Observer,
) -> None:
    observer.queue(requires_session=True)
    assert observer.send(OTHER).possible
    assert observer.send(partition=1).possible


def test_a_peek_shows_what_is_there_in_order_and_changes_nothing(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    observer.send(partition=1)
    both = Peek(queue="q", count=2)
    assert (
        observer.saw(both, Peeked(messages=(view("m2", 1, 2), view("m1", 1, 1)))).rules[0]
        == "LIFE-07"
    )
    assert observer.saw(both, Peeked(messages=(view("m1", 1), view("m1", 1, 2)))).possible == ()
    assert observer.saw(both, Peeked(messages=(view("nobody", 1),))).rules[0] == "LIFE-01"
    assert observer.saw(Peek(queue="q"), Peeked(messages=(view("m1"), view("m2")))).possible == ()
    shown = observer.saw(both, Peeked(messages=(view("m1", 1, 1), view("m2", 1, 2))))
    assert "LIFE-07" in shown.rules
    unnumbered = (view("m1", 1).__class__(body="m1"), view("m2", 1).__class__(body="m2"))
    assert observer.saw(both, Peeked(messages=unnumbered)).possible
    assert observer.saw(both, Peeked()).possible
    assert "LIFE-07" in observer.saw(RECEIVE, Empty()).rules
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert observer.saw(both, GONE).rules == ("LIFE-11",)


def test_a_peek_of_one_message_twice_is_one_too_many(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    twice = Peeked(messages=(view("m1").__class__(body="m1"), view("m1").__class__(body="m1")))
    assert observer.saw(Peek(queue="q", count=2), twice).rules[:2] == ("PART-19", "LIFE-07")


def test_a_peek_shows_where_a_message_lies(observer: Observer) -> None:
    observer.queue()
    observer.send()
    observer.has(Peek(queue="q"), Peeked(messages=(view("m1", 2),)))
    assert observer.saw(RECEIVE, received("m1", 1)).possible == ()
    assert observer.saw(RECEIVE, received("m1", 2)).possible


def test_a_peek_shows_a_locked_message_and_an_uncertain_one(observer: Observer) -> None:
    observer.queue()
    observer.send()
    observer.has(RECEIVE, Received(message=MessageView(body="m1", lock_token="l")))
    observer.send(LOST)
    seen = Peeked(messages=(view("m1", 2, 1), view("m2", 3, 1)))
    assert observer.saw(Peek(queue="q", count=2), seen).possible
    assert observer.saw(Peek(queue="q"), Peeked(messages=(view("m2", 1, 1),))).possible == ()


def test_a_session_accepted_again_outlasts_its_first_lock(observer: Observer) -> None:
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(ACCEPT)
    observer.has(SESSION, received("m1", 1, 1, session_id="a", lock_token="k"))
    observer.has(AdvanceClock(duration=MINUTE // 2))
    observer.has(ACCEPT)
    observer.has(AdvanceClock(duration=MINUTE // 2 + 1))
    assert observer.saw(SESSION, Empty()).possible
    observer.has(AdvanceClock(duration=MINUTE))
    assert observer.saw(SESSION, OTHER).possible == ()
    assert observer.saw(SESSION, Refused(error=Error.SESSION_LOCK_LOST)).rules[0] == "SESS-12"
