"""FWD: automatic forwarding of messages and dead letters to another entity.

An entity that forwards stores none of its messages. Each is forwarded at once, keeps its
properties, and its key selects a partition as if it had been sent to the destination. A message is
forwarded at most four times in a row. One that cannot be forwarded is not lost: its source
dead-letters it, or keeps it in the transfer dead-letter queue (FORWARD-FAILED).
"""

from collections.abc import Callable
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.state import NO_PARTITIONS, Entity, Namespace
from busproof.model.values import EntitySettings, InTransit, Key, Refusal

__all__ = ["Forwarding"]

TOO_FAR: Final = "MaxTransferHopCountExceeded"
"""Dead-letter reason of a message that was forwarded too often; no other reason is documented."""
MOST_DEAD_LETTERS: Final = 4
"""Maximum number of hops of a dead letter, because entities may forward in a circle."""


def check_settings(namespace: Namespace, settings: EntitySettings) -> None:
    """FWD-25, FWD-29: check that the destination exists and the source requires no sessions."""
    if settings.forward_to is not None and settings.requires_session:
        raise Refusal(v.Error.INVALID_OPERATION, "FWD-25")
    for path in (settings.forward_to, settings.forward_dead_letters_to):
        if path is not None:
            destination = namespace.entities.get(path)
            # Neither subscriptions nor dead-letter queues accept messages (TOPIC-06, DLQ-11).
            if destination is None or destination.base is not destination:
                raise Refusal(v.Error.INVALID_OPERATION, "FWD-29")


def forward(
    namespace: Namespace, source: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """FWD-01 to FWD-05, FWD-14 to FWD-18: forward a message to the destination of its source."""
    rules = namespace.rules
    reason: str | None = TOO_FAR
    if transit.hops < rules.forwarding.most_hops(namespace):
        onward = InTransit(transit.hops + 1, transit.dead_letters, transit.reason)
        reason = rules.forwarding.deliver(namespace, source, message, onward)
    if reason is not None:
        rules.forwarding.keep(namespace, source, message, partition, transit, reason)


def most_hops(namespace: Namespace) -> int:
    """FWD-16 to FWD-18: return how often in a row a message may be forwarded (FORWARD-HOPS)."""
    return 4 if namespace.reading("FORWARD-HOPS", "four", "three") == "four" else 3


def forward_dead_letter(
    namespace: Namespace, source: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """FWD-35, FWD-36: forward a dead letter with its reason, or keep it if that is impossible."""
    reason: str | None = TOO_FAR
    if transit.dead_letters < MOST_DEAD_LETTERS:
        onward = InTransit(0, transit.dead_letters + 1, transit.reason)
        reason = namespace.rules.forwarding.deliver(namespace, source, message, onward)
    if reason is not None:
        namespace.rules.messages.enqueue(namespace, source, message, partition, transit)


def deliver(
    namespace: Namespace, source: Entity, message: v.Message, onward: InTransit
) -> str | None:
    """FWD-07 to FWD-13, FWD-19 to FWD-21: deliver a message, or return the reason why it stays.

    At the destination its time to live starts again (FORWARD-LIFETIME).
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
    """FWD-08 to FWD-12: return the key of a message at its destination, as if it were sent there.

    A MessageId that was the key at the source may keep the message in its partition even if the
    destination has no duplicate detection (FORWARD-MESSAGE-ID).
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
    """FWD-08, FWD-09, FWD-21, FWD-22, FWD-24: return the partition for a forwarded message.

    It is `None` if no partition has room. In a partition that is down, the message waits.
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
    """FWD-17 to FWD-21, FWD-32: keep a message that cannot be forwarded as a dead letter.

    Two pages of the documents name different places for it (FORWARD-FAILED).
    """
    rules, failed = namespace.rules, transit._replace(reason=reason)
    readings, transfers = ("transfer", "dead-letter"), source.transfers
    if transfers is not None and namespace.reading("FORWARD-FAILED", *readings) == "transfer":
        rules.messages.enqueue(namespace, transfers, message, partition, failed)
    else:
        rules.dead_letters.enqueue(namespace, source, message, partition, failed)


def reject_sessionless(
    namespace: Namespace, entity: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """FWD-27: dead-letter a message without SessionId at an entity that requires sessions."""
    failed = transit._replace(reason="SessionIdMissing")
    namespace.rules.dead_letters.enqueue(namespace, entity, message, partition, failed)


@attrs.frozen
class Forwarding:
    """Functions that decide the FWD rules; a mutant replaces one of them."""

    check_settings: Callable[[Namespace, EntitySettings], None] = check_settings
    forward: Callable[[Namespace, Entity, v.Message, int, InTransit], None] = forward
    most_hops: Callable[[Namespace], int] = most_hops
    forward_dead_letter: Callable[..., None] = forward_dead_letter
    deliver: Callable[[Namespace, Entity, v.Message, InTransit], str | None] = deliver
    key_of: Callable[[Namespace, Entity, Entity, v.Message], Key | None] = key_of
    place: Callable[[Namespace, Entity, v.Message, Key | None], int | None] = place
    keep: Callable[[Namespace, Entity, v.Message, int, InTransit, str], None] = keep
    reject_sessionless: Callable[..., None] = reject_sessionless
