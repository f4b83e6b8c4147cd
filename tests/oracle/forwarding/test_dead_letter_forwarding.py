"""FWD-35, FWD-36: dead letters that go on to another queue."""

import pytest
from observing import (
    DONE,
    GONE,
    INVALID,
    LOST,
    OTHER,
    SECOND,
    Observer,
    described_as,
    is_allowed,
    knows,
    knows_nothing_of,
    observing,
    passes,
    received,
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
    UpdateQueue,
)
from busproof.vocabulary.entity_settings import EntityStatus
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Empty, Peeked, Refused
from busproof.vocabulary.values import Error, ReceiveMode

END = Receive(queue="end", mode=ReceiveMode.RECEIVE_AND_DELETE)
GRAVE = Receive(queue="q/$deadletterqueue", mode=ReceiveMode.RECEIVE_AND_DELETE)
RECEIVE = Receive(queue="q")
BURY = DeadLetter(queue="q", lock_token="l", reason="unreadable")


def pair(
    observer: Observer, destination: dict[str, object] | None = None, **settings: object
) -> Observer:
    observer.has(CreateQueue(queue="end", **(destination or {})))
    observer.queue(forward_dead_letters_to="end", **settings)
    return observer


def buried(observer: Observer, **settings: object) -> Observer:
    pair(observer, **settings).send(partition=1, message_id="x")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    observer.has(BURY)
    return observer


def letter(reason: str | None = "unreadable", **seen: object):
    return received("m1", 2, message_id="x", dead_letter_reason=reason, **seen)


def test_a_dead_letter_is_received_at_its_destination_once(observer: Observer) -> None:
    buried(observer)
    assert is_allowed(observer, END, Empty())
    found = observer.saw(END, letter())
    assert found.possible
    assert "FWD-35" in found.rules
    again = observer.saw(END, letter())
    assert not again.possible
    assert "FWD-35" in again.rules


def test_a_forwarded_dead_letter_may_have_expired_before_it_was_seen(observer: Observer) -> None:
    """TTL-07: then it is a dead letter of the destination."""
    buried(observer, destination={"time_to_live": 30 * SECOND, "dead_letter_expired": True})
    again = Receive(queue="end/$deadletterqueue")
    expired = letter("TTLExpiredException", delivery_count=1)
    passes(observer, 29)
    assert not is_allowed(observer, again, expired)
    passes(observer, 2)
    assert is_allowed(observer, again, expired)
    assert is_allowed(observer, END, letter())
    observer.has(again, expired)
    assert not is_allowed(observer, END, letter())


def test_a_forwarded_dead_letter_may_have_lived_at_its_destination_unseen(
    observer: Observer,
) -> None:
    """TTL-01: its time to live began when it may have arrived, and not when it was seen."""
    buried(observer, destination={"time_to_live": 30 * SECOND})
    passes(observer, 20)
    first = Receive(queue="end")
    observer.has(first, letter(lock_token="k", delivery_count=1))
    observer.has(Abandon(queue="end", lock_token="k"))
    passes(observer, 9)
    assert not is_allowed(observer, END, Empty())
    passes(observer, 2)
    assert is_allowed(observer, END, Empty())
    assert is_allowed(observer, END, letter())
    passes(observer, 20)
    assert not is_allowed(observer, END, letter())


def test_forwarded_dead_letter_may_be_peeked_at_its_destination(observer: Observer) -> None:
    buried(observer)
    shown = Peeked(messages=(view("m1", 2, message_id="x"),))
    observer.has(Peek(queue="end"), shown)
    observer.has(END, letter())


def test_dead_letter_may_be_peeked_where_it_waits_to_go_on(observer: Observer) -> None:
    """It may be any: what is dead-lettered by the bus itself nobody has sent there."""
    buried(observer)
    shown = Peeked(messages=(view("m1", 1, message_id="x"),))
    observer.has(Peek(queue="q/$deadletterqueue"), shown)


@pytest.mark.parametrize(
    "wrong",
    [letter("another"), received("m1", 2, message_id="y"), received("m2", 2)],
    ids=["reason", "property", "body"],
)
def test_different_message_is_not_the_forwarded_dead_letter(
    observer: Observer, wrong: object
) -> None:
    found = buried(observer).saw(END, wrong)
    assert not found.possible
    assert "FWD-35" in found.rules


def test_live_message_is_not_forwarded_as_a_dead_letter(observer: Observer) -> None:
    pair(observer).send(partition=1, message_id="x")
    assert not observer.saw(END, letter()).possible


def test_the_dead_letter_queue_gives_nothing(observer: Observer) -> None:
    buried(observer)
    wrong = observer.saw(GRAVE, letter())
    assert not wrong.possible
    assert {"FWD-35", "FWD-36"} <= set(wrong.rules)
    assert "FWD-36" in observer.saw(GRAVE, Empty()).rules
    assert "FWD-36" in observer.saw(GRAVE, INVALID).rules
    observer.has(END, letter())


def test_dead_letter_that_its_destination_does_not_take_may_be_anywhere(observer: Observer) -> None:
    """The destination was disabled when the source was created."""
    observer.has(CreateQueue(queue="end"))
    observer.has(UpdateQueue(queue="end", status=EntityStatus.SEND_DISABLED))
    observer.queue(forward_dead_letters_to="end")
    observer.send(partition=1, message_id="x")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    observer.has(BURY)
    assert is_allowed(observer, GRAVE, Empty())
    observer.has(GRAVE, letter())


@pytest.mark.parametrize("size", [100_000_000, 1_000])
def test_dead_letter_whose_destination_may_be_full_may_stay(observer: Observer, size: int) -> None:
    """Half of the least size that an entity can have counts as ample."""
    pair(observer)
    for body in "abcdef":
        observer.has(Send(queue="end", message=Message(body=body, size=size)), partition=2)
    observer.send(partition=1, message_id="x")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    observer.has(BURY)
    assert is_allowed(observer, GRAVE, letter()) is (size > 1_000)
    assert is_allowed(observer, END, letter())
    shown = observer.saw(GRAVE, Empty()).rules
    assert ("FWD-36" in shown) is (size == 1_000)


def test_message_over_its_delivery_limit_is_forwarded(observer: Observer) -> None:
    pair(observer, max_delivery_count=1).send(partition=1, message_id="x")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    assert not observer.saw(END, letter(None)).possible
    observer.has(Abandon(queue="q", lock_token="l"))
    observer.has(END, letter("MaxDeliveryCountExceeded"))


def test_message_whose_last_lock_expired_is_dead_lettered_and_forwarded(observer: Observer) -> None:
    pair(observer, max_delivery_count=1).send(partition=1, message_id="x")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    passes(observer, 61)
    observer.has(END, letter("MaxDeliveryCountExceeded"))


def test_expired_message_is_dead_lettered_and_forwarded(observer: Observer) -> None:
    pair(observer, dead_letter_expired=True, time_to_live=5_000_000)
    observer.send(partition=1, message_id="x")
    assert not observer.saw(END, letter(None)).possible
    passes(observer, 6)
    observer.has(END, letter("TTLExpiredException"))


def test_dead_letters_of_subscriptions_go_on_too(observer: Observer) -> None:
    observer.has(CreateQueue(queue="end"))
    observer.has(CreateTopic(topic="t"))
    observer.has(CreateSubscription(topic="t", subscription="s", forward_dead_letters_to="end"))
    observer.has(Send(queue="t", message=Message(body="m1", message_id="x")), DONE, partition=1)
    path = "t/subscriptions/s"
    observer.has(Receive(queue=path), received("m1", 1, lock_token="l", message_id="x"))
    observer.has(DeadLetter(queue=path, lock_token="l", reason="unreadable"))
    assert "FWD-35" in observer.saw(END, letter()).rules


def test_the_destination_has_to_be_there(observer: Observer) -> None:
    wanted = CreateQueue(queue="q", forward_dead_letters_to="end")
    wrong = observer.saw(wanted, DONE)
    assert not wrong.possible
    assert "FWD-29" in wrong.rules
    assert "FWD-29" in observer.saw(wanted, OTHER).rules


def test_a_queue_that_requires_sessions_may_be_refused_it(observer: Observer) -> None:
    observer.has(CreateQueue(queue="end"))
    wanted = CreateQueue(queue="q", forward_dead_letters_to="end", requires_session=True)
    assert is_allowed(observer, wanted, INVALID)
    observer.has(wanted)
    observer.send(partition=1, session_id="s", message_id="x")
    knows(observer, "end")


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
def test_other_destinations_are_not_judged(observer: Observer, destination: dict) -> None:
    observer.has(CreateQueue(queue="last"))
    pair(observer, destination)
    knows_nothing_of(observer, "q")
    knows_nothing_of(observer, "end")


def test_forwarding_dead_letters_to_a_topic_is_not_judged(observer: Observer) -> None:
    observer.has(CreateTopic(topic="end"))
    observer.queue(forward_dead_letters_to="end")
    knows_nothing_of(observer, "q")


def test_destination_is_not_judged_after_a_deletion(observer: Observer) -> None:
    pair(observer).has(DeleteQueue(queue="q"))
    observer.has(END, received("never sent"))


def test_destination_is_not_judged_after_an_unanswered_creation(observer: Observer) -> None:
    observer.has(CreateQueue(queue="q", forward_dead_letters_to="end"), LOST)
    observer.has(CreateQueue(queue="end"))
    observer.has(END, received("never sent"))


def test_an_unanswered_creation_of_such_a_queue_may_have_been_made(observer: Observer) -> None:
    observer.has(CreateQueue(queue="end"))
    observer.has(CreateQueue(queue="q", forward_dead_letters_to="end"), LOST)
    observer.send(partition=1, message_id="x")
    observer.has(RECEIVE, received("m1", 1, lock_token="l", message_id="x"))
    observer.has(BURY)
    observer.has(END, letter())


def test_unseen_arrival_may_take_space_and_be_counted(observer: Observer) -> None:
    buried(observer)
    full = Refused(error=Error.QUOTA_EXCEEDED)
    assert is_allowed(observer, Send(queue="end", message=Message(body="m9")), full)
    assert not is_allowed(observer, Send(queue="q", message=Message(body="m9")), full)
    assert is_allowed(observer, GetQueue(queue="q"), described_as(message_count=1))
    keyed = Message(body="m8", session_id="a", partition_key="b")
    assert is_allowed(observer, Send(queue="end", message=keyed), full)


def test_counts_of_the_destination_say_nothing(observer: Observer) -> None:
    observer.has(CreateQueue(queue="q"))
    observer.has(CreateQueue(queue="p", forward_dead_letters_to="q"))
    assert is_allowed(observer, GetQueue(queue="q"), described_as(message_count=5))


def test_under_every_reading_of_dead_letters_they_go_on() -> None:
    observer = buried(
        observing({"DLQ-PARTITIONS": "same-partition", "DEAD-LETTER-DELAY": "at-once"})
    )
    observer.has(END, letter())


def test_unseen_arrival_may_be_older_than_a_send(observer: Observer) -> None:
    keyed = {"partition_key": "a", "message_id": "x"}
    pair(observer).send(partition=1, **keyed)
    observer.has(RECEIVE, received("m1", 1, lock_token="l", **keyed))
    observer.has(BURY)
    observer.has(Send(queue="end", message=Message(body="m9", **keyed)), DONE, partition=1)
    first = view("m1", 1, **keyed)
    for _ in range(2):
        observer.has(Peek(queue="end"), Peeked(messages=(first,)))
    observer.has(END, received("m1", 1, dead_letter_reason="unreadable", **keyed))
    observer.has(END, received("m9", 1, 2, **keyed))


def test_creation_refused_in_an_outage_may_name_a_missing_destination(observer: Observer) -> None:
    """What such a queue does with its dead letters, nobody knows."""
    observer.queue()
    observer.has(TakePartitionDown(queue="q", partition=0))
    observer.has(DeleteQueue(queue="q"))
    observer.has(CreateQueue(queue="q", forward_dead_letters_to="nowhere"), GONE)
    knows_nothing_of(observer, "q")
