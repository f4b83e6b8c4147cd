"""Mutants that are right at first, and wrong after hours or past the hundredth."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace, QueuedMessage, Transaction
from busproof.model.values import Refusal
from busproof.mutants.mutant import memory, mutant
from busproof.mutants.runs import (
    DEAD,
    QUEUE,
    Run,
    abandon,
    by_number,
    create,
    dead_letter,
    defer,
    receive,
    renew,
    send,
    wait,
)
from busproof.mutants.views import showing
from busproof.mutants.wrappers import alters, refuses

MANY: Final = 100
HOUR: Final = 3600
DAY: Final = 86_400
KEYED: Final[Run] = (create(), send("m1", partition_key="a"))
ACCEPT: Final = v.AcceptSession(queue=QUEUE, session_id="s")
STATEFUL: Final[Run] = (
    create(requires_session=True),
    ACCEPT,
    v.SetSessionState(queue=QUEUE, session_id="s", state="half done"),
    wait(HOUR + 1),
    ACCEPT,
    v.GetSessionState(queue=QUEUE, session_id="s"),
)


def _within(number: int) -> Run:
    """Send a message in a transaction, and commit it."""
    name = f"t{number}"
    return (
        v.BeginTransaction(transaction=name),
        send(f"m{number}", within=name, partition_key="a"),
        v.CommitTransaction(transaction=name),
    )


def _repeated(number: int, part: Callable[[int], Run]) -> Run:
    return tuple(request for place in range(number) for request in part(place))


@mutant("LIFE-09", "expiry.expires_at", (*KEYED, wait(HOUR + 1), receive()), alters, deep=True)
def message_is_lost_after_an_hour(
    usual: int | None, namespace: Namespace, entity: Entity
) -> int | None:
    """A message without a time to live is lost after an hour."""
    if usual is None and entity.owner is entity:
        return namespace.now + HOUR * v.MICROSECONDS
    return usual


@mutant(
    "DLQ-05",
    "expiry.expires_at",
    (*KEYED, receive(), dead_letter(0), wait(DAY + 1), receive(queue=DEAD)),
    deep=True,
)
def dead_letter_is_lost_after_a_day(namespace: Namespace, entity: Entity, *rest: Any) -> int | None:
    """A dead letter is lost after a day."""
    if entity.owner is not entity:
        return namespace.now + DAY * v.MICROSECONDS
    return RULES.expiry.expires_at(namespace, entity, *rest)


@mutant(
    "DEFER-02",
    "deferral.find",
    (*KEYED, receive(), defer(0), wait(HOUR + 1), by_number(0)),
    alters,
    deep=True,
)
def number_is_forgotten_after_an_hour(usual: QueuedMessage, namespace: Namespace) -> QueuedMessage:
    """The number of a deferred message is unknown an hour after it was given."""
    if namespace.now > usual.locked_until + HOUR * v.MICROSECONDS - 60 * v.MICROSECONDS:
        raise Refusal(v.Error.MESSAGE_NOT_FOUND, "DEFER-02")
    return usual


@mutant("SESS-19", "sessions.get_state", STATEFUL, alters, deep=True)
def state_is_forgotten_after_an_hour(usual: Answer, namespace: Namespace) -> Answer:
    """The state of a session is forgotten an hour after the start."""
    if namespace.now > HOUR * v.MICROSECONDS and isinstance(usual.outcome, v.SessionState):
        return Answer(v.SessionState(), rules=usual.rules)
    return usual


@mutant(
    "KEY-11",
    "duplicates.remember",
    (
        *(
            create(duplicate_detection=True, duplicate_window=2 * DAY * v.MICROSECONDS),
            send("m1", message_id="x"),
        ),
        *(wait(DAY + 1), send("m2", message_id="x"), receive(delete=True), receive(delete=True)),
    ),
    deep=True,
)
def window_is_a_day_at_most(namespace: Namespace, entity: Entity, name: Any) -> None:
    """A MessageId is forgotten after a day, however long the window."""
    RULES.duplicates.remember(namespace, entity, name)
    entry = entity.duplicates[name]
    namespace.journal.touch(entry)
    entry.until = min(entry.until, namespace.now + DAY * v.MICROSECONDS)
    entry.index()


@mutant(
    "TXN-12",
    "transactions.apply",
    (create(), *_repeated(MANY + 1, _within), *(receive(delete=True),) * (MANY + 1)),
    deep=True,
)
def commit_past_a_hundred_is_lost(namespace: Namespace, transaction: Transaction) -> None:
    """The hundred and first transaction is acknowledged, and its messages are lost."""
    counts = memory(namespace, Counter[str])
    counts["commits"] += 1
    if counts["commits"] <= MANY:
        RULES.transactions.apply(namespace, transaction)


def _counted_to_a_hundred(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    count = view.delivery_count
    return view if count is None else attrs.evolve(view, delivery_count=min(count, MANY))


@mutant(
    "DLQ-01",
    "",
    (
        *(create(max_delivery_count=2 * MANY), send("m1", partition_key="a")),
        *_repeated(MANY, lambda number: (receive(), abandon(number))),
        receive(),
    ),
    also=showing(_counted_to_a_hundred),
    deep=True,
)
def deliveries_are_counted_to_a_hundred() -> None:
    """The delivery count of a message does not exceed a hundred."""


@mutant(
    "LOCK-04",
    "locks.renew",
    (*KEYED, receive(), *(renew(0),) * (MANY + 1)),
    refuses("LOCK-04", v.Error.LOCK_LOST),
    deep=True,
)
def renewal_past_a_hundred_is_refused(namespace: Namespace, command: v.RenewLock) -> bool:
    """A lock cannot be renewed more than a hundred times."""
    counts = memory(namespace, Counter[str])
    counts[command.lock_token] += 1
    return counts[command.lock_token] > MANY
