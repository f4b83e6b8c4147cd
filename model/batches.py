"""BATCH: several messages in one request.

A batch is accepted as a whole or not at all, even if only one of its messages is at fault. The
documents do not say what happens to a batch for a partitioned entity if its messages have different
keys (BATCH-KEYS). A batch receive returns at least one message if there is one, and at most as many
as requested. A batch deletion deletes messages without receiving them: at most as many as
requested, and none that are locked.
"""

from collections.abc import Callable
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, EMPTY, Answer
from busproof.model.life_cycle import Action
from busproof.model.state import Entity, Namespace, QueuedMessage
from busproof.model.values import DIRECT, Refusal

__all__ = ["Batches"]

MOST_DELETED: Final = 500
MOST_DELETED_PREMIUM: Final = 4000


def send_batch(namespace: Namespace, command: v.SendBatch, connection: str) -> Answer:
    """BATCH-01 to BATCH-04, BATCH-08 to BATCH-11: accept all messages of a batch, or none."""
    rules, messages = namespace.rules, command.messages
    entity = rules.topics.sendable(namespace, command.queue)
    if command.transaction is not None:
        return rules.transactions.send(namespace, entity, messages, command.transaction)
    rules.batches.check(namespace, entity, messages)
    partitions = set()
    for message in messages:
        key = rules.messages.key_of(namespace, entity, message)
        partition = rules.keys.place(namespace, entity, key, message.size or 0, command.timeout)
        rules.messages.accept(namespace, entity, message, key, partition, DIRECT)
        partitions.add(partition)
    return Answer(DONE, partitions.pop() if len(partitions) == 1 else None, ("BATCH-01",))


def check(namespace: Namespace, entity: Entity, messages: tuple[v.Message, ...]) -> None:
    """BATCH-01, BATCH-07: check that a batch has messages and is not too large."""
    rules = namespace.rules
    if not messages:
        raise Refusal(v.Error.INVALID_OPERATION, "BATCH-01")
    if len(messages) > 1:
        rules.limits.check_batch(namespace, messages)
        rules.batches.check_keys(namespace, entity, messages)
    for message in messages:
        rules.limits.check_message(namespace, message)  # one at fault refuses all


def check_keys(namespace: Namespace, entity: Entity, messages: tuple[v.Message, ...]) -> None:
    """BATCH-05, BATCH-06: refuse different keys in a batch for a partitioned entity."""
    if not entity.settings.partitioned:
        return
    namespace.rules.premium.check_batch(namespace, messages)
    keys = {namespace.rules.keys.effective_key(namespace, entity, message) for message in messages}
    if len(keys) > 1 and namespace.reading("BATCH-KEYS", "refused", "split") == "refused":
        raise Refusal(v.Error.INVALID_OPERATION, "BATCH-05")


def receive_batch(namespace: Namespace, command: v.ReceiveBatch, connection: str) -> Answer:
    """BATCH-12 to BATCH-14: give the requested number of messages, or as many as there are."""
    rules = namespace.rules
    entity = rules.topics.receivable(namespace, command.queue)
    session = rules.sessions.of_receive(namespace, entity, command.session_id, connection)
    views: list[v.MessageView] = []
    for _ in range(namespace.choices.pick("BATCH-12", range(command.count, 0, -1))):
        view = rules.messages.give_next(namespace, entity, session, command.mode, connection)
        if view is None:
            break
        views.append(view)
    if not views:
        return Answer(EMPTY, rules=("BATCH-12",))
    return Answer(v.ReceivedSeveral(messages=tuple(views)), rules=("BATCH-12",))


def delete_batch(namespace: Namespace, command: v.DeleteBatch, connection: str) -> Answer:
    """BATCH-15 to BATCH-20: delete the requested number of messages, or as many as there are.

    The documents do not say what a partitioned entity answers (DELETE-PARTITIONED), nor one that
    requires sessions, nor what happens if more messages are requested than the tier permits.
    """
    rules = namespace.rules
    entity = rules.topics.receivable(namespace, command.queue)
    rules.batches.check_deletion(namespace, entity, command.count)
    deletable = rules.batches.deletable(namespace, entity, command.age)
    count = namespace.choices.pick("BATCH-18", range(min(command.count, len(deletable)), -1, -1))
    for _ in range(count):
        queued = namespace.choices.pick("BATCH-15", deletable)
        deletable.remove(queued)
        rules.messages.consume(namespace, queued, Action.RECEIVE_AND_DELETE)
    return Answer(v.Deleted(count=count), rules=("BATCH-15",))


def check_deletion(namespace: Namespace, entity: Entity, count: int) -> None:
    """BATCH-19, BATCH-20, LIFE-11: check that this many messages of an entity may be deleted."""
    rules, settings = namespace.rules, entity.settings
    if settings.requires_session:
        raise Refusal(v.Error.INVALID_OPERATION)
    choice = ("DELETE-PARTITIONED", "refused", "deleted")
    if settings.partitioned and namespace.reading(*choice) == "refused":
        raise Refusal(v.Error.INVALID_OPERATION, "BATCH-19")
    most = MOST_DELETED_PREMIUM if namespace.profile.is_premium else MOST_DELETED
    if count > most and namespace.choices.pick("BATCH-20", ("refused", "taken")) == "refused":
        raise Refusal(v.Error.INVALID_OPERATION, "BATCH-20")
    if entity.base.down:
        raise rules.partitions.outage(namespace, "LIFE-11")


def deletable(namespace: Namespace, entity: Entity, age: int | None) -> list[QueuedMessage]:
    """BATCH-16, BATCH-17: return the messages that are unlocked and old enough, oldest first."""
    return [
        queued
        for partition in entity.partitions
        for queued in partition.line.available(entity.messages)
        if age is None or queued.enqueued_at + age <= namespace.now
    ]


@attrs.frozen
class Batches:
    """Functions that decide the BATCH rules; a mutant replaces one of them."""

    send_batch: Callable[[Namespace, v.SendBatch, str], Answer] = send_batch
    check: Callable[[Namespace, Entity, tuple[v.Message, ...]], None] = check
    check_keys: Callable[[Namespace, Entity, tuple[v.Message, ...]], None] = check_keys
    receive_batch: Callable[[Namespace, v.ReceiveBatch, str], Answer] = receive_batch
    delete_batch: Callable[[Namespace, v.DeleteBatch, str], Answer] = delete_batch
    check_deletion: Callable[[Namespace, Entity, int], None] = check_deletion
    deletable: Callable[[Namespace, Entity, int | None], list[QueuedMessage]] = deletable
