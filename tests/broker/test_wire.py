"""What only a raw client can ask: PLAIN, drain, transactions; and what is no AMQP at all."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage as SdkMessage
from azure.servicebus.exceptions import ServiceBusAuthenticationError, ServiceBusAuthorizationError
from proton import ConnectionException, Delivery, Message, symbol
from proton.handlers import MessagingHandler, TransactionHandler
from proton.reactor import Container, LinkOption
from proton.utils import BlockingConnection, LinkDetached
from work import PATIENCE

from .conftest import Served
from .test_sdk_queues import emptied, sent

pytestmark = pytest.mark.slow

LOGIN = {"user": "RootManageSharedAccessKey", "password": "SAS_KEY_VALUE", "allowed_mechs": "PLAIN"}


@contextmanager
def connected(served: Served, **options: Any) -> Iterator[BlockingConnection]:
    connection = BlockingConnection(
        f"amqp://127.0.0.1:{served.port}", timeout=PATIENCE, **{**LOGIN, **options}
    )
    try:
        yield connection
    finally:
        connection.close()


def test_a_rule_and_its_key_are_enough(served: Served) -> None:
    """By PLAIN, without a token."""
    with connected(served) as connection:
        sender = connection.create_sender("plain")
        message = Message(b"by a rule and its key", inferred=True)
        assert Delivery.ACCEPTED == sender.send(message).remote_state
    assert ["by a rule and its key"] == emptied(served, "plain", least=1)


def test_a_wrong_key_gets_nobody_in(served: Served) -> None:
    """Neither by PLAIN nor by a token."""
    with pytest.raises(ConnectionException), connected(served, password="wrong"):
        pass
    text = served.connection_string.replace("SAS_KEY_VALUE", "wrong")
    with (
        pytest.raises((ServiceBusAuthenticationError, ServiceBusAuthorizationError)),
        type(served.client()).from_connection_string(text, retry_total=0) as client,
    ):
        client.get_queue_sender("plain").send_messages(SdkMessage("never"))


def test_without_a_claim_no_link_is_had(served: Served) -> None:
    """Anonymous is a beginning only."""
    with (
        connected(served, allowed_mechs="ANONYMOUS", user=None, password=None) as connection,
        pytest.raises(LinkDetached, match="unauthorized-access"),
    ):
        connection.create_sender("plain").send(Message("never"))


def test_a_drained_link_has_no_credit_left(served: Served) -> None:
    """Who drains is answered at once, whether there is something or not."""
    with connected(served) as connection:
        receiver = connection.create_receiver("plain", credit=0)
        receiver.link.drain(5)
        connection.wait(lambda: not receiver.link.draining(), timeout=PATIENCE)
        assert 0 == receiver.link.credit


def test_nobody_sends_to_dead_letters(served: Served) -> None:
    """Nor to a subscription."""
    with connected(served) as connection:
        for address in ("plain/$DeadLetterQueue", "topic/Subscriptions/all"):
            with pytest.raises(LinkDetached, match="not-allowed"):
                connection.create_sender(address).send(Message("never"))


class Via(LinkOption):
    """Asks for what is sent to go on to another entity."""

    def apply(self, link: Any) -> None:
        link.properties = {symbol("com.microsoft:transfer-destination-address"): "parted"}


def test_nothing_is_sent_via_another_entity(served: Served) -> None:
    """It is refused, and not kept on its way."""
    with connected(served) as connection, pytest.raises(LinkDetached, match="not-implemented"):
        connection.create_sender("plain", options=Via()).send(Message("never"))


class NextSession(LinkOption):
    """Asks for the next session."""

    def apply(self, link: Any) -> None:
        link.source.filter.put_dict({symbol("com.microsoft:session-filter"): None})


class Selecting(LinkOption):
    """Asks for messages of one kind only."""

    def apply(self, link: Any) -> None:
        link.source.filter.put_dict({symbol("apache.org:selector-filter:string"): "n = 1"})


def test_a_filter_that_is_not_applied_is_not_echoed(served: Served) -> None:
    """By an echo a client would know that it gets nothing else."""
    with connected(served) as connection:
        receiver = connection.create_receiver("plain", options=Selecting())
        tree = receiver.link.remote_source.filter
        tree.rewind()
        assert not tree.next()


class AllAtOnce(MessagingHandler):
    """Asks for the next of two sessions while it sends much else, without waiting in between."""

    def __init__(self, served: Served) -> None:
        super().__init__()
        self.served = served
        self.given: list[str] = []
        self.asked = 0
        self.accepted = 0

    def on_start(self, event: Any) -> None:
        self.connection = event.container.connect(
            f"amqp://127.0.0.1:{self.served.port}",
            allow_insecure_mechs=True,
            reconnect=False,
            **LOGIN,
        )
        self.sender = event.container.create_sender(self.connection, "sessions")

    def on_link_flow(self, _: Any) -> None:
        if self.sender.credit > 0 and not self.accepted:
            self.accepted = -1
            self.send(2)

    def on_accepted(self, event: Any) -> None:
        self.accepted += 1
        if self.accepted == 1:
            self.ask(event)
            self.send(300)

    def send(self, count: int) -> None:
        for number in range(count):
            message = Message(b"x" * 200, inferred=True)
            message.group_id = f"s{number % 2}"
            self.sender.send(message)

    def ask(self, event: Any) -> None:
        self.asked += 1
        event.container.create_receiver(
            self.connection, "sessions", name=f"r{self.asked}", options=NextSession()
        )

    def on_link_opened(self, event: Any) -> None:
        if event.link.is_sender:
            return
        tree = event.link.remote_source.filter
        tree.rewind()
        tree.next()
        self.given += [str(each) for each in tree.get_object().values()]
        if len(self.given) == 1:
            self.ask(event)
        else:
            self.connection.close()


def test_requests_sent_at_once_are_each_handled_once(served: Served) -> None:
    """Who asks for a session in the middle of much else is given one, and leaves the other."""
    client = AllAtOnce(served)
    Container(client).run()
    assert ["s0", "s1"] == sorted(client.given)


class InTransaction(MessagingHandler, TransactionHandler):
    """Sends messages in one transaction, and ends it."""

    def __init__(self, served: Served, keys: list[str | None], end: str) -> None:
        super().__init__()
        self.served = served
        self.keys = keys
        self.end = end
        self.heard: list[str] = []
        self.outcomes: list[Any] = []

    def on_start(self, event: Any) -> None:
        self.container = event.container
        self.connection = event.container.connect(
            f"amqp://127.0.0.1:{self.served.port}",
            allow_insecure_mechs=True,
            reconnect=False,
            **LOGIN,
        )
        self.sender = event.container.create_sender(self.connection, "parted")
        self.container.declare_transaction(self.connection, handler=self)

    def on_transaction_declared(self, event: Any) -> None:
        self.heard.append("declared")
        for key in self.keys:
            notes = {symbol("x-opt-partition-key"): key} if key else None
            event.transaction.send(
                self.sender, Message(b"staged", inferred=True, annotations=notes)
            )
        self.transaction = event.transaction

    def on_accepted(self, event: Any) -> None:
        self.settled(event)

    def on_rejected(self, event: Any) -> None:
        self.settled(event)

    def on_delivery(self, event: Any) -> None:
        if event.link == self.sender and event.delivery.remote_state == 0x34:
            self.settled(event)
            event.delivery.settle()

    def settled(self, event: Any) -> None:
        self.outcomes.append(event.delivery.remote_state)
        if len(self.outcomes) == len(self.keys):
            getattr(self.transaction, self.end)()

    def on_transaction_committed(self, _: Any) -> None:
        self.ended("committed")

    def on_transaction_aborted(self, _: Any) -> None:
        self.ended("aborted")

    def on_transaction_commit_failed(self, _: Any) -> None:
        self.ended("commit failed")

    def on_transport_error(self, event: Any) -> None:
        self.ended(str(event.transport.condition))

    def ended(self, how: str) -> None:
        self.heard.append(how)
        self.connection.close()


def transacted(served: Served, keys: list[str | None], end: str) -> InTransaction:
    handler = InTransaction(served, keys, end)
    container = Container(handler)
    container.timeout = 0.5
    container.start()
    end = time.monotonic() + PATIENCE
    while container.process() and time.monotonic() < end:
        pass
    container.stop()
    return handler


@pytest.mark.parametrize(("end", "left"), [("commit", ["staged", "staged"]), ("abort", [])])
def test_a_transaction_takes_effect_as_a_whole(
    served: Served, name: str, end: str, left: list[str]
) -> None:
    """Or not at all."""
    handler = transacted(served, [name, name], end)
    assert ["declared", {"commit": "committed", "abort": "aborted"}[end]] == handler.heard
    assert left == emptied(served, "parted")


def test_a_transaction_with_two_keys_is_refused(served: Served, name: str) -> None:
    """The second message is."""
    handler = transacted(served, [name, f"{name} other"], "abort")
    assert Delivery.REJECTED in handler.outcomes
    assert [] == emptied(served, "parted")


def raw(served: Served, data: bytes) -> bytes:
    """What comes back on a connection over which this is sent."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        found = b""
        while some := client.recv(4096):
            found += some
        return found


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"AMQP\x00\x00\x09\x01",
        b"AMQP\x00\x01\x00\x00",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\xff" * 64,
    ],
    ids=["http", "amqp 0-9-1", "no sasl", "tls", "noise"],
)
def test_non_sasl_header_is_answered_with_the_expected_one(served: Served, data: bytes) -> None:
    """By the header that is expected, as AMQP has it; then the connection is closed."""
    assert b"AMQP\x03\x01\x00\x00" == raw(served, data)


HELLO = b"AMQP\x03\x01\x00\x00"
ANONYMOUS = b"\x00\x00\x00\x19\x02\x01\x00\x00\x00\x53\x41\xc0\x0c\x01\xa3\x09ANONYMOUS"
ENGINE_HEADER = b"AMQP\x00\x01\x00\x00"
ENGINE = HELLO + ANONYMOUS + ENGINE_HEADER


@pytest.mark.parametrize(
    "data",
    [
        HELLO + b"\x00\x00\x00\x04\x02\x01\x00\x00",
        HELLO + b"\xff\xff\xff\xff\x02\x01\x00\x00",
        HELLO + b"\x00\x00\x00\x0c\x02\x01\x00\x00\x00\x53\x41\x45",
        HELLO + b"\x00\x00\x00\x0b\x02\x01\x00\x00\xff\xff\xff",
        ENGINE + b"\x00\x00\x00\x02\x02\x00\x00\x00",
        ENGINE + b"\x00\x00\x00\x0c\x02\x00\x00\x00nope",
        ENGINE + b"\x7f\xff\xff\xff\x02\x00\x00\x00",
    ],
)
def test_broken_frames_end_one_connection_only(served: Served, data: bytes) -> None:
    """The broker goes on for everybody else."""
    answer = raw(served, data)
    assert answer.startswith(HELLO)
    assert data.startswith(ENGINE) == (ENGINE_HEADER in answer)
    assert "healthy" == served.ask("/health")["status"]


def test_a_message_that_is_none_is_rejected(served: Served) -> None:
    """As not to be decoded; the link stays."""
    with connected(served) as connection:
        sender = connection.create_sender("plain")
        delivery = sender.link.delivery("1")
        sender.link.stream(b"\x00\x53\x75\xa0\xff cut off")
        sender.link.advance()
        connection.wait(lambda: delivery.settled or delivery.remote_state, timeout=PATIENCE)
        assert Delivery.REJECTED == delivery.remote_state
        assert "amqp:decode-error" == delivery.remote.condition.name
    sent(served, "plain", SdkMessage("goes on"))
    assert ["goes on"] == emptied(served, "plain", least=1)
