"""Deliveries that are counted, dead letters, and what is known of either."""

import attrs
import pytest
from burying import (
    ABANDON,
    BURY,
    DEAD,
    FROM_DEAD,
    MINUTE,
    RECEIVE,
    TOO_OFTEN,
    after,
    buried,
    given,
    locked,
)
from observing import DONE, INVALID, LOST, OTHER, Observer, is_allowed, observing, received, view

from busproof.oracle.step import step
from busproof.vocabulary.commands import (
    Abandon,
    Complete,
    CreateQueue,
    DeadLetter,
    Peek,
    Receive,
    Send,
)
from busproof.vocabulary.messages import Message, MessageState
from busproof.vocabulary.outcomes import Empty, Peeked, Refused
from busproof.vocabulary.values import Clock, Error

LOCK_LOST = Refused(error=Error.LOCK_LOST)


def test_a_delivery_that_is_abandoned_makes_the_next_count_higher(observer: Observer) -> None:
    locked(observer)
    observer.has(ABANDON)
    assert observer.saw(RECEIVE, received("m1", 1, delivery_count=1)).rules[0] == "DLQ-01"
    assert observer.saw(RECEIVE, received("m1", 1, delivery_count=3)).rules[0] == "DLQ-01"
    found = observer.saw(RECEIVE, received("m1", 1, delivery_count=2))
    assert "DLQ-01" in found.rules


def test_a_count_that_is_not_reported_shows_nothing(observer: Observer) -> None:
    locked(observer)
    observer.has(ABANDON)
    assert "DLQ-01" not in observer.saw(RECEIVE, received("m1", 1)).rules


def test_a_lock_that_may_have_ended_has_counted_when_its_message_comes_again() -> None:
    observer = locked(observing(slack=1000))
    after(observer, MINUTE)
    assert not given(observer, 1, "n")
    assert given(observer, 2, "n")


@pytest.mark.parametrize(("reading", "most"), [("exactly", 2), ("one-more", 3)])
def test_a_message_is_given_as_often_as_permitted(reading: str, most: int) -> None:
    observer = observing({"MAX-DELIVERIES": reading})
    observer.queue(max_delivery_count=2)
    observer.send(partition=1)
    for count in range(1, most + 1):
        assert observer.saw(RECEIVE, Empty()).possible == ()
        assert given(observer, count)
        observer.has(ABANDON)
    assert observer.saw(RECEIVE, received("m1", 1)).rules[0] == "DLQ-02"
    assert "DLQ-02" in observer.saw(RECEIVE, Empty()).rules


def test_last_delivery_is_open_under_the_reading_either() -> None:
    observer = observing({"MAX-DELIVERIES": "either"})
    locked(observer, max_delivery_count=1)
    observer.has(ABANDON)
    observer.has(RECEIVE, Empty())
    assert given(observer, 2)
    observer.has(ABANDON)
    assert not given(observer, 3)


def test_bus_without_dead_letters_may_ignore_the_maximum_of_deliveries() -> None:
    """Seen with RabbitMQ, which was accused of the order of its messages (KEY-17)."""
    observer = observing(dead_letters=False)
    locked(observer, max_delivery_count=1)
    observer.has(ABANDON)
    observer.has(RECEIVE, Empty())
    assert given(observer, 2)
    observer.has(ABANDON)
    observer.send("m2", partition=1)
    assert given(observer, 3)


def test_the_last_permitted_delivery_shows_that_it_was_not_given_up_before(
    observer: Observer,
) -> None:
    locked(observer, max_delivery_count=2)
    observer.has(ABANDON)
    assert "DLQ-03" in observer.saw(RECEIVE, received("m1", 1, lock_token="l")).rules


def test_a_dead_letter_that_is_none_yet_is_a_violation(observer: Observer) -> None:
    locked(observer, max_delivery_count=2)
    observer.has(ABANDON)
    assert observer.saw(FROM_DEAD, received("m1", 1)).rules[0] == "DLQ-03"
    assert observer.saw(RECEIVE, Empty()).rules[0] == "LIFE-04"
    assert "DLQ-03" in observer.saw(RECEIVE, Empty()).rules


def test_ten_deliveries_are_the_default(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    for count in range(1, 11):
        assert given(observer, count)
        observer.has(ABANDON)
    assert observer.saw(RECEIVE, received("m1", 1)).rules[:2] == ("DLQ-02", "DLQ-04")
    letter = received("m1", 1, dead_letter_reason=TOO_OFTEN)
    assert "DLQ-04" in observer.saw(FROM_DEAD, letter).rules


def spent(readings: dict[str, str] | None = None) -> Observer:
    """A message that had its only delivery."""
    observer = locked(observing(readings), max_delivery_count=1)
    observer.has(ABANDON)
    return observer


def test_a_spent_message_arrives_at_any_time_among_the_dead_letters() -> None:
    observer = spent()
    observer.has(FROM_DEAD, Empty())
    observer.has(Peek(queue="q"), Peeked(messages=(view("m1", 1),)))
    wrong = received("m1", 1, dead_letter_reason="other")
    assert observer.saw(FROM_DEAD, wrong).rules[0] == "DLQ-02"
    seen = {"lock_token": "d", "locked_until": MINUTE, "dead_letter_reason": TOO_OFTEN}
    letter = received("m1", 3, 9, **seen)
    assert observer.saw(FROM_DEAD, letter).rules[0] == "DLQ-02"
    assert observer.saw(Peek(queue="q"), Peeked(messages=(view("m1", 1),))).rules[0] == "DLQ-14"
    assert observer.saw(FROM_DEAD, letter).rules[0] == "LIFE-02"


def test_dead_letter_may_have_been_prefetched_before_it_was_seen() -> None:
    observer = spent()
    observer.has(FROM_DEAD, Empty(), connection="c2")
    after(observer, MINUTE)
    shorter = {"lock_token": "d", "locked_until": MINUTE + 1, "delivery_count": 1}
    observer.has(FROM_DEAD, received("m1", 1, dead_letter_reason=TOO_OFTEN, **shorter))
    observer.has(FROM_DEAD, Empty())


def test_a_spent_message_arrives_at_once_where_that_is_read() -> None:
    observer = spent({"DEAD-LETTER-DELAY": "at-once"})
    assert observer.saw(FROM_DEAD, Empty()).rules[0] == "DLQ-05"
    assert observer.saw(RECEIVE, received("m1", 1)).rules[0] == "DLQ-14"
    observer.has(FROM_DEAD, received("m1", 1, lock_token="d"))


def test_a_peek_among_the_dead_letters_finds_what_has_arrived() -> None:
    observer = spent()
    peek = Peek(queue=DEAD, count=2)
    letter = view("m1", 1, dead_letter_reason=TOO_OFTEN)
    assert observer.saw(peek, Peeked(messages=(letter, view("m1", 1, 2)))).possible == ()
    other = view("m1", 1, dead_letter_reason="other")
    assert observer.saw(peek, Peeked(messages=(other,))).possible == ()
    deferred = attrs.evolve(letter, state=MessageState.DEFERRED)
    assert observer.saw(peek, Peeked(messages=(deferred,))).possible == ()
    observer.has(peek, Peeked(messages=(letter,)))
    assert observer.saw(FROM_DEAD, Empty()).possible == ()


def test_a_message_that_was_dead_lettered_is_there_and_nowhere_else(observer: Observer) -> None:
    buried(observer)
    assert observer.saw(RECEIVE, received("m1", 1)).rules[0] == "DLQ-14"
    assert "DLQ-14" in observer.saw(RECEIVE, Empty()).rules
    assert observer.saw(FROM_DEAD, Empty()).rules[0] == "DLQ-05"
    wrong = received("m1", 1, dead_letter_reason="worse")
    assert observer.saw(FROM_DEAD, wrong).rules[0] == "DLQ-05"
    changed = received("m1", 1, message_id="x", dead_letter_reason="bad")
    assert observer.saw(FROM_DEAD, changed).rules[0] == "DLQ-06"
    right = received("m1", 2, 7, lock_token="d", dead_letter_reason="bad")
    assert {"DLQ-05", "DLQ-06"} <= set(observer.saw(FROM_DEAD, right).rules)


def test_a_reason_must_not_be_missing_if_reasons_are_reported() -> None:
    silent = received("m1", 1)
    assert buried(observing()).saw(FROM_DEAD, silent).possible
    observer = buried(observing(dead_letter_reasons=True))
    assert observer.saw(FROM_DEAD, silent).rules[0] == "DLQ-05"
    observer.has(FROM_DEAD, received("m1", 1, dead_letter_reason="bad"))


def test_a_dead_letter_stays_until_it_is_completed(observer: Observer) -> None:
    buried(observer, max_delivery_count=1)
    for number in range(3):
        letter = received("m1", 1, lock_token=f"d{number}")
        found = observer.saw(FROM_DEAD, letter)
        assert ("DLQ-07" in found.rules, "DLQ-09" in found.rules) == (number > 0, number > 0)
        observer.has(Abandon(queue=DEAD, lock_token=f"d{number}"))
    assert "DLQ-09" in observer.saw(FROM_DEAD, Empty()).rules
    observer.has(FROM_DEAD, received("m1", 1, lock_token="last"))
    observer.has(Complete(queue=DEAD, lock_token="last"))
    assert observer.saw(FROM_DEAD, received("m1", 1)).rules[:2] == ("LIFE-03", "DLQ-07")
    assert "DLQ-07" in observer.saw(FROM_DEAD, Empty()).rules


def test_a_queue_has_dead_letters_of_its_own_from_the_start(observer: Observer) -> None:
    observer.queue()
    assert observer.saw(FROM_DEAD, Refused(error=Error.NOT_FOUND)).rules[0] == "DLQ-08"
    assert observer.saw(FROM_DEAD, received("m1", 1)).rules[0] == "DLQ-03"
    assert observer.saw(FROM_DEAD, Empty()).rules == ("DLQ-08",)
    elsewhere = Receive(queue="r/$deadletterqueue")
    assert observer.saw(elsewhere, Empty()).possible == ()
    observer.has(elsewhere, Refused(error=Error.NOT_FOUND))


def test_the_dead_letters_of_a_queue_that_may_not_exist_may_not_either(observer: Observer) -> None:
    observer.has(CreateQueue(queue="q"), LOST)
    observer.has(FROM_DEAD, Refused(error=Error.NOT_FOUND))
    observer.has(FROM_DEAD, Empty())


def test_nothing_is_dead_lettered_from_there_and_nothing_sent_there(observer: Observer) -> None:
    buried(observer)
    observer.has(FROM_DEAD, received("m1", 1, lock_token="d"))
    again = DeadLetter(queue=DEAD, lock_token="d")
    assert "DLQ-10" in observer.saw(again).rules
    assert observer.saw(again, INVALID).rules == ("DLQ-10",)
    sent = Send(queue=DEAD, message=Message(body="m2"))
    assert observer.saw(sent).rules[0] == "DLQ-11"
    assert observer.saw(sent, OTHER).rules == ("DLQ-11",)
    assert observer.saw(CreateQueue(queue=DEAD)).possible == ()
    observer.has(CreateQueue(queue=DEAD), INVALID)


def test_a_lost_lock_dead_letters_nothing(observer: Observer) -> None:
    locked(observer)
    after(observer, MINUTE + 1)
    assert observer.saw(BURY).rules[:2] == ("LOCK-06", "DLQ-14")
    assert observer.saw(BURY, LOCK_LOST).rules == ("LOCK-06", "DLQ-14")
    assert observer.saw(FROM_DEAD, received("m1", 1)).rules[0] == "DLQ-03"


def test_the_models_own_bus_gives_dead_letters_with_their_reason(observer: Observer) -> None:
    buried(observer)
    offered = step(observer.possible[0], FROM_DEAD)
    assert "bad" == offered[0].outcome.message.dead_letter_reason
    assert (
        DONE == step(offered[0].next, Complete(queue=DEAD, lock_token=_token(offered)))[0].outcome
    )


def _token(offered: tuple[object, ...]) -> str:
    return offered[0].outcome.message.lock_token


def test_on_a_real_clock_a_lock_that_may_have_expired_may_have_been_the_last_delivery() -> None:
    observer = observing(clock=Clock.REAL)
    observer.has(CreateQueue(queue="q", max_delivery_count=1), at=(0, 1))
    observer.has(Send(queue="q", message=Message(body="m1")), partition=1, at=(2, 3))
    observer.has(RECEIVE, received("m1", 1, lock_token="l"), at=(4, 5))
    letter = received("m1", 1, dead_letter_reason=TOO_OFTEN)
    assert observer.saw(FROM_DEAD, letter, at=(10, MINUTE)).possible == ()
    observer.has(FROM_DEAD, letter, at=(10, MINUTE + 6))


@pytest.mark.parametrize(
    ("reading", "allowed"), [("anew", {1}), ("kept", {4, 5}), ("either", {1, 2, 4, 5, 9})]
)
def test_readings_decide_what_is_counted_of_a_dead_letter(reading: str, allowed: set[int]) -> None:
    observer = observing({"DEAD-LETTER-COUNT": reading, "DEAD-LETTER-DELAY": "at-once"})
    observer.queue(max_delivery_count=3)
    observer.send(partition=1)
    for count in (1, 2, 3):
        assert given(observer, count)
        observer.has(ABANDON)
    dead = Receive(queue="q/$deadletterqueue")
    found = {
        count
        for count in (1, 2, 4, 5, 9)
        if is_allowed(observer, dead, received("m1", 1, number=9, delivery_count=count))
    }
    assert allowed == found


@pytest.mark.parametrize(("counted", "allowed"), [("either", {1, 2, 3, 4}), ("stays", set())])
def test_deliveries_that_nobody_saw_may_count_in_a_dead_letter(
    counted: str, allowed: set[int]
) -> None:
    """Each of two receives may have cached the message, and each lock in the cache expired."""
    observer = observing({"DEAD-LETTER-COUNT": "kept", "CACHE-DELIVERY-COUNT": counted})
    observer.queue(max_delivery_count=2)
    for partition in (1, 0, 0):
        observer.send(partition=partition)
    for number, body in enumerate(("m2", "m3"), start=1):
        observer.has(RECEIVE, received(body, 0, number=number, lock_token=body))
        after(observer, MINUTE + 1)
    found = {
        count
        for count in range(1, 9)
        if is_allowed(observer, FROM_DEAD, received("m1", 1, number=9, delivery_count=count))
    }
    assert allowed == found
