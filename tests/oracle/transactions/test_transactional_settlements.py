"""Settling in transactions: what waits for the commit, and what becomes of it otherwise."""

import pytest
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
    observer: Observer, kind: type[Settlement] = Complete, end: int | None = 60, **settings: object
) -> Observer:
    """A queue with one message, which is locked and settled in a transaction."""
    locked(observer, until=None if end is None else end * SECOND, **settings)
    observer.has(BEGIN)
    observer.has(within(kind))
    return observer


def again(token: str = "n", **seen: object) -> object:
    return received("m1", 1, lock_token=token, **seen)


@pytest.mark.parametrize("kind", KINDS)
def test_until_the_commit_a_message_stays_where_it_is(kind: type[Settlement]) -> None:
    observer = enlisted(observing(), kind)
    found = observer.saw(RECEIVE, again())
    assert not found.possible
    assert found.rules[0] == "LIFE-02"
    assert "LOCK-11" in found.rules
    assert not is_allowed(observer, Receive(queue=GRAVE), again())
    by_number = ReceiveDeferred(queue="q", sequence_numbers=((1 << SEQUENCE_BITS) + 1,))
    assert is_allowed(observer, by_number, Refused(error=Error.MESSAGE_NOT_FOUND))
    observer.has(RECEIVE, Empty())
    observer.has(Peek(queue="q"), Peeked(messages=(received("m1", 1).message,)))
    assert not is_allowed(observing(), Peek(queue="q"), Peeked())


@pytest.mark.parametrize("kind", KINDS)
def test_the_commit_settles(kind: type[Settlement]) -> None:
    observer = enlisted(observing(), kind)
    assert observer.saw(COMMIT).rules == ("LOCK-11",)
    passes(observer, 61)
    assert is_allowed(observer, RECEIVE, again()) is (kind is Abandon)
    assert is_allowed(observer, RECEIVE, Empty()) is (kind is not Abandon)
    assert is_allowed(observer, Receive(queue=GRAVE), again()) is (kind is DeadLetter)
    number = (1 << SEQUENCE_BITS) + 1
    by_number = ReceiveDeferred(queue="q", sequence_numbers=(number,))
    given = ReceivedSeveral(messages=(again().message,))
    assert is_allowed(observer, by_number, given) is (kind is Defer)
    assert not is_allowed(observer, PLAIN, DONE)


def test_commit_settles_together_with_the_sends(observer: Observer) -> None:
    enlisted(observer, partitioned=False)
    observer.send(transaction="t", partition_key="a")
    assert set(observer.saw(COMMIT).rules) >= {"LOCK-11", "TXN-12"}
    assert is_allowed(observer, RECEIVE, received("m2", number=2, partition_key="a"))
    assert "LOCK-11" in observer.saw(RECEIVE, Empty()).rules


def test_a_commit_that_is_possible_is_not_refused(observer: Observer) -> None:
    enlisted(observer)
    found = observer.saw(COMMIT, LOCK_LOST)
    assert not found.possible
    assert "LOCK-11" in found.rules


@pytest.mark.parametrize("kind", KINDS)
def test_a_rollback_leaves_the_message_to_its_receiver(kind: type[Settlement]) -> None:
    observer = enlisted(observing(), kind)
    observer.has(ROLL_BACK)
    assert not is_allowed(observer, RECEIVE, again())
    found = observer.saw(PLAIN, LOCK_LOST)
    assert "LOCK-12" in found.rules
    assert not found.possible
    assert "LOCK-12" in observer.saw(PLAIN).rules


def test_rollback_counts_no_delivery(observer: Observer) -> None:
    enlisted(observer)
    observer.has(ROLL_BACK)
    observer.has(Abandon(queue="q", lock_token="l"))
    assert not is_allowed(observer, RECEIVE, again(delivery_count=3))
    assert is_allowed(observer, RECEIVE, again(delivery_count=2))


def test_after_it_the_lock_ends_when_it_would_have(observer: Observer) -> None:
    enlisted(observer)
    observer.has(ROLL_BACK)
    passes(observer, 59)
    assert not is_allowed(observer, RECEIVE, again())
    passes(observer, 2)
    assert observer.saw(RECEIVE, Empty()).possible == ()
    assert is_allowed(observer, RECEIVE, again())


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
    observer = enlisted(observing({"LOCK-IN-TRANSACTION": reading}))
    passes(observer, 61)
    assert is_allowed(observer, RECEIVE, again()) is may_come
    assert is_allowed(observer, RECEIVE, Empty()) is may_stay
    assert is_allowed(observer, COMMIT, DONE) is may_commit
    assert is_allowed(observer, COMMIT, LOCK_LOST) is (reading != "lasts")


def test_commit_does_not_settle_a_message_given_to_another_receiver(observer: Observer) -> None:
    enlisted(observer)
    observer.send(transaction="t", partition=1, partition_key="a")
    passes(observer, 61)
    observer.has(RECEIVE, again(), connection="c2")
    found = observer.saw(COMMIT)
    assert not found.possible
    assert found.rules[0] == "LOCK-13"
    assert observer.saw(COMMIT, LOCK_LOST).rules == ("LOCK-13",)
    assert is_allowed(observer, Complete(queue="q", lock_token="n"), DONE)
    assert not is_allowed(observer, RECEIVE, received("m2", 1))


def test_a_refused_commit_gives_back_what_was_kept_too_long(observer: Observer) -> None:
    enlisted(observer)
    passes(observer, 61)
    observer.has(COMMIT, LOCK_LOST)
    passes(observer, 1)
    assert is_allowed(observer, RECEIVE, again())
    assert not is_allowed(observer, PLAIN, DONE)


@pytest.mark.parametrize(
    ("reading", "taken", "refused"),
    [("either", True, True), ("at-once", False, True), ("at-commit", True, False)],
)
@pytest.mark.parametrize("kind", KINDS)
def test_with_a_lost_lock_it_is_refused_now_or_by_the_commit(
    reading: str, taken: bool, refused: bool, kind: type[Settlement]
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
    reading: str, open_: bool, kind: type[Settlement]
) -> None:
    observer = observing({"SETTLEMENT-REFUSAL": reading}, slack=2 * SECOND)
    locked(observer, partitioned=False)
    observer.has(BEGIN)
    passes(observer, 59)
    observer.has(within(kind))
    later = Send(queue="q", message=Message(body="x"), transaction="t")
    for each in (later, ROLL_BACK):
        assert is_allowed(observer, each, UNKNOWN) is open_
        assert is_allowed(observer, each, DONE)
    assert is_allowed(observer, COMMIT, DONE)
    assert is_allowed(observer, COMMIT, LOCK_LOST)


def test_a_dead_letter_is_not_dead_lettered_in_a_transaction_either(observer: Observer) -> None:
    locked(observer)
    observer.has(DeadLetter(queue="q", lock_token="l"))
    observer.has(Receive(queue=GRAVE), received("m1", 1, lock_token="d"))
    observer.has(BEGIN)
    again_dead = within(DeadLetter, "d", GRAVE)
    assert "DLQ-10" in observer.saw(again_dead, INVALID).rules
    observer.has(again_dead)
    assert not observer.saw(COMMIT).possible
    observer.has(COMMIT, INVALID)
    assert is_allowed(observer, Complete(queue=GRAVE, lock_token="d"), DONE)


def test_dead_letters_can_be_settled_in_a_transaction(observer: Observer) -> None:
    locked(observer)
    observer.has(DeadLetter(queue="q", lock_token="l"))
    observer.has(Receive(queue=GRAVE), received("m1", 1, lock_token="d"))
    observer.has(BEGIN)
    observer.has(within(Complete, "d", GRAVE))
    observer.has(COMMIT)
    passes(observer, 61)
    assert not is_allowed(observer, Receive(queue=GRAVE), again())


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
        observer, Send(queue="q", message=Message(body="x"), transaction="t"), INVALID
    )
    assert is_allowed(observer, Send(queue="q", message=Message(body="x"), transaction="t"), DONE)
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
    observer.has(CreateQueue(queue="p"))
    observer.send(partition=1, partition_key="a")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", partition_key="a"))
    observer.has(BEGIN)
    observer.has(within())
    keyed = Message(body="x", partition_key="a")
    for queue, key, refused in (("q", "a", False), ("q", "b", True), ("p", "a", True)):
        message = Message(body="x", partition_key=key)
        command = Send(queue=queue, message=message, transaction="t")
        assert is_allowed(observer, command, INVALID) is refused
        assert is_allowed(observer, command, DONE)
    later = Schedule(queue="p", message=keyed, delay=1, transaction="t")
    assert is_allowed(observer, later, INVALID)
    assert is_allowed(observer, later, Scheduled(sequence_number=7))


def test_a_second_entity_is_open(observer: Observer) -> None:
    for reading, refused in (("either", True), ("accepted", False)):
        observer = locked(observing({"TXN-ENTITIES": reading}), partitioned=False)
        observer.has(CreateQueue(queue="p", partitioned=False))
        observer.has(BEGIN)
        observer.has(Send(queue="p", message=Message(body="x"), transaction="t"))
        assert is_allowed(observer, within(), INVALID) is refused
        assert is_allowed(observer, within(), DONE)


def test_settling_twice_is_open(observer: Observer) -> None:
    enlisted(observer)
    assert is_allowed(observer, PLAIN, LOCK_LOST)
    assert is_allowed(observer, within(Abandon), INVALID)
    observer.has(within(Abandon))
    assert is_allowed(observer, PLAIN, LOCK_LOST)
    observer.has(PLAIN)
    assert is_allowed(observer, COMMIT, DONE)
    observer.has(COMMIT, LOCK_LOST)
    passes(observer, 61)
    assert not is_allowed(observer, RECEIVE, again())


def test_only_the_same_message_is_in_doubt_then(observer: Observer) -> None:
    observer.queue(partitioned=False)
    for token in "ln":
        observer.send()
        observer.has(
            RECEIVE, received(f"m{observer.bodies}", number=observer.bodies, lock_token=token)
        )
    observer.has(BEGIN)
    observer.has(within(token="l"))
    observer.has(within(token="n"))
    observer.has(PLAIN)
    observer.has(COMMIT)
    passes(observer, 61)
    assert not is_allowed(observer, RECEIVE, received("m2", number=2))


def test_settling_after_the_transaction_was_given_up_is_open(observer: Observer) -> None:
    enlisted(observer)
    observer.has(COMMIT, LOST)
    assert is_allowed(observer, PLAIN, LOCK_LOST)
    observer.has(COMMIT, UNKNOWN)
    assert is_allowed(observer, PLAIN, LOCK_LOST)
    observer.has(PLAIN)


@pytest.mark.parametrize("kind", KINDS)
def test_a_commit_without_answer_may_settle(kind: type[Settlement]) -> None:
    observer = enlisted(observing(), kind)
    observer.has(COMMIT, LOST)
    passes(observer, 61)
    assert is_allowed(observer, RECEIVE, again())
    assert is_allowed(observer, RECEIVE, Empty())
    assert is_allowed(observer, Receive(queue=GRAVE), again()) is (kind is DeadLetter)


def test_a_settlement_without_answer_may_be_part_of_it(observer: Observer) -> None:
    locked(observer)
    observer.has(BEGIN)
    observer.has(within(), LOST)
    observer.has(COMMIT)
    passes(observer, 61)
    assert is_allowed(observer, RECEIVE, again())
    assert is_allowed(observer, RECEIVE, Empty())


def test_one_outside_of_the_transaction_without_answer_leaves_it_in_doubt(
    observer: Observer,
) -> None:
    enlisted(observer)
    observer.has(PLAIN, LOST)
    assert is_allowed(observer, COMMIT, DONE)
    assert is_allowed(observer, COMMIT, LOCK_LOST)


def test_one_with_a_lost_lock_and_without_answer_changes_nothing(observer: Observer) -> None:
    locked(observer)
    observer.has(BEGIN)
    passes(observer, 61)
    observer.has(RECEIVE, again())
    observer.has(within(), LOST)
    assert not is_allowed(observer, RECEIVE, again("o"))


def test_a_lock_is_renewed_while_a_settlement_waits(observer: Observer) -> None:
    enlisted(observer)
    renew = RenewLock(queue="q", lock_token="l")
    assert is_allowed(observer, renew, INVALID)
    passes(observer, 40)
    observer.has(renew, Renewed(locked_until=100 * SECOND))
    passes(observer, 40)
    assert not is_allowed(observer, RECEIVE, again())
    observer.has(ROLL_BACK)
    assert not is_allowed(observer, RECEIVE, again())
    passes(observer, 21)
    assert is_allowed(observer, RECEIVE, again())


def test_a_deleted_queue_leaves_its_commit_open(observer: Observer) -> None:
    enlisted(observer)
    observer.has(DeleteQueue(queue="q"))
    assert is_allowed(observer, COMMIT, LOCK_LOST)
    assert is_allowed(observer, ROLL_BACK, DONE)
    observer.has(COMMIT)
    assert observer.saw(RECEIVE, UNKNOWN).rules[0] == "MGMT-15"


@pytest.mark.parametrize("received_again", [False, True])
def test_queue_that_was_created_again_leaves_its_commit_open(
    observer: Observer, received_again: bool
) -> None:
    """Found by exploring transactions across entities: nothing says what such a commit does."""
    enlisted(observer)
    observer.has(DeleteQueue(queue="q"))
    observer.has(CreateQueue(queue="q"))
    if received_again:
        observer.has(Send(queue="q", message=Message(body="m2")))
        observer.has(RECEIVE, received("m2", 1, lock_token="l"))
    assert is_allowed(observer, COMMIT, DONE)
    assert is_allowed(observer, COMMIT, LOCK_LOST)
    observer.has(COMMIT)
    assert is_allowed(observer, PLAIN, DONE) is received_again


def test_a_deleted_queue_is_not_asked_by_a_commit_without_answer(observer: Observer) -> None:
    enlisted(observer)
    observer.has(DeleteQueue(queue="q"))
    observer.has(COMMIT, LOST)
    observer.has(RECEIVE, UNKNOWN)


def test_an_outage_may_keep_the_commit_from_settling(observer: Observer) -> None:
    enlisted(observer)
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert is_allowed(observer, COMMIT, Refused(error=Error.UNAVAILABLE))
    assert is_allowed(observer, COMMIT, DONE)


def in_session(observer: Observer) -> Observer:
    observer.queue(requires_session=True)
    observer.send(partition=1, session_id="s")
    observer.has(AcceptSession(queue="q", session_id="s"))
    given = received("m1", 1, lock_token="l", session_id="s", delivery_count=1)
    observer.has(Receive(queue="q", session_id="s"), given)
    observer.has(BEGIN)
    observer.has(within())
    return observer


def test_a_session_that_is_closed_leaves_open_what_is_settled_in_it(observer: Observer) -> None:
    in_session(observer)
    observer.has(CloseSession(queue="q", session_id="s"))
    observer.has(AcceptSession(queue="q", session_id="s"), connection="c2")
    ask = Receive(queue="q", session_id="s")
    assert is_allowed(observer, ask, Empty(), connection="c2")
    assert is_allowed(observer, ask, again(session_id="s"), connection="c2")
    assert is_allowed(observer, COMMIT, DONE)
    observer.has(ROLL_BACK)
    passes(observer, 1)
    assert not is_allowed(observer, ask, Empty(), connection="c2")
    assert is_allowed(observer, ask, again(session_id="s"), connection="c2")


def test_a_session_that_is_renewed_keeps_what_is_settled_in_it(observer: Observer) -> None:
    in_session(observer)
    passes(observer, 40)
    observer.has(RenewSessionLock(queue="q", session_id="s"), Renewed(locked_until=100 * SECOND))
    passes(observer, 40)
    observer.has(ROLL_BACK)
    assert "SESS-14" in observer.saw(PLAIN).rules


def test_a_queue_that_is_full_may_have_room_by_a_settlement(observer: Observer) -> None:
    """What is settled makes room; whether for what is sent beside it is not said."""
    large = 300 * 1024 * 1024
    observer.queue(partitioned=False, max_size=1)
    for _ in range(3):
        assert observer.send(size=large).possible
    observer.has(RECEIVE, received("m1", lock_token="l", locked_until=60 * SECOND))
    observer.has(BEGIN)
    observer.has(within())
    beside = Send(queue="q", message=Message(body="x", size=large), transaction="t")
    for outcome in (DONE, Refused(error=Error.QUOTA_EXCEEDED)):
        assert is_allowed(observer, beside, outcome), outcome


def test_a_refused_settlement_changes_nothing(observer: Observer) -> None:
    locked(observer)
    observer.has(BEGIN)
    passes(observer, 61)
    (namespace,) = observer.possible
    refused = [each for each in step(namespace, within()) if isinstance(each.outcome, Refused)]
    assert refused
    for each in refused:
        assert {*each.next.queues["q"].messages} == {*namespace.queues["q"].messages}


def test_possibly_abandoned_message_may_be_redelivered_after_a_rollback(observer: Observer) -> None:
    """The abandon that nobody answered may have taken effect before."""
    enlisted(observer).has(Abandon(queue="q", lock_token="l"), LOST)
    observer.has(ROLL_BACK)
    assert is_allowed(observer, RECEIVE, again(delivery_count=2))
    assert is_allowed(observer, RECEIVE, Empty())
    assert is_allowed(observer, PLAIN, DONE)
