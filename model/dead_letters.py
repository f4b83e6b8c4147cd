"""DLQ: messages that failed too often, or that a receiver dead-lettered with a reason.

Each queue and subscription has a dead-letter queue, which is created and deleted with it. A dead
letter is a new message there, with the properties that its sender set and the reason; it stays
until a receiver removes it. Nothing can be sent to a dead-letter queue, and a dead letter cannot be
dead-lettered again. A message is never in both queues.
"""

from busproof import vocabulary as v
from busproof.model.ambiguities import DeadLetterCount, MaxDeliveries
from busproof.model.family import Family
from busproof.model.state import Entity, QueuedMessage
from busproof.model.values import DIRECT, EntityKind, InTransit, Refusal

__all__ = ["DeadLetters"]


class DeadLetters(Family):
    """The rules of DLQ."""

    def check_source(self, entity: Entity) -> None:
        """DLQ-10: refuse to dead-letter a message that is a dead letter already.

        Of the transfer dead-letter queue nothing is said; there the message may also be dropped.
        """
        transfers = entity.kind is EntityKind.TRANSFERS
        if transfers and self.namespace.prefers("DLQ-10", "dropped", to="refused"):
            return
        if entity.dead_letters is None:
            raise Refusal(v.Error.INVALID_OPERATION, "DLQ-10")

    def has_failed_too_often(self, queued: QueuedMessage) -> bool:
        """DLQ-02, DLQ-03, DLQ-09: return whether a message has used up its deliveries.

        MAX-DELIVERIES decides whether its entity's maximum must be reached or exceeded.
        """
        entity = queued.entity
        if entity.dead_letters is None:
            return False
        most = entity.settings.max_delivery_count
        if queued.failed == most:
            return self.namespace.reading(MaxDeliveries) is MaxDeliveries.EXACTLY
        return queued.failed > most

    def dead_letter(self, queued: QueuedMessage, reason: str) -> None:
        """DLQ-05, DLQ-06, DLQ-14: move a message to the dead-letter queue of its entity.

        DEAD-LETTER-COUNT decides whether the delivery count continues or starts again.
        """
        kept = self.namespace.reading(DeadLetterCount) is DeadLetterCount.KEPT
        transit = DIRECT._replace(reason=reason, failed=queued.failed if kept else 0)
        self.rules.messages.remove(queued)  # first: never in both queues
        self.enqueue(queued.entity, queued.message, queued.partition, transit)

    def enqueue(
        self, entity: Entity, message: v.Message, partition: int, transit: InTransit
    ) -> None:
        """DLQ-08, DLQ-13, FWD-35: add a message to the dead-letter queue, or forward it from there.

        DLQ-PARTITIONS decides whether it stays in its partition.
        """
        dlq = entity.dead_letters
        if dlq is None:
            raise AssertionError("only messages of queues and subscriptions are dead-lettered")
        if dlq.settings.forward_to is not None:
            self.rules.forwarding.forward_dead_letter(dlq, message, partition, transit)
            return
        self.rules.messages.enqueue(dlq, message, partition, transit)
