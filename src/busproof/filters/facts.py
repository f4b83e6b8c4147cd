"""What SQL can read of a message: its own properties, and those of the system."""

from collections.abc import Callable
from enum import Enum
from typing import Any, Final

import attrs
from immutables import Map

from busproof.filters.readings import OURS, Readings
from busproof.vocabulary.messages import Message, PropertyValue

__all__ = [
    "SETTABLE",
    "SYSTEM",
    "Arrival",
    "Facts",
    "Missing",
    "Value",
    "facts_of",
    "field_of",
    "is_of_the_system",
]


class Missing(Enum):
    """What stands in the place of a value that a term does not have, or that nobody can tell."""

    UNKNOWN = "a missing application property, or a value computed from one"
    NULL = "null: the constant, a property that is null, or one of the system that is not set"
    FRESH = "an identifier that equals no other value"
    NUMBER = "a number that the bus has chosen"
    THERE = "a value of another type that the bus has chosen"
    OPEN = "not defined by the documents"


Value = str | int | float | bool | Missing


@attrs.frozen(kw_only=True)
class Arrival:
    """What a bus gives a message that arrives for a subscription; times in ms since 1970.

    Attributes:
        entity: where it arrives.
        enqueued_at: when the message arrived.
        sequence_number: its number there.
        scheduled_for: when it was to arrive, if it was scheduled.
        expires_at: when it will have outlived its time to live.
        time_to_live: the time to live that holds for it, in milliseconds.
        size: its size in bytes.
        readings: how the bus reads open questions about SQL.
    """

    entity: str
    enqueued_at: int
    sequence_number: int
    scheduled_for: int | None
    expires_at: int
    time_to_live: int
    size: int
    readings: Readings = OURS


def _read_text(field: str) -> Callable[[Message, Arrival | None], Value]:
    def value(message: Message, _: Arrival | None) -> Value:
        own = getattr(message, field)
        return Missing.NULL if own is None else str(own)

    return value


def _read_arrival(field: str, kind: Missing) -> Callable[[Message, Arrival | None], Value]:
    def value(_: Message, arrival: Arrival | None) -> Value:
        if arrival is None:
            return kind
        given = getattr(arrival, field)
        return Missing.NULL if given is None else int(given)

    return value


def _read_constant(
    at_a_bus: Value, elsewhere: Missing
) -> Callable[[Message, Arrival | None], Value]:
    return lambda _, arrival: elsewhere if arrival is None else at_a_bus


def _read_partition_key(message: Message, arrival: Arrival | None) -> Value:
    if message.partition_key is not None:
        return message.partition_key
    # A session selects the partition, too; whether it then reads as the partition key is open.
    return Missing.NULL if message.session_id is None or arrival else Missing.OPEN


_FIELDS: Final = {
    "messageid": "message_id",
    "sessionid": "session_id",
    "partitionkey": "partition_key",
    "correlationid": "correlation_id",
    "to": "to",
    "replyto": "reply_to",
    "label": "subject",
    "subject": "subject",
    "replytosessionid": "reply_to_session_id",
    "contenttype": "content_type",
}
"""Lower-case names of the system properties that senders write, to the vocabulary's names."""

SETTABLE: Final = frozenset(
    {*_FIELDS, "timetolive", "scheduledenqueuetimeutc", "viapartitionkey", "forcepersistence"}
)
"""Lower-case names of the system properties that an action can set; others are the bus's own."""

SYSTEM: Final[dict[str, Callable[[Message, Arrival | None], Value]]] = {
    **{name: _read_text(field) for name, field in _FIELDS.items()},
    "partitionkey": _read_partition_key,
    "sequencenumber": _read_arrival("sequence_number", Missing.NUMBER),
    "enqueuedsequencenumber": _read_arrival("sequence_number", Missing.NUMBER),
    "enqueuedtimeutc": _read_arrival("enqueued_at", Missing.THERE),
    "scheduledenqueuetimeutc": _read_arrival("scheduled_for", Missing.OPEN),
    "expiresatutc": _read_arrival("expires_at", Missing.THERE),
    "timetolive": _read_arrival("time_to_live", Missing.THERE),
    "size": _read_arrival("size", Missing.NUMBER),
    # Nobody has received the message yet.
    "deliverycount": _read_constant(0, Missing.NUMBER),
    "state": _read_constant(0, Missing.THERE),
    "locktoken": _read_constant(Missing.NULL, Missing.OPEN),
    "lockeduntilutc": _read_constant(Missing.NULL, Missing.OPEN),
    "deadlettersource": _read_constant(Missing.NULL, Missing.OPEN),
    "viapartitionkey": _read_constant(Missing.NULL, Missing.OPEN),
    "forcepersistence": _read_constant(False, Missing.THERE),
}
"""Lower-case names of the documented system properties to their values for a message.

A judge does not see what a bus gives a message, so it knows only whether there is a value.
"""


def field_of(name: str) -> str | None:
    """Return the vocabulary's name of a property that senders write; `None` if it is another."""
    return _FIELDS.get(name.lower())


def is_of_the_system(name: str) -> bool:
    """Return whether the documents name a system property so."""
    return name.lower() in SYSTEM


class Facts:
    """A message as SQL sees it.

    Attributes:
        message: the message.
        arrival: what the bus has given it, if that is known.
        user: its application properties, by lower-case name.
        open: the vocabulary's names of the properties of the system whose values are open.
    """

    __slots__ = ("arrival", "message", "open", "user")

    def __init__(self, message: Message, arrival: Arrival | None) -> None:
        self.message = message
        self.arrival = arrival
        self.user = _LAST.names_of(message.properties)
        self.open: frozenset[str] = frozenset()


def _by_lower_name(properties: Map[str, PropertyValue]) -> dict[str, Value]:
    """Return the values by lower-case name; a name that occurs in two spellings is open."""
    values: dict[str, Any] = {}
    for own, value in properties.items():
        name = own.lower()
        values[name] = Missing.OPEN if name in values else Missing.NULL if value is None else value
    return values


class _Last:
    """What was made of the message that was looked at last.

    It is kept because a message is matched with many filters in a row, in many subscriptions, and
    each may name many properties.
    """

    def __init__(self) -> None:
        self._properties: Map[str, PropertyValue] = Map()
        self._user: dict[str, Value] = {}
        self.facts: Facts | None = None

    def names_of(self, properties: Map[str, PropertyValue]) -> dict[str, Value]:
        """Return the values of properties by lower-case name, not to be changed."""
        if properties is not self._properties:
            self._properties = properties
            self._user = _by_lower_name(properties)
        return self._user


_LAST: Final = _Last()


def facts_of(message: Message, arrival: Arrival | None = None) -> Facts:
    """Return the facts of a message; without an arrival, what a bus has given it is not known."""
    last = _LAST.facts
    if last is None or last.message is not message or last.arrival is not arrival:
        last = _LAST.facts = Facts(message, arrival)
    return last
