"""The official Python client against the broker: sessions, topics and their rules."""

from datetime import UTC, datetime, timedelta

import pytest
from azure.servicebus import NEXT_AVAILABLE_SESSION, ServiceBusClient
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus import exceptions as errors
from work import PATIENCE

from ..conftest import Served
from ..test_sdk_queues import completed, emptied, sent, taken

pytestmark = pytest.mark.slow


def send_each(client: ServiceBusClient, session_id: str, *bodies: str) -> None:
    with client.get_queue_sender("sessions") as sender:
        for body in bodies:
            sender.send_messages(Message(body, session_id=session_id))


def test_a_session_comes_in_order_to_who_holds_it(served: Served, name: str) -> None:
    """And to nobody else."""
    with served.client() as client:
        send_each(client, name, "1", "2", "3")
        with client.get_queue_receiver("sessions", session_id=name) as receiver:
            found = taken(receiver, 3)
            assert ["1", "2", "3"] == [str(each) for each in found]
            assert {name} == {each.session_id for each in found}
            with (
                pytest.raises(errors.SessionCannotBeLockedError),
                client.get_queue_receiver("sessions", session_id=name) as rival,
            ):
                rival.receive_messages(1, max_wait_time=1)
            for each in found:
                receiver.complete_message(each)
        with client.get_queue_receiver("sessions", session_id=name) as receiver:
            assert [] == receiver.receive_messages(1, max_wait_time=1)


def test_the_next_session_is_one_that_has_messages(served: Served, name: str) -> None:
    with served.client() as client:
        with (
            pytest.raises(errors.OperationTimeoutError),
            client.get_queue_receiver(
                "sessions", session_id=NEXT_AVAILABLE_SESSION, max_wait_time=3
            ) as receiver,
        ):
            receiver.receive_messages(1)
        send_each(client, name, "waits")
        with client.get_queue_receiver(
            "sessions", session_id=NEXT_AVAILABLE_SESSION, max_wait_time=PATIENCE
        ) as receiver:
            assert name == receiver.session.session_id
            completed(receiver)


def test_a_session_keeps_its_state(served: Served, name: str) -> None:
    """Bytes of any kind, from one holder to the next, until it is removed."""
    with served.client() as client:
        send_each(client, name, "one")
        with client.get_queue_receiver("sessions", session_id=name) as receiver:
            assert receiver.session.get_state() is None
            receiver.session.set_state(b"\x00\xfe state")
            completed(receiver)
        with client.get_queue_receiver("sessions", session_id=name) as receiver:
            assert b"\x00\xfe state" == receiver.session.get_state()
            receiver.session.set_state(None)
            assert receiver.session.get_state() is None


def test_a_session_lock_is_renewed_or_lost(timeless: Served, name: str) -> None:
    with timeless.client() as client:
        send_each(client, name, "one")
        with client.get_queue_receiver("sessions", session_id=name) as receiver:
            timeless.ask("/busproof/clock", advance=40)
            before = receiver.session.locked_until_utc
            assert before < receiver.session.renew_lock()
            timeless.ask("/busproof/clock", advance=40)
            (held,) = taken(receiver)
            timeless.ask("/busproof/clock", advance=61)
            with pytest.raises(errors.SessionLockLostError):
                receiver.session.set_state(b"late")
        with client.get_queue_receiver("sessions", session_id=name) as receiver:
            (again,) = completed(receiver)
            assert held.message_id == again.message_id


def test_without_a_session_nothing_is_taken_or_given(served: Served) -> None:
    with served.client() as client:
        with (
            pytest.raises(errors.ServiceBusError, match="SESS-01"),
            client.get_queue_sender("sessions") as sender,
        ):
            sender.send_messages(Message("nobody's"))
        with (
            pytest.raises(errors.ServiceBusError, match="SESS-02"),
            client.get_queue_receiver("sessions") as receiver,
        ):
            receiver.receive_messages(1, max_wait_time=1)


def test_a_deferred_message_of_a_session_is_had_by_its_number(served: Served, name: str) -> None:
    with served.client() as client:
        send_each(client, name, "aside")
        with client.get_queue_receiver("sessions", session_id=name) as receiver:
            (held,) = taken(receiver)
            receiver.defer_message(held)
            (aside,) = receiver.receive_deferred_messages(held.sequence_number)
            receiver.complete_message(aside)
            assert "aside" == str(aside)


def test_a_session_waits_for_what_is_scheduled(timeless: Served, name: str) -> None:
    start = datetime.fromtimestamp(timeless.ask("/busproof/clock")["time"], UTC)
    with timeless.client() as client:
        with client.get_queue_sender("sessions") as sender:
            later = Message("later", session_id=name)
            sender.schedule_messages(later, start + timedelta(seconds=30))
        with client.get_queue_receiver("sessions", session_id=name) as receiver:
            assert [] == receiver.receive_messages(1, max_wait_time=1)
            timeless.ask("/busproof/clock", advance=30)
            (due,) = completed(receiver)
            assert "later" == str(due)


def test_a_topic_gives_each_subscription_what_its_rules_take(served: Served) -> None:
    with served.client() as client:
        with client.get_topic_sender("topic") as sender:
            for size in (2, 5):
                sender.send_messages(Message(f"{size}", application_properties={"size": size}))
        with client.get_subscription_receiver("topic", "all") as receiver:
            both = taken(receiver, 2)
            assert {"2", "5"} == {str(each) for each in both}
            receiver.dead_letter_message(both[0], reason="tired")
            receiver.complete_message(both[1])
        with client.get_subscription_receiver("topic", "all", sub_queue="deadletter") as receiver:
            (letter,) = completed(receiver)
            assert "tired" == letter.dead_letter_reason
        with client.get_subscription_receiver("topic", "some") as receiver:
            (big,) = completed(receiver)
            assert "5" == str(big)
            assert [] == receiver.receive_messages(1, max_wait_time=1)


def test_nobody_receives_from_a_topic(served: Served) -> None:
    with (
        served.client() as client,
        pytest.raises(errors.ServiceBusError),
        client.get_queue_receiver("topic") as receiver,
    ):
        receiver.receive_messages(1, max_wait_time=1)
    sent(served, "plain", Message("still here"))
    assert ["still here"] == emptied(served, "plain", least=1)
