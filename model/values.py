"""The nouns of the bus: messages, errors, profiles, time windows.

Every time and every duration of the vocabulary is a whole number of microseconds.
Times count from the start of a recording, never from a calendar.
"""

from collections.abc import Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final

import attrs
from immutables import Map

from busproof.model.filters import PropertyValue, frozen_properties

__all__ = [
    "DEAD_LETTERS",
    "GRAVES",
    "MICROSECONDS",
    "SEQUENCE_BITS",
    "TRANSFERS",
    "Availability",
    "Clock",
    "EntityStatus",
    "Error",
    "Message",
    "MessageState",
    "MessageView",
    "Profile",
    "ReceiveMode",
    "RuleId",
    "Tier",
    "Vantage",
    "Window",
]

RuleId = str

MICROSECONDS: Final = 1_000_000
DEAD_LETTERS: Final = "/$deadletterqueue"
"""What follows an entity's name in that of its dead-letter queue."""
TRANSFERS: Final = f"/$transfer{DEAD_LETTERS}"
"""What follows it in that of its transfer dead-letter queue: of what it could not forward."""
GRAVES: Final = (DEAD_LETTERS, TRANSFERS)

SEQUENCE_BITS: Final = 48
"""Bits below the partition in a sequence number of a partitioned entity (observed)."""


class Tier(StrEnum):
    """The messaging tier of a namespace."""

    BASIC = "basic"
    STANDARD = "standard"
    PREMIUM = "premium"


class Clock(StrEnum):
    """Whether time is moved by `AdvanceClock` or passes by itself."""

    VIRTUAL = "virtual"
    REAL = "real"


class ReceiveMode(StrEnum):
    """How a receiver takes a message: locked until settled, or removed at once."""

    PEEK_LOCK = "peek-lock"
    RECEIVE_AND_DELETE = "receive-and-delete"


class MessageState(StrEnum):
    """Whether a message that a peek shows can be received, was set aside, or is not due yet."""

    ACTIVE = "active"
    DEFERRED = "deferred"
    SCHEDULED = "scheduled"


class Availability(StrEnum):
    """What an entity's description says of its partitions: all can be reached, or not."""

    AVAILABLE = "available"
    LIMITED = "limited"


class EntityStatus(StrEnum):
    """Whether an entity can be sent to and received from, or one of them, or none."""

    ACTIVE = "active"
    DISABLED = "disabled"
    SEND_DISABLED = "send-disabled"
    RECEIVE_DISABLED = "receive-disabled"

    @property
    def takes(self) -> bool:
        """Whether messages can be sent or forwarded to it."""
        return self in (EntityStatus.ACTIVE, EntityStatus.RECEIVE_DISABLED)

    @property
    def gives(self) -> bool:
        """Whether messages can be received from it."""
        return self in (EntityStatus.ACTIVE, EntityStatus.SEND_DISABLED)


class Error(StrEnum):
    """What a refusal says, as far as the documents let a client tell refusals apart."""

    INVALID_OPERATION = "invalid-operation"
    UNAVAILABLE = "unavailable"
    NOT_FOUND = "not-found"
    ALREADY_EXISTS = "already-exists"
    LOCK_LOST = "lock-lost"
    SESSION_CANNOT_BE_LOCKED = "session-cannot-be-locked"
    SESSION_LOCK_LOST = "session-lock-lost"
    QUOTA_EXCEEDED = "quota-exceeded"
    MESSAGE_NOT_FOUND = "message-not-found"
    MESSAGE_TOO_LARGE = "message-too-large"
    ENTITY_DISABLED = "entity-disabled"
    OTHER = "other"


@attrs.frozen(kw_only=True)
class Message:
    """A message as its sender wrote it; `body` tells it from every other message of a history.

    `None` means that the sender did not set the property; `subject` is what older libraries call
    the label, and `properties` are the application's own. `size` is how many bytes the adapter is
    to send as the body, padded as it likes; `None` is as many as it takes. One that `stands_in` for
    several may be larger than its tier takes, to fill an entity with few. `time_to_live` is in
    microseconds.
    """

    body: str
    message_id: str | None = None
    session_id: str | None = None
    partition_key: str | None = None
    correlation_id: str | None = None
    to: str | None = None
    reply_to: str | None = None
    subject: str | None = None
    reply_to_session_id: str | None = None
    content_type: str | None = None
    properties: Map[str, PropertyValue] = attrs.field(factory=Map, converter=frozen_properties)
    size: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.ge(0))
    )
    stands_in: bool = False
    time_to_live: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )


@attrs.frozen(kw_only=True)
class MessageView:
    """A message as a receiver or a browser sees it.

    `sequence_number`, `delivery_count` and the lock are `None` where a client learns none.
    `delivery_count` counts this delivery too; `locked_until` is a time on the recording's clock.
    `dead_letter_reason` is why a message of a dead-letter queue is there; `state` is what a peek
    tells of a message, `None` where it tells nothing; `size`, `stands_in` and `time_to_live` may be
    those of the sent message.
    """

    body: str
    message_id: str | None = None
    session_id: str | None = None
    partition_key: str | None = None
    correlation_id: str | None = None
    to: str | None = None
    reply_to: str | None = None
    subject: str | None = None
    reply_to_session_id: str | None = None
    content_type: str | None = None
    properties: Map[str, PropertyValue] = attrs.field(factory=Map, converter=frozen_properties)
    size: int | None = None
    stands_in: bool = False
    time_to_live: int | None = None
    sequence_number: int | None = None
    delivery_count: int | None = None
    lock_token: str | None = None
    locked_until: int | None = None
    dead_letter_reason: str | None = None
    state: MessageState | None = None

    @classmethod
    def of(cls, message: Message, **learned: Any) -> "MessageView":
        """A sent message as it comes back, with what a client learns besides."""
        carried = dict(zip(_CARRIED, _carried_by(message), strict=True))
        return cls(**carried, **learned)


_CARRIED: Final = tuple(each.name for each in attrs.fields(Message))
"""What of a message comes back."""
_carried_by: Final = attrgetter(*_CARRIED)


@attrs.frozen
class Window:
    """The earliest and the latest moment at which something may have happened."""

    earliest: int
    latest: int

    def shifted(self, duration: int) -> "Window":
        """The window `duration` later."""
        return Window(self.earliest + duration, self.latest + duration)

    def lengthened(self, durations: "Window") -> "Window":
        """When what begins here ends, if it lasts as long as one of these durations."""
        return Window(self.earliest + durations.earliest, self.latest + durations.latest)


@attrs.frozen(kw_only=True)
class Vantage:
    """What a client of one implementation can see, as its adapter declares it.

    Attributes:
        clock: whether time is virtual.
        slack: how much earlier or later than announced a timer may fire, in microseconds.
        partitions: whether partitions can be told apart, by a witness or by taking them down.
        witness: whether the partition that took a message is told, by the witness of a send or by
            the top 16 bits of a sequence number.
        partial: whether only a part of a history is looked at, so that a peek need not have shown
            all that it did.
        left_out: connections over which there were receives that are not told, because only a
            part of a history is looked at; what they may have put into caches stays possible.
        assigns_message_ids: whether the client library sets a MessageId that the sender left out.
        limits: whether requests beyond a documented limit are refused (LIMIT), as the adapter says;
            otherwise they may be, or not.
        decides: whether the state is a bus of its own, which decides what a client cannot see.
    """

    clock: Clock = Clock.VIRTUAL
    slack: int = attrs.field(default=0, validator=attrs.validators.ge(0))
    partitions: bool = True
    witness: bool = True
    assigns_message_ids: bool = False
    limits: bool = False
    left_out: frozenset[str] = frozenset()
    partial: bool = False
    decides: bool = False


def _frozen_map(readings: Mapping[str, str]) -> Map[str, str]:
    return Map(readings)


@attrs.frozen(kw_only=True)
class Profile:
    """What a namespace is held to: edition, tier, readings of ambiguities, rules in force.

    Attributes:
        edition: id of the edition of the documents.
        tier: the namespace's tier.
        readings: ambiguity id to the reading taken, for every ambiguity of the register.
        silent: rules of which this edition or tier says nothing; they neither allow nor forbid.
        partitions: how many partitions a partitioned entity has.
    """

    edition: str
    tier: Tier = Tier.STANDARD
    readings: Map[str, str] = attrs.field(factory=Map, converter=_frozen_map)
    silent: frozenset[RuleId] = frozenset()
    partitions: int = attrs.field(default=16, validator=attrs.validators.ge(1))

    @property
    def numbers_name_partitions(self) -> bool:
        """Whether a partition can be read from a sequence number (SEQUENCE-EXPOSES)."""
        return self.readings.get("SEQUENCE-EXPOSES") != "opaque"
