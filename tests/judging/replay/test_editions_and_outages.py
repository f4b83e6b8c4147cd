"""What editions leave open, and what outages and lost answers do to the order of messages."""

import pytest
from told import Told

from busproof import vocabulary as v

FULL = v.Refused(error=v.Error.QUOTA_EXCEEDED)
HUGE = 330_000_000


def peeked(*bodies: str) -> v.Peeked:
    views = (v.MessageView(body=body, partition_key="k") for body in bodies)
    return v.Peeked(messages=tuple(views))


def sent(told: Told, *bodies: str, key: str | None = None, **fields: object) -> Told:
    for body in bodies:
        message = v.Message(body=body, partition_key=key, **fields)  # type: ignore[arg-type]
        told.of(v.Send(queue="q", message=message))
    return told


@pytest.mark.parametrize(
    ("edition", "partitioned", "allowed"),
    [
        ("pt-undated", True, True),
        ("pt-undated", False, True),
        ("en-2026-02", True, False),
    ],
)
def test_a_peek_begins_with_any_message_where_no_edition_says_otherwise(
    edition: str, partitioned: bool, allowed: bool
) -> None:
    told = Told(edition).of(v.CreateQueue(queue="q", partitioned=partitioned))
    sent(told, "m1", "m2", key="k")
    assert told.may_be(v.Peek(queue="q"), peeked("m2")) is allowed
    assert told.may_be(v.Peek(queue="q"), peeked("m1"))


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("served", False)])
def test_a_peek_in_an_outage_may_show_what_is_down(reading: str, allowed: bool) -> None:
    told = Told(PEEK_IN_OUTAGE=reading).of(v.CreateQueue(queue="q", partitioned=True))
    sent(told, "m1", "m2", key="k")
    for partition in range(told.profile.partitions - 1):
        told.of(v.TakePartitionDown(queue="q", partition=partition))
    assert told.may_be(v.Peek(queue="q"), peeked("m2")) is allowed
    assert told.may_be(v.Peek(queue="q"), peeked("m1"))


@pytest.mark.parametrize(("edition", "allowed"), [("de-2021-04", True), ("en-2026-02", False)])
def test_a_partition_of_unknown_size_may_be_full(edition: str, allowed: bool) -> None:
    told = Told(edition).of(v.CreateQueue(queue="q", partitioned=True))
    sent(told, "m1", key="k", size=HUGE)
    message = v.Message(body="m2", partition_key="k", size=HUGE)
    assert told.may_be(v.Send(queue="q", message=message), FULL) is allowed
    assert told.may_be(v.Send(queue="q", message=message))


@pytest.mark.parametrize(("tier", "allowed"), [(v.Tier.BASIC, True), (v.Tier.STANDARD, False)])
def test_no_size_of_basic_is_a_bound(tier: v.Tier, allowed: bool) -> None:
    told = Told("en-2026-02", tier).of(v.CreateQueue(queue="q", partitioned=True))
    sent(told, *(f"m{number}" for number in range(7)), key="k", size=HUGE)
    assert told.is_explained is allowed


@pytest.mark.parametrize(("reading", "allowed"), [("either", True), ("anew", False)])
def test_a_dead_letter_may_tell_any_count(reading: str, allowed: bool) -> None:
    told = Told(DEAD_LETTER_COUNT=reading).of(v.CreateQueue(queue="q", max_delivery_count=1))
    sent(told, "m1")
    given = v.MessageView(body="m1", lock_token="l", delivery_count=1)
    told.of(v.Receive(queue="q"), v.Received(message=given))
    told.of(v.Abandon(queue="q", lock_token="l"))
    dead = v.Receive(queue=f"q{v.DEAD_LETTERS}")
    shown = v.MessageView(body="m1", delivery_count=7)
    assert told.may_be(dead, v.Received(message=shown)) is allowed


def test_a_lost_message_comes_before_those_of_its_key_that_are_sent_later() -> None:
    told = Told().of(v.CreateQueue(queue="q", partitioned=True))
    lost = v.Message(body="m2", partition_key="k")
    sent(told, "m1", key="k").lost(v.Send(queue="q", message=lost))
    sent(told, "m3", "m4", key="k")
    deletes = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    for number, body in enumerate(("m1", "m3", "m2", "m4"), start=1):
        view = v.MessageView(body=body, partition_key="k", sequence_number=number)
        told.of(deletes, v.Received(message=view))
    assert told.is_explained
