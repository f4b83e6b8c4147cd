"""Commits and rollbacks, and the order of transactions side by side."""

import pytest
from in_transactions import BEGIN, COMMIT, RECEIVE, ROLL_BACK, UNKNOWN, begun
from observing import GONE, INVALID, LOST, OTHER, Observer, observing, received

from busproof import vocabulary as v


def test_a_commit_makes_everything_receivable_and_nothing_before(observer: Observer) -> None:
    begun(observer)
    observer.send(transaction="t", partition=1, partition_key="a")
    assert observer.saw(RECEIVE, received("m1", 1, partition_key="a")).rules[0] == "TXN-12"
    observer.has(RECEIVE, v.Empty())
    assert observer.saw(COMMIT).rules == ("TXN-12",)
    assert "TXN-12" in observer.saw(RECEIVE, v.Empty()).rules
    assert observer.saw(COMMIT, UNKNOWN).possible
    assert observer.saw(RECEIVE, received("m1", 1, partition_key="a", lock_token="l")).possible


def test_a_commit_drops_copies(observer: Observer) -> None:
    begun(observer, duplicate_detection=True)
    observer.send(partition=1, message_id="x")
    observer.send(transaction="t", partition=1, message_id="x")
    observer.has(COMMIT)
    assert observer.saw(RECEIVE, received("m2", 1, 2, message_id="x")).possible == ()


def test_a_rollback_forgets_everything(observer: Observer) -> None:
    begun(observer)
    observer.send(transaction="t", partition=1, partition_key="a")
    assert observer.saw(ROLL_BACK).rules == ("TXN-13",)
    assert observer.saw(RECEIVE, received("m1", 1, partition_key="a")).rules[0] == "TXN-13"
    assert observer.saw(ROLL_BACK, UNKNOWN).possible
    assert observer.saw(ROLL_BACK).possible == ()


def test_a_doubtful_transaction_may_have_ended(observer: Observer) -> None:
    begun(observer)
    observer.send(INVALID, transaction="t")
    assert observer.saw(ROLL_BACK, UNKNOWN).possible


def test_an_unknown_transaction_is_refused(observer: Observer) -> None:
    observer.queue()
    assert observer.send(transaction="t", partition_key="a").possible == ()
    assert observer.send(UNKNOWN, transaction="t", partition_key="a").possible


def test_a_running_transaction_is_not_begun_again(observer: Observer) -> None:
    begun(observer)
    assert observer.saw(BEGIN).possible == ()
    assert observer.saw(BEGIN, v.Refused(error=v.Error.ALREADY_EXISTS)).possible
    observer.has(COMMIT)
    assert observer.saw(BEGIN).possible


def test_basic_may_have_no_transactions() -> None:
    observer = observing(tier=v.Tier.BASIC)
    assert observer.saw(BEGIN, INVALID).possible
    assert observing().saw(BEGIN, INVALID).possible == ()


def test_a_transaction_may_be_over_after_two_minutes_or_a_hundred_messages() -> None:
    observer = begun(observing())
    observer.has(v.AdvanceClock(duration=120_000_000))
    assert observer.saw(COMMIT, UNKNOWN).possible
    observer = begun(observing())
    for _ in range(100):
        observer.send(transaction="t", partition=1, partition_key="a")
    assert observer.send(OTHER, transaction="t", partition_key="a").possible


@pytest.mark.parametrize("identity", ["x", "x-{}"])
def test_refusals_for_different_reasons_leave_one_state(identity: str) -> None:
    """Where a refusal could mean two things, the states do not double with every such send.

    The key may be at home where a partition is down, or there may be none: always the same, or
    another each time.
    """
    observer = observing(partitions=4)
    observer.queue()
    observer.has(BEGIN)
    observer.has(v.TakePartitionDown(queue="q", partition=1))
    for number in range(12):
        observer.send(INVALID, transaction="t", message_id=identity.format(number))
    assert len(observer.possible) <= 4


def test_refusals_after_one_in_the_transaction_leave_one_state() -> None:
    """Each may be for that one, or for its key; which MessageIds were refused makes no state."""
    observer = observing(partitions=4)
    observer.queue(duplicate_detection=True)
    observer.send(partition=1, message_id="x", partition_key="a")
    observer.has(BEGIN)
    observer.has(v.TakePartitionDown(queue="q", partition=1))
    observer.send(GONE, transaction="t", message_id="y", partition_key="a")
    for number in range(4):
        observer.send(INVALID, transaction="t", message_id=f"x{number}", partition_key="a")
        assert 1 == len(observer.possible)


def test_a_refusal_for_no_reason_that_is_known_leaves_its_states() -> None:
    """Outside the documents, a transaction may be over or a regular queue be down."""
    observer = observing(partitions=4)
    observer.queue(partitioned=False)
    observer.has(BEGIN, LOST)
    observer.has(v.TakePartitionDown(queue="q", partition=0))
    assert observer.send(UNKNOWN, transaction="t").possible
    assert observer.possible


@pytest.mark.parametrize("end", [v.CommitTransaction, v.RollBackTransaction])
def test_a_body_that_was_sent_before_is_still_known_after_a_transaction(end: type) -> None:
    """What else had it can be received whatever becomes of the transaction."""
    observer = observing()
    observer.queue()
    observer.send(partition=1, body="same", partition_key="a")
    observer.has(v.BeginTransaction(transaction="t"))
    observer.send(partition=1, transaction="t", body="same", partition_key="a")
    observer.has(end(transaction="t"))
    observer.has(
        v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE),
        received("same", 1, 1, partition_key="a"),
    )
    again = received("same", 1, 2, partition_key="a")
    assert bool(observer.saw(v.Receive(queue="q"), again).possible) is (end is v.CommitTransaction)


def _two_sent(observer: Observer, *ends: str) -> None:
    """`m1` in transaction t and `m2` in u, of one key; committed as given, u sent last."""
    observer.queue()
    observer.has(BEGIN)
    observer.send(transaction="t", partition=1, partition_key="a")
    if ends[0] == "before":
        observer.has(COMMIT)
    observer.has(v.BeginTransaction(transaction="u"))
    observer.send(transaction="u", partition=1, partition_key="a")
    for name in ends[1:]:
        observer.has(v.CommitTransaction(transaction=name))


@pytest.mark.parametrize("ends", [("side by side", "t", "u"), ("side by side", "u", "t")])
@pytest.mark.parametrize("first", ["m1", "m2"])
def test_which_comes_first_of_transactions_side_by_side_is_open(
    ends: tuple[str, ...], first: str
) -> None:
    """The order of sending may be that of the sends or that of the commits."""
    observer = observing(partitions=4)
    _two_sent(observer, *ends)
    assert observer.saw(RECEIVE, received(first, 1, partition_key="a", lock_token="l")).possible


def test_commit_before_a_send_comes_first() -> None:
    observer = observing(partitions=4)
    _two_sent(observer, "before", "u")
    found = observer.saw(RECEIVE, received("m2", 1, partition_key="a", lock_token="l"))
    assert not found.possible
    assert "KEY-17" in found.rules
    assert observer.saw(RECEIVE, received("m1", 1, partition_key="a", lock_token="l")).possible


def test_send_after_a_commit_comes_after_it() -> None:
    """Though another message arrived between the send and the commit."""
    observer = observing(partitions=4)
    begun(observer)
    observer.send(transaction="t", partition=1, partition_key="a")
    observer.send(partition=1, partition_key="a")
    observer.has(COMMIT)
    observer.send(partition=1, partition_key="a")
    late = received("m3", 1, 3, partition_key="a", lock_token="l")
    assert not observer.saw(RECEIVE, late).possible


def test_a_copy_that_was_overtaken_by_its_original_is_eliminated() -> None:
    observer = observing(partitions=4)
    begun(observer, duplicate_detection=True)
    observer.send(transaction="t", partition=1, partition_key="a", message_id="x")
    observer.send(partition=1, partition_key="a", message_id="x")
    observer.has(COMMIT)
    copy = received("m1", 1, partition_key="a", message_id="x", lock_token="l")
    assert not observer.saw(RECEIVE, copy).possible
    original = received("m2", 1, partition_key="a", message_id="x", lock_token="l")
    assert observer.saw(RECEIVE, original).possible
