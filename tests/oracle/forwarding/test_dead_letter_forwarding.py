"""FWD-35, FWD-36: dead letters that go on to another queue."""

import pytest
from telling import (
    DONE,
    GONE,
    INVALID,
    LOST,
    OTHER,
    Told,
    is_allowed,
    knows,
    knows_nothing_of,
    passes,
    received,
    telling,
    told_of,
    view,
)

from busproof.vocabulary.commands import (
    Abandon,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeadLetter,
    DeleteQueue,
    GetQueue,
    Peek,
    Receive,
    Send,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Peeked, Refused
from busproof.vocabulary.values import Error, ReceiveMode

END = Receive(queue="end", mode=ReceiveMode.RECEIVE_AND_DELETE)
GRAVE = Receive(queue="q/$deadletterqueue", mode=ReceiveMode.RECEIVE_AND_DELETE)
RECEIVE = Receive(queue="q")
BURY = DeadLetter(queue="q", lock_token="l", reason="unreadable")


def pair(told: Told, destination: dict[str, object] | None = None, **settings: object) -> Told:
    told.has(CreateQueue(queue="end", **(destination or {})))
    told.queue(forward_dead_letters_to="end", **settings)
    return told


def buried(told: Told, **settings: object) -> Told:
    pair(told, **settings).send(partition=1, message_id="x")
    told.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    told.has(BURY)
    return told


def letter(reason: str | None = "unreadable", **seen: object):
    return received("m1", 2, message_id="x", dead_letter_reason=reason, **seen)


def test_a_dead_letter_is_received_at_its_destination_once(told: Told) -> None:
    buried(told)
    assert is_allowed(told, END, Empty())
    found = told.saw(END, letter())
    assert found.possible
    assert "FWD-35" in found.rules
    again = told.saw(END, letter())
    assert not again.possible
    assert "FWD-35" in again.rules


def test_forwarded_dead_letter_may_be_peeked_at_its_destination(told: Told) -> None:
    buried(told)
    shown = Peeked(messages=(view("m1", 2, message_id="x"),))
    told.has(Peek(queue="end"), shown)
    told.has(END, letter())


@pytest.mark.parametrize(
    "wrong",
    [letter("another"), received("m1", 2, message_id="y"), received("m2", 2)],
    ids=["reason", "property", "body"],
)
def test_different_message_is_not_the_forwarded_dead_letter(told: Told, wrong: object) -> None:
    found = buried(told).saw(END, wrong)
    assert not found.possible
    assert "FWD-35" in found.rules


def test_live_message_is_not_forwarded_as_a_dead_letter(told: Told) -> None:
    pair(told).send(partition=1, message_id="x")
    assert not told.saw(END, letter()).possible


def test_the_dead_letter_queue_gives_nothing(told: Told) -> None:
    buried(told)
    wrong = told.saw(GRAVE, letter())
    assert not wrong.possible
    assert {"FWD-35", "FWD-36"} <= set(wrong.rules)
    assert "FWD-36" in told.saw(GRAVE, Empty()).rules
    assert "FWD-36" in told.saw(GRAVE, INVALID).rules
    told.has(END, letter())


def test_message_over_its_delivery_limit_is_forwarded(told: Told) -> None:
    pair(told, max_delivery_count=1).send(partition=1, message_id="x")
    told.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    assert not told.saw(END, letter(None)).possible
    told.has(Abandon(queue="q", lock_token="l"))
    told.has(END, letter("MaxDeliveryCountExceeded"))


def test_message_whose_last_lock_expired_is_dead_lettered_and_forwarded(told: Told) -> None:
    pair(told, max_delivery_count=1).send(partition=1, message_id="x")
    told.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    passes(told, 61)
    told.has(END, letter("MaxDeliveryCountExceeded"))


def test_expired_message_is_dead_lettered_and_forwarded(told: Told) -> None:
    pair(told, dead_letter_expired=True, time_to_live=5_000_000)
    told.send(partition=1, message_id="x")
    assert not told.saw(END, letter(None)).possible
    passes(told, 6)
    told.has(END, letter("TTLExpiredException"))


def test_dead_letters_of_subscriptions_go_on_too(told: Told) -> None:
    told.has(CreateQueue(queue="end"))
    told.has(CreateTopic(topic="t"))
    told.has(CreateSubscription(topic="t", subscription="s", forward_dead_letters_to="end"))
    told.has(Send(queue="t", message=Message(body="m1", message_id="x")), DONE, partition=1)
    path = "t/subscriptions/s"
    told.has(Receive(queue=path), received("m1", 1, lock_token="l", message_id="x"))
    told.has(DeadLetter(queue=path, lock_token="l", reason="unreadable"))
    assert "FWD-35" in told.saw(END, letter()).rules


def test_the_destination_has_to_be_there(told: Told) -> None:
    wanted = CreateQueue(queue="q", forward_dead_letters_to="end")
    wrong = told.saw(wanted, DONE)
    assert not wrong.possible
    assert "FWD-29" in wrong.rules
    assert "FWD-29" in told.saw(wanted, OTHER).rules


def test_a_queue_that_requires_sessions_may_be_refused_it(told: Told) -> None:
    told.has(CreateQueue(queue="end"))
    wanted = CreateQueue(queue="q", forward_dead_letters_to="end", requires_session=True)
    assert is_allowed(told, wanted, INVALID)
    told.has(wanted)
    told.send(partition=1, session_id="s", message_id="x")
    knows(told, "end")


@pytest.mark.parametrize(
    "destination",
    [
        {"requires_session": True},
        {"duplicate_detection": True},
        {"forward_to": "last"},
        {"forward_dead_letters_to": "last"},
    ],
    ids=["sessions", "copies", "forwards", "buries elsewhere"],
)
def test_other_destinations_are_not_judged(told: Told, destination: dict) -> None:
    told.has(CreateQueue(queue="last"))
    pair(told, destination)
    knows_nothing_of(told, "q")
    knows_nothing_of(told, "end")


def test_forwarding_dead_letters_to_a_topic_is_not_judged(told: Told) -> None:
    told.has(CreateTopic(topic="end"))
    told.queue(forward_dead_letters_to="end")
    knows_nothing_of(told, "q")


def test_destination_is_not_judged_after_a_deletion(told: Told) -> None:
    pair(told).has(DeleteQueue(queue="q"))
    told.has(END, received("never sent"))


def test_destination_is_not_judged_after_an_unanswered_creation(told: Told) -> None:
    told.has(CreateQueue(queue="q", forward_dead_letters_to="end"), LOST)
    told.has(CreateQueue(queue="end"))
    told.has(END, received("never sent"))


def test_an_unanswered_creation_of_such_a_queue_may_have_been_made(told: Told) -> None:
    told.has(CreateQueue(queue="end"))
    told.has(CreateQueue(queue="q", forward_dead_letters_to="end"), LOST)
    told.send(partition=1, message_id="x")
    told.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    told.has(BURY)
    told.has(END, letter())


def test_unseen_arrival_may_take_space_and_be_counted(told: Told) -> None:
    buried(told)
    full = Refused(error=Error.QUOTA_EXCEEDED)
    assert is_allowed(told, Send(queue="end", message=Message(body="m9")), full)
    assert not is_allowed(told, Send(queue="q", message=Message(body="m9")), full)
    assert is_allowed(told, GetQueue(queue="q"), told_of(message_count=1))
    keyed = Message(body="m8", session_id="a", partition_key="b")
    assert is_allowed(told, Send(queue="end", message=keyed), full)


def test_counts_of_the_destination_say_nothing(told: Told) -> None:
    told.has(CreateQueue(queue="q"))
    told.has(CreateQueue(queue="p", forward_dead_letters_to="q"))
    assert is_allowed(told, GetQueue(queue="q"), told_of(message_count=5))


def test_under_every_reading_of_dead_letters_they_go_on() -> None:
    told = buried(telling({"DLQ-PARTITIONS": "same-partition", "DEAD-LETTER-DELAY": "at-once"}))
    told.has(END, letter())


def test_unseen_arrival_may_be_older_than_a_send(told: Told) -> None:
    keyed = {"partition_key": "a", "message_id": "x"}
    pair(told).send(partition=1, **keyed)
    told.has(RECEIVE, received("m1", 1, lock_token="l", **keyed))
    told.has(BURY)
    told.has(Send(queue="end", message=Message(body="m9", **keyed)), DONE, partition=1)
    first = view("m1", 1, **keyed)
    for _ in range(2):
        told.has(Peek(queue="end"), Peeked(messages=(first,)))
    told.has(END, received("m1", 1, dead_letter_reason="unreadable", **keyed))
    told.has(END, received("m9", 1, 2, **keyed))


def test_creation_refused_in_an_outage_may_name_a_missing_destination(told: Told) -> None:
    """What such a queue does with its dead letters, nobody knows."""
    told.queue()
    told.has(TakePartitionDown(queue="q", partition=0))
    told.has(DeleteQueue(queue="q"))
    told.has(CreateQueue(queue="q", forward_dead_letters_to="nowhere"), GONE)
    knows_nothing_of(told, "q")
