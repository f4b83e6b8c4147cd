"""Requests to a bus, each a small class.

`TakePartitionDown`, `BringPartitionUp`, `RestoreQueue` and `AdvanceClock` are requests of a test
and not of a client.
"""

from typing import ClassVar

import attrs

from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands_management import (
    AddRule,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeleteQueue,
    DeleteTopic,
    GetQueue,
    GetTopic,
    ListQueues,
    ListRules,
    ListSubscriptions,
    ListTopics,
    RemoveRule,
    RestoreQueue,
    TopicManagement,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.commands_receiving import (
    Abandon,
    Complete,
    DeadLetter,
    Defer,
    DeleteBatch,
    Peek,
    Receive,
    ReceiveBatch,
    ReceiveDeferred,
    RenewLock,
    RenewLocks,
    SettleBatch,
    Settlement,
)
from busproof.vocabulary.commands_sending import (
    DEFAULT_TIMEOUT,
    CancelScheduled,
    Schedule,
    Send,
    SendBatch,
)
from busproof.vocabulary.commands_sessions import (
    AcceptNextSession,
    AcceptSession,
    CloseSession,
    GetSessionState,
    ListSessions,
    RenewSessionLock,
    SessionCommand,
    SetSessionState,
)
from busproof.vocabulary.values import Extent

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
    "DeleteBatch",
    "DeleteQueue",
    "DeleteTopic",
    "GetQueue",
    "GetSessionState",
    "GetTopic",
    "ListQueues",
    "ListRules",
    "ListSessions",
    "ListSubscriptions",
    "ListTopics",
    "Operation",
    "Peek",
    "Receive",
    "ReceiveBatch",
    "ReceiveDeferred",
    "RemoveRule",
    "RenewLock",
    "RenewLocks",
    "RenewSessionLock",
    "RestoreQueue",
    "RollBackTransaction",
    "Schedule",
    "Send",
    "SendBatch",
    "SessionCommand",
    "SetSessionState",
    "SettleBatch",
    "Settlement",
    "TakePartitionDown",
    "TopicManagement",
    "UpdateQueue",
    "UpdateTopic",
]


@attrs.frozen(kw_only=True)
class BeginTransaction:
    """Begin a transaction under a name that the client chooses, unique in the namespace."""

    capability: ClassVar = Capability.TRANSACTIONS
    extent: ClassVar = Extent.MESSAGES
    transaction: str


@attrs.frozen(kw_only=True)
class CommitTransaction:
    """Apply all sends and settlements of the transaction together."""

    capability: ClassVar = Capability.TRANSACTIONS
    extent: ClassVar = Extent.MESSAGES
    transaction: str


@attrs.frozen(kw_only=True)
class RollBackTransaction:
    """Discard all sends and settlements of the transaction."""

    capability: ClassVar = Capability.TRANSACTIONS
    extent: ClassVar = Extent.MESSAGES
    transaction: str


@attrs.frozen(kw_only=True)
class TakePartitionDown:
    """Make one partition of a queue or topic unavailable; partitions are numbered from 0.

    The partition of a topic includes those of the same number in its subscriptions. If the queue
    does not exist, the partition is that of a queue created later under this name.
    """

    capability: ClassVar = Capability.OUTAGES
    extent: ClassVar = Extent.MESSAGES
    queue: str
    partition: int = attrs.field(validator=attrs.validators.ge(0))


@attrs.frozen(kw_only=True)
class BringPartitionUp:
    """Make a partition available again, with its messages."""

    capability: ClassVar = Capability.OUTAGES
    extent: ClassVar = Extent.MESSAGES
    queue: str
    partition: int = attrs.field(validator=attrs.validators.ge(0))


@attrs.frozen(kw_only=True)
class AdvanceClock:
    """Let virtual time pass, `duration` in microseconds."""

    capability: ClassVar = None
    extent: ClassVar = Extent.EVERYTHING
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
    | TopicManagement
    | ListTopics
    | Send
    | SendBatch
    | Schedule
    | CancelScheduled
    | Receive
    | ReceiveBatch
    | Settlement
    | SettleBatch
    | ReceiveDeferred
    | RenewLock
    | RenewLocks
    | DeleteBatch
    | Peek
    | SessionCommand
    | BeginTransaction
    | CommitTransaction
    | RollBackTransaction
    | TakePartitionDown
    | BringPartitionUp
    | AdvanceClock
)
Command = Creation | Operation
