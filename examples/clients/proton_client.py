"""Tasks of `busproof client` with python-qpid-proton, which knows nothing about Service Bus.

So this file is the client: what a library for Service Bus does by itself is written out here.
"""

import json
import os
import re
import sys
import time
import uuid
from typing import Any

from proton import Delivery, Endpoint, Message, symbol
from proton.utils import BlockingConnection, LinkDetached

KEY = symbol("x-opt-partition-key")
BUSY = "com.microsoft:server-busy"
DETACHED = "amqp:link:detach-forced"
TRANSIENT = (BUSY, DETACHED, "com.microsoft:timeout", "amqp:internal-error")
TIMEOUT = 60
PAUSE = 10.5
TRIES = 3


def report(event: str, **fields: Any) -> None:
    """Tell busproof what happened, in a line of JSON."""
    print(json.dumps({"event": event, **fields}), flush=True)


def is_closed(link: Any) -> bool:
    """Return whether the service has ended a link."""
    return bool(link.state & Endpoint.REMOTE_CLOSED)


class Refused(Exception):
    """The service refused an operation."""

    def __init__(self, condition: str) -> None:
        super().__init__(condition)
        self.condition = condition


class Client:
    """A client of a Service Bus namespace."""

    def __init__(self, connection_string: str) -> None:
        (self.address,) = re.findall(r"sb://([^;]+)", connection_string)
        (self.name,) = re.findall(r"SharedAccessKeyName=([^;]+)", connection_string)
        (self.key,) = re.findall(r"SharedAccessKey=([^;]+)", connection_string)
        self.connection: BlockingConnection | None = None
        self.senders: dict[str, Any] = {}

    def connect(self) -> BlockingConnection:
        """Return the connection; connect if there is none."""
        if self.connection is None:
            self.connection = BlockingConnection(
                f"amqp://{self.address}",
                timeout=TIMEOUT,
                user=self.name,
                password=self.key,
                allowed_mechs="PLAIN",
            )
        return self.connection

    def disconnect(self) -> None:
        """Forget the connection and its links."""
        try:
            if self.connection is not None:
                self.connection.close()
        except Exception as error:
            print("closing:", error, file=sys.stderr)
        self.connection = None
        self.senders.clear()

    def sender(self, entity: str) -> Any:
        """Return a link for sending to an entity."""
        if entity not in self.senders:
            self.senders[entity] = self.connect().create_sender(entity)
        return self.senders[entity]

    def encode(self, fields: dict[str, Any]) -> Message:
        """Return a message as the protocol guide wants it."""
        message = Message(fields["body"], id=fields.get("message_id") or str(uuid.uuid4()))
        message.group_id = fields.get("session_id")
        message.subject = fields.get("subject")
        message.correlation_id = fields.get("correlation_id")
        message.content_type = fields.get("content_type")
        message.reply_to = fields.get("reply_to")
        message.address = fields.get("to")
        message.reply_to_group_id = fields.get("reply_to_session_id")
        message.properties = fields.get("properties")
        if "time_to_live_seconds" in fields:
            message.ttl = fields["time_to_live_seconds"]
        if "partition_key" in fields:
            message.annotations = {KEY: fields["partition_key"]}
        return message

    def transfer(self, entity: str, message: Message) -> None:
        """Send a message once, and wait for the outcome."""
        connection, sender = self.connect(), self.sender(entity)
        try:
            connection.wait(lambda: sender.link.credit > 0 or is_closed(sender.link))
            delivery = sender.link.send(message)
            connection.wait(lambda: delivery.settled or is_closed(sender.link))
        except LinkDetached as detached:
            self.senders.pop(entity, None)
            raise Refused(detached.condition or DETACHED) from None
        if not delivery.settled:
            self.senders.pop(entity, None)
            raise Refused(DETACHED)
        if delivery.remote_state != Delivery.ACCEPTED:
            condition = delivery.remote.condition
            raise Refused("unknown" if condition is None else condition.name)

    def send(self, entity: str, fields: dict[str, Any]) -> None:
        """Send a message, and try again what may succeed later."""
        message = self.encode(fields)
        for tries in range(1, TRIES + 1):
            try:
                self.transfer(entity, message)
            except Refused as refused:
                if tries == TRIES or not self.may_retry(refused.condition):
                    raise
                self.pause(refused.condition)
            except Exception as error:  # Proton has no common class for lost connections
                if tries == TRIES:
                    raise
                print("sending again:", repr(error), file=sys.stderr)
                self.disconnect()
            else:
                return

    def send_at_once(self, entity: str, messages: list[dict[str, Any]]) -> None:
        """Send messages, and wait for the outcomes of all."""
        sender = self.sender(entity)
        deliveries = [sender.link.send(self.encode(fields)) for fields in messages]
        self.connect().wait(lambda: all(delivery.settled for delivery in deliveries))

    def may_retry(self, condition: str) -> bool:
        """Return whether an operation that was refused so may succeed later."""
        return condition in TRANSIENT

    def pause(self, condition: str) -> None:
        """Wait before an operation is tried again."""
        time.sleep(PAUSE if condition == BUSY else 0.2)


class Tasks:
    """The tasks, by their names."""

    def __init__(self, client: Client, parameters: dict[str, Any]) -> None:
        self.client = client
        self.parameters = parameters

    def send(self) -> None:
        """Send messages, one after the other or at once."""
        if self.parameters.get("at_once"):
            self.client.send_at_once(self.parameters["entity"], self.parameters["messages"])
            return
        for index, fields in enumerate(self.parameters["messages"]):
            try:
                self.client.send(self.parameters["entity"], fields)
            except Exception as error:
                report("failed", index=index, error=str(error))
            else:
                report("sent", index=index)


def main(kind: type[Client] = Client) -> None:
    """Carry out the task that the environment names."""
    client = kind(os.environ["BUSPROOF_CONNECTION_STRING"])
    tasks = Tasks(client, json.loads(os.environ["BUSPROOF_PARAMETERS"]))
    task = getattr(tasks, os.environ["BUSPROOF_TASK"].replace("-", "_"), None)
    if task is None:
        report("unsupported", reason=f"no task {os.environ['BUSPROOF_TASK']}")
        return
    task()
    client.disconnect()
    report("done")


if __name__ == "__main__":
    main()
