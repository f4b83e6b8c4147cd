"""BATCH: several messages in one request.

A batch is accepted as a whole or not at all, even if only one of its messages is at fault. The
documents do not say what happens to a batch for a partitioned entity if its messages have different
keys (BATCH-KEYS). A batch receive returns at least one message if there is one, and at most as many
as requested. A batch deletion deletes messages without receiving them: at most as many as
requested, and none that are locked.
"""

from collections.abc import Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import BatchKeys, DeletePartitioned
from busproof.model.answers import DONE, EMPTY, Answer
from busproof.model.family import Family, handles
from busproof.model.life_cycle import ACTIVE, LOCKED_STATES, Action, State
from busproof.model.state import Entity, QueuedMessage, ScheduledMessage
from busproof.model.values import DIRECT, Key, Refusal, stated_again

__all__ = ["Batches", "Deletable"]

REFUSED_WHOLE: Final[dict[v.RuleId, v.RuleId]] = {
    "KEY-03": "BATCH-11",
    "SIZE-07": "BATCH-10",
    "SIZE-09": "BATCH-10",
    "SIZE-10": "BATCH-10",
}
MOST_DELETED: Final = 500
MOST_DELETED_PREMIUM: Final = 4000

Deletable = QueuedMessage | ScheduledMessage
"""What a deletion of several messages may delete."""


class Batches(Family):
    """The rules of BATCH."""

    @handles(v.SendBatch)
    def send_batch(self, command: v.SendBatch, connection: str) -> Answer:
        """BATCH-01 to BATCH-04, BATCH-08 to BATCH-11: accept all messages of a batch, or none."""
        messages = command.messages
        entity = self.rules.topics.sendable(command.queue)
        if command.transaction is not None:
            waiting = self.rules.transactions.send(entity, messages, command.transaction)
            if waiting.refused is None:
                waiting.rules = ("BATCH-08", *waiting.rules)
            return self.rules.topics.check_status_last(entity, waiting)
        self.check(entity, messages)
        partitions = set()
        keys = set()
        rules: tuple[v.RuleId, ...] = ("BATCH-01",)
        for message in messages:
            key = self.rules.messages.key_of(entity, message)
            with stated_again(REFUSED_WHOLE):
                partition = self.rules.keys.place(entity, key, message.size or 0, command.timeout)
            if not self.rules.messages.accept(entity, message, key, partition, DIRECT):
                rules = ("BATCH-01", "BATCH-09")
            partitions.add(partition)
            keys.add(key)
        rules += self.rules_of_keys(entity, messages, keys)
        only = partitions.pop() if len(partitions) == 1 else None
        return self.rules.topics.check_status_last(entity, Answer(DONE, only, rules))

    def rules_of_keys(
        self, entity: Entity, messages: tuple[v.Message, ...], keys: set[Key | None]
    ) -> tuple[v.RuleId, ...]:
        """BATCH-04 to BATCH-06: return the rules by which the keys of a batch are accepted."""
        if len(messages) == 1:
            return ()
        if entity.settings.partitioned:
            return ("BATCH-05",) if len(keys) > 1 else ("BATCH-04",) if None not in keys else ()
        named = {(message.session_id, message.partition_key) for message in messages}
        return ("BATCH-06",) if len(named) > 1 else ()

    def check(self, entity: Entity, messages: tuple[v.Message, ...]) -> None:
        """BATCH-01, BATCH-07: check that a batch has messages and is not too large."""
        if not messages:
            raise Refusal(v.Error.INVALID_OPERATION, "BATCH-01")
        if len(messages) > 1:
            self.rules.limits.check_batch(messages)
            self.check_keys(entity, messages)
        for message in messages:
            self.rules.limits.check_message(message)  # one at fault refuses all

    def check_keys(self, entity: Entity, messages: tuple[v.Message, ...]) -> None:
        """BATCH-05, BATCH-06: refuse different keys in a batch for a partitioned entity."""
        if not entity.settings.partitioned:
            return
        self.rules.premium.check_batch(messages)
        keys = {self.rules.keys.effective_key(entity, message) for message in messages}
        if len(keys) > 1 and self.namespace.reading(BatchKeys) is BatchKeys.REFUSED:
            raise Refusal(v.Error.INVALID_OPERATION, "BATCH-05")

    @handles(v.ReceiveBatch)
    def receive_batch(self, command: v.ReceiveBatch, connection: str) -> Answer:
        """BATCH-12 to BATCH-14: give the requested number of messages, or as many as there are."""
        source = self.rules.messages.source(command, connection)
        if source is None:
            return Answer(EMPTY, rules=("BATCH-12",))
        views: list[v.MessageView] = []
        for _ in range(self.namespace.choices.pick("BATCH-12", range(command.count, 0, -1))):
            view = self.rules.messages.give_next(*source, command.mode, connection)
            if view is None:
                break
            views.append(view)
        if not views:
            return Answer(EMPTY, rules=("BATCH-12",))
        rules: tuple[v.RuleId, ...] = ("BATCH-12",)
        if len(views) > 1 and source[1] is not None:
            rules += ("BATCH-13",)
        if len(views) > 1 and command.mode is v.ReceiveMode.PEEK_LOCK:
            rules += ("BATCH-14",)
        return Answer(v.ReceivedSeveral(messages=tuple(views)), rules=rules)

    @handles(v.DeleteBatch)
    def delete_batch(self, command: v.DeleteBatch, connection: str) -> Answer:
        """BATCH-15 to BATCH-20: delete the requested number of messages, or as many as there are.

        The documents do not say what a partitioned entity answers (DELETE-PARTITIONED), nor one
        that requires sessions, nor what happens if more messages are requested than the tier
        permits.
        """
        entity = self.rules.topics.usable(command.queue)
        self.check_deletion(entity, command.count)
        there = [
            queued
            for partition in entity.partitions
            for queued in partition.line.behind(entity.messages, 0)
        ]
        old = [queued for queued in there if self.is_old(queued, command.age)]
        deletable = self.deletable(entity, old)
        count = self.namespace.choices.pick(
            "BATCH-18", range(min(command.count, len(deletable)), -1, -1)
        )
        for _ in range(count):
            chosen = self.namespace.choices.pick("BATCH-15", deletable)
            deletable.remove(chosen)
            self.remove(chosen)
        rules: tuple[v.RuleId, ...] = ("BATCH-15",)
        if count < command.count:
            rules += ("BATCH-18",)
        # These rules leave messages alone.
        if any(queued.state in LOCKED_STATES for queued in entity.messages.values()):
            rules += ("BATCH-16",)
        if len(old) < len(there):
            rules += ("BATCH-17",)
        return Answer(v.Deleted(count=count), rules=rules)

    def is_old(self, queued: QueuedMessage, age: int | None) -> bool:
        """BATCH-17: return whether a message is old enough to be deleted."""
        return age is None or self.namespace.has_passed(queued.enqueued_at + age, restarts=False)

    def check_deletion(self, entity: Entity, count: int) -> None:
        """BATCH-19, BATCH-20, LIFE-11: check that this many messages may be deleted."""
        settings = entity.settings
        # Nothing is said of sessions, nor of what forwards.
        onward = settings.forward_to or settings.forward_dead_letters_to
        if settings.requires_session and not self.namespace.prefers(
            "BATCH-15", "deleted", to="refused"
        ):
            raise Refusal(v.Error.INVALID_OPERATION, "BATCH-15")
        if onward and self.namespace.prefers("BATCH-15", "refused", to="deleted"):
            raise Refusal(v.Error.INVALID_OPERATION, "BATCH-15")
        if (
            settings.partitioned
            and self.namespace.reading(DeletePartitioned) is DeletePartitioned.REFUSED
        ):
            raise Refusal(v.Error.INVALID_OPERATION, "BATCH-19")
        most = MOST_DELETED_PREMIUM if self.namespace.profile.is_premium else MOST_DELETED
        if count > most and not self.namespace.prefers("BATCH-20", "taken", to="refused"):
            raise Refusal(v.Error.INVALID_OPERATION, "BATCH-20")
        if entity.base.down and not self.namespace.prefers("LIFE-11", "deleted", to="refused"):
            raise self.rules.partitions.outage("LIFE-11")

    def deletable(self, entity: Entity, old: Sequence[QueuedMessage]) -> list[Deletable]:
        """BATCH-16, BATCH-17: return the unlocked messages that are old enough, oldest first.

        The documents do not say whether deferred and scheduled messages are deleted, too, nor when
        the time of a scheduled one begins.
        """
        available: list[Deletable] = [queued for queued in old if queued.state is ACTIVE]
        deferred = (queued for queued in old if queued.state is State.DEFERRED)
        aside: tuple[Deletable, ...] = (*deferred, *entity.scheduled.values())
        if aside and self.namespace.prefers("BATCH-15", "all", to="available"):
            return [*available, *aside]
        return available

    def remove(self, chosen: Deletable) -> None:
        """BATCH-15: delete a message in any state but locked."""
        if isinstance(chosen, ScheduledMessage):
            self.rules.scheduling.drop(chosen, Action.CANCEL)
        elif chosen.state is State.DEFERRED:
            self.rules.messages.consume(chosen, Action.RECEIVE_DEFERRED_AND_DELETE)
        else:
            self.rules.messages.consume(chosen, Action.RECEIVE_AND_DELETE)
