"""Several messages deleted in one request: how many, and what may be there afterwards."""

import pytest
from telling import (
    DONE,
    INVALID,
    LOST,
    OTHER,
    SECOND,
    Told,
    down,
    is_allowed,
    knows_nothing_of,
    passes,
    received,
    refuses,
    shows,
    telling,
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
def told() -> Told:
    return telling()


def sent(told: Told, messages: int, **settings: object) -> Told:
    """A regular queue with so many messages."""
    told.queue(**{"partitioned": False, **settings})
    for _ in range(messages):
        told.send()
    return told


def test_no_more_are_deleted_than_were_asked_for_or_are_there(told: Told) -> None:
    sent(told, 2)
    refuses(told, deleting(1), Deleted(count=2), "BATCH-15")
    refuses(told, deleting(9), Deleted(count=3), "BATCH-15")
    refuses(told, deleting(1), OTHER, "BATCH-15")
    refuses(told, deleting(1), DONE, "BATCH-15")
    shows(told, deleting(1), Deleted(count=1), "BATCH-15")


def test_all_possible_answers_are_listed(told: Told) -> None:
    sent(told, 2)
    outcomes = {transition.outcome for transition in told.step(deleting(9))}
    assert {Deleted(count=count) for count in range(3)} == outcomes


def test_what_is_deleted_is_gone_and_the_others_stay(told: Told) -> None:
    sent(told, 3)
    told.has(deleting(2), Deleted(count=2))
    assert 3 == len(told.possible)
    refuses(told, RECEIVE, Empty(), "LIFE-09")
    told.has(RECEIVE, received("m2", 0, 2))
    assert "BATCH-15" in told.saw(RECEIVE, received("m3", 0, 3)).rules
    told.has(RECEIVE, Empty())


def test_nothing_is_changed_where_nothing_was_deleted(told: Told) -> None:
    sent(told, 1)
    shows(told, deleting(1), Deleted(count=0), "BATCH-15", "BATCH-18")
    assert not is_allowed(told, RECEIVE, Empty())


def test_of_many_any_may_be_gone(told: Told) -> None:
    sent(told, 9)
    told.has(deleting(4), Deleted(count=4))
    assert 1 == len(told.possible)
    for body in ("m1", "m9"):
        assert is_allowed(told, RECEIVE, received(body, 0, int(body[1])))
    assert is_allowed(told, RECEIVE, Empty())


def test_locked_messages_are_not_deleted(told: Told) -> None:
    sent(told, 2)
    told.has(RECEIVE, received("m1", 0, 1, **LOCK))
    refuses(told, deleting(9), Deleted(count=2), "BATCH-15", "BATCH-16")
    shows(told, deleting(9), Deleted(count=1), "BATCH-16")
    told.has(RECEIVE, Empty())
    told.has(COMPLETE)


def test_newer_messages_are_not_deleted(told: Told) -> None:
    sent(told, 1)
    passes(told, 30)
    told.send()
    old = deleting(9, 20 * SECOND)
    refuses(told, old, Deleted(count=2), "BATCH-15", "BATCH-16", "BATCH-17")
    shows(told, old, Deleted(count=1), "BATCH-17")
    assert not is_allowed(told, RECEIVE, Empty())
    told.has(RECEIVE, received("m2", 0, 2))


def test_slack_makes_a_moment_uncertain() -> None:
    told = sent(telling(slack=2 * SECOND), 1)
    passes(told, 30)
    assert is_allowed(told, deleting(1, 31 * SECOND), Deleted(count=1))
    assert not is_allowed(told, deleting(1, 33 * SECOND), Deleted(count=1))


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
    told = sent(telling({"DELETE-PARTITIONED": reading}), 1, partitioned=True)
    assert allowed is is_allowed(told, deleting(1), outcome)


def test_what_is_refused_is_not_deleted(told: Told) -> None:
    sent(told, 1, partitioned=True)
    shows(told, deleting(1), INVALID, "BATCH-19")
    assert "BATCH-15" in told.saw(RECEIVE, Empty()).rules


@pytest.mark.parametrize(("tier", "most"), [(Tier.STANDARD, 500), (Tier.PREMIUM, 4000)])
def test_too_many_may_be_refused_by_tier(tier: Tier, most: int) -> None:
    told = sent(telling(tier=tier), 1)
    assert not is_allowed(told, deleting(most), INVALID)
    shows(told, deleting(most + 1), OTHER, "BATCH-20")
    shows(told, deleting(most + 1), Deleted(count=1), "BATCH-20")


def test_in_an_outage_it_may_be_refused(told: Told) -> None:
    sent(told, 1)
    told.has(down(0))
    assert is_allowed(told, deleting(1), OTHER)


def test_in_sessions_nothing_is_said(told: Told) -> None:
    told.queue(partitioned=False, requires_session=True)
    told.send(session_id="a")
    assert is_allowed(told, deleting(1), OTHER)
    told.has(deleting(1), Deleted(count=1))
    knows_nothing_of(told, "q")


def test_of_deferred_messages_nothing_is_said(told: Told) -> None:
    sent(told, 1)
    told.has(RECEIVE, received("m1", 0, 1, **LOCK))
    told.has(Defer(queue="q", lock_token="l1"))
    told.has(deleting(1), Deleted(count=1))
    knows_nothing_of(told, "q")


def test_of_scheduled_messages_nothing_is_said(told: Told) -> None:
    sent(told, 0)
    later = Schedule(queue="q", message=Message(body="later"), delay=60 * SECOND)
    told.has(later, Scheduled(sequence_number=7))
    told.has(deleting(3), Deleted(count=2))
    knows_nothing_of(told, "q")


def test_dead_letters_may_be_more_than_are_known(told: Told) -> None:
    sent(told, 1)
    told.has(RECEIVE, received("m1", 0, 1, **LOCK))
    told.has(DeadLetter(queue="q", lock_token="l1"))
    dead = "q/$deadletterqueue"
    told.has(deleting(5, 1 * SECOND, dead), Deleted(count=3))
    told.has(Receive(queue=dead), Empty())


def test_what_is_forwarded_may_be_deleted_on_the_way(told: Told) -> None:
    told.queue(partitioned=False)
    told.has(CreateQueue(queue="f", partitioned=False, forward_to="q"))
    assert is_allowed(told, deleting(2, None, "f"), OTHER)
    told.has(Send(queue="f", message=Message(body="on its way")))
    assert is_allowed(told, deleting(2), Deleted(count=2))


def test_after_a_lost_answer_nothing_is_said(told: Told) -> None:
    sent(told, 1)
    told.has(deleting(1), LOST)
    knows_nothing_of(told, "q")
