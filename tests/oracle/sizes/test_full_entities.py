"""What is full beside outages, transactions, sessions, schedules and topics."""

import attrs
import pytest
from telling import DONE, GONE, INVALID, LOST, Told, telling

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


def large(told: Told, queue: str = "q", **properties: object) -> Send:
    return Send(
        queue=queue, message=told.message(**{"size": LARGE, "stands_in": True, **properties})
    )


def within(command: Send) -> Send:
    return attrs.evolve(command, transaction="t")


def fill(
    told: Told, number: int = MORE, partition: int | None = None, **properties: object
) -> None:
    for _ in range(number):
        told.has(large(told, **properties), DONE, partition=partition)


def denied(told: Told, command: object) -> bool:
    """Whether the command must not be refused for want of room."""
    return not told.saw(command, FULL).possible


class TestOutages:
    def test_nothing_goes_round_to_a_partition_that_is_down(self) -> None:
        told = telling({"FULL-UNKEYED": "goes-round"}, partitions=2)
        told.queue()
        fill(told, partition=0, partition_key="a")
        assert denied(told, large(told))
        told.has(TakePartitionDown(queue="q", partition=1))
        told.has(large(told), FULL)
        told.has(large(told), GONE)
        told.has(BringPartitionUp(queue="q", partition=1))
        assert denied(told, large(told))
        assert not told.send(GONE).possible


class TestOtherReasons:
    """Nobody says which of several reasons a bus names."""

    def test_what_is_invalid_may_find_no_room(self, told: Told) -> None:
        told.queue()
        wrong = {"session_id": "s", "partition_key": "k"}
        assert denied(told, large(told, **wrong))
        fill(told, partition=0, partition_key="a")
        told.has(large(told, **wrong), FULL)
        told.has(large(told, **wrong), INVALID)

    @pytest.mark.parametrize("wrong", [{}, {"partition_key": "b"}])
    def test_invalid_send_in_a_transaction_may_be_refused_for_space(
        self, told: Told, wrong: dict[str, str]
    ) -> None:
        told.queue()
        fill(told, LESS - 2, partition=0, partition_key="a")
        told.has(BEGIN)
        told.has(within(large(told, partition_key="a")))
        told.has(within(large(told, **wrong)), FULL)


class TestSessions:
    def test_what_is_stored_with_a_session_may_find_no_room(self, told: Told) -> None:
        told.queue(requires_session=True)
        told.send(session_id="a")
        told.has(AcceptSession(queue="q", session_id="a"))
        stored = SetSessionState(queue="q", session_id="a", state="x")
        assert denied(told, stored)
        fill(told, session_id="a")
        told.has(stored, FULL)
        told.has(stored)
        assert denied(told, attrs.evolve(stored, state=None))

    @pytest.mark.parametrize("answer", [DONE, LOST])
    def test_session_state_may_take_space_from_messages(self, answer: object) -> None:
        """A character may take four bytes."""
        told = telling(partitions=1)
        told.queue(requires_session=True)
        told.has(AcceptSession(queue="q", session_id="a"))
        fill(told, LESS - 1, size=LESS_LARGE, session_id="a")
        last = large(told, size=LESS_LARGE, session_id="a")
        assert denied(told, last)
        stored = SetSessionState(queue="q", session_id="a", state="x" * 3_000_000)
        told.has(stored, answer)
        told.has(last, FULL)


class TestTransactions:
    def test_what_is_scheduled_in_one_may_find_no_room(self, told: Told) -> None:
        told.queue(partitioned=False)
        told.has(BEGIN)
        later = Schedule(
            queue="q", message=told.message(size=LARGE, stands_in=True), delay=10, transaction="t"
        )
        assert denied(told, later)
        fill(told)
        told.has(later, FULL)

    @pytest.mark.parametrize("reading", ["at-commit", "either"])
    def test_what_may_not_fit_leaves_few_states_however_refusals_are_read(
        self, reading: str
    ) -> None:
        """TXN-REFUSAL: each message may be too large, or be more than there is room for."""
        told = telling({"TXN-REFUSAL": reading}, partitions=2)
        told.queue()
        told.has(BEGIN)
        for number in range(2 * MORE):
            told.has(within(large(told, partition_key="a")))
            assert len(told.possible) <= number + 2
        told.has(within(large(told, partition_key="a")), FULL)
        told.has(COMMIT, FULL)

    def test_what_was_sent_to_a_deleted_queue_may_take_room_of_a_later_one(
        self, told: Told
    ) -> None:
        told.queue(partitioned=False)
        told.has(BEGIN)
        for _ in range(LESS - 1):
            told.has(within(large(told)))
        told.has(DeleteQueue(queue="q"))
        told.queue(partitioned=False)
        told.has(COMMIT)
        told.has(large(told), FULL)


class TestTopics:
    def test_what_is_committed_may_be_kept_for_each_subscription(self, told: Told) -> None:
        told.has(CreateTopic(topic="q"))
        for name in ("s", "t"):
            told.has(CreateSubscription(topic="q", subscription=name))
        told.has(BEGIN)
        for _ in range(4):
            told.has(within(large(told, partition_key="a")))
        told.has(COMMIT, FULL)

    def test_a_new_subscription_may_get_what_was_lost_before(self, told: Told) -> None:
        told.has(CreateTopic(topic="q"))
        for _ in range(5):
            told.has(large(told), LOST)
        assert denied(told, large(told))
        told.has(CreateSubscription(topic="q", subscription="s"))
        told.has(large(told), FULL)

    def test_no_partition_of_a_topic_surely_has_room(self, told: Told) -> None:
        """A copy need not be in the partition of its message."""
        told.has(CreateTopic(topic="q"))
        fill(told, LESS, partition=0, partition_key="a")
        told.has(large(told, partition_key="b"), FULL)


class TestTimeToLive:
    """What may have outlived its time may be gone."""

    def test_messages_that_may_die_are_not_relied_on(self, told: Told) -> None:
        told.queue(partitioned=False)
        fill(told, LESS)
        fill(told, 2, time_to_live=1)
        told.has(large(told))
        assert denied(told, Receive(queue="q"))
        told.has(large(told), FULL)

    def test_nothing_is_relied_on_where_all_messages_may_die(self, told: Told) -> None:
        told.queue(partitioned=False, time_to_live=1)
        fill(told, 2 * MORE)

    @pytest.mark.parametrize(("life", "full"), [(None, True), (1, False)])
    def test_scheduled_messages_that_may_expire_do_not_count(
        self, told: Told, life: int | None, full: bool
    ) -> None:
        told.queue(partitioned=False)
        for number in range(MORE):
            message = told.message(size=LARGE, stands_in=True, time_to_live=life)
            later = Schedule(queue="q", message=message, delay=10)
            told.has(later, Scheduled(sequence_number=number))
        assert told.saw(large(told)).possible != full
