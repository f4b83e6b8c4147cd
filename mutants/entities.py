"""Questions about entities and messages that the mutants of several families have."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.model.state import Entity, Namespace, Partition, QueuedMessage
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
    """Return whether an entity has the option of partitions."""
    return entity.settings.partitioned


def siblings(entity: Entity) -> tuple[Entity, ...]:
    """Return all subscriptions of a subscription's topic, of anything else the entity alone."""
    there = entity.base.subscriptions if is_subscription(entity) else None
    return there or (entity,)


def partitions_up(entity: Entity) -> list[Partition]:
    """Return the partitions of an entity that are not down."""
    return [
        partition for partition in entity.partitions if partition.number not in entity.base.down
    ]


def switched(namespace: Namespace, command: Switch) -> list[Entity]:
    """Return the entities whose partition a command takes down or brings up."""
    there = namespace.entities.values()
    return [entity for entity in there if entity.base.path == command.queue]


def held(entity: Entity, partition: int) -> Iterator[QueuedMessage]:
    """Yield the messages of a partition; none may be removed meanwhile."""
    return (queued for queued in entity.messages.values() if queued.partition == partition)


def message_of(entity: Entity | None, token: str) -> QueuedMessage | None:
    """Return the message that was once locked under a token, whatever its lock now."""
    number = token.partition("/")[0]
    return entity.messages.get(int(number)) if entity and number.isdecimal() else None


def once_locked(namespace: Namespace, command: v.Settlement | v.RenewLock) -> QueuedMessage | None:
    """Return the message that was once locked under the token of a command, if it exists."""
    return message_of(namespace.entities.get(command.queue), command.lock_token)
