"""FWD: messages, and dead letters, that go on to another entity.

An entity that forwards holds nothing that it is sent: each message goes on at once, keeps its
properties, and is placed by its key as if it was sent to the destination. It is forwarded four
times in a row at most. What cannot go on is not lost: it is dead-lettered by its source, or kept in
the source's transfer dead-letter queue (FORWARD-FAILED).
"""

from collections.abc import Callable
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.state import NO_PARTITIONS, Entity, Namespace
from busproof.model.values import EntityKind, EntitySettings, InTransit, Key, Refusal

__all__ = ["Forwarding"]

TOO_FAR: Final = "MaxTransferHopCountExceeded"
"""The reason of what was forwarded too often; of the other reasons none is documented."""
MOST_DEAD_LETTERS: Final = 4
"""How often in a row a message goes on as a dead letter: entities may forward in a circle."""


def check_settings(namespace: Namespace, settings: EntitySettings) -> None:
    """FWD-25, FWD-29: an entity forwards to what exists, and not if it requires sessions."""
    if settings.forward_to is not None and settings.requires_session:
        raise Refusal(v.Error.INVALID_OPERATION, "FWD-25")
    for path in (settings.forward_to, settings.forward_dead_letters_to):
        if path is not None:
            destination = namespace.entities.get(path)
            if destination is None or not is_destination(destination):
                raise Refusal(v.Error.INVALID_OPERATION, "FWD-29")


def is_destination(entity: Entity) -> bool:
    """TOPIC-06, DLQ-11: whether messages can be sent, and so forwarded, to an entity."""
    return entity.kind in (EntityKind.QUEUE, EntityKind.TOPIC)


def forward(
    namespace: Namespace, source: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """FWD-01 to FWD-05, FWD-14 to FWD-18: let a message go on to the destination of its source."""
    rules = namespace.rules
    reason: str | None = TOO_FAR
    if transit.hops < rules.forwarding.most_hops(namespace):
        onward = InTransit(transit.hops + 1, transit.dead_letters, transit.reason)
        reason = rules.forwarding.deliver(namespace, source, message, onward)
    if reason is not None:
        rules.forwarding.keep(namespace, source, message, partition, transit, reason)


def most_hops(namespace: Namespace) -> int:
    """FWD-16 to FWD-18: how often a message is forwarded in a row (FORWARD-HOPS)."""
    return 4 if namespace.reading("FORWARD-HOPS", "four", "three") == "four" else 3


def forward_dead_letter(
    namespace: Namespace, source: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """FWD-35, FWD-36: let a dead letter go on with its reason; one that cannot stays."""
    reason: str | None = TOO_FAR
    if transit.dead_letters < MOST_DEAD_LETTERS:
        onward = InTransit(0, transit.dead_letters + 1, transit.reason)
        reason = namespace.rules.forwarding.deliver(namespace, source, message, onward)
    if reason is not None:
        namespace.rules.messages.enqueue(namespace, source, message, partition, transit)


def deliver(
    namespace: Namespace, source: Entity, message: v.Message, onward: InTransit
) -> str | None:
    """FWD-07 to FWD-13, FWD-19 to FWD-21: hand a message to the destination, or say why not.

    Its life begins anew there (FORWARD-LIFETIME).
    """
    rules = namespace.rules
    destination = namespace.entities.get(source.settings.forward_to or "")
    if destination is None:
        return "DestinationNotFound"
    if not destination.status.takes:
        return "DestinationDisabled"
    key = rules.forwarding.key_of(namespace, source, destination, message)
    place = rules.forwarding.place(namespace, destination, message, key)
    if place is None:
        return "DestinationFull"
    rules.messages.accept(namespace, destination, message, key, place, onward)
    return None


def key_of(
    namespace: Namespace, source: Entity, destination: Entity, message: v.Message
) -> Key | None:
    """FWD-08 to FWD-12: the key of a message at its destination, as if it was sent there.

    A MessageId that was the key at the source may pin the message where it is none
    (FORWARD-MESSAGE-ID).
    """
    rules = namespace.rules
    key = rules.keys.effective_key(namespace, destination, message)
    if key is None and message.message_id is not None and destination.settings.partitioned:
        before = rules.keys.effective_key(namespace, source, message)
        readings = ("not-a-key", "key")
        if before is not None and namespace.reading("FORWARD-MESSAGE-ID", *readings) == "key":
            return before
    return key


def place(
    namespace: Namespace, destination: Entity, message: v.Message, key: Key | None
) -> int | None:
    """FWD-08, FWD-09, FWD-21, FWD-22, FWD-24: the partition of a forwarded message with room.

    A message whose partition is down waits in it until that is up again.
    """
    rules, size = namespace.rules, message.size or 0
    if key is not None:
        home = rules.keys.home(namespace, destination, key)
        return home if rules.sizes.has_room(namespace, destination, home, size) else None
    chosen = rules.keys.any_partition(namespace, destination, destination.base.down)
    if chosen is None:
        chosen = rules.keys.any_partition(namespace, destination, NO_PARTITIONS)
    if chosen is not None and rules.sizes.has_room(namespace, destination, chosen, size):
        return chosen
    for number in range(len(destination.partitions)):
        if rules.sizes.has_room(namespace, destination, number, size):
            return number
    return None


def keep(
    namespace: Namespace,
    source: Entity,
    message: v.Message,
    partition: int,
    transit: InTransit,
    reason: str,
) -> None:
    """FWD-17 to FWD-21, FWD-32: keep what cannot go on among the dead letters of its source.

    Two pages name two places for it (FORWARD-FAILED).
    """
    rules, failed = namespace.rules, transit._replace(reason=reason)
    readings, transfers = ("transfer", "dead-letter"), source.transfers
    if transfers is not None and namespace.reading("FORWARD-FAILED", *readings) == "transfer":
        rules.messages.enqueue(namespace, transfers, message, partition, failed)
    else:
        rules.dead_letters.bury(namespace, source, message, partition, failed)


def strand(
    namespace: Namespace, entity: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """FWD-27: dead-letter a message without SessionId that reached an entity requiring one."""
    failed = transit._replace(reason="SessionIdMissing")
    namespace.rules.dead_letters.bury(namespace, entity, message, partition, failed)


@attrs.frozen
class Forwarding:
    """The rules of this family."""

    check_settings: Callable[[Namespace, EntitySettings], None] = check_settings
    forward: Callable[[Namespace, Entity, v.Message, int, InTransit], None] = forward
    most_hops: Callable[[Namespace], int] = most_hops
    forward_dead_letter: Callable[[Namespace, Entity, v.Message, int, InTransit], None] = (
        forward_dead_letter
    )
    deliver: Callable[[Namespace, Entity, v.Message, InTransit], str | None] = deliver
    key_of: Callable[[Namespace, Entity, Entity, v.Message], Key | None] = key_of
    place: Callable[[Namespace, Entity, v.Message, Key | None], int | None] = place
    keep: Callable[[Namespace, Entity, v.Message, int, InTransit, str], None] = keep
    strand: Callable[[Namespace, Entity, v.Message, int, InTransit], None] = strand
