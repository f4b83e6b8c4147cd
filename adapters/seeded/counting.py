"""How many entities a namespace of the seeded bus takes."""

from typing import Final

from busproof.adapters.seeded.sizing import Sizing
from busproof.vocabulary.commands import CreateQueue
from busproof.vocabulary.outcomes import Outcome, Refused
from busproof.vocabulary.values import Error, Tier

__all__ = ["Counting"]

MOST_PARTITIONED: Final = 100
MOST_ENTITIES: Final = 10_000
OF_A_TOPIC: Final = "/subscriptions/"


class Counting(Sizing):
    """Counts queues and topics and refuses one too many; every method is a hook.

    Partitioned queues and topics share one number, and subscriptions count as nothing.
    """

    def create(self, asked: CreateQueue) -> Outcome:
        """Create a queue, or a topic, unless there are too many."""
        if asked.queue not in self.queues and OF_A_TOPIC not in asked.queue:
            error = self.too_many(asked)
            if error is not None:
                return self.refuse_one_more(asked, error)
        return super().create(asked)

    def refuse_one_more(self, asked: CreateQueue, error: Error) -> Outcome:  # noqa: ARG002
        """Refuse what is one too many."""
        return Refused(error=error)

    def too_many(self, asked: CreateQueue) -> Error | None:
        """Why there are too many entities for one more, if there are."""
        if self.profile.tier is Tier.PREMIUM:
            return self.too_many_in_premium(asked)
        partitioned = asked.partitioned and self.partitioned() >= self.most_partitioned()
        if partitioned or self.is_crowded():
            return Error.QUOTA_EXCEEDED
        return None

    def too_many_in_premium(self, asked: CreateQueue) -> Error | None:
        """Why there are too many where the 10,000 are read to hold in Premium."""
        counts = self.profile.readings.get("QUOTA-PREMIUM") == "counting" and not asked.partitioned
        return Error.QUOTA_EXCEEDED if counts and self.is_crowded() else None

    def most_partitioned(self) -> int:
        """How many partitioned entities there may be."""
        return MOST_PARTITIONED

    def partitioned(self) -> int:
        """How many partitioned queues and topics there are."""
        return sum(
            bool(each.settings.partitioned) for each in self.queues.values() if each.topic is None
        )

    def is_crowded(self) -> bool:
        """Whether there are as many queues and topics as there may be."""
        if len(self.queues) < self.most_entities():
            return False
        return sum(each.topic is None for each in self.queues.values()) >= self.most_entities()

    def most_entities(self) -> int:
        """How many queues and topics there may be."""
        return MOST_ENTITIES
