"""The protocol over which a service's messages are reached, and what it can do with it."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.adapters.amqp.asking import ask
from busproof.adapters.amqp.client import AmqpClient
from busproof.adapters.amqp.clients import Clients, Connected
from busproof.adapters.amqp.scenario import Scenario, Setting
from busproof.adapters.amqp.target import Target

__all__ = ["OVER_AMQP", "Ask", "Dialect"]


Ask = Callable[[v.Command, str], v.Outcome]
"""Executes a command over a connection."""


@attrs.frozen(kw_only=True)
class Dialect:
    """A protocol of Service Bus.

    Attributes:
        fills: whether messages of any size can be sent to a service that is not ours.
        suffix: what names an implementation by the protocol, after its own name.
        of_all: capabilities of every service with it that cannot be probed.
        of_broker: capabilities of the embedded broker.
        ask: executes a command.
        connect: makes a client.
        begin: makes the state of a scenario.
        check: for some capabilities, what has to hold of a service besides that it answers.
    """

    of_all: frozenset[v.Capability]
    of_broker: frozenset[v.Capability]
    ask: Callable[[Any, v.Command, Any], v.Outcome]
    connect: Callable[[Target, float], Connected]
    begin: Callable[[Setting], Scenario] = Scenario
    suffix: str = ""
    fills: bool = True
    check: Mapping[v.Capability, Callable[[Ask], bool]] = attrs.field(factory=dict)

    def clients(self, target: Target, timeout: float) -> Clients:
        """Return clients of a service, none of which is connected yet."""
        return Clients(target, timeout, self.ask, self.connect)


OF_ALL: Final = frozenset(
    {
        v.Capability.AMQP,
        v.Capability.DEAD_LETTER,
        v.Capability.DEAD_LETTER_REASONS,
        v.Capability.PEEK_LOCK,
        v.Capability.RECEIVE_BATCHES,
        v.Capability.SEQUENCE_NUMBERS,
    }
)
"""Capabilities that every service with this dialect has and that cannot be probed."""

OF_BROKER: Final = frozenset(
    {
        v.Capability.AMQP,
        v.Capability.API_VERSIONS,
        v.Capability.AVAILABILITY,
        v.Capability.BATCHES,
        v.Capability.DEAD_LETTER,
        v.Capability.DEAD_LETTER_REASONS,
        v.Capability.TRANSFER_DEAD_LETTER,
        v.Capability.ENTITY_STATUS,
        v.Capability.DEAD_LETTER_FORWARDING,
        v.Capability.DEFERRAL,
        v.Capability.DISPOSABLE_NAMESPACE,
        v.Capability.DELETE_BATCH,
        v.Capability.DUPLICATE_DETECTION,
        v.Capability.FILTERS,
        v.Capability.FORWARDING,
        v.Capability.LEGACY_ENTITIES,
        v.Capability.LIMITS,
        v.Capability.SIZES,
        v.Capability.SIZE_UPDATES,
        v.Capability.LOCK_RENEWAL,
        v.Capability.MANAGEMENT,
        v.Capability.NEXT_SESSION,
        v.Capability.OUTAGES,
        v.Capability.PEEK,
        v.Capability.PEEK_FROM,
        v.Capability.PEEK_LOCK,
        v.Capability.RECEIVE_BATCHES,
        v.Capability.REDIRECTION,
        v.Capability.REGULAR_QUEUES,
        v.Capability.RENEW_LOCKS,
        v.Capability.SCHEDULING,
        v.Capability.SEQUENCE_NUMBERS,
        v.Capability.SESSIONS,
        v.Capability.SESSION_LISTING,
        v.Capability.SESSION_STATE,
        v.Capability.SETTLE_BATCHES,
        v.Capability.SQL_FILTERS,
        v.Capability.RULE_ACTIONS,
        v.Capability.TIME_TO_LIVE,
        v.Capability.TOPICS,
        v.Capability.TOPIC_MANAGEMENT,
        v.Capability.TRANSACTIONAL_SETTLEMENT,
        v.Capability.TRANSACTIONS,
        v.Capability.WITNESS,
    }
)
"""Capabilities of the embedded broker."""

OVER_AMQP: Final = Dialect(of_all=OF_ALL, of_broker=OF_BROKER, ask=ask, connect=AmqpClient)
