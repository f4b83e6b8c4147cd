"""Clients that read slowly, beside what a transport holds for them."""

import asyncio
import socket
from typing import Any, cast

from busproof.broker.amqp.wire import Wire
from busproof.broker.auth.tokens import AccessPolicies
from busproof.broker.configuration.emulator import Configuration
from busproof.broker.core import Hub
from busproof.broker.limits import Limits

from .fuzz.test_fuzz import QUEUES
from .inside import bus_of


class End(asyncio.Protocol):
    """The broker's end of a connection, which writes by a `Wire`."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.pause_writing = wire.slow_down
        self.resume_writing = wire.go_on

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.wire.open(cast(asyncio.Transport, transport))


async def caught_up(unread: int) -> bool:
    """Whether a client is read from again after it has read all that waited for it."""
    hub = Hub(bus_of(*QUEUES), AccessPolicies(Configuration().keys), Limits(unread=unread))
    wire, (ours, theirs) = Wire(hub, lambda: None, "connection-1"), socket.socketpair()
    transport: Any
    transport, _ = await hub.loop.create_connection(lambda: End(wire), sock=ours)
    written = 0
    while transport.is_reading():
        wire.write(bytes(8_000))
        written += 8_000
    theirs.setblocking(False)
    while written:
        written -= len(await hub.loop.sock_recv(theirs, 65_536))
    for _ in range(3):
        await asyncio.sleep(0)
    theirs.close()
    transport.close()
    return bool(transport.is_reading() or not wire._is_deaf)


def test_client_that_has_caught_up_is_read_from_again() -> None:
    """Also where less may wait for it than a transport holds before it asks for a pause."""
    for unread in (16_384, 1_048_576):
        assert asyncio.run(caught_up(unread)), unread
