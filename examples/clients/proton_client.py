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

import cproton
from proton import (
    UNDESCRIBED,
    Array,
    Condition,
    Data,
    Delivery,
    Described,
    Endpoint,
    Message,
    Terminus,
    Timeout,
    symbol,
    timestamp,
    ulong,
)
from proton.reactor import AtMostOnce, Filter, LinkOption
from proton.utils import BlockingConnection, LinkDetached

KEY = symbol("x-opt-partition-key")
DUE = symbol("x-opt-scheduled-enqueue-time")
SESSION = symbol("com.microsoft:session-filter")
TRANSACTIONAL = 0x34
DECLARE, DISCHARGE = ulong(0x31), ulong(0x32)
BUSY = "com.microsoft:server-busy"
DETACHED = "amqp:link:detach-forced"
TRANSIENT = (BUSY, DETACHED, "com.microsoft:timeout", "amqp:internal-error")
TIMEOUT = 60
PAUSE = 10.5
TRIES = 3
RENEWAL = 2


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


class Unsupported(Exception):
    """The client cannot do what the task wants."""


class Client:
    """A client of a Service Bus namespace."""

    def __init__(self, connection_string: str) -> None:
        (self.address,) = re.findall(r"sb://([^;]+)", connection_string)
        (self.name,) = re.findall(r"SharedAccessKeyName=([^;]+)", connection_string)
        (self.key,) = re.findall(r"SharedAccessKey=([^;]+)", connection_string)
        self.connection: BlockingConnection | None = None
        self.senders: dict[str, Any] = {}
        self.coordinator: Any = None

    def connect(self) -> BlockingConnection:
        """Return the connection; connect if there is none."""
        if os.environ["BUSPROOF_TRANSPORT"] == "websocket":
            self.open_websocket()
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
        self.connection = self.coordinator = None
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
        if "due" in fields:
            message.annotations = {**(message.annotations or {}), DUE: timestamp(fields["due"])}
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
            except Unsupported:
                raise
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

    def idle(self, seconds: float) -> None:
        """Let time pass, and answer the service meanwhile."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            try:
                self.connect().wait(self.is_asked_back, timeout=left)
            except Timeout:
                return
            except Exception as error:  # the next send connects again
                print("idle:", repr(error), file=sys.stderr)
                self.disconnect()
                time.sleep(left)
                return
            for sender in self.senders.values():
                sender.link.drained()

    def is_asked_back(self) -> bool:
        """Return whether the service asks back the credit of a link."""
        return any(
            sender.link.drain_mode and sender.link.credit > 0 for sender in self.senders.values()
        )

    def may_retry(self, condition: str) -> bool:
        """Return whether an operation that was refused so may succeed later."""
        return condition in TRANSIENT

    def pause(self, condition: str) -> None:
        """Wait before an operation is tried again."""
        time.sleep(PAUSE if condition == BUSY else 0.2)

    def receiver(self, parameters: dict[str, Any]) -> Any:
        """Return a link for receiving, without credit."""
        options: list[LinkOption] = []
        if parameters.get("mode") == "receive-and-delete":
            options.append(AtMostOnce())
        if "session" in parameters:
            options.append(Filter({SESSION: parameters["session"]}))
        return self.connect().create_receiver(parameters["entity"], credit=0, options=options)

    def settle(self, receiver: Any, delivery: Delivery, way: str) -> None:
        """Settle a message, and wait for the service's word."""
        if way == "dead-letter":
            reason = {symbol("DeadLetterReason"): "why"}
            delivery.local.condition = Condition("com.microsoft:dead-letter", "why", reason)
            delivery.update(Delivery.REJECTED)
        elif way == "defer":
            delivery.local.undeliverable = True
            delivery.update(Delivery.MODIFIED)
        else:
            delivery.update(Delivery.ACCEPTED if way == "complete" else Delivery.MODIFIED)
        self.connect().wait(lambda: delivery.settled or is_closed(receiver.link))
        condition = delivery.remote.condition
        if way != "dead-letter" and delivery.remote_state == Delivery.REJECTED:
            raise Refused("unknown" if condition is None else condition.name)
        delivery.settle()

    def renew(self, entity: str, delivery: Delivery) -> None:
        """Renew the lock of a message."""
        token = uuid.UUID(bytes_le=tag_of(delivery))
        tokens = Array(UNDESCRIBED, Data.UUID, token)
        request = self.ask(entity, "renew-lock", {"lock-tokens": tokens})
        self.request(f"{entity}/$management", request)

    def send_batch(self, entity: str, messages: list[dict[str, Any]]) -> None:
        """Send messages in one transfer."""
        raise Unsupported("Proton's Python classes have no message format")

    def open_websocket(self) -> None:
        """Connect over a WebSocket."""
        raise Unsupported("Proton's Python classes have no WebSockets")

    def create_queue(self, entity: str) -> None:
        """Create a partitioned queue over HTTP."""
        raise Unsupported("Proton speaks no HTTP")

    def use_tokens(self, entity: str, seconds: int) -> None:
        """Log in by tokens that are valid for this long."""
        raise Unsupported("this client logs in by SASL PLAIN, without tokens")

    def ask(self, entity: str, operation: str, body: dict[str, Any]) -> Message:
        """Return a request to a management node."""
        message = Message(body, id=str(uuid.uuid4()))
        message.properties = {"operation": f"com.microsoft:{operation}"}
        return message

    def request(self, node: str, message: Message) -> Message:
        """Send a request to a node, and return its answer."""
        connection, address = self.connect(), str(uuid.uuid4())
        sender = connection.create_sender(node)
        replies = connection.create_receiver(node, credit=1, options=[ReplyAddress(address)])
        message.reply_to = address
        sender.send(message)
        answer = replies.receive(TIMEOUT)
        for link in (sender, replies):
            link.close()
        return answer

    def hold(self, entity: str, delivery: Delivery, seconds: float, *, renews: bool) -> None:
        """Work on a message for a while, and keep its lock if that is wanted."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            time.sleep(min(left, RENEWAL))
            if renews:
                self.renew(entity, delivery)

    def control(self, described: ulong, *fields: Any) -> list[Any]:
        """Ask the coordinator of transactions; return the fields of its answer."""
        connection = self.connect()
        if self.coordinator is None:
            self.coordinator = connection.create_sender(None, options=[ToCoordinator()])
        message = Message(Described(described, list(fields)), inferred=False)
        delivery = self.coordinator.link.send(message)
        connection.wait(lambda: delivery.settled)
        return [bytes(value) for value in delivery.remote.data or []]

    def transact(self, entity: str, messages: list[dict[str, Any]], *, commits: bool) -> None:
        """Send messages in a transaction, and commit it or roll it back."""
        (transaction, *_) = self.control(DECLARE, None)
        for fields in messages:
            self.send_in(transaction, entity, fields)
        self.control(DISCHARGE, transaction, not commits)

    def send_in(self, transaction: bytes, entity: str, fields: dict[str, Any]) -> None:
        """Send a message in a transaction."""
        link = self.sender(entity).link
        delivery = link.delivery(link.delivery_tag())
        delivery.local.data = [transaction]
        delivery.update(TRANSACTIONAL)
        link.stream(self.encode(fields).encode())
        link.advance()
        self.connect().wait(lambda: delivery.settled)


def tag_of(delivery: Delivery) -> bytes:
    """Return the tag of a delivery, which Proton's class would take for text."""
    raw = cproton.lib.pn_delivery_tag(delivery._impl)
    return bytes(cproton.ffi.buffer(raw.start, raw.size))


class ReplyAddress(LinkOption):
    """The address at which answers are received."""

    def __init__(self, address: str) -> None:
        self.address = address

    def apply(self, link: Any) -> None:
        """Set the address."""
        link.target.address = self.address


class ToCoordinator(LinkOption):
    """A link to the coordinator of transactions."""

    def apply(self, link: Any) -> None:
        """Set the target."""
        link.target.type = Terminus.COORDINATOR
        link.target.capabilities.put_object(symbol("amqp:local-transactions"))


class Tasks:
    """The tasks, by their names."""

    def __init__(self, client: Client, parameters: dict[str, Any]) -> None:
        self.client = client
        self.parameters = parameters
        self.entity = parameters.get("entity", "")

    def send(self) -> None:
        """Send messages, one after the other or at once."""
        if self.parameters.get("batch"):
            self.client.send_batch(self.entity, self.parameters["messages"])
            return
        if self.parameters.get("at_once"):
            self.client.send_at_once(self.entity, self.parameters["messages"])
            return
        for index, fields in enumerate(self.parameters["messages"]):
            if index:
                self.client.idle(self.parameters.get("pause_seconds", 0))
            try:
                self.client.send(self.entity, fields)
            except Unsupported:
                raise
            except Exception as error:
                report("failed", index=index, error=str(error))
            else:
                report("sent", index=index)

    def create_queues(self) -> None:
        """Create partitioned queues."""
        for entity in self.parameters["entities"]:
            self.client.create_queue(entity)

    def schedule(self) -> None:
        """Send messages that are due later."""
        due = round((time.time() + self.parameters["after_seconds"]) * 1000)
        for fields in self.parameters["messages"]:
            self.client.send(self.entity, {**fields, "due": due})
            report("scheduled")

    def transaction(self) -> None:
        """Send messages in a transaction."""
        messages, commits = self.parameters["messages"], self.parameters["commit"]
        self.client.transact(self.entity, messages, commits=commits)

    def receive(self) -> None:
        """Receive messages until there are enough or the time is over."""
        if "token_seconds" in self.parameters:
            self.client.use_tokens(self.entity, self.parameters["token_seconds"])
        ends = time.monotonic() + self.parameters.get("wait_seconds", 20)
        done, receiver = 0, None
        while done < self.parameters["count"] and (left := ends - time.monotonic()) > 0:
            try:
                receiver = receiver or self.client.receiver(self.parameters)
                message = receiver.receive(left)
            except Timeout:
                return
            except Exception as error:  # Proton has no common class for lost connections
                report("failed", error=repr(error))
                if not isinstance(error, LinkDetached):
                    self.client.disconnect()
                receiver = None
                continue
            report("received", message_id=message.id)
            self.settle(receiver, message, done)
            done += 1
            if is_closed(receiver.link):
                receiver = None  # its end was seen while the message was settled

    def settle(self, receiver: Any, message: Message, index: int) -> None:
        """Hold a message for a while, and settle it as the task says."""
        ways = self.parameters.get("settlements")
        if not ways:
            return
        delivery, way = receiver.fetcher.unsettled.pop(), ways[index % len(ways)]
        hold, renews = self.parameters.get("hold_seconds", 0), self.parameters.get("renew", False)
        try:
            self.client.hold(self.entity, delivery, hold, renews=renews)
            self.client.settle(receiver, delivery, way)
        except Exception as error:
            report("failed", message_id=message.id, error=str(error))
        else:
            report("settled", message_id=message.id, settlement=way)


def main(kind: type[Client] = Client) -> None:
    """Carry out the task that the environment names."""
    client = kind(os.environ["BUSPROOF_CONNECTION_STRING"])
    tasks = Tasks(client, json.loads(os.environ["BUSPROOF_PARAMETERS"]))
    task = getattr(tasks, os.environ["BUSPROOF_TASK"].replace("-", "_"), None)
    if task is None:
        report("unsupported", reason=f"no task {os.environ['BUSPROOF_TASK']}")
        return
    try:
        task()
    except Unsupported as error:
        report("unsupported", reason=str(error))
        return
    client.disconnect()
    report("done")


if __name__ == "__main__":
    main()
