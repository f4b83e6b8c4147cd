"""The description of a queue: its settings, its counts, its availability."""

import pytest
from telling import (
    DONE,
    GONE,
    LOST,
    SECOND,
    Told,
    down,
    is_allowed,
    passes,
    received,
    refuses,
    shows,
    telling,
    told_of,
    up,
)

from busproof.vocabulary.commands import (
    Abandon,
    CancelScheduled,
    Complete,
    Defer,
    GetQueue,
    Receive,
    Schedule,
)
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Described, QueueDescription, Scheduled
from busproof.vocabulary.values import ReceiveMode, Tier

GET = GetQueue(queue="q")


def receive() -> Receive:
    return Receive(queue="q")


def test_settings_are_told_as_they_are(told: Told) -> None:
    told.queue(lock_duration=5, max_delivery_count=3)
    shows(told, GET, told_of(lock_duration=5, max_delivery_count=3), "MGMT-11")
    for wrong in (
        {"lock_duration": 6},
        {"max_delivery_count": 4},
        {"duplicate_window": 1},
        {"requires_session": True},
        {"duplicate_detection": True},
    ):
        refuses(told, GET, told_of(**wrong), "MGMT-11")
    refuses(told, GET, Described(description=QueueDescription(queue="p")), "MGMT-11")
    refuses(told, GET, DONE, "MGMT-20")
    told.has(GET, LOST)


@pytest.mark.parametrize(("partitioned", "rule"), [(True, "MGMT-01"), (False, "MGMT-03")])
def test_the_option_is_told(told: Told, partitioned: bool, rule: str) -> None:
    told.queue(partitioned=partitioned)
    refuses(told, GET, told_of(partitioned=not partitioned), rule)
    shows(told, GET, told_of(partitioned=partitioned), rule)


@pytest.mark.parametrize(
    ("reading", "allowed"),
    [("regular", {False}), ("partitioned", {True}), ("either", {True, False})],
)
def test_the_option_left_out(reading: str, allowed: set[bool]) -> None:
    for partitioned in (True, False):
        told = telling({"PARTITIONING-DEFAULT": reading})
        told.queue(partitioned=None)
        found = told.saw(GET, told_of(partitioned=partitioned))
        assert bool(found.possible) is (partitioned in allowed)


def test_premium_says_nothing_of_the_option() -> None:
    told = telling(tier=Tier.PREMIUM)
    told.queue(partitioned=False)
    assert "MGMT-03" not in told.saw(GET, told_of(partitioned=False)).rules


def spread(told: Told, number: int = 4) -> None:
    """Messages in different partitions."""
    for each in range(number):
        told.send(partition=each % 4)


def test_counts_may_be_late_and_never_too_high(told: Told) -> None:
    told.queue()
    spread(told)
    for count in range(4):
        told.has(GET, told_of(message_count=count))
    shows(told, GET, told_of(message_count=4), "MGMT-20")
    refuses(told, GET, told_of(message_count=5), "MGMT-20")


def test_counts_of_the_moment_are_exact() -> None:
    told = telling({"GET-LAG": "at-once"})
    told.queue()
    spread(told)
    shows(told, GET, told_of(message_count=4), "MGMT-20")
    refuses(told, GET, told_of(message_count=3), "MGMT-20")
    told.has(receive(), LOST)
    told.has(GET, told_of(message_count=3))
    refuses(told, GET, told_of(message_count=2), "MGMT-20")
    told.has(down(0))
    told.has(GET, told_of(message_count=2))
    refuses(told, GET, told_of(message_count=1), "MGMT-20", "MGMT-23")


def test_what_is_surely_locked_or_deferred_is_counted() -> None:
    told = telling({"GET-LAG": "at-once"})
    told.queue(lock_duration=30_000_000)
    spread(told, 3)
    told.has(receive(), received("m1", 0, number=1, lock_token="l"))
    refuses(told, GET, told_of(message_count=2), "MGMT-20")
    told.has(GET, told_of(message_count=3))
    told.has(Defer(queue="q", lock_token="l"))
    refuses(told, GET, told_of(message_count=2), "MGMT-20")
    told.has(receive(), received("m2", 1, number=1, lock_token="k"))
    told.has(Complete(queue="q", lock_token="k"), LOST)
    told.has(GET, told_of(message_count=2))
    refuses(told, GET, told_of(message_count=1), "MGMT-20")


def test_a_locked_message_may_be_out_of_the_count_once_its_lock_may_have_ended() -> None:
    told = telling({"GET-LAG": "at-once"})
    told.queue(lock_duration=30_000_000, max_delivery_count=1)
    told.send(partition=1)
    told.has(receive(), received("m1", 1, lock_token="l"))
    refuses(told, GET, told_of(message_count=0), "MGMT-20")
    passes(told, 31)
    assert is_allowed(told, GET, told_of(message_count=0))


def test_one_partition_alone_shows_no_sum(told: Told) -> None:
    told.queue()
    told.send(partition=1)
    assert "MGMT-20" not in told.saw(GET, told_of(message_count=1)).rules
    told = telling()
    told.queue(partitioned=False)
    told.send()
    assert "MGMT-20" not in told.saw(GET, told_of(message_count=1)).rules


def test_without_partitions_to_tell_apart_a_sum_is_shown() -> None:
    told = telling(witness=False)
    told.queue()
    told.send()
    told.send()
    shows(told, GET, told_of(message_count=2), "MGMT-20")


@pytest.mark.parametrize(
    ("reading", "count", "allowed"),
    [
        ("either", 4, True),
        ("either", 3, True),
        ("either", None, True),
        ("left-out", 4, False),
        ("left-out", 3, True),
        ("left-out", None, False),
        ("refused", 3, False),
        ("refused", None, True),
    ],
)
def test_counts_in_an_outage(reading: str, count: int | None, allowed: bool) -> None:
    told = telling({"COUNTS-IN-OUTAGE": reading, "GET-LAG": "at-once"})
    told.queue()
    spread(told)
    told.has(down(0))
    outcome = GONE if count is None else told_of(message_count=count)
    found = told.saw(GET, outcome)
    assert bool(found.possible) is allowed
    assert not allowed or "MGMT-23" in found.rules


def test_availability_is_limited_in_an_outage_and_only_then() -> None:
    limited = told_of(availability=Availability.LIMITED)
    available = told_of(availability=Availability.AVAILABLE)
    told = telling({"GET-LAG": "at-once"})
    told.queue()
    shows(told, GET, available, "MGMT-22")
    refuses(told, GET, limited, "MGMT-22")
    told.has(down(0))
    shows(told, GET, limited, "MGMT-21")
    refuses(told, GET, available, "MGMT-21")
    told.has(up(0))
    refuses(told, GET, limited, "MGMT-22")


def test_availability_may_be_late() -> None:
    told = telling()
    told.queue()
    refuses(told, GET, told_of(availability=Availability.LIMITED), "MGMT-22")
    told.has(down(0))
    told.has(GET, told_of(availability=Availability.AVAILABLE))
    told.has(up(0))
    told.has(GET, told_of(availability=Availability.LIMITED))


def test_the_model_tells_of_itself(told: Told) -> None:
    told.queue()
    told.send(partition=0)
    told.send(partition=1)
    exact, late = (transition.outcome.description for transition in told.step(GET))
    assert (2, Availability.AVAILABLE) == (exact.message_count, exact.availability)
    assert (0, Availability.AVAILABLE) == (late.message_count, late.availability)
    told.has(down(0))
    exact = told.step(GET)[0].outcome.description
    assert (1, Availability.LIMITED) == (exact.message_count, exact.availability)
    told.has(up(0))
    assert Availability.LIMITED is told.step(GET)[1].outcome.description.availability
    at_once = telling({"GET-LAG": "at-once"})
    at_once.queue()
    assert len(at_once.step(GET)) == 1


def test_message_possibly_spent_in_a_cache_need_not_be_counted() -> None:
    told = telling({"GET-LAG": "at-once"})
    told.queue(max_delivery_count=1, lock_duration=30_000_000)
    told.send(partition=1)
    told.send(partition=2)
    taken = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
    told.has(taken, received("m2", 2))
    refuses(told, GET, told_of(message_count=0), "MGMT-20")
    passes(told, 31)
    assert is_allowed(told, GET, told_of(message_count=0))


def test_a_delivery_count_that_was_seen_says_how_often_a_message_was_delivered() -> None:
    told = telling({"GET-LAG": "at-once"})
    told.queue(max_delivery_count=2, lock_duration=30_000_000)
    told.send(partition=1)
    told.send(partition=2)
    taken = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
    told.has(taken, received("m2", 2))
    passes(told, 31)
    told.has(receive(), received("m1", 1, delivery_count=2, lock_token="l"))
    told.has(Abandon(queue="q", lock_token="l"))
    again = received("m1", 1, delivery_count=3, lock_token="k")
    refuses(told, receive(), again, "DLQ-02")
    assert is_allowed(told, GET, told_of(message_count=0))


@pytest.mark.parametrize(
    ("reading", "before"), [("either", {0, 1}), ("counted", {1}), ("left-out", {0})]
)
def test_scheduled_messages_are_counted_as_they_are_read_to_be(
    reading: str, before: set[int]
) -> None:
    told = telling({"SCHEDULED-COUNT": reading, "GET-LAG": "at-once"})
    told.queue()
    later = Schedule(queue="q", message=Message(body="s"), delay=9 * SECOND)
    told.has(later, Scheduled(sequence_number=1))
    counted = {
        number for number in range(3) if is_allowed(told, GET, told_of(message_count=number))
    }
    assert before == counted
    passes(told, 10)
    assert is_allowed(told, GET, told_of(message_count=1))


def test_scheduled_message_need_not_be_counted_while_it_may_be_cancelled_or_out_of_reach() -> None:
    told = telling({"SCHEDULED-COUNT": "counted", "GET-LAG": "at-once"})
    told.queue()
    later = Schedule(queue="q", message=Message(body="s"), delay=9 * SECOND)
    told.has(later, Scheduled(sequence_number=1))
    told.has(down(1))
    assert is_allowed(told, GET, told_of(message_count=0))
    told.has(up(1))
    assert not is_allowed(told, GET, told_of(message_count=0))
    told.has(CancelScheduled(queue="q", sequence_number=1), LOST)
    for number in (0, 1):
        assert is_allowed(told, GET, told_of(message_count=number))


@pytest.mark.parametrize(
    ("reading", "right", "rule"), [("counted", 1, "MGMT-29"), ("left-out", 0, "MGMT-30")]
)
def test_count_of_scheduled_messages_is_held_against_the_rule_of_its_reading(
    reading: str, right: int, rule: str
) -> None:
    told = telling({"SCHEDULED-COUNT": reading, "GET-LAG": "at-once"})
    told.queue()
    later = Schedule(queue="q", message=Message(body="s"), delay=9 * SECOND)
    told.has(later, Scheduled(sequence_number=1))
    shows(told, GET, told_of(message_count=right), rule)
    refuses(told, GET, told_of(message_count=1 - right), rule)
    passes(told, 10)
    assert rule not in told.saw(GET, told_of(message_count=1)).rules
