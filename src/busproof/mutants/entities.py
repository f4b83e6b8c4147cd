"""Questions about entities and messages that mutants of several families ask."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.model.rules import Namespace
from busproof.model.state import Entity, Partition, QueuedMessage
from busproof.model.values import EntityKind

Switch = v.TakePartitionDown | v.BringPartitionUp
"""The command that starts or ends an outage of a partition."""


def is_topic(entity: Entity | None) -> bool:
    """Return whether an entity is a topic."""
    return entity is not None and entity.kind is EntityKind.TOPIC


def is_subscription(entity: Entity | None) -> bool:
    """Return whether an entity is a subscription."""
    return entity is not None and entity.kind is EntityKind.SUBSCRIPTION


def is_partitioned(entity: Entity) -> bool:
    """Return whether an entity is partitioned."""
    return entity.settings.partitioned


def siblings(entity: Entity) -> tuple[Entity, ...]:
    """Return all subscriptions of a subscription's topic; for any other entity, only itself."""
    there = entity.base.subscriptions if is_subscription(entity) else None
    return there or (entity,)


def partitions_up(entity: Entity) -> list[Partition]:
    """Return the partitions of an entity that are not down."""
    return [
        partition for partition in entity.partitions if partition.number not in entity.base.down
    ]


def find_switched(namespace: Namespace, command: Switch) -> list[Entity]:
    """Return the entities with the partition that a command takes down or brings up."""
    there = namespace.entities.values()
    return [entity for entity in there if entity.base.path == command.queue]


def messages_in(entity: Entity, partition: int) -> Iterator[QueuedMessage]:
    """Yield the messages in a partition; do not remove messages while iterating."""
    return (queued for queued in entity.messages.values() if queued.partition == partition)


def message_of(entity: Entity | None, token: str) -> QueuedMessage | None:
    """Return the message that a lock token was given for, whether or not it is still locked."""
    number = token.partition("/")[0]
    return entity.messages.get(int(number)) if entity and number.isdecimal() else None


def find_once_locked(
    namespace: Namespace, command: v.Settlement | v.RenewLock
) -> QueuedMessage | None:
    """Return the message that the token in a command was given for, if it still exists."""
    return message_of(namespace.entities.get(command.queue), command.lock_token)
