"""SIZE: how large entities are, and what is refused for want of room.

An entity has the size it was created with; a partitioned one has that size in each partition. What
lies in a partition counts towards it whatever its state: locked, deferred, scheduled, dead-lettered
messages and the state of sessions. A partition is full for itself: keys that select it are refused
while others are accepted, and a message without key goes round it.
"""

from collections.abc import Callable
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.state import Entity, Namespace
from busproof.model.values import Refusal

__all__ = ["Sizes"]

GB: Final = 2**30
"""Whether a GB is 10^9 bytes instead is not said; between the two either is possible."""
STANDARD_SIZES: Final = (1, 2, 3, 4, 5)
PREMIUM_SIZES: Final = (*STANDARD_SIZES, 10, 20, 40, 80)
DEFAULT_SIZE: Final = 1
"""SIZE-01, SIZE-03, PREM-07, PREM-09: in GB."""


def granted_size(namespace: Namespace, asked: int | None) -> int:
    """SIZE-01 to SIZE-03, PREM-07 to PREM-09: the size in GB that an entity gets."""
    if asked is None:
        return DEFAULT_SIZE
    premium = namespace.profile.tier is v.Tier.PREMIUM
    if asked not in (PREMIUM_SIZES if premium else STANDARD_SIZES):
        raise Refusal(v.Error.INVALID_OPERATION, "PREM-08" if premium else "SIZE-02")
    return asked


def partition_count(namespace: Namespace, *, partitioned: bool, size: int) -> int:
    """SIZE-05, GB-PARTITIONS: how many partitions an entity of this size has."""
    if not partitioned:
        return 1
    per_gb = namespace.reading("GB-PARTITIONS", "sixteen", "per-gb") == "per-gb"
    return namespace.profile.partitions * (size if per_gb else 1)


def capacity(namespace: Namespace, *, partitioned: bool, size: int) -> int:
    """SIZE-04, SIZE-06: how many bytes fit into one partition."""
    if partitioned and namespace.reading("GB-PARTITIONS", "sixteen", "per-gb") == "per-gb":
        return GB
    return size * GB


def greatest_size(namespace: Namespace, entity: Entity) -> int:
    """SIZE-04, SIZE-06, PREM-10: the greatest size of a whole entity in GB."""
    settings = entity.settings
    return settings.max_size * (namespace.profile.partitions if settings.partitioned else 1)


def used(namespace: Namespace, entity: Entity) -> int:
    """SIZE-13: how many bytes an entity holds."""
    return sum(partition.bytes for partition in entity.partitions)


def has_room(namespace: Namespace, entity: Entity, partition: int, size: int) -> bool:
    """SIZE-07 to SIZE-10: whether a message of this size fits into a partition.

    A partition that is full takes nothing, not even what has no size. Where the partitions are
    pooled (FULL-PARTITION), only all of them together can be full, and then none has room.
    """
    name, readings = "FULL-PARTITION", ("per-partition", "pooled")
    if entity.partitions[partition].bytes + (size or 1) <= entity.capacity:
        # Before the partitions are pooled, none holds more than its own.
        taken = namespace.readings.get(name) or namespace.profile.readings.get(name)
        if taken != "pooled":
            return True
    elif len(entity.partitions) == 1 or namespace.reading(name, *readings) == "per-partition":
        return False
    return used(namespace, entity) + (size or 1) <= entity.capacity * len(entity.partitions)


def charge(namespace: Namespace, entity: Entity, partition: int, size: int) -> None:
    """SIZE-12, SIZE-13: count bytes that come into a partition, or leave it."""
    counters = entity.owner.partitions[partition]
    namespace.journal.touch(counters)
    counters.bytes += size


@attrs.frozen
class Sizes:
    """The rules of this family."""

    granted_size: Callable[[Namespace, int | None], int] = granted_size
    partition_count: Callable[..., int] = partition_count
    capacity: Callable[..., int] = capacity
    greatest_size: Callable[[Namespace, Entity], int] = greatest_size
    used: Callable[[Namespace, Entity], int] = used
    has_room: Callable[[Namespace, Entity, int, int], bool] = has_room
    charge: Callable[[Namespace, Entity, int, int], None] = charge
