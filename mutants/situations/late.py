"""Mutants that are right at first, and wrong after hours, past the hundredth time, or when full."""

import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.life_cycle import Action, State
from busproof.model.rules import Namespace
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage
from busproof.model.values import Refusal
from busproof.mutants.mutant import beside, memory, mutant, run
from busproof.mutants.own_rules import RULES
from busproof.mutants.runs import (
    DEAD,
    PARTITIONS,
    QUEUE,
    Run,
    abandon,
    by_number,
    cancel,
    complete,
    create,
    dead_letter,
    defer,
    receive,
    renew,
    schedule,
    send,
    wait,
)
from busproof.mutants.views import showing
from busproof.mutants.wrappers import afterwards, alters, instead, only_where, refuses

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
    """Return a run that sends a message in a transaction and commits it."""
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


@mutant("DLQ-05", "expiry.expires_at", how=alters, deep=True)
@run(*KEYED, receive(), dead_letter(0), wait(DAY + 1), receive(queue=DEAD))
def dead_letter_is_lost_after_a_day(
    usual: int | None, namespace: Namespace, entity: Entity
) -> int | None:
    """A dead letter is lost after a day."""
    return usual if entity.owner is entity else namespace.now + DAY * v.MICROSECONDS


@mutant("DEFER-02", "deferral.find", how=alters, deep=True)
@run(*KEYED, receive(), defer(0), wait(HOUR + 1), by_number(0))
def number_is_forgotten_after_an_hour(usual: QueuedMessage, namespace: Namespace) -> QueuedMessage:
    """An hour after its delivery, a deferred message cannot be received by its number."""
    if namespace.now > usual.locked_until + HOUR * v.MICROSECONDS - 60 * v.MICROSECONDS:
        raise Refusal(v.Error.MESSAGE_NOT_FOUND, "DEFER-02")
    return usual


@mutant("SESS-19", "sessions.get_state", STATEFUL, alters, deep=True)
def state_is_forgotten_after_an_hour(usual: Answer, namespace: Namespace) -> Answer:
    """Session states are lost an hour after the start."""
    if namespace.now > HOUR * v.MICROSECONDS and isinstance(usual.outcome, v.SessionState):
        return Answer(v.SessionState(), rules=usual.rules)
    return usual


@mutant("KEY-11", "duplicates.remember", how=afterwards, deep=True)
@run(
    create(duplicate_detection=True, duplicate_window=2 * DAY * v.MICROSECONDS),
    *(send("m1", message_id="x"), wait(DAY + 1), send("m2", message_id="x")),
    *(receive(delete=True), receive(delete=True)),
)
def window_is_a_day_at_most(namespace: Namespace, entity: Entity, name: Any) -> None:
    """A MessageId is forgotten after a day, even in a longer duplicate window."""
    entry = entity.duplicates[name]
    namespace.journal.touch(entry)
    entry.until = min(entry.until, namespace.now + DAY * v.MICROSECONDS)
    entry.index()


@mutant("TXN-12", "transactions.apply", how=only_where, deep=True)
@run(create(), *_repeated(MANY + 1, _within), *(receive(delete=True),) * (MANY + 1))
def commit_past_a_hundred_is_lost(namespace: Namespace) -> bool:
    """The 101st transaction commits successfully, but its messages are lost."""
    counts = memory(namespace, Counter[str])
    counts["commits"] += 1
    return counts["commits"] <= MANY


def _counted_to_a_hundred(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    count = view.delivery_count
    return view if count is None else attrs.evolve(view, delivery_count=min(count, MANY))


@mutant("DLQ-01", "", also=showing(_counted_to_a_hundred), deep=True)
@run(
    *(create(max_delivery_count=2 * MANY), send("m1", partition_key="a")),
    *_repeated(MANY, lambda number: (receive(), abandon(number))),
    receive(),
)
def deliveries_are_counted_to_a_hundred() -> None:
    """Delivery counts stop at 100."""


@mutant("LOCK-04", "locks.renew", how=refuses("LOCK-04", v.Error.LOCK_LOST), deep=True)
@run(*KEYED, receive(), *(renew(0),) * (MANY + 1))
def renewal_past_a_hundred_is_refused(namespace: Namespace, command: v.RenewLock) -> bool:
    """A lock cannot be renewed more than a hundred times."""
    counts = memory(namespace, Counter[str])
    counts[command.lock_token] += 1
    return counts[command.lock_token] > MANY


BULKY: Final[dict[str, Any]] = {"size": 10**8, "stands_in": True}
FITTING: Final = 10
"""Number of bulky messages in a GB."""
SENT: Final[Run] = tuple(send(f"m{n}", **BULKY) for n in range((FITTING + 2) * PARTITIONS))
FULL: Final[Run] = (create(partitioned=False, max_size=1), *SENT[:FITTING])
MORE: Final = send("more", **BULKY)
IN_TRANSACTION: Final[Run] = (
    *FULL,
    receive(),
    v.BeginTransaction(transaction="t"),
    complete(0, within="t"),
    v.CommitTransaction(transaction="t"),
    MORE,
)


def _waste(namespace: Namespace, entity: Entity, partition: int, message: v.Message) -> None:
    """Count a removed message as if it still used storage."""
    namespace.rules.sizes.charge(entity, partition, message.size or 0)


@mutant(
    "SIZE-04", "keys.place_without_key", how=refuses("SIZE-09", v.Error.QUOTA_EXCEEDED), deep=True
)
@run(create(), *SENT[: FITTING + 1])
def unkeyed_messages_fill_one_partition_only(
    namespace: Namespace, entity: Entity, size: int
) -> bool:
    """A message without a key is refused when those before it would fill one partition."""
    return namespace.rules.sizes.used(entity) + size > entity.capacity


@mutant("SIZE-10", "keys.place_without_key", (create(), *SENT), instead, deep=True)
def unkeyed_messages_always_fit(namespace: Namespace, entity: Entity, size: int) -> int | None:
    """A message without a key is accepted although every partition is full."""
    numbers, sizes = range(len(entity.partitions)), namespace.rules.sizes
    room = any(sizes.has_room(entity, number, size) for number in numbers)
    chosen = namespace.rules.keys.next_partition(entity, entity.base.down)
    return None if room or chosen is None or len(numbers) == 1 else chosen


def _keeps_room(is_kept: Callable[[QueuedMessage], bool]) -> Mapping[str, Callable[..., Any]]:
    """Return a replacement that counts such messages as using storage after their completion."""

    @beside("locks.apply")
    def apply(namespace: Namespace, queued: QueuedMessage, action: Action, reason: str) -> None:
        kept = action is Action.COMPLETE and is_kept(queued)
        RULES.locks.apply(namespace, queued, action, reason)
        if kept:
            _waste(namespace, queued.entity, queued.partition, queued.message)

    return apply


OF_DEAD_LETTERS: Final = _keeps_room(lambda queued: queued.entity.owner is not queued.entity)


DEFERRED: Final = _keeps_room(lambda queued: queued.state is State.DEFERRED_LOCKED)


ENLISTED: Final = _keeps_room(lambda queued: queued.enlisted is not None)


@mutant("SIZE-12", "", also=OF_DEAD_LETTERS, deep=True, literal=True)
@run(*FULL, receive(), dead_letter(0), receive(queue=DEAD), complete(1, DEAD), MORE)
def completed_dead_letter_keeps_room() -> None:
    """A completed dead letter uses storage forever."""


@mutant("SIZE-12", "", also=DEFERRED, deep=True, literal=True)
@run(*FULL, receive(), defer(0), by_number(0), complete(1), MORE)
def completed_deferred_message_keeps_room() -> None:
    """A completed deferred message uses storage forever."""


@mutant("SIZE-12", "", IN_TRANSACTION, also=ENLISTED, deep=True, literal=True)
def message_completed_in_a_transaction_keeps_room() -> None:
    """A message completed in a transaction uses storage forever."""


@mutant("SIZE-12", "scheduling.drop", how=afterwards, deep=True, literal=True)
@run(
    create(partitioned=False, max_size=1),
    *(schedule(f"m{n}", 86_400, **BULKY) for n in range(FITTING)),
    *(cancel(n) for n in range(FITTING)),
    MORE,
)
def cancelled_message_keeps_room(
    namespace: Namespace, scheduled: ScheduledMessage, action: Action
) -> None:
    """A cancelled scheduled message uses storage forever."""
    if action is Action.CANCEL:
        _waste(namespace, scheduled.entity, scheduled.partition, scheduled.message)


@mutant("SIZE-12", "expiry.expire", how=afterwards, deep=True, literal=True)
@run(
    create(partitioned=False, max_size=1, time_to_live=60 * v.MICROSECONDS),
    *SENT[:FITTING],
    *(wait(61), receive(), MORE),
)
def expired_message_keeps_room(namespace: Namespace, queued: QueuedMessage) -> None:
    """An expired message uses storage forever, beside its dead letter."""
    _waste(namespace, queued.entity, queued.partition, queued.message)


def _wastes_what_it_refuses(usual: Callable[..., Answer]) -> Callable[..., Answer]:
    def replacement(namespace: Namespace, command: Any, connection: str) -> Answer:
        try:
            answer = usual(namespace, command, connection)
        except Refusal:
            _waste_refused(namespace, command)
            raise
        if isinstance(answer.outcome, v.Refused):
            _waste_refused(namespace, command)
        return answer

    return replacement


def _waste_refused(namespace: Namespace, command: Any) -> None:
    entity = namespace.entities.get(command.queue.removesuffix(v.DEAD_LETTERS))
    for message in getattr(command, "messages", None) or (command.message,):
        if entity is not None and message.size:
            key = (message.partition_key or message.session_id or "").encode()
            partition = zlib.crc32(key) % len(entity.partitions)
            # Not in the journal, which takes back what a refused request has changed.
            entity.partitions[partition].bytes += message.size


@mutant(
    "SIZE-07",
    "messages.send",
    also={
        "batches.send_batch": _wastes_what_it_refuses(RULES.batches.send_batch),
        "scheduling.schedule": _wastes_what_it_refuses(RULES.scheduling.schedule),
    },
    deep=True,
)
@run(
    create(),
    *(send(f"m{n}", session_id="s", partition_key="a", **BULKY) for n in range(FITTING + 2)),
    send("more", partition_key="a", **BULKY),
)
def refused_message_takes_room(namespace: Namespace, command: v.Send, connection: str) -> Answer:
    """A refused message uses storage forever."""
    return _wastes_what_it_refuses(RULES.messages.send)(namespace, command, connection)


@mutant("SIZE-07", "transactions.roll_back", deep=True, literal=True)
@run(
    create(),
    v.BeginTransaction(transaction="t"),
    *(send(f"m{n}", within="t", partition_key="a", **BULKY) for n in range(FITTING - 1)),
    v.RollBackTransaction(transaction="t"),
    *(send(f"n{n}", partition_key="a", **BULKY) for n in range(FITTING - 1)),
)
def rolled_back_message_keeps_room(
    namespace: Namespace, command: v.RollBackTransaction, connection: str
) -> Answer:
    """A message of a rolled back transaction uses storage forever."""
    answer = RULES.transactions.roll_back(namespace, command, connection)
    for buffered in namespace.transactions[command.transaction].sends:
        _waste(namespace, buffered.entity, buffered.partition, buffered.message)
    return answer
