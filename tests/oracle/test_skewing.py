"""Timers that go wrong, within bounds."""

from random import Random

import pytest

from busproof.oracle.duplicates import LONGEST_WINDOW, SHORTEST_WINDOW
from busproof.oracle.skewing import HOSTILE_SLACK, Skew
from busproof.vocabulary.commands import (
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Receive,
    Schedule,
    Send,
    SendBatch,
)
from busproof.vocabulary.messages import Message, MessageView
from busproof.vocabulary.outcomes import Done, Outcome, Received, Renewed

LIFE = 60_000_000


def skew(seed: int = 1, *, punctual: bool = True) -> Skew:
    return Skew(Random(seed), punctual=punctual)


def is_near(one: int | None, other: int) -> bool:
    return one is not None and 0 < abs(one - other) <= HOSTILE_SLACK


@pytest.mark.parametrize("window", [20_000_000, 7 * 86_400_000_000])
def test_a_window_that_can_be_had_stays_one(window: int) -> None:
    """DUP-03: a bus that shortens the shortest one would refuse it."""
    for seed in range(20):
        taken = skew(seed).taken(CreateQueue(queue="q", duplicate_window=window))
        assert isinstance(taken, CreateQueue)
        assert SHORTEST_WINDOW <= taken.duplicate_window <= LONGEST_WINDOW


def test_a_window_that_cannot_be_had_is_asked_for_as_it_is() -> None:
    asked = CreateQueue(queue="q", duplicate_window=SHORTEST_WINDOW - 1)
    taken = skew().taken(asked)
    assert isinstance(taken, CreateQueue)
    assert SHORTEST_WINDOW - 1 == taken.duplicate_window


def test_a_queue_is_told_with_what_was_asked_for() -> None:
    """And has something else, within the slack."""
    asked = CreateQueue(queue="q", lock_duration=30_000_000, time_to_live=LIFE)
    some = skew()
    taken = some.taken(asked)
    assert isinstance(taken, CreateQueue)
    assert is_near(taken.lock_duration, asked.lock_duration)
    assert is_near(taken.duplicate_window, asked.duplicate_window)
    assert is_near(taken.time_to_live, LIFE)
    assert asked == some.announced(taken)
    other = CreateQueue(queue="other", lock_duration=taken.lock_duration)
    assert other == some.announced(other)


@pytest.mark.parametrize("life", [None, LIFE])
def test_topics_and_subscriptions_are_skewed_too(life: int | None) -> None:
    """What lives for ever does so still."""
    topic = skew().taken(CreateTopic(topic="t", time_to_live=life))
    assert isinstance(topic, CreateTopic)
    made = skew().taken(CreateSubscription(topic="t", subscription="s", time_to_live=life))
    assert isinstance(made, CreateSubscription)
    assert is_near(made.lock_duration, 60_000_000)
    assert is_near(topic.duplicate_window, 600_000_000)
    for each in (topic.time_to_live, made.time_to_live):
        assert (each is None) if life is None else is_near(each, life)


def test_a_creation_that_is_repeated_is_the_same() -> None:
    """MGMT-19: who repeats it after an outage asks for nothing else, and has to get it."""
    asked, hostile = CreateQueue(queue="q"), skew()
    assert hostile.taken(asked) == hostile.taken(asked)
    assert hostile.taken(asked) != hostile.taken(CreateQueue(queue="other"))


def test_messages_live_and_come_a_little_off() -> None:
    """Much later only where nobody says that they are punctual."""
    send = skew().taken(Send(queue="q", message=Message(body="b", time_to_live=LIFE)))
    assert isinstance(send, Send)
    assert is_near(send.message.time_to_live, LIFE)
    schedule = Schedule(queue="q", message=Message(body="b"), delay=LIFE)
    for punctual, most in ((True, HOSTILE_SLACK), (False, 5 * HOSTILE_SLACK)):
        some = skew(punctual=punctual)
        taken = [some.taken(schedule) for _ in range(80)]
        late = [each.delay - LIFE for each in taken if isinstance(each, Schedule)]
        assert -HOSTILE_SLACK <= min(late) < 0
        assert most - HOSTILE_SLACK < max(late) <= most


def test_other_requests_are_as_they_are() -> None:
    """They name no time."""
    assert Receive(queue="q") == skew().taken(Receive(queue="q"))


@pytest.mark.parametrize(
    ("outcome", "is_changed"),
    [
        (Renewed(locked_until=LIFE), True),
        (Received(message=MessageView(body="b", locked_until=LIFE)), True),
        (Renewed(), False),
        (Received(message=MessageView(body="b")), False),
        (Done(), False),
    ],
)
def test_the_end_of_a_lock_is_told_a_little_off(outcome: Outcome, is_changed: bool) -> None:
    """Where it is told at all."""
    assert is_changed is (outcome != skew().seen(outcome))


def test_messages_of_a_batch_live_about_as_long_as_they_were_asked_to() -> None:
    command = SendBatch(
        queue="q", messages=(Message(body="a", time_to_live=LIFE), Message(body="b"))
    )
    taken = skew().taken(command)
    assert isinstance(taken, SendBatch)
    first, second = taken.messages
    assert is_near(first.time_to_live, LIFE)
    assert second == command.messages[1]
