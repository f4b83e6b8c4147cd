"""What a bus does by itself may take its time: forwarding, and moving dead letters."""

import pytest
from told import Told

from busproof import vocabulary as v

DELETE = v.ReceiveMode.RECEIVE_AND_DELETE
TAKE = v.Receive(queue="end", mode=DELETE)


def got(body: str, number: int = 1, **fields: object) -> v.Outcome:
    shown = v.MessageView(body=body, sequence_number=number, **fields)  # type: ignore[arg-type]
    return v.Received(message=shown)


def forwarding(**readings: str) -> Told:
    """A message was sent to a queue that forwards to another one."""
    told = Told(**readings).of(v.CreateQueue(queue="end"))  # type: ignore[arg-type]
    told.of(v.CreateQueue(queue="q", forward_to="end"))
    return told.of(v.Send(queue="q", message=v.Message(body="m")))


@pytest.mark.parametrize(
    ("reading", "seconds", "allowed"),
    [("bounded", 120, True), ("bounded", 121, False), ("unbounded", 121, True)],
)
def test_a_forwarded_message_may_come_late(reading: str, seconds: int, allowed: bool) -> None:
    told = forwarding(FORWARD_DELAY=reading).waited(seconds)
    assert told.may_be(TAKE, v.Empty()) is allowed
    assert told.may_be(TAKE, got("m"))


def test_it_comes_once() -> None:
    told = forwarding().of(TAKE, v.Empty()).of(TAKE, got("m"))
    assert not told.may_be(TAKE, got("m", 2))


def test_its_lifetime_begins_with_its_arrival() -> None:
    told = Told().of(v.CreateQueue(queue="end", time_to_live=30 * v.MICROSECONDS))
    told.of(v.CreateQueue(queue="q", forward_to="end"))
    told.of(v.Send(queue="q", message=v.Message(body="m"))).waited(50)
    assert told.may_be(TAKE, got("m"))
    assert not told.waited(101).may_be(TAKE, got("m"))


def test_a_message_may_have_taken_two_hops_in_between() -> None:
    told = Told().of(v.CreateQueue(queue="end")).of(v.CreateQueue(queue="hop", forward_to="end"))
    told.of(v.CreateQueue(queue="q", forward_to="hop"))
    told.of(v.Send(queue="q", message=v.Message(body="m")))
    assert told.may_be(TAKE, got("m"))
    assert not told.waited(121).may_be(TAKE, v.Empty())


def test_a_message_on_its_way_may_be_peeked_and_counted_and_is_not_given() -> None:
    told = forwarding()
    peeked = v.Peeked(messages=(v.MessageView(body="m", sequence_number=1),))
    assert told.may_be(v.Peek(queue="q"), peeked)
    assert told.may_be(v.Peek(queue="q"), v.Peeked())
    counted = v.Described(description=v.QueueDescription(queue="q", message_count=1))
    assert told.may_be(v.GetQueue(queue="q"), counted)
    assert not told.may_be(v.Receive(queue="q", mode=DELETE), got("m"))


def test_when_forwarding_ends_a_message_is_in_one_of_the_two() -> None:
    told = forwarding().of(v.UpdateQueue(queue="q", forward_to=""))
    take = v.Receive(queue="q", mode=DELETE)
    assert told.may_be(take, got("m"))
    assert told.may_be(TAKE, got("m"))
    assert not told.of(take, got("m")).may_be(TAKE, got("m"))


def test_when_forwarding_begins_a_message_may_go_or_stay() -> None:
    told = Told().of(v.CreateQueue(queue="end")).of(v.CreateQueue(queue="q"))
    told.of(v.Send(queue="q", message=v.Message(body="m")))
    told.of(v.UpdateQueue(queue="q", forward_to="end")).waited(600)
    take = v.Receive(queue="q", mode=DELETE)
    assert told.may_be(take, got("m"))
    assert not told.may_be(take, got("m").__class__(message=v.MessageView(body="n")))
    assert not told.of(TAKE, got("m")).may_be(take, got("m"))


@pytest.mark.parametrize(
    ("reading", "seconds", "allowed"),
    [("bounded", 120, True), ("bounded", 121, False), ("at-once", 1, False)],
)
def test_what_expires_may_be_a_dead_letter_later(reading: str, seconds: int, allowed: bool) -> None:
    told = Told(DEAD_LETTER_DELAY=reading)
    lives = 10 * v.MICROSECONDS
    told.of(v.CreateQueue(queue="q", time_to_live=lives, dead_letter_expired=True))
    told.of(v.Send(queue="q", message=v.Message(body="m"))).waited(10 + seconds)
    dead = v.Receive(queue=f"q{v.DEAD_LETTERS}", mode=DELETE)
    assert told.may_be(dead, v.Empty()) is allowed
    assert told.may_be(dead, got("m", dead_letter_reason="TTLExpiredException"))
    assert not told.may_be(v.Receive(queue="q", mode=DELETE), got("m"))
