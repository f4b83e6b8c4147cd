"""Messages that outlive their time to live: what may be done with them, and what may not."""

import pytest
from mortal import (
    DEAD_RECEIVE,
    LIFE,
    PEEK,
    RECEIVE,
    is_kept,
    letter,
    may_be_given,
    mortal,
)
from observing import GONE, LOST, SECOND, Observer, is_allowed, observing, passes, received, view

from busproof.oracle.state import NEVER
from busproof.oracle.step import step
from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    BeginTransaction,
    BringPartitionUp,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeadLetter,
    Defer,
    Receive,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Peeked, Refused
from busproof.vocabulary.values import Clock, Error, ReceiveMode

TAKE = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
LOCK_LOST = Refused(error=Error.LOCK_LOST)
SETTLEMENTS = [
    Complete(queue="q", lock_token="l"),
    DeadLetter(queue="q", lock_token="l"),
    Defer(queue="q", lock_token="l"),
]


@pytest.fixture
def queue(observer: Observer) -> Observer:
    observer.queue()
    return observer


def test_until_its_time_is_over_a_message_has_to_be_given(queue: Observer) -> None:
    mortal(queue)
    passes(queue, 9)
    found = queue.saw(RECEIVE, Empty())
    assert (found.possible, found.rules[0]) == ((), "TTL-02")
    assert "TTL-02" in queue.saw(TAKE, received("m1")).rules


def test_after_that_it_is_given_to_nobody(queue: Observer) -> None:
    mortal(queue)
    passes(queue, 11)
    assert queue.saw(RECEIVE, received("m1")).rules[0] == "TTL-01"
    assert "TTL-01" in queue.saw(RECEIVE, Empty()).rules
    assert queue.saw(RECEIVE, received("m1")).rules[0] == "TTL-01"


def test_at_the_very_moment_either_may_be(queue: Observer) -> None:
    mortal(queue)
    passes(queue, 10)
    assert may_be_given(queue)
    assert is_allowed(queue, RECEIVE, Empty())


def test_the_slack_counts_on_both_sides() -> None:
    observer = observing(slack=2 * SECOND)
    observer.queue()
    mortal(observer)
    passes(observer, 7.9)
    assert not is_allowed(observer, RECEIVE, Empty())
    passes(observer, 0.2)
    assert is_allowed(observer, RECEIVE, Empty())
    passes(observer, 3.8)
    assert may_be_given(observer)
    passes(observer, 0.2)
    assert not may_be_given(observer)


def test_on_a_real_clock_it_dies_at_some_moment_after_its_send() -> None:
    observer = observing(clock=Clock.REAL)
    observer.has(CreateQueue(queue="q"), at=(0, 1))
    command = Send(queue="q", message=Message(body="m1", time_to_live=LIFE))
    observer.has(command, at=(0, 4 * SECOND), partition=0)
    assert not observer.saw(RECEIVE, Empty(), at=(9 * SECOND, 9 * SECOND)).possible
    before = observer.possible
    observer.has(RECEIVE, Empty(), at=(9 * SECOND, 11 * SECOND))
    observer.possible = before
    observer.has(RECEIVE, received("m1"), at=(13 * SECOND, 15 * SECOND))
    observer.possible = before
    assert not observer.saw(RECEIVE, received("m1"), at=(15 * SECOND, 16 * SECOND)).possible


@pytest.mark.parametrize(
    ("entity", "own", "rule"), [(LIFE, None, "TTL-03"), (LIFE, 60, "TTL-04"), (60, LIFE, "TTL-04")]
)
def test_the_shorter_time_counts(
    observer: Observer, entity: int, own: int | None, rule: str
) -> None:
    lives = [life if life in (None, LIFE) else life * SECOND for life in (entity, own)]
    observer.queue(time_to_live=lives[0])
    mortal(observer, lives[1])
    passes(observer, 9)
    assert rule in observer.saw(RECEIVE, Empty()).rules
    passes(observer, 2)
    assert observer.saw(RECEIVE, received("m1")).rules[0] == rule
    assert {rule, "TTL-01"} <= set(observer.saw(RECEIVE, Empty()).rules)


def test_messages_live_for_ever_by_default(queue: Observer) -> None:
    mortal(queue, None)
    passes(queue, 10**6)
    assert queue.saw(RECEIVE, Empty()).possible == ()
    assert may_be_given(queue)


def test_a_cache_may_hold_it_for_as_long_as_locks_last(queue: Observer) -> None:
    mortal(queue)
    mortal(queue)
    is_kept(queue)
    passes(queue, 11)
    assert is_allowed(queue, RECEIVE, Empty())
    assert "TTL-14" in queue.saw(RECEIVE, Empty()).rules
    before = queue.possible
    assert "TTL-14" in queue.saw(TAKE, received("m2", number=2)).rules
    queue.possible = before
    passes(queue, 60)
    assert not may_be_given(queue, "m2", number=2)
    assert "TTL-01" in queue.saw(RECEIVE, Empty()).rules


def test_expired_message_in_a_cache_is_not_given_under_not_handed_out() -> None:
    observer = observing(readings={"CACHE-EXPIRY": "not-handed-out"})
    observer.queue()
    mortal(observer)
    mortal(observer)
    is_kept(observer)
    passes(observer, 11)
    assert not may_be_given(observer, "m2", number=2)


def test_a_receive_that_was_never_answered_may_fill_a_cache_later(queue: Observer) -> None:
    queue.has(RECEIVE, LOST)
    mortal(queue)
    passes(queue, 11)
    assert may_be_given(queue)
    passes(queue, 60)
    assert not may_be_given(queue)


def test_a_session_has_no_cache(observer: Observer) -> None:
    observer.queue(requires_session=True)
    observer.has(AcceptSession(queue="q", session_id="a"))
    mortal(observer, session_id="a")
    mortal(observer, session_id="a")
    of_session = Receive(queue="q", session_id="a")
    observer.has(of_session, received("m1", session_id="a", partition_key="a", lock_token="l"))
    passes(observer, 11)
    second = received("m2", number=2, session_id="a", partition_key="a")
    assert observer.saw(of_session, second).rules[0] == "TTL-01"
    assert "TTL-01" in observer.saw(of_session, Empty()).rules


@pytest.mark.parametrize("command", SETTLEMENTS)
def test_lock_holder_can_settle_an_expired_message(queue: Observer, command: object) -> None:
    mortal(queue)
    is_kept(queue)
    passes(queue, 11)
    assert queue.saw(command, LOCK_LOST).rules[0] == "TTL-05"
    assert "TTL-05" in queue.saw(command).rules


def test_expired_message_is_not_delivered_after_an_abandon(queue: Observer) -> None:
    mortal(queue)
    is_kept(queue)
    passes(queue, 11)
    queue.has(Abandon(queue="q", lock_token="l"))
    assert queue.saw(RECEIVE, received("m1")).rules[0] == "TTL-06"
    assert {"TTL-06", "TTL-01"} <= set(queue.saw(RECEIVE, Empty()).rules)


def test_expired_message_is_not_delivered_after_its_lock_expires(queue: Observer) -> None:
    mortal(queue)
    is_kept(queue)
    passes(queue, 61)
    assert queue.saw(RECEIVE, received("m1")).rules[0] == "TTL-06"


def test_message_abandoned_in_time_must_be_given_until_it_expires(queue: Observer) -> None:
    mortal(queue)
    is_kept(queue)
    queue.has(Abandon(queue="q", lock_token="l"))
    passes(queue, 9)
    assert not is_allowed(queue, RECEIVE, Empty())
    passes(queue, 2)
    assert is_allowed(queue, RECEIVE, Empty())


def test_expired_and_spent_message_may_have_either_reason() -> None:
    observer = observing(readings={"DEAD-LETTER-DELAY": "at-once", "CACHE-DELIVERY-COUNT": "stays"})
    observer.queue(dead_letter_expired=True, max_delivery_count=1)
    mortal(observer)
    is_kept(observer)
    passes(observer, 11)
    observer.has(Abandon(queue="q", lock_token="l"))
    assert is_allowed(observer, DEAD_RECEIVE, Empty())
    assert is_allowed(observer, DEAD_RECEIVE, letter())
    assert is_allowed(observer, DEAD_RECEIVE, letter(reason="MaxDeliveryCountExceeded"))


def test_outage_may_have_stopped_the_clock() -> None:
    observer = observing()
    observer.queue()
    mortal(observer)
    observer.has(TakePartitionDown(queue="q", partition=0))
    passes(observer, 11)
    observer.has(BringPartitionUp(queue="q", partition=0))
    passes(observer, 60)
    assert is_allowed(observer, RECEIVE, Empty())
    observer.has(RECEIVE, received("m1"))
    assert "TTL-13" not in observer.saw(RECEIVE, Empty()).rules


def test_outage_does_not_stop_the_clock_where_it_is_read_so() -> None:
    queue = observing({"OUTAGE-CLOCK": "runs"})
    queue.queue()
    mortal(queue)
    queue.has(TakePartitionDown(queue="q", partition=0))
    passes(queue, 11)
    assert "TTL-13" not in queue.saw(RECEIVE, Empty()).rules
    queue.has(BringPartitionUp(queue="q", partition=0))
    assert queue.saw(RECEIVE, received("m1")).rules[0] == "TTL-13"
    assert "TTL-13" in queue.saw(RECEIVE, Empty()).rules


def test_unanswered_send_may_have_arrived_late(queue: Observer) -> None:
    queue.send(LOST, time_to_live=LIFE)
    passes(queue, 100)
    assert may_be_given(queue)
    assert "TTL-01" not in queue.saw(RECEIVE, Empty()).rules


@pytest.mark.parametrize(
    ("reading", "given", "nothing"),
    [("send", False, True), ("commit", True, False), ("either", True, True)],
)
def test_in_a_transaction_it_lives_from_the_send_or_the_commit(
    reading: str, given: bool, nothing: bool
) -> None:
    observer = observing(readings={"LIFETIME-IN-TRANSACTION": reading})
    observer.queue()
    observer.has(BeginTransaction(transaction="t"))
    observer.send(transaction="t", partition=0, partition_key="k", time_to_live=LIFE)
    passes(observer, 8)
    observer.has(CommitTransaction(transaction="t"))
    passes(observer, 4)
    assert may_be_given(observer, partition_key="k") is given
    assert is_allowed(observer, RECEIVE, Empty()) is nothing


@pytest.mark.parametrize(("reading", "least"), [("anew", NEVER), ("either", LIFE)])
def test_a_forwarded_message_may_keep_the_time_of_its_source(reading: str, least: int) -> None:
    observer = observing(readings={"FORWARD-LIFETIME": reading})
    observer.queue()
    observer.has(CreateQueue(queue="f", forward_to="q", time_to_live=LIFE))
    observer.has(Send(queue="f", message=Message(body="m1")))
    (stored,) = observer.possible[0].queues["q"].messages.values()
    assert stored.dies is not None
    assert stored.dies.earliest == least
    passes(observer, 100)
    assert may_be_given(observer)
    is_kept(observer)
    passes(observer, 100)
    assert may_be_given(observer, delivery_count=2)


def test_a_copy_lives_as_long_as_topic_and_subscription_say(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t", time_to_live=LIFE))
    observer.has(CreateSubscription(topic="t", subscription="s", time_to_live=60 * SECOND))
    observer.has(Send(queue="t", message=Message(body="m1")), partition=0)
    passes(observer, 11)
    from_copy = Receive(queue="t/subscriptions/s")
    assert not is_allowed(observer, from_copy, received("m1"))
    assert is_allowed(observer, from_copy, Empty())


def test_a_message_that_requires_a_session_and_has_none_may_be_shown(observer: Observer) -> None:
    observer.queue(requires_session=True)
    mortal(observer)
    passes(observer, 11)
    assert is_allowed(observer, PEEK, Peeked(messages=(view("m1"),)))


def test_message_missing_in_an_outage_is_not_blamed_on_expiry(queue: Observer) -> None:
    mortal(queue)
    queue.has(TakePartitionDown(queue="q", partition=0))
    passes(queue, 11)
    assert is_allowed(queue, RECEIVE, GONE)
    assert queue.saw(RECEIVE, Empty()).possible


def test_every_answer_of_step_is_allowed(queue: Observer) -> None:
    mortal(queue)
    passes(queue, 10)
    for transition in step(queue.possible[0], RECEIVE):
        assert is_allowed(queue, RECEIVE, transition.outcome)
