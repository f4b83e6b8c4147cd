"""A broker as users start it, and the official client against it."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from azure.servicebus import ServiceBusClient

ENTITIES = {
    "UserConfig": {
        "Namespaces": [
            {
                "Name": "sbemulatorns",
                "AuthorizationRules": [
                    {"KeyName": "RootManageSharedAccessKey", "PrimaryKey": "SAS_KEY_VALUE"},
                    {"KeyName": "listener", "PrimaryKey": "ears", "Rights": ["Listen"]},
                    {"KeyName": "sender", "PrimaryKey": "mouth", "Rights": ["Send"]},
                ],
                "Queues": [
                    {"Name": "plain"},
                    {
                        "Name": "parted",
                        "Properties": {"EnablePartitioning": True, "MaxDeliveryCount": 3},
                    },
                    {
                        "Name": "once",
                        "Properties": {"EnablePartitioning": True, "MaxDeliveryCount": 1},
                    },
                    {"Name": "hasty", "Properties": {"LockDuration": "PT5S"}},
                    {
                        "Name": "sessions",
                        "Properties": {"EnablePartitioning": True, "RequiresSession": True},
                    },
                    {
                        "Name": "distinct",
                        "Properties": {
                            "EnablePartitioning": True,
                            "RequiresDuplicateDetection": True,
                        },
                    },
                ],
                "Topics": [
                    {
                        "Name": "topic",
                        "Properties": {"EnablePartitioning": True},
                        "Subscriptions": [
                            {"Name": "all"},
                            {
                                "Name": "some",
                                "Rules": [
                                    {
                                        "Name": "big",
                                        "Properties": {
                                            "FilterType": "Sql",
                                            "SqlFilter": {"SqlExpression": "size > 3"},
                                        },
                                    }
                                ],
                            },
                        ],
                    }
                ],
            }
        ]
    }
}


@attrs.frozen
class Served:
    """A broker that runs."""

    process: "subprocess.Popen[str]"
    connection_string: str
    admin: str

    def client(self, **options: Any) -> ServiceBusClient:
        """The official client, which does not try again by itself."""
        given = {"retry_total": 0, **options}
        return ServiceBusClient.from_connection_string(self.connection_string, **given)

    def client_of(self, name: str, key: str) -> ServiceBusClient:
        """The official client with another rule's key."""
        text = self.connection_string.replace("RootManageSharedAccessKey", name)
        text = text.replace("SAS_KEY_VALUE", key)
        return ServiceBusClient.from_connection_string(text, retry_total=0)

    def ask(self, path: str, **body: Any) -> Any:
        """What is answered under `/busproof/`."""
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(f"{self.admin}{path}", data=data)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    @property
    def port(self) -> int:
        """Where it speaks AMQP."""
        return int(re.search(r":(\d+);", self.connection_string)[1])  # type: ignore[index]


def launched(*options: str) -> "subprocess.Popen[str]":
    """`busproof serve` with these options."""
    return subprocess.Popen(  # noqa: S603 - a fixed command
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
    admin = re.search(r"HTTP on (\S+:\d+)", said)
    endpoint = re.search(r"Endpoint=\S+", said)
    assert admin is not None
    assert endpoint is not None
    return Served(process, endpoint[0], f"http://{admin[1]}")


Start = Callable[..., Served]


@pytest.fixture(scope="session")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("config") / "Config.json"
    path.write_text(json.dumps(ENTITIES), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def start(config: Path) -> Iterator[Start]:
    """Starts brokers with the entities above, and ends them."""
    processes = []

    def started(*options: str) -> Served:
        ports = ("--port", "0", "--admin-port", "0")
        process = launched(*ports, "--config", str(config), *options)
        processes.append(process)
        return running(process)

    yield started
    for process in processes:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="module")
def served(start: Start) -> Served:
    """A broker with a real clock."""
    return start()


@pytest.fixture(scope="module")
def timeless(start: Start) -> Served:
    """A broker whose time is moved by request."""
    return start("--clock", "virtual")


@pytest.fixture
def name() -> str:
    """A text that no other test uses."""
    return f"n{time.monotonic_ns()}"
