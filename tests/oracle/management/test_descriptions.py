"""The description of a queue: its settings, its counts, its availability."""

import pytest
from managed_queues import GET, RECEIVE
from observing import (
    DONE,
    GONE,
    LOST,
    SECOND,
    Observer,
    described_as,
    down,
    is_allowed,
    observing,
    passes,
    received,
    refuses,
    shows,
    up,
)

from busproof.vocabulary.commands import (
    Abandon,
    CancelScheduled,
    Complete,
    Defer,
    Receive,
    Schedule,
)
from busproof.vocabulary.entity_settings import Availability
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Described, QueueDescription, Scheduled
from busproof.vocabulary.values import ReceiveMode, Tier


def test_settings_are_described_as_they_are(observer: Observer) -> None:
    observer.queue(lock_duration=5, max_delivery_count=3)
    shows(observer, GET, described_as(lock_duration=5, max_delivery_count=3), "MGMT-11")
    for wrong in (
        {"lock_duration": 6},
        {"max_delivery_count": 4},
        {"duplicate_window": 1},
        {"requires_session": True},
        {"duplicate_detection": True},
    ):
        refuses(observer, GET, described_as(**wrong), "MGMT-11")
    refuses(observer, GET, Described(description=QueueDescription(queue="p")), "MGMT-11")
    refuses(observer, GET, DONE, "MGMT-20")
    observer.has(GET, LOST)


@pytest.mark.parametrize(("partitioned", "rule"), [(True, "MGMT-01"), (False, "MGMT-03")])
def test_the_option_is_described(observer: Observer, partitioned: bool, rule: str) -> None:
    observer.queue(partitioned=partitioned)
    refuses(observer, GET, described_as(partitioned=not partitioned), rule)
    shows(observer, GET, described_as(partitioned=partitioned), rule)


@pytest.mark.parametrize(
    ("reading", "allowed"),
    [("regular", {False}), ("partitioned", {True}), ("either", {True, False})],
)
def test_the_option_left_out(reading: str, allowed: set[bool]) -> None:
    for partitioned in (True, False):
        observer = observing({"PARTITIONING-DEFAULT": reading})
        observer.queue(partitioned=None)
        found = observer.saw(GET, described_as(partitioned=partitioned))
        assert bool(found.possible) is (partitioned in allowed)


def test_premium_says_nothing_of_the_option() -> None:
    observer = observing(tier=Tier.PREMIUM)
    observer.queue(partitioned=False)
    assert "MGMT-03" not in observer.saw(GET, described_as(partitioned=False)).rules


def spread(observer: Observer, number: int = 4) -> None:
    """Messages in different partitions."""
    for each in range(number):
        observer.send(partition=each % 4)


def test_counts_may_be_late_and_never_too_high(observer: Observer) -> None:
    observer.queue()
    spread(observer)
    for count in range(4):
        observer.has(GET, described_as(message_count=count))
    shows(observer, GET, described_as(message_count=4), "MGMT-20")
    refuses(observer, GET, described_as(message_count=5), "MGMT-20")


def test_counts_of_the_moment_are_exact() -> None:
    observer = observing({"GET-LAG": "at-once"})
    observer.queue()
    spread(observer)
    shows(observer, GET, described_as(message_count=4), "MGMT-20")
    refuses(observer, GET, described_as(message_count=3), "MGMT-20")
    observer.has(RECEIVE, LOST)
    observer.has(GET, described_as(message_count=3))
    refuses(observer, GET, described_as(message_count=2), "MGMT-20")
    observer.has(down(0))
    observer.has(GET, described_as(message_count=2))
    refuses(observer, GET, described_as(message_count=1), "MGMT-20", "MGMT-23")


def test_what_is_surely_locked_or_deferred_is_counted() -> None:
    observer = observing({"GET-LAG": "at-once"})
    observer.queue(lock_duration=30_000_000)
    spread(observer, 3)
    observer.has(RECEIVE, received("m1", 0, number=1, lock_token="l"))
    refuses(observer, GET, described_as(message_count=2), "MGMT-20")
    observer.has(GET, described_as(message_count=3))
    observer.has(Defer(queue="q", lock_token="l"))
    refuses(observer, GET, described_as(message_count=2), "MGMT-20")
    observer.has(RECEIVE, received("m2", 1, number=1, lock_token="k"))
    observer.has(Complete(queue="q", lock_token="k"), LOST)
    observer.has(GET, described_as(message_count=2))
    refuses(observer, GET, described_as(message_count=1), "MGMT-20")


def test_a_locked_message_may_be_out_of_the_count_once_its_lock_may_have_ended() -> None:
    observer = observing({"GET-LAG": "at-once"})
    observer.queue(lock_duration=30_000_000, max_delivery_count=1)
    observer.send(partition=1)
    observer.has(RECEIVE, received("m1", 1, lock_token="l"))
    refuses(observer, GET, described_as(message_count=0), "MGMT-20")
    passes(observer, 31)
    assert is_allowed(observer, GET, described_as(message_count=0))


def test_one_partition_alone_shows_no_sum(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1)
    assert "MGMT-20" not in observer.saw(GET, described_as(message_count=1)).rules
    observer = observing()
    observer.queue(partitioned=False)
    observer.send()
    assert "MGMT-20" not in observer.saw(GET, described_as(message_count=1)).rules


def test_without_partitions_to_distinguish_a_sum_is_shown() -> None:
    observer = observing(witness=False)
    observer.queue()
    observer.send()
    observer.send()
    shows(observer, GET, described_as(message_count=2), "MGMT-20")


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
    observer = observing({"COUNTS-IN-OUTAGE": reading, "GET-LAG": "at-once"})
    observer.queue()
    spread(observer)
    observer.has(down(0))
    outcome = GONE if count is None else described_as(message_count=count)
    found = observer.saw(GET, outcome)
    assert bool(found.possible) is allowed
    assert not allowed or "MGMT-23" in found.rules


def test_availability_is_limited_in_an_outage_and_only_then() -> None:
    limited = described_as(availability=Availability.LIMITED)
    available = described_as(availability=Availability.AVAILABLE)
    observer = observing({"GET-LAG": "at-once"})
    observer.queue()
    shows(observer, GET, available, "MGMT-22")
    refuses(observer, GET, limited, "MGMT-22")
    observer.has(down(0))
    shows(observer, GET, limited, "MGMT-21")
    refuses(observer, GET, available, "MGMT-21")
    observer.has(up(0))
    refuses(observer, GET, limited, "MGMT-22")


def test_availability_may_be_late() -> None:
    observer = observing()
    observer.queue()
    refuses(observer, GET, described_as(availability=Availability.LIMITED), "MGMT-22")
    observer.has(down(0))
    observer.has(GET, described_as(availability=Availability.AVAILABLE))
    observer.has(up(0))
    observer.has(GET, described_as(availability=Availability.LIMITED))


def test_the_model_describes_itself(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=0)
    observer.send(partition=1)
    exact, late = (transition.outcome.description for transition in observer.step(GET))
    assert (2, Availability.AVAILABLE) == (exact.message_count, exact.availability)
    assert (0, Availability.AVAILABLE) == (late.message_count, late.availability)
    observer.has(down(0))
    exact = observer.step(GET)[0].outcome.description
    assert (1, Availability.LIMITED) == (exact.message_count, exact.availability)
    observer.has(up(0))
    assert Availability.LIMITED is observer.step(GET)[1].outcome.description.availability
    at_once = observing({"GET-LAG": "at-once"})
    at_once.queue()
    assert len(at_once.step(GET)) == 1


def test_message_possibly_spent_in_a_cache_need_not_be_counted() -> None:
    observer = observing({"GET-LAG": "at-once"})
    observer.queue(max_delivery_count=1, lock_duration=30_000_000)
    observer.send(partition=1)
    observer.send(partition=2)
    taken = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
    observer.has(taken, received("m2", 2))
    refuses(observer, GET, described_as(message_count=0), "MGMT-20")
    passes(observer, 31)
    assert is_allowed(observer, GET, described_as(message_count=0))


def test_a_delivery_count_that_was_seen_says_how_often_a_message_was_delivered() -> None:
    observer = observing({"GET-LAG": "at-once"})
    observer.queue(max_delivery_count=2, lock_duration=30_000_000)
    observer.send(partition=1)
    observer.send(partition=2)
    taken = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
    observer.has(taken, received("m2", 2))
    passes(observer, 31)
    observer.has(RECEIVE, received("m1", 1, delivery_count=2, lock_token="l"))
    observer.has(Abandon(queue="q", lock_token="l"))
    again = received("m1", 1, delivery_count=3, lock_token="k")
    refuses(observer, RECEIVE, again, "DLQ-02")
    assert is_allowed(observer, GET, described_as(message_count=0))


@pytest.mark.parametrize(
    ("reading", "before"), [("either", {0, 1}), ("counted", {1}), ("left-out", {0})]
)
def test_scheduled_messages_are_counted_as_they_are_read_to_be(
    reading: str, before: set[int]
) -> None:
    observer = observing({"SCHEDULED-COUNT": reading, "GET-LAG": "at-once"})
    observer.queue()
    later = Schedule(queue="q", message=Message(body="s"), delay=9 * SECOND)
    observer.has(later, Scheduled(sequence_number=1))
    counted = {
        number
        for number in range(3)
        if is_allowed(observer, GET, described_as(message_count=number))
    }
    assert before == counted
    passes(observer, 10)
    assert is_allowed(observer, GET, described_as(message_count=1))


def test_scheduled_message_need_not_be_counted_while_it_may_be_cancelled_or_out_of_reach() -> None:
    observer = observing({"SCHEDULED-COUNT": "counted", "GET-LAG": "at-once"})
    observer.queue()
    later = Schedule(queue="q", message=Message(body="s"), delay=9 * SECOND)
    observer.has(later, Scheduled(sequence_number=1))
    observer.has(down(1))
    assert is_allowed(observer, GET, described_as(message_count=0))
    observer.has(up(1))
    assert not is_allowed(observer, GET, described_as(message_count=0))
    observer.has(CancelScheduled(queue="q", sequence_number=1), LOST)
    for number in (0, 1):
        assert is_allowed(observer, GET, described_as(message_count=number))


@pytest.mark.parametrize(
    ("reading", "right", "rule"), [("counted", 1, "MGMT-29"), ("left-out", 0, "MGMT-30")]
)
def test_count_of_scheduled_messages_is_held_against_the_rule_of_its_reading(
    reading: str, right: int, rule: str
) -> None:
    observer = observing({"SCHEDULED-COUNT": reading, "GET-LAG": "at-once"})
    observer.queue()
    later = Schedule(queue="q", message=Message(body="s"), delay=9 * SECOND)
    observer.has(later, Scheduled(sequence_number=1))
    shows(observer, GET, described_as(message_count=right), rule)
    refuses(observer, GET, described_as(message_count=1 - right), rule)
    passes(observer, 10)
    assert rule not in observer.saw(GET, described_as(message_count=1)).rules
