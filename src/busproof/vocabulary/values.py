"""Small values of the vocabulary: tiers, clocks, receive modes, errors.

All times and durations are whole numbers of microseconds. Times count from the start of a
recording, never from a calendar.
"""

from enum import Enum, StrEnum
from typing import Final

__all__ = [
    "MICROSECONDS",
    "Clock",
    "Disposition",
    "Error",
    "Extent",
    "ReceiveMode",
    "RuleId",
    "Tier",
]

RuleId = str

MICROSECONDS: Final = 1_000_000


class Tier(StrEnum):
    """The messaging tier of a namespace."""

    BASIC = "basic"
    STANDARD = "standard"
    PREMIUM = "premium"


class Clock(StrEnum):
    """Kind of clock: virtual (only `AdvanceClock` moves it) or real."""

    VIRTUAL = "virtual"
    REAL = "real"


class Extent(Enum):
    """What a command may concern; it decides which parts of a history are independent."""

    MESSAGES = "messages of the entities that it names, or these entities"
    SEVERAL_MESSAGES = "several messages of one entity or transaction"
    QUEUE = "a queue or a subscription as a whole"
    TOPIC = "a topic with its subscriptions"
    EVERYTHING = "any entity"


class ReceiveMode(StrEnum):
    """Receive mode: lock a message until it is settled, or remove it at once."""

    PEEK_LOCK = "peek-lock"
    RECEIVE_AND_DELETE = "receive-and-delete"


class Disposition(StrEnum):
    """Kind of settlement that one request applies to several messages."""

    COMPLETE = "complete"
    ABANDON = "abandon"
    DEFER = "defer"
    DEAD_LETTER = "dead-letter"


class Error(StrEnum):
    """Error of a refusal; the kinds are those that the documents let a client distinguish."""

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
