"""The official Python client against the broker: times to live, sizes, and their refusals."""

from datetime import timedelta

import pytest
from azure.core.exceptions import HttpResponseError
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus import exceptions as errors

from busproof.vocabulary.commands import CreateQueue, TakePartitionDown

from ..conftest import Served, administration
from ..inside import inside
from ..test_sdk_queues import completed, emptied, sent

pytestmark = pytest.mark.slow

SECOND = timedelta(seconds=1)


def test_a_message_lives_as_long_as_it_was_sent_with(timeless: Served) -> None:
    sent(timeless, "plain", Message("short", time_to_live=5 * SECOND), Message("long"))
    with timeless.client() as client, client.get_queue_receiver("plain") as receiver:
        (short, _) = receiver.peek_messages(2)
        assert 5 * SECOND == short.time_to_live
        assert short.enqueued_time_utc + 5 * SECOND == short.expires_at_utc
    timeless.ask("/busproof/clock", advance=6)
    assert ["long"] == emptied(timeless, "plain", least=1)


def test_an_entity_limits_how_long_messages_live(timeless: Served, name: str) -> None:
    """What has outlived it is among the dead letters, if the entity was created so."""
    with administration(timeless) as admin:
        made = admin.create_queue(
            name,
            default_message_time_to_live=10 * SECOND,
            dead_lettering_on_message_expiration=True,
        )
        assert (10 * SECOND, True) == (
            made.default_message_time_to_live,
            made.dead_lettering_on_message_expiration,
        )
        sent(timeless, name, Message("old", time_to_live=60 * SECOND))
        with timeless.client() as client:
            with client.get_queue_receiver(name) as receiver:
                (seen,) = receiver.peek_messages()
                assert 10 * SECOND == seen.time_to_live
            with client.get_queue_receiver(name, sub_queue="deadletter") as receiver:
                assert [] == receiver.receive_messages(1, max_wait_time=1)
                timeless.ask("/busproof/clock", advance=11)
                (letter,) = completed(receiver)
                assert ("old", "TTLExpiredException") == (str(letter), letter.dead_letter_reason)
        made.default_message_time_to_live = 100 * SECOND
        admin.update_queue(made)
        assert 100 * SECOND == admin.get_queue(name).default_message_time_to_live
        sent(timeless, name, Message("kept"))
        timeless.ask("/busproof/clock", advance=50)
        assert ["kept"] == emptied(timeless, name, least=1)


def test_a_partitioned_queue_shows_the_size_of_all_its_partitions(
    served: Served, name: str
) -> None:
    with administration(served) as admin:
        properties = admin.create_queue(name, enable_partitioning=True, max_size_in_megabytes=2048)
        assert 16 * 2048 == properties.max_size_in_megabytes
        sent(served, name, Message("x" * 1000))
        assert 1000 <= admin.get_queue_runtime_properties(name).size_in_bytes <= 1100
        with pytest.raises(HttpResponseError, match="multiple of 1024"):
            admin.create_queue(f"{name}-odd", max_size_in_megabytes=1500)
        properties.max_size_in_megabytes = 1024
        admin.update_queue(properties)
        assert 16 * 1024 == admin.get_queue(name).max_size_in_megabytes
        properties.max_size_in_megabytes = 7 * 1024
        with pytest.raises(HttpResponseError, match="SIZE-02"):
            admin.update_queue(properties)


def test_each_refusal_is_an_error_of_its_own() -> None:
    """No room is no outage, and neither is an invalid operation."""
    with (
        inside(CreateQueue(queue="q")) as broker,
        broker.client() as client,
        client.get_queue_sender("q") as sender,
    ):
        sender.send_messages(Message("fits"))
        bus = broker.hub.bus
        partitions = bus.namespace.entities["q"].partitions
        for partition in partitions:
            partition.bytes += 2**30
        with pytest.raises(errors.ServiceBusQuotaExceededError, match="SIZE-"):
            sender.send_messages(Message("no room"))
        for partition in partitions:
            partition.bytes -= 2**30
        for partition in range(16):
            bus.ask(TakePartitionDown(queue="q", partition=partition), "test")
        with pytest.raises(errors.ServiceBusServerBusyError):
            sender.send_messages(Message("nowhere", partition_key="k"))
        torn = Message("torn", session_id="s", partition_key="s")
        torn._raw_amqp_message.annotations[b"x-opt-partition-key"] = "other"
        with pytest.raises(errors.ServiceBusError, match="KEY-08") as raised:
            sender.send_messages(torn)
        assert type(raised.value) is errors.ServiceBusError
        with pytest.raises(errors.MessageSizeExceededError):
            sender.send_messages(Message(b"x" * 300_000))
