"""A broker as users start it, and the official client against it."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from azure.servicebus import ServiceBusClient
from azure.servicebus._pyamqp import client as client_module
from azure.servicebus._pyamqp.aio import _client_async as client_async_module
from azure.servicebus.management import ServiceBusAdministrationClient
from preloaded import popen
from work import PATIENCE

FREE = ("--port", "0", "--admin-port", "0")
FULL = os.environ.get("BUSPROOF_SIZE") == "full"

SETTINGS: dict[str, Any] = {"retry_total": 0, "socket_timeout": 0.05}
"""The official client tries nothing again, and looks for bytes often: each wait is 0.2 s else."""

PARTED = {"EnablePartitioning": True}
QUEUES: dict[str, dict[str, Any]] = {
    "plain": {},
    "parted": PARTED | {"MaxDeliveryCount": 3},
    "once": PARTED | {"MaxDeliveryCount": 1},
    "hasty": {"LockDuration": "PT5S"},
    "sessions": PARTED | {"RequiresSession": True},
    "distinct": PARTED | {"RequiresDuplicateDetection": True},
}
BIG = {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "size > 3"}}
SUBSCRIPTIONS = [{"Name": "all"}, {"Name": "some", "Rules": [{"Name": "big", "Properties": BIG}]}]
ENTITIES = {
    "AuthorizationRules": [
        {"KeyName": "RootManageSharedAccessKey", "PrimaryKey": "SAS_KEY_VALUE"},
        {"KeyName": "listener", "PrimaryKey": "ears", "Rights": ["Listen"]},
        {"KeyName": "sender", "PrimaryKey": "mouth", "Rights": ["Send"]},
    ],
    "Queues": [{"Name": name, "Properties": said} for name, said in QUEUES.items()],
    "Topics": [{"Name": "topic", "Properties": PARTED, "Subscriptions": SUBSCRIPTIONS}],
}


@attrs.frozen
class Served:
    """A broker that runs."""

    process: "subprocess.Popen[str]"
    connection_string: str
    admin: str
    said: str = ""

    def client(self, **options: Any) -> ServiceBusClient:
        """The official client, which does not try again by itself."""
        given = SETTINGS | options
        return ServiceBusClient.from_connection_string(self.connection_string, **given)

    def client_of(self, name: str, key: str) -> ServiceBusClient:
        """The official client with another rule's key."""
        text = self.connection_string.replace("RootManageSharedAccessKey", name)
        text = text.replace("SAS_KEY_VALUE", key)
        return ServiceBusClient.from_connection_string(text, **SETTINGS)

    def ask(self, path: str, **body: Any) -> Any:
        """What is answered under `/busproof/`."""
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(f"{self.admin}{path}", data=data)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    @property
    def port(self) -> int:
        """Where it speaks AMQP."""
        return int(re.search(r":(\d+);", self.connection_string)[1])

    @property
    def memory(self) -> int:
        """Bytes of memory that it has."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024

    @property
    def is_healthy(self) -> bool:
        """Whether it says so."""
        return bool(self.ask("/health")["status"] == "healthy")


def written(folder: Path, **namespace: Any) -> str:
    """The path of a configuration with these entities."""
    path = folder / "Config.json"
    said = {"UserConfig": {"Namespaces": [{"Name": "n", **namespace}]}}
    path.write_text(json.dumps(said), encoding="utf-8")
    return str(path)


def launched(*options: str) -> Any:
    """`busproof serve` with these options, as a process."""
    return popen(
        [sys.executable, "-m", "busproof", "serve", *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )


def running(process: "subprocess.Popen[str]") -> Served:
    """The broker, once it has said where it listens."""
    said = ""
    while "Endpoint=" not in said:
        line = process.stderr.readline() if process.stderr else ""
        if not line:
            raise AssertionError(f"the broker did not start: {said}")
        said += line
    admin = re.search(r"HTTPS? on (\S+:\d+)", said)
    endpoint = re.search(r"Endpoint=\S+", said)
    assert admin is not None
    assert endpoint is not None
    return Served(process, endpoint[0], f"http://{admin[1]}", said)


@contextmanager
def serving(*options: str, ports: Sequence[str] = FREE) -> Iterator[Served]:
    """A broker of the test's own, at ports that are free; it ends without a warning."""
    process = launched(*ports, *options)
    try:
        yield running(process)
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


Start = Callable[..., Served]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """File these tests under one name, where Allure results are asked for."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.allure_label("Official clients", label_type="epic"))


@pytest.fixture(scope="session", autouse=True)
def prompt_ends() -> Iterator[None]:
    """At gate size, receivers of the official client close at once, and in a second otherwise.

    Closing waits for a thread that keeps the connection alive and sleeps a second at a time. That
    sleep is all that is changed, and nothing is at full size.
    """
    if FULL:
        yield
        return

    def sleep(seconds: float) -> None:
        time.sleep(min(seconds, 0.02))

    async def sleep_async(seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.02))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client_module, "time", SimpleNamespace(**vars(time) | {"sleep": sleep}))
        awaited = vars(asyncio) | {"sleep": sleep_async}
        patch.setattr(client_async_module, "asyncio", SimpleNamespace(**awaited))
        yield


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(written(tmp_path_factory.mktemp("config"), **ENTITIES))


@pytest.fixture(scope="session")
def start(config: Path) -> Iterator[Start]:
    """Starts brokers with the entities above, and ends them."""
    processes = []

    def started(*options: str) -> Served:
        process = launched(*FREE, "--control", "--config", str(config), *options)
        processes.append(process)
        return running(process)

    yield started
    for process in processes:
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture(scope="session")
def punctual(start: Start) -> Served:
    """A broker with a real clock, which all tests share."""
    return start()


@pytest.fixture(scope="session")
def movable(start: Start) -> Served:
    """A broker whose time is moved by request, which all tests share."""
    return start("--clock", "virtual")


@pytest.fixture(scope="module")
def served(punctual: Served) -> Served:
    """A broker with a real clock, in whose entities there is nothing yet."""
    return anew(punctual)


@pytest.fixture(scope="module")
def timeless(movable: Served) -> Served:
    """A broker whose time is moved by request, in whose entities there is nothing yet."""
    return anew(movable)


def anew(served: Served) -> Served:
    """The broker, with its configured entities as they were when it began."""
    served.ask("/busproof/namespace", configured=True)
    return served


@pytest.fixture
def one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client's turn lasts until its requests are done, also where the process is paused."""
    monkeypatch.setattr("busproof.broker.amqp.turns.TURN", 60.0)


@pytest.fixture
def name() -> str:
    """A text that no other test uses."""
    return f"n{time.monotonic_ns()}"


def administration(served: Served, key: str = "SAS_KEY_VALUE") -> ServiceBusAdministrationClient:
    """The official client; its address is set as Microsoft's sample for the emulator does it."""
    text = served.connection_string.replace("SAS_KEY_VALUE", key)
    client = ServiceBusAdministrationClient.from_connection_string(text, retry_total=0)
    client._impl._client._base_url = served.admin
    return client


@pytest.fixture
def admin(served: Served) -> Iterator[ServiceBusAdministrationClient]:
    with administration(served) as client:
        yield client
