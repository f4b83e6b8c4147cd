"""Partitions that are down, as far as is known."""

import attrs

Partitions = int
"""A set of partitions as a bit mask; bit 0 is partition 0."""

NUMBERS = 1 << 16
"""How many partitions a sequence number can name (LIFE-12)."""


def partition_set(partition: int) -> Partitions:
    """The set with this partition alone; the empty set if no partition can have the number.

    A history may have any number, negative ones and huge ones among them.
    """
    return 1 << partition if 0 <= partition < NUMBERS else 0


@attrs.frozen
class Outages:
    """Partitions that are down, or may be.

    A client may know that partitions are down without knowing which messages they hold
    (`identified` is false).
    """

    identified: bool
    down: Partitions = 0
    doubt: Partitions = 0

    @property
    def any(self) -> bool:
        """Whether some partition may be down."""
        return bool(self.down | self.doubt)

    def may_hit(self, where: Partitions) -> bool:
        """Return whether one of these partitions may be down."""
        # An observer who cannot tell partitions apart does not know what an outage hits.
        hit = self.down | self.doubt
        return bool(hit & where) if self.identified else bool(hit)

    def must_hit(self, where: Partitions) -> bool:
        """Return whether all of these partitions are certainly down."""
        return where & ~self.down == 0

    def spared(self, where: Partitions) -> Partitions:
        """Return the partitions among these that may be up."""
        return where & ~self.down if self.identified else where

    def switched(self, partition: int, *, down: bool) -> "Outages":
        """Return the outages after this partition was taken down or brought up."""
        bit = partition_set(partition)
        rest = self.down & ~bit
        return Outages(self.identified, rest | bit if down else rest, self.doubt & ~bit)

    def doubtful(self, partitions: Partitions) -> "Outages":
        """Return the outages if these partitions may be down or up."""
        return Outages(self.identified, self.down & ~partitions, self.doubt | partitions)
