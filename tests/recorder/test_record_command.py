"""`busproof record` as users start it, with TLS on both sides."""

import json
import re
import socket
import urllib.request

import pytest
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus import TransportType
from work import PATIENCE

from busproof.cli.live_judge import VIOLATIONS
from busproof.cli.main import main
from busproof.history.files import load

from .conftest import Start, taken, until

pytestmark = pytest.mark.slow


def test_a_conforming_service_is_not_accused(start: Start, capsys) -> None:
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
    """The service delivers a message once more than the queue permits; told while it goes on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    watched = ("--judge", "0.2", "--metrics-port", str(port))
    pair = start("--adapter", "faulty:delivered-once-too-often", recording=watched)
    pair.create_queue("q", max_delivery_count=1, enable_partitioning=True)
    with pair.client() as client:
        with client.get_queue_sender("q") as sender:
            sender.send_messages(Message("again"))
        with client.get_queue_receiver("q") as receiver:
            for _ in range(2):
                receiver.abandon_message(*taken(receiver, 1))
    said = until(pair.process, "is violated")
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as answer:
        metrics = answer.read().decode()
    assert "busproof_record_violated_rules 1.0" in metrics
    assert "busproof_record_events 6.0" in metrics
    pair.end(1)
    assert re.search(r"DLQ-02 is violated \(.*\): seen Received .*, allowed Empty", said)
    (line,) = (pair.folder / VIOLATIONS).read_text().splitlines()
    assert "DLQ-02" == json.loads(line)["rule"]
    assert 7 == len(load(pair.folder).scenarios[0].events) + 1
    assert 1 == main(["check", str(pair.folder)])
    assert re.search(r"DLQ-02\b.*violated", capsys.readouterr().out)
