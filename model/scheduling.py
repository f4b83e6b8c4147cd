"""SCHED: messages that are enqueued at a later time.

A scheduled message has its own number until it is due, and can be cancelled by that number. When it
is due it is enqueued like a message that is sent at that moment: after all earlier ones, under a
new number. Its partition is selected when it is scheduled (SCHEDULE-PLACE). The documents do not
say how late it may be enqueued; this model enqueues it on time.
"""

from collections.abc import Callable

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, Answer
from busproof.model.life_cycle import LIFE_CYCLE, Action
from busproof.model.state import BufferedSend, Entity, Namespace, ScheduledMessage, Transaction
from busproof.model.transactions import PLENTY, buffer, keys_of_sends, running
from busproof.model.values import DIRECT, Key, Refusal

__all__ = ["Scheduling"]


def schedule(namespace: Namespace, command: v.Schedule, connection: str) -> Answer:
    """SCHED-01, SCHED-03, SCHED-12, SCHED-14: keep a message until it is due."""
    rules, message = namespace.rules, command.message
    entity = rules.topics.sendable(namespace, command.queue)
    due = namespace.now + max(command.delay, 0)
    if command.transaction is not None:
        return rules.scheduling.schedule_in(namespace, entity, message, due, command.transaction)
    rules.limits.check_message(namespace, message)
    key = rules.messages.key_of(namespace, entity, message)
    partition = rules.scheduling.place(namespace, entity, message, key)
    scheduled = rules.scheduling.numbered(namespace, entity, message, key, partition, due)
    rules.scheduling.plan(namespace, scheduled)
    return Answer(v.Scheduled(sequence_number=scheduled.number), partition, ("SCHED-03",))


def place(namespace: Namespace, entity: Entity, message: v.Message, key: Key | None) -> int:
    """SCHED-09, SCHED-10: return the partition of a scheduled message, selected now.

    A bus that selects it only when the message is due ignores an outage now. Then the message may
    have to wait for its partition.
    """
    rules = namespace.rules
    readings, down = ("when-scheduled", "when-due"), entity.base.down
    if down and namespace.reading("SCHEDULE-PLACE", *readings) == "when-due":
        if key is not None:
            return rules.keys.home(namespace, entity, key)
        return rules.keys.next_partition(namespace, entity, frozenset()) or 0
    return rules.keys.place(namespace, entity, key, message.size or 0, PLENTY)


def numbered(
    namespace: Namespace,
    entity: Entity,
    message: v.Message,
    key: Key | None,
    partition: int,
    due: int,
) -> ScheduledMessage:
    """SCHED-03, SCHED-06: return a scheduled message with its number.

    The number is from the same sequence as those of enqueued messages, so that a peek can continue
    after it (PART-20).
    """
    counters = entity.partitions[partition]
    namespace.journal.touch(counters)
    number = namespace.rules.messages.next_number(counters)
    return ScheduledMessage(entity, number, partition, message, key, due)


def schedule_in(
    namespace: Namespace, entity: Entity, message: v.Message, due: int, name: str
) -> Answer:
    """SCHED-15, LIMIT-21: schedule a message in a transaction, with effect from its commit.

    TXN-OTHER-OPERATIONS decides whether the rules on keys in transactions apply.
    """
    rules = namespace.rules
    rules.keys.check_agreement(namespace, entity, message)

    def attempt(transaction: Transaction) -> Answer:
        rules.limits.check_message(namespace, message)
        key = rules.scheduling.key_in(namespace, entity, transaction, message)
        partition = rules.transactions.place(namespace, entity, transaction, message, key)
        scheduled = rules.scheduling.numbered(namespace, entity, message, key, partition, due)
        buffered = BufferedSend(entity, message, key, partition, namespace.now, scheduled)
        buffer(namespace, transaction, buffered)
        return Answer(v.Scheduled(sequence_number=scheduled.number), partition, ("SCHED-15",))

    return rules.transactions.within(namespace, running(namespace, name), attempt)


def key_in(
    namespace: Namespace, entity: Entity, transaction: Transaction, message: v.Message
) -> Key | None:
    """SCHED-15: return the key of a message scheduled in a transaction."""
    rules = namespace.rules
    if namespace.reading("TXN-OTHER-OPERATIONS", "sends-only", "all") == "all":
        keyed = [other for other, _ in keys_of_sends(transaction)]
        if entity.settings.partitioned and keyed and entity not in keyed:
            raise Refusal(v.Error.INVALID_OPERATION, "SCHED-15")
        return rules.transactions.key_of(namespace, entity, transaction, message)
    rules.limits.check_count(namespace, len(transaction.sends))
    return rules.keys.effective_key(namespace, entity, message)


def plan(namespace: Namespace, scheduled: ScheduledMessage) -> None:
    """SCHED-01, DUP-04: store a scheduled message until it is due, unless it is a copy."""
    rules, entity, message = namespace.rules, scheduled.entity, scheduled.message
    if rules.duplicates.is_duplicate(namespace, entity, message, scheduled.key):
        return
    namespace.journal.put(entity.scheduled, scheduled.number, scheduled)
    scheduled.index()
    if message.size:
        rules.sizes.charge(namespace, entity, scheduled.partition, message.size)


def activate(namespace: Namespace, scheduled: ScheduledMessage) -> None:
    """SCHED-02, SCHED-06, SCHED-07, TTL-12: enqueue a scheduled message that is due."""
    rules, entity, partition = namespace.rules, scheduled.entity, scheduled.partition
    if entity.scheduled.get(scheduled.number) is not scheduled or scheduled.due > namespace.now:
        return
    rules.scheduling.drop(namespace, scheduled, Action.ACTIVATE)
    rules.messages.arrive(namespace, entity, scheduled.message, partition, DIRECT)


def drop(namespace: Namespace, scheduled: ScheduledMessage, action: Action) -> None:
    """SCHED-04, SCHED-06: remove a scheduled message."""
    entity, size = scheduled.entity, scheduled.message.size
    namespace.journal.touch(scheduled)
    scheduled.state = LIFE_CYCLE[scheduled.state, action]
    namespace.journal.drop(entity.scheduled, scheduled.number)
    entity.partitions[scheduled.partition].schedule.left(entity.scheduled)
    if size:
        namespace.rules.sizes.charge(namespace, entity, scheduled.partition, -size)


def cancel(namespace: Namespace, command: v.CancelScheduled, connection: str) -> Answer:
    """SCHED-04, SCHED-05: cancel a scheduled message that is not due yet."""
    entity = namespace.rules.topics.sendable(namespace, command.queue)
    scheduled = entity.scheduled.get(command.sequence_number)
    if scheduled is None:
        raise Refusal(v.Error.MESSAGE_NOT_FOUND, "SCHED-05")
    namespace.timers.stale += 1
    namespace.rules.scheduling.drop(namespace, scheduled, Action.CANCEL)
    return Answer(DONE, rules=("SCHED-04",))


@attrs.frozen
class Scheduling:
    """Functions that decide the SCHED rules; a mutant replaces one of them."""

    schedule: Callable[[Namespace, v.Schedule, str], Answer] = schedule
    place: Callable[[Namespace, Entity, v.Message, Key | None], int] = place
    numbered: Callable[..., ScheduledMessage] = numbered
    schedule_in: Callable[[Namespace, Entity, v.Message, int, str], Answer] = schedule_in
    key_in: Callable[[Namespace, Entity, Transaction, v.Message], Key | None] = key_in
    plan: Callable[[Namespace, ScheduledMessage], None] = plan
    activate: Callable[[Namespace, ScheduledMessage], None] = activate
    drop: Callable[[Namespace, ScheduledMessage, Action], None] = drop
    cancel: Callable[[Namespace, v.CancelScheduled, str], Answer] = cancel
