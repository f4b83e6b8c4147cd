"""Which capability an implementation has to declare before it is asked a command."""

from collections.abc import Iterator
from typing import Final

from busproof.adapters.base import Capability
from busproof.model.commands import (
    Abandon,
    AcceptNextSession,
    AcceptSession,
    BeginTransaction,
    BringPartitionUp,
    CloseSession,
    Command,
    CommitTransaction,
    Complete,
    CreateQueue,
    DeadLetter,
    Defer,
    GetSessionState,
    ListSessions,
    Peek,
    Receive,
    ReceiveDeferred,
    RenewLock,
    RenewSessionLock,
    RollBackTransaction,
    Send,
    SetSessionState,
    TakePartitionDown,
)
from busproof.model.values import ReceiveMode

__all__ = ["NEEDED", "needs"]

NEEDED: Final[dict[type[Command], Capability]] = {
    AcceptSession: Capability.SESSIONS,
    AcceptNextSession: Capability.NEXT_SESSION,
    RenewSessionLock: Capability.LOCK_RENEWAL,
    CloseSession: Capability.SESSIONS,
    SetSessionState: Capability.SESSION_STATE,
    GetSessionState: Capability.SESSION_STATE,
    ListSessions: Capability.SESSION_LISTING,
    Complete: Capability.PEEK_LOCK,
    Abandon: Capability.PEEK_LOCK,
    DeadLetter: Capability.DEAD_LETTER,
    Defer: Capability.DEFERRAL,
    ReceiveDeferred: Capability.DEFERRAL,
    RenewLock: Capability.LOCK_RENEWAL,
    Peek: Capability.PEEK,
    BeginTransaction: Capability.TRANSACTIONS,
    CommitTransaction: Capability.TRANSACTIONS,
    RollBackTransaction: Capability.TRANSACTIONS,
    TakePartitionDown: Capability.OUTAGES,
    BringPartitionUp: Capability.OUTAGES,
}


def needs(command: Command) -> Iterator[Capability]:
    """What an implementation has to declare before it is asked this."""
    if type(command) in NEEDED:
        yield NEEDED[type(command)]
    match command:
        case CreateQueue():
            if command.requires_session:
                yield Capability.SESSIONS
            if command.duplicate_detection:
                yield Capability.DUPLICATE_DETECTION
            if not command.partitioned:
                yield Capability.REGULAR_QUEUES
        case Receive():
            if command.session_id is not None:
                yield Capability.SESSIONS
            if command.mode is ReceiveMode.PEEK_LOCK:
                yield Capability.PEEK_LOCK
        case Send(transaction=str()):
            yield Capability.TRANSACTIONS
