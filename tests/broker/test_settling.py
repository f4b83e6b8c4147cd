"""Settling as only a raw client can: in transactions, with properties, many at once; and claims."""

import time
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage as SdkMessage
from proton import UNDESCRIBED as NO_DESCRIPTOR
from proton import Array, Data, Delivery, Message, int32, symbol, timestamp
from proton.handlers import MessagingHandler, TransactionHandler
from proton.reactor import Container
from proton.utils import BlockingConnection, LinkDetached
from work import PATIENCE

from busproof.broker.auth import cbs
from busproof.vocabulary.commands import CreateQueue

from .conftest import Served
from .inside import inside
from .test_parts import token
from .test_sdk_queues import emptied, sent, taken
from .test_wire import LOGIN, connected

pytestmark = pytest.mark.slow


class Settling(MessagingHandler, TransactionHandler):
    """Takes messages, settles them in a transaction with a send beside it, and ends it."""

    def __init__(self, served: Served, end: str, count: int = 2) -> None:
        super().__init__(prefetch=0, auto_accept=False)
        self.served = served
        self.end = end
        self.count = count
        self.held: list[Delivery] = []
        self.heard: list[str] = []
        self.transaction: Any = None
        self.outcomes = 0

    def on_start(self, event: Any) -> None:
        self.container = event.container
        self.connection = event.container.connect(
            f"amqp://127.0.0.1:{self.served.port}",
            allow_insecure_mechs=True,
            reconnect=False,
            **LOGIN,
        )
        self.sender = event.container.create_sender(self.connection, "plain")
        receiver = event.container.create_receiver(self.connection, "plain")
        receiver.flow(self.count)

    def on_message(self, event: Any) -> None:
        self.held.append(event.delivery)
        if len(self.held) == self.count:
            self.container.declare_transaction(self.connection, handler=self)

    def on_transaction_declared(self, event: Any) -> None:
        self.transaction = event.transaction
        for each in self.held:
            self.transaction.accept(each)
        self.transaction.send(self.sender, Message(b"sent instead", inferred=True))

    def on_delivery(self, event: Any) -> None:
        delivery = event.delivery
        if delivery.remote_state != 0x34 or not delivery.updated:
            return
        self.outcomes += 1
        if delivery.link == self.sender:
            delivery.settle()
        if self.outcomes == self.count + 1:
            getattr(self.transaction, self.end)()

    def on_transaction_committed(self, _: Any) -> None:
        self.ended("committed")

    def on_transaction_aborted(self, _: Any) -> None:
        self.ended("aborted")

    def on_transaction_commit_failed(self, _: Any) -> None:
        self.ended("commit failed")

    def ended(self, how: str) -> None:
        self.heard.append(how)
        self.connection.close()


@pytest.mark.parametrize("end", ["commit", "abort"])
def test_settlements_take_effect_with_their_transaction(timeless: Served, end: str) -> None:
    """Together with what was sent in it, or not at all: then the messages stay locked."""
    sent(timeless, "plain", SdkMessage("one"), SdkMessage("two"))
    handler = Settling(timeless, end)
    container = Container(handler)
    container.timeout = 0.5
    container.start()
    limit = time.monotonic() + PATIENCE
    while container.process() and time.monotonic() < limit:
        pass
    container.stop()
    assert [{"commit": "committed", "abort": "aborted"}[end]] == handler.heard
    if end == "commit":
        assert ["sent instead"] == emptied(timeless, "plain", least=1)
        return
    assert [] == emptied(timeless, "plain")
    timeless.ask("/busproof/clock", advance=61)
    assert ["one", "two"] == sorted(emptied(timeless, "plain", least=2))


def managed(
    connection: BlockingConnection, path: str, operation: str, body: Any, notes: Any = None
) -> Message:
    """What an entity's management answers."""
    sender = connection.create_sender(f"{path}/$management")
    receiver = connection.create_receiver(f"{path}/$management")
    properties = {"operation": f"com.microsoft:{operation}"}
    asked = Message(body, id=1, reply_to=f"{path}/$management", properties=properties)
    asked.annotations = notes
    sender.send(asked)
    answer = receiver.receive(timeout=PATIENCE)
    sender.close()
    receiver.close()
    return answer


def tokens(*found: Any) -> Array:
    return Array(NO_DESCRIPTOR, Data.UUID, *found)


@pytest.mark.parametrize("status", ["abandoned", "suspended"])
def test_a_message_gets_properties_as_it_is_settled(served: Served, status: str) -> None:
    """They are changed or added; of a dead letter, beside the reason."""
    message = SdkMessage("changed", application_properties={"kept": 1, "changed": "before"})
    sent(served, "plain", message)
    with served.client() as client, client.get_queue_receiver("plain") as receiver:
        (held,) = taken(receiver)
        with connected(served) as connection:
            asked = {
                "disposition-status": status,
                "lock-tokens": tokens(held.lock_token),
                "properties-to-modify": {"changed": "after", "added": 2},
                "deadletter-reason": "why",
            }
            assert (
                200
                == managed(connection, "plain", "update-disposition", asked).properties[
                    "statusCode"
                ]
            )
        queue = {"abandoned": None, "suspended": "deadletter"}[status]
        with client.get_queue_receiver("plain", sub_queue=queue) as again:
            (got,) = taken(again)
            again.complete_message(got)
        expected: dict[bytes, Any] = {b"kept": 1, b"changed": b"after", b"added": 2}
        if status == "suspended":
            expected[b"DeadLetterReason"] = b"why"
        assert expected == got.application_properties


def test_a_batch_is_deleted_of_a_queue_without_partitions(served: Served) -> None:
    """What nobody holds, up to a number; of a partitioned queue nothing is."""
    sent(served, "plain", *(SdkMessage(str(each)) for each in range(5)))
    later = timestamp(int(time.time() * 1000) + 60_000)
    with (
        served.client() as client,
        client.get_queue_receiver("plain") as receiver,
        connected(served) as connection,
    ):
        (held,) = taken(receiver)
        asked = {"message-count": int32(3), "enqueued-time-utc": later}
        answer = managed(connection, "plain", "batch-delete-messages", asked)
        assert (200, 3) == (answer.properties["statusCode"], answer.body["message-count"])
        asked["enqueued-time-utc"] = timestamp(0)
        answer = managed(connection, "plain", "batch-delete-messages", asked)
        assert 204 == answer.properties["statusCode"]
        answer = managed(connection, "parted", "batch-delete-messages", asked)
        assert (400, "amqp:not-allowed") == (
            answer.properties["statusCode"],
            answer.properties["errorCondition"],
        )
        receiver.complete_message(held)
    assert ["4"] == emptied(served, "plain", least=1)


@pytest.mark.parametrize("annotated", [False, True])
def test_locks_of_two_partitions_are_refused_and_those_of_one_are_settled(
    served: Served, annotated: bool
) -> None:
    """As the service does, whether or not the request itself names a partition key."""
    sent(served, "parted", *(SdkMessage(str(each), partition_key="a") for each in range(2)))
    sent(served, "parted", *(SdkMessage("other", partition_key=key) for key in "bcdefgh"))
    with (
        served.client() as client,
        client.get_queue_receiver("parted") as receiver,
        connected(served) as connection,
    ):
        held = taken(receiver, 9)
        parts: dict[int, list[Any]] = {}
        for each in held:
            parts.setdefault(each.sequence_number >> 48, []).append(each.lock_token)
        notes = {symbol("x-opt-partition-key"): "a"} if annotated else None
        asked = {
            "disposition-status": "completed",
            "lock-tokens": tokens(*(each.lock_token for each in held)),
        }
        answer = managed(connection, "parted", "update-disposition", asked, notes)
        assert (400, "amqp:not-allowed") == (
            answer.properties["statusCode"],
            answer.properties["errorCondition"],
        )
        renewed = managed(
            connection, "parted", "renew-lock", {"lock-tokens": asked["lock-tokens"]}, notes
        )
        assert 400 == renewed.properties["statusCode"]
        for of_one in parts.values():
            body = {"lock-tokens": tokens(*of_one)}
            renewed = managed(connection, "parted", "renew-lock", body, notes)
            assert len(of_one) == len(list(renewed.body["expirations"]))
            asked["lock-tokens"] = tokens(*of_one)
            answer = managed(connection, "parted", "update-disposition", asked, notes)
            assert 200 == answer.properties["statusCode"]
        answer = managed(connection, "parted", "update-disposition", asked, notes)
        assert 410 == answer.properties["statusCode"]
    assert [] == emptied(served, "parted")


def test_a_link_ends_with_the_token_that_it_needs(served: Served) -> None:
    """As unauthorized; and one whose token is good goes on."""
    with connected(served, allowed_mechs="ANONYMOUS", user=None, password=None) as connection:
        for path, seconds in (("plain", 3), ("hasty", 300)):
            put(connection, path, int(time.time()) + seconds)
        ending = connection.create_receiver("plain", credit=1)
        lasting = connection.create_sender("hasty")
        with pytest.raises(LinkDetached, match="unauthorized-access"):
            ending.receive(timeout=PATIENCE)
        assert Delivery.ACCEPTED == lasting.send(Message(b"goes on", inferred=True)).remote_state
    assert ["goes on"] == emptied(served, "hasty", least=1)


def put(connection: BlockingConnection, path: str, expiry: int) -> None:
    sender = connection.create_sender("$cbs")
    receiver = connection.create_receiver("$cbs")
    resource = f"sb://127.0.0.1/{path}"
    given = token(resource, "RootManageSharedAccessKey", "SAS_KEY_VALUE", expiry)
    properties = {
        "operation": "put-token",
        "type": "servicebus.windows.net:sastoken",
        "name": resource,
    }
    sender.send(Message(given, id=1, properties=properties))
    assert 202 == receiver.receive(timeout=PATIENCE).properties["status-code"]
    sender.close()
    receiver.close()


def test_client_without_a_token_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while, which is said."""
    monkeypatch.setattr(cbs, "TIME_TO_CLAIM", 0.5)
    with inside(CreateQueue(queue="q")) as broker:
        connection = BlockingConnection(
            f"amqp://127.0.0.1:{broker.broker.port}", timeout=PATIENCE, allowed_mechs="ANONYMOUS"
        )
        with pytest.raises(Exception, match="No token was put"):
            connection.wait(lambda: False, timeout=PATIENCE)
        assert symbol("amqp:unauthorized-access") == connection.conn.remote_condition.name
