"""How long a lock lasts, its expiry in answers, and its renewal."""

import pytest
from telling import INVALID, LOST, OTHER, SECOND, Told, received

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


def after(told: Told, duration: int) -> None:
    told.has(AdvanceClock(duration=duration))


def locked(told: Told, **settings: object) -> Told:
    """A queue with one message, which is locked."""
    told.queue(**settings)
    told.send(partition=1)
    told.has(RECEIVE, received("m1", 1, lock_token="l"))
    return told


def test_a_lock_is_told_to_last_as_long_as_its_queue_says(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    for until in (MINUTE - 1, MINUTE + 1):
        wrong = received("m1", 1, lock_token="l", locked_until=until)
        assert told.saw(RECEIVE, wrong).rules[:2] == ("LOCK-02", "LOCK-01")
    right = received("m1", 1, lock_token="l", locked_until=MINUTE)
    assert {"LOCK-01", "LOCK-02"} <= set(told.saw(RECEIVE, right).rules)


def test_lock_of_a_prefetched_message_may_be_shorter(told: Told) -> None:
    told.queue(lock_duration=5 * SECOND)
    told.send(partition=1)
    told.send(partition=2)
    told.has(RECEIVE, received("m1", 1, lock_token="l"))
    longer = received("m2", 2, lock_token="n", locked_until=5 * SECOND + 1)
    assert told.saw(RECEIVE, longer).rules[0] == "LOCK-01"
    shorter = received("m2", 2, lock_token="n", locked_until=SECOND)
    assert "LOCK-01" not in told.saw(RECEIVE, shorter).rules


def test_a_lock_that_ends_as_others_receive_may_have_been_followed_by_one_in_a_cache(
    told: Told,
) -> None:
    """At the very moment at which it ends, the message may already have been found."""
    locked(told)
    told.send(partition=2)
    after(told, MINUTE)
    told.has(RECEIVE, received("m2", 2, lock_token="n"))
    after(told, 1)
    again = received("m1", 1, lock_token="k", delivery_count=2, locked_until=2 * MINUTE)
    assert told.saw(RECEIVE, again).possible


def test_message_that_nobody_can_have_cached_has_a_lock_from_now(told: Told) -> None:
    locked(told)
    after(told, MINUTE + 1)
    again = received("m1", 1, lock_token="k", delivery_count=2, locked_until=2 * MINUTE)
    assert told.saw(RECEIVE, again).rules[0] == "LOCK-02"


def test_message_scheduled_for_now_may_have_been_cached_at_once(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    scheduled = told.message()
    told.has(Schedule(queue="q", message=scheduled, delay=0), Scheduled(sequence_number=7))
    told.has(RECEIVE, received("m1", 1, lock_token="l"))
    after(told, SECOND)
    early = received(scheduled.body, 2, lock_token="n", locked_until=MINUTE)
    assert told.saw(RECEIVE, early).possible


def test_message_that_is_due_after_the_last_receive_has_a_lock_from_now(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    scheduled = told.message()
    told.has(Schedule(queue="q", message=scheduled, delay=SECOND), Scheduled(sequence_number=7))
    told.has(RECEIVE, received("m1", 1, lock_token="l"))
    after(told, 2 * SECOND)
    early = received(scheduled.body, 2, lock_token="n", locked_until=MINUTE)
    assert not told.saw(RECEIVE, early).possible


def test_a_settlement_late_in_its_lock_shows_that_it_lasted(told: Told) -> None:
    locked(told)
    after(told, 40 * SECOND)
    assert "LOCK-01" in told.saw(COMPLETE, LOCK_LOST).rules
    assert {"LOCK-01", "LOCK-02"} <= set(told.saw(COMPLETE).rules)


def test_no_queue_has_locks_of_more_than_five_minutes(told: Told) -> None:
    long = CreateQueue(queue="q", lock_duration=10 * MINUTE)
    assert told.saw(long, INVALID).rules == ("LOCK-03",)
    assert told.saw(long).rules[0] == "LOCK-03"
    told.send(partition=1)
    wrong = received("m1", 1, lock_token="l", locked_until=10 * MINUTE)
    assert told.saw(RECEIVE, wrong).rules[0] == "LOCK-03"
    told.has(RECEIVE, received("m1", 1, lock_token="l", locked_until=5 * MINUTE))


def test_a_renewed_lock_lasts_for_a_whole_duration_from_then(told: Told) -> None:
    locked(told)
    after(told, 40 * SECOND)
    assert told.saw(RENEW, Renewed(locked_until=MINUTE)).rules[0] == "LOCK-04"
    told.has(RENEW, Renewed(locked_until=100 * SECOND))
    after(told, 40 * SECOND)
    again = received("m1", 1, lock_token="n")
    assert told.saw(RECEIVE, again).rules[0] == "LIFE-02"
    assert "LOCK-04" in told.saw(RECEIVE, again).rules
    told.has(RENEW, Renewed())
    after(told, 40 * SECOND)
    assert told.saw(COMPLETE, LOCK_LOST).possible == ()
    assert "LOCK-04" in told.saw(COMPLETE).rules


def test_renewed_lock_ends_at_the_announced_time(told: Told) -> None:
    locked(told)
    told.has(RENEW, Renewed(locked_until=MINUTE))
    after(told, MINUTE + 1)
    assert told.saw(COMPLETE).possible == ()
    assert "LIFE-05" in told.saw(RECEIVE, received("m1", 1, lock_token="n")).rules


def test_a_lost_lock_is_not_renewed(told: Told) -> None:
    locked(told)
    after(told, MINUTE + 1)
    assert told.saw(RENEW, Renewed()).rules[:2] == ("LOCK-05", "LOCK-07")
    assert told.saw(RENEW, LOCK_LOST).rules == ("LOCK-05",)
    unknown = RenewLock(queue="q", lock_token="never given")
    assert told.saw(unknown, LOCK_LOST).rules == ("LOCK-05",)
    assert told.saw(unknown, Renewed()).rules[:2] == ("LOCK-05", "LOCK-07")


def test_a_renewal_may_fail_while_the_partition_is_down(told: Told) -> None:
    locked(told)
    assert told.saw(RENEW, OTHER).possible == ()
    told.has(TakePartitionDown(queue="q", partition=1))
    assert told.saw(RENEW, OTHER).rules == ("LIFE-11",)


def test_a_renewal_that_was_never_answered_may_have_happened(told: Told) -> None:
    locked(told)
    told.has(RENEW, LOST)
    told.has(RenewLock(queue="q", lock_token="none"), LOST)
    after(told, MINUTE + 1)
    told.has(RECEIVE, Empty())
    told.has(COMPLETE, LOCK_LOST)
    after(told, MINUTE)
    assert told.saw(RECEIVE, Empty()).possible == ()


def test_the_lock_of_a_message_in_a_session_may_or_may_not_be_renewed(told: Told) -> None:
    told.queue(requires_session=True)
    told.send(partition=1, session_id="a")
    told.has(AcceptSession(queue="q", session_id="a"))
    in_session = Receive(queue="q", session_id="a")
    told.has(in_session, received("m1", 1, lock_token="l", session_id="a"))
    told.has(RENEW, INVALID)
    told.has(RENEW, Renewed())
    assert told.saw(COMPLETE).rules == ("LIFE-03",)


@pytest.mark.parametrize("kind", [Complete, Abandon, RenewLock])
def test_an_older_lock_is_lost_while_another_lasts(told: Told, kind: type) -> None:
    locked(told)
    told.has(Abandon(queue="q", lock_token="l"))
    told.has(RECEIVE, received("m1", 1, lock_token="n"))
    older = kind(queue="q", lock_token="l")
    assert "LOCK-07" in told.saw(older, LOCK_LOST).rules
    outcome = Renewed() if kind is RenewLock else None
    found = told.saw(older, outcome) if outcome else told.saw(older)
    assert "LOCK-07" in found.rules
    assert not found.possible


def test_message_settled_too_late_is_delivered_again(told: Told) -> None:
    locked(told)
    after(told, MINUTE + 1)
    told.has(COMPLETE, LOCK_LOST)
    assert "LOCK-08" in told.saw(RECEIVE, Empty()).rules
    found = told.saw(RECEIVE, received("m1", 1, lock_token="n"))
    assert "LOCK-08" in found.rules


def test_abandoned_message_may_come_before_later_ones(told: Told) -> None:
    locked(told)
    told.send(partition=1)
    told.has(Abandon(queue="q", lock_token="l"))
    assert "LOCK-09" in told.saw(RECEIVE, received("m1", 1, lock_token="n")).rules


def test_other_settlements_leave_a_lock_as_it_is(told: Told) -> None:
    locked(told)
    told.send(partition=1)
    told.has(RECEIVE, received("m2", 1, 2, lock_token="n"))
    told.has(Complete(queue="q", lock_token="n"))
    assert "LOCK-10" in told.saw(COMPLETE, LOCK_LOST).rules
    assert "LOCK-10" in told.saw(COMPLETE).rules


def test_the_models_own_bus_tells_until_when_a_lock_is_renewed(told: Told) -> None:
    locked(told)
    after(told, SECOND)
    assert step(told.possible[0], RENEW)[0].outcome == Renewed(locked_until=MINUTE + SECOND)


def test_receive_and_delete_needs_no_lock(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    delete = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
    found = told.saw(delete, received("m1", 1, locked_until=1))
    assert found.possible
    assert "LOCK-01" not in found.rules


def test_a_lost_settlement_may_end_the_lock_that_is_renewed_meanwhile(told: Told) -> None:
    locked(told)
    told.has(Abandon(queue="q", lock_token="l"), LOST)
    told.has(RENEW, Renewed(locked_until=MINUTE))
    told.has(COMPLETE, LOCK_LOST)
    told.has(RECEIVE, received("m1", 1, lock_token="n"), connection="c2")
