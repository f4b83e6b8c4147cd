"""Queues being created, got, listed, updated and deleted: what is allowed and what is not."""

from typing import Any

import attrs
import pytest
from telling import DONE, GONE, INVALID, OTHER, Told, received, telling, view

from busproof.model.commands import (
    Abandon,
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateTopic,
    DeleteQueue,
    GetQueue,
    ListQueues,
    Peek,
    Receive,
    RestoreQueue,
    RollBackTransaction,
    Send,
    TakePartitionDown,
    UpdateQueue,
)
from busproof.model.outcomes import (
    Described,
    Empty,
    Indeterminate,
    Listed,
    Outcome,
    Peeked,
    QueueDescription,
    Refused,
)
from busproof.model.values import Availability, Error, Message, Tier

LOST = Indeterminate()
MISSING = Refused(error=Error.NOT_FOUND)
TAKEN = Refused(error=Error.ALREADY_EXISTS)
GET = GetQueue(queue="q")
DELETE = DeleteQueue(queue="q")
SECOND = 1_000_000


def told_of(**told: Any) -> Described:
    return Described(description=QueueDescription(queue="q", **told))


def update(**changes: Any) -> UpdateQueue:
    return UpdateQueue(queue="q", **changes)


def down(partition: int) -> TakePartitionDown:
    return TakePartitionDown(queue="q", partition=partition)


def up(partition: int) -> BringPartitionUp:
    return BringPartitionUp(queue="q", partition=partition)


def receive() -> Receive:
    return Receive(queue="q")


def refuses(told: Told, command: object, outcome: Outcome, *blamed: str) -> None:
    """An answer that nothing allows, and the rules that it breaks, the first one first."""
    found = told.saw(command, outcome)
    assert not found.possible, (command, outcome)
    assert blamed == found.rules[: len(blamed)]


def shows(told: Told, command: object, outcome: Outcome, *rules: str) -> None:
    """An answer that is allowed and shows these rules, among others."""
    found = told.saw(command, outcome)
    assert found.possible, (command, outcome, found.rules)
    assert set(rules) <= set(found.rules), found.rules


# Names


def test_a_name_is_taken_once(told: Told) -> None:
    told.queue()
    refuses(told, CreateQueue(queue="q"), DONE, "MGMT-09")
    refuses(told, CreateQueue(queue="q"), OTHER, "MGMT-09")
    shows(told, CreateQueue(queue="q"), TAKEN, "MGMT-09")


@pytest.mark.parametrize(
    "command",
    [
        Send(queue="q", message=Message(body="m")),
        receive(),
        Peek(queue="q"),
        GET,
        update(lock_duration=5),
        DELETE,
    ],
)
def test_what_does_not_exist_is_not_found(told: Told, command: object) -> None:
    refuses(told, command, DONE, "MGMT-10")
    refuses(told, command, OTHER, "MGMT-10")
    shows(told, command, MISSING, "MGMT-10")


def test_a_settlement_on_what_does_not_exist_may_be_refused_in_any_way(told: Told) -> None:
    told.has(Complete(queue="q", lock_token="t"), OTHER)
    told.has(down(1), OTHER)
    told.has(down(9), MISSING)
    refuses(told, down(9), DONE)


def test_what_was_kept_from_a_queue_by_asking_for_it_again_is_missed(told: Told) -> None:
    told.queue()
    told.send()
    told.has(CreateQueue(queue="q"), TAKEN)
    assert "MGMT-09" in told.saw(receive(), Empty()).rules


# Lists


def test_a_list_names_every_queue_once(told: Told) -> None:
    told.queue()
    told.has(CreateQueue(queue="p"))
    shows(told, ListQueues(), Listed(names=("q", "p")), "MGMT-16")
    for wrong in (("q",), ("q", "p", "p"), ("q", "p", "r"), ()):
        refuses(told, ListQueues(), Listed(names=wrong), "MGMT-16")
    assert Listed(names=("p", "q")) == told.step(ListQueues())[0].outcome


def test_a_list_may_name_what_may_be_there(told: Told) -> None:
    told.has(CreateQueue(queue="q"), LOST)
    told.has(ListQueues(), Listed())
    told.has(ListQueues(), Listed(names=("q",)))
    told.has(ListQueues(), LOST)


# What is got


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


# Updates


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("partitioned", "MGMT-04"),
        ("requires_session", "MGMT-13"),
        ("duplicate_detection", "MGMT-14"),
    ],
)
@pytest.mark.parametrize("answer", [INVALID, OTHER, DONE])
def test_what_is_fixed_stays_as_it_is(name: str, rule: str, answer: Outcome) -> None:
    told = telling()
    told.queue()
    before = name == "partitioned"
    shows(told, update(**{name: not before}), answer, rule)
    shows(told, GET, told_of(**{name: before}), rule)
    refuses(told, GET, told_of(**{name: not before}), rule)


def test_an_update_that_names_what_is_so_succeeds(told: Told) -> None:
    told.queue()
    refuses(told, update(partitioned=True), INVALID, "MGMT-12")
    told.has(update(partitioned=True))


def test_an_update_is_in_force(told: Told) -> None:
    told.queue()
    told.send(partition=0)
    told.send(partition=1)
    told.has(update(lock_duration=5 * SECOND, max_delivery_count=1))
    shows(told, GET, told_of(lock_duration=5 * SECOND, max_delivery_count=1), "MGMT-12")
    refuses(told, GET, told_of(lock_duration=60 * SECOND), "MGMT-12")
    long = received("m1", lock_token="a", locked_until=60 * SECOND)
    refuses(told, receive(), long, "MGMT-12", "MGMT-17")
    short = received("m1", lock_token="a", locked_until=5 * SECOND)
    shows(told, receive(), short, "MGMT-12", "MGMT-17")
    told.has(Abandon(queue="q", lock_token="a"))
    told.has(receive(), received("m2", partition=1, lock_token="b", locked_until=5 * SECOND))
    told.has(receive(), Empty())


def test_an_update_of_a_regular_queue_shows_nothing_of_partitions(told: Told) -> None:
    told.queue(partitioned=False)
    told.send()
    told.has(update(lock_duration=5 * SECOND))
    found = told.saw(GET, told_of(lock_duration=5 * SECOND, max_delivery_count=10))
    assert "MGMT-17" not in found.rules
    found = told.saw(receive(), received("m1", lock_token="a", locked_until=SECOND))
    assert "MGMT-12" in found.rules
    assert "MGMT-17" not in found.rules


def test_an_update_that_was_never_answered_may_be_in_force_at_any_time(told: Told) -> None:
    told.queue()
    told.has(update(lock_duration=5 * SECOND, requires_session=True), LOST)
    for duration in (5, 60):
        told.has(GET, told_of(lock_duration=duration * SECOND))
    told.has(update(lock_duration=30 * SECOND))
    for duration in (5, 30, 60):
        told.has(GET, told_of(lock_duration=duration * SECOND))
    refuses(told, GET, told_of(lock_duration=61 * SECOND), "MGMT-12")


# Deleting


def test_what_was_deleted_is_gone_with_what_it_held(told: Told) -> None:
    told.queue()
    told.send(partition=0)
    told.has(receive(), received("m1", lock_token="a"))
    told.has(DELETE)
    shows(told, receive(), MISSING, "MGMT-15", "MGMT-10")
    told.queue()
    refuses(told, receive(), received("m1"), "MGMT-15", "MGMT-17")
    refuses(told, Peek(queue="q"), Peeked(messages=(view("m1"),)), "MGMT-15")
    told.has(Complete(queue="q", lock_token="a"), Refused(error=Error.LOCK_LOST))
    shows(told, receive(), Empty(), "MGMT-15", "MGMT-17")


def test_a_deleted_queue_may_have_the_other_option(told: Told) -> None:
    told.queue(partitioned=False)
    told.send()
    told.has(DELETE)
    refuses(told, CreateQueue(queue="q"), OTHER, "MGMT-05", "MGMT-02")
    told.queue()
    refuses(told, GET, told_of(partitioned=False), "MGMT-01", "MGMT-05")
    shows(told, GET, told_of(partitioned=True), "MGMT-05")
    told.has(DELETE)
    told.queue(partitioned=False)
    refuses(told, receive(), received("m2"), "LIFE-01")
    assert "MGMT-17" not in told.saw(receive(), Empty()).rules


def test_a_message_that_a_new_queue_does_not_give_is_missed(told: Told) -> None:
    told.queue(duplicate_detection=True)
    told.send(message_id="x", partition=0)
    told.has(DELETE)
    told.queue(duplicate_detection=True)
    told.send(message_id="x", partition=0)
    assert "MGMT-15" in told.saw(receive(), Empty()).rules


def test_a_deletion_must_be_made(told: Told) -> None:
    told.queue()
    refuses(told, DELETE, OTHER, "MGMT-15")


# Outages


@pytest.mark.parametrize(("reading", "done"), [("either", True), ("whole", True), ("fails", False)])
@pytest.mark.parametrize("command", [update(lock_duration=5), DELETE])
def test_a_change_in_an_outage(reading: str, done: bool, command: object) -> None:
    told = telling({"MANAGEMENT-IN-OUTAGE": reading})
    told.queue()
    told.has(down(0))
    shows(told, command, OTHER, "MGMT-18")
    if not done:
        refuses(told, command, DONE, "MGMT-18")
    else:
        shows(told, command, DONE, "MGMT-18")


@pytest.mark.parametrize("reading", ["either", "whole"])
def test_a_refused_update_can_be_repeated(reading: str) -> None:
    told = telling({"MANAGEMENT-IN-OUTAGE": reading})
    told.queue()
    told.send(partition=0)
    told.has(down(0))
    told.has(update(lock_duration=5), GONE)
    in_part = told.saw(GET, told_of(lock_duration=5)).possible
    assert bool(in_part) is (reading == "either")
    told.has(GET, told_of(lock_duration=60 * SECOND))
    told.has(up(0))
    refuses(told, update(lock_duration=5), OTHER, "MGMT-19")
    shows(told, update(lock_duration=5), DONE, "MGMT-19")
    refuses(told, GET, told_of(lock_duration=60 * SECOND), "MGMT-12")
    late = received("m1", lock_token="a", locked_until=60 * SECOND)
    assert "MGMT-19" in told.saw(receive(), late).rules


@pytest.mark.parametrize("reading", ["either", "whole"])
def test_a_refused_deletion_can_be_repeated(reading: str) -> None:
    told = telling({"MANAGEMENT-IN-OUTAGE": reading})
    told.queue()
    told.send(partition=0)
    told.has(down(1))
    told.has(DELETE, GONE)
    told.has(up(1))
    whole = reading == "whole"
    assert bool(told.saw(Peek(queue="q"), MISSING).possible) is not whole
    refuses(told, DELETE, OTHER, "MGMT-19")
    shows(told, DELETE, DONE, "MGMT-19")


def frayed() -> Told:
    """A queue that may have been deleted in part, with every partition up."""
    told = telling()
    told.queue()
    told.send(partition=0)
    told.send(partition=1, partition_key="a")
    told.has(down(1))
    told.has(DELETE, GONE)
    told.has(up(1))
    return told


def test_a_refused_deletion_may_have_been_made() -> None:
    told = frayed()
    shows(told, DELETE, MISSING, "MGMT-19")
    refuses(told, GET, told_of(), "MGMT-15")


def test_of_a_queue_deleted_in_part_nothing_is_certain() -> None:
    told = frayed()
    told.has(GET, told_of(lock_duration=1))
    told.has(receive(), Empty())
    told.has(receive(), OTHER)
    told.has(receive(), received("m1", lock_token="a"))
    told.has(Send(queue="q", message=Message(body="m9")), OTHER)
    told.has(ListQueues(), Listed())
    told.has(update(lock_duration=5), OTHER)
    told.has(down(2), OTHER)
    told.has(down(2), DONE)
    told.has(down(9), OTHER)
    told.has(DELETE, OTHER)
    told.has(up(2), DONE)
    told.has(CreateQueue(queue="q"), TAKEN)
    told.has(CreateQueue(queue="q"), DONE)
    told.has(receive(), received("m2", partition=1, partition_key="a"))


def test_in_a_queue_deleted_in_part_order_and_copies_are_open() -> None:
    told = telling()
    told.queue(duplicate_detection=True)
    told.send(partition=0, partition_key="a", message_id="x")
    told.send(partition=0, partition_key="a", message_id="y")
    told.has(down(1))
    told.has(DELETE, GONE)
    told.has(up(1))
    told.send(partition=0, partition_key="a", message_id="x")
    told.has(receive(), received("m3", number=3, partition_key="a", message_id="x"))


def test_in_a_session_queue_deleted_in_part_a_session_may_be_empty() -> None:
    from busproof.model.commands import AcceptSession  # noqa: PLC0415

    told = telling()
    told.queue(requires_session=True)
    told.send(partition=0, session_id="s")
    told.has(down(1))
    told.has(DELETE, GONE)
    told.has(up(1))
    told.has(AcceptSession(queue="q", session_id="s"))
    told.has(Receive(queue="q", session_id="s"), Empty())


@pytest.mark.parametrize("reading", ["either", "whole"])
def test_a_refused_creation_can_be_repeated(reading: str) -> None:
    told = telling({"MANAGEMENT-IN-OUTAGE": reading})
    told.has(down(0))
    shows(told, CreateQueue(queue="q"), OTHER, "MGMT-18")
    told.has(CreateQueue(queue="q"), OTHER)
    told.has(up(0))
    refuses(told, CreateQueue(queue="q"), OTHER, "MGMT-19" if reading == "either" else "MGMT-02")
    again = TAKEN if reading == "either" else DONE
    shows(told, CreateQueue(queue="q"), again, "MGMT-19")
    shows(told, CreateQueue(queue="q"), TAKEN, "MGMT-09")


def test_a_refused_creation_that_succeeds_when_repeated_is_whole(told: Told) -> None:
    told.has(down(0))
    told.has(CreateQueue(queue="q"), OTHER)
    told.has(CreateQueue(queue="q"), TAKEN)
    told.has(up(0))
    shows(told, CreateQueue(queue="q"), DONE, "MGMT-19")
    refuses(told, GET, MISSING, "MGMT-20")


def test_a_queue_is_created_with_the_outages_of_its_name(told: Told) -> None:
    told.has(down(0))
    shows(told, CreateQueue(queue="q"), DONE, "MGMT-18")
    told.has(GET, told_of(availability=Availability.LIMITED))
    told.has(DELETE)
    told.has(up(0))
    told.queue()
    refuses(told, GET, told_of(availability=Availability.LIMITED), "MGMT-22")
    told.has(DELETE)
    told.queue(partitioned=False)


def test_whether_an_outage_outlasts_a_deletion_is_open(told: Told) -> None:
    told.queue()
    told.has(down(0))
    told.has(DELETE)
    told.queue()
    for each in Availability:
        told.has(GET, told_of(availability=each))
    told.has(DELETE)
    told.queue()


# Versions and tiers


@pytest.mark.parametrize(
    ("version", "refused", "rule"),
    [("2013-10", False, "MGMT-06"), ("2014-01", False, "MGMT-07"), ("2012-01", True, "MGMT-08")],
)
def test_api_versions(version: str, refused: bool, rule: str) -> None:
    told = telling()
    asked = CreateQueue(queue="q", api_version=version)
    assert bool(told.saw(asked, OTHER).possible) is refused
    shows(telling(), asked, DONE, rule)
    if not refused:
        refuses(telling(), asked, OTHER, "MGMT-06", "MGMT-07")


def test_an_older_version_may_ignore_the_option(told: Told) -> None:
    told.queue(api_version="")
    told.has(GET, told_of(partitioned=False))
    told.has(CreateQueue(queue="p", api_version="", partitioned=False))


def test_where_no_edition_speaks_of_versions_each_answer_is_allowed() -> None:
    told = telling(silent=frozenset({"MGMT-06"}))
    told.has(CreateQueue(queue="q", api_version="2013-10"), OTHER)


def test_a_regular_queue_must_be_had(told: Told) -> None:
    refuses(told, CreateQueue(queue="q", partitioned=False), OTHER, "MGMT-03")


@pytest.mark.parametrize(
    ("reading", "refused", "accepted"),
    [("either", True, True), ("refused", True, False), ("offered", False, True)],
)
def test_basic_may_lack_sessions_and_detection(reading: str, refused: bool, accepted: bool) -> None:
    for trait in ("requires_session", "duplicate_detection"):
        asked = CreateQueue(queue="q", **{trait: True})
        for answer, allowed in ((OTHER, refused), (DONE, accepted)):
            told = telling({"BASIC-FEATURES": reading}, tier=Tier.BASIC)
            assert bool(told.saw(asked, answer).possible) is allowed


@pytest.mark.parametrize(
    ("reading", "regular", "partitioned"),
    [("either", True, True), ("as-asked", True, False), ("never", False, True)],
)
@pytest.mark.parametrize("asked", [None, False])
def test_basic_may_partition_every_queue(
    reading: str, regular: bool, partitioned: bool, asked: bool | None
) -> None:
    for told_partitioned, allowed in ((False, regular), (True, partitioned)):
        told = telling({"BASIC-REGULAR": reading}, tier=Tier.BASIC)
        told.has(CreateQueue(queue="q", partitioned=asked))
        got = Described(description=QueueDescription(queue="q", partitioned=told_partitioned))
        assert bool(told.saw(GET, got).possible) is allowed


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("as-asked", False)])
def test_basic_may_partition_every_topic(reading: str, allowed: bool) -> None:
    told = telling({"BASIC-REGULAR": reading}, tier=Tier.BASIC)
    told.has(CreateTopic(topic="t", partitioned=False))
    assert bool(told.saw(TakePartitionDown(queue="t", partition=1)).possible) is allowed


def test_premium_need_not_partition_whatever_is_the_default() -> None:
    told = telling({"PARTITIONING-DEFAULT": "partitioned"}, tier=Tier.PREMIUM)
    told.has(CreateQueue(queue="q", partitioned=None))
    told.has(GET, Described(description=QueueDescription(queue="q", partitioned=False)))


# Answers that never came


def test_a_deletion_without_answer_leaves_nothing_to_be_told(told: Told) -> None:
    told.queue()
    told.has(BeginTransaction(transaction="t"))
    told.has(DELETE, LOST)
    told.has(receive(), received("never sent"))
    told.has(receive(), LOST)
    told.send(outcome=OTHER, transaction="t")
    told.send(transaction="unknown")
    told.has(CommitTransaction(transaction="t"), OTHER)
    told.has(ListQueues(), Listed())
    told.has(CreateQueue(queue="q"), DONE)
    told.has(receive(), received("never sent"))
    assert MISSING == told.step(receive())[0].outcome


def test_a_haunted_name_tells_nothing_once_its_queue_is_deleted(told: Told) -> None:
    told.queue()
    told.send(outcome=LOST)
    told.send(outcome=LOST)
    told.has(DELETE)
    told.queue()
    told.has(receive(), received("m1"))


def test_a_name_that_was_haunted_before_it_existed_tells_nothing(told: Told) -> None:
    told.send(outcome=LOST)
    told.queue()
    told.has(receive(), received("m1"))


def test_a_creation_without_answer(told: Told) -> None:
    told.has(CreateQueue(queue="q"), LOST)
    told.has(CreateQueue(queue="q"), LOST)
    told.has(up(1), DONE)
    told.has(GET, MISSING)
    told.has(DELETE, MISSING)
    told.has(GET, told_of(partitioned=True))
    refuses(told, GET, MISSING, "MGMT-20")


def test_a_creation_that_fails_in_part_over_one_without_answer_leaves_nothing_to_be_told() -> None:
    for settings in ({}, {"lock_duration": SECOND}):
        told = telling()
        told.has(CreateQueue(queue="q", lock_duration=2 * SECOND), LOST)
        told.has(down(1), DONE)
        told.has(CreateQueue(queue="q", **settings), GONE)
        told.has(GET, told_of(lock_duration=7))


def test_a_creation_refused_twice_in_outages_is_repeated_as_it_was(told: Told) -> None:
    told.has(down(1), DONE)
    told.has(CreateQueue(queue="q"), GONE)
    told.has(CreateQueue(queue="q"), GONE)
    told.has(up(1), DONE)
    shows(told, CreateQueue(queue="q"), TAKEN, "MGMT-19")
    refuses(told, GET, told_of(partitioned=False), "MGMT-01")


def test_a_send_may_be_refused_for_there_being_no_queue_or_for_another_reason(told: Told) -> None:
    with_queue = telling()
    with_queue.queue(requires_session=True)
    told.possible += with_queue.possible
    told.send(outcome=MISSING)
    assert len(told.possible) == 2


def test_a_queue_that_may_be_there_can_be_created_as_another(told: Told) -> None:
    told.has(CreateQueue(queue="q"), LOST)
    told.queue(partitioned=False)
    shows(told, GET, told_of(partitioned=False), "MGMT-03")


def test_a_regular_queue_that_may_be_there_has_one_partition(told: Told) -> None:
    told.has(CreateQueue(queue="q", partitioned=False), LOST)
    told.has(down(2), DONE)
    told.has(GET, told_of(partitioned=False))
    refuses(told, GET, OTHER)


def test_a_creation_without_answer_of_a_queue_that_may_be_of_two_kinds() -> None:
    told = telling({"PARTITIONING-DEFAULT": "either"})
    told.has(CreateQueue(queue="q", partitioned=None), LOST)
    refuses(told, receive(), received("never sent"))
    told.has(GET, told_of(partitioned=True))
    refuses(told, GET, told_of(partitioned=False))


# Restored queues


def test_a_restored_queue_is_there(told: Told) -> None:
    restore = RestoreQueue(queue="q")
    told.has(restore)
    told.has(restore, OTHER)
    refuses(told, restore, DONE)
    told.has(restore, LOST)
    told.has(GET, told_of(partitioned=True))


def test_a_restoration_without_answer(told: Told) -> None:
    told.has(RestoreQueue(queue="q"), LOST)
    told.has(GET, MISSING)
    told.has(GET, told_of(partitioned=True))


# Transactions


def test_what_was_sent_in_a_transaction_to_a_deleted_queue(told: Told) -> None:
    for outcome in (DONE, OTHER):
        told = telling()
        told.queue()
        told.has(BeginTransaction(transaction="t"))
        told.send(transaction="t", partition_key="a")
        told.has(DELETE)
        told.has(CommitTransaction(transaction="t"), outcome)
        told.queue()


def test_what_was_sent_in_a_transaction_may_reach_a_new_queue_of_the_name(told: Told) -> None:
    told.queue()
    told.has(BeginTransaction(transaction="t"))
    told.send(transaction="t", partition_key="a")
    told.has(DELETE)
    told.queue()
    told.has(CommitTransaction(transaction="t"))
    told.has(receive(), Empty())
    told.has(receive(), received("m1", partition_key="a"))


@pytest.mark.parametrize("outcome", [DONE, OTHER])
def test_a_topic_is_not_the_deleted_queue_that_was_sent_to(told: Told, outcome: object) -> None:
    told.queue()
    told.has(BeginTransaction(transaction="t"))
    told.send(transaction="t", partition_key="a")
    told.has(DELETE)
    told.has(CreateTopic(topic="q"))
    told.has(CommitTransaction(transaction="t"), outcome)


def test_what_was_sent_to_a_deleted_queue_may_come_before_what_its_successor_got() -> None:
    for first in ("m2", "m3"):
        told = telling()
        told.queue()
        told.send(partition_key="a", partition=0)
        told.has(BeginTransaction(transaction="t"))
        told.send(transaction="t", partition_key="a", partition=0)
        told.has(DELETE)
        told.queue()
        told.send(partition_key="a", partition=0)
        told.send(partition_key="a", partition=0)
        told.has(CommitTransaction(transaction="t"))
        told.has(receive(), received(first, partition_key="a"))


def test_a_rollback_for_a_deleted_queue(told: Told) -> None:
    told.queue()
    told.has(BeginTransaction(transaction="t"))
    told.send(transaction="t", partition_key="a")
    told.has(DELETE)
    told.has(RollBackTransaction(transaction="t"))


def test_a_lock_of_before_an_update_lasts_as_it_was_given(told: Told) -> None:
    told.queue()
    told.send(partition=0)
    told.has(receive(), received("m1", lock_token="a"))
    told.has(update(lock_duration=5 * SECOND))
    told.has(AdvanceClock(duration=30 * SECOND))
    told.has(Complete(queue="q", lock_token="a"))


def test_the_words_of_a_told_queue_do_not_change_it(told: Told) -> None:
    told.queue()
    before = told.possible
    told.has(GET, told_of())
    assert attrs.asdict(before[0].registry) == attrs.asdict(told.possible[0].registry)


def test_of_a_queue_used_while_it_was_there_in_part_nothing_is_told(told: Told) -> None:
    told.has(down(0))
    told.has(CreateQueue(queue="q"), OTHER)
    told.send()
    told.has(up(0))
    shows(told, CreateQueue(queue="q"), TAKEN, "MGMT-19")
    told.has(receive(), received("never sent"))
    told.has(receive(), Empty())


def test_the_model_uses_a_queue_that_is_there_in_part() -> None:
    told = frayed()
    assert any(isinstance(each.outcome, Refused) for each in told.step(receive()))
    assert [DONE, MISSING] == [each.outcome for each in told.step(down(2))]
