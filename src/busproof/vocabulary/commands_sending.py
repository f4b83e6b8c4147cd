"""Requests of senders."""

from typing import ClassVar, Final

import attrs

from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.messages import Message
from busproof.vocabulary.values import MICROSECONDS, Extent

__all__ = [
    "DEFAULT_TIMEOUT",
    "CancelScheduled",
    "Schedule",
    "Send",
    "SendBatch",
]

DEFAULT_TIMEOUT: Final = 60 * MICROSECONDS
"""The operation timeout in microseconds of a sender that sets none (KEY-19)."""


@attrs.frozen(kw_only=True)
class Send:
    """Send one message to a queue or topic; if a transaction is named, in that transaction.

    `timeout` is the sender's operation timeout, in microseconds.
    """

    capability: ClassVar = None
    extent: ClassVar = Extent.MESSAGES
    queue: str
    message: Message
    timeout: int = attrs.field(default=DEFAULT_TIMEOUT, validator=attrs.validators.gt(0))
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class SendBatch:
    """Send several messages in one request, which is accepted as a whole or not at all.

    `timeout` is the sender's operation timeout, in microseconds. A transaction may be named.
    """

    capability: ClassVar = Capability.BATCHES
    extent: ClassVar = Extent.SEVERAL_MESSAGES
    queue: str
    messages: tuple[Message, ...]
    timeout: int = attrs.field(default=DEFAULT_TIMEOUT, validator=attrs.validators.gt(0))
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class Schedule:
    """Send a message that is enqueued `delay` microseconds later; at once if that is past."""

    capability: ClassVar = Capability.SCHEDULING
    extent: ClassVar = Extent.MESSAGES
    queue: str
    message: Message
    delay: int
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class CancelScheduled:
    """Cancel a scheduled message by the sequence number returned when it was scheduled."""

    capability: ClassVar = Capability.SCHEDULING
    extent: ClassVar = Extent.MESSAGES
    queue: str
    sequence_number: int
