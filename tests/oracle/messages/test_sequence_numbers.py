"""Sequence numbers: each names one message, and those of a key rise."""

import pytest
from observing import Observer, down, observing, received, up, view

from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    AdvanceClock,
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


def sent(observer: Observer, *keys: dict[str, str], **settings: object) -> Observer:
    observer.queue(**settings)
    for each in keys:
        observer.send(partition=1 if settings.get("partitioned", True) else None, **each)
    return observer


@pytest.mark.parametrize("take", [TAKE, LOCK])
def test_numbers_of_one_key_rise(observer: Observer, take: Receive) -> None:
    sent(observer, K, K, K)
    first, second, third = ("x", "y", "z") if take is LOCK else (None, None, None)
    observer.has(take, received("m1", 1, 5, lock_token=first, **K))
    assert observer.saw(take, received("m2", 1, 4, lock_token=second, **K)).rules[0] == "SEQ-01"
    assert "SEQ-01" in observer.saw(take, received("m2", 1, 9, lock_token=second, **K)).rules
    assert not observer.saw(take, received("m3", 1, 7, lock_token=third, **K)).possible


def test_those_of_a_regular_queue_rise(observer: Observer) -> None:
    in_session = {"session_id": "s"}
    sent(observer, in_session, in_session, partitioned=False, requires_session=True)
    observer.has(AcceptSession(queue="q", session_id="s"))
    take = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE, session_id="s")
    observer.has(take, received("m1", 0, 5, **in_session))
    assert observer.saw(take, received("m2", 0, 4, **in_session)).rules[0] == "SEQ-05"
    assert "SEQ-05" in observer.saw(take, received("m2", 0, 6, **in_session)).rules


def test_without_sessions_its_rising_numbers_show_it_and_others_are_not_judged(
    observer: Observer,
) -> None:
    sent(observer, {}, K, {}, partitioned=False)
    observer.has(TAKE, received("m1", 0, 5))
    assert "SEQ-05" in observer.saw(TAKE, received("m2", 0, 6, **K)).rules
    fallen = observer.saw(TAKE, received("m3", 0, 4))
    assert fallen.possible
    assert "SEQ-05" not in fallen.rules


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize(("first", "number"), [("m1", 4), ("m2", 6)])
def test_message_of_a_later_time_has_the_greater_number_on_a_regular_queue(
    observer: Observer, first: str, number: int, partitioned: bool
) -> None:
    sent(observer, {}, partitioned=partitioned)
    observer.has(AdvanceClock(duration=1))
    observer.send(partition=2 if partitioned else None)
    second = "m2" if first == "m1" else "m1"
    homes = {"m1": int(partitioned), "m2": 2 * partitioned}
    observer.has(TAKE, received(first, homes[first], 5))
    answer = observer.saw(TAKE, received(second, homes[second], number))
    assert bool(answer.possible) is partitioned
    assert ("SEQ-05" in answer.rules) is not partitioned


def test_editions_that_say_nothing_of_numbers_do_not_compare_them_by_time() -> None:
    observer = sent(observing(silent=frozenset({"SEQ-05"})), {}, partitioned=False)
    observer.has(AdvanceClock(duration=1))
    observer.send()
    observer.has(TAKE, received("m1", 0, 5))
    assert observer.saw(TAKE, received("m2", 0, 4)).possible


def test_numbers_from_transactions_are_not_compared_by_time(observer: Observer) -> None:
    """A message in a transaction may get its number at the send or at the commit."""
    sent(observer, partitioned=False)
    observer.has(BeginTransaction(transaction="t"))
    observer.send(transaction="t")
    observer.has(AdvanceClock(duration=1))
    observer.send()
    observer.has(AdvanceClock(duration=1))
    observer.has(CommitTransaction(transaction="t"))
    observer.has(TAKE, received("m2", 0, 5))
    assert observer.saw(TAKE, received("m1", 0, 4)).possible


def test_a_peek_shows_numbers_too(observer: Observer) -> None:
    sent(observer, K, K)
    on = Peek(queue="q", from_sequence_number=0)
    observer.has(on, Peeked(messages=(view("m2", 1, 7, **K),)))
    late = Peeked(messages=(view("m1", 1, 8, **K),))
    assert observer.saw(PEEK, late).rules[0] == "SEQ-01"
    observer.has(PEEK, Peeked(messages=(view("m1", 1, 6, **K),)))
    shown = observer.saw(PEEK, Peeked(messages=(view("m1", 1, 6, **K),)))
    assert "SEQ-04" in shown.rules


def test_an_edition_that_is_silent_on_them_lets_them_fall() -> None:
    observer = sent(observing(silent=frozenset({"SEQ-01"})), K, K)
    observer.has(TAKE, received("m1", 1, 5, **K))
    assert observer.saw(TAKE, received("m2", 1, 4, **K)).possible


def test_different_keys_have_no_order(observer: Observer) -> None:
    sent(observer, K, {"partition_key": "l"}, {})
    observer.has(TAKE, received("m1", 1, 5, **K))
    observer.has(TAKE, received("m2", 1, 4, partition_key="l"))
    observer.has(TAKE, received("m3", 1, 3))


@pytest.mark.parametrize("take", [TAKE, LOCK])
def test_no_number_is_given_out_twice(observer: Observer, take: Receive) -> None:
    sent(observer, {}, {})
    observer.has(take, received("m1", 1, 5, lock_token="x" if take is LOCK else None))
    again = received("m2", 1, 5, lock_token="y" if take is LOCK else None)
    assert observer.saw(take, again).rules[0] == "SEQ-03"
    other = received("m2", 1, 6, lock_token="y" if take is LOCK else None)
    assert "SEQ-03" in observer.saw(take, other).rules


def test_a_message_keeps_its_number(observer: Observer) -> None:
    sent(observer, {})
    observer.has(LOCK, received("m1", 1, 5, lock_token="x"))
    observer.has(Abandon(queue="q", lock_token="x"))
    assert not observer.saw(LOCK, received("m1", 1, 6, lock_token="y")).possible
    assert "SEQ-04" in observer.saw(LOCK, received("m1", 1, 5, lock_token="y")).rules


def test_which_of_two_sends_with_one_body_was_seen_is_not_known(observer: Observer) -> None:
    sent(observer, {"body": "same", **K}, {"body": "same", **K})
    observer.has(PEEK, Peeked(messages=(view("same", 1, 7, **K),)))
    assert observer.saw(PEEK, Peeked(messages=(view("same", 1, 6, **K),))).possible


@pytest.mark.parametrize("number", [3, 9])
def test_late_message_may_have_any_sequence_number(observer: Observer, number: int) -> None:
    sent(observer, K)
    lost = Send(queue="q", message=observer.message(**K))
    observer.has(lost, Indeterminate())
    observer.send(partition=1, **K)
    observer.has(TAKE, received("m1", 1, 5, **K))
    observer.has(TAKE, received("m3", 1, 6, **K))
    assert observer.saw(TAKE, received("m2", 1, number, **K)).possible


def test_observer_without_numbers_shows_no_sequence_rule(observer: Observer) -> None:
    sent(observer, K, K)
    unnumbered = received("m1", **K)
    unnumbered = type(unnumbered)(message=view("m1", **K, sequence_number=None))
    assert not any(rule.startswith("SEQ") for rule in observer.saw(TAKE, unnumbered).rules)


@pytest.mark.parametrize("number", [3, 9])
def test_buffered_send_may_be_numbered_before_or_after(observer: Observer, number: int) -> None:
    sent(observer)
    observer.has(BeginTransaction(transaction="t"))
    observer.send(partition=1, transaction="t", **K)
    observer.send(partition=1, **K)
    observer.has(CommitTransaction(transaction="t"))
    observer.has(TAKE, received("m2", 1, 5, **K))
    assert observer.saw(TAKE, received("m1", 1, number, **K)).possible


def test_scheduled_message_may_be_numbered_before_or_after(observer: Observer) -> None:
    sent(observer)
    message = observer.message(**K)
    observer.has(Schedule(queue="q", message=message, delay=0), Scheduled(sequence_number=99))
    observer.send(partition=1, **K)
    observer.has(TAKE, received("m1", 1, 7, **K))
    assert observer.saw(TAKE, received("m2", 1, 5, **K)).possible


def in_a_commit(observer: Observer, *between: dict[str, str]) -> Observer:
    observer.queue()
    observer.has(BeginTransaction(transaction="t"))
    observer.send(transaction="t", partition=1, **K)
    for each in between:
        observer.send(partition=1, **each)
    observer.send(transaction="t", partition=1, **K)
    observer.has(CommitTransaction(transaction="t"))
    return observer


@pytest.mark.parametrize("between", [(), ({"partition_key": "l"},)], ids=["alone", "beside"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["first", "last"])
def test_numbers_of_one_commit_rise(
    observer: Observer, between: tuple[dict[str, str], ...], order: tuple[int, int]
) -> None:
    in_a_commit(observer, *between)
    bodies = ("m1", f"m{2 + len(between)}")
    one, other = (bodies[place] for place in order)
    on = Peek(queue="q", from_sequence_number=0)
    observer.has(on, Peeked(messages=(view(one, 1, 5, **K),)))
    wrong, right = (4, 6) if order == (0, 1) else (6, 4)
    assert observer.saw(on, Peeked(messages=(view(other, 1, wrong, **K),))).rules[0] == "SEQ-07"
    shown = observer.saw(on, Peeked(messages=(view(other, 1, right, **K),))).rules
    assert "SEQ-07" in shown


def test_numbers_of_a_commit_rise_like_others_in_older_editions() -> None:
    observer = in_a_commit(observing(silent=frozenset({"SEQ-07"})))
    observer.has(TAKE, received("m1", 1, 5, **K))
    assert observer.saw(TAKE, received("m2", 1, 4, **K)).rules[0] == "SEQ-01"


def test_numbers_of_different_partitions_have_no_order(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=2)
    observer.send(partition=1)
    observer.send(partition=1)
    assert "SEQ-02" not in observer.saw(TAKE, received("m1", 2, 5)).rules
    assert "SEQ-02" in observer.saw(TAKE, received("m2", 1, 4)).rules
    assert "SEQ-02" not in observer.saw(TAKE, received("m3", 1, 6)).rules


@pytest.mark.parametrize(("reading", "allowed"), [("per-entity", False), ("per-partition", True)])
def test_readings_decide_whether_partitions_give_out_the_same_numbers(
    reading: str, allowed: bool
) -> None:
    observer = observing({"SEQUENCE-UNIQUE": reading, "SEQUENCE-EXPOSES": "opaque"})
    observer.queue()
    observer.send(partition=1)
    observer.send(partition=2)
    observer.has(TAKE, received("m1", 0, 5))
    assert bool(observer.saw(TAKE, received("m2", 0, 5)).possible) is allowed


GAP_FREE = {"SEQUENCE-GAPS": "gap-free"}


def test_numbers_may_leave_gaps(observer: Observer) -> None:
    sent(observer, K, K)
    observer.has(TAKE, received("m1", 1, 5, **K))
    found = observer.saw(TAKE, received("m2", 1, 7, **K))
    assert found.possible
    assert "SEQ-06" in found.rules


def test_without_a_gap_none_is_shown(observer: Observer) -> None:
    sent(observer, K, K)
    observer.has(TAKE, received("m1", 1, 5, **K))
    assert "SEQ-06" not in observer.saw(TAKE, received("m2", 1, 6, **K)).rules


def test_read_as_gap_free_they_leave_none() -> None:
    observer = sent(observing(GAP_FREE), K, K)
    observer.has(TAKE, received("m1", 1, 5, **K))
    assert "SEQ-06" in observer.saw(TAKE, received("m2", 1, 7, **K)).rules
    observer.has(TAKE, received("m2", 1, 6, **K))


def test_sequence_numbers_never_go_backwards() -> None:
    observer = sent(observing(GAP_FREE), K, K)
    observer.has(Peek(queue="q", count=2), Peeked(messages=(view("m1", 1, 5, **K),)))
    assert not observer.saw(TAKE, received("m1", 1, 4, **K)).possible
    observer.has(TAKE, received("m1", 1, 5, **K))
    observer.has(TAKE, received("m2", 1, 6, **K))


def test_message_in_between_uses_a_number() -> None:
    observer = sent(observing(GAP_FREE), K, {"partition_key": "o"}, K)
    observer.has(TAKE, received("m1", 1, 5, **K))
    observer.has(TAKE, received("m3", 1, 7, **K))


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
    observer = observing(GAP_FREE)
    observer.queue()
    observer.has(command, outcome)
    for _ in range(2):
        observer.send(partition=1, **K)
    observer.has(TAKE, received("m1", 1, 5, **K))
    observer.has(TAKE, received("m2", 1, 7, **K))


@pytest.mark.parametrize("number", [-1, -(1 << 48), -(1 << 60), 9 << 48, 1 << 64, 1 << 200])
@pytest.mark.parametrize("asked", [TAKE, PEEK])
def test_number_that_names_no_partition_is_a_violation(asked: Receive | Peek, number: int) -> None:
    """A history may have any number; a negative one ended the judge with a traceback."""
    observer = sent(observing(), K)
    seen = view("m1", sequence_number=number, **K)
    outcome = Received(message=seen) if asked is TAKE else Peeked(messages=(seen,))
    found = observer.saw(asked, outcome)
    assert not found.possible
    assert "LIFE-12" in found.rules


def test_partition_of_any_number_may_be_named_in_a_history() -> None:
    observer = sent(observing(), K)
    for number in (1 << 40, 1 << 70):
        assert not observer.saw(down(number)).possible
        observer.has(up(number), Refused(error=Error.NOT_FOUND))
        observer.has(up(number), Indeterminate())
        observer.has(
            TakePartitionDown(queue="none", partition=number), Refused(error=Error.NOT_FOUND)
        )
    assert not observer.send(partition=1 << 70).possible


def test_scheduled_message_may_have_a_negative_number_until_it_is_seen() -> None:
    observer = sent(observing())
    later = Schedule(queue="q", message=Message(body="s"), delay=0)
    observer.has(later, Scheduled(sequence_number=-1))
    assert not observer.saw(TAKE, Received(message=view("s", sequence_number=-1))).possible
