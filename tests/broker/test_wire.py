"""What only a raw client can ask for, and what is no AMQP at all."""

import socket
from typing import Any

import pytest
from azure.servicebus import ServiceBusMessage as SdkMessage
from azure.servicebus.exceptions import ServiceBusAuthenticationError, ServiceBusAuthorizationError
from proton import ConnectionException, Message, symbol
from proton.reactor import Filter, LinkOption
from proton.utils import LinkDetached
from work import PATIENCE

from . import raw
from .conftest import Served

pytestmark = pytest.mark.slow


def test_a_wrong_key_gets_nobody_in(served: Served) -> None:
    wrong = raw.LOGIN | {"password": "wrong"}
    with pytest.raises(ConnectionException), raw.connected(served.port, **wrong):
        pass
    with (
        pytest.raises((ServiceBusAuthenticationError, ServiceBusAuthorizationError)),
        served.client_of("RootManageSharedAccessKey", "wrong") as client,
    ):
        client.get_queue_sender("plain").send_messages(SdkMessage("never"))


class Via(LinkOption):
    """Asks for what is sent to go on to another entity."""

    def apply(self, link: Any) -> None:
        link.properties = {symbol("com.microsoft:transfer-destination-address"): "parted"}


@pytest.mark.parametrize(
    ("address", "options", "condition"),
    [
        ("plain/$DeadLetterQueue", None, "not-allowed"),
        ("topic/Subscriptions/all", None, "not-allowed"),
        ("plain", Via(), "not-implemented"),
    ],
)
def test_links_that_cannot_be_had_are_refused(
    served: Served, address: str, options: LinkOption | None, condition: str
) -> None:
    """Nobody sends to dead letters, to a subscription, or via another entity."""
    with raw.logged_in(served.port) as connection, pytest.raises(LinkDetached, match=condition):
        connection.create_sender(address, options=options).send(Message("never"))


def test_a_filter_that_is_not_applied_is_not_echoed(served: Served) -> None:
    """By an echo a client would know that it gets nothing else."""
    selecting = Filter({symbol("apache.org:selector-filter:string"): "n = 1"})
    with raw.logged_in(served.port) as connection:
        receiver = connection.create_receiver("plain", options=selecting)
        tree = receiver.link.remote_source.filter
        tree.rewind()
        assert not tree.next()


def answer_to(served: Served, data: bytes) -> bytes:
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
        raw.AMQP,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\xff" * 64,
    ],
    ids=["http", "amqp 0-9-1", "no sasl", "tls", "noise"],
)
def test_non_sasl_header_is_answered_with_the_expected_one(served: Served, data: bytes) -> None:
    """By the header that is expected, as AMQP has it; then the connection is closed."""
    assert raw.SASL == answer_to(served, data)


ENGINE = raw.SASL + raw.ANONYMOUS + raw.AMQP


@pytest.mark.parametrize(
    "data",
    [
        raw.SASL + b"\x00\x00\x00\x04\x02\x01\x00\x00",
        raw.SASL + b"\xff\xff\xff\xff\x02\x01\x00\x00",
        raw.SASL + b"\x00\x00\x00\x0c\x02\x01\x00\x00\x00\x53\x41\x45",
        raw.SASL + b"\x00\x00\x00\x0b\x02\x01\x00\x00\xff\xff\xff",
        ENGINE + b"\x00\x00\x00\x02\x02\x00\x00\x00",
        ENGINE + b"\x00\x00\x00\x0c\x02\x00\x00\x00nope",
        ENGINE + b"\x7f\xff\xff\xff\x02\x00\x00\x00",
    ],
)
def test_broken_frames_end_one_connection_only(served: Served, data: bytes) -> None:
    """The broker goes on for everybody else."""
    answer = answer_to(served, data)
    assert answer.startswith(raw.SASL)
    assert data.startswith(ENGINE) == (raw.AMQP in answer)
    assert served.is_healthy
