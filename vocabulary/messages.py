"""Messages as their senders write them, and as receivers see them."""

from collections.abc import Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final

import attrs
from immutables import Map

__all__ = [
    "SEQUENCE_BITS",
    "Message",
    "MessageState",
    "MessageView",
    "PropertyValue",
    "frozen_properties",
]

PropertyValue = str | int | float | bool


def frozen_properties(properties: Mapping[str, PropertyValue]) -> Map[str, PropertyValue]:
    """The same properties of the application's own, unchangeable."""
    return Map(properties)


SEQUENCE_BITS: Final = 48
"""Bits below the partition in a sequence number of a partitioned entity (observed)."""


class MessageState(StrEnum):
    """Whether a message that a peek shows can be received, was set aside, or is not due yet."""

    ACTIVE = "active"
    DEFERRED = "deferred"
    SCHEDULED = "scheduled"


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
