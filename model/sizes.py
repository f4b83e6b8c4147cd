"""SIZE: sizes of entities, and refusals when they are full.

An entity keeps the size that it was created with; a partitioned one has that size in each
partition. Everything in a partition counts: locked, deferred, scheduled and dead-lettered messages,
and session states. Each partition fills up by itself: messages whose key selects a full one are
refused while others are accepted, and a message without a key avoids it.
"""

from collections.abc import Callable
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.model.state import Entity, Namespace
from busproof.model.values import Refusal

__all__ = ["Sizes"]

GB: Final = 2**30
"""Bytes in a GB; the documents do not say whether it is 10^9, so between the two both are right."""
STANDARD_SIZES: Final = (1, 2, 3, 4, 5)
PREMIUM_SIZES: Final = (*STANDARD_SIZES, 10, 20, 40, 80)
DEFAULT_SIZE: Final = 1
"""SIZE-03, PREM-09: size of an entity that is created without one, in GB."""


def granted_size(namespace: Namespace, wanted: int | None) -> int:
    """SIZE-01 to SIZE-03, PREM-07 to PREM-09: return the size in GB of a new entity."""
    if wanted is None:
        return DEFAULT_SIZE
    premium = namespace.profile.is_premium
    if wanted not in (PREMIUM_SIZES if premium else STANDARD_SIZES):
        raise Refusal(v.Error.INVALID_OPERATION, "PREM-08" if premium else "SIZE-02")
    return wanted


def partition_count(namespace: Namespace, *, partitioned: bool, size: int) -> int:
    """SIZE-05, PREM-16, GB-PARTITIONS: return how many partitions an entity of this size has."""
    if not partitioned:
        return 1
    if namespace.profile.is_partitioned:
        return namespace.profile.partitions
    per_gb = namespace.reading("GB-PARTITIONS", "sixteen", "per-gb") == "per-gb"
    return namespace.profile.partitions * (size if per_gb else 1)


def capacity(namespace: Namespace, *, partitioned: bool, size: int) -> int:
    """SIZE-04, SIZE-06: return how many bytes fit into one partition.

    In a partitioned namespace the size is that of each partition; the documents leave this open.
    """
    if namespace.profile.is_partitioned:
        return size * GB
    if partitioned and namespace.reading("GB-PARTITIONS", "sixteen", "per-gb") == "per-gb":
        return GB
    return size * GB


def greatest_size(namespace: Namespace, entity: Entity) -> int:
    """SIZE-04, SIZE-06, PREM-10: return the maximum size of a whole entity in GB."""
    settings = entity.settings
    return settings.max_size * (namespace.profile.partitions if settings.partitioned else 1)


def used(namespace: Namespace, entity: Entity) -> int:
    """SIZE-13: return how many bytes an entity uses."""
    return sum(partition.bytes for partition in entity.partitions)


def has_room(namespace: Namespace, entity: Entity, partition: int, size: int) -> bool:
    """SIZE-07 to SIZE-10: return whether a message of this size fits into a partition.

    A full partition accepts nothing, not even an empty message. If partitions are pooled
    (FULL-PARTITION), none is full until all of them together are.
    """
    name, readings = "FULL-PARTITION", ("per-partition", "pooled")
    if entity.partitions[partition].bytes + (size or 1) <= entity.capacity:
        # If partitions are not pooled, each is limited by its own capacity.
        taken = namespace.readings.get(name) or namespace.profile.readings.get(name)
        if taken != "pooled":
            return True
    elif len(entity.partitions) == 1 or namespace.reading(name, *readings) == "per-partition":
        return False
    return used(namespace, entity) + (size or 1) <= entity.capacity * len(entity.partitions)


def charge(namespace: Namespace, entity: Entity, partition: int, size: int) -> None:
    """SIZE-12, SIZE-13: count bytes added to a partition, or removed from it."""
    counters = entity.owner.partitions[partition]
    namespace.journal.touch(counters)
    counters.bytes += size


@attrs.frozen
class Sizes:
    """Functions that decide the SIZE rules; a mutant replaces one of them."""

    granted_size: Callable[[Namespace, int | None], int] = granted_size
    partition_count: Callable[..., int] = partition_count
    capacity: Callable[..., int] = capacity
    greatest_size: Callable[[Namespace, Entity], int] = greatest_size
    used: Callable[[Namespace, Entity], int] = used
    has_room: Callable[[Namespace, Entity, int, int], bool] = has_room
    charge: Callable[[Namespace, Entity, int, int], None] = charge
