"""Queues being updated and deleted, and what was under way in them."""

import attrs
import pytest
from managed_queues import DELETE, GET, RECEIVE
from observing import (
    DONE,
    INVALID,
    LOST,
    MISSING,
    OTHER,
    SECOND,
    Observer,
    described_as,
    observing,
    received,
    refuses,
    shows,
    update,
    view,
)

from busproof import vocabulary as v

# Updates


def test_other_partitioning_option_must_be_refused_where_it_is_read_so() -> None:
    observer = observing({"OPTION-UPDATE": "refused"})
    observer.queue()
    assert observer.saw(update(partitioned=False)).possible == ()
    observer.has(update(partitioned=False), OTHER)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("partitioned", "MGMT-04"),
        ("requires_session", "MGMT-13"),
        ("duplicate_detection", "MGMT-14"),
    ],
)
@pytest.mark.parametrize("answer", [INVALID, OTHER, DONE])
def test_fixed_settings_cannot_be_updated(name: str, rule: str, answer: v.Outcome) -> None:
    observer = observing()
    observer.queue()
    before = name == "partitioned"
    shows(observer, update(**{name: not before}), answer, rule)
    shows(observer, GET, described_as(**{name: before}), rule)
    refuses(observer, GET, described_as(**{name: not before}), rule)


def test_refused_updates_of_two_faults_leave_one_state(observer: Observer) -> None:
    """Each would double the states, and after ten such queues the judge would give up."""
    observer.queue()
    for name in ("other-1", "other-2"):
        observer.has(update(requires_session=True, forward_to=name), INVALID)
    assert len(observer.possible) == 1


def test_an_update_that_names_what_is_so_succeeds(observer: Observer) -> None:
    observer.queue()
    refuses(observer, update(partitioned=True), INVALID, "MGMT-12")
    observer.has(update(partitioned=True))


def test_an_update_is_in_force(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=0)
    observer.send(partition=1)
    observer.has(update(lock_duration=5 * SECOND, max_delivery_count=1))
    shows(observer, GET, described_as(lock_duration=5 * SECOND, max_delivery_count=1), "MGMT-12")
    refuses(observer, GET, described_as(lock_duration=60 * SECOND), "MGMT-12")
    long = received("m1", lock_token="a", locked_until=60 * SECOND)
    refuses(observer, RECEIVE, long, "MGMT-12", "MGMT-17")
    short = received("m1", lock_token="a", locked_until=5 * SECOND)
    shows(observer, RECEIVE, short, "MGMT-12", "MGMT-17")
    observer.has(v.Abandon(queue="q", lock_token="a"))
    observer.has(RECEIVE, received("m2", partition=1, lock_token="b", locked_until=5 * SECOND))
    observer.has(RECEIVE, v.Empty())


def test_an_update_of_a_regular_queue_shows_nothing_of_partitions(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.send()
    observer.has(update(lock_duration=5 * SECOND))
    found = observer.saw(GET, described_as(lock_duration=5 * SECOND, max_delivery_count=10))
    assert "MGMT-17" not in found.rules
    found = observer.saw(RECEIVE, received("m1", lock_token="a", locked_until=SECOND))
    assert "MGMT-12" in found.rules
    assert "MGMT-17" not in found.rules


def test_an_update_that_was_never_answered_may_be_in_force_at_any_time(observer: Observer) -> None:
    observer.queue()
    observer.has(update(lock_duration=5 * SECOND, requires_session=True), LOST)
    for duration in (5, 60):
        observer.has(GET, described_as(lock_duration=duration * SECOND))
    observer.has(update(lock_duration=30 * SECOND))
    for duration in (5, 30, 60):
        observer.has(GET, described_as(lock_duration=duration * SECOND))
    refuses(observer, GET, described_as(lock_duration=61 * SECOND), "MGMT-12")


# Deleting


def test_deleted_queue_loses_its_messages(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=0)
    observer.has(RECEIVE, received("m1", lock_token="a"))
    observer.has(DELETE)
    shows(observer, RECEIVE, MISSING, "MGMT-15", "MGMT-10")
    observer.queue()
    refuses(observer, RECEIVE, received("m1"), "MGMT-15", "MGMT-17")
    refuses(observer, v.Peek(queue="q"), v.Peeked(messages=(view("m1"),)), "MGMT-15")
    observer.has(v.Complete(queue="q", lock_token="a"), v.Refused(error=v.Error.LOCK_LOST))
    shows(observer, RECEIVE, v.Empty(), "MGMT-15", "MGMT-17")


def test_a_deleted_queue_may_have_the_other_option(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.send()
    observer.has(DELETE)
    refuses(observer, v.CreateQueue(queue="q"), OTHER, "MGMT-05", "MGMT-02")
    observer.queue()
    refuses(observer, GET, described_as(partitioned=False), "MGMT-01", "MGMT-05")
    shows(observer, GET, described_as(partitioned=True), "MGMT-05")
    observer.has(DELETE)
    observer.queue(partitioned=False)
    refuses(observer, RECEIVE, received("m2"), "LIFE-01")
    assert "MGMT-17" not in observer.saw(RECEIVE, v.Empty()).rules


def test_a_message_that_a_new_queue_does_not_give_is_missed(observer: Observer) -> None:
    observer.queue(duplicate_detection=True)
    observer.send(message_id="x", partition=0)
    observer.has(DELETE)
    observer.queue(duplicate_detection=True)
    observer.send(message_id="x", partition=0)
    assert "MGMT-15" in observer.saw(RECEIVE, v.Empty()).rules


def test_a_deletion_must_be_made(observer: Observer) -> None:
    observer.queue()
    refuses(observer, DELETE, OTHER, "MGMT-15")


# Transactions


def test_commit_after_a_deletion_may_succeed_or_fail(observer: Observer) -> None:
    for outcome in (DONE, OTHER):
        observer = observing()
        observer.queue()
        observer.has(v.BeginTransaction(transaction="t"))
        observer.send(transaction="t", partition_key="a")
        observer.has(DELETE)
        observer.has(v.CommitTransaction(transaction="t"), outcome)
        observer.queue()


def test_buffered_send_may_reach_the_successor_of_its_queue(observer: Observer) -> None:
    observer.queue()
    observer.has(v.BeginTransaction(transaction="t"))
    observer.send(transaction="t", partition_key="a")
    observer.has(DELETE)
    observer.queue()
    observer.has(v.CommitTransaction(transaction="t"))
    observer.has(RECEIVE, v.Empty())
    observer.has(RECEIVE, received("m1", partition_key="a"))


@pytest.mark.parametrize("outcome", [DONE, OTHER])
def test_a_topic_is_not_the_deleted_queue_that_was_sent_to(
    observer: Observer, outcome: object
) -> None:
    observer.queue()
    observer.has(v.BeginTransaction(transaction="t"))
    observer.send(transaction="t", partition_key="a")
    observer.has(DELETE)
    observer.has(v.CreateTopic(topic="q"))
    observer.has(v.CommitTransaction(transaction="t"), outcome)


def test_buffered_send_may_precede_sends_to_the_successor() -> None:
    for first in ("m2", "m3"):
        observer = observing()
        observer.queue()
        observer.send(partition_key="a", partition=0)
        observer.has(v.BeginTransaction(transaction="t"))
        observer.send(transaction="t", partition_key="a", partition=0)
        observer.has(DELETE)
        observer.queue()
        observer.send(partition_key="a", partition=0)
        observer.send(partition_key="a", partition=0)
        observer.has(v.CommitTransaction(transaction="t"))
        observer.has(RECEIVE, received(first, partition_key="a"))


def test_a_rollback_for_a_deleted_queue(observer: Observer) -> None:
    observer.queue()
    observer.has(v.BeginTransaction(transaction="t"))
    observer.send(transaction="t", partition_key="a")
    observer.has(DELETE)
    observer.has(v.RollBackTransaction(transaction="t"))


def test_a_lock_of_before_an_update_lasts_as_it_was_given(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=0)
    observer.has(RECEIVE, received("m1", lock_token="a"))
    observer.has(update(lock_duration=5 * SECOND))
    observer.has(v.AdvanceClock(duration=30 * SECOND))
    observer.has(v.Complete(queue="q", lock_token="a"))


def test_the_words_of_a_described_queue_do_not_change_it(observer: Observer) -> None:
    observer.queue()
    before = observer.possible
    observer.has(GET, described_as())
    assert attrs.asdict(before[0].registry) == attrs.asdict(observer.possible[0].registry)
