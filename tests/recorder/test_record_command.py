"""`busproof record` as users start it, with TLS on both sides."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from azure.servicebus import ServiceBusClient, TransportType
from azure.servicebus import ServiceBusMessage as Message
from azure.servicebus._pyamqp import _connection as connection_module
from azure.servicebus.management import ServiceBusAdministrationClient
from preloaded import popen
from work import PATIENCE

from busproof.cli.main import main
from busproof.history.files import load

from .conftest import KEY, SETTINGS, taken

pytestmark = pytest.mark.slow


@attrs.define
class Pair:
    """A broker and the recording before it, both processes that speak TLS.

    Attributes:
        folder: the folder of the recording.
        authority: the authority of its certificate.
        process: its process.
        port: its port for AMQP.
        admin_port: its port for the administration.
    """

    folder: Path
    authority: Path
    process: Any
    port: int
    admin_port: int

    def client(self, **options: Any) -> ServiceBusClient:
        """The official client, which trusts the recording."""
        return ServiceBusClient.from_connection_string(
            f"Endpoint=sb://localhost;{KEY}",
            connection_verify=str(self.authority),
            **SETTINGS | options,
        )

    def create_queue(self, name: str, **settings: Any) -> None:
        """Create a queue by the administration through the recording."""
        client = ServiceBusAdministrationClient.from_connection_string(
            f"Endpoint=sb://localhost;{KEY}", retry_total=0, connection_verify=str(self.authority)
        )
        client._impl._client._base_url = f"https://localhost:{self.admin_port}"
        with client:
            client.create_queue(name, **settings)

    def end(self) -> str:
        """End the recording as Ctrl-C does; what it said, after it has ended well."""
        self.process.terminate()
        said = self.process.stderr.read()
        assert 0 == self.process.wait(PATIENCE)
        return said


def launched(*words: str) -> Any:
    """A command of busproof as a process."""
    return popen(
        [sys.executable, "-m", "busproof", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )


def until(process: Any, words: str) -> str:
    """What a process says until it says these words."""
    said = ""
    while words not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    return said


def port_in(said: str, words: str) -> int:
    """The port that is named behind these words."""
    found = re.search(rf"{words} on \S+?:(\d+)", said)
    assert found is not None, said
    return int(found[1])


Start = Callable[..., Pair]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a broker with these options, and the recording before it."""
    processes = []

    def started(*options: str) -> Pair:
        ca, mine, folder = tmp_path / "ca.pem", tmp_path / "proxy.pem", tmp_path / "out"
        free = ("--admin-port", "0", "--tls-port", "0", "--websocket-port", "0")
        broker = launched("serve", *free, "--tls", str(ca), *options)
        processes.append(broker)
        said = until(broker, "Endpoint=")
        recording = launched(
            *("record", "--listen", "0", "--admin-port", "0", "--tls", str(mine)),
            *("--to", f"localhost:{port_in(said, 'AMQP over TLS')}", "--to-ca", str(ca)),
            *("--to-websockets", f"localhost:{port_in(said, 'over WebSockets and TLS')}"),
            *("--to-admin", f"localhost:{port_in(said, 'HTTPS')}", "--out", str(folder)),
        )
        processes.append(recording)
        said = until(recording, "Ctrl-C")
        port = port_in(said, "AMQP over TLS")
        # The official client has one port for AMQP over TLS; all else of it is as it is.
        monkeypatch.setattr(connection_module, "SECURE_PORT", port)
        return Pair(folder, mine, recording, port, port_in(said, "HTTPS"))

    yield started
    for process in processes:
        process.terminate()
        process.wait(PATIENCE)


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
