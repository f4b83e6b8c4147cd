"""The capabilities that an implementation has to declare for each command."""

from collections.abc import Iterator
from typing import Final

from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.commands import (
    Abandon,
    AcceptNextSession,
    AcceptSession,
    AddRule,
    BeginTransaction,
    BringPartitionUp,
    CancelScheduled,
    CloseSession,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    CreateSubscription,
    CreateTopic,
    DeadLetter,
    Defer,
    DeleteBatch,
    DeleteQueue,
    DeleteTopic,
    GetQueue,
    GetSessionState,
    GetTopic,
    ListQueues,
    ListRules,
    ListSessions,
    ListSubscriptions,
    ListTopics,
    Peek,
    Receive,
    ReceiveBatch,
    ReceiveDeferred,
    RemoveRule,
    RenewLock,
    RenewLocks,
    RenewSessionLock,
    RestoreQueue,
    RollBackTransaction,
    Schedule,
    SendBatch,
    SetSessionState,
    SettleBatch,
    Settlement,
    TakePartitionDown,
    UpdateQueue,
    UpdateTopic,
)
from busproof.vocabulary.messages import Message
from busproof.vocabulary.paths import TRANSFERS
from busproof.vocabulary.subscription_rules import SqlFilter
from busproof.vocabulary.values import ReceiveMode

__all__ = ["NEEDED", "needs"]

NEEDED: Final[dict[type[Command], Capability]] = {
    CreateTopic: Capability.TOPICS,
    CreateSubscription: Capability.TOPICS,
    AddRule: Capability.FILTERS,
    RemoveRule: Capability.FILTERS,
    ListRules: Capability.FILTERS,
    AcceptSession: Capability.SESSIONS,
    AcceptNextSession: Capability.NEXT_SESSION,
    RenewSessionLock: Capability.LOCK_RENEWAL,
    CloseSession: Capability.SESSIONS,
    SetSessionState: Capability.SESSION_STATE,
    GetSessionState: Capability.SESSION_STATE,
    ListSessions: Capability.SESSION_LISTING,
    SendBatch: Capability.BATCHES,
    ReceiveBatch: Capability.RECEIVE_BATCHES,
    Schedule: Capability.SCHEDULING,
    CancelScheduled: Capability.SCHEDULING,
    Complete: Capability.PEEK_LOCK,
    Abandon: Capability.PEEK_LOCK,
    DeadLetter: Capability.DEAD_LETTER,
    Defer: Capability.DEFERRAL,
    ReceiveDeferred: Capability.DEFERRAL,
    RenewLock: Capability.LOCK_RENEWAL,
    SettleBatch: Capability.SETTLE_BATCHES,
    RenewLocks: Capability.RENEW_LOCKS,
    DeleteBatch: Capability.DELETE_BATCH,
    Peek: Capability.PEEK,
    BeginTransaction: Capability.TRANSACTIONS,
    CommitTransaction: Capability.TRANSACTIONS,
    RollBackTransaction: Capability.TRANSACTIONS,
    TakePartitionDown: Capability.OUTAGES,
    BringPartitionUp: Capability.OUTAGES,
    GetQueue: Capability.MANAGEMENT,
    ListQueues: Capability.MANAGEMENT,
    UpdateQueue: Capability.MANAGEMENT,
    DeleteQueue: Capability.MANAGEMENT,
    GetTopic: Capability.TOPIC_MANAGEMENT,
    ListTopics: Capability.TOPIC_MANAGEMENT,
    UpdateTopic: Capability.TOPIC_MANAGEMENT,
    DeleteTopic: Capability.TOPIC_MANAGEMENT,
    ListSubscriptions: Capability.TOPIC_MANAGEMENT,
    RestoreQueue: Capability.LEGACY_ENTITIES,
}


FILTERED: Final = (
    "correlation_id",
    "to",
    "reply_to",
    "subject",
    "reply_to_session_id",
    "content_type",
)
"""Properties that messages have with the capability `filters`, beside an application's own."""


def _is_mortal(told: object) -> bool:
    """Return whether an entity or a message has a time to live."""
    life = getattr(told, "time_to_live", None)
    return life is not None or getattr(told, "dead_letter_expired", False)


def _has_filtered(told: object) -> bool:
    """Return whether a message has a property that comes with filters."""
    return isinstance(told, Message) and (
        bool(told.properties) or any(getattr(told, name) is not None for name in FILTERED)
    )


def _needs_of_message(command: Command) -> Iterator[Capability]:
    """Return the capabilities that a sent message requires."""
    one = getattr(command, "message", None)
    messages = command.messages if isinstance(command, SendBatch) else (one,)
    if any(isinstance(each, Message) and each.size is not None for each in messages):
        yield Capability.DISPOSABLE_NAMESPACE
    if _is_mortal(command) or any(map(_is_mortal, messages)):
        yield Capability.TIME_TO_LIVE
    if any(map(_has_filtered, messages)):
        yield Capability.FILTERS


def _needs_of_destinations(command: Command) -> Iterator[Capability]:
    """Return the capabilities that forwarding requires."""
    if getattr(command, "forward_to", None) is not None:
        changed = isinstance(command, UpdateQueue)
        yield Capability.REDIRECTION if changed else Capability.FORWARDING
    if getattr(command, "forward_dead_letters_to", None) is not None:
        yield Capability.DEAD_LETTER_FORWARDING
    if str(getattr(command, "queue", "")).endswith(TRANSFERS):
        yield Capability.TRANSFER_DEAD_LETTER
    if isinstance(command, UpdateQueue | UpdateTopic) and command.status is not None:
        yield Capability.ENTITY_STATUS
    managed = isinstance(command, GetQueue | UpdateQueue | DeleteQueue)
    if managed and "/subscriptions/" in getattr(command, "queue", ""):
        yield Capability.TOPIC_MANAGEMENT


def _needs_of_creation(command: CreateQueue | CreateTopic) -> Iterator[Capability]:
    """Return the capabilities that the creation of a queue or topic requires."""
    if not command.partitioned:
        yield Capability.REGULAR_QUEUES
    if command.api_version is not None:
        yield Capability.API_VERSIONS
    if command.max_size is not None:
        yield Capability.SIZES


def _needs_of_rule(command: AddRule) -> Iterator[Capability]:
    """Return the capabilities that an added rule requires."""
    if isinstance(command.filter, SqlFilter):
        yield Capability.SQL_FILTERS
    if command.action is not None:
        yield Capability.RULE_ACTIONS


def needs(command: Command) -> Iterator[Capability]:
    """Return the capabilities that an implementation has to declare for this command."""
    if type(command) in NEEDED:
        yield NEEDED[type(command)]
    if getattr(command, "requires_session", False):
        yield Capability.SESSIONS
    if getattr(command, "duplicate_detection", False):
        yield Capability.DUPLICATE_DETECTION
    if isinstance(command, CreateQueue | CreateTopic):
        yield from _needs_of_creation(command)
    yield from _needs_of_destinations(command)
    if getattr(command, "transaction", None) is not None:
        yield Capability.TRANSACTIONS
        if isinstance(command, Settlement):
            yield Capability.TRANSACTIONAL_SETTLEMENT
    yield from _needs_of_message(command)
    match command:
        case AddRule():
            yield from _needs_of_rule(command)
        case SettleBatch():
            yield from map(NEEDED.__getitem__, map(type, command.settlements()))
        case Peek() if command.from_sequence_number is not None:
            yield Capability.PEEK_FROM
        case Receive() | ReceiveBatch():
            if command.session_id is not None:
                yield Capability.SESSIONS
            if command.mode is ReceiveMode.PEEK_LOCK:
                yield Capability.PEEK_LOCK
