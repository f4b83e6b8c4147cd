"""What senders ask."""

from typing import Final

import attrs

from busproof.vocabulary.messages import Message
from busproof.vocabulary.values import MICROSECONDS

__all__ = [
    "DEFAULT_TIMEOUT",
    "CancelScheduled",
    "Schedule",
    "Send",
    "SendBatch",
]

DEFAULT_TIMEOUT: Final = 60 * MICROSECONDS
"""A sender's operation timeout where it sets none (KEY-19)."""


@attrs.frozen(kw_only=True)
class Send:
    """Send one message to a queue or topic, in a transaction if one is named.

    `timeout` is the sender's, in microseconds.
    """

    queue: str
    message: Message
    timeout: int = attrs.field(default=DEFAULT_TIMEOUT, validator=attrs.validators.gt(0))
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class SendBatch:
    """Send several messages in one request, of which all are taken or none.

    In a transaction if one is named. `timeout` is the sender's, in microseconds.
    """

    queue: str
    messages: tuple[Message, ...]
    timeout: int = attrs.field(default=DEFAULT_TIMEOUT, validator=attrs.validators.gt(0))
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class Schedule:
    """Send one message that is to arrive `delay` microseconds from now, or now if that is past."""

    queue: str
    message: Message
    delay: int
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class CancelScheduled:
    """Take a scheduled message back by the sequence number that scheduling it told."""

    queue: str
    sequence_number: int
