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
from observing import LOST, OTHER, Observer, is_allowed, observing, received, view

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
    for observer in (locked(observing()), locked(observing())):
        observer.has(BURY, LOST)
        observer.has(DeadLetter(queue="q", lock_token="l", reason="worse"), LOST)
        observer.has(DeadLetter(queue="q", lock_token="none"), LOST)
        observer.has(FROM_DEAD, Empty())
        observer.has(Peek(queue="q"), Peeked(messages=(view("m1", 1),)))
    observer.has(FROM_DEAD, letter)
    assert not given(observer)
    other = locked(observing())
    other.has(BURY, LOST)
    after(other, MINUTE + 1)
    assert given(other, 2, "n")
    assert other.saw(FROM_DEAD, letter).possible == ()


def test_hidden_deliveries_may_count_and_may_be_the_last() -> None:
    observer = observing(partitions=2)
    observer.queue(max_delivery_count=1)
    observer.send(partition=1)
    observer.send(partition=0)
    delete = Receive(queue="q", mode=ReceiveMode.RECEIVE_AND_DELETE)
    observer.has(delete, received("m2", 0))
    assert observer.saw(RECEIVE, Empty()).possible == ()
    after(observer, MINUTE + 1)
    observer.has(RECEIVE, Empty())
    observer.has(RECEIVE, Empty())
    assert given(observer, 2)


def test_session_message_possibly_spent_in_a_cache_need_not_come_first() -> None:
    observer = observing(partitions=2)
    observer.queue(max_delivery_count=1, requires_session=True, lock_duration=5 * MINUTE)
    for _ in range(3):
        observer.send(partition=1, session_id="a")
    observer.has(AcceptSession(queue="q", session_id="a"))
    in_session = Receive(queue="q", session_id="a", mode=ReceiveMode.RECEIVE_AND_DELETE)
    observer.has(in_session, received("m1", 1, 1, session_id="a"))
    assert observer.saw(in_session, received("m3", 1, 3, session_id="a")).rules[0] == "KEY-06"
    after(observer, 5 * MINUTE + 1)
    observer.has(AcceptSession(queue="q", session_id="a"))
    observer.has(in_session, received("m3", 1, 3, session_id="a"))


def test_without_time_left_to_lock_anything_may_be_spent() -> None:
    observer = observing(slack=2 * MINUTE)
    observer.queue(max_delivery_count=1)
    observer.send(partition=1)
    observer.send(partition=2)
    observer.has(RECEIVE, received("m1", 1, lock_token="l"))
    observer.has(RECEIVE, Empty())


def test_only_what_a_receiver_gave_back_counts_where_that_is_read() -> None:
    observer = observing({"CACHE-DELIVERY-COUNT": "stays"})
    observer.queue(max_delivery_count=1)
    observer.send(partition=1)
    observer.send(partition=2)
    observer.has(RECEIVE, received("m2", 2, lock_token="l", delivery_count=1))
    after(observer, 2 * MINUTE)
    assert observer.saw(RECEIVE, Empty()).possible == ()
    assert not given(observer, 2)
    assert given(observer, 1)


@pytest.mark.parametrize(("reading", "most"), [("either", 4), ("stays", 2)])
def test_a_lock_that_may_have_ended_may_have_been_followed_by_one_in_a_cache(
    reading: str, most: int
) -> None:
    """By slack all are over; each receive may have filled a cache."""
    observer = observing({"CACHE-DELIVERY-COUNT": reading}, slack=2 * MINUTE)
    observer.queue()
    observer.send(partition=1, partition_key="a")
    observer.send(partition=1, partition_key="b")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", delivery_count=1, partition_key="a"))
    observer.has(RECEIVE, received("m2", 1, 2, lock_token="n", delivery_count=1, partition_key="b"))
    for count in (2, 3, 4, 5):
        seen = {"lock_token": "o", "delivery_count": count, "partition_key": "a"}
        assert is_allowed(observer, RECEIVE, received("m1", 1, **seen)) is (count <= most)


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
        observer = observing({"CACHE-DELIVERY-COUNT": reading})
        observer.queue(requires_session=True)
        observer.send(partition=1, session_id="a")
        accept = AcceptSession(queue="q", session_id="a")
        observer.has(accept)
        in_session = Receive(queue="q", session_id="a")
        seen = {"session_id": "a"}
        observer.has(in_session, received("m1", 1, lock_token="l", **seen))
        if closed:
            observer.has(CloseSession(queue="q", session_id="a"))
        else:
            after(observer, MINUTE + 1)
        observer.has(accept)
        again = received("m1", 1, lock_token="n", delivery_count=count, **seen)
        if observer.saw(in_session, again).possible:
            counts.add(count)
    assert possible == counts


def test_a_lost_receive_may_have_been_the_last_delivery(observer: Observer) -> None:
    observer.queue(max_delivery_count=1)
    observer.send(partition=1)
    observer.has(RECEIVE, LOST)
    observer.has(RECEIVE, Empty())
    observer.has(FROM_DEAD, received("m1", 1, dead_letter_reason=TOO_OFTEN))


def test_a_message_whose_lock_may_have_ended_may_be_a_dead_letter() -> None:
    observer = locked(observing(slack=1000), max_delivery_count=1)
    letter = received("m1", 1, dead_letter_reason=TOO_OFTEN)
    assert observer.saw(FROM_DEAD, letter).possible == ()
    after(observer, MINUTE)
    observer.has(FROM_DEAD, letter)


@pytest.mark.parametrize(("reading", "moves"), [("either", True), ("same-partition", False)])
def test_the_partition_of_a_dead_letter(reading: str, moves: bool) -> None:
    observer = buried(observing({"DLQ-PARTITIONS": reading}))
    assert moves is bool(observer.saw(FROM_DEAD, received("m1", 2)).possible)
    if not moves:
        assert observer.saw(FROM_DEAD, received("m1", 2)).rules[0] == "DLQ-13"
        observer.has(FROM_DEAD, received("m1", 1))


def test_dead_letters_share_their_queues_outages(observer: Observer) -> None:
    buried(observer)
    observer.has(TakePartitionDown(queue="q", partition=1))
    assert "DLQ-13" in observer.saw(FROM_DEAD, Empty()).rules
    assert "DLQ-13" in observer.saw(FROM_DEAD, OTHER).rules
    observer.has(BringPartitionUp(queue="q", partition=1))
    assert "DLQ-12" in observer.saw(FROM_DEAD, Empty()).rules
    observer.has(TakePartitionDown(queue=DEAD, partition=2))
    assert "DLQ-13" in observer.saw(FROM_DEAD, received("m1", 1)).rules
    assert observer.possible[0].queues["q"].outages.down == 4


def test_dead_letters_of_several_partitions_all_come(observer: Observer) -> None:
    observer.queue()
    for partition in (1, 2):
        observer.send(partition=partition)
    for number in (1, 2):
        observer.has(RECEIVE, received(f"m{number}", number, lock_token="l"))
        observer.has(BURY)
    assert "DLQ-12" in observer.saw(FROM_DEAD, received("m1", 1)).rules


def test_either_of_two_equal_messages_may_be_the_dead_letter() -> None:
    observer = observing()
    observer.queue(max_delivery_count=1)
    for _ in range(2):
        observer.has(Send(queue="q", message=Message(body="m1")), partition=1)
    for number in (1, 2):
        observer.has(RECEIVE, received("m1", 1, number, lock_token="l"))
        observer.has(ABANDON)
    observer.has(FROM_DEAD, received("m1", 1, 8, dead_letter_reason=TOO_OFTEN))
    observer.has(FROM_DEAD, received("m1", 1, 9, dead_letter_reason=TOO_OFTEN))
    assert observer.saw(FROM_DEAD, received("m1", 1, 10)).possible == ()
