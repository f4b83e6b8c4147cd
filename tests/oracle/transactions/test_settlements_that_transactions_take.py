"""Settlements that a transaction takes: lost locks, dead letters, keys and limits."""

import pytest
from in_transactions import (
    BEGIN,
    COMMIT,
    DEAD,
    KINDS,
    LOCK_LOST,
    PLAIN,
    RECEIVE,
    ROLL_BACK,
    UNKNOWN,
    again,
    enlisted,
    within,
)
from observing import (
    DONE,
    INVALID,
    LOST,
    SECOND,
    Observer,
    is_allowed,
    locked,
    observing,
    passes,
    received,
)

from busproof import vocabulary as v


@pytest.mark.parametrize(
    ("reading", "taken", "refused"),
    [("either", True, True), ("at-once", False, True), ("at-commit", True, False)],
)
@pytest.mark.parametrize("kind", KINDS)
def test_with_a_lost_lock_it_is_refused_now_or_by_the_commit(
    reading: str, taken: bool, refused: bool, kind: type[v.Settlement]
) -> None:
    observer = locked(observing({"SETTLEMENT-REFUSAL": reading}))
    observer.has(BEGIN)
    passes(observer, 61)
    assert is_allowed(observer, within(kind), DONE) is taken
    assert is_allowed(observer, within(kind), LOCK_LOST) is refused
    if not taken:
        assert "LOCK-13" in observer.saw(within(kind)).rules
        assert observer.saw(within(kind), LOCK_LOST).rules[0] == "LOCK-13"
        return
    observer.has(within(kind))
    found = observer.saw(COMMIT)
    assert not found.possible
    assert "LOCK-13" in found.rules
    observer.has(COMMIT, LOCK_LOST)
    observer.has(RECEIVE, again())


@pytest.mark.parametrize(("reading", "open_"), [("either", True), ("at-once", False)])
@pytest.mark.parametrize("kind", KINDS)
def test_with_a_lock_that_may_be_lost_it_may_doom_its_transaction(
    reading: str, open_: bool, kind: type[v.Settlement]
) -> None:
    observer = observing({"SETTLEMENT-REFUSAL": reading}, slack=2 * SECOND)
    locked(observer, partitioned=False)
    observer.has(BEGIN)
    passes(observer, 59)
    observer.has(within(kind))
    later = v.Send(queue="q", message=v.Message(body="x"), transaction="t")
    for each in (later, ROLL_BACK):
        assert is_allowed(observer, each, UNKNOWN) is open_
        assert is_allowed(observer, each, DONE)
    assert is_allowed(observer, COMMIT, DONE)
    assert is_allowed(observer, COMMIT, LOCK_LOST)


def test_a_dead_letter_is_not_dead_lettered_in_a_transaction_either(observer: Observer) -> None:
    locked(observer)
    observer.has(v.DeadLetter(queue="q", lock_token="l"))
    observer.has(v.Receive(queue=DEAD), received("m1", 1, lock_token="d"))
    observer.has(BEGIN)
    again_dead = within(v.DeadLetter, "d", DEAD)
    assert "DLQ-10" in observer.saw(again_dead, INVALID).rules
    observer.has(again_dead)
    assert not observer.saw(COMMIT).possible
    observer.has(COMMIT, INVALID)
    assert is_allowed(observer, v.Complete(queue=DEAD, lock_token="d"), DONE)


@pytest.mark.parametrize(("reading", "taken"), [("at-once", False), ("at-commit", True)])
def test_dead_letter_is_not_dead_lettered_under_a_lost_lock_either(
    reading: str, *, taken: bool
) -> None:
    observer = locked(observing({"SETTLEMENT-REFUSAL": reading}))
    observer.has(BEGIN)
    for path in (DEAD, "q" + v.TRANSFERS):
        lost = within(v.DeadLetter, "none", path)
        assert taken is is_allowed(observer, lost, DONE)


def test_dead_letters_can_be_settled_in_a_transaction(observer: Observer) -> None:
    locked(observer)
    observer.has(v.DeadLetter(queue="q", lock_token="l"))
    observer.has(v.Receive(queue=DEAD), received("m1", 1, lock_token="d"))
    observer.has(BEGIN)
    observer.has(within(v.Complete, "d", DEAD))
    observer.has(COMMIT)
    passes(observer, 61)
    assert not is_allowed(observer, v.Receive(queue=DEAD), again())


def test_unknown_transaction_settles_nothing(observer: Observer) -> None:
    locked(observer)
    assert not is_allowed(observer, within(), DONE)
    observer.has(within(), UNKNOWN)
    observer.has(within(), LOST)
    assert is_allowed(observer, PLAIN, DONE)


def test_the_time_of_a_transaction_may_be_over(observer: Observer) -> None:
    locked(observer, lock_duration=200 * SECOND, until=200 * SECOND)
    observer.has(BEGIN)
    passes(observer, 121)
    assert is_allowed(observer, within(), UNKNOWN)
    assert is_allowed(observer, within(), DONE)


def test_settlements_may_count_among_what_a_transaction_holds(observer: Observer) -> None:
    enlisted(observer, partitioned=False)
    for _ in range(98):
        observer.send(transaction="t")
    assert not is_allowed(observer, COMMIT, INVALID)
    assert observer.send(INVALID, transaction="t").possible == ()
    observer.send(transaction="t")
    assert is_allowed(
        observer, v.Send(queue="q", message=v.Message(body="x"), transaction="t"), INVALID
    )
    assert is_allowed(
        observer, v.Send(queue="q", message=v.Message(body="x"), transaction="t"), DONE
    )
    assert is_allowed(observer, COMMIT, DONE)
    observer.send(transaction="t")
    assert is_allowed(observer, COMMIT, INVALID)


@pytest.mark.parametrize(
    ("reading", "taken", "refused"),
    [("either", True, True), ("sends-only", True, False), ("all", False, True)],
)
def test_reading_decides_whether_the_key_of_a_settlement_must_fit(
    reading: str, taken: bool, refused: bool
) -> None:
    observer = observing({"TXN-OTHER-OPERATIONS": reading})
    observer.queue()
    observer.send(partition=1, partition_key="a")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", partition_key="a"))
    observer.has(BEGIN)
    observer.send(transaction="t", partition=2, partition_key="b")
    assert is_allowed(observer, within(), DONE) is taken
    assert is_allowed(observer, within(), INVALID) is refused


@pytest.mark.parametrize("reading", ["either", "all"])
def test_settlements_alone_may_have_different_keys(reading: str) -> None:
    """Only sends surely give a transaction its key."""
    observer = observing({"TXN-OTHER-OPERATIONS": reading})
    observer.queue()
    for partition, key in enumerate(("a", "b"), 1):
        observer.send(partition=partition, partition_key=key)
    observer.has(RECEIVE, received("m1", 1, lock_token="k", partition_key="a"))
    observer.has(RECEIVE, received("m2", 2, lock_token="l", partition_key="b"))
    observer.has(BEGIN)
    observer.has(v.Complete(queue="q", lock_token="k", transaction="t"))
    assert is_allowed(observer, within(), DONE)
    assert is_allowed(observer, within(), INVALID)


def test_message_with_the_same_key_is_settled(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1, partition_key="a")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", partition_key="a"))
    observer.has(BEGIN)
    observer.send(transaction="t", partition=1, partition_key="a")
    assert not is_allowed(observer, within(), INVALID)
    observer.has(within())
    assert observer.send(INVALID, transaction="t", partition_key="a").possible == ()
    assert observer.send(transaction="t", partition=1, partition_key="a").possible


def test_send_after_a_settlement_may_need_the_same_key(observer: Observer) -> None:
    observer.queue()
    observer.has(v.CreateQueue(queue="p"))
    observer.send(partition=1, partition_key="a")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", partition_key="a"))
    observer.has(BEGIN)
    observer.has(within())
    keyed = v.Message(body="x", partition_key="a")
    for queue, key, refused in (("q", "a", False), ("q", "b", True), ("p", "a", True)):
        message = v.Message(body="x", partition_key=key)
        command = v.Send(queue=queue, message=message, transaction="t")
        assert is_allowed(observer, command, INVALID) is refused
        assert is_allowed(observer, command, DONE)
    later = v.Schedule(queue="p", message=keyed, delay=1, transaction="t")
    assert is_allowed(observer, later, INVALID)
    assert is_allowed(observer, later, v.Scheduled(sequence_number=7))


def test_a_second_entity_is_open(observer: Observer) -> None:
    for reading, refused in (("either", True), ("accepted", False)):
        observer = locked(observing({"TXN-ENTITIES": reading}), partitioned=False)
        observer.has(v.CreateQueue(queue="p", partitioned=False))
        observer.has(BEGIN)
        observer.has(v.Send(queue="p", message=v.Message(body="x"), transaction="t"))
        assert is_allowed(observer, within(), INVALID) is refused
        assert is_allowed(observer, within(), DONE)


@pytest.mark.parametrize(("reading", "taken"), [("either", True), ("at-once", False)])
def test_key_does_not_matter_if_the_lock_may_be_lost(reading: str, taken: bool) -> None:
    """Only the commit refuses a lost lock, and then nobody compares keys."""
    readings = {"SETTLEMENT-REFUSAL": reading, "TXN-OTHER-OPERATIONS": "all"}
    observer = observing(readings)
    observer.queue()
    observer.send(partition=1, partition_key="a")
    observer.has(RECEIVE, received("m1", 1, partition_key="a", lock_token="l"))
    observer.has(BEGIN)
    observer.has(v.TakePartitionDown(queue="q", partition=0))
    passes(observer, 200)
    observer.send(partition=2, partition_key="b", transaction="t")
    assert is_allowed(observer, within(), DONE) is taken
    assert is_allowed(observer, within(), INVALID)
    if taken:
        observer.has(within())
        observer.send(partition=2, partition_key="b", transaction="t")
        assert not is_allowed(observer, COMMIT, DONE)
        observer.has(COMMIT, LOCK_LOST)
