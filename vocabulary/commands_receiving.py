"""What receivers ask, and whoever only looks."""

import attrs

from busproof.vocabulary.values import ReceiveMode

__all__ = [
    "Abandon",
    "Complete",
    "DeadLetter",
    "Defer",
    "Peek",
    "Receive",
    "ReceiveBatch",
    "ReceiveDeferred",
    "RenewLock",
    "Settlement",
]


@attrs.frozen(kw_only=True)
class Receive:
    """Receive one message that is there now; of one session if the queue requires sessions."""

    queue: str
    mode: ReceiveMode = ReceiveMode.PEEK_LOCK
    session_id: str | None = None


@attrs.frozen(kw_only=True)
class ReceiveBatch:
    """Receive up to `count` messages that are there now, in one request; maybe fewer.

    Of one session if the queue requires sessions.
    """

    queue: str
    count: int = attrs.field(validator=attrs.validators.ge(1))
    mode: ReceiveMode = ReceiveMode.PEEK_LOCK
    session_id: str | None = None


@attrs.frozen(kw_only=True)
class Complete:
    """Settle a locked message: it was dealt with and is removed.

    With the commit of a transaction if one is named, as with every settlement.
    """

    queue: str
    lock_token: str
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class Abandon:
    """Settle a locked message: give it back, to be received again."""

    queue: str
    lock_token: str
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class DeadLetter:
    """Settle a locked message: move it to the entity's dead-letter queue, and say why."""

    queue: str
    lock_token: str
    reason: str = ""
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class Defer:
    """Settle a locked message: set it aside, to be received by its sequence number only."""

    queue: str
    lock_token: str
    transaction: str | None = None


Settlement = Complete | Abandon | DeadLetter | Defer


@attrs.frozen(kw_only=True)
class ReceiveDeferred:
    """Receive deferred messages by their sequence numbers: all of them, or none."""

    queue: str
    sequence_numbers: tuple[int, ...]
    mode: ReceiveMode = ReceiveMode.PEEK_LOCK
    session_id: str | None = None


@attrs.frozen(kw_only=True)
class RenewLock:
    """Keep a locked message for a whole lock duration more, from now on."""

    queue: str
    lock_token: str


@attrs.frozen(kw_only=True)
class Peek:
    """Look at up to `count` messages from the start of the queue, without locking them.

    With a session's id: at messages of that session, which nobody need hold. With a sequence
    number: at those that have this number or come behind it.
    """

    queue: str
    count: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    session_id: str | None = None
    from_sequence_number: int | None = None
