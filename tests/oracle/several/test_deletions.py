"""Several messages deleted in one request: how many, and what may be there afterwards."""

import pytest
from managed_topics import path, with_topic
from observing import (
    DONE,
    INVALID,
    LOST,
    OTHER,
    SECOND,
    Observer,
    down,
    is_allowed,
    knows_nothing_of,
    observing,
    passes,
    received,
    refuses,
    shows,
)

from busproof.vocabulary.commands import (
    Complete,
    CreateQueue,
    DeadLetter,
    Defer,
    DeleteBatch,
    Receive,
    Schedule,
    Send,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Deleted, Empty, Outcome, Scheduled
from busproof.vocabulary.values import Tier

RECEIVE = Receive(queue="q")
LOCK = {"lock_token": "l1", "locked_until": 60 * SECOND}
COMPLETE = Complete(queue="q", lock_token="l1")


def deleting(count: int, age: int | None = None, queue: str = "q") -> DeleteBatch:
    return DeleteBatch(queue=queue, count=count, age=age)


@pytest.fixture
def observer() -> Observer:
    return observing()


def sent(observer: Observer, messages: int, **settings: object) -> Observer:
    """A regular queue with so many messages."""
    observer.queue(**{"partitioned": False, **settings})
    for _ in range(messages):
        observer.send()
    return observer


def test_no_more_are_deleted_than_were_asked_for_or_are_there(observer: Observer) -> None:
    sent(observer, 2)
    refuses(observer, deleting(1), Deleted(count=2), "BATCH-15")
    refuses(observer, deleting(9), Deleted(count=3), "BATCH-15")
    refuses(observer, deleting(1), OTHER, "BATCH-15")
    refuses(observer, deleting(1), DONE, "BATCH-15")
    shows(observer, deleting(1), Deleted(count=1), "BATCH-15")


def test_all_possible_answers_are_listed(observer: Observer) -> None:
    sent(observer, 2)
    outcomes = {transition.outcome for transition in observer.step(deleting(9))}
    assert {Deleted(count=count) for count in range(3)} == outcomes


def test_what_is_deleted_is_gone_and_the_others_stay(observer: Observer) -> None:
    sent(observer, 3)
    observer.has(deleting(2), Deleted(count=2))
    assert 3 == len(observer.possible)
    refuses(observer, RECEIVE, Empty(), "LIFE-09")
    observer.has(RECEIVE, received("m2", 0, 2))
    assert "BATCH-15" in observer.saw(RECEIVE, received("m3", 0, 3)).rules
    observer.has(RECEIVE, Empty())


def test_nothing_is_changed_where_nothing_was_deleted(observer: Observer) -> None:
    sent(observer, 1)
    shows(observer, deleting(1), Deleted(count=0), "BATCH-15", "BATCH-18")
    assert not is_allowed(observer, RECEIVE, Empty())


def test_of_many_any_may_be_gone(observer: Observer) -> None:
    sent(observer, 9)
    observer.has(deleting(4), Deleted(count=4))
    assert 1 == len(observer.possible)
    for body in ("m1", "m9"):
        assert is_allowed(observer, RECEIVE, received(body, 0, int(body[1])))
    assert is_allowed(observer, RECEIVE, Empty())


def test_locked_messages_are_not_deleted(observer: Observer) -> None:
    sent(observer, 2)
    observer.has(RECEIVE, received("m1", 0, 1, **LOCK))
    refuses(observer, deleting(9), Deleted(count=2), "BATCH-15", "BATCH-16")
    shows(observer, deleting(9), Deleted(count=1), "BATCH-16")
    observer.has(RECEIVE, Empty())
    observer.has(COMPLETE)


def test_newer_messages_are_not_deleted(observer: Observer) -> None:
    sent(observer, 1)
    passes(observer, 30)
    observer.send()
    old = deleting(9, 20 * SECOND)
    refuses(observer, old, Deleted(count=2), "BATCH-15", "BATCH-16", "BATCH-17")
    shows(observer, old, Deleted(count=1), "BATCH-17")
    assert not is_allowed(observer, RECEIVE, Empty())
    observer.has(RECEIVE, received("m2", 0, 2))


def test_slack_makes_a_moment_uncertain() -> None:
    observer = sent(observing(slack=2 * SECOND), 1)
    passes(observer, 30)
    assert is_allowed(observer, deleting(1, 31 * SECOND), Deleted(count=1))
    assert not is_allowed(observer, deleting(1, 33 * SECOND), Deleted(count=1))


@pytest.mark.parametrize(
    ("reading", "outcome", "allowed"),
    [
        ("refused", Deleted(count=0), False),
        ("refused", INVALID, True),
        ("deleted", Deleted(count=1), True),
        ("deleted", INVALID, False),
        ("either", Deleted(count=1), True),
        ("either", OTHER, True),
    ],
)
def test_reading_decides_of_a_partitioned_queue(
    reading: str, outcome: Outcome, *, allowed: bool
) -> None:
    observer = sent(observing({"DELETE-PARTITIONED": reading}), 1, partitioned=True)
    assert allowed is is_allowed(observer, deleting(1), outcome)


def test_what_is_refused_is_not_deleted(observer: Observer) -> None:
    sent(observer, 1, partitioned=True)
    shows(observer, deleting(1), INVALID, "BATCH-19")
    assert "BATCH-15" in observer.saw(RECEIVE, Empty()).rules


@pytest.mark.parametrize(("tier", "most"), [(Tier.STANDARD, 500), (Tier.PREMIUM, 4000)])
def test_too_many_may_be_refused_by_tier(tier: Tier, most: int) -> None:
    observer = sent(observing(tier=tier), 1)
    assert not is_allowed(observer, deleting(most), INVALID)
    shows(observer, deleting(most + 1), OTHER, "BATCH-20")
    shows(observer, deleting(most + 1), Deleted(count=1), "BATCH-20")


def test_in_an_outage_it_may_be_refused(observer: Observer) -> None:
    sent(observer, 1)
    observer.has(down(0))
    assert is_allowed(observer, deleting(1), OTHER)


def test_in_sessions_nothing_is_said(observer: Observer) -> None:
    observer.queue(partitioned=False, requires_session=True)
    observer.send(session_id="a")
    assert is_allowed(observer, deleting(1), OTHER)
    observer.has(deleting(1), Deleted(count=1))
    knows_nothing_of(observer, "q")


def test_of_deferred_messages_nothing_is_said(observer: Observer) -> None:
    sent(observer, 1)
    observer.has(RECEIVE, received("m1", 0, 1, **LOCK))
    observer.has(Defer(queue="q", lock_token="l1"))
    observer.has(deleting(1), Deleted(count=1))
    knows_nothing_of(observer, "q")


def test_of_scheduled_messages_nothing_is_said(observer: Observer) -> None:
    sent(observer, 0)
    later = Schedule(queue="q", message=Message(body="later"), delay=60 * SECOND)
    observer.has(later, Scheduled(sequence_number=7))
    assert not is_allowed(observer, deleting(3), Deleted(count=2))
    observer.has(deleting(3), Deleted(count=1))
    knows_nothing_of(observer, "q")


def test_dead_letters_may_be_more_than_are_known(observer: Observer) -> None:
    sent(observer, 1)
    observer.has(RECEIVE, received("m1", 0, 1, **LOCK))
    observer.has(DeadLetter(queue="q", lock_token="l1"))
    dead = "q/$deadletterqueue"
    observer.has(deleting(5, 1 * SECOND, dead), Deleted(count=3))
    observer.has(Receive(queue=dead), Empty())


def test_what_is_forwarded_may_be_deleted_on_the_way(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.has(CreateQueue(queue="f", partitioned=False, forward_to="q"))
    assert is_allowed(observer, deleting(2, None, "f"), OTHER)
    observer.has(Send(queue="f", message=Message(body="on its way")))
    assert is_allowed(observer, deleting(2), Deleted(count=2))


def test_after_a_lost_answer_nothing_is_said(observer: Observer) -> None:
    sent(observer, 1)
    observer.has(deleting(1), LOST)
    knows_nothing_of(observer, "q")


@pytest.mark.parametrize("is_scheduled", [True, False])
def test_a_copy_of_what_was_scheduled_at_the_topic_may_be_deleted(
    observer: Observer, is_scheduled: bool
) -> None:
    with_topic(observer, "s")
    if is_scheduled:
        later = Schedule(queue="t", message=Message(body="m"), delay=SECOND)
        observer.has(later, Scheduled(sequence_number=1))
        passes(observer, 2)
    assert is_scheduled == is_allowed(observer, deleting(9, queue=path("s")), Deleted(count=1))
