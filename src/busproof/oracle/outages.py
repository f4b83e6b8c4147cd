"""Partitions that are down, as far as an observer can know."""

import attrs

Partitions = int
"""A set of partitions as a bit mask; bit 0 is partition 0."""

NUMBERS = 1 << 16
"""How many partitions a sequence number can name (LIFE-12)."""


def partition_set(partition: int) -> Partitions:
    """Return the set with this partition alone; the empty set for a number out of range.

    A history may contain any number, including negative and huge ones.
    """
    return 1 << partition if 0 <= partition < NUMBERS else 0


@attrs.frozen
class Outages:
    """Partitions of an entity that are surely down (`down`) or may be (`doubt`).

    `identified` is false for a client that knows that partitions are down, but not which messages
    they contain.
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
        # An observer who cannot identify partitions does not know which messages an outage affects.
        hit = self.down | self.doubt
        return bool(hit & where) if self.identified else bool(hit)

    def must_hit(self, where: Partitions) -> bool:
        """Return whether all of these partitions are certainly down."""
        return where & ~self.down == 0

    def spared(self, where: Partitions) -> Partitions:
        """Return these partitions without those that are surely down."""
        return where & ~self.down if self.identified else where

    def switched(self, partition: int, *, down: bool) -> "Outages":
        """Return the outages after this partition was taken down or brought up."""
        bit = partition_set(partition)
        # The client took the partition down or brought it up, so it is in doubt no longer.
        rest = self.down & ~bit
        return Outages(self.identified, rest | bit if down else rest, self.doubt & ~bit)

    def doubtful(self, partitions: Partitions) -> "Outages":
        """Return the outages in which each of these partitions may be down or up."""
        return Outages(self.identified, self.down & ~partitions, self.doubt | partitions)
