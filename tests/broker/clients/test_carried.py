"""What a message carries when it is delivered, as the official client shows it."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus import ServiceBusMessageState
from azure.servicebus.management import SqlRuleAction, SqlRuleFilter
from proton import Message as ProtonMessage

from .. import raw
from ..conftest import Served, administration
from ..test_sdk_queues import completed, sent, taken

pytestmark = pytest.mark.slow


def test_scheduled_message_shows_when_it_was_due(timeless: Served) -> None:
    """While it waits, and when it has arrived; then it has an enqueued time, too."""
    due = datetime.fromtimestamp(int(timeless.ask("/busproof/clock")["time"]) + 60, UTC)
    sent(timeless, "plain", Message("later", scheduled_enqueue_time_utc=due))
    with timeless.client() as client, client.get_queue_receiver("plain") as receiver:
        (waiting,) = receiver.peek_messages(1)
        assert (due, None) == (waiting.scheduled_enqueue_time_utc, waiting.enqueued_time_utc)
        timeless.ask("/busproof/clock", advance=61)
        (come,) = completed(receiver)
        assert (due, due) == (come.scheduled_enqueue_time_utc, come.enqueued_time_utc)


def test_deferred_message_says_that_it_is_one(served: Served) -> None:
    """When it is received by its number, and when it is peeked at; before that it is active."""
    sent(served, "plain", Message("aside"))
    with served.client() as client, client.get_queue_receiver("plain") as receiver:
        (message,) = taken(receiver)
        receiver.defer_message(message)
        number = message.sequence_number or 0
        (peeked,) = receiver.peek_messages(1, sequence_number=number)
        (deferred,) = receiver.receive_deferred_messages(number)
        receiver.complete_message(deferred)
    assert [
        ServiceBusMessageState.ACTIVE,
        ServiceBusMessageState.DEFERRED,
        ServiceBusMessageState.DEFERRED,
    ] == [message.state, peeked.state, deferred.state]


def test_delivery_annotations_are_kept(served: Served) -> None:
    """Beside the lock's token, in the place of one that was sent; a peek shows them, too."""
    message = Message("annotated")
    message.raw_amqp_message.delivery_annotations = {"x-opt-mine": 3, "x-opt-lock-token": 5}
    sent(served, "plain", message)
    with served.client() as client, client.get_queue_receiver("plain") as receiver:
        (peeked,) = receiver.peek_messages(1)
        (come,) = taken(receiver)
        token, kept = come.lock_token, dict(come.raw_amqp_message.delivery_annotations or {})
        receiver.complete_message(come)
    assert {b"x-opt-mine": 3} == peeked.raw_amqp_message.delivery_annotations
    assert {b"x-opt-mine": 3, b"x-opt-lock-token": token} == kept


def test_forwarded_dead_letter_keeps_its_description(served: Served, name: str) -> None:
    with administration(served) as admin:
        admin.create_queue(name)
        admin.create_queue(f"{name}-source", forward_dead_lettered_messages_to=name)
    sent(served, f"{name}-source", Message("dead", application_properties={"own": 1}))
    with served.client() as client:
        with client.get_queue_receiver(f"{name}-source") as receiver:
            (message,) = taken(receiver)
            receiver.dead_letter_message(message, reason="why", error_description="because")
        with client.get_queue_receiver(name) as receiver:
            (letter,) = completed(receiver)
    assert ("dead", "why", "because") == (
        str(letter),
        letter.dead_letter_reason,
        letter.dead_letter_error_description,
    )
    assert 1 == (letter.application_properties or {})[b"own"]


def test_filters_and_duplicates_see_the_message_id_that_was_assigned(
    served: Served, name: str
) -> None:
    """As they see one from a client library; no two are equal."""
    with administration(served) as admin:
        admin.create_topic(name, requires_duplicate_detection=True)
        admin.create_subscription(name, "s")
        admin.delete_rule(name, "s", "$Default")
        named = SqlRuleFilter("sys.MessageId IS NOT NULL")
        action = SqlRuleAction("SET seen = sys.MessageId")
        admin.create_rule(name, "s", "named", filter=named, action=action)
    with raw.logged_in(served.port) as connection:
        sender = connection.create_sender(name)
        for _ in range(2):
            sender.send(ProtonMessage(b"bare", inferred=True))
    with served.client() as client, client.get_subscription_receiver(name, "s") as receiver:
        one, other = taken(receiver, 2)
    for message in (one, other):
        properties = message.application_properties or {}
        assert properties[b"seen"] == (message.message_id or "").encode()
    assert one.message_id != other.message_id


def test_copy_that_an_action_changes_keeps_the_rest(served: Served, name: str) -> None:
    """Its MessageId, which it may have been given, and properties that no filter knows."""
    moment, number = datetime(2026, 1, 2, tzinfo=UTC), UUID(int=7)
    with administration(served) as admin:
        admin.create_topic(name)
        admin.create_subscription(name, "s")
        admin.delete_rule(name, "s", "$Default")
        action = SqlRuleAction("SET colour = 'blue'; REMOVE size; SET sys.Label = 'changed'")
        admin.create_rule(name, "s", "paint", filter=SqlRuleFilter("1 = 1"), action=action)
        properties = {"colour": "red", "size": 3, "moment": moment, "number": number, "n": 1.5}
        with served.client() as client:
            with client.get_topic_sender(name) as sender:
                message = Message("m", message_id="own", subject="sent", reply_to="back")
                message.application_properties = dict(properties)
                message.raw_amqp_message.properties.user_id = b"user"
                sender.send_messages(message)
            with raw.logged_in(served.port) as connection:
                bare = ProtonMessage(b"bare", inferred=True)
                connection.create_sender(name).send(bare)
            with client.get_subscription_receiver(name, "s") as receiver:
                own, given = sorted(taken(receiver, 2), key=str, reverse=True)
    milliseconds = int(moment.timestamp() * 1000)
    assert {
        b"colour": b"blue",
        b"moment": milliseconds,
        b"number": number,
        b"n": 1.5,
        b"RuleName": b"paint",
    } == own.application_properties
    assert ("changed", "back", "m") == (own.subject, own.reply_to, str(own))
    assert own.raw_amqp_message.properties is not None
    assert b"user" == own.raw_amqp_message.properties.user_id
    assert ("bare", "changed") == (str(given), given.subject)
    assert "own" == own.message_id
    assert 32 == len(given.message_id or "")
