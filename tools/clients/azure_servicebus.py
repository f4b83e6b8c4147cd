"""Try any version of Microsoft's Python client; print a line for each step.

It runs in an environment of its own, without the project. Environment variables name the broker:
BUSPROOF_CONNECTION, BUSPROOF_ADMIN and BUSPROOF_CA; with BUSPROOF_TLS, AMQP uses TLS, the only
transport of versions before 7.12.
"""

import os
import re
from datetime import datetime, timedelta

from azure.servicebus import (
    NEXT_AVAILABLE_SESSION,
    AutoLockRenewer,
    ServiceBusClient,
    ServiceBusMessage,
    ServiceBusReceiveMode,
    ServiceBusSubQueue,
    TransportType,
)
from azure.servicebus.management import ServiceBusAdministrationClient, SqlRuleFilter

CONNECTION, ADMIN = os.environ["BUSPROOF_CONNECTION"], os.environ["BUSPROOF_ADMIN"]
WEB = "BUSPROOF_WEB" in os.environ
TLS = WEB or "BUSPROOF_TLS" in os.environ
WAIT = 20


def connected():
    """Return a client that does not retry."""
    text, options = CONNECTION, {}
    if TLS:
        text = re.sub(r"sb://[^;]+", "sb://localhost", text).replace(
            "UseDevelopmentEmulator=true;", ""
        )
        options = {"connection_verify": os.environ["BUSPROOF_CA"]}
    if WEB:
        address = f"sb://localhost:{os.environ['BUSPROOF_WEB_PORT']}"
        over = TransportType.AmqpOverWebsocket
        options |= {"transport_type": over, "custom_endpoint_address": address}
    return ServiceBusClient.from_connection_string(text, retry_total=0, **options)


def body(message):
    """Return the body of a message as text."""
    return b"".join(message.body).decode()


def send(client, queue, *messages):
    """Send messages, several in one request."""
    with client.get_queue_sender(queue) as sender:
        sender.send_messages(list(messages))


def taken(receiver, count):
    """Receive this many messages, with as many receives as necessary."""
    messages = []
    while len(messages) < count:
        some = receiver.receive_messages(count - len(messages), WAIT)
        assert some, f"{len(messages)} of {count} messages came"
        messages += some
    return messages


def sends_and_receives(client):
    """Receive messages, one of them in several frames, while a thread renews their locks."""
    send(client, "plain", ServiceBusMessage("x" * 200_000))
    send(client, "plain", *[ServiceBusMessage(str(number)) for number in range(5)])
    with client.get_queue_receiver("plain") as receiver, AutoLockRenewer() as renewer:
        messages = taken(receiver, 6)
        for message in messages:
            renewer.register(receiver, message, max_lock_renewal_duration=60)
        for message in messages:
            receiver.complete_message(message)
    assert [len(body(message)) for message in messages] == [200_000, 1, 1, 1, 1, 1]


def settles(client):
    """Abandon, renew, defer and dead-letter one message of a partitioned queue."""
    send(client, "parted", ServiceBusMessage("settled"))
    with client.get_queue_receiver("parted") as receiver:
        receiver.abandon_message(taken(receiver, 1)[0])
        (message,) = taken(receiver, 1)
        assert message.delivery_count == 1
        receiver.renew_message_lock(message)
        receiver.defer_message(message)
        (message,) = receiver.receive_deferred_messages(message.sequence_number)
        receiver.dead_letter_message(message, reason="why", error_description="because")
    letters = client.get_queue_receiver("parted", sub_queue=ServiceBusSubQueue.DEAD_LETTER)
    with letters as receiver:
        (letter,) = taken(receiver, 1)
        assert (letter.dead_letter_reason, body(letter)) == ("why", "settled")
        receiver.complete_message(letter)


def keeps_sessions(client):
    """Accept a session by name, and the next one; use the state of each."""
    for session in ("named", "next"):
        send(client, "sessions", ServiceBusMessage("m", session_id=session))
    for session in ("named", NEXT_AVAILABLE_SESSION):
        with client.get_queue_receiver("sessions", session_id=session) as receiver:
            receiver.session.set_state("state")
            assert bytes(receiver.session.get_state()) == b"state"
            receiver.session.renew_lock()
            receiver.complete_message(taken(receiver, 1)[0])


def schedules(client):
    """Schedule a message and receive it; schedule another and cancel it."""
    with client.get_queue_sender("plain") as sender:
        now = datetime.utcnow()
        sender.schedule_messages(ServiceBusMessage("comes"), now + timedelta(seconds=2))
        never = sender.schedule_messages(ServiceBusMessage("never"), now + timedelta(hours=2))
        sender.cancel_scheduled_messages(never)
    mode = ServiceBusReceiveMode.RECEIVE_AND_DELETE
    with client.get_queue_receiver("plain", receive_mode=mode) as receiver:
        assert [body(peek_message) for peek_message in receiver.peek_messages(5)] == ["comes"]
        assert [body(message) for message in taken(receiver, 1)] == ["comes"]


def subscribes(client):
    """Receive a message of a topic from a subscription."""
    with client.get_topic_sender("topic") as sender:
        sender.send_messages(ServiceBusMessage("m", application_properties={"size": 4}))
    with client.get_subscription_receiver("topic", "some") as receiver:
        receiver.complete_message(taken(receiver, 1)[0])


def administers(_):
    """Create, get, list and delete entities and rules."""
    text = re.sub(r"sb://[^;]+", "sb://localhost", CONNECTION)
    admin = ServiceBusAdministrationClient.from_connection_string(text)
    admin._impl._client._base_url = ADMIN  # as in Microsoft's sample for the emulator
    admin.create_queue("made")
    assert "made" in [queue.name for queue in admin.list_queues()]
    assert admin.get_queue_runtime_properties("made").total_message_count == 0
    admin.delete_queue("made")
    admin.create_rule("topic", "all", "made", filter=SqlRuleFilter("size = 1"))
    assert admin.get_rule("topic", "all", "made").filter.sql_expression == "size = 1"
    admin.delete_rule("topic", "all", "made")


for step in (sends_and_receives, settles, keeps_sessions, schedules, subscribes, administers):
    try:
        with connected() as client:
            step(client)
    except Exception as error:  # print the failed step, and try the others
        print(step.__name__, "failed:", repr(error).replace("\n", " ")[:300], flush=True)
    else:
        print(step.__name__, "ok", flush=True)
