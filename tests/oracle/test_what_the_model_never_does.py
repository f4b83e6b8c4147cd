"""What the oracle forbids because the documents do, although it was once allowed."""

import pytest
from observing import DONE, INVALID, Observer, down, is_allowed, observing, received, refuses

from busproof import vocabulary as v

SESSIONLESS = v.Send(queue="q", message=v.Message(body="m"))
TAKE = v.Receive(queue="q", mode=v.ReceiveMode.RECEIVE_AND_DELETE)


@pytest.mark.parametrize("is_down", [False, True])
def test_message_without_its_session_needs_a_partition_that_is_up(*, is_down: bool) -> None:
    """SESS-01, PART-01: whether it is refused for its session or not."""
    observer = observing()
    observer.queue(partitioned=False, requires_session=True)
    if is_down:
        observer.has(down(0))
    assert is_allowed(observer, SESSIONLESS, INVALID)
    assert is_allowed(observer, SESSIONLESS, DONE) is not is_down


@pytest.mark.parametrize(
    ("properties", "allowed"),
    [({"body": "m1"}, True), ({"body": "m1", "subject": "other"}, False), ({"body": "m9"}, False)],
)
def test_peek_of_a_source_shows_what_was_sent_there(
    observer: Observer, properties: dict[str, str], allowed: bool
) -> None:
    """FWD-15, LIFE-01: it may show a message on its way, as it was sent."""
    observer.queue()
    observer.has(v.CreateQueue(queue="f", forward_to="q"))
    observer.has(v.Send(queue="f", message=v.Message(body="m1")))
    shown = v.Peeked(messages=(v.MessageView(**properties),))
    assert is_allowed(observer, v.Peek(queue="f"), shown) is allowed
    assert is_allowed(observer, v.Peek(queue="f"), v.Peeked())


def test_message_that_is_no_dead_letter_has_no_reason(observer: Observer) -> None:
    """LIFE-01, DLQ-05: unless its sender gave it such a property."""
    observer.queue(partitioned=False)
    observer.send()
    refuses(observer, TAKE, received("m1", dead_letter_reason="none"), "LIFE-01", "DLQ-05")
    observer.has(TAKE, received("m1"))
    own = {"DeadLetterReason": "own"}
    observer.has(v.Send(queue="q", message=v.Message(body="own", properties=own)))
    shown = received("own", 0, 2, properties=own, dead_letter_reason="own")
    assert is_allowed(observer, TAKE, shown)


@pytest.mark.parametrize(("partitioned", "allowed"), [(False, True), (True, False)])
def test_regular_entity_may_need_an_id_in_a_transaction_too(
    observer: Observer, *, partitioned: bool, allowed: bool
) -> None:
    """DUP-12: of regular entities nothing is said."""
    observer.queue(partitioned=partitioned, duplicate_detection=True)
    observer.has(v.BeginTransaction(transaction="t"))
    message = v.Message(body="m", partition_key="k")
    sent = v.Send(queue="q", message=message, transaction="t")
    assert is_allowed(observer, sent, INVALID) is allowed


@pytest.mark.parametrize(("reading", "allowed"), [("first-in-first-out", False), ("either", True)])
def test_subscription_of_a_regular_topic_gives_the_oldest_first(
    reading: str, *, allowed: bool
) -> None:
    """REGULAR-ORDER, KEY-26: it is an entity that is not partitioned."""
    observer = observing({"REGULAR-ORDER": reading})
    observer.has(v.CreateTopic(topic="t", partitioned=False))
    observer.has(v.CreateSubscription(topic="t", subscription="s"))
    for body in ("m1", "m2"):
        observer.has(v.Send(queue="t", message=v.Message(body=body)))
    path = v.subscription_path("t", "s")
    receive = v.Receive(queue=path, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
    assert is_allowed(observer, receive, received("m2", 0, 2)) is allowed
    assert is_allowed(observer, receive, received("m1"))
