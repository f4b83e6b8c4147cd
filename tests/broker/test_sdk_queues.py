"""The official Python client, unmodified, against the broker: queues."""

from datetime import UTC, datetime, timedelta

import pytest
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus import (
    ServiceBusReceivedMessage,
    ServiceBusReceiveMode,
    ServiceBusReceiver,
    ServiceBusSubQueue,
)
from azure.servicebus import exceptions as errors
from work import PATIENCE

from .conftest import Served

pytestmark = pytest.mark.slow

SEQUENCE_BITS = 48


def sent(served: Served, queue: str, *messages: Message) -> None:
    with served.client() as client, client.get_queue_sender(queue) as sender:
        for message in messages:
            sender.send_messages(message)


def taken(receiver: ServiceBusReceiver, count: int = 1) -> list[ServiceBusReceivedMessage]:
    """As many messages, in as many receives as that takes."""
    found: list[ServiceBusReceivedMessage] = []
    while len(found) < count:
        some = receiver.receive_messages(count - len(found), max_wait_time=PATIENCE)
        assert some, f"only {len(found)} of {count} messages came"
        found += some
    return found


def completed(receiver: ServiceBusReceiver, count: int = 1) -> list[ServiceBusReceivedMessage]:
    """As many messages, which are gone then."""
    found = taken(receiver, count)
    for each in found:
        receiver.complete_message(each)
    return found


def emptied(served: Served, queue: str, *, least: int = 0) -> list[str]:
    """The bodies of all that can be received, which is removed; so many are waited for."""
    with (
        served.client() as client,
        client.get_queue_receiver(
            queue, receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE
        ) as receiver,
    ):
        found: list[str] = []
        while some := receiver.receive_messages(
            50, max_wait_time=PATIENCE if len(found) < least else 1
        ):
            found += [str(each) for each in some]
        return found


@pytest.mark.parametrize("queue", ["plain", "parted"])
def test_a_message_comes_as_it_was_sent(served: Served, queue: str, name: str) -> None:
    """With its properties, those of the application and its body; and once only."""
    message = Message(
        b"\x00\xff body",
        application_properties={"text": "t", "whole": 7, "truth": True, "real": 1.5},
        content_type="a/b",
        correlation_id="c",
        subject="s",
        to="there",
        reply_to="back",
        message_id=name,
        partition_key="key" if queue == "parted" else None,
    )
    sent(served, queue, message)
    with served.client() as client, client.get_queue_receiver(queue) as receiver:
        (got,) = taken(receiver)
        assert b"\x00\xff body" == b"".join(got.body)
        assert {b"text": b"t", b"whole": 7, b"truth": True, b"real": 1.5} == (
            got.application_properties
        )
        assert ("a/b", "c", "s", "there", "back", name) == (
            *(got.content_type, got.correlation_id, got.subject, got.to, got.reply_to),
            got.message_id,
        )
        assert message.partition_key == got.partition_key
        assert 0 == got.delivery_count
        token = got._raw_amqp_message.delivery_annotations[b"x-opt-lock-token"]
        assert token == got.lock_token
        assert timedelta(seconds=50) < got.locked_until_utc - datetime.now(UTC)
        receiver.complete_message(got)
    assert [] == emptied(served, queue)


def test_messages_without_a_key_go_to_the_partitions_in_turn(served: Served) -> None:
    """As the top 16 bits of their numbers show; round-robin is the default policy."""
    with served.client() as client, client.get_queue_sender("once") as sender:
        for _ in range(16):
            sender.send_messages(Message("each"))
        with client.get_queue_receiver("once") as receiver:
            found = taken(receiver, 16)
            partitions = {each.sequence_number >> SEQUENCE_BITS for each in found}
            for each in found:
                receiver.complete_message(each)
    assert set(range(16)) == partitions


def test_a_batch_is_as_many_messages(served: Served) -> None:
    with served.client() as client, client.get_queue_sender("parted") as sender:
        sender.send_messages([Message(f"listed {each}") for each in range(3)])
        batch = sender.create_message_batch()
        for each in range(3):
            batch.add_message(Message(f"batched {each}"))
        sender.send_messages(batch)
    wanted = {f"{kind} {each}" for kind in ("listed", "batched") for each in range(3)}
    assert wanted == set(emptied(served, "parted", least=len(wanted)))


def test_a_payload_that_looks_like_a_message_is_no_batch(served: Served) -> None:
    inside = b"\x00\x53\x75\xa0\x01x"
    sent(served, "plain", Message(inside))
    with served.client() as client, client.get_queue_receiver("plain") as receiver:
        (got,) = completed(receiver)
        assert inside == b"".join(got.body)


def test_a_large_message_comes_whole(served: Served) -> None:
    body = bytes(range(256)) * 900
    sent(served, "plain", Message(body))
    with served.client() as client, client.get_queue_receiver("plain") as receiver:
        (got,) = completed(receiver)
        assert body == b"".join(got.body)


def test_every_settlement_has_its_effect(served: Served, name: str) -> None:
    """Abandoned comes again, counted; deferred by its number only; dead-lettered among the dead."""
    with served.client() as client, client.get_queue_sender("parted") as sender:
        for kind in ("abandon", "dead", "defer"):
            sender.send_messages(Message(kind, partition_key=name))
        with client.get_queue_receiver("parted") as receiver:
            abandoned, dead, deferred = taken(receiver, 3)
            receiver.abandon_message(abandoned)
            receiver.dead_letter_message(dead, reason="why", error_description="because")
            receiver.defer_message(deferred)
            (again,) = completed(receiver)
            assert ("abandon", 1) == (str(again), again.delivery_count)
            (aside,) = receiver.receive_deferred_messages(deferred.sequence_number)
            assert "defer" == str(aside)
            receiver.complete_message(aside)
            with pytest.raises(errors.MessageNotFoundError):
                receiver.receive_deferred_messages(deferred.sequence_number)
        with client.get_queue_receiver("parted", sub_queue="deadletter") as receiver:
            (letter,) = completed(receiver)
            assert ("dead", "why", "because") == (
                str(letter),
                letter.dead_letter_reason,
                letter.dead_letter_error_description,
            )
    assert [] == emptied(served, "parted")


def test_delivered_too_often_is_dead(served: Served) -> None:
    """For the reason that the documents name."""
    sent(served, "once", Message("one too many"))
    with served.client() as client:
        with client.get_queue_receiver("once") as receiver:
            receiver.abandon_message(taken(receiver)[0])
        with client.get_queue_receiver("once", sub_queue="deadletter") as receiver:
            (letter,) = completed(receiver)
            assert "MaxDeliveryCountExceeded" == letter.dead_letter_reason


def test_a_receiver_that_closes_gives_back_what_it_has_not_shown(served: Served) -> None:
    sent(served, "plain", *(Message(f"number {each}") for each in range(4)))
    with served.client() as client:
        with client.get_queue_receiver("plain", prefetch_count=10) as receiver:
            completed(receiver)
        with client.get_queue_receiver("plain") as receiver:
            rest = taken(receiver, 3)
            assert [0, 0, 0] == [each.delivery_count for each in rest]
            for each in rest:
                receiver.complete_message(each)


def test_a_peek_takes_nothing(served: Served, name: str) -> None:
    """It shows what there is of one partition, and goes on from a number."""
    sent(served, "parted", *(Message(f"{each}", partition_key=name) for each in range(3)))
    with served.client() as client, client.get_queue_receiver("parted") as receiver:
        seen = receiver.peek_messages(2)
        assert ["0", "1"] == [str(each) for each in seen]
        later = receiver.peek_messages(2, sequence_number=seen[-1].sequence_number + 1)
        assert ["2"] == [str(each) for each in later]
    assert ["0", "1", "2"] == emptied(served, "parted", least=3)


def test_a_renewed_lock_lasts_longer(timeless: Served) -> None:
    """And one that was not is lost: the client gets the error for lost locks."""
    sent(timeless, "hasty", Message("hold me"))
    with timeless.client() as client, client.get_queue_receiver("hasty") as receiver:
        (held,) = taken(receiver)
        timeless.ask("/busproof/clock", advance=4)
        before = held.locked_until_utc
        assert before < receiver.renew_message_lock(held)
        timeless.ask("/busproof/clock", advance=4)
        receiver.abandon_message(held)
        (held,) = taken(receiver)
        timeless.ask("/busproof/clock", advance=6)
        # The client looks at its own clock first, which has not moved.
        with pytest.raises(errors.MessageLockLostError):
            receiver.complete_message(held)
        (again,) = completed(receiver)
        assert 2 == again.delivery_count


def test_an_expired_lock_lets_a_waiting_receiver_have_the_message(timeless: Served) -> None:
    sent(timeless, "hasty", Message("once more"))
    with timeless.client() as client, client.get_queue_receiver("hasty") as first:
        taken(first)
        with client.get_queue_receiver("hasty", prefetch_count=1) as second:
            assert [] == second.receive_messages(1, max_wait_time=1)
            timeless.ask("/busproof/clock", advance=6)
            (again,) = completed(second)
            assert 1 == again.delivery_count


def test_a_scheduled_message_comes_when_it_is_due(timeless: Served) -> None:
    start = datetime.fromtimestamp(timeless.ask("/busproof/clock")["time"], UTC)
    with timeless.client() as client, client.get_queue_sender("parted") as sender:
        numbers = sender.schedule_messages(
            [Message("kept"), Message("cancelled")], start + timedelta(minutes=10)
        )
        sender.cancel_scheduled_messages(numbers[1])
        sender.send_messages(
            Message("own", scheduled_enqueue_time_utc=start + timedelta(minutes=20))
        )
        with client.get_queue_receiver("parted") as receiver:
            assert [] == receiver.receive_messages(3, max_wait_time=1)
            timeless.ask("/busproof/clock", advance=600)
            (due,) = completed(receiver)
            assert "kept" == str(due)
            assert due.sequence_number != numbers[0]
            timeless.ask("/busproof/clock", advance=600)
            (due,) = completed(receiver)
            assert "own" == str(due)


def test_duplicates_are_dropped(served: Served, name: str) -> None:
    sent(served, "distinct", *(Message(f"{each}", message_id=name) for each in range(2)))
    assert ["0"] == emptied(served, "distinct", least=1)


def test_an_entity_that_is_not_there_is_not_found(served: Served) -> None:
    """Neither by who sends nor by who receives: no token for it is taken, as by the service."""
    with served.client() as client:
        with (
            pytest.raises(errors.ServiceBusAuthenticationError, match="client-error"),
            client.get_queue_sender("nowhere") as sender,
        ):
            sender.send_messages(Message("lost"))
        with (
            pytest.raises(errors.ServiceBusAuthenticationError, match="client-error"),
            client.get_queue_receiver("nowhere") as receiver,
        ):
            receiver.receive_messages(1, max_wait_time=1)


def test_each_entity_has_a_place_for_the_dead_letters_of_transfers(served: Served) -> None:
    place = ServiceBusSubQueue.TRANSFER_DEAD_LETTER
    with served.client() as client:
        with client.get_queue_receiver("parted", sub_queue=place) as receiver:
            assert [] == receiver.receive_messages(1, max_wait_time=1)
            assert [] == receiver.peek_messages(1)
            with pytest.raises(errors.MessageNotFoundError):
                receiver.receive_deferred_messages([1])
        with (
            pytest.raises(errors.ServiceBusAuthenticationError, match="client-error"),
            client.get_queue_receiver("nowhere", sub_queue=place) as receiver,
        ):
            receiver.receive_messages(1, max_wait_time=1)


def test_a_key_whose_partition_is_down_is_refused_until_it_is_up(served: Served, name: str) -> None:
    """As busy, so that clients try again; what has no key goes elsewhere."""
    with served.client() as client, client.get_queue_sender("parted") as sender:
        sender.send_messages(Message("first", partition_key=name))
        witness = served.ask("/busproof/decisions")[-1]
        assert name == witness["partition_key"]
        place = {"entity": "parted", "partition": witness["partition"]}
        assert [witness["partition"]] == served.ask("/busproof/partitions/down", **place)["down"]
        with pytest.raises(errors.ServiceBusServerBusyError):
            sender.send_messages(Message("second", partition_key=name))
        for _ in range(16):
            sender.send_messages(Message("elsewhere"))
        with client.get_queue_receiver("parted") as receiver:
            found = taken(receiver, 16)
            assert {"elsewhere"} == {str(each) for each in found}
            for each in found:
                receiver.complete_message(each)
            assert [] == receiver.receive_messages(1, max_wait_time=1)
            assert [] == served.ask("/busproof/partitions/up", **place)["down"]
            (first,) = completed(receiver)
            assert "first" == str(first)
        sender.send_messages(Message("third", partition_key=name))
    assert ["third"] == emptied(served, "parted", least=1)
