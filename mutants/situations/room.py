"""Mutants that fill wrongly without keys, or keep the room of what leaves in one way."""

import zlib
from collections.abc import Callable
from typing import Any, Final

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.life_cycle import Action, State
from busproof.model.rules import RULES
from busproof.model.state import Entity, Namespace, QueuedMessage, ScheduledMessage
from busproof.model.values import Refusal
from busproof.mutants.mutant import mutant
from busproof.mutants.runs import (
    DEAD,
    PARTITIONS,
    Run,
    by_number,
    cancel,
    complete,
    create,
    dead_letter,
    defer,
    receive,
    schedule,
    send,
)
from busproof.mutants.wrappers import instead

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
    """Count a removed message as if it were there."""
    namespace.rules.sizes.charge(namespace, entity, partition, message.size or 0)


@mutant("SIZE-04", "keys.place_without_key", (create(), *SENT[: FITTING + 1]), deep=True)
def unkeyed_messages_fill_one_partition_only(
    namespace: Namespace, entity: Entity, size: int, timeout: int
) -> int:
    """Messages without key fill a partitioned queue as soon as they exceed one partition."""
    if namespace.rules.sizes.used(namespace, entity) + size > entity.capacity:
        raise Refusal(v.Error.QUOTA_EXCEEDED, "SIZE-09")
    return RULES.keys.place_without_key(namespace, entity, size, timeout)


@mutant("SIZE-10", "keys.place_without_key", (create(), *SENT), instead, deep=True)
def unkeyed_messages_always_fit(namespace: Namespace, entity: Entity, size: int) -> int | None:
    """A message without key is accepted although every one of several partitions is full."""
    numbers, sizes = range(len(entity.partitions)), namespace.rules.sizes
    room = any(sizes.has_room(namespace, entity, number, size) for number in numbers)
    chosen = namespace.rules.keys.next_partition(namespace, entity, entity.base.down)
    return None if room or chosen is None or len(numbers) == 1 else chosen


def _keeps_room(is_kept: Callable[[QueuedMessage, Action], bool]) -> Callable[..., None]:
    def apply(namespace: Namespace, queued: QueuedMessage, action: Action, reason: str) -> None:
        kept = action is Action.COMPLETE and is_kept(queued, action)
        RULES.locks.apply(namespace, queued, action, reason)
        if kept:
            _waste(namespace, queued.entity, queued.partition, queued.message)

    return apply


def _is_dead_letter(queued: QueuedMessage, action: Action) -> bool:
    return queued.entity.owner is not queued.entity


def _was_deferred(queued: QueuedMessage, action: Action) -> bool:
    return queued.state is State.DEFERRED_LOCKED


def _is_in_transaction(queued: QueuedMessage, action: Action) -> bool:
    return queued.enlisted is not None


@mutant(
    "SIZE-12",
    "",
    (*FULL, receive(), dead_letter(0), receive(queue=DEAD), complete(1, DEAD), MORE),
    also={"locks.apply": _keeps_room(_is_dead_letter)},
    deep=True,
    literal=True,
)
def completed_dead_letter_keeps_room() -> None:
    """A dead letter that was completed uses storage forever."""


@mutant(
    "SIZE-12",
    "",
    (*FULL, receive(), defer(0), by_number(0), complete(1), MORE),
    also={"locks.apply": _keeps_room(_was_deferred)},
    deep=True,
    literal=True,
)
def completed_deferred_message_keeps_room() -> None:
    """A deferred message that was completed uses storage forever."""


@mutant(
    "SIZE-12",
    "",
    IN_TRANSACTION,
    also={"locks.apply": _keeps_room(_is_in_transaction)},
    deep=True,
    literal=True,
)
def message_completed_in_a_transaction_keeps_room() -> None:
    """A message that was completed in a transaction uses storage forever."""


@mutant(
    "SIZE-12",
    "scheduling.drop",
    (
        create(partitioned=False, max_size=1),
        *(schedule(f"m{n}", 86_400, **BULKY) for n in range(FITTING)),
        *(cancel(n) for n in range(FITTING)),
        MORE,
    ),
    deep=True,
    literal=True,
)
def cancelled_message_keeps_room(
    namespace: Namespace, scheduled: ScheduledMessage, action: Action
) -> None:
    """A scheduled message that was cancelled uses storage forever."""
    RULES.scheduling.drop(namespace, scheduled, action)
    if action is Action.CANCEL:
        _waste(namespace, scheduled.entity, scheduled.partition, scheduled.message)


@mutant(
    "SIZE-12",
    "expiry.expire",
    (
        create(partitioned=False, max_size=1, time_to_live=60 * v.MICROSECONDS),
        *SENT[:FITTING],
        v.AdvanceClock(duration=61 * v.MICROSECONDS),
        receive(),
        MORE,
    ),
    deep=True,
    literal=True,
)
def expired_message_keeps_room(namespace: Namespace, queued: QueuedMessage) -> None:
    """A message that expired uses storage forever, also behind its dead letter."""
    RULES.expiry.expire(namespace, queued)
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
    (
        create(),
        *(send(f"m{n}", session_id="s", partition_key="a", **BULKY) for n in range(FITTING + 2)),
        send("more", partition_key="a", **BULKY),
    ),
    also={
        "batches.send_batch": _wastes_what_it_refuses(RULES.batches.send_batch),
        "scheduling.schedule": _wastes_what_it_refuses(RULES.scheduling.schedule),
    },
    deep=True,
)
def refused_message_takes_room(namespace: Namespace, command: v.Send, connection: str) -> Answer:
    """A message that was refused uses storage forever."""
    return _wastes_what_it_refuses(RULES.messages.send)(namespace, command, connection)
