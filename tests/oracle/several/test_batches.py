"""Several messages in one request: taken whole or not at all, and given one by one."""

import pytest
from observing import (
    DONE,
    GONE,
    INVALID,
    LOST,
    MISSING,
    OTHER,
    SECOND,
    Observer,
    down,
    is_allowed,
    observing,
    passes,
    received,
    refuses,
    shows,
    up,
    update,
    view,
)

from busproof.vocabulary.commands import (
    AcceptSession,
    BeginTransaction,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    Peek,
    Receive,
    ReceiveBatch,
    RenewLock,
    RollBackTransaction,
    SendBatch,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import (
    Empty,
    Peeked,
    ReceivedSeveral,
    Refused,
    Renewed,
)
from busproof.vocabulary.values import Error, ReceiveMode, Tier

BEGIN = BeginTransaction(transaction="t")
COMMIT = CommitTransaction(transaction="t")
ROLL_BACK = RollBackTransaction(transaction="t")
RECEIVE = Receive(queue="q")
FULL = Refused(error=Error.QUOTA_EXCEEDED)
TOO_LARGE = Refused(error=Error.MESSAGE_TOO_LARGE)
KB = 1024
MB = 1024 * KB


def batch(*messages: Message, transaction: str | None = None, queue: str = "q") -> SendBatch:
    return SendBatch(queue=queue, messages=messages, transaction=transaction)


def alike(number: int, first: int = 1, **properties: object) -> tuple[Message, ...]:
    return tuple(Message(body=f"b{each}", **properties) for each in range(first, first + number))


def several(*views: object) -> ReceivedSeveral:
    return ReceivedSeveral(messages=tuple(each.message for each in views))


def ask(count: int = 4, **options: object) -> ReceiveBatch:
    return ReceiveBatch(queue="q", count=count, **options)


def keyed(number: int, place: int = 1, **seen: object) -> object:
    """The message with this number of a batch with the key a, as it is given."""
    return received(f"b{number}", place, number, partition_key="a", **seen)


def test_all_of_a_batch_arrives(observer: Observer) -> None:
    observer.queue()
    observer.has(batch(*alike(3, partition_key="a")), DONE, partition=1)
    for number in (1, 2, 3):
        found = observer.saw(RECEIVE, keyed(number, lock_token=f"l{number}"))
        assert {"BATCH-01"} <= set(found.rules)
        assert ("BATCH-03" in found.rules) is (number > 1)
    observer.has(RECEIVE, Empty())


def test_nothing_of_it_is_lost(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.has(batch(*alike(3)))
    for number in (1, 2):
        observer.has(RECEIVE, received(f"b{number}", number=number, lock_token=f"l{number}"))
    found = observer.saw(RECEIVE, Empty())
    assert not found.possible
    assert "BATCH-01" in found.rules


def test_batch_keeps_its_order(observer: Observer) -> None:
    observer.queue()
    observer.has(batch(*alike(3, partition_key="a")), DONE, partition=1)
    found = observer.saw(RECEIVE, keyed(2))
    assert not found.possible
    assert {"KEY-17", "BATCH-03"} <= set(found.rules)


def test_batch_goes_to_the_partition_of_its_key(observer: Observer) -> None:
    observer.queue()
    assert observer.send(partition=1, partition_key="a").possible
    two = batch(*alike(2, partition_key="a"))
    found = observer.saw(two, DONE, partition=2)
    assert not found.possible
    assert "BATCH-04" in found.rules
    assert "BATCH-04" in observer.saw(two, DONE, partition=1).rules
    found = observer.saw(RECEIVE, keyed(1, place=2))
    assert not found.possible
    assert "BATCH-04" in found.rules


def test_without_keys_it_may_go_anywhere_and_takes_no_turn() -> None:
    observer = observing({"ROUND-ROBIN": "strict"})
    observer.queue()
    for partition in (0, 1, 2, 3, 0):
        assert observer.send(partition=partition).possible
    observer.has(batch(*alike(3)), DONE, partition=3)
    assert observer.send(partition=3).possible


def test_a_refused_batch_leaves_nothing(observer: Observer) -> None:
    observer.queue()
    conflict = Message(body="b2", session_id="s", partition_key="a")
    command = batch(*alike(1, session_id="s"), conflict)
    assert not is_allowed(observer, command, DONE)
    assert {"BATCH-02", "KEY-08"} <= set(observer.saw(command, INVALID).rules)
    # A bus that accepts the batch breaks first the rule about keys.
    refuses(observer, command, DONE, "KEY-08", "BATCH-02")
    for number in (1, 2):
        found = observer.saw(RECEIVE, received(f"b{number}", 1))
        assert not found.possible
        assert "BATCH-02" in found.rules
    found = observer.saw(Peek(queue="q"), Peeked(messages=(view("b1", 1),)))
    assert "BATCH-02" in found.rules


def test_a_body_that_came_before_is_not_denied_for_a_refused_batch(observer: Observer) -> None:
    observer.queue()
    observer.has(batch(*alike(1, partition_key="a")), DONE, partition=1)
    conflict = Message(body="b2", session_id="s", partition_key="a")
    observer.has(batch(*alike(1, partition_key="a"), conflict), INVALID)
    observer.has(RECEIVE, keyed(1))


def test_an_empty_batch_is_open(observer: Observer) -> None:
    observer.queue()
    assert is_allowed(observer, batch(), DONE)
    assert is_allowed(observer, batch(), OTHER)


@pytest.mark.parametrize(
    ("reading", "taken", "refused"),
    [("either", True, True), ("split", True, False), ("refused", False, True)],
)
@pytest.mark.parametrize("other", [{"partition_key": "b"}, {}])
def test_several_keys_are_open(
    reading: str, taken: bool, refused: bool, other: dict[str, str]
) -> None:
    observer = observing({"BATCH-KEYS": reading})
    observer.queue()
    command = batch(Message(body="b1", partition_key="a"), Message(body="b2", **other))
    assert is_allowed(observer, command, DONE) is taken
    assert is_allowed(observer, command, INVALID) is refused
    if taken:
        shows(observer, command, DONE, "BATCH-05")
        observer.has(RECEIVE, keyed(1, place=3))
        observer.has(RECEIVE, received("b2", 2, **other))
    else:
        shows(observer, command, INVALID, "BATCH-05", "BATCH-02")


def test_on_a_regular_queue_they_are_taken(observer: Observer) -> None:
    observer.queue(partitioned=False)
    command = batch(Message(body="b1", partition_key="a"), Message(body="b2", partition_key="b"))
    assert not is_allowed(observer, command, INVALID)
    shows(observer, command, DONE, "BATCH-06")


@pytest.mark.parametrize("tier", [Tier.STANDARD, Tier.PREMIUM])
def test_a_batch_is_no_larger_than_a_message(tier: Tier) -> None:
    observer = observing(tier=tier, limits=True)
    observer.queue(partitioned=False)
    command = batch(*alike(3, size=500 * KB))
    assert is_allowed(observer, command, TOO_LARGE)
    assert is_allowed(observer, command, DONE) is (tier is Tier.PREMIUM)
    if tier is Tier.STANDARD:
        assert "BATCH-07" in observer.saw(batch(*alike(3, size=100 * KB)), DONE).rules
        shows(observer, command, TOO_LARGE, "BATCH-07", "BATCH-02")
    assert not is_allowed(observer, batch(*alike(3, first=7, size=10 * KB)), TOO_LARGE)


def test_large_batch_is_open_without_limits(observer: Observer) -> None:
    observer.queue(partitioned=False)
    command = batch(*alike(3, size=100 * KB))
    assert is_allowed(observer, command, TOO_LARGE) == is_allowed(observer, command, DONE)


def test_a_batch_without_room_is_refused_whole(observer: Observer) -> None:
    observer.queue(partitioned=False, max_size=1)
    command = batch(*alike(5, size=300 * MB, stands_in=True))
    found = observer.saw(command, DONE)
    assert not found.possible
    assert "BATCH-10" in found.rules
    shows(observer, command, FULL, "BATCH-10", "BATCH-02")
    observer.has(RECEIVE, Empty())


def test_while_its_partition_is_down_it_is_refused(observer: Observer) -> None:
    observer.queue()
    observer.send(partition=1, partition_key="a")
    observer.has(down(1))
    command = batch(*alike(2, partition_key="a"))
    found = observer.saw(command, DONE)
    assert not found.possible
    assert "BATCH-11" in found.rules
    shows(observer, command, GONE, "BATCH-11", "BATCH-02")
    observer.has(up(1))
    assert not is_allowed(observer, RECEIVE, keyed(1))


def test_without_keys_it_goes_round_an_outage(observer: Observer) -> None:
    observer.queue()
    observer.has(down(1))
    assert not is_allowed(observer, batch(*alike(2)), DONE, partition=1)
    assert is_allowed(observer, batch(*alike(2)), DONE, partition=2)


@pytest.mark.parametrize("end", [COMMIT, ROLL_BACK])
def test_a_batch_is_part_of_its_transaction(end: object) -> None:
    observer = observing()
    observer.queue()
    observer.has(BEGIN)
    command = batch(*alike(2, partition_key="a"), transaction="t")
    shows(observer, command, DONE, "BATCH-08")
    found = observer.saw(RECEIVE, keyed(1))
    assert not found.possible
    assert "BATCH-08" in found.rules
    observer.has(end)
    assert is_allowed(observer, RECEIVE, keyed(1)) is (end is COMMIT)


def test_in_a_transaction_it_is_held_to_its_key(observer: Observer) -> None:
    observer.queue()
    observer.has(BEGIN)
    command = batch(*alike(2), transaction="t")
    assert not is_allowed(observer, command, DONE)
    shows(observer, command, INVALID, "TXN-03", "BATCH-02")
    assert is_allowed(observer, COMMIT, INVALID)
    assert is_allowed(observer, COMMIT, DONE)


def test_in_no_transaction_it_is_refused(observer: Observer) -> None:
    observer.queue()
    command = batch(*alike(2, partition_key="a"), transaction="t")
    assert not is_allowed(observer, command, DONE)
    observer.has(command, MISSING)


def test_a_copy_is_dropped_alone(observer: Observer) -> None:
    observer.queue(duplicate_detection=True)
    properties = {"message_id": "x", "partition_key": "a"}
    other = Message(body="b3", message_id="y", partition_key="a")
    shows(observer, batch(*alike(2, **properties), other), DONE, "BATCH-09")
    observer.has(RECEIVE, received("b1", 1, 1, **properties))
    found = observer.saw(RECEIVE, received("b2", 1, 2, **properties))
    assert not found.possible
    assert "BATCH-09" in found.rules
    observer.has(RECEIVE, received("b3", 1, 2, message_id="y", partition_key="a"))


def test_a_batch_without_answer_may_be_there(observer: Observer) -> None:
    observer.queue()
    observer.has(batch(*alike(2, partition_key="a")), LOST)
    assert is_allowed(observer, RECEIVE, Empty())
    observer.has(RECEIVE, keyed(2))


def test_a_topic_copies_a_batch(observer: Observer) -> None:
    observer.has(CreateTopic(topic="t"))
    observer.has(CreateSubscription(topic="t", subscription="s"))
    observer.has(batch(*alike(2, partition_key="a"), queue="t"), DONE, partition=1)
    path = "t/subscriptions/s"
    assert "BATCH-01" in observer.saw(Receive(queue=path), keyed(1)).rules
    assert is_allowed(observer, ReceiveBatch(queue="t", count=2), Empty())
    assert is_allowed(observer, batch(*alike(1), queue=path), INVALID)


def test_a_forwarding_queue_sends_a_batch_on(observer: Observer) -> None:
    observer.has(CreateQueue(queue="d", partitioned=False))
    observer.queue(partitioned=False, forward_to="d")
    observer.has(batch(*alike(2)))
    observer.has(Receive(queue="d"), received("b1"))
    assert is_allowed(observer, ask(), Empty())


def sent(observer: Observer, number: int = 5, **settings: object) -> Observer:
    observer.queue(**settings)
    observer.has(batch(*alike(number, partition_key="a")), DONE, partition=1)
    return observer


def test_up_to_as_many_as_are_asked_for_are_given(observer: Observer) -> None:
    sent(observer)
    for number in (1, 2, 3):
        views = [keyed(each, lock_token=f"l{each}") for each in range(1, number + 1)]
        assert is_allowed(observer, ask(3), several(*views))
    four = several(*(keyed(each, lock_token=f"l{each}") for each in range(1, 5)))
    assert observer.saw(ask(3), four).rules[0] == "BATCH-12"
    assert observer.saw(ask(3), ReceivedSeveral()).rules[0] == "BATCH-12"
    twice = several(keyed(1, lock_token="l"), keyed(1, lock_token="n"))
    assert observer.saw(ask(3), twice).rules[0] == "BATCH-12"
    assert not observer.saw(ask(3), Empty()).possible
    right = several(keyed(1, lock_token="l1"), keyed(2, lock_token="l2"))
    shows(observer, ask(3), right, "BATCH-12", "BATCH-13", "BATCH-14", "BATCH-01")


def test_messages_received_together_are_in_order_without_gaps(observer: Observer) -> None:
    sent(observer)
    for numbers in ((2, 1), (1, 3)):
        found = observer.saw(ask(), several(*(keyed(n, lock_token=f"l{n}") for n in numbers)))
        assert not found.possible
        assert {"KEY-17", "BATCH-13"} <= set(found.rules)


def test_each_has_its_own_lock(observer: Observer) -> None:
    sent(observer)
    alike_locked = several(keyed(1, lock_token="l"), keyed(2, lock_token="l"))
    assert observer.saw(ask(), alike_locked).rules[0] == "BATCH-14"
    until = 60 * SECOND
    first = keyed(1, lock_token="l", locked_until=until)
    observer.has(ask(), several(first, keyed(2, lock_token="n", locked_until=until)))
    observer.has(Complete(queue="q", lock_token="l"))
    found = observer.saw(Complete(queue="q", lock_token="n"), Refused(error=Error.LOCK_LOST))
    assert not found.possible
    assert "BATCH-14" in found.rules
    assert not is_allowed(observer, RECEIVE, keyed(2, lock_token="o"))
    passes(observer, 61)
    observer.has(RECEIVE, keyed(2, lock_token="o"))
    assert not is_allowed(observer, RECEIVE, keyed(1, lock_token="p"))


def test_answer_of_another_kind_is_not_allowed_for_a_receive(observer: Observer) -> None:
    sent(observer)
    assert not observer.saw(ask(), DONE).possible


def test_messages_from_before_forwarding_may_be_received_together(observer: Observer) -> None:
    observer.has(CreateQueue(queue="end"))
    sent(observer, 2)
    observer.has(update(forward_to="end"))
    assert is_allowed(observer, ask(), Empty())
    assert is_allowed(observer, ask(), INVALID)
    observer.has(ask(), several(keyed(1, lock_token="l1"), keyed(2, lock_token="l2")))


def test_messages_received_and_deleted_have_no_locks(observer: Observer) -> None:
    sent(observer)
    delete = ask(mode=ReceiveMode.RECEIVE_AND_DELETE)
    found = observer.saw(delete, several(keyed(1), keyed(2)))
    assert "BATCH-13" in found.rules
    assert "BATCH-14" not in found.rules
    passes(observer, 61)
    assert not is_allowed(observer, RECEIVE, keyed(1))


def test_session_messages_go_only_to_the_holder(observer: Observer) -> None:
    observer.queue(requires_session=True)
    observer.has(batch(*alike(2, session_id="s")), DONE, partition=1)
    of_session = ask(session_id="s")
    both = several(*(received(f"b{n}", 1, n, session_id="s", lock_token=f"l{n}") for n in (1, 2)))
    assert not is_allowed(observer, of_session, both)
    assert is_allowed(observer, of_session, Refused(error=Error.SESSION_LOCK_LOST))
    observer.has(AcceptSession(queue="q", session_id="s"))
    shows(observer, of_session, both, "BATCH-13", "BATCH-14")


def test_a_receive_of_several_without_answer_may_have_taken_as_many(observer: Observer) -> None:
    sent(observer, 2)
    observer.has(ask(2), LOST)
    assert is_allowed(observer, RECEIVE, Empty())


def test_settlement_elsewhere_breaks_no_batch_rule(observer: Observer) -> None:
    observer.queue(partitioned=False)
    observer.has(batch(*alike(1)))
    found = observer.saw(RenewLock(queue="q", lock_token="none"), Renewed())
    assert not any(rule.startswith("BATCH") for rule in found.rules)
