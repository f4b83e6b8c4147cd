"""What the documents leave open of messages that have expired."""

import attrs
import pytest
from told import Told

from busproof import vocabulary as v

SENT = v.Message(body="m", time_to_live=10 * v.MICROSECONDS)
SHOWN = v.MessageView(body="m", sequence_number=1, time_to_live=SENT.time_to_live)
PEEK = v.Peek(queue="q", count=4)


def expired(**settings: bool) -> Told:
    """A message was sent, and has outlived its time to live by a second."""
    told = Told().of(v.CreateQueue(queue="q", **settings))
    return told.of(v.Send(queue="q", message=SENT)).waited(11)


def test_peek_may_show_it_until_it_is_cleaned_up() -> None:
    """TTL-08; once, and among others."""
    told = expired()
    assert told.may_be(PEEK, v.Peeked())
    assert told.may_be(PEEK, v.Peeked(messages=(SHOWN,)))
    assert not told.may_be(PEEK, v.Peeked(messages=(SHOWN, SHOWN)))
    assert not told.may_be(PEEK, v.Peeked(messages=(attrs.evolve(SHOWN, body="n"),)))
    told.of(v.Send(queue="q", message=attrs.evolve(SENT, body="n")))
    other = attrs.evolve(SHOWN, body="n", sequence_number=2)
    assert told.may_be(PEEK, v.Peeked(messages=(SHOWN, other)))
    assert told.may_be(PEEK, v.Peeked(messages=(other,)))


def test_nobody_receives_it_and_no_peek_shows_what_was_received() -> None:
    assert not expired().may_be(v.Receive(queue="q"), v.Received(message=SHOWN))
    told = Told().of(v.CreateQueue(queue="q")).of(v.Send(queue="q", message=SENT))
    take = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    told.of(take, v.Received(message=SHOWN)).waited(11)
    assert not told.may_be(PEEK, v.Peeked(messages=(SHOWN,)))


def test_peek_shows_none_of_a_partition_that_is_down() -> None:
    down = expired().of(v.TakePartitionDown(queue="q", partition=0))
    there = attrs.evolve(SHOWN, sequence_number=(1 << v.SEQUENCE_BITS) + 1)
    assert not down.may_be(PEEK, v.Peeked(messages=(SHOWN,)))
    assert down.may_be(PEEK, v.Peeked(messages=(there,)))


@pytest.mark.parametrize("dead_letter_expired", [True, False])
def test_deferred_one_may_be_given_or_refused_when_it_is_asked_for(
    *, dead_letter_expired: bool
) -> None:
    """TTL-10, TTL-11: and only an entity that dead-letters what expires may dead-letter it."""
    told = Told().of(v.CreateQueue(queue="q", dead_letter_expired=dead_letter_expired))
    told.of(v.Send(queue="q", message=SENT))
    told.of(v.Receive(queue="q"), v.Received(message=attrs.evolve(SHOWN, lock_token="l")))
    told.of(v.Defer(queue="q", lock_token="l")).waited(60)
    asked = v.ReceiveDeferred(queue="q", sequence_numbers=(1,))
    given = v.ReceivedSeveral(messages=(attrs.evolve(SHOWN, lock_token="k"),))
    refused = v.Refused(error=v.Error.MESSAGE_NOT_FOUND)
    assert told.may_be(asked, given)
    assert told.may_be(asked, refused)
    letter = attrs.evolve(SHOWN, dead_letter_reason="TTLExpiredException")
    dead = v.Receive(queue=f"q{v.DEAD_LETTERS}", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    assert not told.may_be(dead, v.Received(message=letter))
    told.of(asked, refused)
    assert told.may_be(dead, v.Received(message=letter)) is dead_letter_expired
    assert told.may_be(asked, given)


@pytest.mark.parametrize(("reading", "allowed"), [("one-receiver", False), ("sessions-only", True)])
def test_key_gives_an_order_unless_it_is_read_otherwise(reading: str, *, allowed: bool) -> None:
    """KEY-17."""
    told = Told(KEY_ORDER=reading).of(v.CreateQueue(queue="q"))
    for body in ("m", "n"):
        told.of(v.Send(queue="q", message=v.Message(body=body, partition_key="k")))
    second = v.MessageView(body="n", sequence_number=2, partition_key="k")
    take = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    assert told.may_be(take, v.Received(message=second)) is allowed
