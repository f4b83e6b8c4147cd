"""A broker, a recording before it, and the official client: all on real sockets."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from azure.servicebus import ServiceBusClient, ServiceBusReceivedMessage, ServiceBusReceiver
from azure.servicebus._pyamqp import client as client_module
from azure.servicebus.management import ServiceBusAdministrationClient
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
from busproof.recorder.recording import Ports, Recording, begun
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
    privacy = options.pop("privacy", Privacy(b"key"))
    ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def run() -> None:
        ended = asyncio.Event()
        recording = await begun(folder, header(), ports, privacy, tell=found.said.append, **options)
        found.recording = recording
        found.port, found.admin_port = (*recording.ports, 0)[:2]
        ready.set_result((asyncio.get_running_loop(), ended))
        await recording.last(ended)
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


def said_in(line: str) -> dict[str, Any]:
    """A line of a recording."""
    found: dict[str, Any] = json.loads(line)
    return found
