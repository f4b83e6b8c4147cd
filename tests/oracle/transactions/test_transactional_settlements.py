"""Settling in transactions: what waits for the commit, and what becomes of it otherwise."""

import pytest
from telling import DONE, INVALID, LOST, SECOND, Told, is_allowed, locked, passes, received, telling

from busproof.oracle.step import step
from busproof.vocabulary.commands import (
    Abandon,
    AcceptSession,
    BeginTransaction,
    CloseSession,
    CommitTransaction,
    Complete,
    CreateQueue,
    DeadLetter,
    Defer,
    DeleteQueue,
    Peek,
    Receive,
    ReceiveDeferred,
    RenewLock,
    RenewSessionLock,
    RollBackTransaction,
    Schedule,
    Send,
    Settlement,
    TakePartitionDown,
)
from busproof.vocabulary.messages import SEQUENCE_BITS, Message
from busproof.vocabulary.outcomes import Empty, Peeked, ReceivedSeveral, Refused, Renewed, Scheduled
from busproof.vocabulary.paths import DEAD_LETTERS
from busproof.vocabulary.values import Error

BEGIN = BeginTransaction(transaction="t")
COMMIT = CommitTransaction(transaction="t")
ROLL_BACK = RollBackTransaction(transaction="t")
RECEIVE = Receive(queue="q")
GRAVE = "q" + DEAD_LETTERS
LOCK_LOST = Refused(error=Error.LOCK_LOST)
UNKNOWN = Refused(error=Error.NOT_FOUND)
PLAIN = Complete(queue="q", lock_token="l")
KINDS = (Complete, Abandon, DeadLetter, Defer)


def within(kind: type[Settlement] = Complete, token: str = "l", queue: str = "q") -> Settlement:
    return kind(queue=queue, lock_token=token, transaction="t")


def enlisted(
    told: Told, kind: type[Settlement] = Complete, end: int | None = 60, **settings: object
) -> Told:
    """A queue with one message, which is locked and settled in a transaction."""
    locked(told, until=None if end is None else end * SECOND, **settings)
    told.has(BEGIN)
    told.has(within(kind))
    return told


def again(token: str = "n", **seen: object) -> object:
    return received("m1", 1, lock_token=token, **seen)


@pytest.mark.parametrize("kind", KINDS)
def test_until_the_commit_a_message_stays_where_it_is(kind: type[Settlement]) -> None:
    told = enlisted(telling(), kind)
    found = told.saw(RECEIVE, again())
    assert not found.possible
    assert found.rules[0] == "LIFE-02"
    assert "LOCK-11" in found.rules
    assert not is_allowed(told, Receive(queue=GRAVE), again())
    by_number = ReceiveDeferred(queue="q", sequence_numbers=((1 << SEQUENCE_BITS) + 1,))
    assert is_allowed(told, by_number, Refused(error=Error.MESSAGE_NOT_FOUND))
    told.has(RECEIVE, Empty())
    told.has(Peek(queue="q"), Peeked(messages=(received("m1", 1).message,)))
    assert not is_allowed(telling(), Peek(queue="q"), Peeked())


@pytest.mark.parametrize("kind", KINDS)
def test_the_commit_settles(kind: type[Settlement]) -> None:
    told = enlisted(telling(), kind)
    assert told.saw(COMMIT).rules == ("LOCK-11",)
    passes(told, 61)
    assert is_allowed(told, RECEIVE, again()) is (kind is Abandon)
    assert is_allowed(told, RECEIVE, Empty()) is (kind is not Abandon)
    assert is_allowed(told, Receive(queue=GRAVE), again()) is (kind is DeadLetter)
    number = (1 << SEQUENCE_BITS) + 1
    by_number = ReceiveDeferred(queue="q", sequence_numbers=(number,))
    given = ReceivedSeveral(messages=(again().message,))
    assert is_allowed(told, by_number, given) is (kind is Defer)
    assert not is_allowed(told, PLAIN, DONE)


def test_commit_settles_together_with_the_sends(told: Told) -> None:
    enlisted(told, partitioned=False)
    told.send(transaction="t", partition_key="a")
    assert set(told.saw(COMMIT).rules) >= {"LOCK-11", "TXN-12"}
    assert is_allowed(told, RECEIVE, received("m2", number=2, partition_key="a"))
    assert "LOCK-11" in told.saw(RECEIVE, Empty()).rules


def test_a_commit_that_is_possible_is_not_refused(told: Told) -> None:
    enlisted(told)
    found = told.saw(COMMIT, LOCK_LOST)
    assert not found.possible
    assert "LOCK-11" in found.rules


@pytest.mark.parametrize("kind", KINDS)
def test_a_rollback_leaves_the_message_to_its_receiver(kind: type[Settlement]) -> None:
    told = enlisted(telling(), kind)
    told.has(ROLL_BACK)
    assert not is_allowed(told, RECEIVE, again())
    found = told.saw(PLAIN, LOCK_LOST)
    assert "LOCK-12" in found.rules
    assert not found.possible
    assert "LOCK-12" in told.saw(PLAIN).rules


def test_rollback_counts_no_delivery(told: Told) -> None:
    enlisted(told)
    told.has(ROLL_BACK)
    told.has(Abandon(queue="q", lock_token="l"))
    assert not is_allowed(told, RECEIVE, again(delivery_count=3))
    assert is_allowed(told, RECEIVE, again(delivery_count=2))


def test_after_it_the_lock_ends_when_it_would_have(told: Told) -> None:
    enlisted(told)
    told.has(ROLL_BACK)
    passes(told, 59)
    assert not is_allowed(told, RECEIVE, again())
    passes(told, 2)
    assert told.saw(RECEIVE, Empty()).possible == ()
    assert is_allowed(told, RECEIVE, again())


@pytest.mark.parametrize(
    ("reading", "may_come", "may_stay", "may_commit"),
    [
        ("either", True, True, True),
        ("ends", True, False, False),
        ("lasts", False, True, True),
    ],
)
def test_reading_decides_whether_a_lock_ends_in_a_transaction(
    reading: str, may_come: bool, may_stay: bool, may_commit: bool
) -> None:
    told = enlisted(telling({"LOCK-IN-TRANSACTION": reading}))
    passes(told, 61)
    assert is_allowed(told, RECEIVE, again()) is may_come
    assert is_allowed(told, RECEIVE, Empty()) is may_stay
    assert is_allowed(told, COMMIT, DONE) is may_commit
    assert is_allowed(told, COMMIT, LOCK_LOST) is (reading != "lasts")


def test_commit_does_not_settle_a_message_given_to_another_receiver(told: Told) -> None:
    enlisted(told)
    told.send(transaction="t", partition=1, partition_key="a")
    passes(told, 61)
    told.has(RECEIVE, again(), connection="c2")
    found = told.saw(COMMIT)
    assert not found.possible
    assert found.rules[0] == "LOCK-13"
    assert told.saw(COMMIT, LOCK_LOST).rules == ("LOCK-13",)
    assert is_allowed(told, Complete(queue="q", lock_token="n"), DONE)
    assert not is_allowed(told, RECEIVE, received("m2", 1))


def test_a_refused_commit_gives_back_what_was_kept_too_long(told: Told) -> None:
    enlisted(told)
    passes(told, 61)
    told.has(COMMIT, LOCK_LOST)
    passes(told, 1)
    assert is_allowed(told, RECEIVE, again())
    assert not is_allowed(told, PLAIN, DONE)


@pytest.mark.parametrize(
    ("reading", "taken", "refused"),
    [("either", True, True), ("at-once", False, True), ("at-commit", True, False)],
)
@pytest.mark.parametrize("kind", KINDS)
def test_with_a_lost_lock_it_is_refused_now_or_by_the_commit(
    reading: str, taken: bool, refused: bool, kind: type[Settlement]
) -> None:
    told = locked(telling({"SETTLEMENT-REFUSAL": reading}))
    told.has(BEGIN)
    passes(told, 61)
    assert is_allowed(told, within(kind), DONE) is taken
    assert is_allowed(told, within(kind), LOCK_LOST) is refused
    if not taken:
        assert "LOCK-13" in told.saw(within(kind)).rules
        assert told.saw(within(kind), LOCK_LOST).rules[0] == "LOCK-13"
        return
    told.has(within(kind))
    found = told.saw(COMMIT)
    assert not found.possible
    assert "LOCK-13" in found.rules
    told.has(COMMIT, LOCK_LOST)
    told.has(RECEIVE, again())


@pytest.mark.parametrize(("reading", "open_"), [("either", True), ("at-once", False)])
@pytest.mark.parametrize("kind", KINDS)
def test_with_a_lock_that_may_be_lost_it_may_doom_its_transaction(
    reading: str, open_: bool, kind: type[Settlement]
) -> None:
    told = telling({"SETTLEMENT-REFUSAL": reading}, slack=2 * SECOND)
    locked(told, partitioned=False)
    told.has(BEGIN)
    passes(told, 59)
    told.has(within(kind))
    later = Send(queue="q", message=Message(body="x"), transaction="t")
    for each in (later, ROLL_BACK):
        assert is_allowed(told, each, UNKNOWN) is open_
        assert is_allowed(told, each, DONE)
    assert is_allowed(told, COMMIT, DONE)
    assert is_allowed(told, COMMIT, LOCK_LOST)


def test_a_dead_letter_is_not_dead_lettered_in_a_transaction_either(told: Told) -> None:
    locked(told)
    told.has(DeadLetter(queue="q", lock_token="l"))
    told.has(Receive(queue=GRAVE), received("m1", 1, lock_token="d"))
    told.has(BEGIN)
    again_dead = within(DeadLetter, "d", GRAVE)
    assert "DLQ-10" in told.saw(again_dead, INVALID).rules
    told.has(again_dead)
    assert not told.saw(COMMIT).possible
    told.has(COMMIT, INVALID)
    assert is_allowed(told, Complete(queue=GRAVE, lock_token="d"), DONE)


def test_dead_letters_can_be_settled_in_a_transaction(told: Told) -> None:
    locked(told)
    told.has(DeadLetter(queue="q", lock_token="l"))
    told.has(Receive(queue=GRAVE), received("m1", 1, lock_token="d"))
    told.has(BEGIN)
    told.has(within(Complete, "d", GRAVE))
    told.has(COMMIT)
    passes(told, 61)
    assert not is_allowed(told, Receive(queue=GRAVE), again())


def test_unknown_transaction_settles_nothing(told: Told) -> None:
    locked(told)
    assert not is_allowed(told, within(), DONE)
    told.has(within(), UNKNOWN)
    told.has(within(), LOST)
    assert is_allowed(told, PLAIN, DONE)


def test_the_time_of_a_transaction_may_be_over(told: Told) -> None:
    locked(told, lock_duration=200 * SECOND, until=200 * SECOND)
    told.has(BEGIN)
    passes(told, 121)
    assert is_allowed(told, within(), UNKNOWN)
    assert is_allowed(told, within(), DONE)


def test_settlements_may_count_among_what_a_transaction_holds(told: Told) -> None:
    enlisted(told, partitioned=False)
    for _ in range(98):
        told.send(transaction="t")
    assert not is_allowed(told, COMMIT, INVALID)
    assert told.send(INVALID, transaction="t").possible == ()
    told.send(transaction="t")
    assert is_allowed(told, Send(queue="q", message=Message(body="x"), transaction="t"), INVALID)
    assert is_allowed(told, Send(queue="q", message=Message(body="x"), transaction="t"), DONE)
    assert is_allowed(told, COMMIT, DONE)
    told.send(transaction="t")
    assert is_allowed(told, COMMIT, INVALID)


@pytest.mark.parametrize(
    ("reading", "taken", "refused"),
    [("either", True, True), ("sends-only", True, False), ("all", False, True)],
)
def test_reading_decides_whether_the_key_of_a_settlement_must_fit(
    reading: str, taken: bool, refused: bool
) -> None:
    told = telling({"TXN-OTHER-OPERATIONS": reading})
    told.queue()
    told.send(partition=1, partition_key="a")
    told.has(RECEIVE, received("m1", 1, lock_token="l", partition_key="a"))
    told.has(BEGIN)
    told.send(transaction="t", partition=2, partition_key="b")
    assert is_allowed(told, within(), DONE) is taken
    assert is_allowed(told, within(), INVALID) is refused


def test_message_with_the_same_key_is_settled(told: Told) -> None:
    told.queue()
    told.send(partition=1, partition_key="a")
    told.has(RECEIVE, received("m1", 1, lock_token="l", partition_key="a"))
    told.has(BEGIN)
    told.send(transaction="t", partition=1, partition_key="a")
    assert not is_allowed(told, within(), INVALID)
    told.has(within())
    assert told.send(INVALID, transaction="t", partition_key="a").possible == ()
    assert told.send(transaction="t", partition=1, partition_key="a").possible


def test_send_after_a_settlement_may_need_the_same_key(told: Told) -> None:
    told.queue()
    told.has(CreateQueue(queue="p"))
    told.send(partition=1, partition_key="a")
    told.has(RECEIVE, received("m1", 1, lock_token="l", partition_key="a"))
    told.has(BEGIN)
    told.has(within())
    keyed = Message(body="x", partition_key="a")
    for queue, key, refused in (("q", "a", False), ("q", "b", True), ("p", "a", True)):
        message = Message(body="x", partition_key=key)
        command = Send(queue=queue, message=message, transaction="t")
        assert is_allowed(told, command, INVALID) is refused
        assert is_allowed(told, command, DONE)
    later = Schedule(queue="p", message=keyed, delay=1, transaction="t")
    assert is_allowed(told, later, INVALID)
    assert is_allowed(told, later, Scheduled(sequence_number=7))


def test_a_second_entity_is_open(told: Told) -> None:
    for reading, refused in (("either", True), ("accepted", False)):
        told = locked(telling({"TXN-ENTITIES": reading}), partitioned=False)
        told.has(CreateQueue(queue="p", partitioned=False))
        told.has(BEGIN)
        told.has(Send(queue="p", message=Message(body="x"), transaction="t"))
        assert is_allowed(told, within(), INVALID) is refused
        assert is_allowed(told, within(), DONE)


def test_settling_twice_is_open(told: Told) -> None:
    enlisted(told)
    assert is_allowed(told, PLAIN, LOCK_LOST)
    assert is_allowed(told, within(Abandon), INVALID)
    told.has(within(Abandon))
    assert is_allowed(told, PLAIN, LOCK_LOST)
    told.has(PLAIN)
    assert is_allowed(told, COMMIT, DONE)
    told.has(COMMIT, LOCK_LOST)
    passes(told, 61)
    assert not is_allowed(told, RECEIVE, again())


def test_only_the_same_message_is_in_doubt_then(told: Told) -> None:
    told.queue(partitioned=False)
    for token in "ln":
        told.send()
        told.has(RECEIVE, received(f"m{told.bodies}", number=told.bodies, lock_token=token))
    told.has(BEGIN)
    told.has(within(token="l"))
    told.has(within(token="n"))
    told.has(PLAIN)
    told.has(COMMIT)
    passes(told, 61)
    assert not is_allowed(told, RECEIVE, received("m2", number=2))


def test_settling_after_the_transaction_was_given_up_is_open(told: Told) -> None:
    enlisted(told)
    told.has(COMMIT, LOST)
    assert is_allowed(told, PLAIN, LOCK_LOST)
    told.has(COMMIT, UNKNOWN)
    assert is_allowed(told, PLAIN, LOCK_LOST)
    told.has(PLAIN)


@pytest.mark.parametrize("kind", KINDS)
def test_a_commit_without_answer_may_settle(kind: type[Settlement]) -> None:
    told = enlisted(telling(), kind)
    told.has(COMMIT, LOST)
    passes(told, 61)
    assert is_allowed(told, RECEIVE, again())
    assert is_allowed(told, RECEIVE, Empty())
    assert is_allowed(told, Receive(queue=GRAVE), again()) is (kind is DeadLetter)


def test_a_settlement_without_answer_may_be_part_of_it(told: Told) -> None:
    locked(told)
    told.has(BEGIN)
    told.has(within(), LOST)
    told.has(COMMIT)
    passes(told, 61)
    assert is_allowed(told, RECEIVE, again())
    assert is_allowed(told, RECEIVE, Empty())


def test_one_outside_of_the_transaction_without_answer_leaves_it_in_doubt(told: Told) -> None:
    enlisted(told)
    told.has(PLAIN, LOST)
    assert is_allowed(told, COMMIT, DONE)
    assert is_allowed(told, COMMIT, LOCK_LOST)


def test_one_with_a_lost_lock_and_without_answer_changes_nothing(told: Told) -> None:
    locked(told)
    told.has(BEGIN)
    passes(told, 61)
    told.has(RECEIVE, again())
    told.has(within(), LOST)
    assert not is_allowed(told, RECEIVE, again("o"))


def test_a_lock_is_renewed_while_a_settlement_waits(told: Told) -> None:
    enlisted(told)
    renew = RenewLock(queue="q", lock_token="l")
    assert is_allowed(told, renew, INVALID)
    passes(told, 40)
    told.has(renew, Renewed(locked_until=100 * SECOND))
    passes(told, 40)
    assert not is_allowed(told, RECEIVE, again())
    told.has(ROLL_BACK)
    assert not is_allowed(told, RECEIVE, again())
    passes(told, 21)
    assert is_allowed(told, RECEIVE, again())


def test_a_deleted_queue_leaves_its_commit_open(told: Told) -> None:
    enlisted(told)
    told.has(DeleteQueue(queue="q"))
    assert is_allowed(told, COMMIT, LOCK_LOST)
    assert is_allowed(told, ROLL_BACK, DONE)
    told.has(COMMIT)
    assert told.saw(RECEIVE, UNKNOWN).rules[0] == "MGMT-15"


@pytest.mark.parametrize("received_again", [False, True])
def test_queue_that_was_created_again_leaves_its_commit_open(
    told: Told, received_again: bool
) -> None:
    """Found by exploring transactions across entities: nothing says what such a commit does."""
    enlisted(told)
    told.has(DeleteQueue(queue="q"))
    told.has(CreateQueue(queue="q"))
    if received_again:
        told.has(Send(queue="q", message=Message(body="m2")))
        told.has(RECEIVE, received("m2", 1, lock_token="l"))
    assert is_allowed(told, COMMIT, DONE)
    assert is_allowed(told, COMMIT, LOCK_LOST)
    told.has(COMMIT)
    assert is_allowed(told, PLAIN, DONE) is received_again


def test_a_deleted_queue_is_not_asked_by_a_commit_without_answer(told: Told) -> None:
    enlisted(told)
    told.has(DeleteQueue(queue="q"))
    told.has(COMMIT, LOST)
    told.has(RECEIVE, UNKNOWN)


def test_an_outage_may_keep_the_commit_from_settling(told: Told) -> None:
    enlisted(told)
    told.has(TakePartitionDown(queue="q", partition=1))
    assert is_allowed(told, COMMIT, Refused(error=Error.UNAVAILABLE))
    assert is_allowed(told, COMMIT, DONE)


def in_session(told: Told) -> Told:
    told.queue(requires_session=True)
    told.send(partition=1, session_id="s")
    told.has(AcceptSession(queue="q", session_id="s"))
    given = received("m1", 1, lock_token="l", session_id="s", delivery_count=1)
    told.has(Receive(queue="q", session_id="s"), given)
    told.has(BEGIN)
    told.has(within())
    return told


def test_a_session_that_is_closed_leaves_open_what_is_settled_in_it(told: Told) -> None:
    in_session(told)
    told.has(CloseSession(queue="q", session_id="s"))
    told.has(AcceptSession(queue="q", session_id="s"), connection="c2")
    ask = Receive(queue="q", session_id="s")
    assert is_allowed(told, ask, Empty(), connection="c2")
    assert is_allowed(told, ask, again(session_id="s"), connection="c2")
    assert is_allowed(told, COMMIT, DONE)
    told.has(ROLL_BACK)
    passes(told, 1)
    assert not is_allowed(told, ask, Empty(), connection="c2")
    assert is_allowed(told, ask, again(session_id="s"), connection="c2")


def test_a_session_that_is_renewed_keeps_what_is_settled_in_it(told: Told) -> None:
    in_session(told)
    passes(told, 40)
    told.has(RenewSessionLock(queue="q", session_id="s"), Renewed(locked_until=100 * SECOND))
    passes(told, 40)
    told.has(ROLL_BACK)
    assert "SESS-14" in told.saw(PLAIN).rules


def test_a_queue_that_is_full_may_have_room_by_a_settlement(told: Told) -> None:
    """What is settled makes room; whether for what is sent beside it is not said."""
    large = 300 * 1024 * 1024
    told.queue(partitioned=False, max_size=1)
    for _ in range(3):
        assert told.send(size=large).possible
    told.has(RECEIVE, received("m1", lock_token="l", locked_until=60 * SECOND))
    told.has(BEGIN)
    told.has(within())
    beside = Send(queue="q", message=Message(body="x", size=large), transaction="t")
    for outcome in (DONE, Refused(error=Error.QUOTA_EXCEEDED)):
        assert is_allowed(told, beside, outcome), outcome


def test_a_refused_settlement_changes_nothing(told: Told) -> None:
    locked(told)
    told.has(BEGIN)
    passes(told, 61)
    (namespace,) = told.possible
    refused = [each for each in step(namespace, within()) if isinstance(each.outcome, Refused)]
    assert refused
    for each in refused:
        assert {*each.next.queues["q"].messages} == {*namespace.queues["q"].messages}


def test_possibly_abandoned_message_may_be_redelivered_after_a_rollback(told: Told) -> None:
    """The abandon that nobody answered may have taken effect before."""
    enlisted(told).has(Abandon(queue="q", lock_token="l"), LOST)
    told.has(ROLL_BACK)
    assert is_allowed(told, RECEIVE, again(delivery_count=2))
    assert is_allowed(told, RECEIVE, Empty())
    assert is_allowed(told, PLAIN, DONE)
