"""Startup of a broker: its bus with the configured entities, its ports, and its shutdown."""

import asyncio
import ssl
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, count
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.broker.amqp.engine import Connection
from busproof.broker.amqp.refusals import Refusal
from busproof.broker.amqp.routing import attach
from busproof.broker.amqp.websocket import WebSocket
from busproof.broker.auth.tokens import AccessPolicies
from busproof.broker.bus import Bus
from busproof.broker.configuration.emulator import Configuration, Created
from busproof.broker.core import Hub
from busproof.broker.faulty import FaultyBus
from busproof.broker.limits import ALL_DEFAULT, Limits
from busproof.broker.listener import SPARE, SPARE_FOR_HTTP, guard_servers
from busproof.broker.shared_port import SharedPort
from busproof.broker.tls import Handshakes, speak_tls
from busproof.errors import UsageError
from busproof.model.rules import NO_FAULT, Families
from busproof.spec import load

__all__ = [
    "ADMIN_PORT",
    "PORT",
    "TLS_PORT",
    "WEBSOCKET_PORT",
    "Broker",
    "Places",
    "bus_for",
    "start_broker",
]

PORT: Final = "--port"
TLS_PORT: Final = "--tls-port"
WEBSOCKET_PORT: Final = "--websocket-port"
ADMIN_PORT: Final = "--admin-port"
FORCED: Final = "amqp:connection:forced"
"""The condition of a connection that is ended by an operator, at which clients connect again."""


def bus_for(
    configuration: Configuration,
    *,
    policy: str = "round-robin",
    seed: int = 0,
    clock: str = "real",
    families: Families = NO_FAULT,
) -> Bus:
    """Create a bus with the entities of a configuration.

    Args:
        configuration: the configuration.
        policy: how the model chooses among permitted behaviours.
        seed: the seed of its choices.
        clock: real or virtual.
        families: families of rules with a fault.

    Raises:
        UsageError: an edition, a reading or an entity is invalid.
    """
    profile = v.profile_for(
        load(),
        edition=configuration.edition,
        tier=configuration.tier,
        readings=configuration.readings,
        partitions=configuration.partitions,
        namespace_partitions=configuration.namespace_partitions,
        messaging_units=configuration.messaging_units,
    )
    # A mutant has to decide everything, because its stored state would be read without the fault.
    kind = Bus if families is NO_FAULT else FaultyBus
    bus = kind(profile, policy, seed, clock, families=families)
    bus.answer_as_seen()
    create(bus, configuration)
    return bus


def create(bus: Bus, configuration: Configuration) -> None:
    """Create the configured entities that a bus does not have yet.

    Raises:
        UsageError: an entity is invalid.
    """
    places = configuration.places
    waiting = [created for created in configuration.created if not _is_there(bus, created)]
    while waiting:
        later = [created for created in waiting if not _is_ready(bus, created)]
        # Nothing became possible in a whole round, so nothing ever will.
        if len(later) == len(waiting):
            raise UsageError(f"{places[later[0]]}: {_cannot_forward(later[0])}")
        ready = [created for created in waiting if created not in later]
        for created in ready:
            if (warning := _create(bus, created, places[created])) is not None:
                configuration.warn_once(warning)
        waiting = later


def _is_there(bus: Bus, command: Created) -> bool:
    """Return whether an entity exists from an earlier run; if so, its rules exist, too."""
    if isinstance(command, v.AddRule | v.RemoveRule):
        path = v.subscription_path(command.topic, command.subscription)
    else:
        path = v.created_path(command)
    return bus.entity(bus.path(path)) is not None


def _is_ready(bus: Bus, command: Created) -> bool:
    """Return whether an entity's topic, subscription and forwarding targets exist."""
    if isinstance(command, v.CreateSubscription) and bus.entity(command.topic) is None:
        return False
    if isinstance(command, v.AddRule | v.RemoveRule):
        path = f"{command.topic}/subscriptions/{command.subscription}"
        return bus.entity(bus.path(path)) is not None
    return all(bus.entity(bus.path(target)) is not None for target in v.destinations(command))


def _cannot_forward(command: Created) -> str:
    targets = v.destinations(command)
    if targets and isinstance(command, v.CreateQueue | v.CreateSubscription):
        named = " and ".join(f"'{target}'" for target in targets)
        return (
            f"'{v.created_path(command)}' is to forward to {named}, which is not in the "
            "configuration or forwards back; add it, or leave ForwardTo out"
        )
    return f"{command} is impossible: the entity that it belongs to is not in the configuration"


def _name_of(command: Created) -> str:
    if isinstance(command, v.AddRule | v.RemoveRule):
        return f"rule '{command.rule}'"
    return f"'{v.created_path(command)}'"


def _create(bus: Bus, command: Created, place: str) -> str | None:
    """Create an entity or a rule; return a warning if it is not as it was wanted.

    Raises:
        UsageError: the bus refuses it.
    """
    refused, warning = bus.ask(command, "configuration").refused, None
    if isinstance(command, v.CreateQueue | v.CreateTopic) and command.partitioned:
        path = v.created_path(command)
        if refused is not None and _is_unpartitioned_premium(bus):
            refused = bus.ask(attrs.evolve(command, partitioned=False), "configuration").refused
        if refused is None and not bus.find_entity(path).settings.partitioned:
            warning = (
                f"{place}: EnablePartitioning of '{path}' has no effect: a Premium namespace is "
                "partitioned as a whole, by NamespacePartitions"
            )
    if refused is not None:
        what = _name_of(command)
        raise UsageError(f"{place}: the bus refuses to create {what}: {refused.error.value}")
    if not isinstance(command, v.AddRule | v.RemoveRule):
        bus.record_name(v.created_path(command))
    return warning


def _is_unpartitioned_premium(bus: Bus) -> bool:
    profile = bus.namespace.profile
    return profile.tier is v.Tier.PREMIUM and profile.namespace_partitions == 1


@attrs.frozen
class Places:
    """Addresses for a broker to listen on; port 0 means any free port.

    Args:
        host: the host.
        port: the port for AMQP; `None` for none.
        admin_port: the port for HTTP.
        tls_port: the port for AMQP over TLS, which needs `tls`; `None` for none.
        tls: the TLS context for AMQP.
        admin_tls: the TLS context for HTTPS in place of HTTP.
        websocket_port: the port for AMQP over WebSockets, with TLS if there is `tls`; `None` for
            none.
    """

    host: str
    port: int | None
    admin_port: int
    tls_port: int | None = None
    tls: ssl.SSLContext | None = None
    admin_tls: ssl.SSLContext | None = None
    websocket_port: int | None = None


class Broker:
    """A broker that listens for clients.

    Args:
        hub: the core of the broker.
        servers: servers by the option for their port, one for each address of the host.
    """

    def __init__(self, hub: Hub, servers: Mapping[str, list[asyncio.Server]]) -> None:
        self.hub = hub
        self._servers = servers

    @property
    def port(self) -> int:
        """The port for AMQP without TLS; 0 if there is none."""
        return self.port_of(PORT)

    @property
    def admin_port(self) -> int:
        """The port for HTTP or HTTPS."""
        return self.port_of(ADMIN_PORT)

    def port_of(self, option: str) -> int:
        """Return the port that an option has set or chosen; 0 if there is none."""
        servers = self._servers.get(option)
        return int(servers[0].sockets[0].getsockname()[1]) if servers else 0

    async def stop(self) -> None:
        """Stop listening and disconnect all clients."""
        for server in chain.from_iterable(self._servers.values()):
            server.close()
        self.hub.close()
        if self.hub.saver is not None:
            # Close the store before the connections, because the answers that wait need them.
            self.hub.saver.close()
            self.hub.saver = None
        for connection in list(self.hub.connections):
            connection.end(Refusal(FORCED, "The broker ends."))
            connection.drop()


async def start_broker(
    bus: Bus,
    keys: AccessPolicies,
    places: Places,
    http: Callable[[Hub], Callable[..., Any]],
    limits: Limits = ALL_DEFAULT,
) -> Broker:
    """Start a broker and listen on its ports.

    `http` gets the hub before any request can arrive, and returns the handler for HTTP.

    Raises:
        UsageError: a port is in use, or the host is unknown.
    """
    hub = Hub(bus, keys, limits)
    servers = dict[str, list[asyncio.Server]]()
    try:
        for option, opening in _openings(hub, places, http(hub)):
            servers[option] = await _listening(opening, places, option, hub)
    except UsageError:
        for server in chain.from_iterable(servers.values()):
            server.close()
        hub.close()
        raise
    return Broker(hub, servers)


def _openings(
    hub: Hub, places: Places, answering: Callable[..., Any]
) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield how to open each server, by the option for its port."""
    loop, numbers, handshakes = asyncio.get_running_loop(), count(1), Handshakes(hub.freed.note)

    def make() -> Connection:
        return Connection(hub, next(numbers), attach)

    def wrap() -> WebSocket:
        return WebSocket(make())

    def converse() -> asyncio.Protocol:
        return SharedPort(answering, wrap)

    def speaking(
        port: int, spoken: Callable[[], asyncio.Protocol], tls: ssl.SSLContext | None = None
    ) -> Callable[..., Any]:
        place = {"host": places.host, "port": port}
        factory = spoken if tls is None else speak_tls(tls, spoken, handshakes)
        return lambda **how: loop.create_server(factory, **_place_arguments(place, how))

    if places.port is not None:
        yield PORT, speaking(places.port, make)
    if places.tls_port is not None and places.tls is not None:
        yield TLS_PORT, speaking(places.tls_port, make, places.tls)
    if places.websocket_port is not None:
        yield WEBSOCKET_PORT, speaking(places.websocket_port, wrap, places.tls)
    yield ADMIN_PORT, speaking(places.admin_port, converse, places.admin_tls)


def _place_arguments(place: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments for a server: its bound socket, or its address."""
    return how if "sock" in how else place | how


async def _listening(
    opening: Callable[..., Any], places: Places, option: str, hub: Hub
) -> list[asyncio.Server]:
    # HTTP may use more files than AMQP, because it has to answer the health check until the end.
    spare = SPARE_FOR_HTTP if option == ADMIN_PORT else SPARE
    port = {
        PORT: places.port,
        TLS_PORT: places.tls_port,
        WEBSOCKET_PORT: places.websocket_port,
    }.get(option, places.admin_port)
    try:
        return await guard_servers(opening, spare, hub.refuse_for_files)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"cannot listen on {places.host}:{port}: {reason}; choose another {option}"
        ) from None
