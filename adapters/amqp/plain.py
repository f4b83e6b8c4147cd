"""Adapter for a plain AMQP 1.0 broker, without Service Bus's management and administration.

Attaching a link creates its queue, as RabbitMQ does under `/queue/`. Queues cannot be removed over
AMQP, so reserve a broker or a virtual host for them. Settings of queues are not sent. A broker
without partitions is judged by what a client sees.
"""

import time
from functools import cached_property
from typing import Any, Final

import attrs
from proton import Delivery

from busproof import vocabulary as v
from busproof.adapters.amqp import links, sending
from busproof.adapters.amqp.client import AmqpClient
from busproof.adapters.amqp.clients import Clients
from busproof.adapters.amqp.connection import Connection
from busproof.adapters.amqp.entities import Entities
from busproof.adapters.amqp.failing import Unreachable
from busproof.adapters.amqp.run_names import prefix_of
from busproof.adapters.amqp.scenario import Scenario, Setting
from busproof.adapters.amqp.target import Target
from busproof.adapters.amqp.transfers import has_arrived, is_closed, take_message
from busproof.vocabulary import commands as c

__all__ = ["PlainAdapter"]

RECEIVE_WAIT: Final = 0.5
SLACK: Final = 2 * v.MICROSECONDS
NAMELESS: Final = "AMQP 1.0 broker"


def ask(scenario: Scenario, command: c.Command, client: AmqpClient) -> v.Outcome:
    """Execute a command that AMQP itself supports, and return its outcome."""
    match command:
        case c.CreateQueue(queue=queue):
            link = links.plain_link(client, scenario.path(queue), v.ReceiveMode.PEEK_LOCK)
            close(client, link)
            return v.Done()
        case c.Send():
            return sending.send(scenario, command, client)
        case c.Receive(session_id=None):
            return _receive(scenario, command, client)
        case c.Complete() | c.Abandon():
            return _settle(scenario, command)
    return v.Unsupported(detail=f"{type(command).__name__} is unknown to AMQP itself")


def _receive(scenario: Scenario, command: c.Receive, client: AmqpClient) -> v.Outcome:
    """Receive a message if one arrives within a while; each receive has a new link.

    Credit is not drained, because some brokers fail on a drain. If nothing arrives, the link is
    closed, so that a message on its way is released.
    """
    path, connection = scenario.path(command.queue), client.connection
    link = links.plain_link(client, path, command.mode)
    link.flow(1)
    connection.awaited(lambda: has_arrived(link), scenario.setting.receive_wait)
    if not has_arrived(link):
        close(client, link)
        return v.Empty()
    connection.check(link)
    delivery, raw = take_message(link)
    token = None if delivery.settled else link.name
    view = attrs.evolve(scenario.seen(raw, token), delivery_count=None)
    if token is None:
        close(client, link)
    else:
        lock = links.Lock(path=path, client=client, link=link, delivery=delivery)
        scenario.locks[token] = lock
    return v.Received(message=view)


def _settle(scenario: Scenario, command: c.Complete | c.Abandon) -> v.Outcome:
    """Settle a message without confirmation; refused if its lock is unknown or its link closed."""
    lock = scenario.locks.pop(command.lock_token, None)
    if lock is None or lock.path != scenario.path(command.queue) or is_closed(lock.link):
        return v.Refused(error=v.Error.LOCK_LOST, detail="no such lock is held here")
    state = Delivery.ACCEPTED if isinstance(command, c.Complete) else Delivery.RELEASED
    lock.delivery.update(state)
    lock.delivery.settle()
    close(lock.client, lock.link)
    return v.Done()


def close(client: AmqpClient, link: Any) -> None:
    """Close a link without waiting for the broker's answer, which some never send."""
    link.close()
    client.connection.beat()


class PlainAdapter:
    """Adapter for a broker that speaks AMQP 1.0 without the dialect of Service Bus.

    Args:
        target: the broker.
        timeout: maximum wait for an answer, in seconds.
        run: name of the run; the names of its queues begin with it.
    """

    def __init__(self, target: Target, timeout: float, run: str) -> None:
        self._target = target
        self._timeout = timeout
        self._run = run
        self._clients: Clients | None = None
        self._scenario: Scenario | None = None
        self._scenarios = 0

    @property
    def declaration(self) -> v.Declaration:
        """The capabilities of AMQP itself: messages, and two receive modes."""
        slack = SLACK if self._target.slack is None else self._target.slack
        return v.Declaration(
            implementation=self._implementation,
            capabilities=frozenset(
                {v.Capability.AMQP, v.Capability.PEEK_LOCK, v.Capability.REGULAR_QUEUES}
            ),
            clock=v.Clock.REAL,
            slack=slack,
        )

    @cached_property
    def _implementation(self) -> v.Implementation:
        """Name and version of the broker; if unreachable, the first command reports that."""
        try:
            connection = Connection(self._target, self._timeout)
        except Unreachable:
            return v.Implementation(name=NAMELESS)
        name, version = connection.product
        connection.close()
        return v.Implementation(name=name or NAMELESS, version=version)

    def start(self, profile: v.Profile) -> None:  # noqa: ARG002 - the broker has no profile
        """Begin with new queue names."""
        self.stop()
        self._clients = Clients(self._target, self._timeout, ask)
        self._scenarios += 1
        wait = RECEIVE_WAIT if self._target.receive_wait is None else self._target.receive_wait
        self._scenario = Scenario(
            Setting(
                entities=Entities(self._target, self._timeout),
                epoch=0,
                now=lambda: int(time.monotonic() * v.MICROSECONDS),
                tells_time=False,
                receive_wait=wait,
                prefix=f"/queue/{prefix_of(self._run, self._scenarios)}",
            )
        )

    def do(self, command: c.Command, connection: str) -> v.Observed:
        """Execute one command."""
        if self._clients is None or self._scenario is None:
            raise AssertionError("an adapter takes commands only between start and stop")
        return v.Observed(self._clients.ask(self._scenario, command, connection))

    def stop(self) -> None:
        """Close all connections."""
        if self._clients is not None:
            self._clients.close()
            self._clients = None
