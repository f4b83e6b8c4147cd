"""What a client asks of the bus: one small class for each request.

`TakePartitionDown`, `BringPartitionUp`, `RestoreQueue` and `AdvanceClock` are asked by a test, not
by a client.
"""

from typing import Final

import attrs

from busproof.model.filters import Filter
from busproof.model.values import MICROSECONDS, Message, ReceiveMode

__all__ = [
    "DEFAULT_TIMEOUT",
    "Abandon",
    "AcceptNextSession",
    "AcceptSession",
    "AddRule",
    "AdvanceClock",
    "BeginTransaction",
    "BringPartitionUp",
    "CancelScheduled",
    "CloseSession",
    "Command",
    "CommitTransaction",
    "Complete",
    "CreateQueue",
    "CreateSubscription",
    "CreateTopic",
    "Creation",
    "DeadLetter",
    "Defer",
    "DeleteQueue",
    "GetQueue",
    "GetSessionState",
    "ListQueues",
    "ListRules",
    "ListSessions",
    "Operation",
    "Peek",
    "Receive",
    "ReceiveDeferred",
    "RemoveRule",
    "RenewLock",
    "RenewSessionLock",
    "RestoreQueue",
    "RollBackTransaction",
    "Schedule",
    "Send",
    "SetSessionState",
    "TakePartitionDown",
    "UpdateQueue",
]

DEFAULT_TIMEOUT: Final = 60 * MICROSECONDS
"""A sender's operation timeout where it sets none (KEY-19)."""


@attrs.frozen(kw_only=True)
class CreateQueue:
    """Create a queue.

    `partitioned` is `None` where the request leaves the option out. `duplicate_window` and
    `lock_duration` are in microseconds. `max_size` is in GB, of each partition if the queue is
    partitioned; `None` leaves it out. `api_version` is the one that the request names, if it has to
    name one of its own. `forward_to` names the queue or topic that its messages go on to.
    `time_to_live` is in microseconds, `None` for ever; `dead_letter_expired` says whether a message
    that has outlived its own becomes a dead letter.
    """

    queue: str
    partitioned: bool | None = True
    requires_session: bool = False
    duplicate_detection: bool = False
    duplicate_window: int = attrs.field(
        default=600 * MICROSECONDS, validator=attrs.validators.gt(0)
    )
    lock_duration: int = attrs.field(default=60 * MICROSECONDS, validator=attrs.validators.gt(0))
    max_delivery_count: int = attrs.field(default=10, validator=attrs.validators.ge(1))
    max_size: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.ge(1))
    )
    api_version: str | None = None
    forward_to: str | None = None
    time_to_live: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )
    dead_letter_expired: bool = False


@attrs.frozen(kw_only=True)
class RestoreQueue:
    """Begin with a partitioned queue from when the namespace's tier still permitted it.

    `max_size` is in GB, of each partition.
    """

    queue: str
    requires_session: bool = False
    duplicate_detection: bool = False
    max_size: int = attrs.field(default=1, validator=attrs.validators.ge(1))


@attrs.frozen(kw_only=True)
class GetQueue:
    """Ask what a queue is and what it holds."""

    queue: str


@attrs.frozen(kw_only=True)
class ListQueues:
    """Ask for the names of all queues."""


@attrs.frozen(kw_only=True)
class UpdateQueue:
    """Change a queue; `None` leaves a setting as it is, times are in microseconds."""

    queue: str
    partitioned: bool | None = None
    requires_session: bool | None = None
    duplicate_detection: bool | None = None
    lock_duration: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )
    max_delivery_count: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.ge(1))
    )
    time_to_live: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )


@attrs.frozen(kw_only=True)
class DeleteQueue:
    """Delete a queue and all that it holds."""

    queue: str


@attrs.frozen(kw_only=True)
class CreateTopic:
    """Create a topic; `duplicate_window` and `time_to_live` are in microseconds."""

    topic: str
    partitioned: bool = True
    duplicate_detection: bool = False
    duplicate_window: int = attrs.field(
        default=600 * MICROSECONDS, validator=attrs.validators.gt(0)
    )
    time_to_live: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )


@attrs.frozen(kw_only=True)
class CreateSubscription:
    """Create a subscription of a topic; `lock_duration` and `time_to_live` are in microseconds.

    It is addressed as `topic/subscriptions/name` wherever a queue can be.
    """

    topic: str
    subscription: str
    requires_session: bool = False
    lock_duration: int = attrs.field(default=60 * MICROSECONDS, validator=attrs.validators.gt(0))
    max_delivery_count: int = attrs.field(default=10, validator=attrs.validators.ge(1))
    forward_to: str | None = None
    time_to_live: int | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.gt(0))
    )
    dead_letter_expired: bool = False


@attrs.frozen(kw_only=True)
class AddRule:
    """Add a rule to a subscription, in a transaction if one is named."""

    topic: str
    subscription: str
    rule: str
    filter: Filter
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class RemoveRule:
    """Remove a rule from a subscription, in a transaction if one is named."""

    topic: str
    subscription: str
    rule: str
    transaction: str | None = None


@attrs.frozen(kw_only=True)
class ListRules:
    """Ask for the rules of a subscription."""

    topic: str
    subscription: str


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


@attrs.frozen(kw_only=True)
class Receive:
    """Receive one message that is there now; of one session if the queue requires sessions."""

    queue: str
    mode: ReceiveMode = ReceiveMode.PEEK_LOCK
    session_id: str | None = None


@attrs.frozen(kw_only=True)
class Complete:
    """Settle a locked message: it was dealt with and is removed."""

    queue: str
    lock_token: str


@attrs.frozen(kw_only=True)
class Abandon:
    """Settle a locked message: give it back, to be received again."""

    queue: str
    lock_token: str


@attrs.frozen(kw_only=True)
class DeadLetter:
    """Settle a locked message: move it to the entity's dead-letter queue, and say why."""

    queue: str
    lock_token: str
    reason: str = ""


@attrs.frozen(kw_only=True)
class Defer:
    """Settle a locked message: set it aside, to be received by its sequence number only."""

    queue: str
    lock_token: str


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

    With a session's id: at messages of that session, which nobody need hold.
    """

    queue: str
    count: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    session_id: str | None = None


@attrs.frozen(kw_only=True)
class AcceptSession:
    """Lock one session of a queue that requires sessions, for this connection."""

    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class AcceptNextSession:
    """Lock whichever session has messages and is held by nobody, for this connection."""

    queue: str


@attrs.frozen(kw_only=True)
class RenewSessionLock:
    """Let the lock of a session begin anew, and those of the messages received under it."""

    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class CloseSession:
    """Give the lock of a session back."""

    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class SetSessionState:
    """Store a text with a session that this connection holds; `None` removes what is stored."""

    queue: str
    session_id: str
    state: str | None = None


@attrs.frozen(kw_only=True)
class GetSessionState:
    """Ask what is stored with a session that this connection holds."""

    queue: str
    session_id: str


@attrs.frozen(kw_only=True)
class ListSessions:
    """Ask for the ids of the sessions that have messages."""

    queue: str


@attrs.frozen(kw_only=True)
class BeginTransaction:
    """Begin a transaction under a name that the client chooses, new in the namespace."""

    transaction: str


@attrs.frozen(kw_only=True)
class CommitTransaction:
    """Make all that was sent in the transaction take effect together."""

    transaction: str


@attrs.frozen(kw_only=True)
class RollBackTransaction:
    """Forget all that was sent in the transaction."""

    transaction: str


@attrs.frozen(kw_only=True)
class TakePartitionDown:
    """Make one partition of a queue or topic unavailable; partitions are numbered from 0.

    A topic's partition takes the share of its subscriptions with it. Of a queue that does not exist
    it is the partition that the queue would have.
    """

    queue: str
    partition: int = attrs.field(validator=attrs.validators.ge(0))


@attrs.frozen(kw_only=True)
class BringPartitionUp:
    """Make a partition available again, with all that it held."""

    queue: str
    partition: int = attrs.field(validator=attrs.validators.ge(0))


@attrs.frozen(kw_only=True)
class AdvanceClock:
    """Let virtual time pass, `duration` in microseconds."""

    duration: int = attrs.field(validator=attrs.validators.ge(0))


Creation = CreateQueue | RestoreQueue | CreateTopic | CreateSubscription
Operation = (
    AddRule
    | RemoveRule
    | ListRules
    | GetQueue
    | ListQueues
    | UpdateQueue
    | DeleteQueue
    | Send
    | Schedule
    | CancelScheduled
    | Receive
    | Complete
    | Abandon
    | DeadLetter
    | Defer
    | ReceiveDeferred
    | RenewLock
    | Peek
    | AcceptSession
    | AcceptNextSession
    | RenewSessionLock
    | CloseSession
    | SetSessionState
    | GetSessionState
    | ListSessions
    | BeginTransaction
    | CommitTransaction
    | RollBackTransaction
    | TakePartitionDown
    | BringPartitionUp
    | AdvanceClock
)
Command = Creation | Operation
