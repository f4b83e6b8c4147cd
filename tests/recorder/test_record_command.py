"""`busproof record` as users start it, with TLS on both sides."""

import re

import pytest
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus import TransportType

from busproof.cli.main import main
from busproof.history.files import load

from .conftest import Start, taken

pytestmark = pytest.mark.slow


def test_a_conforming_service_is_not_accused(
    start: Start, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over TLS, by AMQP and by AMQP over WebSockets; and no key is in any file."""
    pair = start()
    pair.create_queue("q", enable_partitioning=True)
    web = {
        "transport_type": TransportType.AmqpOverWebsocket,
        "custom_endpoint_address": f"sb://localhost:{pair.port}",
    }
    for options in ({}, web):
        with pair.client(**options) as client:
            with client.get_queue_sender("q") as sender:
                sender.send_messages(Message("private", message_id="1"))
            with client.get_queue_receiver("q") as receiver:
                receiver.complete_message(*taken(receiver, 1))
    said = pair.end()
    assert "7 events of 4 connections" in said
    assert f"busproof check {pair.folder}" in said
    written = "".join(path.read_text() for path in pair.folder.iterdir())
    assert not [
        word for word in ("private", "SAS_KEY_VALUE", "sig=", "RootManage") if word in written
    ]
    assert 3 == main(["check", str(pair.folder)])
    assert " 0 violated" in capsys.readouterr().out.replace("\n", " ")


def test_a_fault_is_named(start: Start, capsys: pytest.CaptureFixture[str]) -> None:
    """The service delivers a message once more than the queue permits."""
    pair = start("--adapter", "faulty:delivered-once-too-often")
    pair.create_queue("q", max_delivery_count=1, enable_partitioning=True)
    with pair.client() as client:
        with client.get_queue_sender("q") as sender:
            sender.send_messages(Message("again"))
        with client.get_queue_receiver("q") as receiver:
            for _ in range(2):
                receiver.abandon_message(*taken(receiver, 1))
    pair.end()
    assert 7 == len(load(pair.folder).scenarios[0].events) + 1
    assert 1 == main(["check", str(pair.folder)])
    assert re.search(r"DLQ-02\b.*violated", capsys.readouterr().out)
