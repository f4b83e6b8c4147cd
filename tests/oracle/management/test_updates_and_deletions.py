"""Queues being updated and deleted, and what was under way in them."""

import attrs
import pytest
from telling import (
    DONE,
    INVALID,
    LOST,
    MISSING,
    OTHER,
    SECOND,
    Told,
    received,
    refuses,
    shows,
    telling,
    told_of,
    update,
    view,
)

from busproof.vocabulary.commands import (
    Abandon,
    AdvanceClock,
    BeginTransaction,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateTopic,
    DeleteQueue,
    GetQueue,
    Peek,
    Receive,
    RollBackTransaction,
)
from busproof.vocabulary.outcomes import Empty, Outcome, Peeked, Refused
from busproof.vocabulary.values import Error

TAKEN = Refused(error=Error.ALREADY_EXISTS)
GET = GetQueue(queue="q")
DELETE = DeleteQueue(queue="q")


def receive() -> Receive:
    return Receive(queue="q")


# Updates


def test_other_partitioning_option_must_be_refused_where_it_is_read_so() -> None:
    told = telling({"OPTION-UPDATE": "refused"})
    told.queue()
    assert told.saw(update(partitioned=False)).possible == ()
    told.has(update(partitioned=False), OTHER)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("partitioned", "MGMT-04"),
        ("requires_session", "MGMT-13"),
        ("duplicate_detection", "MGMT-14"),
    ],
)
@pytest.mark.parametrize("answer", [INVALID, OTHER, DONE])
def test_fixed_settings_cannot_be_updated(name: str, rule: str, answer: Outcome) -> None:
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


def test_deleted_queue_loses_its_messages(told: Told) -> None:
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


# Transactions


def test_commit_after_a_deletion_may_succeed_or_fail(told: Told) -> None:
    for outcome in (DONE, OTHER):
        told = telling()
        told.queue()
        told.has(BeginTransaction(transaction="t"))
        told.send(transaction="t", partition_key="a")
        told.has(DELETE)
        told.has(CommitTransaction(transaction="t"), outcome)
        told.queue()


def test_buffered_send_may_reach_the_successor_of_its_queue(told: Told) -> None:
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


def test_buffered_send_may_precede_sends_to_the_successor() -> None:
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
