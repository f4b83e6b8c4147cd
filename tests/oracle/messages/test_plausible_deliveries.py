"""What a violation lists as allowed: the oldest first, as far as it is known where messages are."""

from collections.abc import Sequence

import pytest
from observing import DONE, INVALID, Observer, down, observing, received, view

from busproof.vocabulary.commands import (
    Command,
    CreateTopic,
    Defer,
    GetQueue,
    GetTopic,
    Peek,
    Receive,
    ReceiveBatch,
    ReceiveDeferred,
    Schedule,
    SendBatch,
)
from busproof.vocabulary.messages import SEQUENCE_BITS, Message, MessageState
from busproof.vocabulary.outcomes import (
    Described,
    Empty,
    Outcome,
    Peeked,
    Received,
    ReceivedSeveral,
    Refused,
    Scheduled,
    TopicDescribed,
)
from busproof.vocabulary.values import Error, ReceiveMode

RECEIVE = Receive(queue="q")
NEVER_SEEN = received("never sent")
FULL = Refused(error=Error.QUOTA_EXCEEDED)


def allowed(observer: Observer, command: Command, wrong: Outcome = NEVER_SEEN) -> Sequence[Outcome]:
    """What a violation by this answer lists."""
    found = observer.saw(command, wrong)
    assert not found.possible, (command, wrong)
    return list(found.outcomes)


def offered(observer: Observer) -> list[str]:
    """The bodies that a receive may be given, in the order in which they are listed."""
    found = allowed(observer, RECEIVE)
    return [each.message.body for each in found if isinstance(each, Received)]


def queue_of(observer: Observer, *partitions: int) -> Observer:
    """A queue with a message in each of these partitions, one after another."""
    observer.queue()
    for partition in partitions:
        observer.send(partition=partition)
    return observer


@pytest.mark.parametrize(("sent", "left"), [(2, ["m2"]), (3, ["m2", "m3"])])
def test_message_whose_partition_became_known_is_offered_once(
    observer: Observer, sent: int, left: list[str]
) -> None:
    """It could be anywhere until its number revealed the partition."""
    observer.queue()
    for _ in range(sent):
        observer.send()
    observer.has(Peek(queue="q"), Peeked(messages=(view("m2", partition=1, number=7),)))
    observer.has(RECEIVE, received("m1", partition=0, number=3, lock_token="l"))
    assert left == offered(observer)


def test_the_oldest_of_the_partitions_are_offered_by_age(observer: Observer) -> None:
    """Whatever the number of the partition."""
    assert ["m1", "m2", "m4"] == offered(queue_of(observer, 3, 1, 3, 0, 1))


@pytest.mark.parametrize(("keys", "last"), [(7, "m9"), (70, "m1")])
def test_the_oldest_of_each_key_is_offered_unless_there_are_many(
    observer: Observer, keys: int, last: str
) -> None:
    """In one partition only the first would be."""
    observer.queue()
    for number in range(keys):
        observer.send(partition=1, partition_key=f"k{number % keys}")
        if number < 2:
            observer.send(partition=1, partition_key="k0")
    assert ("m1", last) == (offered(observer)[0], offered(observer)[-1])


def test_message_in_a_partition_that_is_down_is_not_offered(observer: Observer) -> None:
    queue_of(observer, 1, 2).has(down(1))
    assert ["m2"] == offered(observer)


def test_a_lock_is_offered_with_what_is_given(observer: Observer) -> None:
    (only, *_) = allowed(queue_of(observer, 1), RECEIVE)
    assert isinstance(only, Received)
    assert (1, 60_000_000) == (only.message.delivery_count, only.message.locked_until)


def test_several_are_offered_as_many_as_there_are_or_fewer(observer: Observer) -> None:
    queue_of(observer, 1, 2, 0)
    for count, numbers in ((5, [3, 2, 1]), (2, [2, 1])):
        wrong = ReceivedSeveral(messages=(view("never sent"),))
        found = allowed(observer, ReceiveBatch(queue="q", count=count), wrong)
        assert numbers == [len(each.messages) for each in found if type(each) is ReceivedSeveral]


@pytest.mark.parametrize("mode", ReceiveMode)
def test_deferred_message_is_offered_by_its_number(observer: Observer, mode: ReceiveMode) -> None:
    """With a lock, unless it is deleted at once."""
    observer.queue()
    observer.send(partition=1)
    observer.has(RECEIVE, received("m1", 1, lock_token="l"))
    observer.has(Defer(queue="q", lock_token="l"))
    by_number = ReceiveDeferred(queue="q", sequence_numbers=((1 << SEQUENCE_BITS) + 1,), mode=mode)
    (given, *_) = allowed(observer, by_number, ReceivedSeveral(messages=(view("never sent"),)))
    assert isinstance(given, ReceivedSeveral)
    assert "m1" == given.messages[0].body
    assert (given.messages[0].lock_token is None) is (mode is ReceiveMode.RECEIVE_AND_DELETE)


def test_peeks_are_offered_of_each_partition_or_from_a_number_on(observer: Observer) -> None:
    queue_of(observer, 2, 1, 2)
    wrong = Peeked(messages=(view("never sent"),))
    shown = [
        [each.body for each in found.messages]
        for found in allowed(observer, Peek(queue="q", count=2), wrong)
        if isinstance(found, Peeked)
    ]
    assert [["m2"], ["m1", "m3"]] == shown
    start = (1 << SEQUENCE_BITS) + 2
    (on, *_) = allowed(observer, Peek(queue="q", count=2, from_sequence_number=start), wrong)
    assert isinstance(on, Peeked)
    assert ["m2", "m1"] == [each.body for each in on.messages]


def test_read_as_on_a_regular_entity_the_oldest_of_all_is_offered_to_a_peek() -> None:
    observer = queue_of(observing({"LIKE-REGULAR": "identical"}), 2, 1)
    found = allowed(observer, Peek(queue="q"), Peeked(messages=(view("never sent"),)))
    assert [["m1"]] == [[each.body for each in one.messages] for one in found]


@pytest.mark.parametrize("key", [None, "k"])
def test_scheduled_message_is_offered_once(observer: Observer, key: str | None) -> None:
    observer.queue()
    later = Schedule(queue="q", message=observer.message(partition_key=key), delay=5_000_000)
    assert [Scheduled] == [type(each) for each in allowed(observer, later, FULL)]
    observer.has(later, Scheduled(sequence_number=7))
    found = allowed(observer, Peek(queue="q"), Peeked(messages=(view("never sent"),)))
    shown = [each.messages for each in found if isinstance(each, Peeked)]
    assert [MessageState.SCHEDULED] == [each.state for each in shown[0]]


def test_acceptance_of_a_batch_is_offered(observer: Observer) -> None:
    observer.queue()
    batch = SendBatch(queue="q", messages=tuple(Message(body=each) for each in "ab"))
    assert [DONE] == allowed(observer, batch, FULL)
    two_keys = tuple(Message(body=each, partition_key=each) for each in "ab")
    several = allowed(observer, SendBatch(queue="q", messages=two_keys), Empty())
    assert [DONE, INVALID] == several


def test_entities_are_offered_as_they_were_created(observer: Observer) -> None:
    observer.queue()
    observer.has(CreateTopic(topic="t"))
    (queue,) = allowed(observer, GetQueue(queue="q"), DONE)
    (topic,) = allowed(observer, GetTopic(topic="t"), DONE)
    assert isinstance(queue, Described)
    assert isinstance(topic, TopicDescribed)
    assert (queue.description.partitioned, topic.description.subscription_count) == (True, 0)


def test_without_a_session_that_is_required_only_the_refusal_is_offered(observer: Observer) -> None:
    observer.queue(requires_session=True)
    observer.send(session_id="a")
    assert [INVALID] == allowed(observer, RECEIVE)
