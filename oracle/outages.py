"""Which partitions are down, as far as it is known."""

import attrs

__all__ = ["Outages", "Partitions", "partition_set"]

Partitions = int
"""A set of partitions as a bit mask; bit 0 is partition 0."""

NUMBERS = 1 << 16
"""How many partitions a sequence number can name (LIFE-12)."""


def partition_set(partition: int) -> Partitions:
    """The set with this partition alone; an empty one if no partition can have the number.

    A history may have any number, negative ones and huge ones among them.
    """
    return 1 << partition if 0 <= partition < NUMBERS else 0


@attrs.frozen
class Outages:
    """Which partitions are down, and of which it is not known.

    A client knows that partitions are down, but not which of them holds what (`told` is false).
    """

    told: bool
    down: Partitions = 0
    doubt: Partitions = 0

    @property
    def any(self) -> bool:
        """Whether some partition may be down."""
        return bool(self.down | self.doubt)

    def may_hit(self, where: Partitions) -> bool:
        """Whether one of these partitions may be down."""
        hit = self.down | self.doubt
        return bool(hit & where) if self.told else bool(hit)

    def must_hit(self, where: Partitions) -> bool:
        """Whether all of these partitions are certainly down."""
        return where & ~self.down == 0

    def spared(self, where: Partitions) -> Partitions:
        """Those of the partitions that may be up."""
        return where & ~self.down if self.told else where

    def switched(self, partition: int, *, down: bool) -> "Outages":
        """The outages once this partition was taken down or brought up."""
        bit = partition_set(partition)
        rest = self.down & ~bit
        return Outages(self.told, rest | bit if down else rest, self.doubt & ~bit)

    def doubtful(self, partitions: Partitions) -> "Outages":
        """The outages when these partitions may be down or up."""
        return Outages(self.told, self.down & ~partitions, self.doubt | partitions)
