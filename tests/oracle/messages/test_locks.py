"""How long a lock lasts, its expiry in answers, and its renewal."""

import pytest
from observing import INVALID, LOST, OTHER, SECOND, Observer, received

from busproof.oracle.step import step
from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    AdvanceClock,
    Complete,
    CreateQueue,
    Receive,
    RenewLock,
    Schedule,
    TakePartitionDown,
)
from busproof.vocabulary.outcomes import Empty, Refused, Renewed, Scheduled
from busproof.vocabulary.values import Error, ReceiveMode

RECEIVE = Receive(queue="q")
RENEW = RenewLock(queue="q", lock_token="l")
COMPLETE = Complete(queue="q", lock_token="l")
LOCK_LOST = Refused(error=Error.LOCK_LOST)
MINUTE = 60 * SECOND


def after(observer: Observer, duration: int) -> None:
    observer.has(AdvanceClock(duration=duration))


def locked(observer: Observer, **settings: object) -> Observer:
    """A queue with one message, which is locked."""
    observer.queue(**settings)
    observer.send(partition=1)
    observer.has(RECEIVE, received("m1", 1, lock_token="l"))
    return observer


def test_a_lock_lasts_in_answers_as_long_as_its_queue_says(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    for until in (MINUTE - 1, MINUTE + 1):
        wrong = received("m1", 1, lock_token="l", locked_until=until)
        assert observer.saw(RECEIVE, wrong).rules[:2] == ("LOCK-02", "LOCK-01")
    right = received("m1", 1, lock_token="l", locked_until=MINUTE)
    assert {"LOCK-01", "LOCK-02"} <= set(observer.saw(RECEIVE, right).rules)


def test_lock_of_a_prefetched_message_may_be_shorter(observer: Observer) -> None:
    """It began when the message entered a cache, and not before the message was there."""
    observer.queue(lock_duration=5 * SECOND)
    observer.send(partition=1)
    observer.send(partition=2)
    observer.has(RECEIVE, received("m1", 1, lock_token="l"))
    longer = received("m2", 2, lock_token="n", locked_until=5 * SECOND + 1)
    assert observer.saw(RECEIVE, longer).rules[0] == "LOCK-01"
    after(observer, 2 * SECOND)
    too_short = received("m2", 2, lock_token="n", locked_until=5 * SECOND - 1)
    assert observer.saw(RECEIVE, too_short).rules[0] == "LOCK-01"
    observer.has(RECEIVE, received("m2", 2, lock_token="n", locked_until=5 * SECOND))


def test_a_lock_that_ends_as_others_receive_may_have_been_followed_by_one_in_a_cache(
    observer: Observer,
) -> None:
    """At the very moment at which it ends, the message may already have been found."""
    locked(observer)
    observer.send(partition=2)
    after(observer, MINUTE)
    observer.has(RECEIVE, received("m2", 2, lock_token="n"))
    after(observer, 1)
    again = received("m1", 1, lock_token="k", delivery_count=2, locked_until=2 * MINUTE)
    assert observer.saw(RECEIVE, again).possible


def test_message_that_nobody_can_have_cached_has_a_lock_from_now(observer: Observer) -> None:
    locked(observer)
    after(observer, MINUTE + 1)
    again = received("m1", 1, lock_token="k", delivery_count=2, locked_until=2 * MINUTE)
    assert observer.saw(RECEIVE, again).rules[0] == "LOCK-02"


def test_message_scheduled_for_now_may_have_been_cached_at_once(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    scheduled = observer.message()
    observer.has(Schedule(queue="q", message=scheduled, delay=0), Scheduled(sequence_number=7))
    observer.has(RECEIVE, received("m1", 1, lock_token="l"))
    after(observer, SECOND)
    early = received(scheduled.body, 2, lock_token="n", locked_until=MINUTE)
    assert observer.saw(RECEIVE, early).possible


def test_message_that_is_due_after_the_last_receive_has_a_lock_from_now(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    scheduled = observer.message()
    observer.has(Schedule(queue="q", message=scheduled, delay=SECOND), Scheduled(sequence_number=7))
    observer.has(RECEIVE, received("m1", 1, lock_token="l"))
    after(observer, 2 * SECOND)
    early = received(scheduled.body, 2, lock_token="n", locked_until=MINUTE)
    assert not observer.saw(RECEIVE, early).possible


def test_a_settlement_late_in_its_lock_shows_that_it_lasted(observer: Observer) -> None:
    locked(observer)
    after(observer, 40 * SECOND)
    assert "LOCK-01" in observer.saw(COMPLETE, LOCK_LOST).rules
    assert {"LOCK-01", "LOCK-02"} <= set(observer.saw(COMPLETE).rules)


def test_no_queue_has_locks_of_more_than_five_minutes(observer: Observer) -> None:
    long = CreateQueue(queue="q", lock_duration=10 * MINUTE)
    assert observer.saw(long, INVALID).rules == ("LOCK-03",)
    assert observer.saw(long).rules[0] == "LOCK-03"
    observer.send(partition=1)
    wrong = received("m1", 1, lock_token="l", locked_until=10 * MINUTE)
    assert observer.saw(RECEIVE, wrong).rules[0] == "LOCK-03"
    observer.has(RECEIVE, received("m1", 1, lock_token="l", locked_until=5 * MINUTE))


def test_a_renewed_lock_lasts_for_a_whole_duration_from_then(observer: Observer) -> None:
    locked(observer)
    after(observer, 40 * SECOND)
    assert observer.saw(RENEW, Renewed(locked_until=MINUTE)).rules[0] == "LOCK-04"
    observer.has(RENEW, Renewed(locked_until=100 * SECOND))
    after(observer, 40 * SECOND)
    again = received("m1", 1, lock_token="n")
    assert observer.saw(RECEIVE, again).rules[0] == "LIFE-02"
    assert "LOCK-04" in observer.saw(RECEIVE, again).rules
    observer.has(RENEW, Renewed())
    after(observer, 40 * SECOND)
    assert observer.saw(COMPLETE, LOCK_LOST).possible == ()
    assert "LOCK-04" in observer.saw(COMPLETE).rules


def test_renewed_lock_ends_at_the_announced_time(observer: Observer) -> None:
    locked(observer)
    observer.has(RENEW, Renewed(locked_until=MINUTE))
    after(observer, MINUTE + 1)
    assert observer.saw(COMPLETE).possible == ()
    assert "LIFE-05" in observer.saw(RECEIVE, received("m1", 1, lock_token="n")).rules


def test_a_lost_lock_is_not_renewed(observer: Observer) -> None:
    locked(observer)
    after(observer, MINUTE + 1)
    assert observer.saw(RENEW, Renewed()).rules[:2] == ("LOCK-05", "LOCK-07")
    assert observer.saw(RENEW, LOCK_LOST).rules == ("LOCK-05",)
    unknown = RenewLock(queue="q", lock_token="never given")
    assert observer.saw(unknown, LOCK_LOST).rules == ("LOCK-05",)
    assert observer.saw(unknown, Renewed()).rules[:2] == ("LOCK-05", "LOCK-07")


def test_a_renewal_may_fail_while_the_partition_is_down(observer: Observer) -> None:
    locked(observer)
    assert observer.saw(RENEW, OTHER).possible == ()
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert observer.saw(RENEW, OTHER).rules == ("LIFE-11",)


def test_a_renewal_that_was_never_answered_may_have_happened(observer: Observer) -> None:
    locked(observer)
    observer.has(RENEW, LOST)
    observer.has(RenewLock(queue="q", lock_token="none"), LOST)
    after(observer, MINUTE + 1)
    observer.has(RECEIVE, Empty())
    observer.has(COMPLETE, LOCK_LOST)
    after(observer, MINUTE)
    assert observer.saw(RECEIVE, Empty()).possible == ()


def test_the_lock_of_a_message_in_a_session_may_or_may_not_be_renewed(observer: Observer) -> None:
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="a")
    observer.has(AcceptSession(queue="q", session_id="a"))
    in_session = Receive(queue="q", session_id="a")
    observer.has(in_session, received("m1", 1, lock_token="l", session_id="a"))
    observer.has(RENEW, INVALID)
    observer.has(RENEW, Renewed())
    assert observer.saw(COMPLETE).rules == ("LIFE-03",)


@pytest.mark.parametrize("kind", [Complete, Abandon, RenewLock])
def test_an_older_lock_is_lost_while_another_lasts(observer: Observer, kind: type) -> None:
    locked(observer)
    observer.has(Abandon(queue="q", lock_token="l"))
    observer.has(RECEIVE, received("m1", 1, lock_token="n"))
    older = kind(queue="q", lock_token="l")
    assert "LOCK-07" in observer.saw(older, LOCK_LOST).rules
    outcome = Renewed() if kind is RenewLock else None
    found = observer.saw(older, outcome) if outcome else observer.saw(older)
    assert "LOCK-07" in found.rules
    assert not found.possible


def test_message_settled_too_late_is_delivered_again(observer: Observer) -> None:
    locked(observer)
    after(observer, MINUTE + 1)
    observer.has(COMPLETE, LOCK_LOST)
    assert "LOCK-08" in observer.saw(RECEIVE, Empty()).rules
    found = observer.saw(RECEIVE, received("m1", 1, lock_token="n"))
    assert "LOCK-08" in found.rules


def test_abandoned_message_may_come_before_later_ones(observer: Observer) -> None:
    locked(observer)
    observer.send(partition=1)
    observer.has(Abandon(queue="q", lock_token="l"))
    assert "LOCK-09" in observer.saw(RECEIVE, received("m1", 1, lock_token="n")).rules


def test_other_settlements_leave_a_lock_as_it_is(observer: Observer) -> None:
    locked(observer)
    observer.send(partition=1)
    observer.has(RECEIVE, received("m2", 1, 2, lock_token="n"))
    observer.has(Complete(queue="q", lock_token="n"))
    assert "LOCK-10" in observer.saw(COMPLETE, LOCK_LOST).rules
    assert "LOCK-10" in observer.saw(COMPLETE).rules


def test_the_models_own_bus_shows_until_when_a_lock_is_renewed(observer: Observer) -> None:
    locked(observer)
    after(observer, SECOND)
    assert step(observer.possible[0], RENEW)[0].outcome == Renewed(locked_until=MINUTE + SECOND)


def test_receive_and_delete_needs_no_lock(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    delete = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
    found = observer.saw(delete, received("m1", 1, locked_until=1))
    assert found.possible
    assert "LOCK-01" not in found.rules


def test_a_lost_settlement_may_end_the_lock_that_is_renewed_meanwhile(observer: Observer) -> None:
    locked(observer)
    observer.has(Abandon(queue="q", lock_token="l"), LOST)
    observer.has(RENEW, Renewed(locked_until=MINUTE))
    observer.has(COMPLETE, LOCK_LOST)
    observer.has(RECEIVE, received("m1", 1, lock_token="n"), connection="c2")
