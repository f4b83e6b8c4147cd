"""Premium namespaces that are partitioned as a whole: entities, batches, partitions, quotas."""

import pytest
from managed_queues import GET
from observing import DONE, INVALID, Observer, observing

from busproof.vocabulary.commands import (
    BeginTransaction,
    CreateQueue,
    CreateTopic,
    GetTopic,
    Send,
    SendBatch,
    TakePartitionDown,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import (
    Described,
    Outcome,
    QueueDescription,
    TopicDescribed,
    TopicDescription,
)
from busproof.vocabulary.values import Tier

QUEUE = CreateQueue(queue="q")


def partitioned(readings: dict[str, str] | None = None, number: int = 2) -> Observer:
    return observing(readings, tier=Tier.PREMIUM, namespace_partitions=number)


def described(*, as_partitioned: bool) -> Outcome:
    return Described(description=QueueDescription(queue="q", partitioned=as_partitioned))


def batch(*messages: Message) -> SendBatch:
    return SendBatch(queue="q", messages=messages)


def keyed(name: str, **keys: str) -> Message:
    return Message(body=name, **keys)


def test_a_queue_is_partitioned_and_never_regular() -> None:
    observer = partitioned()
    observer.has(QUEUE)
    assert "PREM-14" in observer.saw(GET, described(as_partitioned=True)).rules
    refused = observer.saw(GET, described(as_partitioned=False))
    assert not refused.possible
    assert "PREM-14" in refused.rules


def test_a_topic_is_partitioned_and_never_regular() -> None:
    observer = partitioned()
    observer.has(CreateTopic(topic="t"))
    for answer in (True, False):
        shown = TopicDescribed(description=TopicDescription(topic="t", partitioned=answer))
        found = observer.saw(GetTopic(topic="t"), shown)
        assert answer is bool(found.possible)
        assert "PREM-14" in found.rules


@pytest.mark.parametrize("command", [QUEUE, CreateTopic(topic="t")])
def test_partitions_are_never_refused(command: CreateQueue | CreateTopic) -> None:
    found = partitioned().saw(command, INVALID)
    assert not found.possible
    assert "PREM-14" in found.rules


@pytest.mark.parametrize(
    "command",
    [CreateQueue(queue="q", partitioned=False), CreateTopic(topic="t", partitioned=False)],
)
def test_a_regular_entity_is_refused(command: CreateQueue | CreateTopic) -> None:
    assert "PREM-15" in partitioned().saw(command, INVALID).rules
    created = partitioned().saw(command, DONE)
    assert not created.possible
    assert "PREM-15" in created.rules


@pytest.mark.parametrize(
    ("reading", "created", "refused"),
    [("either", True, True), ("partitioned", True, False), ("refused", False, True)],
)
def test_what_a_request_without_the_option_gets(reading: str, created: bool, refused: bool) -> None:
    unasked = CreateQueue(queue="q", partitioned=None)
    for outcome, allowed in ((DONE, created), (INVALID, refused)):
        observer = partitioned({"PREMIUM-UNASKED": reading})
        assert allowed is bool(observer.saw(unasked, outcome).possible)
    if created:
        observer = partitioned({"PREMIUM-UNASKED": reading})
        observer.has(unasked)
        assert not observer.saw(GET, described(as_partitioned=False)).possible


@pytest.mark.parametrize("number", [2, 4])
def test_an_entity_has_the_partitions_of_its_namespace(number: int) -> None:
    """And not one more, whatever the size: GB-PARTITIONS is about Standard."""
    observer = partitioned({"GB-PARTITIONS": "per-gb"}, number)
    observer.has(CreateQueue(queue="q", max_size=5))
    rules = [rule for place in range(number) for rule in observer.send(partition=place).rules]
    assert "PREM-16" in rules
    assert "SIZE-05" not in rules
    one_more = Send(queue="q", message=observer.message())
    beyond = observer.saw(one_more, DONE, partition=number)
    assert not beyond.possible
    assert "PREM-16" in beyond.rules
    assert observer.saw(TakePartitionDown(queue="q", partition=number - 1), DONE).possible


@pytest.mark.parametrize(
    "command",
    [
        batch(keyed("m1", partition_key="a"), keyed("m2", partition_key="b")),
        batch(keyed("m1", session_id="a"), keyed("m2", session_id="b")),
        batch(keyed("m1"), keyed("m2", session_id="a"), keyed("m3", session_id="b")),
    ],
)
@pytest.mark.parametrize("reading", ["either", "split", "refused"])
def test_a_batch_of_distinct_keys_is_refused(reading: str, command: SendBatch) -> None:
    observer = partitioned({"BATCH-KEYS": reading})
    observer.has(QUEUE)
    taken = observer.saw(command, DONE)
    assert not taken.possible
    assert "PREM-17" in taken.rules
    observer = partitioned({"BATCH-KEYS": reading})
    observer.has(QUEUE)
    assert "PREM-17" in observer.saw(command, INVALID).rules


def test_a_batch_of_a_key_and_none_is_open_there_too() -> None:
    command = batch(keyed("m1"), keyed("m2", partition_key="a"))
    for outcome in (DONE, INVALID):
        observer = partitioned()
        observer.has(QUEUE)
        assert observer.saw(command, outcome).possible


def test_batch_of_one_session_and_several_keys_may_be_refused_before_the_commit() -> None:
    """By PREM-17; a key that differs from its SessionId alone may wait for the commit."""
    observer = partitioned({"TXN-REFUSAL": "at-commit"})
    observer.has(QUEUE)
    observer.has(BeginTransaction(transaction="x"))
    messages = tuple(keyed(key, session_id="s", partition_key=key) for key in ("k", "l"))
    command = SendBatch(queue="q", messages=messages, transaction="x")
    assert observer.saw(command, INVALID).possible
    assert observer.saw(command, DONE).possible
