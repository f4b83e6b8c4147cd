"""Dead letters where it is not known what happened: lost answers, caches, sessions, outages."""

import pytest
from burying import (
    ABANDON,
    BURY,
    DEAD,
    FROM_DEAD,
    MINUTE,
    RECEIVE,
    TOO_OFTEN,
    after,
    buried,
    given,
    locked,
)
from telling import LOST, OTHER, Told, is_allowed, received, telling, view

from busproof.vocabulary.commands import (
    AcceptSession,
    BringPartitionUp,
    CloseSession,
    DeadLetter,
    Peek,
    Receive,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Peeked
from busproof.vocabulary.values import ReceiveMode


def test_a_dead_lettering_that_was_never_answered_may_have_happened_or_not() -> None:
    letter = received("m1", 1, dead_letter_reason="bad")
    for told in (locked(telling()), locked(telling())):
        told.has(BURY, LOST)
        told.has(DeadLetter(queue="q", lock_token="l", reason="worse"), LOST)
        told.has(DeadLetter(queue="q", lock_token="none"), LOST)
        told.has(FROM_DEAD, Empty())
        told.has(Peek(queue="q"), Peeked(messages=(view("m1", 1),)))
    told.has(FROM_DEAD, letter)
    assert not given(told)
    other = locked(telling())
    other.has(BURY, LOST)
    after(other, MINUTE + 1)
    assert given(other, 2, "n")
    assert other.saw(FROM_DEAD, letter).possible == ()


def test_hidden_deliveries_may_count_and_may_be_the_last() -> None:
    told = telling(partitions=2)
    told.queue(max_delivery_count=1)
    told.send(partition=1)
    told.send(partition=0)
    delete = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
    told.has(delete, received("m2", 0))
    assert told.saw(RECEIVE, Empty()).possible == ()
    after(told, MINUTE + 1)
    told.has(RECEIVE, Empty())
    told.has(RECEIVE, Empty())
    assert given(told, 2)


def test_session_message_possibly_spent_in_a_cache_need_not_come_first() -> None:
    told = telling(partitions=2)
    told.queue(max_delivery_count=1, requires_session=True, lock_duration=5 * MINUTE)
    for _ in range(3):
        told.send(partition=1, session_id="a")
    told.has(AcceptSession(queue="q", session_id="a"))
    in_session = Receive(queue="q", session_id="a", mode=ReceiveMode.RECEIVE_AND_DELETE)
    told.has(in_session, received("m1", 1, 1, session_id="a"))
    assert told.saw(in_session, received("m3", 1, 3, session_id="a")).rules[0] == "KEY-06"
    after(told, 5 * MINUTE + 1)
    told.has(AcceptSession(queue="q", session_id="a"))
    told.has(in_session, received("m3", 1, 3, session_id="a"))


def test_without_time_left_to_lock_anything_may_be_spent() -> None:
    told = telling(slack=2 * MINUTE)
    told.queue(max_delivery_count=1)
    told.send(partition=1)
    told.send(partition=2)
    told.has(RECEIVE, received("m1", 1, lock_token="l"))
    told.has(RECEIVE, Empty())


def test_only_what_a_receiver_gave_back_counts_where_that_is_read() -> None:
    told = telling({"CACHE-DELIVERY-COUNT": "stays"})
    told.queue(max_delivery_count=1)
    told.send(partition=1)
    told.send(partition=2)
    told.has(RECEIVE, received("m2", 2, lock_token="l", delivery_count=1))
    after(told, 2 * MINUTE)
    assert told.saw(RECEIVE, Empty()).possible == ()
    assert not given(told, 2)
    assert given(told, 1)


@pytest.mark.parametrize(("reading", "most"), [("either", 4), ("stays", 2)])
def test_a_lock_that_may_have_ended_may_have_been_followed_by_one_in_a_cache(
    reading: str, most: int
) -> None:
    """By slack all are over; each receive may have filled a cache."""
    told = telling({"CACHE-DELIVERY-COUNT": reading}, slack=2 * MINUTE)
    told.queue()
    told.send(partition=1, partition_key="a")
    told.send(partition=1, partition_key="b")
    told.has(RECEIVE, received("m1", 1, lock_token="l", delivery_count=1, partition_key="a"))
    told.has(RECEIVE, received("m2", 1, 2, lock_token="n", delivery_count=1, partition_key="b"))
    for count in (2, 3, 4, 5):
        seen = {"lock_token": "o", "delivery_count": count, "partition_key": "a"}
        assert is_allowed(told, RECEIVE, received("m1", 1, **seen)) is (count <= most)


@pytest.mark.parametrize(
    ("reading", "closed", "possible"),
    [
        ("stays", True, {1}),
        ("stays", False, {2}),
        ("either", True, {1}),
        ("either", False, {2}),
    ],
)
def test_a_delivery_that_ends_with_its_session(
    reading: str, closed: bool, possible: set[int]
) -> None:
    counts = set()
    for count in (1, 2, 3):
        told = telling({"CACHE-DELIVERY-COUNT": reading})
        told.queue(requires_session=True)
        told.send(partition=1, session_id="a")
        accept = AcceptSession(queue="q", session_id="a")
        told.has(accept)
        in_session = Receive(queue="q", session_id="a")
        seen = {"session_id": "a"}
        told.has(in_session, received("m1", 1, lock_token="l", **seen))
        if closed:
            told.has(CloseSession(queue="q", session_id="a"))
        else:
            after(told, MINUTE + 1)
        told.has(accept)
        again = received("m1", 1, lock_token="n", delivery_count=count, **seen)
        if told.saw(in_session, again).possible:
            counts.add(count)
    assert possible == counts


def test_a_lost_receive_may_have_been_the_last_delivery(told: Told) -> None:
    told.queue(max_delivery_count=1)
    told.send(partition=1)
    told.has(RECEIVE, LOST)
    told.has(RECEIVE, Empty())
    told.has(FROM_DEAD, received("m1", 1, dead_letter_reason=TOO_OFTEN))


def test_a_message_whose_lock_may_have_ended_may_be_a_dead_letter() -> None:
    told = locked(telling(slack=1000), max_delivery_count=1)
    letter = received("m1", 1, dead_letter_reason=TOO_OFTEN)
    assert told.saw(FROM_DEAD, letter).possible == ()
    after(told, MINUTE)
    told.has(FROM_DEAD, letter)


@pytest.mark.parametrize(("reading", "moves"), [("either", True), ("same-partition", False)])
def test_the_partition_of_a_dead_letter(reading: str, moves: bool) -> None:
    told = buried(telling({"DLQ-PARTITIONS": reading}))
    assert moves is bool(told.saw(FROM_DEAD, received("m1", 2)).possible)
    if not moves:
        assert told.saw(FROM_DEAD, received("m1", 2)).rules[0] == "DLQ-13"
        told.has(FROM_DEAD, received("m1", 1))


def test_dead_letters_share_their_queues_outages(told: Told) -> None:
    buried(told)
    told.has(TakePartitionDown(queue="q", partition=1))
    assert "DLQ-13" in told.saw(FROM_DEAD, Empty()).rules
    assert "DLQ-13" in told.saw(FROM_DEAD, OTHER).rules
    told.has(BringPartitionUp(queue="q", partition=1))
    assert "DLQ-12" in told.saw(FROM_DEAD, Empty()).rules
    told.has(TakePartitionDown(queue=DEAD, partition=2))
    assert "DLQ-13" in told.saw(FROM_DEAD, received("m1", 1)).rules
    assert told.possible[0].queues["q"].outages.down == 4


def test_dead_letters_of_several_partitions_all_come(told: Told) -> None:
    told.queue()
    for partition in (1, 2):
        told.send(partition=partition)
    for number in (1, 2):
        told.has(RECEIVE, received(f"m{number}", number, lock_token="l"))
        told.has(BURY)
    assert "DLQ-12" in told.saw(FROM_DEAD, received("m1", 1)).rules


def test_either_of_two_equal_messages_may_be_the_dead_letter() -> None:
    told = telling()
    told.queue(max_delivery_count=1)
    for _ in range(2):
        told.has(Send(queue="q", message=Message(body="m1")), partition=1)
    for number in (1, 2):
        told.has(RECEIVE, received("m1", 1, number, lock_token="l"))
        told.has(ABANDON)
    told.has(FROM_DEAD, received("m1", 1, 8, dead_letter_reason=TOO_OFTEN))
    told.has(FROM_DEAD, received("m1", 1, 9, dead_letter_reason=TOO_OFTEN))
    assert told.saw(FROM_DEAD, received("m1", 1, 10)).possible == ()
