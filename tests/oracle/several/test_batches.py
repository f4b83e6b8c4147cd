"""Several messages in one request: taken whole or not at all, and given one by one."""

import pytest
from telling import (
    DONE,
    GONE,
    INVALID,
    LOST,
    MISSING,
    OTHER,
    SECOND,
    Told,
    down,
    is_allowed,
    passes,
    received,
    shows,
    telling,
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


def test_all_of_a_batch_arrives(told: Told) -> None:
    told.queue()
    told.has(batch(*alike(3, partition_key="a")), DONE, partition=1)
    for number in (1, 2, 3):
        found = told.saw(RECEIVE, keyed(number, lock_token=f"l{number}"))
        assert {"BATCH-01"} <= set(found.rules)
        assert ("BATCH-03" in found.rules) is (number > 1)
    told.has(RECEIVE, Empty())


def test_nothing_of_it_is_lost(told: Told) -> None:
    told.queue(partitioned=False)
    told.has(batch(*alike(3)))
    for number in (1, 2):
        told.has(RECEIVE, received(f"b{number}", number=number, lock_token=f"l{number}"))
    found = told.saw(RECEIVE, Empty())
    assert not found.possible
    assert "BATCH-01" in found.rules


def test_batch_keeps_its_order(told: Told) -> None:
    told.queue()
    told.has(batch(*alike(3, partition_key="a")), DONE, partition=1)
    found = told.saw(RECEIVE, keyed(2))
    assert not found.possible
    assert {"KEY-17", "BATCH-03"} <= set(found.rules)


def test_batch_goes_to_the_partition_of_its_key(told: Told) -> None:
    told.queue()
    assert told.send(partition=1, partition_key="a").possible
    two = batch(*alike(2, partition_key="a"))
    found = told.saw(two, DONE, partition=2)
    assert not found.possible
    assert "BATCH-04" in found.rules
    assert "BATCH-04" in told.saw(two, DONE, partition=1).rules
    found = told.saw(RECEIVE, keyed(1, place=2))
    assert not found.possible
    assert "BATCH-04" in found.rules


def test_without_keys_it_may_go_anywhere_and_takes_no_turn() -> None:
    told = telling({"ROUND-ROBIN": "strict"})
    told.queue()
    for partition in (0, 1, 2, 3, 0):
        assert told.send(partition=partition).possible
    told.has(batch(*alike(3)), DONE, partition=3)
    assert told.send(partition=3).possible


def test_a_refused_batch_leaves_nothing(told: Told) -> None:
    told.queue()
    conflict = Message(body="b2", session_id="s", partition_key="a")
    command = batch(*alike(1, session_id="s"), conflict)
    assert not is_allowed(told, command, DONE)
    assert {"BATCH-02", "KEY-08"} <= set(told.saw(command, INVALID).rules)
    for number in (1, 2):
        found = told.saw(RECEIVE, received(f"b{number}", 1))
        assert not found.possible
        assert "BATCH-02" in found.rules
    found = told.saw(Peek(queue="q"), Peeked(messages=(view("b1", 1),)))
    assert "BATCH-02" in found.rules


def test_a_body_that_came_before_is_not_denied_for_a_refused_batch(told: Told) -> None:
    told.queue()
    told.has(batch(*alike(1, partition_key="a")), DONE, partition=1)
    conflict = Message(body="b2", session_id="s", partition_key="a")
    told.has(batch(*alike(1, partition_key="a"), conflict), INVALID)
    told.has(RECEIVE, keyed(1))


def test_an_empty_batch_is_open(told: Told) -> None:
    told.queue()
    assert is_allowed(told, batch(), DONE)
    assert is_allowed(told, batch(), OTHER)


@pytest.mark.parametrize(
    ("reading", "taken", "refused"),
    [("either", True, True), ("split", True, False), ("refused", False, True)],
)
@pytest.mark.parametrize("other", [{"partition_key": "b"}, {}])
def test_several_keys_are_open(
    reading: str, taken: bool, refused: bool, other: dict[str, str]
) -> None:
    told = telling({"BATCH-KEYS": reading})
    told.queue()
    command = batch(Message(body="b1", partition_key="a"), Message(body="b2", **other))
    assert is_allowed(told, command, DONE) is taken
    assert is_allowed(told, command, INVALID) is refused
    if taken:
        shows(told, command, DONE, "BATCH-05")
        told.has(RECEIVE, keyed(1, place=3))
        told.has(RECEIVE, received("b2", 2, **other))
    else:
        shows(told, command, INVALID, "BATCH-05", "BATCH-02")


def test_on_a_regular_queue_they_are_taken(told: Told) -> None:
    told.queue(partitioned=False)
    command = batch(Message(body="b1", partition_key="a"), Message(body="b2", partition_key="b"))
    assert not is_allowed(told, command, INVALID)
    shows(told, command, DONE, "BATCH-06")


@pytest.mark.parametrize("tier", [Tier.STANDARD, Tier.PREMIUM])
def test_a_batch_is_no_larger_than_a_message(tier: Tier) -> None:
    told = telling(tier=tier, limits=True)
    told.queue(partitioned=False)
    command = batch(*alike(3, size=500 * KB))
    assert is_allowed(told, command, TOO_LARGE)
    assert is_allowed(told, command, DONE) is (tier is Tier.PREMIUM)
    if tier is Tier.STANDARD:
        assert "BATCH-07" in told.saw(batch(*alike(3, size=100 * KB)), DONE).rules
        shows(told, command, TOO_LARGE, "BATCH-07", "BATCH-02")
    assert not is_allowed(told, batch(*alike(3, first=7, size=10 * KB)), TOO_LARGE)


def test_large_batch_is_open_without_limits(told: Told) -> None:
    told.queue(partitioned=False)
    command = batch(*alike(3, size=100 * KB))
    assert is_allowed(told, command, TOO_LARGE) == is_allowed(told, command, DONE)


def test_a_batch_without_room_is_refused_whole(told: Told) -> None:
    told.queue(partitioned=False, max_size=1)
    command = batch(*alike(5, size=300 * MB, stands_in=True))
    found = told.saw(command, DONE)
    assert not found.possible
    assert "BATCH-10" in found.rules
    shows(told, command, FULL, "BATCH-10", "BATCH-02")
    told.has(RECEIVE, Empty())


def test_while_its_partition_is_down_it_is_refused(told: Told) -> None:
    told.queue()
    told.send(partition=1, partition_key="a")
    told.has(down(1))
    command = batch(*alike(2, partition_key="a"))
    found = told.saw(command, DONE)
    assert not found.possible
    assert "BATCH-11" in found.rules
    shows(told, command, GONE, "BATCH-11", "BATCH-02")
    told.has(up(1))
    assert not is_allowed(told, RECEIVE, keyed(1))


def test_without_keys_it_goes_round_an_outage(told: Told) -> None:
    told.queue()
    told.has(down(1))
    assert not is_allowed(told, batch(*alike(2)), DONE, partition=1)
    assert is_allowed(told, batch(*alike(2)), DONE, partition=2)


@pytest.mark.parametrize("end", [COMMIT, ROLL_BACK])
def test_a_batch_is_part_of_its_transaction(end: object) -> None:
    told = telling()
    told.queue()
    told.has(BEGIN)
    command = batch(*alike(2, partition_key="a"), transaction="t")
    shows(told, command, DONE, "BATCH-08")
    found = told.saw(RECEIVE, keyed(1))
    assert not found.possible
    assert "BATCH-08" in found.rules
    told.has(end)
    assert is_allowed(told, RECEIVE, keyed(1)) is (end is COMMIT)


def test_in_a_transaction_it_is_held_to_its_key(told: Told) -> None:
    told.queue()
    told.has(BEGIN)
    command = batch(*alike(2), transaction="t")
    assert not is_allowed(told, command, DONE)
    shows(told, command, INVALID, "TXN-03", "BATCH-02")
    assert is_allowed(told, COMMIT, INVALID)
    assert is_allowed(told, COMMIT, DONE)


def test_in_no_transaction_it_is_refused(told: Told) -> None:
    told.queue()
    command = batch(*alike(2, partition_key="a"), transaction="t")
    assert not is_allowed(told, command, DONE)
    told.has(command, MISSING)


def test_a_copy_is_dropped_alone(told: Told) -> None:
    told.queue(duplicate_detection=True)
    properties = {"message_id": "x", "partition_key": "a"}
    other = Message(body="b3", message_id="y", partition_key="a")
    shows(told, batch(*alike(2, **properties), other), DONE, "BATCH-09")
    told.has(RECEIVE, received("b1", 1, 1, **properties))
    found = told.saw(RECEIVE, received("b2", 1, 2, **properties))
    assert not found.possible
    assert "BATCH-09" in found.rules
    told.has(RECEIVE, received("b3", 1, 2, message_id="y", partition_key="a"))


def test_a_batch_without_answer_may_be_there(told: Told) -> None:
    told.queue()
    told.has(batch(*alike(2, partition_key="a")), LOST)
    assert is_allowed(told, RECEIVE, Empty())
    told.has(RECEIVE, keyed(2))


def test_a_topic_copies_a_batch(told: Told) -> None:
    told.has(CreateTopic(topic="t"))
    told.has(CreateSubscription(topic="t", subscription="s"))
    told.has(batch(*alike(2, partition_key="a"), queue="t"), DONE, partition=1)
    path = "t/subscriptions/s"
    assert "BATCH-01" in told.saw(Receive(queue=path), keyed(1)).rules
    assert is_allowed(told, ReceiveBatch(queue="t", count=2), Empty())
    assert is_allowed(told, batch(*alike(1), queue=path), INVALID)


def test_a_forwarding_queue_sends_a_batch_on(told: Told) -> None:
    told.has(CreateQueue(queue="d", partitioned=False))
    told.queue(partitioned=False, forward_to="d")
    told.has(batch(*alike(2)))
    told.has(Receive(queue="d"), received("b1"))
    assert is_allowed(told, ask(), Empty())


def sent(told: Told, number: int = 5, **settings: object) -> Told:
    told.queue(**settings)
    told.has(batch(*alike(number, partition_key="a")), DONE, partition=1)
    return told


def test_up_to_as_many_as_are_asked_for_are_given(told: Told) -> None:
    sent(told)
    for number in (1, 2, 3):
        views = [keyed(each, lock_token=f"l{each}") for each in range(1, number + 1)]
        assert is_allowed(told, ask(3), several(*views))
    four = several(*(keyed(each, lock_token=f"l{each}") for each in range(1, 5)))
    assert told.saw(ask(3), four).rules[0] == "BATCH-12"
    assert told.saw(ask(3), ReceivedSeveral()).rules[0] == "BATCH-12"
    twice = several(keyed(1, lock_token="l"), keyed(1, lock_token="n"))
    assert told.saw(ask(3), twice).rules[0] == "BATCH-12"
    assert not told.saw(ask(3), Empty()).possible
    right = several(keyed(1, lock_token="l1"), keyed(2, lock_token="l2"))
    shows(told, ask(3), right, "BATCH-12", "BATCH-13", "BATCH-14", "BATCH-01")


def test_messages_received_together_are_in_order_without_gaps(told: Told) -> None:
    sent(told)
    for numbers in ((2, 1), (1, 3)):
        found = told.saw(ask(), several(*(keyed(n, lock_token=f"l{n}") for n in numbers)))
        assert not found.possible
        assert {"KEY-17", "BATCH-13"} <= set(found.rules)


def test_each_has_its_own_lock(told: Told) -> None:
    sent(told)
    alike_locked = several(keyed(1, lock_token="l"), keyed(2, lock_token="l"))
    assert told.saw(ask(), alike_locked).rules[0] == "BATCH-14"
    until = 60 * SECOND
    first = keyed(1, lock_token="l", locked_until=until)
    told.has(ask(), several(first, keyed(2, lock_token="n", locked_until=until)))
    told.has(Complete(queue="q", lock_token="l"))
    found = told.saw(Complete(queue="q", lock_token="n"), Refused(error=Error.LOCK_LOST))
    assert not found.possible
    assert "BATCH-14" in found.rules
    assert not is_allowed(told, RECEIVE, keyed(2, lock_token="o"))
    passes(told, 61)
    told.has(RECEIVE, keyed(2, lock_token="o"))
    assert not is_allowed(told, RECEIVE, keyed(1, lock_token="p"))


def test_answer_of_another_kind_is_not_allowed_for_a_receive(told: Told) -> None:
    sent(told)
    assert not told.saw(ask(), DONE).possible


def test_messages_from_before_forwarding_may_be_received_together(told: Told) -> None:
    told.has(CreateQueue(queue="end"))
    sent(told, 2)
    told.has(update(forward_to="end"))
    assert is_allowed(told, ask(), Empty())
    assert is_allowed(told, ask(), INVALID)
    told.has(ask(), several(keyed(1, lock_token="l1"), keyed(2, lock_token="l2")))


def test_messages_received_and_deleted_have_no_locks(told: Told) -> None:
    sent(told)
    delete = ask(mode=ReceiveMode.RECEIVE_AND_DELETE)
    found = told.saw(delete, several(keyed(1), keyed(2)))
    assert "BATCH-13" in found.rules
    assert "BATCH-14" not in found.rules
    passes(told, 61)
    assert not is_allowed(told, RECEIVE, keyed(1))


def test_session_messages_go_only_to_the_holder(told: Told) -> None:
    told.queue(requires_session=True)
    told.has(batch(*alike(2, session_id="s")), DONE, partition=1)
    of_session = ask(session_id="s")
    both = several(*(received(f"b{n}", 1, n, session_id="s", lock_token=f"l{n}") for n in (1, 2)))
    assert not is_allowed(told, of_session, both)
    assert is_allowed(told, of_session, Refused(error=Error.SESSION_LOCK_LOST))
    told.has(AcceptSession(queue="q", session_id="s"))
    shows(told, of_session, both, "BATCH-13", "BATCH-14")


def test_a_receive_of_several_without_answer_may_have_taken_as_many(told: Told) -> None:
    sent(told, 2)
    told.has(ask(2), LOST)
    assert is_allowed(told, RECEIVE, Empty())


def test_settlement_elsewhere_breaks_no_batch_rule(told: Told) -> None:
    told.queue(partitioned=False)
    told.has(batch(*alike(1)))
    found = told.saw(RenewLock(queue="q", lock_token="none"), Renewed())
    assert not any(rule.startswith("BATCH") for rule in found.rules)
