"""Adapter for a service that someone else runs, in real time, perhaps with other entities."""

import re
import time
from collections.abc import Iterable
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.adapters.amqp.clients import Clients
from busproof.adapters.amqp.dialect import OVER_AMQP, Dialect
from busproof.adapters.amqp.discovery import discover
from busproof.adapters.amqp.entities import Entities
from busproof.adapters.amqp.failing import Lost, Rejected, Silent
from busproof.adapters.amqp.run_names import is_of_a_run, prefix_of
from busproof.adapters.amqp.scenario import Scenario, Setting
from busproof.adapters.amqp.target import Target
from busproof.errors import AdapterError, UsageError

__all__ = ["RemoteAdapter", "remove_entities"]

RECEIVE_WAIT: Final = 1.0
"""Maximum wait for a message before a receive counts as empty, in seconds."""
SESSION_WAIT: Final = 2.0
LONGEST_TOLD: Final = 5
"""Maximum number of names in a message about entities that could not be removed."""
TRACKING: Final = re.compile(
    r"\b(TrackingId|SystemTracker|Timestamp|Reference|G|B)\s*:\s*[^,\s]*", re.IGNORECASE
)


class RemoteAdapter:
    """Adapter for a Service Bus namespace, an emulator, or a busproof broker started by hand.

    Args:
        target: the service.
        timeout: maximum wait for an answer, in seconds.
        run: name of the run, which is part of its entities' names.
        dialect: the protocol for messages.
    """

    def __init__(
        self, target: Target, timeout: float, run: str, dialect: Dialect = OVER_AMQP
    ) -> None:
        self._dialect = dialect
        self._target = target
        self._timeout = timeout
        self._run = run
        self._entities = Entities(target, timeout)
        self._clients: Clients | None = None
        self._scenario: Scenario | None = None
        self._scenarios = 0
        self._left: dict[str, None] = {}
        self._declaration: v.Declaration | None = None
        self._tier: str | None = None
        self._partitions = 1

    @property
    def declaration(self) -> v.Declaration:
        """The capabilities of the service; probed once, on entities made for that."""
        if self._declaration is None:
            self._begin()
            try:
                asked = self._ask
                entities = self._entities
                discovery = discover(asked, entities, self._target, self._dialect)
            finally:
                self._let_go()
            self._declaration, self._tier = discovery.declaration, discovery.tier
            self._partitions = discovery.namespace_partitions
        return self._declaration

    def start(self, profile: v.Profile) -> None:
        """Remove the entities of the last scenario, and use new entity names."""
        if self._tier not in (None, profile.tier.value):
            raise UsageError(
                f"the namespace is of tier {self._tier}, and the run is for {profile.tier.value}; "
                f"say --tier {self._tier}"
            )
        if self._declaration and self._partitions != profile.namespace_partitions:
            raise UsageError(
                f"the namespace is of {self._partitions} partitions (1: not partitioned), and the "
                f"run is for {profile.namespace_partitions}; say --namespace-partitions "
                f"{self._partitions}"
            )
        self._begin()

    def do(self, command: v.Command, connection: str) -> v.Observed:
        """Execute one command."""
        return v.Observed(self._ask(command, connection))

    def stop(self) -> None:
        """Remove every entity that was created, and close all connections.

        Raises:
            AdapterError: some entities could not be removed.
        """
        self._let_go()
        if self._clients is not None:
            self._clients.end()
            self._clients = None
        left, self._left = list(self._left), {}
        self._entities.close()
        if left:
            raise AdapterError(_describe_leftovers(left, self._run))

    def _begin(self) -> None:
        self._let_go()
        if self._clients is None:
            self._clients = self._dialect.clients(self._target, self._timeout)
            self._clients.keep_alive()
        self._scenarios += 1
        began = time.time()
        self._scenario = self._dialect.begin(
            Setting(
                entities=self._entities,
                epoch=int(began * v.MICROSECONDS),
                now=lambda: int((time.time() - began) * v.MICROSECONDS),
                tells_time=False,
                receive_wait=RECEIVE_WAIT
                if self._target.receive_wait is None
                else self._target.receive_wait,
                session_wait=SESSION_WAIT,
                prefix=prefix_of(self._run, self._scenarios),
            )
        )

    def _ask(self, command: v.Command, connection: str) -> v.Outcome:
        if self._clients is None or self._scenario is None:
            raise AssertionError("an adapter takes commands only between start and stop")
        return self._redact(self._clients.ask(self._scenario, command, connection))

    def _let_go(self) -> None:
        """Close the scenario's connections, and remove its entities and earlier leftovers."""
        if self._clients is not None:
            self._clients.close()
        if self._scenario is not None:
            self._left |= self._scenario.entities
            self._scenario = None
        if self._left:
            self._left = dict.fromkeys(_remaining(self._entities, self._left))

    def _redact(self, outcome: v.Outcome) -> v.Outcome:
        """Return an outcome whose detail does not show the service's host, key or request ids."""
        if not isinstance(outcome, v.Refused | v.Indeterminate):
            return outcome
        return attrs.evolve(outcome, detail=redact(outcome.detail, self._target))


def redact(text: str, target: Target) -> str:
    """Return a text of the service with its host, the key and request ids replaced by dots."""
    text = TRACKING.sub(r"\1:…", text)
    for secret in (target.key, target.signature, target.host, target.host.partition(".")[0]):
        if len(secret) > 2:
            text = re.sub(re.escape(secret), "…", text, flags=re.IGNORECASE)
    return re.sub(r"SharedAccessSignature \S+", "SharedAccessSignature …", text)


def _remaining(entities: Entities, names: Iterable[str]) -> list[str]:
    """Delete entities; return the names of those that could not be deleted."""
    left = []
    for name in names:
        try:
            entities.delete(name)
        except Rejected as rejected:
            if rejected.condition not in ("http:404", "http:410"):
                left.append(name)
        except (Lost, Silent):
            left.append(name)
    return left


def remove_entities(target: Target, timeout: float, run: str | None) -> tuple[list[str], list[str]]:
    """Remove entities that runs have left in a namespace; return the removed and the remaining.

    Args:
        target: the service.
        timeout: maximum wait for an answer, in seconds.
        run: the run; `None` for all runs.

    Raises:
        AdapterError: the namespace's entities cannot be listed.
    """
    entities = Entities(target, timeout)
    try:
        names = left_by(entities, run)
        left = _remaining(entities, names)
    finally:
        entities.close()
    return [name for name in names if name not in left], left


def left_by(entities: Entities, run: str | None) -> list[str]:
    """Return the queues and topics that a run, or any run, has left.

    Raises:
        AdapterError: the namespace's entities cannot be listed.
    """
    try:
        names = [*entities.names("$Resources/queues"), *entities.names("$Resources/topics")]
    except (Rejected, Lost, Silent) as failed:
        raise AdapterError(f"the namespace's entities cannot be listed: {failed}") from None
    return [name for name in names if is_of_a_run(name, run)]


def _describe_leftovers(left: list[str], run: str) -> str:
    more = f" and {len(left) - LONGEST_TOLD} more" if len(left) > LONGEST_TOLD else ""
    return (
        f"{len(left)} entities could not be removed: {', '.join(left[:LONGEST_TOLD])}{more}; "
        f"remove them with busproof clean --run {run}"
    )
