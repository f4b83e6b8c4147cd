"""A broker, a recording before it, and the official client: all on real sockets."""

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from azure.servicebus import ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver
from azure.servicebus._pyamqp import _connection as connection_module
from azure.servicebus._pyamqp import client as client_module
from azure.servicebus.management import ServiceBusAdministrationClient
from preloaded import popen
from work import PATIENCE

from busproof import vocabulary as v
from busproof.broker.embedding import Embedded, embedded
from busproof.errors import HistoryError
from busproof.history.conformance import Conformance, Verdict
from busproof.history.files import load
from busproof.history.records import Header
from busproof.judging.verdicts import conformance
from busproof.recorder.messages import Privacy
from busproof.recorder.proxy import Place
from busproof.recorder.recording import Kept, Ports, Recording, begin_recording
from busproof.spec import load as load_catalogue

KEY = "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;"
SETTINGS: dict[str, Any] = {"retry_total": 0, "socket_timeout": 0.05}
HOST = "127.0.0.1"


@attrs.define
class Recorded:
    """A recording that runs in a thread of its own.

    Attributes:
        folder: where its files are.
        port: the port for AMQP.
        admin_port: the port for the administration.
        said: the sentences that were told.
    """

    folder: Path
    port: int = 0
    admin_port: int = 0
    said: list[str] = attrs.field(factory=list)
    stop: Callable[[], None] = lambda: None
    recording: Recording | None = None

    def client(self, **options: Any) -> ServiceBusClient:
        """The official client, whose connections are recorded."""
        text = f"Endpoint=sb://{HOST}:{self.port};{KEY}UseDevelopmentEmulator=true;"
        return ServiceBusClient.from_connection_string(text, **SETTINGS | options)

    def administration(self) -> ServiceBusAdministrationClient:
        """The official client of the administration, whose requests are recorded."""
        text = f"Endpoint=sb://{HOST}:{self.port};{KEY}UseDevelopmentEmulator=true;"
        client = ServiceBusAdministrationClient.from_connection_string(text, retry_total=0)
        client._impl._client._base_url = f"http://{HOST}:{self.admin_port}"
        return client

    def events(self) -> list[v.Event]:
        """The events of the recording, which is ended."""
        self.stop()
        (scenario,) = load(self.folder).scenarios
        return list(scenario.events)

    def verdict(self) -> Conformance:
        """The verdicts on the recording, which is ended."""
        self.stop()
        return conformance(load(self.folder), load_catalogue())

    def written(self) -> str:
        """All that is in the files of the recording."""
        self.stop()
        return "".join(path.read_text("utf-8") for path in self.folder.iterdir())


def header(**changes: Any) -> Header:
    """What is known of the broker."""
    capabilities = set(v.Capability) - {v.Capability.LIMITS, v.Capability.DISPOSABLE_NAMESPACE}
    values: dict[str, Any] = {
        "adapter": "record",
        "capabilities": tuple(sorted(capabilities)),
        "clock": v.Clock.REAL,
        "slack": v.MICROSECONDS,
        "profile": v.profile_for(load_catalogue()),
    }
    return Header(**values | changes)


def ports_to(amqp: int, admin: int, **changes: Any) -> Ports:
    """Any free ports, before a broker."""
    place = Place(HOST, amqp)
    values: dict[str, Any] = {
        "host": HOST,
        "port": 0,
        "admin_port": 0,
        "tls": None,
        "amqp": place,
        "websockets": place,
        "administration": Place(HOST, admin),
    }
    return Ports(**values | changes)


@contextmanager
def recorded(folder: Path, ports: Ports, **options: Any) -> Iterator[Recorded]:
    """Record in a thread during a `with` block."""
    found = Recorded(folder)
    kept = Kept(**{"privacy": Privacy(b"key")} | options)
    ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def run() -> None:
        ended = asyncio.Event()
        recording = await begin_recording(folder, header(), ports, kept, found.said.append)
        found.recording = recording
        found.port, found.admin_port = (*recording.ports, 0)[:2]
        ready.set_result((asyncio.get_running_loop(), ended))
        await recording.wait_for_end(ended)
        try:
            recording.stop()
        except HistoryError as error:
            found.said.append(str(error))

    thread = threading.Thread(target=asyncio.run, args=(run(),), daemon=True)
    thread.start()
    loop, ended = ready.result(PATIENCE)

    def stop() -> None:
        if thread.is_alive():
            loop.call_soon_threadsafe(ended.set)
            thread.join(PATIENCE)

    found.stop = stop
    try:
        yield found
    finally:
        stop()


@pytest.fixture(scope="session", autouse=True)
def prompt_ends() -> Iterator[None]:
    """Receivers of the official client close at once, and not in steps of a second."""
    sleeps = SimpleNamespace(**vars(client_module.time))
    sleeps.sleep = lambda seconds: threading.Event().wait(min(seconds, 0.02))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client_module, "time", sleeps)
        yield


@pytest.fixture(scope="module")
def shared_broker() -> Iterator[Embedded]:
    """A broker with a real clock."""
    with embedded(clock="real") as broker:
        yield broker


@pytest.fixture
def broker(shared_broker: Embedded) -> Embedded:
    """A broker in whose namespace there is nothing."""
    shared_broker.begin()
    return shared_broker


def admin_port_of(broker: Embedded) -> int:
    """The port of a broker's administration."""
    return int(broker.admin_address.rpartition(":")[2])


@pytest.fixture
def recording(broker: Embedded, tmp_path: Path) -> Iterator[Recorded]:
    """A recording before the broker."""
    with recorded(tmp_path / "out", ports_to(broker.port, admin_port_of(broker))) as found:
        yield found


def taken(receiver: ServiceBusReceiver, count: int) -> list[ServiceBusReceivedMessage]:
    """As many messages, in as many receives as that takes."""
    found: list[ServiceBusReceivedMessage] = []
    while len(found) < count:
        some = receiver.receive_messages(count - len(found), max_wait_time=PATIENCE)
        assert some, f"only {len(found)} of {count} messages came"
        found += some
    return found


def violated(verdict: Conformance) -> list[str]:
    """The rules that a recording breaks."""
    return [rule.id for rule in verdict.rules if rule.verdict is Verdict.VIOLATED]


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

    def end(self, code: int = 0) -> str:
        """End the recording as Ctrl-C does; what it said, after it has ended with this code."""
        self.process.terminate()
        said = self.process.stderr.read()
        assert code == self.process.wait(PATIENCE), said
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

    def started(*options: str, recording: Sequence[str] = ()) -> Pair:
        ca, mine, folder = tmp_path / "ca.pem", tmp_path / "proxy.pem", tmp_path / "out"
        free = ("--admin-port", "0", "--tls-port", "0", "--websocket-port", "0")
        broker = launched("serve", *free, "--tls", str(ca), *options)
        processes.append(broker)
        said = until(broker, "Endpoint=")
        recorder = launched(
            *("record", *recording, "--listen", "0", "--admin-port", "0", "--tls", str(mine)),
            *("--to", f"localhost:{port_in(said, 'AMQP over TLS')}", "--to-ca", str(ca)),
            *("--to-websockets", f"localhost:{port_in(said, 'over WebSockets and TLS')}"),
            *("--to-admin", f"localhost:{port_in(said, 'HTTPS')}", "--out", str(folder)),
        )
        processes.append(recorder)
        said = until(recorder, "Ctrl-C")
        port = port_in(said, "AMQP over TLS")
        # The official client has one port for AMQP over TLS; all else of it is as it is.
        monkeypatch.setattr(connection_module, "SECURE_PORT", port)
        return Pair(folder, mine, recorder, port, port_in(said, "HTTPS"))

    yield started
    for process in processes:
        process.terminate()
        process.wait(PATIENCE)
