"""A client that sends or receives as fast as a broker allows, the same for all brokers."""

import os
import time
from pathlib import Path
from typing import Any, Final

import attrs
from proton import Delivery, Endpoint, Handler, Message
from proton.reactor import Container

__all__ = ["Target", "turn", "worked"]

CREDIT: Final = 1_000


@attrs.frozen
class Target:
    """A running broker: its name, port, login, queue address and process id."""

    name: str
    port: int
    login: dict[str, str]
    address: str
    process: int


class Turn(Handler):
    """A handler that sends or receives messages over some connections, and measures the time."""

    def __init__(
        self, target: Target, count: int, connections: int, *, sends: bool, durable: bool = False
    ) -> None:
        super().__init__()
        self.target = target
        self.count = count
        self.connections = connections
        self.sends = sends
        self.raw = Message(b"x" * 256, inferred=True, durable=durable).encode()
        self.left_to_send = count
        self.left = count
        self.links: list[Any] = []
        self.opened: list[Any] = []
        self.seconds = 0.0

    def on_reactor_init(self, event: Any) -> None:
        """Connect, and attach a link on each connection."""
        for _ in range(self.connections):
            connection = event.container.connect(
                f"amqp://127.0.0.1:{self.target.port}",
                allowed_mechs="PLAIN",
                allow_insecure_mechs=True,
                reconnect=False,
                **self.target.login,
            )
            make = event.container.create_sender if self.sends else event.container.create_receiver
            self.opened.append(connection)
            make(connection, self.target.address, handler=self)

    def on_link_remote_open(self, event: Any) -> None:
        """Begin once all links are attached."""
        self.links.append(event.link)
        if len(self.links) < self.connections:
            return
        self.began = time.perf_counter()
        for link in self.links:
            if self.sends:
                self.on_link_flow(event, link)
            else:
                link.flow(min(CREDIT, self.count))

    def on_link_flow(self, event: Any, link: Any = None) -> None:
        """Send as many messages as there is credit for."""
        link = link or event.link
        if not self.sends or len(self.links) < self.connections:
            return
        while link.credit > 0 and self.left_to_send:
            self.left_to_send -= 1
            link.delivery(str(self.left_to_send))
            link.stream(self.raw)
            link.advance()

    def on_delivery(self, event: Any) -> None:
        """Count accepted messages, or accept received ones."""
        delivery = event.delivery
        if self.sends:
            if not delivery.updated:
                return
            if delivery.remote_state != Delivery.ACCEPTED:
                raise SystemExit(f"{self.target.name} answered {delivery.remote_state}")
            delivery.settle()
            self.counted()
        elif delivery.readable and not delivery.partial:
            link = delivery.link
            link.recv(delivery.pending)
            link.advance()
            delivery.update(Delivery.ACCEPTED)
            delivery.settle()
            self.counted()
            if link.credit < CREDIT // 2 and self.left > CREDIT * self.connections:
                link.flow(CREDIT - link.credit)
            elif not link.credit and self.left:
                link.flow(min(self.left, CREDIT // 4))

    def counted(self) -> None:
        """Count one message; close all connections after the last."""
        self.left -= 1
        if self.left == 0:
            self.seconds = time.perf_counter() - self.began
            for link in self.opened:
                link.close()

    def on_link_remote_close(self, event: Any) -> None:
        """Exit with the error if the broker closes a link before the end."""
        if event.link.state & Endpoint.LOCAL_ACTIVE and self.left:
            raise SystemExit(f"{self.target.name}: {event.link.remote_condition}")


def turn(
    target: Target, count: int, connections: int, *, sends: bool, durable: bool = False
) -> tuple[float, float]:
    """Return the messages per second, and the broker's processor time for each in microseconds."""
    handler = Turn(target, count, connections, sends=sends, durable=durable)
    before = worked(target.process)
    Container(handler).run()
    return count / handler.seconds, (worked(target.process) - before) / count * 1e6


def worked(process: int) -> float:
    """Return the processor time of a process and its descendants, in seconds."""
    ticks, children = {}, dict[int, list[int]]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        number = int(stat.parent.name)
        ticks[number] = int(fields[11]) + int(fields[12])
        children.setdefault(int(fields[1]), []).append(number)
    ticks_used, waiting = 0, [process]
    while waiting:
        number = waiting.pop()
        ticks_used += ticks.get(number, 0)
        waiting += children.get(number, [])
    return ticks_used / os.sysconf("SC_CLK_TCK")
