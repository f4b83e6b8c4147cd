"""Messages: as their senders write them, and as receivers see them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

import attrs
from immutables import Map

__all__ = [
    "NEW_ID",
    "NO_PROPERTIES",
    "SEQUENCE_BITS",
    "FilterValue",
    "IdOfTheBus",
    "Message",
    "MessageState",
    "MessageView",
    "PropertyValue",
    "frozen_properties",
    "same_properties",
]

FilterValue = str | int | float | bool
PropertyValue = FilterValue | None
"""Value of an application property; a sender may also set one to null."""


class IdOfTheBus(str):
    """A text that a bus makes and nobody else knows: it equals every text of a UUID's length."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and len(other) == _UUID_LENGTH

    def __ne__(self, other: object) -> bool:
        return not self == other

    # Whatever is equal has to have one hash; nothing looks up a value of a property.
    __hash__ = str.__hash__


_UUID_LENGTH: Final = 36
NEW_ID: Final = IdOfTheBus("00000000-0000-0000-0000-000000000000")
"""What `newid()` gives a property of a copy, for an observer."""


NO_PROPERTIES: Final[Map[str, PropertyValue]] = Map()
"""One for all messages without any, of which a broker may hold a million."""


def frozen_properties(properties: Mapping[str, PropertyValue]) -> Map[str, PropertyValue]:
    """Return the application properties as an immutable mapping."""
    return properties if isinstance(properties, Map) else Map(properties)


def same_properties(sent: Map[str, PropertyValue], shown: Map[str, PropertyValue]) -> bool:
    """LIFE-01: return whether application properties agree in value and in type.

    A bus may leave out a property that is null: the documents do not say whether it is there.
    """
    if None in sent.values():
        sent, shown = (_without_nulls(one) for one in (sent, shown))
    return sent == shown and all(_same_type(value, shown[name]) for name, value in sent.items())


def _without_nulls(properties: Map[str, PropertyValue]) -> Map[str, PropertyValue]:
    return Map({name: value for name, value in properties.items() if value is not None})


def _same_type(sent: PropertyValue, shown: PropertyValue) -> bool:
    """Return whether equal values have one type; 1.0 may come back as 1, and not the reverse.

    Python takes 1, 1.0 and true as equal. A language with one type of numbers, as JavaScript has,
    writes 1.0 as 1, and the protocol forbids to write a whole number as 1.0.
    """
    alike = type(sent) is type(shown) or (isinstance(sent, IdOfTheBus) and type(shown) is str)
    return alike or (type(sent) is float and type(shown) is int)


SEQUENCE_BITS: Final = 48
"""Number of bits below the partition in a sequence number of a partitioned entity (observed)."""


class MessageState(StrEnum):
    """State of a message in a peek: active, deferred or scheduled."""

    ACTIVE = "active"
    DEFERRED = "deferred"
    SCHEDULED = "scheduled"


@attrs.frozen(kw_only=True, weakref_slot=False)
class Message:
    """A message as its sender wrote it; `body` identifies it in a history.

    `None` means that the sender did not set the property. `subject` is the label of older
    libraries, and `properties` are the application's. `size` is the number of bytes that the
    adapter sends as the body, with any padding; `None` means no padding. A message with `stands_in`
    replaces several and may be larger than the tier permits, to fill an entity with few messages.
    `time_to_live` is in microseconds.
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
    properties: Map[str, PropertyValue] = attrs.field(
        default=NO_PROPERTIES, converter=frozen_properties
    )
    size: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.ge(0))
    )
    stands_in: bool = False
    time_to_live: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )

    @classmethod
    def of(cls, *values: Any) -> "Message":
        """Return a message with these values for all fields in order, without checking them."""
        message = object.__new__(cls)
        for setter, value in zip(_SETTERS_OF_MESSAGE, values, strict=True):
            setter(message, value)
        return message


@attrs.frozen(kw_only=True)
class MessageView:
    """A message as a receiver or a peek sees it.

    `sequence_number`, `delivery_count` and the lock are `None` if the client does not learn them.
    `delivery_count` includes this delivery; `locked_until` is a time on the recording's clock.
    `dead_letter_reason` is why the message was dead-lettered. `state` is the state that a peek
    shows, `None` if it shows none. `size`, `stands_in` and `time_to_live` may be copied from the
    sent message.
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
    properties: Map[str, PropertyValue] = attrs.field(
        default=NO_PROPERTIES, converter=frozen_properties
    )
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
    def of(
        cls,
        message: Message,
        *,
        sequence_number: int | None = None,
        delivery_count: int | None = None,
        lock_token: str | None = None,
        locked_until: int | None = None,
        dead_letter_reason: str | None = None,
        state: MessageState | None = None,
    ) -> "MessageView":
        """Return the view of a sent message, with the values that the service adds."""
        view = object.__new__(cls)
        _body(view, message.body)
        _message_id(view, message.message_id)
        _session_id(view, message.session_id)
        _partition_key(view, message.partition_key)
        _correlation_id(view, message.correlation_id)
        _to(view, message.to)
        _reply_to(view, message.reply_to)
        _subject(view, message.subject)
        _reply_to_session_id(view, message.reply_to_session_id)
        _content_type(view, message.content_type)
        _properties(view, message.properties)
        _size(view, message.size)
        _stands_in(view, message.stands_in)
        _time_to_live(view, message.time_to_live)
        _sequence_number(view, sequence_number)
        _delivery_count(view, delivery_count)
        _lock_token(view, lock_token)
        _locked_until(view, locked_until)
        _dead_letter_reason(view, dead_letter_reason)
        _state(view, state)
        return view


_SETTERS_OF_MESSAGE: Final = tuple(
    vars(Message)[field.name].__set__ for field in attrs.fields(Message)
)
# Slots of a view, as of a message: setting them is several times as fast as the initializer, and
# one line for each half as long as a loop. A broker makes a view of each message that it gives.
(
    _body,
    _message_id,
    _session_id,
    _partition_key,
    _correlation_id,
    _to,
    _reply_to,
    _subject,
    _reply_to_session_id,
    _content_type,
    _properties,
    _size,
    _stands_in,
    _time_to_live,
    _sequence_number,
    _delivery_count,
    _lock_token,
    _locked_until,
    _dead_letter_reason,
    _state,
) = (vars(MessageView)[field.name].__set__ for field in attrs.fields(MessageView))
