"""DLQ: messages that failed too often, or that a receiver gave up, with the reason.

Each queue and subscription has a dead-letter queue, which comes and goes with it. A dead letter is
a new message there, with the properties that its sender set and the reason beside them; it stays
until a receiver removes it. Nothing can be sent to a dead-letter queue, and nothing is dead-
lettered twice. At no time is a message in both.
"""

from collections.abc import Callable

import attrs

from busproof import vocabulary as v
from busproof.model.state import Entity, Namespace, QueuedMessage
from busproof.model.values import DIRECT, InTransit, Refusal

__all__ = ["DeadLetters"]


def check_source(namespace: Namespace, entity: Entity) -> None:
    """DLQ-10: a message of a dead-letter queue is not dead-lettered again."""
    if entity.dead_letters is None:
        raise Refusal(v.Error.INVALID_OPERATION, "DLQ-10")


def has_failed_too_often(namespace: Namespace, queued: QueuedMessage) -> bool:
    """DLQ-02, DLQ-03, DLQ-09: whether a message was delivered as often as it may be.

    Whether the limit has to be reached or exceeded is read by MAX-DELIVERIES.
    """
    entity = queued.entity
    if entity.dead_letters is None:
        return False
    most = entity.settings.max_delivery_count
    if queued.failed == most:
        return namespace.reading("MAX-DELIVERIES", "exactly", "one-more") == "exactly"
    return queued.failed > most


def dead_letter(namespace: Namespace, queued: QueuedMessage, reason: str) -> None:
    """DLQ-05, DLQ-06, DLQ-14: move a message to the dead-letter queue of its entity.

    Whether its deliveries there are counted beside those before is read by DEAD-LETTER-COUNT.
    """
    readings = ("anew", "kept")
    kept = namespace.reading("DEAD-LETTER-COUNT", *readings) == "kept"
    transit = DIRECT._replace(reason=reason, failed=queued.failed if kept else 0)
    namespace.rules.messages.remove(namespace, queued)
    namespace.rules.dead_letters.bury(
        namespace, queued.entity, queued.message, queued.partition, transit
    )


def bury(
    namespace: Namespace, entity: Entity, message: v.Message, partition: int, transit: InTransit
) -> None:
    """DLQ-08, DLQ-13, FWD-35: put a message among the dead letters, or where they are forwarded.

    Whether it stays in its partition is read by DLQ-PARTITIONS.
    """
    rules, dlq = namespace.rules, entity.dead_letters
    if dlq is None:
        raise AssertionError("only messages of queues and subscriptions are dead-lettered")
    if dlq.settings.forward_to is not None:
        rules.forwarding.forward_dead_letter(namespace, dlq, message, partition, transit)
        return
    rules.messages.enqueue(namespace, dlq, message, partition, transit)


@attrs.frozen
class DeadLetters:
    """The rules of this family."""

    check_source: Callable[[Namespace, Entity], None] = check_source
    has_failed_too_often: Callable[[Namespace, QueuedMessage], bool] = has_failed_too_often
    dead_letter: Callable[[Namespace, QueuedMessage, str], None] = dead_letter
    bury: Callable[[Namespace, Entity, v.Message, int, InTransit], None] = bury
