"""QUOTA: limits on the number of entities in a namespace.

In Basic or Standard a namespace takes 100 partitioned queues and topics, and 10,000 queues and
topics in total. In Premium the documents name 1,000 queues and topics per messaging unit;
QUOTA-PREMIUM decides whether this is the limit, 10,000 is, or there is none. Other ambiguities
decide whether queues and topics share the 100, whether a partitioned entity counts once, and
whether subscriptions count. Counters change with each creation and deletion.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.model.ambiguities import (
    QuotaEntities,
    QuotaExisting,
    QuotaPremium,
    QuotaShared,
    QuotaSubscriptions,
    QuotaWeight,
)
from busproof.model.family import Family
from busproof.model.state import Entity
from busproof.model.values import EntityKind, Refusal

__all__ = ["MOST_PARTITIONED", "Quotas"]

MOST_PARTITIONED: Final = 100
MOST_ENTITIES: Final = 10_000
A_UNIT: Final = 1_000
"""QUOTA-14: number of queues and topics per messaging unit of Premium."""
LEAST_DISPUTED: Final = 1_000
"""QUOTA-ENTITIES: the lower number that the page on quotas gives beside 10,000."""


class Quotas(Family):
    """The rules of QUOTA."""

    def check(self, kind: EntityKind, partitions: int) -> None:
        """QUOTA-01 to QUOTA-15: check that one more entity of a kind can be created."""
        if self.namespace.profile.is_premium:
            self.check_premium(kind, partitions)
            return
        if kind is not EntityKind.SUBSCRIPTION and partitions > 1:
            self.check_partitioned(kind)
        self.check_entities(kind, partitions)

    def check_premium(self, kind: EntityKind, partitions: int) -> None:
        """QUOTA-11 to QUOTA-15: check the limits that QUOTA-PREMIUM gives a Premium namespace.

        Partitioned entities from before may count or not (QUOTA-EXISTING).
        """
        counts, profile = self.namespace.counts, self.namespace.profile
        reading = self.namespace.reading(QuotaPremium)
        counting = reading is QuotaPremium.COUNTING
        if counting and partitions == 1 and counts.regular >= MOST_ENTITIES:
            raise Refusal(v.Error.QUOTA_EXCEEDED, "QUOTA-12")
        limit = A_UNIT * profile.messaging_units
        there = counts.partitioned_queues + counts.partitioned_topics + counts.regular
        full = there >= limit and kind is not EntityKind.SUBSCRIPTION
        if full and counts.regular < limit and not profile.is_partitioned:
            full = self.namespace.reading(QuotaExisting) is QuotaExisting.COUNTED
        if full and reading is QuotaPremium.PER_UNIT:
            raise Refusal(v.Error.QUOTA_EXCEEDED, "QUOTA-15")
        # The page on quotas has a number for Premium, and the article says that none is owed.
        either = full and reading is QuotaPremium.EITHER
        if either and self.namespace.prefers("QUOTA-11", "refused", to="accepted"):
            raise Refusal(v.Error.QUOTA_EXCEEDED, "QUOTA-11")

    def check_partitioned(self, kind: EntityKind) -> None:
        """QUOTA-01 to QUOTA-05: check the limit of 100 partitioned entities (QUOTA-SHARED)."""
        counts = self.namespace.counts
        queue = kind is EntityKind.QUEUE
        there = counts.partitioned_queues if queue else counts.partitioned_topics
        if counts.partitioned_queues + counts.partitioned_topics < MOST_PARTITIONED:
            return
        if there < MOST_PARTITIONED:
            if self.namespace.reading(QuotaShared) is QuotaShared.SEPARATE:
                return
            raise Refusal(v.Error.QUOTA_EXCEEDED, "QUOTA-04")
        raise Refusal(v.Error.QUOTA_EXCEEDED, "QUOTA-02" if queue else "QUOTA-03")

    def check_entities(self, kind: EntityKind, partitions: int) -> None:
        """QUOTA-07 to QUOTA-10: check the limit of 10,000 entities, as the readings count them.

        One page gives 1,000, too (QUOTA-ENTITIES). Those cannot be partitions: 100 partitioned
        queues alone, which every edition allows (QUOTA-01), have 1,600.
        """
        counts = self.namespace.counts
        entities = counts.partitioned_queues + counts.partitioned_topics + counts.regular
        self.check_most(kind, entities, 1, LEAST_DISPUTED)
        if self.namespace.reading(QuotaWeight) is QuotaWeight.ONE:
            self.check_most(kind, entities, 1, MOST_ENTITIES)
        else:
            weight = 1 if kind is EntityKind.SUBSCRIPTION else partitions
            self.check_most(kind, counts.stores, weight, MOST_ENTITIES)

    def check_most(self, kind: EntityKind, there: int, weight: int, most: int) -> None:
        """QUOTA-08, QUOTA-10: check that there is room for one more entity of this weight.

        Whether subscriptions take any is open (QUOTA-SUBSCRIPTIONS).
        """
        subscriptions = self.namespace.counts.subscriptions
        if there + subscriptions + weight <= most:
            return
        # No reading is chosen before it matters.
        disputed = most == LEAST_DISPUTED
        if disputed and self.namespace.reading(QuotaEntities) is QuotaEntities.TEN_THOUSAND:
            return
        if kind is not EntityKind.SUBSCRIPTION and there + weight > most:
            raise Refusal(v.Error.QUOTA_EXCEEDED, "QUOTA-08")
        if self.namespace.reading(QuotaSubscriptions) is QuotaSubscriptions.COUNTED:
            raise Refusal(v.Error.QUOTA_EXCEEDED, "QUOTA-10")

    def count(self, entity: Entity, one: int) -> None:
        """QUOTA-05 to QUOTA-07: count an entity that was created (1) or deleted (-1)."""
        counts = self.namespace.counts
        self.namespace.journal.touch(counts)
        if entity.kind is EntityKind.SUBSCRIPTION:
            counts.subscriptions += one
            return
        counts.stores += one * len(entity.partitions)
        if not entity.settings.partitioned:
            counts.regular += one
        elif entity.kind is EntityKind.QUEUE:
            counts.partitioned_queues += one
        else:
            counts.partitioned_topics += one
