"""Circumstances: the same requests beside others, or made in another way."""

from collections.abc import Mapping
from itertools import count
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.exploration.metamorphic.entities import Ask
from busproof.judging.past import views_of

__all__ = [
    "add_hundred_entities",
    "precede_by_hundred_messages",
    "precede_by_outage",
    "receive_and_delete",
    "slow_down",
    "use_batches",
    "use_transactions",
]

SLOWER: Final = 100
"""Factor for times, except lock durations."""
LIFE: Final = 3_600 * v.MICROSECONDS
"""Time to live of a scheduled message that has none; less than most delays are then."""
LONGEST_WINDOW: Final = 7 * 86_400 * v.MICROSECONDS
HUNDRED: Final = 100
LOCKED: Final = 20
OTHER: Final = "beside"
DOWN: Final = 3
"""Partition that has an outage."""
TOGETHER: Final = 12
"""Messages of the first transaction of a sequence that sends."""


def use_transactions(ask: Ask) -> Ask:
    """Settle first in a transaction that is rolled back, then in one that is committed.

    Messages are sent in transactions, too, the first one with others behind it. A committed
    transaction with a settlement also sends to another queue.
    """
    numbers = count(1)
    sends = count(1)

    def ask_in_transaction(command: v.Command, connection: str, *, commits: bool) -> v.Event | None:
        number = next(numbers)
        name = f"elsewhere {number}"
        if number == 1:
            ask(v.CreateQueue(queue=OTHER, partitioned=False), connection)
        ask(v.BeginTransaction(transaction=name), connection)
        event = ask(_change(command, transaction=name), connection)
        if commits and isinstance(command, v.Settlement):
            beside = v.Message(body=f"{OTHER} {number}")
            ask(v.Send(queue=OTHER, message=beside, transaction=name), connection)
        if isinstance(command, v.Send) and _is_keyed(command.message) and next(sends) == 1:
            for more in range(2, TOGETHER + 1):
                message = _make_neighbour(command.message, f"{OTHER} {more}")
                ask(_change(command, message=message, transaction=name), connection)
        ending = v.CommitTransaction if commits else v.RollBackTransaction
        ask(ending(transaction=name), connection)
        return event

    def asks(command: v.Command, connection: str) -> v.Event | None:
        if getattr(command, "transaction", "") is not None:
            return ask(command, connection)
        if isinstance(command, v.Settlement):
            ask_in_transaction(command, connection, commits=False)
        return ask_in_transaction(command, connection, commits=True)

    return asks


def _change(command: Any, **changed: Any) -> v.Command:
    evolved: v.Command = attrs.evolve(command, **changed)
    return evolved


def use_batches(ask: Ask) -> Ask:
    """Send each message together with another one, receive two, and settle in batches."""

    def asks(command: v.Command, connection: str) -> v.Event | None:
        match command:
            case v.Send(message=message):
                command = v.SendBatch(
                    queue=command.queue,
                    messages=(message, _make_neighbour(message)),
                    timeout=command.timeout,
                    transaction=command.transaction,
                )
            case v.Receive():
                command = v.ReceiveBatch(count=2, **attrs.asdict(command))
            case v.RenewLock():
                command = v.RenewLocks(queue=command.queue, lock_tokens=(command.lock_token,))
            case v.Complete() | v.Abandon() | v.Defer() | v.DeadLetter():
                command = _make_batch(command)
        return ask(command, connection)

    return asks


def _is_keyed(message: v.Message) -> bool:
    """Return whether a message has a key that other messages can have, too."""
    return message.session_id is not None or message.partition_key is not None


def _make_neighbour(message: v.Message, suffix: str = "too") -> v.Message:
    """Return a message that differs by its body, and by its MessageId if it has one."""
    identity = None if message.message_id is None else f"{message.message_id} {suffix}"
    return attrs.evolve(message, body=f"{message.body} {suffix}", message_id=identity)


DISPOSITIONS: Final[Mapping[type[v.Settlement], v.Disposition]] = {
    v.Complete: v.Disposition.COMPLETE,
    v.Abandon: v.Disposition.ABANDON,
    v.Defer: v.Disposition.DEFER,
    v.DeadLetter: v.Disposition.DEAD_LETTER,
}


def _make_batch(command: v.Settlement) -> v.Command:
    if command.transaction is not None:
        return command
    return v.SettleBatch(
        queue=command.queue,
        lock_tokens=(command.lock_token,),
        disposition=DISPOSITIONS[type(command)],
        reason=getattr(command, "reason", ""),
    )


def receive_and_delete(ask: Ask) -> Ask:
    """Delete deferred messages, and those of a batch, when they are received."""

    def asks(command: v.Command, connection: str) -> v.Event | None:
        if isinstance(command, v.ReceiveDeferred | v.ReceiveBatch):
            command = attrs.evolve(command, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
        return ask(command, connection)

    return asks


def slow_down(ask: Ask) -> Ask:
    """Let everything take a hundred times as long: minutes become hours, and hours days."""

    def asks(command: v.Command, connection: str) -> v.Event | None:
        changed = {
            name: value * SLOWER
            for name in ("time_to_live", "delay", "duration")
            if (value := getattr(command, name, None)) is not None
        }
        window = getattr(command, "duplicate_window", None)
        if window is not None:
            changed["duplicate_window"] = min(window * SLOWER, max(window, LONGEST_WINDOW))
        match command:
            case v.Schedule(message=v.Message(time_to_live=None) as message):
                # It lives from when it is due, and not from when it was scheduled.
                changed["message"] = attrs.evolve(message, time_to_live=LIFE)
            case v.Send(message=message) | v.Schedule(message=message):
                changed["message"] = _slower(message)
            case v.SendBatch(messages=messages):
                changed["messages"] = tuple(map(_slower, messages))
        return ask(_change(command, **changed), connection)

    return asks


def _slower(message: v.Message) -> v.Message:
    if message.time_to_live is None:
        return message
    return attrs.evolve(message, time_to_live=message.time_to_live * SLOWER)


def precede_by_hundred_messages(ask: Ask) -> Ask:
    """Let a hundred messages pass through each queue before anything else.

    Some of them are locked at once, and completed one by one; the others are deleted.
    """
    numbers = count(1)  # the judge tells messages apart by their bodies

    def asks(command: v.Command, connection: str) -> v.Event | None:
        event = ask(command, connection)
        if not isinstance(command, v.CreateQueue) or command.forward_to is not None:
            return event
        session = OTHER if command.requires_session else None
        messages = tuple(
            v.Message(body=f"{OTHER} {next(numbers)}", session_id=session) for _ in range(HUNDRED)
        )
        ask(v.SendBatch(queue=command.queue, messages=messages), connection)
        if session is not None:
            ask(v.AcceptSession(queue=command.queue, session_id=session), connection)
        few = v.ReceiveBatch(queue=command.queue, count=LOCKED, session_id=session)
        locked = ask(few, connection)
        for view in () if locked is None else views_of(locked.outcome):
            complete = v.Complete(queue=command.queue, lock_token=view.lock_token or "")
            ask(complete, connection)
        receive = attrs.evolve(few, count=HUNDRED, mode=v.ReceiveMode.RECEIVE_AND_DELETE)
        for _ in range(2):
            ask(receive, connection)
        if session is not None:
            ask(v.CloseSession(queue=command.queue, session_id=session), connection)
        return event

    return asks


def add_hundred_entities(ask: Ask) -> Ask:
    """Create a hundred more of whatever is listed, before it is listed for the first time."""
    listed: set[v.Command] = set()
    numbers = count(1)

    def asks(command: v.Command, connection: str) -> v.Event | None:
        if command not in listed:
            listed.add(command)
            for _ in range(HUNDRED):
                another = _another(command, f"{OTHER}-{next(numbers)}")
                if another is None:
                    break
                ask(another, connection)
        return ask(command, connection)

    return asks


def _another(command: v.Command, name: str) -> v.Command | None:
    """Return a request that creates one more item for a list; `None` if the command lists none."""
    match command:
        case v.ListQueues():
            return v.CreateQueue(queue=name)
        case v.ListTopics():
            return v.CreateTopic(topic=name)
        case v.ListSubscriptions(topic=topic):
            return v.CreateSubscription(topic=topic, subscription=name)
        case v.ListRules(topic=topic, subscription=subscription):
            nothing = v.FalseFilter()
            return v.AddRule(topic=topic, subscription=subscription, rule=name, filter=nothing)
        case v.ListSessions(queue=queue):
            return v.Send(queue=queue, message=v.Message(body=name, session_id=name))
    return None


def precede_by_outage(ask: Ask) -> Ask:
    """Let a partition of each queue be down and recover before anything else.

    Another queue has an outage that lasts, and a transaction that stays open.
    """
    queues: set[str] = set()

    def asks(command: v.Command, connection: str) -> v.Event | None:
        event = ask(command, connection)
        if not isinstance(command, v.CreateQueue) or not command.partitioned:
            return event
        if not queues:
            _begin_and_take_down(ask, connection)
        if command.queue not in queues:
            queues.add(command.queue)
            ask(v.TakePartitionDown(queue=command.queue, partition=DOWN), connection)
            ask(v.BringPartitionUp(queue=command.queue, partition=DOWN), connection)
        return event

    return asks


def _begin_and_take_down(ask: Ask, connection: str) -> None:
    ask(v.CreateQueue(queue=OTHER), connection)
    ask(v.BeginTransaction(transaction=OTHER), connection)
    sent = v.Message(body=OTHER, partition_key=OTHER)
    ask(v.Send(queue=OTHER, message=sent, transaction=OTHER), connection)
    ask(v.TakePartitionDown(queue=OTHER, partition=DOWN), connection)
