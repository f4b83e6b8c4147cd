"""SIZE: sizes of entities, and refusals when they are full.

An entity keeps the size that it was created with, unless an update changes it; a partitioned one
has that size in each partition. Everything in a partition counts: locked, deferred, scheduled and
dead-lettered messages, and session states. Each partition fills up by itself: messages whose key
selects a full one are refused while others are accepted, and a message without a key avoids it.
"""

from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.ambiguities import BasicSizes, FullPartition, GbPartitions, SizeUpdate
from busproof.model.family import Family
from busproof.model.state import Entity
from busproof.model.values import Refusal

__all__ = ["Sizes"]

GB: Final = 2**30
"""Bytes in a GB; the documents do not say whether it is 10^9, so between the two both are right."""
STANDARD_SIZES: Final = (1, 2, 3, 4, 5)
PREMIUM_SIZES: Final = (*STANDARD_SIZES, 10, 20, 40, 80)
DEFAULT_SIZE: Final = 1
"""SIZE-03, PREM-09: size in GB of an entity that is created without one."""


class Sizes(Family):
    """The rules of SIZE."""

    def granted_size(self, wanted: int | None) -> int:
        """SIZE-01 to SIZE-03, PREM-07 to PREM-09: return the size in GB of a new entity."""
        premium = self.namespace.profile.is_premium
        sizes = PREMIUM_SIZES if premium else STANDARD_SIZES
        if wanted is None:
            return self.default_size(sizes)
        rule = "PREM-08" if premium else "SIZE-02"
        # No document says how large an entity of a partitioned namespace can be, and not all
        # editions list sizes.
        silent = "PREM-14" if self.namespace.profile.is_partitioned else rule
        if not self.states(rule):
            usual = ("granted", "refused") if wanted in sizes else ("refused", "granted")
            if self.namespace.pick(silent, *usual) == "refused":
                raise Refusal(v.Error.INVALID_OPERATION, rule)
            return wanted
        if wanted not in sizes:
            nearest = sorted(sizes, key=lambda size: abs(size - wanted))
            granted = self.namespace.choices.pick("SIZE-02", (None, *nearest))
            if granted is None:
                raise Refusal(v.Error.INVALID_OPERATION, rule)
            return granted
        return wanted

    def default_size(self, sizes: tuple[int, ...]) -> int:
        """SIZE-03, PREM-09: return the size in GB of an entity that is created without one.

        Not all editions say which of the sizes it is, nor does any of partitioned namespaces. It is
        1 GB where it decides how many partitions there are, of which the profile says the number.
        """
        rule = "PREM-09" if self.namespace.profile.is_premium else "SIZE-03"
        if self.states(rule) or self.namespace.reading(GbPartitions) is GbPartitions.PER_GB:
            return DEFAULT_SIZE
        return self.namespace.choices.pick(rule, sizes)

    def states(self, rule: v.RuleId) -> bool:
        """BASIC-SIZES: return whether a rule on sizes of new entities is stated for the tier."""
        profile = self.namespace.profile
        if profile.tier is v.Tier.BASIC:
            return self.namespace.reading(BasicSizes) is BasicSizes.LIKE_STANDARD
        return not profile.is_partitioned and self.namespace.states(rule)

    def size_after_update(self, entity: Entity, wanted: int | None) -> int:
        """SIZE-16, SIZE-17: return the size in GB of an entity after an update that names one.

        No document says whether an entity can become smaller, or how many partitions it has then
        if they depend on its size (GB-PARTITIONS).
        """
        settings = entity.settings
        if wanted in (None, settings.max_size):
            return settings.max_size
        if self.namespace.reading(SizeUpdate) is SizeUpdate.REFUSED:
            raise Refusal(v.Error.INVALID_OPERATION, "SIZE-17")
        size = self.granted_size(wanted)
        if self.partition_count(partitioned=settings.partitioned, size=size) != len(
            entity.partitions
        ):
            raise Refusal(v.Error.INVALID_OPERATION)
        if size < settings.max_size and self.namespace.prefers("SIZE-16", "refused", to="done"):
            raise Refusal(v.Error.INVALID_OPERATION)
        return size

    def resize(self, entity: Entity, size: int) -> None:
        """SIZE-16: give an entity, its subscriptions and all dead-letter queues another size."""
        capacity = self.capacity(partitioned=entity.settings.partitioned, size=size)
        for owner in (entity, *(entity.subscriptions or ())):
            for part in (owner, owner.dead_letters, owner.transfers):
                if part is not None:
                    self.namespace.journal.touch(part)
                    part.capacity = capacity
                    part.settings = attrs.evolve(part.settings, max_size=size)
        self.rules.forwarding.try_waiting(entity)

    def partition_count(self, *, partitioned: bool, size: int) -> int:
        """SIZE-05, PREM-16, GB-PARTITIONS: return how many partitions an entity has."""
        if not partitioned:
            return 1
        if self.namespace.profile.is_partitioned:
            return self.namespace.profile.partitions
        per_gb = self.namespace.reading(GbPartitions) is GbPartitions.PER_GB
        return self.namespace.profile.partitions * (size if per_gb else 1)

    def capacity(self, *, partitioned: bool, size: int) -> int:
        """SIZE-04, SIZE-06: return how many bytes fit into one partition.

        In a partitioned namespace the size is that of each partition; the documents leave this
        open.
        """
        if self.namespace.profile.is_partitioned:
            return size * GB
        if partitioned and self.namespace.reading(GbPartitions) is GbPartitions.PER_GB:
            return GB
        return size * GB

    def greatest_size(self, entity: Entity) -> int:
        """SIZE-04, SIZE-06, PREM-10: return the maximum size of a whole entity in GB.

        Where SIZE-04 is not stated, nobody says whether it is that of one partition or of all.
        """
        size, profile = entity.settings.max_size, self.namespace.profile
        if not entity.settings.partitioned:
            return size
        whole = size * profile.partitions
        stated = self.namespace.states("SIZE-04") and not profile.is_partitioned
        if stated or profile.tier is v.Tier.BASIC:
            return whole
        return self.namespace.choices.pick("SIZE-04", (whole, size))

    def rules_of_size(self, entity: Entity) -> tuple[v.RuleId, ...]:
        """SIZE-04, SIZE-06, PREM-10: return the rule by which a description tells a size."""
        profile, partitioned = self.namespace.profile, entity.settings.partitioned
        if profile.is_premium:
            rule: v.RuleId = "PREM-10"
            is_silent = partitioned
        else:
            rule = "SIZE-04" if partitioned else "SIZE-06"
            is_silent = False
        return () if is_silent or not self.namespace.states(rule) else (rule,)

    def used(self, entity: Entity) -> int:
        """SIZE-13: return how many bytes an entity uses."""
        return sum(partition.bytes for partition in entity.partitions)

    def has_room(self, entity: Entity, partition: int, size: int) -> bool:
        """SIZE-07 to SIZE-10: return whether a message of this size fits into a partition.

        A full partition accepts nothing, not even an empty message. If partitions are pooled
        (FULL-PARTITION), none is full until all of them together are.
        """
        taken = entity.partitions[partition].bytes + (size or 1)
        if taken * len(entity.partitions) > entity.capacity and not self.is_each_as_large(entity):
            fits = taken <= entity.capacity
            usual = ("room", "full") if fits else ("full", "room")
            return self.namespace.pick("SIZE-07", *usual) == "room"
        if taken <= entity.capacity:
            # If partitions are not pooled, each is limited by its own capacity.
            if self.namespace.known_reading(FullPartition) is not FullPartition.POOLED:
                return True
        elif (
            len(entity.partitions) == 1
            or self.namespace.reading(FullPartition) is FullPartition.PER_PARTITION
        ):
            return False
        return self.used(entity) + (size or 1) <= entity.capacity * len(entity.partitions)

    def is_each_as_large(self, entity: Entity) -> bool:
        """SIZE-07: return whether each partition surely is as large as its entity was asked for.

        Where that is not stated, the size may be that of all of them together, or of none.
        """
        return len(entity.partitions) == 1 or self.namespace.states("SIZE-07")

    def charge(self, entity: Entity, partition: int, size: int) -> None:
        """SIZE-12, SIZE-13, FWD-37: count bytes added to a partition, or removed from it."""
        counters = entity.owner.partitions[partition]
        self.namespace.journal.touch(counters)
        counters.bytes += size
        if size < 0 and entity.owner.awaited_by:
            self.rules.forwarding.try_waiting(entity.owner)
