"""The official Python client against a broker that listens on an IPv6 address."""

import socket
from typing import Any

import attrs
import pytest
from azure.servicebus import ServiceBusMessage as Message

from ..conftest import Start
from ..test_sdk_queues import completed, emptied, sent

pytestmark = pytest.mark.slow

NAME = "broker.test"
"""A name of the broker's address: the client takes no address of IPv6 itself."""
RESOLVE = socket.getaddrinfo


def resolve(host: Any, *rest: Any, **options: Any) -> Any:
    return RESOLVE("::1" if host == NAME else host, *rest, **options)


def test_a_broker_on_an_ipv6_address_serves_the_official_client(start: Start, monkeypatch) -> None:
    listening = start("--host", "::1")
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    named = listening.connection_string.replace("[::1]", NAME)
    assert NAME in named
    served = attrs.evolve(listening, connection_string=named)
    sent(served, "parted", Message("first"), Message("second"))
    with served.client() as client, client.get_queue_receiver("parted") as receiver:
        (first,) = completed(receiver)
    assert {"first", "second"} == {str(first), *emptied(served, "parted", least=1)}
    assert served.ask("/busproof/state")
