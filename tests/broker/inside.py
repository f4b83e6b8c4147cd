"""Brokers of the test's own process: without sockets, or in a thread, whose inside it can reach."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs
from azure.servicebus import ServiceBusClient
from work import PATIENCE

from busproof.broker.admin.endpoint import Administration
from busproof.broker.auth.tokens import AccessPolicies
from busproof.broker.bus import Bus
from busproof.broker.configuration.emulator import Configuration, Created
from busproof.broker.core import Hub
from busproof.broker.event_loop import run
from busproof.broker.http_port import serve_http
from busproof.broker.limits import Limits
from busproof.broker.server import Broker, Places, bus_for, start_broker
from busproof.vocabulary.commands import CreateQueue

from .conftest import SETTINGS


def make_configuration(*created: Created, **fields: Any) -> Configuration:
    """A configuration with these entities."""
    found = Configuration(**fields)
    found.created += created
    found.places |= dict.fromkeys(created, "here")
    return found


def bus_of(*created: Created, **options: Any) -> Bus:
    """A bus with these entities."""
    return bus_for(make_configuration(*created), **options)


def hub_of(*created: Created, **options: Any) -> Hub:
    """A broker without sockets that has these entities; a loop has to run."""
    return Hub(bus_of(*created, **options), AccessPolicies(Configuration().keys))


@attrs.frozen
class Inside:
    """A broker that runs here."""

    broker: Broker

    @property
    def hub(self) -> Hub:
        """Its inside; it belongs to the broker's thread while a client is connected."""
        return self.broker.hub

    def client(self) -> ServiceBusClient:
        """The official client, which does not try again by itself."""
        text = (
            f"Endpoint=sb://127.0.0.1:{self.broker.port};UseDevelopmentEmulator=true;"
            "SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE"
        )
        return ServiceBusClient.from_connection_string(text, **SETTINGS)


@contextmanager
def inside(*queues: CreateQueue, policy: str = "round-robin", **limits: int) -> Iterator[Inside]:
    """A broker with these queues, and the limits that are named."""
    ready, ended = threading.Event(), asyncio.Event()
    running: list[tuple[Broker, asyncio.AbstractEventLoop]] = []

    async def serve() -> None:
        bus = bus_of(*queues, policy=policy)
        keys = AccessPolicies(Configuration().keys)
        places = Places(host="127.0.0.1", port=0, admin_port=0)
        some = Limits(**limits)

        def http(hub: Hub) -> Any:
            return serve_http(hub, Administration(hub, print))

        broker = await start_broker(bus, keys, places, http, some)
        running.append((broker, asyncio.get_running_loop()))
        ready.set()
        await ended.wait()
        await broker.stop()

    thread = threading.Thread(target=lambda: run(serve()))
    thread.start()
    assert ready.wait(PATIENCE)
    broker, loop = running[0]
    try:
        yield Inside(broker)
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(PATIENCE)
