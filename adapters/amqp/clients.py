"""The clients of a service, one per connection, and outcomes for their failures."""

import contextlib
import threading
from collections.abc import Callable
from typing import Any, Final, Protocol

from busproof import vocabulary as v
from busproof.adapters.amqp.asking import ask
from busproof.adapters.amqp.client import AmqpClient
from busproof.adapters.amqp.errors import outcome_of
from busproof.adapters.amqp.failing import Lost, Rejected, Silent, Unreachable
from busproof.adapters.amqp.scenario import Scenario
from busproof.adapters.amqp.target import Target
from busproof.errors import AdapterError

__all__ = ["Clients", "Connected"]

BEAT: Final = 5.0
"""Interval between heartbeats on idle connections, in seconds."""

TRIES: Final = 3
"""Maximum number of failed connections in a run before it gives up."""


class Connected(Protocol):
    """A client with a connection."""

    def close(self) -> None:
        """Close the connection."""

    def beat(self) -> None:
        """Keep the connection alive, if it needs that."""


class Clients:
    """The clients of a service; each is made when its connection is first named.

    Args:
        target: the service.
        timeout: maximum wait for an answer, in seconds.
        ask: function that executes a command; by default in the dialect of Service Bus.
        connect: function that makes a client.
    """

    def __init__(
        self,
        target: Target,
        timeout: float,
        ask: Callable[[Any, v.Command, Any], v.Outcome] = ask,
        connect: Callable[[Target, float], Connected] = AmqpClient,
    ) -> None:
        self._ask = ask
        self._connect = connect
        self._target = target
        self._timeout = timeout
        self._clients: dict[str, Connected] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._failed = 0
        self._failure = ""

    def keep_alive(self) -> None:
        """Keep idle connections open from now on, by heartbeats in a thread."""
        threading.Thread(target=self._beat, daemon=True).start()

    def ask(self, scenario: Scenario, command: v.Command, connection: str) -> v.Outcome:
        """Execute a command over a connection; the outcome is `Indeterminate` if no answer comes.

        Raises:
            AdapterError: the service cannot be reached, or denies access.
        """
        if self._failed > TRIES:
            raise AdapterError(f"{self._failure}; it is not tried again")
        with self._lock:
            client = self._clients.get(connection)
            if client is None:
                client = self._clients[connection] = self._connect(self._target, self._timeout)
            return self._answer(scenario, command, client)

    def _answer(self, scenario: Scenario, command: v.Command, client: Connected) -> v.Outcome:
        try:
            return self._ask(scenario, command, client)
        except Rejected as rejected:
            return outcome_of(rejected)
        except Silent as silent:
            return v.Indeterminate(detail=str(silent))
        except Unreachable as unreachable:
            self._failed += 1
            self._failure = f"the service cannot be reached: {unreachable}"
            raise AdapterError(self._failure) from None
        except Lost as lost:
            return v.Indeterminate(detail=str(lost))

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            for client in self._clients.values():
                with contextlib.suppress(Lost):
                    client.close()
            self._clients.clear()

    def end(self) -> None:
        """Close all connections, and stop their heartbeats."""
        self._ended.set()
        self.close()

    def _beat(self) -> None:
        while not self._ended.wait(BEAT):
            with self._lock:
                for client in self._clients.values():
                    client.beat()
