"""What is full beside outages, transactions, sessions, schedules and topics."""

import attrs
import pytest
from observing import DONE, GONE, INVALID, LOST, Observer, observing

from busproof.vocabulary.commands import (
    AcceptSession,
    BeginTransaction,
    BringPartitionUp,
    CommitTransaction,
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    Receive,
    Schedule,
    Send,
    SetSessionState,
    TakePartitionDown,
)
from busproof.vocabulary.outcomes import Refused, Scheduled
from busproof.vocabulary.values import Error

FULL = Refused(error=Error.QUOTA_EXCEEDED)
LARGE = 100_000_000
LESS_LARGE = 99_000_000
LESS = 10
MORE = 11
BEGIN = BeginTransaction(transaction="t")
COMMIT = CommitTransaction(transaction="t")


def large(observer: Observer, queue: str = "q", **properties: object) -> Send:
    return Send(
        queue=queue, message=observer.message(**{"size": LARGE, "stands_in": True, **properties})
    )


def within(command: Send) -> Send:
    return attrs.evolve(command, transaction="t")


def fill(
    observer: Observer, number: int = MORE, partition: int | None = None, **properties: object
) -> None:
    for _ in range(number):
        observer.has(large(observer, **properties), DONE, partition=partition)


def denied(observer: Observer, command: object) -> bool:
    """Whether the command must not be refused for want of room."""
    return not observer.saw(command, FULL).possible


class TestOutages:
    def test_nothing_goes_round_to_a_partition_that_is_down(self) -> None:
        observer = observing({"FULL-UNKEYED": "goes-round"}, partitions=2)
        observer.queue()
        fill(observer, partition=0, partition_key="a")
        assert denied(observer, large(observer))
        observer.has(TakePartitionDown(queue="q", partition=1))
        observer.has(large(observer), FULL)
        observer.has(large(observer), GONE)
        observer.has(BringPartitionUp(queue="q", partition=1))
        assert denied(observer, large(observer))
        assert not observer.send(GONE).possible


class TestOtherReasons:
    """Nobody says which of several reasons a bus names."""

    def test_what_is_invalid_may_find_no_room(self, observer: Observer) -> None:
        observer.queue()
        wrong = {"session_id": "s", "partition_key": "k"}
        assert denied(observer, large(observer, **wrong))
        fill(observer, partition=0, partition_key="a")
        observer.has(large(observer, **wrong), FULL)
        observer.has(large(observer, **wrong), INVALID)

    @pytest.mark.parametrize("wrong", [{}, {"partition_key": "b"}])
    def test_invalid_send_in_a_transaction_may_be_refused_for_space(
        self, observer: Observer, wrong: dict[str, str]
    ) -> None:
        observer.queue()
        fill(observer, LESS - 2, partition=0, partition_key="a")
        observer.has(BEGIN)
        observer.has(within(large(observer, partition_key="a")))
        observer.has(within(large(observer, **wrong)), FULL)


class TestSessions:
    def test_what_is_stored_with_a_session_may_find_no_room(self, observer: Observer) -> None:
        observer.queue(requires_session=True)
        observer.send(session_id="a")
        observer.has(AcceptSession(queue="q", session_id="a"))
        stored = SetSessionState(queue="q", session_id="a", state="x")
        assert denied(observer, stored)
        fill(observer, session_id="a")
        observer.has(stored, FULL)
        observer.has(stored)
        assert denied(observer, attrs.evolve(stored, state=None))

    @pytest.mark.parametrize("answer", [DONE, LOST])
    def test_session_state_may_take_space_from_messages(self, answer: object) -> None:
        """A character may take four bytes."""
        observer = observing(partitions=1)
        observer.queue(requires_session=True)
        observer.has(AcceptSession(queue="q", session_id="a"))
        fill(observer, LESS - 1, size=LESS_LARGE, session_id="a")
        last = large(observer, size=LESS_LARGE, session_id="a")
        assert denied(observer, last)
        stored = SetSessionState(queue="q", session_id="a", state="x" * 3_000_000)
        observer.has(stored, answer)
        observer.has(last, FULL)


class TestTransactions:
    def test_what_is_scheduled_in_one_may_find_no_room(self, observer: Observer) -> None:
        observer.queue(partitioned=False)
        observer.has(BEGIN)
        later = Schedule(
            queue="q",
            message=observer.message(size=LARGE, stands_in=True),
            delay=10,
            transaction="t",
        )
        assert denied(observer, later)
        fill(observer)
        observer.has(later, FULL)

    @pytest.mark.parametrize("reading", ["at-commit", "either"])
    def test_what_may_not_fit_leaves_few_states_however_refusals_are_read(
        self, reading: str
    ) -> None:
        """TXN-REFUSAL: each message may be too large, or be more than there is room for."""
        observer = observing({"TXN-REFUSAL": reading}, partitions=2)
        observer.queue()
        observer.has(BEGIN)
        for number in range(2 * MORE):
            observer.has(within(large(observer, partition_key="a")))
            assert len(observer.possible) <= number + 2
        observer.has(within(large(observer, partition_key="a")), FULL)
        observer.has(COMMIT, FULL)

    def test_what_was_sent_to_a_deleted_queue_may_take_room_of_a_later_one(
        self, observer: Observer
    ) -> None:
        observer.queue(partitioned=False)
        observer.has(BEGIN)
        for _ in range(LESS - 1):
            observer.has(within(large(observer)))
        observer.has(DeleteQueue(queue="q"))
        observer.queue(partitioned=False)
        observer.has(COMMIT)
        observer.has(large(observer), FULL)


class TestTopics:
    def test_what_is_committed_may_be_kept_for_each_subscription(self, observer: Observer) -> None:
        observer.has(CreateTopic(topic="q"))
        for name in ("s", "t"):
            observer.has(CreateSubscription(topic="q", subscription=name))
        observer.has(BEGIN)
        for _ in range(4):
            observer.has(within(large(observer, partition_key="a")))
        observer.has(COMMIT, FULL)

    def test_a_new_subscription_may_get_what_was_lost_before(self, observer: Observer) -> None:
        observer.has(CreateTopic(topic="q"))
        for _ in range(5):
            observer.has(large(observer), LOST)
        assert denied(observer, large(observer))
        observer.has(CreateSubscription(topic="q", subscription="s"))
        observer.has(large(observer), FULL)

    def test_no_partition_of_a_topic_surely_has_room(self, observer: Observer) -> None:
        """A copy need not be in the partition of its message."""
        observer.has(CreateTopic(topic="q"))
        fill(observer, LESS, partition=0, partition_key="a")
        observer.has(large(observer, partition_key="b"), FULL)


class TestTimeToLive:
    """What may have outlived its time may be gone."""

    def test_messages_that_may_die_are_not_relied_on(self, observer: Observer) -> None:
        observer.queue(partitioned=False)
        fill(observer, LESS)
        fill(observer, 2, time_to_live=1)
        observer.has(large(observer))
        assert denied(observer, Receive(queue="q"))
        observer.has(large(observer), FULL)

    def test_nothing_is_relied_on_where_all_messages_may_die(self, observer: Observer) -> None:
        observer.queue(partitioned=False, time_to_live=1)
        fill(observer, 2 * MORE)

    @pytest.mark.parametrize(("life", "full"), [(None, True), (1, False)])
    def test_scheduled_messages_that_may_expire_do_not_count(
        self, observer: Observer, life: int | None, full: bool
    ) -> None:
        observer.queue(partitioned=False)
        for number in range(MORE):
            message = observer.message(size=LARGE, stands_in=True, time_to_live=life)
            later = Schedule(queue="q", message=message, delay=10)
            observer.has(later, Scheduled(sequence_number=number))
        assert observer.saw(large(observer)).possible != full
