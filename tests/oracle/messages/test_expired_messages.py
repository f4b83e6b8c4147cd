"""What becomes of a message that has outlived its time: dead letters, deferral, schedules."""

import pytest
from mortal import (
    DEAD,
    DEAD_RECEIVE,
    EXPIRED,
    LIFE,
    NOT_FOUND,
    PEEK,
    RECEIVE,
    is_kept,
    letter,
    may_be_given,
    mortal,
)
from observing import LOST, SECOND, Observer, is_allowed, observing, passes, received, view

from busproof.adapters.model import ModelAdapter
from busproof.spec import load
from busproof.vocabulary.commands import (
    Abandon,
    AdvanceClock,
    CreateSubscription,
    CreateTopic,
    DeadLetter,
    Defer,
    Peek,
    Receive,
    ReceiveDeferred,
    Schedule,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Peeked, Received, ReceivedSeveral, Scheduled
from busproof.vocabulary.profile import profile_for
from busproof.vocabulary.values import ReceiveMode


@pytest.fixture
def queue(observer: Observer) -> Observer:
    observer.queue()
    return observer


@pytest.fixture
def burying(observer: Observer) -> Observer:
    """A queue that dead-letters expired messages."""
    observer.queue(dead_letter_expired=True)
    return observer


def test_expired_message_is_dead_lettered_where_the_queue_asks_for_it(burying: Observer) -> None:
    mortal(burying)
    passes(burying, 9)
    assert burying.saw(DEAD_RECEIVE, letter()).rules[0] == "TTL-02"
    passes(burying, 2)
    assert burying.saw(DEAD_RECEIVE, letter(reason="other")).rules[0] == "TTL-07"
    assert is_allowed(burying, DEAD_RECEIVE, Empty())
    shown = Peeked(messages=(view("m1", dead_letter_reason=EXPIRED),))
    assert is_allowed(burying, Peek(queue=DEAD), shown)
    assert "TTL-07" in burying.saw(DEAD_RECEIVE, letter()).rules
    assert not burying.saw(DEAD_RECEIVE, letter()).possible


def test_elsewhere_it_is_none(queue: Observer) -> None:
    mortal(queue)
    passes(queue, 11)
    assert queue.saw(DEAD_RECEIVE, letter()).rules[0] == "TTL-08"
    shown = Peeked(messages=(view("m1", dead_letter_reason=EXPIRED),))
    assert queue.saw(Peek(queue=DEAD), shown).rules[0] == "TTL-08"
    assert "TTL-08" in queue.saw(DEAD_RECEIVE, Empty()).rules


def test_a_dead_letter_lives_for_ever(burying: Observer) -> None:
    mortal(burying)
    is_kept(burying)
    burying.has(DeadLetter(queue="q", lock_token="l", reason="r"))
    passes(burying, 10**6)
    assert not is_allowed(burying, DEAD_RECEIVE, Empty())
    assert is_allowed(burying, DEAD_RECEIVE, letter(reason="r"))


def test_a_reason_of_its_own_is_not_that_of_age(burying: Observer) -> None:
    mortal(burying)
    assert "TTL-02" not in burying.saw(DEAD_RECEIVE, letter(reason="r")).rules


def test_a_peek_may_show_it(queue: Observer) -> None:
    mortal(queue)
    passes(queue, 11)
    assert "TTL-09" in queue.saw(PEEK, Peeked(messages=(view("m1"),))).rules
    assert "TTL-09" in queue.saw(PEEK, Peeked()).rules


def is_aside(observer: Observer) -> None:
    mortal(observer)
    is_kept(observer, number=7)
    observer.has(Defer(queue="q", lock_token="l"))


def test_expired_deferred_message_is_not_dead_lettered(burying: Observer) -> None:
    is_aside(burying)
    passes(burying, 11)
    assert burying.saw(DEAD_RECEIVE, letter()).rules[0] == "TTL-10"
    burying.has(RECEIVE, Empty())
    assert "TTL-10" in burying.saw(DEAD_RECEIVE, Empty()).rules


def test_expired_deferred_message_may_be_received_or_not(queue: Observer) -> None:
    by_number = ReceiveDeferred(queue="q", sequence_numbers=(7,))
    is_aside(queue)
    assert not is_allowed(queue, by_number, NOT_FOUND)
    passes(queue, 11)
    assert "TTL-11" in queue.saw(by_number, NOT_FOUND).rules
    given = ReceivedSeveral(messages=(view("m1", number=7, lock_token="l2"),))
    assert "TTL-11" in queue.saw(by_number, given).rules


def schedule(delay: int, life: int = LIFE) -> Schedule:
    message = Message(body="m1", time_to_live=life)
    return Schedule(queue="q", message=message, delay=delay * SECOND)


def test_lifetime_of_a_scheduled_message_begins_when_due() -> None:
    observer = observing(readings={"SCHEDULE-DELAY": "at-once"})
    observer.queue()
    observer.has(schedule(20), Scheduled(sequence_number=77))
    passes(observer, 29)
    assert not is_allowed(observer, RECEIVE, Empty())
    before = observer.possible
    assert "TTL-12" in observer.saw(RECEIVE, received("m1")).rules
    observer.possible = before
    passes(observer, 2)
    assert not may_be_given(observer)


def test_lifetime_of_a_late_activation_begins_with_it(queue: Observer) -> None:
    queue.has(schedule(20), Scheduled(sequence_number=77))
    passes(queue, 60)
    assert may_be_given(queue)
    is_kept(queue)
    passes(queue, 11)
    queue.has(Abandon(queue="q", lock_token="l"))
    assert not may_be_given(queue)


def test_scheduled_message_may_expire_unseen(burying: Observer) -> None:
    burying.has(schedule(1), LOST)
    passes(burying, 10)
    assert not is_allowed(burying, DEAD_RECEIVE, letter())
    passes(burying, 2)
    assert is_allowed(burying, DEAD_RECEIVE, letter())


def test_lifetime_of_a_message_scheduled_on_a_topic_begins_when_due() -> None:
    adapter = ModelAdapter()
    adapter.start(profile_for(load(), partitions=2))
    adapter.do(CreateTopic(topic="t", time_to_live=LIFE), "c1")
    adapter.do(CreateSubscription(topic="t", subscription="s"), "c1")
    later = Schedule(queue="t", message=Message(body="m1"), delay=20 * SECOND)
    adapter.do(later, "c1")
    from_copy = Receive(queue="t/subscriptions/s")
    for moment, kind in ((29, Received), (62, Empty)):
        adapter.do(AdvanceClock(duration=moment * SECOND), "c1")
        assert isinstance(adapter.do(from_copy, "c1").outcome, kind)


@pytest.mark.parametrize(("reading", "possible"), [("either", True), ("kept", False)])
def test_message_cached_for_a_receive_that_deletes_has_no_lock_that_ends(
    reading: str, possible: bool
) -> None:
    """A front end that had deleted it when it cached it may hand it out at any time."""
    observer = observing({"CACHE-DELETE": reading})
    observer.queue()
    observer.send(partition=0)
    observer.send(partition=0, time_to_live=LIFE)
    take = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
    observer.has(take, received("m1", 0))
    observer.has(AdvanceClock(duration=100 * LIFE))
    assert possible is is_allowed(observer, take, received("m2", 0, 2))
