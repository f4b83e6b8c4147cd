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
from telling import DONE, INVALID, LOST, OTHER, Told, is_allowed, received, telling, view

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


def test_a_delivery_that_is_abandoned_makes_the_next_count_higher(told: Told) -> None:
    locked(told)
    told.has(ABANDON)
    assert told.saw(RECEIVE, received("m1", 1, delivery_count=1)).rules[0] == "DLQ-01"
    assert told.saw(RECEIVE, received("m1", 1, delivery_count=3)).rules[0] == "DLQ-01"
    found = told.saw(RECEIVE, received("m1", 1, delivery_count=2))
    assert "DLQ-01" in found.rules


def test_a_count_that_is_not_told_shows_nothing(told: Told) -> None:
    locked(told)
    told.has(ABANDON)
    assert "DLQ-01" not in told.saw(RECEIVE, received("m1", 1)).rules


def test_a_lock_that_may_have_ended_has_counted_when_its_message_comes_again() -> None:
    told = locked(telling(slack=1000))
    after(told, MINUTE)
    assert not given(told, 1, "n")
    assert given(told, 2, "n")


@pytest.mark.parametrize(("reading", "most"), [("exactly", 2), ("one-more", 3)])
def test_a_message_is_given_as_often_as_permitted(reading: str, most: int) -> None:
    told = telling({"MAX-DELIVERIES": reading})
    told.queue(max_delivery_count=2)
    told.send(partition=1)
    for count in range(1, most + 1):
        assert told.saw(RECEIVE, Empty()).possible == ()
        assert given(told, count)
        told.has(ABANDON)
    assert told.saw(RECEIVE, received("m1", 1)).rules[0] == "DLQ-02"
    assert "DLQ-02" in told.saw(RECEIVE, Empty()).rules


def test_last_delivery_is_open_under_the_reading_either() -> None:
    told = telling({"MAX-DELIVERIES": "either"})
    locked(told, max_delivery_count=1)
    told.has(ABANDON)
    told.has(RECEIVE, Empty())
    assert given(told, 2)
    told.has(ABANDON)
    assert not given(told, 3)


def test_bus_without_dead_letters_may_ignore_the_maximum_of_deliveries() -> None:
    """Seen with RabbitMQ, which was accused of the order of its messages (KEY-17)."""
    told = telling(dead_letters=False)
    locked(told, max_delivery_count=1)
    told.has(ABANDON)
    told.has(RECEIVE, Empty())
    assert given(told, 2)
    told.has(ABANDON)
    told.send("m2", partition=1)
    assert given(told, 3)


def test_the_last_permitted_delivery_shows_that_it_was_not_given_up_before(told: Told) -> None:
    locked(told, max_delivery_count=2)
    told.has(ABANDON)
    assert "DLQ-03" in told.saw(RECEIVE, received("m1", 1, lock_token="l")).rules


def test_a_dead_letter_that_is_none_yet_is_a_violation(told: Told) -> None:
    locked(told, max_delivery_count=2)
    told.has(ABANDON)
    assert told.saw(FROM_DEAD, received("m1", 1)).rules[0] == "DLQ-03"
    assert told.saw(RECEIVE, Empty()).rules[0] == "LIFE-04"
    assert "DLQ-03" in told.saw(RECEIVE, Empty()).rules


def test_ten_deliveries_are_the_default(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    for count in range(1, 11):
        assert given(told, count)
        told.has(ABANDON)
    assert told.saw(RECEIVE, received("m1", 1)).rules[:2] == ("DLQ-02", "DLQ-04")
    letter = received("m1", 1, dead_letter_reason=TOO_OFTEN)
    assert "DLQ-04" in told.saw(FROM_DEAD, letter).rules


def spent(readings: dict[str, str] | None = None) -> Told:
    """A message that had its only delivery."""
    told = locked(telling(readings), max_delivery_count=1)
    told.has(ABANDON)
    return told


def test_a_spent_message_arrives_at_any_time_among_the_dead_letters() -> None:
    told = spent()
    told.has(FROM_DEAD, Empty())
    told.has(Peek(queue="q"), Peeked(messages=(view("m1", 1),)))
    wrong = received("m1", 1, dead_letter_reason="other")
    assert told.saw(FROM_DEAD, wrong).rules[0] == "DLQ-02"
    seen = {"lock_token": "d", "locked_until": MINUTE, "dead_letter_reason": TOO_OFTEN}
    letter = received("m1", 3, 9, **seen)
    assert told.saw(FROM_DEAD, letter).rules[0] == "DLQ-02"
    assert told.saw(Peek(queue="q"), Peeked(messages=(view("m1", 1),))).rules[0] == "DLQ-14"
    assert told.saw(FROM_DEAD, letter).rules[0] == "LIFE-02"


def test_dead_letter_may_have_been_prefetched_before_it_was_seen() -> None:
    told = spent()
    told.has(FROM_DEAD, Empty(), connection="c2")
    after(told, MINUTE)
    shorter = {"lock_token": "d", "locked_until": MINUTE + 1, "delivery_count": 1}
    told.has(FROM_DEAD, received("m1", 1, dead_letter_reason=TOO_OFTEN, **shorter))
    told.has(FROM_DEAD, Empty())


def test_a_spent_message_arrives_at_once_where_that_is_read() -> None:
    told = spent({"DEAD-LETTER-DELAY": "at-once"})
    assert told.saw(FROM_DEAD, Empty()).rules[0] == "DLQ-05"
    assert told.saw(RECEIVE, received("m1", 1)).rules[0] == "DLQ-14"
    told.has(FROM_DEAD, received("m1", 1, lock_token="d"))


def test_a_peek_among_the_dead_letters_finds_what_has_arrived() -> None:
    told = spent()
    peek = Peek(queue=DEAD, count=2)
    letter = view("m1", 1, dead_letter_reason=TOO_OFTEN)
    assert told.saw(peek, Peeked(messages=(letter, view("m1", 1, 2)))).possible == ()
    other = view("m1", 1, dead_letter_reason="other")
    assert told.saw(peek, Peeked(messages=(other,))).possible == ()
    deferred = attrs.evolve(letter, state=MessageState.DEFERRED)
    assert told.saw(peek, Peeked(messages=(deferred,))).possible == ()
    told.has(peek, Peeked(messages=(letter,)))
    assert told.saw(FROM_DEAD, Empty()).possible == ()


def test_a_message_that_was_dead_lettered_is_there_and_nowhere_else(told: Told) -> None:
    buried(told)
    assert told.saw(RECEIVE, received("m1", 1)).rules[0] == "DLQ-14"
    assert "DLQ-14" in told.saw(RECEIVE, Empty()).rules
    assert told.saw(FROM_DEAD, Empty()).rules[0] == "DLQ-05"
    wrong = received("m1", 1, dead_letter_reason="worse")
    assert told.saw(FROM_DEAD, wrong).rules[0] == "DLQ-05"
    changed = received("m1", 1, message_id="x", dead_letter_reason="bad")
    assert told.saw(FROM_DEAD, changed).rules[0] == "DLQ-06"
    right = received("m1", 2, 7, lock_token="d", dead_letter_reason="bad")
    assert {"DLQ-05", "DLQ-06"} <= set(told.saw(FROM_DEAD, right).rules)


def test_a_dead_letter_stays_until_it_is_completed(told: Told) -> None:
    buried(told, max_delivery_count=1)
    for number in range(3):
        letter = received("m1", 1, lock_token=f"d{number}")
        found = told.saw(FROM_DEAD, letter)
        assert ("DLQ-07" in found.rules, "DLQ-09" in found.rules) == (number > 0, number > 0)
        told.has(Abandon(queue=DEAD, lock_token=f"d{number}"))
    assert "DLQ-09" in told.saw(FROM_DEAD, Empty()).rules
    told.has(FROM_DEAD, received("m1", 1, lock_token="last"))
    told.has(Complete(queue=DEAD, lock_token="last"))
    assert told.saw(FROM_DEAD, received("m1", 1)).rules[:2] == ("LIFE-03", "DLQ-07")
    assert "DLQ-07" in told.saw(FROM_DEAD, Empty()).rules


def test_a_queue_has_dead_letters_of_its_own_from_the_start(told: Told) -> None:
    told.queue()
    assert told.saw(FROM_DEAD, Refused(error=Error.NOT_FOUND)).rules[0] == "DLQ-08"
    assert told.saw(FROM_DEAD, received("m1", 1)).rules[0] == "DLQ-03"
    assert told.saw(FROM_DEAD, Empty()).rules == ("DLQ-08",)
    elsewhere = Receive(queue="r/$deadletterqueue")
    assert told.saw(elsewhere, Empty()).possible == ()
    told.has(elsewhere, Refused(error=Error.NOT_FOUND))


def test_the_dead_letters_of_a_queue_that_may_not_exist_may_not_either(told: Told) -> None:
    told.has(CreateQueue(queue="q"), LOST)
    told.has(FROM_DEAD, Refused(error=Error.NOT_FOUND))
    told.has(FROM_DEAD, Empty())


def test_nothing_is_dead_lettered_from_there_and_nothing_sent_there(told: Told) -> None:
    buried(told)
    told.has(FROM_DEAD, received("m1", 1, lock_token="d"))
    again = DeadLetter(queue=DEAD, lock_token="d")
    assert "DLQ-10" in told.saw(again).rules
    assert told.saw(again, INVALID).rules == ("DLQ-10",)
    sent = Send(queue=DEAD, message=Message(body="m2"))
    assert told.saw(sent).rules[0] == "DLQ-11"
    assert told.saw(sent, OTHER).rules == ("DLQ-11",)
    assert told.saw(CreateQueue(queue=DEAD)).possible == ()
    told.has(CreateQueue(queue=DEAD), INVALID)


def test_a_lost_lock_dead_letters_nothing(told: Told) -> None:
    locked(told)
    after(told, MINUTE + 1)
    assert told.saw(BURY).rules[:2] == ("LOCK-06", "DLQ-14")
    assert told.saw(BURY, LOCK_LOST).rules == ("LOCK-06", "DLQ-14")
    assert told.saw(FROM_DEAD, received("m1", 1)).rules[0] == "DLQ-03"


def test_the_models_own_bus_gives_dead_letters_with_their_reason(told: Told) -> None:
    buried(told)
    offered = step(told.possible[0], FROM_DEAD)
    assert "bad" == offered[0].outcome.message.dead_letter_reason
    assert (
        DONE == step(offered[0].next, Complete(queue=DEAD, lock_token=_token(offered)))[0].outcome
    )


def _token(offered: tuple[object, ...]) -> str:
    return offered[0].outcome.message.lock_token


def test_on_a_real_clock_a_lock_that_may_have_expired_may_have_been_the_last_delivery() -> None:
    told = telling(clock=Clock.REAL)
    told.has(CreateQueue(queue="q", max_delivery_count=1), at=(0, 1))
    told.has(Send(queue="q", message=Message(body="m1")), partition=1, at=(2, 3))
    told.has(RECEIVE, received("m1", 1, lock_token="l"), at=(4, 5))
    letter = received("m1", 1, dead_letter_reason=TOO_OFTEN)
    assert told.saw(FROM_DEAD, letter, at=(10, MINUTE)).possible == ()
    told.has(FROM_DEAD, letter, at=(10, MINUTE + 6))


@pytest.mark.parametrize(
    ("reading", "allowed"), [("anew", {1}), ("kept", {4, 5}), ("either", {1, 2, 4, 5, 9})]
)
def test_readings_decide_what_is_counted_of_a_dead_letter(reading: str, allowed: set[int]) -> None:
    told = telling({"DEAD-LETTER-COUNT": reading, "DEAD-LETTER-DELAY": "at-once"})
    told.queue(max_delivery_count=3)
    told.send(partition=1)
    for count in (1, 2, 3):
        assert given(told, count)
        told.has(ABANDON)
    dead = Receive(queue="q/$deadletterqueue")
    found = {
        count
        for count in (1, 2, 4, 5, 9)
        if is_allowed(told, dead, received("m1", 1, number=9, delivery_count=count))
    }
    assert allowed == found
