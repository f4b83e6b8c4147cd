"""Settling in transactions: what waits for the commit, and what becomes of it otherwise."""

import pytest
from in_transactions import (
    BEGIN,
    COMMIT,
    DEAD,
    KINDS,
    LOCK_LOST,
    PLAIN,
    RECEIVE,
    ROLL_BACK,
    again,
    enlisted,
    within,
)
from observing import (
    DONE,
    INVALID,
    LOST,
    SECOND,
    Observer,
    is_allowed,
    locked,
    observing,
    passes,
    received,
)

from busproof import vocabulary as v
from busproof.oracle.step import step


@pytest.mark.parametrize("kind", KINDS)
def test_until_the_commit_a_message_stays_where_it_is(kind: type[v.Settlement]) -> None:
    observer = enlisted(observing(), kind)
    found = observer.saw(RECEIVE, again())
    assert not found.possible
    assert found.rules[0] == "LIFE-02"
    assert "LOCK-11" in found.rules
    assert not is_allowed(observer, v.Receive(queue=DEAD), again())
    by_number = v.ReceiveDeferred(queue="q", sequence_numbers=((1 << v.SEQUENCE_BITS) + 1,))
    assert is_allowed(observer, by_number, v.Refused(error=v.Error.MESSAGE_NOT_FOUND))
    observer.has(RECEIVE, v.Empty())
    observer.has(v.Peek(queue="q"), v.Peeked(messages=(received("m1", 1).message,)))
    assert not is_allowed(observing(), v.Peek(queue="q"), v.Peeked())


@pytest.mark.parametrize("kind", KINDS)
def test_the_commit_settles(kind: type[v.Settlement]) -> None:
    observer = enlisted(observing(), kind)
    assert observer.saw(COMMIT).rules == ("LOCK-11",)
    passes(observer, 61)
    assert is_allowed(observer, RECEIVE, again()) is (kind is v.Abandon)
    assert is_allowed(observer, RECEIVE, v.Empty()) is (kind is not v.Abandon)
    assert is_allowed(observer, v.Receive(queue=DEAD), again()) is (kind is v.DeadLetter)
    number = (1 << v.SEQUENCE_BITS) + 1
    by_number = v.ReceiveDeferred(queue="q", sequence_numbers=(number,))
    given = v.ReceivedSeveral(messages=(again().message,))
    assert is_allowed(observer, by_number, given) is (kind is v.Defer)
    assert not is_allowed(observer, PLAIN, DONE)


def test_commit_settles_together_with_the_sends(observer: Observer) -> None:
    enlisted(observer, partitioned=False)
    observer.send(transaction="t", partition_key="a")
    assert set(observer.saw(COMMIT).rules) >= {"LOCK-11", "TXN-12"}
    assert is_allowed(observer, RECEIVE, received("m2", number=2, partition_key="a"))
    assert "LOCK-11" in observer.saw(RECEIVE, v.Empty()).rules


def test_a_commit_that_is_possible_is_not_refused(observer: Observer) -> None:
    enlisted(observer)
    found = observer.saw(COMMIT, LOCK_LOST)
    assert not found.possible
    assert "LOCK-11" in found.rules


@pytest.mark.parametrize("kind", KINDS)
def test_a_rollback_leaves_the_message_to_its_receiver(kind: type[v.Settlement]) -> None:
    observer = enlisted(observing(), kind)
    observer.has(ROLL_BACK)
    assert not is_allowed(observer, RECEIVE, again())
    found = observer.saw(PLAIN, LOCK_LOST)
    assert "LOCK-12" in found.rules
    assert not found.possible
    assert "LOCK-12" in observer.saw(PLAIN).rules


def test_rollback_counts_no_delivery(observer: Observer) -> None:
    enlisted(observer)
    observer.has(ROLL_BACK)
    observer.has(v.Abandon(queue="q", lock_token="l"))
    assert not is_allowed(observer, RECEIVE, again(delivery_count=3))
    assert is_allowed(observer, RECEIVE, again(delivery_count=2))


def test_after_it_the_lock_ends_when_it_would_have(observer: Observer) -> None:
    enlisted(observer)
    observer.has(ROLL_BACK)
    passes(observer, 59)
    assert not is_allowed(observer, RECEIVE, again())
    passes(observer, 2)
    assert observer.saw(RECEIVE, v.Empty()).possible == ()
    assert is_allowed(observer, RECEIVE, again())


@pytest.mark.parametrize(
    ("reading", "may_come", "may_stay", "may_commit"),
    [
        ("either", True, True, True),
        ("ends", True, False, False),
        ("lasts", False, True, True),
    ],
)
def test_reading_decides_whether_a_lock_ends_in_a_transaction(
    reading: str, may_come: bool, may_stay: bool, may_commit: bool
) -> None:
    observer = enlisted(observing({"LOCK-IN-TRANSACTION": reading}))
    passes(observer, 61)
    assert is_allowed(observer, RECEIVE, again()) is may_come
    assert is_allowed(observer, RECEIVE, v.Empty()) is may_stay
    assert is_allowed(observer, COMMIT, DONE) is may_commit
    assert is_allowed(observer, COMMIT, LOCK_LOST) is (reading != "lasts")


@pytest.mark.parametrize("ending", [ROLL_BACK, COMMIT])
def test_a_lock_does_not_outlast_a_transaction_that_may_have_ended(ending: v.Command) -> None:
    """The reading is about a running transaction."""
    observer = enlisted(observing({"LOCK-IN-TRANSACTION": "lasts"}))
    passes(observer, 61)
    assert not is_allowed(observer, RECEIVE, again())
    observer.has(ending, LOST)
    passes(observer, 1)
    assert is_allowed(observer, RECEIVE, again())
    assert is_allowed(observer, RECEIVE, v.Empty())


def test_a_lock_does_not_outlast_the_time_that_a_transaction_has() -> None:
    observer = enlisted(observing({"LOCK-IN-TRANSACTION": "lasts"}))
    passes(observer, 119)
    assert not is_allowed(observer, RECEIVE, again())
    passes(observer, 2)
    assert is_allowed(observer, RECEIVE, again())
    assert is_allowed(observer, RECEIVE, v.Empty())


def test_commit_does_not_settle_a_message_given_to_another_receiver(observer: Observer) -> None:
    enlisted(observer)
    observer.send(transaction="t", partition=1, partition_key="a")
    passes(observer, 61)
    observer.has(RECEIVE, again(), connection="c2")
    found = observer.saw(COMMIT)
    assert not found.possible
    assert found.rules[0] == "LOCK-13"
    assert observer.saw(COMMIT, LOCK_LOST).rules == ("LOCK-13",)
    assert is_allowed(observer, v.Complete(queue="q", lock_token="n"), DONE)
    assert not is_allowed(observer, RECEIVE, received("m2", 1))


def test_a_refused_commit_gives_back_what_was_kept_too_long(observer: Observer) -> None:
    enlisted(observer)
    passes(observer, 61)
    observer.has(COMMIT, LOCK_LOST)
    passes(observer, 1)
    assert is_allowed(observer, RECEIVE, again())
    assert not is_allowed(observer, PLAIN, DONE)


def test_a_lock_is_renewed_while_a_settlement_waits(observer: Observer) -> None:
    enlisted(observer)
    renew = v.RenewLock(queue="q", lock_token="l")
    assert is_allowed(observer, renew, INVALID)
    passes(observer, 40)
    observer.has(renew, v.Renewed(locked_until=100 * SECOND))
    passes(observer, 40)
    assert not is_allowed(observer, RECEIVE, again())
    observer.has(ROLL_BACK)
    assert not is_allowed(observer, RECEIVE, again())
    passes(observer, 21)
    assert is_allowed(observer, RECEIVE, again())


def in_session(observer: Observer) -> Observer:
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="s")
    observer.has(v.AcceptSession(queue="q", session_id="s"))
    given = received("m1", 1, lock_token="l", session_id="s", delivery_count=1)
    observer.has(v.Receive(queue="q", session_id="s"), given)
    observer.has(BEGIN)
    observer.has(within())
    return observer


def test_a_session_that_is_closed_leaves_open_what_is_settled_in_it(observer: Observer) -> None:
    in_session(observer)
    observer.has(v.CloseSession(queue="q", session_id="s"))
    observer.has(v.AcceptSession(queue="q", session_id="s"), connection="c2")
    ask = v.Receive(queue="q", session_id="s")
    assert is_allowed(observer, ask, v.Empty(), connection="c2")
    assert is_allowed(observer, ask, again(session_id="s"), connection="c2")
    assert is_allowed(observer, COMMIT, DONE)
    observer.has(ROLL_BACK)
    passes(observer, 1)
    assert not is_allowed(observer, ask, v.Empty(), connection="c2")
    assert is_allowed(observer, ask, again(session_id="s"), connection="c2")


def test_a_session_that_is_renewed_keeps_what_is_settled_in_it(observer: Observer) -> None:
    in_session(observer)
    passes(observer, 40)
    observer.has(
        v.RenewSessionLock(queue="q", session_id="s"), v.Renewed(locked_until=100 * SECOND)
    )
    passes(observer, 40)
    observer.has(ROLL_BACK)
    assert "SESS-14" in observer.saw(PLAIN).rules


def test_a_queue_that_is_full_may_have_room_by_a_settlement(observer: Observer) -> None:
    """What is settled makes room; whether for what is sent beside it is not said."""
    large = 300 * 1024 * 1024
    observer.queue(partitioned=False, max_size=1)
    for _ in range(3):
        assert observer.send(size=large).possible
    observer.has(RECEIVE, received("m1", lock_token="l", locked_until=60 * SECOND))
    observer.has(BEGIN)
    observer.has(within())
    beside = v.Send(queue="q", message=v.Message(body="x", size=large), transaction="t")
    for outcome in (DONE, v.Refused(error=v.Error.QUOTA_EXCEEDED)):
        assert is_allowed(observer, beside, outcome), outcome


def test_a_refused_settlement_changes_nothing(observer: Observer) -> None:
    locked(observer)
    observer.has(BEGIN)
    passes(observer, 61)
    (namespace,) = observer.possible
    refused = [each for each in step(namespace, within()) if isinstance(each.outcome, v.Refused)]
    assert refused
    for each in refused:
        assert {*each.next.queues["q"].messages} == {*namespace.queues["q"].messages}


def test_possibly_abandoned_message_may_be_redelivered_after_a_rollback(observer: Observer) -> None:
    """The abandon that nobody answered may have taken effect before."""
    enlisted(observer).has(v.Abandon(queue="q", lock_token="l"), LOST)
    observer.has(ROLL_BACK)
    assert is_allowed(observer, RECEIVE, again(delivery_count=2))
    assert is_allowed(observer, RECEIVE, v.Empty())
    assert is_allowed(observer, PLAIN, DONE)
