"""DUP-01 to DUP-13: which messages are copies, and what it shows that one is or is none."""

import pytest
from later import scheduled
from observing import GONE, INVALID, LOST, SECOND, Observer, is_allowed, observing, received

from busproof.vocabulary.commands import (
    AdvanceClock,
    BeginTransaction,
    BringPartitionUp,
    CommitTransaction,
    CreateQueue,
    CreateTopic,
    Receive,
    RollBackTransaction,
    Schedule,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty
from busproof.vocabulary.values import ReceiveMode

TAKE = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
BEGIN = BeginTransaction(transaction="t")
COMMIT = CommitTransaction(transaction="t")
ROLL_BACK = RollBackTransaction(transaction="t")
MINUTE = 60_000_000
X = {"message_id": "x"}


def unique(observer: Observer, **settings: object) -> Observer:
    observer.queue(duplicate_detection=True, **settings)
    return observer


def after(observer: Observer, duration: int) -> None:
    observer.has(AdvanceClock(duration=duration))


def test_a_message_that_comes_after_the_window_is_no_copy(observer: Observer) -> None:
    unique(observer)
    observer.send(partition=1, **X)
    after(observer, 10 * MINUTE + 1)
    observer.send(partition=1, **X)
    observer.has(TAKE, received("m1", 1, **X))
    withheld = observer.saw(TAKE, Empty())
    assert withheld.possible == ()
    assert {"DUP-01", "DUP-02", "DUP-04"} <= set(withheld.rules)
    assert {"DUP-01", "DUP-02"} <= set(observer.saw(TAKE, received("m2", 1, 2, **X)).rules)


def test_a_window_of_another_length_says_nothing_of_the_default(observer: Observer) -> None:
    unique(observer, duplicate_window=MINUTE)
    observer.send(partition=1, **X)
    after(observer, MINUTE + 1)
    observer.send(partition=1, **X)
    observer.has(TAKE, received("m1", 1, **X))
    shown = observer.saw(TAKE, received("m2", 1, 2, **X)).rules
    assert "DUP-01" in shown
    assert "DUP-02" not in shown


@pytest.mark.parametrize("minutes", [1, 6])
def test_a_copy_late_in_the_window_shows_how_long_it_is(observer: Observer, minutes: int) -> None:
    unique(observer)
    observer.send(partition=1, **X)
    after(observer, minutes * MINUTE)
    rules = observer.send(partition=1, **X).rules
    assert {"KEY-11", "DUP-04"} <= set(rules)
    assert ("DUP-02" in rules) is (minutes == 6)
    observer.has(TAKE, received("m1", 1, **X))
    copy = observer.saw(TAKE, received("m2", 1, 2, **X))
    assert copy.possible == ()
    assert {"KEY-11", "DUP-02", "DUP-04", "DUP-07"} <= set(copy.rules)


def test_on_a_regular_queue_another_key_makes_no_difference(observer: Observer) -> None:
    unique(observer, partitioned=False)
    observer.send(partition_key="a", **X)
    assert "DUP-05" not in observer.send(partition_key="a", **X).rules
    assert "DUP-05" in observer.send(partition_key="b", **X).rules


def test_fate_of_the_first_message_makes_no_difference(observer: Observer) -> None:
    unique(observer)
    observer.send(partition=1, **X)
    assert "DUP-07" not in observer.send(partition=1, **X).rules
    observer.has(TAKE, received("m1", 1, **X))
    assert "DUP-07" in observer.send(partition=1, **X).rules


def test_an_outage_makes_no_difference(observer: Observer) -> None:
    unique(observer)
    observer.send(partition=1, **X)
    observer.has(TakePartitionDown(queue="q", partition=1))
    observer.has(BringPartitionUp(queue="q", partition=1))
    assert "DUP-09" in observer.send(partition=1, **X).rules


def test_refused_send_is_not_remembered(observer: Observer) -> None:
    unique(observer)
    for partition in range(4):
        observer.has(TakePartitionDown(queue="q", partition=partition))
    observer.send(GONE, **X)
    for partition in range(4):
        observer.has(BringPartitionUp(queue="q", partition=partition))
    observer.send(partition=1, **X)
    assert "DUP-08" in observer.saw(TAKE, received("m2", 1, 2, **X)).rules


def test_rolled_back_send_is_not_remembered(observer: Observer) -> None:
    unique(observer)
    observer.has(BEGIN)
    observer.send(partition=1, transaction="t", **X)
    observer.has(ROLL_BACK)
    observer.send(partition=1, **X)
    assert "DUP-10" in observer.saw(TAKE, received("m2", 1, 2, **X)).rules


def test_a_copy_in_a_transaction_is_dropped_at_its_commit(observer: Observer) -> None:
    unique(observer)
    observer.send(partition=1, **X)
    observer.has(BEGIN)
    observer.send(partition=1, transaction="t", **X)
    observer.has(COMMIT)
    observer.has(TAKE, received("m1", 1, **X))
    assert not observer.saw(TAKE, received("m2", 1, 2, **X)).possible
    assert "DUP-11" in observer.saw(TAKE, Empty()).rules


@pytest.mark.parametrize("later", [False, True])
def test_a_copy_in_a_transaction_is_compared_at_its_send_or_at_the_commit(
    observer: Observer, later: bool
) -> None:
    """DUPLICATE-IN-TRANSACTION: the window ends between the two."""
    unique(observer)
    observer.send(partition=1, **X)
    observer.has(TAKE, received("m1", 1, **X))
    after(observer, 10 * MINUTE - 30 * SECOND)
    observer.has(BEGIN)
    if later:
        scheduled(observer, body="m2", delay=0, transaction="t", **X)
    else:
        observer.send(partition=1, transaction="t", **X)
    after(observer, MINUTE)
    observer.has(COMMIT)
    assert is_allowed(observer, TAKE, received("m2", 1, 2, **X))
    assert is_allowed(observer, TAKE, Empty())


def test_the_window_of_a_message_in_a_transaction_begins_at_its_send_or_at_the_commit(
    observer: Observer,
) -> None:
    """DUPLICATE-IN-TRANSACTION: another message arrives a window after the send."""
    unique(observer)
    observer.has(BEGIN)
    observer.send(partition=1, transaction="t", **X)
    after(observer, MINUTE)
    observer.has(COMMIT)
    observer.has(TAKE, received("m1", 1, **X))
    after(observer, 10 * MINUTE - 30 * SECOND)
    observer.send(partition=1, **X)
    assert is_allowed(observer, TAKE, received("m2", 1, 2, **X))
    assert is_allowed(observer, TAKE, Empty())


@pytest.mark.parametrize("partitioned", [True, False])
def test_without_id_and_key_a_message_may_be_refused(partitioned: bool) -> None:
    observer = observing()
    unique(observer, partitioned=partitioned)
    for found in (observer.send(), observer.send(GONE)):
        assert found.possible
        assert ("DUP-12" in found.rules) is partitioned


@pytest.mark.parametrize(("key", "may_be_refused"), [(None, True), ("k", False)])
def test_scheduled_message_may_be_refused_without_id_and_key(
    observer: Observer, key: str | None, *, may_be_refused: bool
) -> None:
    """DUP-12: a partition key is enough, as for a message that is sent at once."""
    unique(observer)
    message = Message(body="m1", partition_key=key)
    asked = Schedule(queue="q", message=message, delay=MINUTE)
    assert may_be_refused is is_allowed(observer, asked, GONE)


@pytest.mark.parametrize(("reading", "kept"), [("first", True), ("last", False), ("either", None)])
@pytest.mark.parametrize("transaction", [None, "t"])
def test_a_dropped_copy_may_prolong_the_window(
    reading: str, kept: bool | None, transaction: str | None
) -> None:
    """DUPLICATE-PROLONGS: a third message reveals the reading."""
    for arrives in (True, False):
        observer = observing(readings={"DUPLICATE-PROLONGS": reading})
        unique(observer)
        observer.send(partition=1, **X)
        after(observer, 6 * MINUTE)
        if transaction is not None:
            observer.has(BeginTransaction(transaction=transaction))
        observer.send(partition=1, transaction=transaction, **X)
        if transaction is not None:
            observer.has(CommitTransaction(transaction=transaction))
        after(observer, 6 * MINUTE)
        observer.send(partition=1, **X)
        observer.has(TAKE, received("m1", 1, **X))
        outcome = received("m3", 1, 3, **X) if arrives else Empty()
        assert bool(observer.saw(TAKE, outcome).possible) is (kept in (None, arrives))


def test_late_message_makes_later_sends_copies(observer: Observer) -> None:
    unique(observer, duplicate_window=MINUTE)
    observer.send(partition=1, **X)
    observer.send(LOST, **X)
    observer.send(partition=1, **X)
    after(observer, MINUTE + 1)
    observer.send(partition=1, **X)
    observer.has(TAKE, received("m1", 1, **X))
    observer.has(TAKE, Empty())


@pytest.mark.parametrize("readings", [{}, {"DUPLICATE-PROLONGS": "last"}])
def test_message_before_a_kept_one_no_longer_counts(readings: dict[str, str]) -> None:
    observer = unique(observing(readings), duplicate_window=MINUTE)
    after(observer, 1)
    observer.send(partition=1, **X)
    observer.send(partition=1, **X)
    after(observer, 2 * MINUTE)
    observer.send(partition=1, **X)
    after(observer, 2 * MINUTE)
    observer.send(partition=1, **X)
    observer.has(TAKE, received("m1", 1, **X))
    observer.has(TAKE, received("m3", 1, 3, **X))
    assert observer.saw(TAKE, Empty()).rules[:2] == ("DUP-04", "LIFE-09")


def test_same_id_in_another_queue_is_no_copy(observer: Observer) -> None:
    unique(observer)
    observer.has(CreateQueue(queue="other", duplicate_detection=True))
    observer.has(CreateQueue(queue="plain"))
    for queue in ("other", "plain"):
        observer.has(Send(queue=queue, message=Message(body="n1", **X)), partition=1)
    observer.send(partition=1, **X)
    observer.send(partition=1, message_id="y")
    withheld = observer.saw(TAKE, Empty())
    assert withheld.possible == ()
    assert "DUP-13" in withheld.rules
    assert "DUP-13" in observer.saw(TAKE, received("m1", 1, **X)).rules
    assert "DUP-13" not in observer.saw(TAKE, received("m2", 1, 2, message_id="y")).rules


DAY = 86_400 * SECOND


@pytest.mark.parametrize(
    ("asked", "before"),
    [(10 * SECOND, 15 * SECOND), (8 * DAY, 6 * DAY)],
    ids=["short", "long"],
)
def test_no_window_is_shorter_than_20_seconds_or_longer_than_7_days(
    asked: int, before: int
) -> None:
    """DUP-03: such a queue is refused, or gets the nearest window that there is."""
    observer = observing(limits=True)
    command = CreateQueue(queue="q", duplicate_detection=True, duplicate_window=asked)
    assert "DUP-03" in observer.saw(command, INVALID).rules
    assert "DUP-03" in observer.saw(command).rules
    observer.send(partition=1, **X)
    after(observer, before)
    assert "DUP-03" in observer.send(partition=1, **X).rules
    observer.has(TAKE, received("m1", 1, **X))
    shown = observer.saw(TAKE, received("m2", 1, 2, **X))
    assert not shown.possible
    assert "DUP-03" in shown.rules


def test_after_the_longest_window_a_message_is_none() -> None:
    """DUP-03: whatever was asked for."""
    observer = unique(observing(limits=True), duplicate_window=8 * DAY)
    observer.send(partition=1, **X)
    after(observer, 7 * DAY + SECOND)
    observer.send(partition=1, **X)
    observer.has(TAKE, received("m1", 1, **X))
    withheld = observer.saw(TAKE, Empty())
    assert not withheld.possible
    assert "DUP-03" in withheld.rules


def test_a_topic_has_no_other_window_either() -> None:
    observer = observing(limits=True)
    topic = CreateTopic(topic="t", duplicate_detection=True, duplicate_window=SECOND)
    assert "DUP-03" in observer.saw(topic, INVALID).rules
    assert "DUP-03" in observer.saw(topic).rules


def test_any_window_is_allowed_without_limits() -> None:
    observer = unique(observing(), duplicate_window=10 * SECOND)
    observer.send(partition=1, **X)
    after(observer, 15 * SECOND)
    observer.send(partition=1, **X)
    observer.has(TAKE, received("m1", 1, **X))
    assert is_allowed(observer, TAKE, received("m2", 1, 2, **X))
    assert is_allowed(observer, TAKE, Empty())


def test_a_window_says_nothing_where_copies_are_not_detected() -> None:
    observer = observing(limits=True)
    observer.has(CreateQueue(queue="q", duplicate_window=SECOND))
    assert not observer.saw(CreateQueue(queue="r", duplicate_window=SECOND), INVALID).possible


def test_another_key_may_make_another_message(observer: Observer) -> None:
    """DUP-06: on a partitioned queue, and for as long as the window lasts."""
    unique(observer)
    observer.send(partition=1, partition_key="a", **X)
    assert "DUP-06" in observer.send(partition=1, partition_key="b", **X).rules
    assert is_allowed(observer, TAKE, received("m2", 1, 2, partition_key="b", **X))
    after(observer, 11 * MINUTE)
    assert "DUP-06" not in observer.send(partition=1, partition_key="c", **X).rules
