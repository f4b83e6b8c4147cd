"""Sequence numbers: each names one message, and those of a key rise."""

import pytest
from telling import Told, down, received, telling, up, view

from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    BeginTransaction,
    CommitTransaction,
    Peek,
    Receive,
    Schedule,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import (
    Done,
    Indeterminate,
    Outcome,
    Peeked,
    Received,
    Refused,
    Scheduled,
)
from busproof.vocabulary.values import Error, ReceiveMode

TAKE = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
LOCK = Receive(queue="q")
PEEK = Peek(queue="q", count=3)
K = {"partition_key": "k"}


def sent(told: Told, *keys: dict[str, str], **settings: object) -> Told:
    told.queue(**settings)
    for each in keys:
        told.send(partition=1 if settings.get("partitioned", True) else None, **each)
    return told


@pytest.mark.parametrize("take", [TAKE, LOCK])
def test_numbers_of_one_key_rise(told: Told, take: Receive) -> None:
    sent(told, K, K, K)
    first, second, third = ("x", "y", "z") if take is LOCK else (None, None, None)
    told.has(take, received("m1", 1, 5, lock_token=first, **K))
    assert told.saw(take, received("m2", 1, 4, lock_token=second, **K)).rules[0] == "SEQ-01"
    assert "SEQ-01" in told.saw(take, received("m2", 1, 9, lock_token=second, **K)).rules
    assert not told.saw(take, received("m3", 1, 7, lock_token=third, **K)).possible


def test_those_of_a_regular_queue_rise(told: Told) -> None:
    in_session = {"session_id": "s"}
    sent(told, in_session, in_session, partitioned=False, requires_session=True)
    told.has(AcceptSession(queue="q", session_id="s"))
    take = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE, session_id="s")
    told.has(take, received("m1", 0, 5, **in_session))
    assert told.saw(take, received("m2", 0, 4, **in_session)).rules[0] == "SEQ-05"
    assert "SEQ-05" in told.saw(take, received("m2", 0, 6, **in_session)).rules


def test_without_sessions_its_rising_numbers_show_it_and_others_are_not_judged(
    told: Told,
) -> None:
    sent(told, {}, K, {}, partitioned=False)
    told.has(TAKE, received("m1", 0, 5))
    assert "SEQ-05" in told.saw(TAKE, received("m2", 0, 6, **K)).rules
    fallen = told.saw(TAKE, received("m3", 0, 4))
    assert fallen.possible
    assert "SEQ-05" not in fallen.rules


def test_a_peek_tells_numbers_too(told: Told) -> None:
    sent(told, K, K)
    on = Peek(queue="q", from_sequence_number=0)
    told.has(on, Peeked(messages=(view("m2", 1, 7, **K),)))
    late = Peeked(messages=(view("m1", 1, 8, **K),))
    assert told.saw(PEEK, late).rules[0] == "SEQ-01"
    told.has(PEEK, Peeked(messages=(view("m1", 1, 6, **K),)))
    shown = told.saw(PEEK, Peeked(messages=(view("m1", 1, 6, **K),)))
    assert "SEQ-04" in shown.rules


def test_an_edition_that_is_silent_on_them_lets_them_fall() -> None:
    told = sent(telling(silent=frozenset({"SEQ-01"})), K, K)
    told.has(TAKE, received("m1", 1, 5, **K))
    assert told.saw(TAKE, received("m2", 1, 4, **K)).possible


def test_different_keys_have_no_order(told: Told) -> None:
    sent(told, K, {"partition_key": "l"}, {})
    told.has(TAKE, received("m1", 1, 5, **K))
    told.has(TAKE, received("m2", 1, 4, partition_key="l"))
    told.has(TAKE, received("m3", 1, 3))


@pytest.mark.parametrize("take", [TAKE, LOCK])
def test_no_number_is_given_out_twice(told: Told, take: Receive) -> None:
    sent(told, {}, {})
    told.has(take, received("m1", 1, 5, lock_token="x" if take is LOCK else None))
    again = received("m2", 1, 5, lock_token="y" if take is LOCK else None)
    assert told.saw(take, again).rules[0] == "SEQ-03"
    other = received("m2", 1, 6, lock_token="y" if take is LOCK else None)
    assert "SEQ-03" in told.saw(take, other).rules


def test_a_message_keeps_its_number(told: Told) -> None:
    sent(told, {})
    told.has(LOCK, received("m1", 1, 5, lock_token="x"))
    told.has(Abandon(queue="q", lock_token="x"))
    assert not told.saw(LOCK, received("m1", 1, 6, lock_token="y")).possible
    assert "SEQ-04" in told.saw(LOCK, received("m1", 1, 5, lock_token="y")).rules


def test_which_of_two_sends_with_one_body_was_seen_is_not_known(told: Told) -> None:
    sent(told, {"body": "same", **K}, {"body": "same", **K})
    told.has(PEEK, Peeked(messages=(view("same", 1, 7, **K),)))
    assert told.saw(PEEK, Peeked(messages=(view("same", 1, 6, **K),))).possible


@pytest.mark.parametrize("number", [3, 9])
def test_late_message_may_have_any_sequence_number(told: Told, number: int) -> None:
    sent(told, K)
    lost = Send(queue="q", message=told.message(**K))
    told.has(lost, Indeterminate())
    told.send(partition=1, **K)
    told.has(TAKE, received("m1", 1, 5, **K))
    told.has(TAKE, received("m3", 1, 6, **K))
    assert told.saw(TAKE, received("m2", 1, number, **K)).possible


def test_observer_without_numbers_shows_no_sequence_rule(told: Told) -> None:
    sent(told, K, K)
    unnumbered = received("m1", **K)
    unnumbered = type(unnumbered)(message=view("m1", **K, sequence_number=None))
    assert not any(rule.startswith("SEQ") for rule in told.saw(TAKE, unnumbered).rules)


@pytest.mark.parametrize("number", [3, 9])
def test_buffered_send_may_be_numbered_before_or_after(told: Told, number: int) -> None:
    sent(told)
    told.has(BeginTransaction(transaction="t"))
    told.send(partition=1, transaction="t", **K)
    told.send(partition=1, **K)
    told.has(CommitTransaction(transaction="t"))
    told.has(TAKE, received("m2", 1, 5, **K))
    assert told.saw(TAKE, received("m1", 1, number, **K)).possible


def test_scheduled_message_may_be_numbered_before_or_after(told: Told) -> None:
    sent(told)
    message = told.message(**K)
    told.has(Schedule(queue="q", message=message, delay=0), Scheduled(sequence_number=99))
    told.send(partition=1, **K)
    told.has(TAKE, received("m1", 1, 7, **K))
    assert told.saw(TAKE, received("m2", 1, 5, **K)).possible


def in_a_commit(told: Told, *between: dict[str, str]) -> Told:
    told.queue()
    told.has(BeginTransaction(transaction="t"))
    told.send(transaction="t", partition=1, **K)
    for each in between:
        told.send(partition=1, **each)
    told.send(transaction="t", partition=1, **K)
    told.has(CommitTransaction(transaction="t"))
    return told


@pytest.mark.parametrize("between", [(), ({"partition_key": "l"},)], ids=["alone", "beside"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["first", "last"])
def test_numbers_of_one_commit_rise(
    told: Told, between: tuple[dict[str, str], ...], order: tuple[int, int]
) -> None:
    in_a_commit(told, *between)
    bodies = ("m1", f"m{2 + len(between)}")
    one, other = (bodies[place] for place in order)
    on = Peek(queue="q", from_sequence_number=0)
    told.has(on, Peeked(messages=(view(one, 1, 5, **K),)))
    wrong, right = (4, 6) if order == (0, 1) else (6, 4)
    assert told.saw(on, Peeked(messages=(view(other, 1, wrong, **K),))).rules[0] == "SEQ-07"
    shown = told.saw(on, Peeked(messages=(view(other, 1, right, **K),))).rules
    assert "SEQ-07" in shown


def test_numbers_of_a_commit_rise_like_others_in_older_editions() -> None:
    told = in_a_commit(telling(silent=frozenset({"SEQ-07"})))
    told.has(TAKE, received("m1", 1, 5, **K))
    assert told.saw(TAKE, received("m2", 1, 4, **K)).rules[0] == "SEQ-01"


def test_numbers_of_different_partitions_have_no_order(told: Told) -> None:
    told.queue()
    told.send(partition=2)
    told.send(partition=1)
    told.send(partition=1)
    assert "SEQ-02" not in told.saw(TAKE, received("m1", 2, 5)).rules
    assert "SEQ-02" in told.saw(TAKE, received("m2", 1, 4)).rules
    assert "SEQ-02" not in told.saw(TAKE, received("m3", 1, 6)).rules


@pytest.mark.parametrize(("reading", "allowed"), [("per-entity", False), ("per-partition", True)])
def test_readings_decide_whether_partitions_give_out_the_same_numbers(
    reading: str, allowed: bool
) -> None:
    told = telling({"SEQUENCE-UNIQUE": reading, "SEQUENCE-EXPOSES": "opaque"})
    told.queue()
    told.send(partition=1)
    told.send(partition=2)
    told.has(TAKE, received("m1", 0, 5))
    assert bool(told.saw(TAKE, received("m2", 0, 5)).possible) is allowed


GAP_FREE = {"SEQUENCE-GAPS": "gap-free"}


def test_numbers_may_leave_gaps(told: Told) -> None:
    sent(told, K, K)
    told.has(TAKE, received("m1", 1, 5, **K))
    found = told.saw(TAKE, received("m2", 1, 7, **K))
    assert found.possible
    assert "SEQ-06" in found.rules


def test_without_a_gap_none_is_shown(told: Told) -> None:
    sent(told, K, K)
    told.has(TAKE, received("m1", 1, 5, **K))
    assert "SEQ-06" not in told.saw(TAKE, received("m2", 1, 6, **K)).rules


def test_read_as_gap_free_they_leave_none() -> None:
    told = sent(telling(GAP_FREE), K, K)
    told.has(TAKE, received("m1", 1, 5, **K))
    assert "SEQ-06" in told.saw(TAKE, received("m2", 1, 7, **K)).rules
    told.has(TAKE, received("m2", 1, 6, **K))


def test_sequence_numbers_never_go_backwards() -> None:
    told = sent(telling(GAP_FREE), K, K)
    told.has(Peek(queue="q", count=2), Peeked(messages=(view("m1", 1, 5, **K),)))
    assert not told.saw(TAKE, received("m1", 1, 4, **K)).possible
    told.has(TAKE, received("m1", 1, 5, **K))
    told.has(TAKE, received("m2", 1, 6, **K))


def test_message_in_between_uses_a_number() -> None:
    told = sent(telling(GAP_FREE), K, {"partition_key": "o"}, K)
    told.has(TAKE, received("m1", 1, 5, **K))
    told.has(TAKE, received("m3", 1, 7, **K))


@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        (Send(queue="q", message=Message(body="lost")), Indeterminate()),
        (
            Schedule(queue="q", message=Message(body="later"), delay=9),
            Scheduled(sequence_number=99),
        ),
        (BeginTransaction(transaction="t"), Done()),
    ],
    ids=["lost", "scheduled", "in a transaction"],
)
def test_possible_message_in_between_may_use_a_number(command: object, outcome: Outcome) -> None:
    told = telling(GAP_FREE)
    told.queue()
    told.has(command, outcome)
    for _ in range(2):
        told.send(partition=1, **K)
    told.has(TAKE, received("m1", 1, 5, **K))
    told.has(TAKE, received("m2", 1, 7, **K))


@pytest.mark.parametrize("number", [-1, -(1 << 48), -(1 << 60), 9 << 48, 1 << 64, 1 << 200])
@pytest.mark.parametrize("asked", [TAKE, PEEK])
def test_number_that_names_no_partition_is_a_violation(asked: Receive | Peek, number: int) -> None:
    """A history may have any number; a negative one ended the judge with a traceback."""
    told = sent(telling(), K)
    seen = view("m1", sequence_number=number, **K)
    outcome = Received(message=seen) if asked is TAKE else Peeked(messages=(seen,))
    found = told.saw(asked, outcome)
    assert not found.possible
    assert "LIFE-12" in found.rules


def test_partition_of_any_number_may_be_named_in_a_history() -> None:
    told = sent(telling(), K)
    for number in (1 << 40, 1 << 70):
        assert not told.saw(down(number)).possible
        told.has(up(number), Refused(error=Error.NOT_FOUND))
        told.has(up(number), Indeterminate())
        told.has(TakePartitionDown(queue="none", partition=number), Refused(error=Error.NOT_FOUND))
    assert not told.send(partition=1 << 70).possible


def test_scheduled_message_may_have_a_negative_number_until_it_is_seen() -> None:
    told = sent(telling())
    later = Schedule(queue="q", message=Message(body="s"), delay=0)
    told.has(later, Scheduled(sequence_number=-1))
    assert not told.saw(TAKE, Received(message=view("s", sequence_number=-1))).possible
