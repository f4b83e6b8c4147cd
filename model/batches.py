"""BATCH: several messages in one request.

A sent batch is accepted as a whole or not at all, even if only one message is at fault. The
documents do not say what happens to a batch for a partitioned entity if its messages have different
keys (BATCH-KEYS). A batch receive returns at least one message if there is one, and at most as many
as requested.
"""

from collections.abc import Callable

import attrs

from busproof import vocabulary as v
from busproof.model.answers import DONE, EMPTY, Answer
from busproof.model.state import Entity, Namespace
from busproof.model.values import DIRECT, Refusal

__all__ = ["Batches"]


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
        rules.limits.check_message(namespace, message)


def check_keys(namespace: Namespace, entity: Entity, messages: tuple[v.Message, ...]) -> None:
    """BATCH-05, BATCH-06: a batch for a partitioned entity whose keys differ may be refused."""
    if not entity.settings.partitioned:
        return
    namespace.rules.premium.check_batch(namespace, messages)
    keys = {namespace.rules.keys.effective_key(namespace, entity, each) for each in messages}
    if len(keys) > 1 and namespace.reading("BATCH-KEYS", "refused", "split") == "refused":
        raise Refusal(v.Error.INVALID_OPERATION, "BATCH-05")


def receive_batch(namespace: Namespace, command: v.ReceiveBatch, connection: str) -> Answer:
    """BATCH-12 to BATCH-14: give as many messages as requested, or fewer."""
    rules = namespace.rules
    entity = rules.topics.receivable(namespace, command.queue)
    session = rules.sessions.of_receive(namespace, entity, command.session_id, connection)
    given: list[v.MessageView] = []
    for _ in range(namespace.choices.pick("BATCH-12", range(command.count, 0, -1))):
        view = rules.messages.give_next(namespace, entity, session, command.mode, connection)
        if view is None:
            break
        given.append(view)
    if not given:
        return Answer(EMPTY, rules=("BATCH-12",))
    return Answer(v.ReceivedSeveral(messages=tuple(given)), rules=("BATCH-12",))


@attrs.frozen
class Batches:
    """The rules of this family."""

    send_batch: Callable[[Namespace, v.SendBatch, str], Answer] = send_batch
    check: Callable[[Namespace, Entity, tuple[v.Message, ...]], None] = check
    check_keys: Callable[[Namespace, Entity, tuple[v.Message, ...]], None] = check_keys
    receive_batch: Callable[[Namespace, v.ReceiveBatch, str], Answer] = receive_batch
