"""Tasks of `busproof client` with azure-servicebus, Microsoft's client for Python."""

import json
import os
import re
import time
from datetime import UTC, datetime, timedelta

from azure.core.credentials import AccessToken
from azure.servicebus import (
    NEXT_AVAILABLE_SESSION,
    AutoLockRenewer,
    ServiceBusClient,
    ServiceBusMessage,
    ServiceBusReceiveMode,
    TransportType,
)
from azure.servicebus._base_handler import ServiceBusSharedKeyCredential, _generate_sas_token
from azure.servicebus.management import ServiceBusAdministrationClient

PARAMETERS = json.loads(os.environ["BUSPROOF_PARAMETERS"])
CONNECTION = os.environ["BUSPROOF_CONNECTION_STRING"]


def report(event, **fields):
    """Tell busproof what happened, in a line of JSON."""
    print(json.dumps({"event": event, **fields}), flush=True)


def fail(error, **fields):
    """Report an error of the client."""
    report("failed", error=f"{type(error).__name__}: {error}", **fields)


def made(fields):
    """Return a message with the properties that the task names."""
    names = (
        *("message_id", "session_id", "partition_key", "subject", "correlation_id"),
        *("content_type", "reply_to", "to", "reply_to_session_id"),
    )
    options = {name: fields[name] for name in names if name in fields}
    if "time_to_live_seconds" in fields:
        options["time_to_live"] = timedelta(seconds=fields["time_to_live_seconds"])
    if "properties" in fields:
        options["application_properties"] = fields["properties"]
    return ServiceBusMessage(fields["body"], **options)


def send(client):
    """Send messages, one after the other or in a batch."""
    messages = PARAMETERS["messages"]
    with client.get_queue_sender(PARAMETERS["entity"]) as sender:
        if PARAMETERS.get("batch"):
            sender.send_messages([made(fields) for fields in messages])
            report("sent", index=0)
            return
        for index, fields in enumerate(messages):
            if index:
                time.sleep(PARAMETERS.get("pause_seconds", 0))
            try:
                sender.send_messages(made(fields))
            except Exception as error:
                fail(error, index=index)
            else:
                report("sent", index=index)


def schedule(client):
    """Schedule messages."""
    due = datetime.now(UTC) + timedelta(seconds=PARAMETERS["after_seconds"])
    with client.get_queue_sender(PARAMETERS["entity"]) as sender:
        messages = [made(fields) for fields in PARAMETERS["messages"]]
        for number in sender.schedule_messages(messages, due):
            report("scheduled", sequence_number=number)


def receive(client):
    """Receive messages, hold each for a while, and settle it."""
    options = {}
    if PARAMETERS.get("mode") == "receive-and-delete":
        options["receive_mode"] = ServiceBusReceiveMode.RECEIVE_AND_DELETE
    if "session" in PARAMETERS:
        options["session_id"] = PARAMETERS["session"] or NEXT_AVAILABLE_SESSION
    left = PARAMETERS["count"]
    ends = time.monotonic() + PARAMETERS.get("wait_seconds", 20)
    done = 0
    with client.get_queue_receiver(PARAMETERS["entity"], **options) as receiver:
        while left and time.monotonic() < ends:
            try:
                messages = receiver.receive_messages(left, max(1, ends - time.monotonic()))
            except Exception as error:
                # The application goes on, as long as it wants messages.
                fail(error)
                time.sleep(0.2)
                continue
            for message in messages:
                report("received", message_id=message.message_id)
                settle(receiver, message, done)
                done, left = done + 1, left - 1


def settle(receiver, message, index):
    """Hold a message for a while, and settle it as the task says."""
    ways = PARAMETERS.get("settlements")
    if not ways:
        return
    with AutoLockRenewer() as renewer:
        if PARAMETERS.get("renew"):
            renewer.register(receiver, message, max_lock_renewal_duration=300)
        time.sleep(PARAMETERS.get("hold_seconds", 0))
        way = ways[index % len(ways)]
        try:
            if way == "dead-letter":
                receiver.dead_letter_message(message, reason="why", error_description="because")
            else:
                getattr(receiver, f"{way}_message")(message)
        except Exception as error:
            fail(error, message_id=message.message_id)
        else:
            report("settled", message_id=message.message_id, settlement=way)


class ShortLived:
    """A credential whose tokens are valid for as long as the task says."""

    token_type = b"servicebus.windows.net:sastoken"

    def __init__(self, name, key):
        self._signing = ServiceBusSharedKeyCredential(name, key)

    def get_token(self, *scopes, **_):
        """Return a token that is valid for a few seconds."""
        until = int(time.time()) + PARAMETERS["token_seconds"]
        signing = self._signing
        text = _generate_sas_token(
            scopes[0], signing.policy, signing.key, timedelta(seconds=PARAMETERS["token_seconds"])
        ).token
        return AccessToken(text, until)


def create_queues(_):
    """Create partitioned queues."""
    admin = ServiceBusAdministrationClient.from_connection_string(CONNECTION)
    # As in Microsoft's sample for the emulator, which has no TLS.
    admin._impl._client._base_url = os.environ["BUSPROOF_ADMIN"]
    for entity in PARAMETERS["entities"]:
        admin.create_queue(entity, enable_partitioning=True)
        report("created", entity=entity)


def connected():
    """Return a client with its default settings."""
    if os.environ["BUSPROOF_TRANSPORT"] == "websocket":
        (address,) = re.findall(r"Endpoint=([^;]+)", CONNECTION)
        return ServiceBusClient.from_connection_string(
            CONNECTION,
            transport_type=TransportType.AmqpOverWebsocket,
            custom_endpoint_address=address,
        )
    if "token_seconds" not in PARAMETERS:
        return ServiceBusClient.from_connection_string(CONNECTION)
    client = ServiceBusClient.from_connection_string(CONNECTION)
    (name,) = re.findall(r"SharedAccessKeyName=([^;]+)", CONNECTION)
    (key,) = re.findall(r"SharedAccessKey=([^;]+)", CONNECTION)
    client._credential = ShortLived(name, key)
    return client


TASKS = {
    "send": send,
    "schedule": schedule,
    "receive": receive,
    "create-queues": create_queues,
}


def main():
    """Carry out the task that the environment names."""
    name = os.environ["BUSPROOF_TASK"]
    if name not in TASKS:
        report("unsupported", reason=f"azure-servicebus has no {name}")
        return
    with connected() as client:
        TASKS[name](client)
    report("done")


if __name__ == "__main__":
    main()
