"""Requests of receivers, and peeks."""

from typing import ClassVar, assert_never

import attrs

from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.values import Disposition, Extent, ReceiveMode

__all__ = [
    "Abandon",
    "Complete",
    "DeadLetter",
    "Defer",
    "DeleteBatch",
    "Peek",
    "Receive",
    "ReceiveBatch",
    "ReceiveDeferred",
    "RenewLock",
    "RenewLocks",
    "SettleBatch",
    "Settlement",
]


@attrs.frozen(kw_only=True)
class Receive:
    """Receive one message that is available now, from a session if the queue requires sessions."""

    capability: ClassVar = None
    extent: ClassVar = Extent.MESSAGES
    queue: str
    mode: ReceiveMode = ReceiveMode.PEEK_LOCK
    session_id: str | None = None


@attrs.frozen(kw_only=True)
class ReceiveBatch:
    """Receive up to `count` messages that are available now, in one request; maybe fewer.

    All are from one session if the queue requires sessions.
    """

    capability: ClassVar = Capability.RECEIVE_BATCHES
    extent: ClassVar = Extent.SEVERAL_MESSAGES
    queue: str
    count: int = attrs.field(validator=attrs.validators.ge(1))
    mode: ReceiveMode = ReceiveMode.PEEK_LOCK
    session_id: str | None = None


@attrs.frozen(kw_only=True)
class Complete:
    """Settle a locked message: it was processed, and is removed.

    If a transaction is named, its commit does this, as for every settlement.
    """

    capability: ClassVar = Capability.PEEK_LOCK
    extent: ClassVar = Extent.MESSAGES
    queue: str
    lock_token: str
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class Abandon:
    """Settle a locked message: release it, to be received again."""

    capability: ClassVar = Capability.PEEK_LOCK
    extent: ClassVar = Extent.MESSAGES
    queue: str
    lock_token: str
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class DeadLetter:
    """Settle a locked message: move it to the dead-letter queue with a reason."""

    capability: ClassVar = Capability.DEAD_LETTER
    extent: ClassVar = Extent.MESSAGES
    queue: str
    lock_token: str
    reason: str = ""
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class Defer:
    """Settle a locked message: set it aside, to be received only by its sequence number."""

    capability: ClassVar = Capability.DEFERRAL
    extent: ClassVar = Extent.MESSAGES
    queue: str
    lock_token: str
    transaction: str | None = None


Settlement = Complete | Abandon | DeadLetter | Defer


@attrs.frozen(kw_only=True)
class SettleBatch:
    """Settle several locked messages in one request, all in the same way.

    The reason is for messages that are dead-lettered.
    """

    capability: ClassVar = Capability.SETTLE_BATCHES
    extent: ClassVar = Extent.SEVERAL_MESSAGES
    queue: str
    lock_tokens: tuple[str, ...]
    disposition: Disposition
    reason: str = ""

    def settlements(self) -> tuple[Settlement, ...]:
        """Return a settlement for each token, without repetitions."""
        return tuple(map(self._settlement, dict.fromkeys(self.lock_tokens)))

    def _settlement(self, token: str) -> Settlement:
        match self.disposition:
            case Disposition.COMPLETE:
                return Complete(queue=self.queue, lock_token=token)
            case Disposition.ABANDON:
                return Abandon(queue=self.queue, lock_token=token)
            case Disposition.DEFER:
                return Defer(queue=self.queue, lock_token=token)
            case Disposition.DEAD_LETTER:
                return DeadLetter(queue=self.queue, lock_token=token, reason=self.reason)
            case _:
                assert_never(self.disposition)


@attrs.frozen(kw_only=True)
class DeleteBatch:
    """Delete up to `count` messages that are not locked, in one request; maybe fewer.

    With an `age`, only messages that were enqueued at least so many microseconds ago.
    """

    capability: ClassVar = Capability.DELETE_BATCH
    extent: ClassVar = Extent.SEVERAL_MESSAGES
    queue: str
    count: int = attrs.field(validator=attrs.validators.ge(1))
    age: int | None = None


@attrs.frozen(kw_only=True)
class ReceiveDeferred:
    """Receive deferred messages by their sequence numbers: all of them, or none."""

    capability: ClassVar = Capability.DEFERRAL
    extent: ClassVar = Extent.MESSAGES
    queue: str
    sequence_numbers: tuple[int, ...]
    mode: ReceiveMode = ReceiveMode.PEEK_LOCK
    session_id: str | None = None


@attrs.frozen(kw_only=True)
class RenewLock:
    """Extend a message's lock by a full lock duration from now."""

    capability: ClassVar = Capability.LOCK_RENEWAL
    extent: ClassVar = Extent.MESSAGES
    queue: str
    lock_token: str


@attrs.frozen(kw_only=True)
class RenewLocks:
    """Extend the locks of several messages by a full lock duration from now, in one request."""

    capability: ClassVar = Capability.RENEW_LOCKS
    extent: ClassVar = Extent.SEVERAL_MESSAGES
    queue: str
    lock_tokens: tuple[str, ...]

    def renewals(self) -> tuple[RenewLock, ...]:
        """Return a renewal for each token, without repetitions."""
        return tuple(
            RenewLock(queue=self.queue, lock_token=token)
            for token in dict.fromkeys(self.lock_tokens)
        )


@attrs.frozen(kw_only=True)
class Peek:
    """Browse up to `count` messages without locking them, from the first message on.

    With a session id, browse the messages of that session, which need not be locked. With a
    sequence number, start at that number.
    """

    capability: ClassVar = Capability.PEEK
    extent: ClassVar = Extent.MESSAGES
    queue: str
    count: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    session_id: str | None = None
    from_sequence_number: int | None = None
