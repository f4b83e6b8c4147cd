"""SCHED: messages that are enqueued at a later time.

A scheduled message has its own number until it is due, and can be cancelled by that number. When it
is due it is enqueued like a message that is sent at that moment: after all earlier ones, under a
new number. Its partition is selected when it is scheduled (SCHEDULE-PLACE). The documents do not
say how late it may be enqueued; this model enqueues it on time.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import ScheduledCopies, SchedulePlace, TxnOtherOperations
from busproof.model.answers import DONE, Answer
from busproof.model.family import Family, handles
from busproof.model.life_cycle import LIFE_CYCLE, Action
from busproof.model.state import BufferedSend, Entity, ScheduledMessage, Transaction
from busproof.model.transactions import LIMITS_IN_TRANSACTION, PLENTY, keys_of_sends
from busproof.model.values import DIRECT, Key, Refusal, stated_again

__all__ = ["Scheduling"]

OF_SCHEDULING: Final[dict[v.RuleId, v.RuleId]] = {
    "KEY-08": "SCHED-12",
    "LIMIT-02": "LIMIT-06",
    "LIMIT-04": "LIMIT-06",
}
"""Rules of sends to those that say the same of scheduling."""


class Scheduling(Family):
    """The rules of SCHED."""

    @handles(v.Schedule)
    def schedule(self, command: v.Schedule, connection: str) -> Answer:
        """SCHED-01, SCHED-03, SCHED-12, SCHED-14: keep a message until it is due."""
        message = command.message
        entity = self.rules.topics.sendable(command.queue)
        due = self.namespace.now + max(command.delay, 0)
        if command.transaction is not None:
            waiting = self.schedule_in(entity, message, due, command.transaction)
            return self.rules.topics.check_status_last(entity, waiting)
        with stated_again(OF_SCHEDULING):
            self.rules.limits.check_message(message)
            key = self.rules.messages.key_of(entity, message)
        partition = self.place(entity, message, key)
        scheduled = self.numbered(entity, message, key, partition, due)
        self.plan(scheduled)
        outcome = v.Scheduled(sequence_number=scheduled.number)
        rules: tuple[v.RuleId, ...] = ("SCHED-03",)
        if key is not None:
            rules += ("SCHED-09",)
        rules += ("SCHED-01", "SCHED-02") if command.delay > 0 else ("SCHED-14",)
        return self.rules.topics.check_status_last(entity, Answer(outcome, partition, rules))

    def place(self, entity: Entity, message: v.Message, key: Key | None) -> int:
        """SCHED-09, SCHED-10: return the partition of a scheduled message, selected now.

        A bus that selects it only when the message is due ignores an outage now. Then the message
        may have to wait for its partition.
        """
        down = entity.base.down
        if down and self.namespace.reading(SchedulePlace) is SchedulePlace.WHEN_DUE:
            if key is not None:
                return self.rules.keys.home(entity, key)
            return self.rules.keys.next_partition(entity, frozenset()) or 0
        return self.rules.keys.place(entity, key, message.size or 0, PLENTY)

    def numbered(
        self,
        entity: Entity,
        message: v.Message,
        key: Key | None,
        partition: int,
        due: int,
    ) -> ScheduledMessage:
        """SCHED-03, SCHED-06: return a scheduled message with its number.

        The number is from the same sequence as those of enqueued messages, so that a peek can
        continue after it (PART-20).
        """
        counters = entity.partitions[partition]
        self.namespace.journal.touch(counters)
        number = self.rules.messages.next_number(entity, counters)
        return ScheduledMessage(entity, number, partition, message, key, due)

    def schedule_in(self, entity: Entity, message: v.Message, due: int, name: str) -> Answer:
        """SCHED-15, LIMIT-21: schedule a message in a transaction, with effect from its commit.

        TXN-OTHER-OPERATIONS decides whether the rules on keys in transactions apply.
        """
        self.rules.keys.check_agreement(entity, message)

        def attempt(transaction: Transaction) -> Answer:
            with stated_again(LIMITS_IN_TRANSACTION):
                self.rules.limits.check_message(message)
            key = self.key_in(entity, transaction, message)
            partition = self.rules.transactions.place(entity, transaction, message, key)
            scheduled = self.numbered(entity, message, key, partition, due)
            buffered = BufferedSend(entity, message, key, partition, self.namespace.now, scheduled)
            self.rules.transactions.buffer(transaction, buffered)
            return Answer(v.Scheduled(sequence_number=scheduled.number), partition, ("SCHED-15",))

        return self.rules.transactions.within(self.rules.transactions.running(name), attempt)

    def key_in(self, entity: Entity, transaction: Transaction, message: v.Message) -> Key | None:
        """SCHED-15: return the key of a message scheduled in a transaction."""
        if self.namespace.reading(TxnOtherOperations) is TxnOtherOperations.ALL:
            keyed = [other for other, _ in keys_of_sends(transaction)]
            if entity.settings.partitioned and keyed and entity not in keyed:
                raise Refusal(v.Error.INVALID_OPERATION, "SCHED-15")
            return self.rules.transactions.key_of(entity, transaction, message)
        self.rules.limits.check_count(len(transaction.sends))
        return self.rules.keys.effective_key(entity, message)

    def plan(self, scheduled: ScheduledMessage) -> None:
        """SCHED-01, DUP-04: store a scheduled message until it is due, unless it is a copy.

        A bus may compare it with others only when it is due (SCHEDULED-COPIES).
        """
        entity = scheduled.entity
        message = scheduled.message
        if not self.is_compared_late(scheduled) and self.rules.duplicates.is_duplicate(
            entity, message, scheduled.key
        ):
            return
        self.namespace.journal.put(entity.scheduled, scheduled.number, scheduled)
        scheduled.index()
        if message.size:
            self.rules.sizes.charge(entity, scheduled.partition, message.size)

    def activate(self, scheduled: ScheduledMessage) -> None:
        """SCHED-02, SCHED-06, SCHED-07, TTL-12: enqueue a scheduled message that is due."""
        entity = scheduled.entity
        partition = scheduled.partition
        if entity.scheduled.get(scheduled.number) is not scheduled or not self.namespace.has_passed(
            scheduled.due
        ):
            return
        self.drop(scheduled, Action.ACTIVATE)
        if self.is_compared_late(scheduled) and self.rules.duplicates.is_duplicate(
            entity, scheduled.message, scheduled.key
        ):
            return
        transit = DIRECT._replace(due=scheduled.due)
        self.rules.messages.arrive(entity, scheduled.message, partition, transit)

    def is_compared_late(self, scheduled: ScheduledMessage) -> bool:
        """SCHEDULED-COPIES: return whether a message is compared with others when it is due."""
        detects = scheduled.entity.settings.duplicate_detection
        return (
            detects
            and scheduled.message.message_id is not None
            and self.namespace.reading(ScheduledCopies) is ScheduledCopies.WHEN_DUE
        )

    def drop(self, scheduled: ScheduledMessage, action: Action) -> None:
        """SCHED-04, SCHED-06: remove a scheduled message."""
        entity, size = scheduled.entity, scheduled.message.size
        self.namespace.journal.touch(scheduled)
        scheduled.state = LIFE_CYCLE[scheduled.state, action]
        self.namespace.journal.drop(entity.scheduled, scheduled.number)
        entity.partitions[scheduled.partition].schedule.left(entity.scheduled)
        if size:
            self.rules.sizes.charge(entity, scheduled.partition, -size)

    @handles(v.CancelScheduled)
    def cancel(self, command: v.CancelScheduled, connection: str) -> Answer:
        """SCHED-04, SCHED-05: cancel a scheduled message that is not due yet."""
        entity = self.rules.topics.addressed(command.queue)
        # The documents say what a disabled entity takes, and not whether it gives this back.
        if not (entity.status.takes or self.namespace.prefers("MGMT-26", "done", to="refused")):
            raise Refusal(v.Error.ENTITY_DISABLED)
        scheduled = entity.scheduled.get(command.sequence_number)
        if scheduled is None:
            # Nothing says that cancelling what is not scheduled is an error.
            if self.namespace.prefers("SCHED-05", "done", to="refused"):
                return Answer(DONE, rules=("SCHED-05",))
            raise Refusal(v.Error.MESSAGE_NOT_FOUND, "SCHED-05")
        self.drop(scheduled, Action.CANCEL)
        return Answer(DONE, rules=("SCHED-04",))
