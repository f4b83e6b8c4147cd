"""Starting a broker: its bus with what is in it, its two ports, and their end."""

import asyncio
import ssl
from collections.abc import Callable
from itertools import count
from typing import Any

from busproof.broker.attaching import attach
from busproof.broker.bus import Bus
from busproof.broker.config import Configuration, Created
from busproof.broker.engine import Connection
from busproof.broker.foreign import ForeignBus, Implementation
from busproof.broker.hub import Hub
from busproof.broker.tokens import Keys
from busproof.errors import UsageError
from busproof.model.commands import (
    AddRule,
    CreateQueue,
    CreateSubscription,
    RemoveRule,
)
from busproof.model.entities import created_path, destinations, subscription_path
from busproof.model.profiles import profile_for
from busproof.spec import load

__all__ = ["Broker", "bus_for", "started"]


def bus_for(
    configuration: Configuration,
    *,
    policy: str = "round-robin",
    seed: int = 0,
    clock: str = "real",
    instead: Implementation | None = None,
) -> Bus:
    """A bus with the entities that a configuration names.

    Args:
        configuration: what is configured.
        policy: how the model chooses where it may.
        seed: of its choices.
        clock: whether time passes by itself or by request.
        instead: what decides, if not the model.

    Raises:
        UsageError: an edition, a reading or an entity that cannot be had.
    """
    profile = profile_for(
        load(),
        edition=configuration.edition,
        tier=configuration.tier,
        readings=configuration.readings,
        partitions=configuration.partitions,
    )
    bus = Bus(profile, policy, seed, clock)
    if instead is not None:
        bus = ForeignBus(instead, profile, clock)
    create(bus, configuration)
    return bus


def create(bus: Bus, configuration: Configuration) -> None:
    """Let a bus have the entities that a configuration names, beside those that it has.

    Raises:
        UsageError: one that cannot be had.
    """
    places = configuration.places
    waiting = [each for each in configuration.created if not _is_there(bus, each)]
    while waiting:
        later = [each for each in waiting if not _is_ready(bus, each)]
        if len(later) == len(waiting):
            raise UsageError(f"{places[later[0]]}: {_cannot_forward(later[0])}")
        ready = [each for each in waiting if each not in later]
        for each in ready:
            _create(bus, each, places[each])
        waiting = later


def _is_there(bus: Bus, command: Created) -> bool:
    """Whether an entity is there already, from when the broker last ran; its rules are with it."""
    if isinstance(command, AddRule | RemoveRule):
        path = subscription_path(command.topic, command.subscription)
    else:
        path = created_path(command)
    return bus.entity(bus.path(path)) is not None


def _is_ready(bus: Bus, command: Created) -> bool:
    """Whether what it needs is there: its topic, its subscription, where it forwards to."""
    if isinstance(command, CreateSubscription) and bus.entity(command.topic) is None:
        return False
    if isinstance(command, AddRule | RemoveRule):
        path = f"{command.topic}/subscriptions/{command.subscription}"
        return bus.entity(bus.path(path)) is not None
    return all(bus.entity(bus.path(target)) is not None for target in destinations(command))


def _cannot_forward(command: Created) -> str:
    targets = destinations(command)
    if targets and isinstance(command, CreateQueue | CreateSubscription):
        named = " and ".join(f"'{target}'" for target in targets)
        return (
            f"'{created_path(command)}' is to forward to {named}, which is not in the "
            "configuration or forwards back; add it, or leave ForwardTo out"
        )
    return f"{command} cannot be had: what it belongs to is not in the configuration"


def _called(command: Created) -> str:
    if isinstance(command, AddRule | RemoveRule):
        return f"rule '{command.rule}'"
    return f"'{created_path(command)}'"


def _create(bus: Bus, command: Created, place: str) -> None:
    refused = bus.ask(command, "configuration").refused
    if refused is not None:
        what = _called(command)
        raise UsageError(f"{place}: the bus refuses to create {what}: {refused.error.value}")
    if not isinstance(command, AddRule | RemoveRule):
        bus.known_as(created_path(command))


class Broker:
    """A broker that listens.

    Args:
        hub: its inside.
        port: where it speaks AMQP.
        admin_port: where it speaks HTTP.
        stop: ends it.
    """

    def __init__(self, hub: Hub, port: int, admin_port: int, servers: list[asyncio.Server]) -> None:
        self.hub = hub
        self.port = port
        self.admin_port = admin_port
        self._servers = servers

    async def stop(self) -> None:
        """Listen no more, and let all connections go."""
        for server in self._servers:
            server.close()
        self.hub.close()
        if self.hub.saver is not None:
            self.hub.saver.close()
            self.hub.saver = None
        for connection in list(self.hub.connections):
            connection.drop()


async def started(
    bus: Bus,
    keys: Keys,
    host: str,
    port: int,
    admin_port: int,
    http: Callable[[Hub], Callable[..., Any]],
    tls: ssl.SSLContext | None = None,
) -> Broker:
    """Listen on both ports; port 0 takes any that is free. With `tls`, HTTP is HTTPS.

    `http` gets the hub before anybody can ask for something, and gives what answers HTTP.

    Raises:
        UsageError: a port is taken, or there is no such host.
    """
    hub = Hub(bus, keys)
    answering = http(hub)
    loop = asyncio.get_running_loop()
    numbers = count(1)
    amqp = await _listening(
        loop.create_server(lambda: Connection(hub, next(numbers), attach), host, port),
        host,
        port,
        "--port",
    )
    try:
        admin = await _listening(
            asyncio.start_server(answering, host, admin_port, ssl=tls),
            host,
            admin_port,
            "--admin-port",
        )
    except UsageError:
        amqp.close()
        raise
    return Broker(hub, _port(amqp), _port(admin), [amqp, admin])


async def _listening(opening: Any, host: str, port: int, option: str) -> asyncio.Server:
    try:
        server: asyncio.Server = await opening
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"cannot listen on {host}:{port}: {reason}; choose another {option}"
        ) from None
    return server


def _port(server: asyncio.Server) -> int:
    return int(server.sockets[0].getsockname()[1])
