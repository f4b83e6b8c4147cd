"""MGMT-26 to MGMT-28: requests to entities that are disabled."""

import pytest
from observing import (
    DONE,
    GONE,
    INVALID,
    LOST,
    OTHER,
    Observer,
    down,
    is_allowed,
    knows_nothing_of,
    observing,
    passes,
    received,
    shows,
    update,
)

from busproof import vocabulary as v

DISABLED = v.Refused(error=v.Error.ENTITY_DISABLED)

HERE = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)

RECEIVE = v.Receive(queue="q")

LETTERS = v.Receive(queue="q/$deadletterqueue", mode=v.ReceiveMode.RECEIVE_AND_DELETE)


@pytest.mark.parametrize("status", [v.EntityStatus.DISABLED, v.EntityStatus.SEND_DISABLED])
def test_disabled_entity_takes_nothing(observer: Observer, status: v.EntityStatus) -> None:
    observer.queue()
    observer.has(update(status=status))
    wrong = observer.saw(v.Send(queue="q", message=v.Message(body="x")))
    assert not wrong.possible
    assert "MGMT-26" in wrong.rules
    found = observer.send(DISABLED)
    assert "MGMT-26" in found.rules
    assert not observer.send(GONE).possible
    later = v.Schedule(queue="q", message=v.Message(body="y"), delay=5_000_000)
    assert not observer.saw(later, v.Scheduled(sequence_number=1)).possible
    observer.has(later, DISABLED)
    observer.has(update(status=v.EntityStatus.ACTIVE))
    late = observer.saw(HERE, received("m1", 1))
    assert not late.possible
    assert "MGMT-26" in late.rules


def test_another_reason_for_the_refusal_may_be_named(observer: Observer) -> None:
    observer.queue()
    observer.has(update(status=v.EntityStatus.DISABLED))
    assert observer.send(INVALID, session_id="a", partition_key="b").possible


@pytest.mark.parametrize("status", [v.EntityStatus.DISABLED, v.EntityStatus.RECEIVE_DISABLED])
def test_disabled_entity_gives_nothing_and_keeps_its_messages(
    observer: Observer, status: v.EntityStatus
) -> None:
    observer.queue()
    observer.send()
    observer.has(update(status=status))
    for wrong in (v.Empty(), received("m1", 1), OTHER):
        assert not observer.saw(HERE, wrong).possible
    shows(observer, HERE, DISABLED, "MGMT-27")
    observer.has(update(status=v.EntityStatus.ACTIVE))
    lost = observer.saw(HERE, v.Empty())
    assert not lost.possible
    assert "MGMT-27" in lost.rules
    observer.has(HERE, received("m1", 1))


def test_send_disabled_entity_receives_and_vice_versa(observer: Observer) -> None:
    observer.queue()
    observer.send()
    observer.has(update(status=v.EntityStatus.SEND_DISABLED))
    assert not observer.saw(HERE, DISABLED).possible
    shows(observer, HERE, received("m1", 1), "MGMT-28")
    observer.send(DISABLED)
    observer.has(update(status=v.EntityStatus.RECEIVE_DISABLED))
    assert not observer.send(DISABLED).possible
    found = observer.send()
    assert "MGMT-28" in found.rules


@pytest.mark.parametrize(
    ("command", "works"),
    [
        (v.Peek(queue="q"), v.Peeked(messages=())),
        (v.Complete(queue="q", lock_token="l"), DONE),
        (LETTERS, v.Empty()),
    ],
)
def test_other_requests_on_a_disabled_entity_are_open(
    observer: Observer, command: v.Command, works: v.Outcome
) -> None:
    observer.queue()
    observer.send()
    observer.has(v.Receive(queue="q"), received("m1", 1, lock_token="l"))
    observer.has(update(status=v.EntityStatus.DISABLED))
    assert is_allowed(observer, command, DISABLED)
    assert is_allowed(observer, command, OTHER)
    if not isinstance(works, v.Peeked):
        observer.has(command, works)


def test_receiver_of_a_send_disabled_queue_can_settle(observer: Observer) -> None:
    observer.queue()
    observer.send()
    observer.has(update(status=v.EntityStatus.SEND_DISABLED))
    observer.has(v.Receive(queue="q"), received("m1", 1, lock_token="l"))
    done = v.Complete(queue="q", lock_token="l")
    assert not observer.saw(done, DISABLED).possible
    observer.has(done)


def test_refused_requests_on_a_disabled_queue_leave_one_state(observer: Observer) -> None:
    """The lock is lost, or the queue is disabled; each request would double the states."""
    observer.queue(partitioned=False)
    for number in (1, 2):
        observer.send()
        observer.has(RECEIVE, received(f"m{number}", 0, number, lock_token=f"l{number}"))
    observer.has(update(status=v.EntityStatus.DISABLED))
    passes(observer, 61)
    for number in (1, 2):
        lost = v.Refused(error=v.Error.LOCK_LOST)
        observer.has(v.Complete(queue="q", lock_token=f"l{number}"), lost)
    assert len(observer.possible) == 1


def test_commit_of_a_settlement_on_a_disabled_queue_is_open(observer: Observer) -> None:
    observer.queue()
    observer.send()
    observer.has(v.Receive(queue="q"), received("m1", 1, lock_token="l"))
    observer.has(update(status=v.EntityStatus.RECEIVE_DISABLED))
    observer.has(v.BeginTransaction(transaction="t"))
    settle = v.Complete(queue="q", lock_token="l", transaction="t")
    assert is_allowed(observer, settle, DISABLED)
    observer.has(settle)
    for answer in (DONE, INVALID, DISABLED):
        assert is_allowed(observer, v.CommitTransaction(transaction="t"), answer)


def test_a_transaction_on_dead_letters_waits_on_their_queue(observer: Observer) -> None:
    observer.queue()
    observer.send()
    observer.has(v.Receive(queue="q"), received("m1", 1, lock_token="l"))
    observer.has(v.DeadLetter(queue="q", lock_token="l", reason="no"))
    letters = v.Receive(queue=LETTERS.queue)
    observer.has(letters, received("m1", 1, lock_token="d", dead_letter_reason="no"))
    observer.has(v.BeginTransaction(transaction="t"))
    observer.has(v.Complete(queue=LETTERS.queue, lock_token="d", transaction="t"))
    observer.has(update(status=v.EntityStatus.DISABLED))
    knows_nothing_of(observer, "q")


def test_a_session_can_be_refused_too(observer: Observer) -> None:
    observer.queue(requires_session=True)
    observer.has(update(status=v.EntityStatus.RECEIVE_DISABLED))
    assert is_allowed(observer, v.AcceptSession(queue="q", session_id="a"), DONE)
    observer.has(v.AcceptSession(queue="q", session_id="a"), DISABLED)


@pytest.mark.parametrize("lost", [LOST, GONE])
def test_an_update_that_may_come_later_leaves_nothing_to_judge(
    observer: Observer, lost: v.Outcome
) -> None:
    observer.queue()
    observer.has(down(0))
    observer.has(update(status=v.EntityStatus.DISABLED), lost)
    knows_nothing_of(observer, "q")


def test_after_an_update_without_an_answer_nothing_is_judged(observer: Observer) -> None:
    observer.queue()
    observer.has(update(lock_duration=20_000_000), LOST)
    observer.has(update(status=v.EntityStatus.DISABLED))
    knows_nothing_of(observer, "q")


def test_scheduled_or_buffered_messages_of_a_disabled_queue_are_not_judged(
    observer: Observer,
) -> None:
    observer.queue()
    due = v.Schedule(queue="q", message=v.Message(body="m"), delay=5_000_000)
    observer.has(due, v.Scheduled(sequence_number=1))
    observer.has(update(status=v.EntityStatus.DISABLED))
    knows_nothing_of(observer, "q")
    waiting = observing()
    waiting.queue()
    waiting.has(v.BeginTransaction(transaction="t"))
    waiting.send(transaction="t", partition_key="a")
    waiting.has(update(status=v.EntityStatus.DISABLED))
    knows_nothing_of(waiting, "q")
