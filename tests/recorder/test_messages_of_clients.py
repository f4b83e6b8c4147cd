"""The official client's messages through the recording: what it writes is what was said."""

from datetime import UTC, datetime, timedelta

import pytest
from azure.servicebus import NEXT_AVAILABLE_SESSION
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus.exceptions import SessionCannotBeLockedError
from azure.servicebus.management import SqlRuleFilter

from busproof import vocabulary as v

from .conftest import Recorded, taken, violated

pytestmark = pytest.mark.slow


def commands(events: list[v.Event]) -> list[str]:
    """The kinds of the requests, in the order of their answers."""
    return [type(event.command).__name__ for event in events]


def test_messages_that_are_sent_received_and_settled(recording: Recorded) -> None:
    with recording.administration() as admin:
        admin.create_queue("Orders", enable_partitioning=True)
    with recording.client() as client:
        with client.get_queue_sender("orders") as sender:
            sender.send_messages(Message("one", message_id="1", subject="s"))
            sender.send_messages([Message("two"), Message("three")])
        with client.get_queue_receiver("orders") as receiver:
            got = taken(receiver, 3)
            receiver.complete_message(got[0])
            receiver.dead_letter_message(got[1], reason="bad")
            receiver.abandon_message(got[2])
    events = recording.events()
    expected = ["CreateQueue", "Send", "SendBatch", *["Receive"] * 3]
    assert [*expected, "Complete", "DeadLetter", "Abandon"] == commands(events)
    assert {"orders"} == {event.command.queue for event in events}
    sent, batch = events[1].command.message, events[2].command.messages
    assert ("1", "s", 3) == (sent.message_id, sent.subject, sent.size)
    views = [event.outcome.message for event in events[3:6]]
    assert {sent.body, *(one.body for one in batch)} == {view.body for view in views}
    assert [1, 1, 1] == [view.delivery_count for view in views]
    assert "bad" == events[7].command.reason
    assert [event.command.lock_token for event in events[6:]] == [view.lock_token for view in views]
    assert all(isinstance(event.outcome, v.Done) for event in events[6:])
    verdict = recording.verdict()
    assert ([], 9) == (violated(verdict), verdict.events)


def test_times_contain_each_request(recording: Recorded) -> None:
    """A receive begins when its credit was given, which is before its message was sent."""
    with recording.administration() as admin:
        admin.create_queue("q", enable_partitioning=True)
    with recording.client() as client, client.get_queue_receiver("q") as receiver:
        assert [] == receiver.receive_messages(1, max_wait_time=0.3)
        with client.get_queue_sender("q") as sender:
            sender.send_messages(Message("late"))
        taken(receiver, 1)
    created, sent, received = recording.events()
    assert created.called <= created.returned <= received.called
    assert received.called < sent.called <= sent.returned
    assert received.returned > sent.called
    assert [] == violated(recording.verdict())


def test_requests_to_the_management_node(recording: Recorded) -> None:
    with recording.administration() as admin:
        admin.create_queue("q", enable_partitioning=True)
    with recording.client() as client:
        with client.get_queue_sender("q") as sender:
            sender.send_messages(Message("now"))
            due = datetime.now(UTC) + timedelta(hours=1)
            numbers = sender.schedule_messages([Message("later"), Message("never")], due)
            sender.cancel_scheduled_messages(numbers[1])
        with client.get_queue_receiver("q") as receiver:
            (got,) = taken(receiver, 1)
            receiver.renew_message_lock(got)
            receiver.defer_message(got)
            (deferred,) = receiver.receive_deferred_messages([got.sequence_number])
            receiver.complete_message(deferred)
            assert 1 == len(receiver.peek_messages(5, sequence_number=1))
    events = recording.events()
    expected = ["Send", "Schedule", "Schedule", "CancelScheduled", "Receive", "RenewLock", "Defer"]
    assert [*expected, "ReceiveDeferred", "Complete", "Peek"] == commands(events)[1:]
    schedules = [event for event in events if isinstance(event.command, v.Schedule)]
    assert numbers == [event.outcome.sequence_number for event in schedules]
    hour = 3600 * v.MICROSECONDS
    assert all(hour - 60_000_000 < event.command.delay <= hour for event in schedules)
    (peeked,) = events[-1].outcome.messages
    assert v.MessageState.SCHEDULED is peeked.state
    assert [] == violated(recording.verdict())


def test_sessions_are_accepted_used_and_closed(recording: Recorded) -> None:
    with recording.administration() as admin:
        admin.create_queue("q", enable_partitioning=True, requires_session=True)
    with recording.client() as client:
        with client.get_queue_sender("q") as sender:
            for number in range(4):
                sender.send_messages(Message(f"m{number}", session_id=f"s{number % 2}"))
        with client.get_queue_receiver("q", session_id="s0") as receiver:
            receiver.session.set_state("state")
            assert b"state" == receiver.session.get_state()
            receiver.session.renew_lock()
            for message in taken(receiver, 2):
                receiver.complete_message(message)
            with pytest.raises(SessionCannotBeLockedError):
                client.get_queue_receiver("q", session_id="s0").__enter__()
        with client.get_queue_receiver("q", session_id=NEXT_AVAILABLE_SESSION) as receiver:
            assert "s1" == receiver.session.session_id
    events = recording.events()[5:]
    expected = ["AcceptSession", "SetSessionState", "GetSessionState", "RenewSessionLock"]
    expected += ["Receive", "Receive", "Complete", "Complete", "AcceptSession", "CloseSession"]
    assert [*expected, "AcceptNextSession", "CloseSession"] == commands(events)
    assert v.Error.SESSION_CANNOT_BE_LOCKED is events[8].outcome.error
    assert v.SessionAccepted(session_id="s1") == events[-2].outcome
    assert events[1].command.state == events[2].outcome.state
    assert [] == violated(recording.verdict())


def test_topics_and_their_rules(recording: Recorded) -> None:
    with recording.administration() as admin, recording.client() as client:
        admin.create_topic("t", enable_partitioning=True)
        admin.create_subscription("t", "s")
        admin.create_rule("t", "s", "big", filter=SqlRuleFilter("size > 3"))
        admin.delete_rule("t", "s", "$Default")
        assert ["big"] == [rule.name for rule in admin.list_rules("t", "s")]
        with client.get_topic_sender("t") as sender:
            for size in (2, 4):
                sender.send_messages(Message("m", application_properties={"size": size}))
        with client.get_subscription_receiver("t", "s") as receiver:
            (got,) = taken(receiver, 1)
            receiver.complete_message(got)
        admin.get_topic("t")
        admin.delete_topic("t")
    events = recording.events()
    expected = ["CreateTopic", "CreateSubscription", "AddRule", "RemoveRule", "ListRules"]
    expected += ["Send", "Send", "Receive", "Complete", "GetTopic", "DeleteTopic"]
    assert expected == commands(events)
    assert "t/subscriptions/s" == events[7].command.queue
    assert {"size": 4} == dict(events[7].outcome.message.properties)
    assert [] == violated(recording.verdict())
