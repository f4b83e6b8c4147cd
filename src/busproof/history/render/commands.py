"""Rendering of commands as text, in the words of the domain, one per line."""

from typing import assert_never

import attrs

from busproof import vocabulary as v
from busproof.history.render.entities import (
    create_words,
    management_words,
    rule_words,
    subscription_words,
    topic_management_words,
    topic_words,
)
from busproof.history.render.phrases import (
    plain_number,
    properties,
    quote_text,
    seconds,
    session_of,
    show_count,
    show_name,
)

__all__ = ["command_words"]

_OfALock = v.Complete | v.Abandon | v.DeadLetter | v.Defer | v.RenewLock


_RestOfCommands = (
    v.CreateTopic
    | v.CreateSubscription
    | v.AddRule
    | v.RemoveRule
    | v.ListRules
    | v.SessionCommand
    | v.SendBatch
    | v.SettleBatch
    | v.RenewLocks
    | v.DeleteBatch
    | v.Schedule
    | v.CancelScheduled
    | v.BeginTransaction
    | v.CommitTransaction
    | v.RollBackTransaction
    | v.TakePartitionDown
    | v.BringPartitionUp
)


def command_words(command: v.Command) -> str:  # noqa: PLR0911 - one return a case
    """Return the text of a command, such as `Send to q: body 'm1', SessionId 'a'`.

    Default values are left out.
    """
    match command:
        case v.CreateQueue():
            return create_words(command)
        case v.RestoreQueue() | v.GetQueue() | v.ListQueues() | v.UpdateQueue() | v.DeleteQueue():
            return management_words(command)
        case (
            v.GetTopic()
            | v.ListTopics()
            | v.UpdateTopic()
            | v.DeleteTopic()
            | v.ListSubscriptions()
        ):
            return topic_management_words(command)
        case v.Send():
            return _send_words(command)
        case v.Receive(queue=queue, mode=mode, session_id=session):
            source = show_name(queue) if session is None else session_of(queue, session)
            return f"Receive from {source} ({mode.value})"
        case v.Complete() | v.Abandon() | v.DeadLetter() | v.Defer() | v.RenewLock():
            return _of_a_lock_words(command)
        case v.Peek(queue=queue, count=count, session_id=session, from_sequence_number=start):
            source = show_name(queue) if session is None else session_of(queue, session)
            behind = "" if start is None else f", from {plain_number(start)} on"
            return f"Peek at up to {show_count(count, 'message')} of {source}{behind}"
        case v.ReceiveBatch(queue=queue, count=count, mode=mode, session_id=session):
            source = show_name(queue) if session is None else session_of(queue, session)
            return f"Receive up to {show_count(count, 'message')} from {source} ({mode.value})"
        case v.ReceiveDeferred(queue=queue, mode=mode, session_id=session):
            source = show_name(queue) if session is None else session_of(queue, session)
            numbers = ", ".join(
                plain_number(sequence_number) for sequence_number in command.sequence_numbers
            )
            return f"Receive deferred {numbers} from {source} ({mode.value})"
        case v.AdvanceClock(duration=duration):
            return f"Advance the clock by {seconds(duration)}"
        case _:
            return _rest_words(command)


def _of_a_lock_words(command: _OfALock) -> str:
    what = {v.DeadLetter: "Dead-letter", v.RenewLock: "Renew"}.get(
        type(command), type(command).__name__
    )
    text = f"{what} on {show_name(command.queue)}: lock {show_name(command.lock_token)}"
    why = command.reason if isinstance(command, v.DeadLetter) else None
    text = f"{text}, reason {quote_text(why)}" if why else text
    name = None if isinstance(command, v.RenewLock) else command.transaction
    return text if name is None else f"{text}, in transaction {show_name(name)}"


def _send_words(command: v.Send) -> str:
    parts = [f"body {quote_text(command.message.body)}", *properties(command.message)]
    if command.message.size is not None:
        parts.append(show_count(command.message.size, "byte"))
    if command.timeout != attrs.fields(v.Send).timeout.default:
        parts.append(f"timeout {seconds(command.timeout)}")
    if command.transaction is not None:
        parts.append(f"in transaction {show_name(command.transaction)}")
    return f"Send to {show_name(command.queue)}: {', '.join(parts)}"


def _batch_words(command: v.SendBatch) -> str:
    sent = [
        " ".join((quote_text(message.body), *(f"({text})" for text in properties(message))))
        for message in command.messages
    ]
    within = command.transaction
    end = "" if within is None else f", in transaction {show_name(within)}"
    number = show_count(len(sent), "message")
    return f"Send {number} at once to {show_name(command.queue)}: {', '.join(sent)}{end}"


def _several_locks_words(command: v.SettleBatch | v.RenewLocks) -> str:
    what = "Renew"
    why = ""
    if isinstance(command, v.SettleBatch):
        what = command.disposition.value.capitalize()
        why = command.reason
    locks = ", ".join(map(show_name, command.lock_tokens))
    text = f"{what} at once on {show_name(command.queue)}: locks {locks or 'none'}"
    return f"{text}, reason {quote_text(why)}" if why else text


def _schedule_words(command: v.Schedule) -> str:
    parts = [f"body {quote_text(command.message.body)}", *properties(command.message)]
    parts.append(f"due in {seconds(command.delay)}")
    if command.transaction is not None:
        parts.append(f"in transaction {show_name(command.transaction)}")
    return f"Schedule to {show_name(command.queue)}: {', '.join(parts)}"


def _rest_words(command: _RestOfCommands) -> str:  # noqa: PLR0911, PLR0912 - one return a case
    match command:
        case v.CreateTopic():
            return topic_words(command)
        case v.CreateSubscription():
            return subscription_words(command)
        case v.AddRule() | v.RemoveRule() | v.ListRules():
            return rule_words(command)
        case v.SendBatch():
            return _batch_words(command)
        case v.SettleBatch() | v.RenewLocks():
            return _several_locks_words(command)
        case v.DeleteBatch(queue=queue, count=count, age=age):
            old = "" if age is None else f" at least {seconds(age)} old"
            return f"Delete up to {show_count(count, 'message')}{old} of {show_name(queue)}"
        case v.Schedule():
            return _schedule_words(command)
        case v.CancelScheduled(queue=queue, sequence_number=number):
            return f"Cancel the scheduled message {plain_number(number)} of {show_name(queue)}"
        case v.BeginTransaction(transaction=transaction):
            return f"Begin transaction {show_name(transaction)}"
        case v.CommitTransaction(transaction=transaction):
            return f"Commit transaction {show_name(transaction)}"
        case v.RollBackTransaction(transaction=transaction):
            return f"Roll back transaction {show_name(transaction)}"
        case v.TakePartitionDown(queue=queue, partition=partition):
            return f"Take partition {partition} of {show_name(queue)} down"
        case v.BringPartitionUp(queue=queue, partition=partition):
            return f"Bring partition {partition} of {show_name(queue)} up"
        case _:
            return _session_words(command)


def _session_words(command: v.SessionCommand) -> str:  # noqa: PLR0911 - one return a case
    match command:
        case v.AcceptSession(queue=queue, session_id=session):
            return f"Accept {session_of(queue, session)}"
        case v.AcceptNextSession(queue=queue):
            return f"Accept the next session of {show_name(queue)}"
        case v.RenewSessionLock(queue=queue, session_id=session):
            return f"Renew the lock of {session_of(queue, session)}"
        case v.CloseSession(queue=queue, session_id=session):
            return f"Close {session_of(queue, session)}"
        case v.SetSessionState(queue=queue, session_id=session, state=state):
            stored = "Remove the state" if state is None else f"Set the state {quote_text(state)}"
            return f"{stored} of {session_of(queue, session)}"
        case v.GetSessionState(queue=queue, session_id=session):
            return f"Get the state of {session_of(queue, session)}"
        case v.ListSessions(queue=queue):
            return f"List the sessions of {show_name(queue)}"
        case _:
            assert_never(command)
