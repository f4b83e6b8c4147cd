"""Rendering of requests in the words of the domain, one per line."""

from typing import assert_never

import attrs

from busproof.history.render.entities import (
    create_words,
    management_words,
    rule_words,
    subscription_words,
    topic_management_words,
    topic_words,
)
from busproof.history.render.phrases import (
    counted,
    named,
    plain_number,
    properties,
    quoted,
    seconds,
    session_of,
)
from busproof.vocabulary.commands import (
    Abandon,
    AcceptNextSession,
    AcceptSession,
    AddRule,
    AdvanceClock,
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
    Send,
    SendBatch,
    SessionCommand,
    SetSessionState,
    SettleBatch,
    TakePartitionDown,
    UpdateQueue,
    UpdateTopic,
)

__all__ = ["command_words"]

_OfALock = Complete | Abandon | DeadLetter | Defer | RenewLock


_RestOfCommands = (
    CreateTopic
    | CreateSubscription
    | AddRule
    | RemoveRule
    | ListRules
    | SessionCommand
    | SendBatch
    | SettleBatch
    | RenewLocks
    | DeleteBatch
    | Schedule
    | CancelScheduled
    | BeginTransaction
    | CommitTransaction
    | RollBackTransaction
    | TakePartitionDown
    | BringPartitionUp
)


def command_words(command: Command) -> str:  # noqa: PLR0911 - one return a case
    """Return the text of a command, such as `Send to q: body 'm1', SessionId 'a'`.

    Default values are left out.
    """
    match command:
        case CreateQueue():
            return create_words(command)
        case RestoreQueue() | GetQueue() | ListQueues() | UpdateQueue() | DeleteQueue():
            return management_words(command)
        case GetTopic() | ListTopics() | UpdateTopic() | DeleteTopic() | ListSubscriptions():
            return topic_management_words(command)
        case Send():
            return _send_words(command)
        case Receive(queue=queue, mode=mode, session_id=session):
            source = named(queue) if session is None else session_of(queue, session)
            return f"Receive from {source} ({mode.value})"
        case Complete() | Abandon() | DeadLetter() | Defer() | RenewLock():
            return _of_a_lock_words(command)
        case Peek(queue=queue, count=count, session_id=session, from_sequence_number=start):
            source = named(queue) if session is None else session_of(queue, session)
            behind = "" if start is None else f", from {plain_number(start)} on"
            return f"Peek at up to {counted(count, 'message')} of {source}{behind}"
        case ReceiveBatch(queue=queue, count=count, mode=mode, session_id=session):
            source = named(queue) if session is None else session_of(queue, session)
            return f"Receive up to {counted(count, 'message')} from {source} ({mode.value})"
        case ReceiveDeferred(queue=queue, mode=mode, session_id=session):
            source = named(queue) if session is None else session_of(queue, session)
            numbers = ", ".join(plain_number(each) for each in command.sequence_numbers)
            return f"Receive deferred {numbers} from {source} ({mode.value})"
        case AdvanceClock(duration=duration):
            return f"Advance the clock by {seconds(duration)}"
        case _:
            return _rest_words(command)


def _of_a_lock_words(command: _OfALock) -> str:
    what = {DeadLetter: "Dead-letter", RenewLock: "Renew"}.get(
        type(command), type(command).__name__
    )
    told = f"{what} on {named(command.queue)}: lock {named(command.lock_token)}"
    why = command.reason if isinstance(command, DeadLetter) else None
    told = f"{told}, reason {quoted(why)}" if why else told
    name = None if isinstance(command, RenewLock) else command.transaction
    return told if name is None else f"{told}, in transaction {named(name)}"


def _send_words(command: Send) -> str:
    parts = [f"body {quoted(command.message.body)}", *properties(command.message)]
    if command.message.size is not None:
        parts.append(counted(command.message.size, "byte"))
    if command.timeout != attrs.fields(Send).timeout.default:
        parts.append(f"timeout {seconds(command.timeout)}")
    if command.transaction is not None:
        parts.append(f"in transaction {named(command.transaction)}")
    return f"Send to {named(command.queue)}: {', '.join(parts)}"


def _batch_words(command: SendBatch) -> str:
    told = [
        " ".join((quoted(each.body), *(f"({text})" for text in properties(each))))
        for each in command.messages
    ]
    within = command.transaction
    end = "" if within is None else f", in transaction {named(within)}"
    number = counted(len(told), "message")
    return f"Send {number} at once to {named(command.queue)}: {', '.join(told)}{end}"


def _several_locks_words(command: SettleBatch | RenewLocks) -> str:
    what, why = "Renew", ""
    if isinstance(command, SettleBatch):
        what, why = command.disposition.value.capitalize(), command.reason
    locks = ", ".join(map(named, command.lock_tokens))
    told = f"{what} at once on {named(command.queue)}: locks {locks or 'none'}"
    return f"{told}, reason {quoted(why)}" if why else told


def _schedule_words(command: Schedule) -> str:
    parts = [f"body {quoted(command.message.body)}", *properties(command.message)]
    parts.append(f"due in {seconds(command.delay)}")
    if command.transaction is not None:
        parts.append(f"in transaction {named(command.transaction)}")
    return f"Schedule to {named(command.queue)}: {', '.join(parts)}"


def _rest_words(command: _RestOfCommands) -> str:  # noqa: PLR0911, PLR0912 - one return a case
    match command:
        case CreateTopic():
            return topic_words(command)
        case CreateSubscription():
            return subscription_words(command)
        case AddRule() | RemoveRule() | ListRules():
            return rule_words(command)
        case SendBatch():
            return _batch_words(command)
        case SettleBatch() | RenewLocks():
            return _several_locks_words(command)
        case DeleteBatch(queue=queue, count=count, age=age):
            old = "" if age is None else f" at least {seconds(age)} old"
            return f"Delete up to {counted(count, 'message')}{old} of {named(queue)}"
        case Schedule():
            return _schedule_words(command)
        case CancelScheduled(queue=queue, sequence_number=number):
            return f"Cancel the scheduled message {plain_number(number)} of {named(queue)}"
        case BeginTransaction(transaction=transaction):
            return f"Begin transaction {named(transaction)}"
        case CommitTransaction(transaction=transaction):
            return f"Commit transaction {named(transaction)}"
        case RollBackTransaction(transaction=transaction):
            return f"Roll back transaction {named(transaction)}"
        case TakePartitionDown(queue=queue, partition=partition):
            return f"Take partition {partition} of {named(queue)} down"
        case BringPartitionUp(queue=queue, partition=partition):
            return f"Bring partition {partition} of {named(queue)} up"
        case _:
            return _session_words(command)


def _session_words(command: SessionCommand) -> str:  # noqa: PLR0911 - one return a case
    match command:
        case AcceptSession(queue=queue, session_id=session):
            return f"Accept {session_of(queue, session)}"
        case AcceptNextSession(queue=queue):
            return f"Accept the next session of {named(queue)}"
        case RenewSessionLock(queue=queue, session_id=session):
            return f"Renew the lock of {session_of(queue, session)}"
        case CloseSession(queue=queue, session_id=session):
            return f"Close {session_of(queue, session)}"
        case SetSessionState(queue=queue, session_id=session, state=state):
            stored = "Remove the state" if state is None else f"Set the state {quoted(state)}"
            return f"{stored} of {session_of(queue, session)}"
        case GetSessionState(queue=queue, session_id=session):
            return f"Get the state of {session_of(queue, session)}"
        case ListSessions(queue=queue):
            return f"List the sessions of {named(queue)}"
        case _:
            assert_never(command)
