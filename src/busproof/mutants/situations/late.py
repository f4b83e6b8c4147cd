"""Mutants that are right at first, and wrong after hours, past the hundredth time, or when full."""

import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import Answer
from busproof.model.batches import Batches
from busproof.model.deferral import Deferral
from busproof.model.duplicates import Duplicates
from busproof.model.expiry import Expiry
from busproof.model.keys import Keys
from busproof.model.life_cycle import Action, State
from busproof.model.locks import Locks
from busproof.model.messages import Messages
from busproof.model.rules import Namespace
from busproof.model.scheduling import Scheduling
from busproof.model.sessions import Sessions
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage
from busproof.model.transactions import Transactions
from busproof.model.values import Refusal
from busproof.mutants.mutant import memory, mutant, run
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


def _repeat_part(number: int, part: Callable[[int], Run]) -> Run:
    return tuple(request for place in range(number) for request in part(place))


@mutant("LIFE-09", (*KEYED, wait(HOUR + 1), receive()), deep=True)
class MessageIsLostAfterAnHour(Expiry):
    """A message without a time to live is lost after an hour."""

    @alters
    def expires_at(self, usual: int | None, entity: Entity) -> int | None:
        if usual is None and entity.owner is entity:
            return self.namespace.now + HOUR * v.MICROSECONDS
        return usual


@mutant("DLQ-05", deep=True)
@run(*KEYED, receive(), dead_letter(0), wait(DAY + 1), receive(queue=DEAD))
class DeadLetterIsLostAfterADay(Expiry):
    """A dead letter is lost after a day."""

    @alters
    def expires_at(self, usual: int | None, entity: Entity) -> int | None:
        return usual if entity.owner is entity else self.namespace.now + DAY * v.MICROSECONDS


@mutant("DEFER-02", deep=True)
@run(*KEYED, receive(), defer(0), wait(HOUR + 1), by_number(0))
class NumberIsForgottenAfterAnHour(Deferral):
    """An hour after its delivery, a deferred message cannot be received by its number."""

    @alters
    def find(self, usual: QueuedMessage) -> QueuedMessage:
        if self.namespace.now > usual.locked_until + HOUR * v.MICROSECONDS - 60 * v.MICROSECONDS:
            raise Refusal(v.Error.MESSAGE_NOT_FOUND, "DEFER-02")
        return usual


@mutant("SESS-19", STATEFUL, deep=True)
class StateIsForgottenAfterAnHour(Sessions):
    """Session states are lost an hour after the start."""

    @alters
    def get_state(self, usual: Answer) -> Answer:
        if self.namespace.now > HOUR * v.MICROSECONDS and isinstance(usual.outcome, v.SessionState):
            return Answer(v.SessionState(), rules=usual.rules)
        return usual


@mutant("KEY-11", deep=True)
@run(
    create(duplicate_detection=True, duplicate_window=2 * DAY * v.MICROSECONDS),
    *(send("m1", message_id="x"), wait(DAY + 1), send("m2", message_id="x")),
    *(receive(delete=True), receive(delete=True)),
)
class WindowIsADayAtMost(Duplicates):
    """A MessageId is forgotten after a day, even in a longer duplicate window."""

    @afterwards
    def remember(self, entity: Entity, name: Any) -> None:
        entry = entity.duplicates[name]
        self.namespace.journal.touch(entry)
        entry.until = min(entry.until, self.namespace.now + DAY * v.MICROSECONDS)
        entry.index()


@mutant("TXN-12", deep=True)
@run(create(), *_repeat_part(MANY + 1, _within), *(receive(delete=True),) * (MANY + 1))
class CommitPastAHundredIsLost(Transactions):
    """The 101st transaction commits successfully, but its messages are lost."""

    @only_where
    def apply(self) -> bool:
        counts = memory(self.rules.namespace, Counter[str])
        counts["commits"] += 1
        return counts["commits"] <= MANY


def _count_to_a_hundred(queued: QueuedMessage, view: v.MessageView) -> v.MessageView:
    count = view.delivery_count
    return view if count is None else attrs.evolve(view, delivery_count=min(count, MANY))


@mutant("DLQ-01", also=showing(_count_to_a_hundred), deep=True)
@run(
    *(create(max_delivery_count=2 * MANY), send("m1", partition_key="a")),
    *_repeat_part(MANY, lambda number: (receive(), abandon(number))),
    receive(),
)
class DeliveriesAreCountedToAHundred:
    """Delivery counts stop at 100."""


@mutant("LOCK-04", deep=True)
@run(*KEYED, receive(), *(renew(0),) * (MANY + 1))
class RenewalPastAHundredIsRefused(Locks):
    """A lock cannot be renewed more than a hundred times."""

    @refuses("LOCK-04", v.Error.LOCK_LOST)
    def renew(self, command: v.RenewLock) -> bool:
        counts = memory(self.rules.namespace, Counter[str])
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


@mutant("SIZE-04", deep=True)
@run(create(), *SENT[: FITTING + 1])
class UnkeyedMessagesFillOnePartitionOnly(Keys):
    """A message without a key is refused when those before it would fill one partition."""

    @refuses("SIZE-09", v.Error.QUOTA_EXCEEDED)
    def place_without_key(self, entity: Entity, size: int) -> bool:
        return self.rules.sizes.used(entity) + size > entity.capacity


@mutant("SIZE-10", (create(), *SENT), deep=True)
class UnkeyedMessagesAlwaysFit(Keys):
    """A message without a key is accepted although every partition is full."""

    @instead
    def place_without_key(self, entity: Entity, size: int) -> int | None:
        numbers = range(len(entity.partitions))
        sizes = self.rules.sizes
        room = any(sizes.has_room(entity, number, size) for number in numbers)
        chosen = self.next_partition(entity, entity.base.down)
        return None if room or chosen is None or len(numbers) == 1 else chosen


class _KeepsRoom(Locks, ABC):
    """Count some messages as using storage after their completion."""

    @abstractmethod
    def is_kept(self, queued: QueuedMessage) -> bool:
        """Return whether a message goes on to use storage."""

    def apply(self, queued: QueuedMessage, action: Action, reason: str) -> None:
        kept = action is Action.COMPLETE and self.is_kept(queued)
        super().apply(queued, action, reason)
        if kept:
            _waste(self.rules.namespace, queued.entity, queued.partition, queued.message)


@mutant("SIZE-12", deep=True, literal=True)
@run(*FULL, receive(), dead_letter(0), receive(queue=DEAD), complete(1, DEAD), MORE)
class CompletedDeadLetterKeepsRoom(_KeepsRoom):
    """A completed dead letter uses storage forever."""

    def is_kept(self, queued: QueuedMessage) -> bool:
        return queued.entity.owner is not queued.entity


@mutant("SIZE-12", deep=True, literal=True)
@run(*FULL, receive(), defer(0), by_number(0), complete(1), MORE)
class CompletedDeferredMessageKeepsRoom(_KeepsRoom):
    """A completed deferred message uses storage forever."""

    def is_kept(self, queued: QueuedMessage) -> bool:
        return queued.state is State.DEFERRED_LOCKED


@mutant("SIZE-12", IN_TRANSACTION, deep=True, literal=True)
class MessageCompletedInATransactionKeepsRoom(_KeepsRoom):
    """A message completed in a transaction uses storage forever."""

    def is_kept(self, queued: QueuedMessage) -> bool:
        return queued.enlisted is not None


@mutant("SIZE-12", deep=True, literal=True)
@run(
    create(partitioned=False, max_size=1),
    *(schedule(f"m{n}", 86_400, **BULKY) for n in range(FITTING)),
    *(cancel(n) for n in range(FITTING)),
    MORE,
)
class CancelledMessageKeepsRoom(Scheduling):
    """A cancelled scheduled message uses storage forever."""

    @afterwards
    def drop(self, scheduled: ScheduledMessage, action: Action) -> None:
        if action is Action.CANCEL:
            _waste(self.rules.namespace, scheduled.entity, scheduled.partition, scheduled.message)


@mutant("SIZE-12", deep=True, literal=True)
@run(
    create(partitioned=False, max_size=1, time_to_live=60 * v.MICROSECONDS),
    *SENT[:FITTING],
    *(wait(61), receive(), MORE),
)
class ExpiredMessageKeepsRoom(Expiry):
    """An expired message uses storage forever, beside its dead letter."""

    @afterwards
    def expire(self, queued: QueuedMessage) -> None:
        _waste(self.rules.namespace, queued.entity, queued.partition, queued.message)


def _wasting(namespace: Namespace, command: Any, usual: Callable[[], Answer]) -> Answer:
    """Answer as usual, and let a message that is refused use storage."""
    try:
        answer = usual()
    except Refusal:
        _waste_refused(namespace, command)
        raise
    if isinstance(answer.outcome, v.Refused):
        _waste_refused(namespace, command)
    return answer


def _waste_refused(namespace: Namespace, command: Any) -> None:
    entity = namespace.entities.get(command.queue.removesuffix(v.DEAD_LETTERS))
    for message in getattr(command, "messages", None) or (command.message,):
        if entity is not None and message.size:
            key = (message.partition_key or message.session_id or "").encode()
            partition = zlib.crc32(key) % len(entity.partitions)
            # Not in the journal, which takes back what a refused request has changed.
            entity.partitions[partition].bytes += message.size


class _RefusedBatchTakesRoom(Batches):
    def send_batch(self, command: v.SendBatch, connection: str) -> Answer:
        usual = super().send_batch
        return _wasting(self.rules.namespace, command, lambda: usual(command, connection))


class _RefusedScheduleTakesRoom(Scheduling):
    def schedule(self, command: v.Schedule, connection: str) -> Answer:
        usual = super().schedule
        return _wasting(self.rules.namespace, command, lambda: usual(command, connection))


@mutant("SIZE-07", also=(_RefusedBatchTakesRoom, _RefusedScheduleTakesRoom), deep=True)
@run(
    create(),
    *(send(f"m{n}", session_id="s", partition_key="a", **BULKY) for n in range(FITTING + 2)),
    send("more", partition_key="a", **BULKY),
)
class RefusedMessageTakesRoom(Messages):
    """A refused message uses storage forever."""

    def send(self, command: v.Send, connection: str) -> Answer:
        usual = super().send
        return _wasting(self.rules.namespace, command, lambda: usual(command, connection))


@mutant("SIZE-07", deep=True, literal=True)
@run(
    create(),
    v.BeginTransaction(transaction="t"),
    *(send(f"m{n}", within="t", partition_key="a", **BULKY) for n in range(FITTING - 1)),
    v.RollBackTransaction(transaction="t"),
    *(send(f"n{n}", partition_key="a", **BULKY) for n in range(FITTING - 1)),
)
class RolledBackMessageKeepsRoom(Transactions):
    """A message of a rolled back transaction uses storage forever."""

    @afterwards
    def roll_back(self, command: v.RollBackTransaction) -> None:
        for buffered in self.namespace.transactions[command.transaction].sends:
            _waste(self.rules.namespace, buffered.entity, buffered.partition, buffered.message)
