"""What an adapter is: a translation between the vocabulary and one implementation."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol, runtime_checkable

import attrs

from busproof.model.commands import Command
from busproof.model.outcomes import Outcome, Witness
from busproof.model.profiles import vantage_from
from busproof.model.values import Clock, Profile, Vantage

__all__ = ["Adapter", "Capability", "Declaration", "Hearing", "Implementation", "Observed"]


class Capability(StrEnum):
    """What an implementation can be asked; what it does not declare is not tried."""

    WITNESS = "witness"
    OUTAGES = "outages"
    TRANSACTIONS = "transactions"
    SESSIONS = "sessions"
    DUPLICATE_DETECTION = "duplicate-detection"
    PEEK = "peek"
    PEEK_LOCK = "peek-lock"
    REGULAR_QUEUES = "regular-queues"
    CLIENT_LIBRARY = "client-library"
    SEQUENCE_NUMBERS = "sequence-numbers"
    MANAGEMENT = "management"
    API_VERSIONS = "api-versions"
    AVAILABILITY = "availability"
    DISPOSABLE_NAMESPACE = "disposable-namespace"
    ENTITY_STATUS = "entity-status"
    DEAD_LETTER = "dead-letter"
    TRANSFER_DEAD_LETTER = "transfer-dead-letter"
    DEFERRAL = "deferral"
    SCHEDULING = "scheduling"
    TIME_TO_LIVE = "time-to-live"
    BATCHES = "batches"
    RECEIVE_BATCHES = "receive-batches"
    PREFETCH = "prefetch"
    PEEK_FROM = "peek-from"
    TIMESTAMPS = "timestamps"
    TOPICS = "topics"
    TOPIC_MANAGEMENT = "topic-management"
    FILTERS = "filters"
    SQL_FILTERS = "sql-filters"
    RULE_ACTIONS = "rule-actions"
    FORWARDING = "forwarding"
    REDIRECTION = "redirection"
    DEAD_LETTER_FORWARDING = "dead-letter-forwarding"
    LOCK_RENEWAL = "lock-renewal"
    NEXT_SESSION = "next-session"
    SESSION_STATE = "session-state"
    SESSION_LISTING = "session-listing"
    TRANSACTIONAL_SETTLEMENT = "transactional-settlement"
    LEGACY_ENTITIES = "legacy-entities"
    LIMITS = "limits"
    SIZES = "sizes"
    AMQP = "amqp"


@attrs.frozen(kw_only=True)
class Implementation:
    """Who is judged."""

    name: str
    version: str = ""
    language: str = ""


@attrs.frozen(kw_only=True)
class Declaration:
    """What an adapter says of its implementation; `slack` is in microseconds."""

    implementation: Implementation
    capabilities: frozenset[Capability]
    clock: Clock = Clock.VIRTUAL
    slack: int = attrs.field(default=0, validator=attrs.validators.ge(0))

    @property
    def vantage(self) -> Vantage:
        """What this declaration lets the model take as seen."""
        return vantage_from(self.clock, self.slack, self.capabilities)


@attrs.frozen
class Observed:
    """What came of one command, and the choice of the bus that was seen with it."""

    outcome: Outcome
    witness: Witness | None = None


@runtime_checkable
class Hearing(Protocol):
    """An implementation that takes long for each question, and less for many at once."""

    def hear(self, commands: Sequence[Command], connection: str) -> None:
        """Hear what is asked next over a connection, in this order; something else may be."""


class Adapter(Protocol):
    """One implementation under test; every method may raise `AdapterError`, and only that."""

    @property
    def declaration(self) -> Declaration:
        """What the implementation can do; known before `start`."""

    def start(self, profile: Profile) -> None:
        """Forget everything and begin with an empty namespace of this profile, at time 0."""

    def do(self, command: Command, connection: str) -> Observed:
        """Ask one command over the named connection and tell what came of it."""

    def stop(self) -> None:
        """End the implementation and free what it holds; safe to call twice."""
