"""Sizes of entities by tier and request, and when a partition may be full.

The documents do not say whether a GB is 10^9 or 2^30 bytes, so between the two a partition may be
full or not. A full partition is not down: it gives its messages, and refuses only those that it has
no room for.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.oracle.outages import Partitions
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.state import Namespace, Queue, Topic, everywhere, feeding
from busproof.oracle.storage_used import NO_ROOM_TAKEN, Room, most
from busproof.oracle.transition import Transition, refusal

STANDARD_SIZES: Final = (1, 2, 3, 4, 5)
"""SIZE-01: the sizes that Standard offers, in GB."""
PREMIUM_SIZES: Final = (*STANDARD_SIZES, 10, 20, 40, 80)
"""PREM-07: the sizes that Premium offers, in GB."""
DEFAULT_SIZE: Final = 1
"""SIZE-03, PREM-09: the size of an entity that is created without one, in GB."""

LEAST_GB: Final = 10**9
MOST_GB: Final = 2**30


@attrs.frozen
class Capacity:
    """Least and greatest capacity in bytes of one partition, and of the whole entity.

    A greatest value that is not known is `None`.
    """

    partition: tuple[int, int | None]
    whole: tuple[int, int | None]


def _sizes(profile: v.Profile) -> tuple[int, ...]:
    """SIZE-02, PREM-08: return the sizes in GB that the documents list for the tier."""
    if profile.tier is v.Tier.PREMIUM:
        return () if "PREM-08" in profile.silent else PREMIUM_SIZES
    if profile.tier is v.Tier.BASIC:
        like_standard = profile.readings.get("BASIC-SIZES") == "like-standard"
        return STANDARD_SIZES if like_standard else ()
    return () if "SIZE-02" in profile.silent else STANDARD_SIZES


def granted_sizes(profile: v.Profile, command: v.CreateQueue) -> tuple[int | None, ...]:
    """SIZE-01 to SIZE-03: return the sizes in GB that the queue may get; `None` is unknown."""
    sizes = _sizes(profile)
    # The documents list no sizes, so the bus may take any.
    if not sizes:
        return (command.max_size,)
    if command.max_size is None:
        return (DEFAULT_SIZE,)
    # A size that is not listed may be refused, or replaced by any that is.
    return (command.max_size,) if command.max_size in sizes else sizes


def may_refuse_size(profile: v.Profile, command: v.CreateQueue) -> bool:
    """SIZE-02: return whether a queue may be refused because the tier lacks its size."""
    return command.max_size is not None and command.max_size not in _sizes(profile)


def told_size(namespace: Namespace, settings: v.CreateQueue) -> int | None:
    """SIZE-04, SIZE-06, PREM-10: return the size in GB that a description reports, if known."""
    if not _sizes(namespace.profile) or settings.max_size is None:
        return None
    if settings.partitioned and namespace.profile.tier is v.Tier.PREMIUM:
        # The documents do not give it for partitioned entities from before the tier forbade them.
        return None
    silent = namespace.profile.tier is v.Tier.STANDARD and "SIZE-04" in namespace.profile.silent
    if settings.partitioned and silent:
        # The edition may list sizes without saying which one a partitioned entity reports.
        return None
    return settings.max_size * (namespace.profile.partitions if settings.partitioned else 1)


def is_neither_size(namespace: Namespace, settings: v.CreateQueue, reported: int | None) -> bool:
    """SIZE-04: return whether a reported size is neither that of one partition nor that of all.

    Which of the two a partitioned entity reports, not all editions say. Of Basic, and of what
    Premium still has from before, they say nothing.
    """
    size, profile = settings.max_size, namespace.profile
    silent = profile.tier is v.Tier.BASIC or (profile.is_premium and not profile.is_partitioned)
    if None in (size, reported) or silent or not settings.partitioned:
        return False
    return reported not in (size, (size or 0) * profile.partitions)


def of_size(namespace: Namespace, settings: v.CreateQueue) -> tuple[v.RuleId, ...]:
    """Return the rules that decide the size of an entity."""
    standard = namespace.profile.tier is v.Tier.STANDARD
    premium = namespace.profile.tier is v.Tier.PREMIUM
    # An entity of another size says nothing about the default.
    default = settings.max_size == DEFAULT_SIZE
    return rules_if(
        (standard, "SIZE-04" if settings.partitioned else "SIZE-06"),
        (standard and default, "SIZE-03"),
        (premium, "PREM-10"),
        (premium and default, "PREM-09"),
        (True, "PREM-07" if premium else "SIZE-01"),
    )


def no_other_size(namespace: Namespace) -> v.RuleId:
    """Return the rule that excludes all other sizes in this tier."""
    return "PREM-08" if namespace.profile.tier is v.Tier.PREMIUM else "SIZE-02"


def wrong_size(
    namespace: Namespace, settings: v.CreateQueue, reported: int
) -> tuple[v.RuleId, ...]:
    """Return the rules that this reported size in GB breaks, the most specific first."""
    # A description reports the size of all partitions together (SIZE-04).
    parts = told_size(namespace, attrs.evolve(settings, max_size=1)) or 1
    another = reported % parts == 0 and reported // parts in _sizes(namespace.profile)
    premium = namespace.profile.tier is v.Tier.PREMIUM
    default = settings.max_size == DEFAULT_SIZE
    return rules_if(
        (another and default, "PREM-09" if premium else "SIZE-03"),
        (another and not default, "PREM-07" if premium else "SIZE-01"),
        (True, *of_size(namespace, settings)),
    )


def capacity(namespace: Namespace, settings: v.CreateQueue) -> Capacity:
    """SIZE-04, SIZE-06, GB-PARTITIONS: return how much fits into the entity, as far as known."""
    if settings.partitioned:
        return _of_partitions(namespace, settings)
    known = _asked(namespace, settings)
    return Capacity(known, known)


def _asked(namespace: Namespace, settings: v.CreateQueue) -> tuple[int, int | None]:
    """Return the bounds in bytes of the size that was requested; `None` if not known."""
    size, profile = settings.max_size or DEFAULT_SIZE, namespace.profile
    listed = profile.tier is not v.Tier.BASIC or _sizes(profile)
    known = settings.max_size is not None and listed
    # Without a known size there is no upper bound, so the entity is never surely full.
    return size * LEAST_GB, size * MOST_GB if known else None


def _of_partitions(namespace: Namespace, settings: v.CreateQueue) -> Capacity:
    profile, size = namespace.profile, settings.max_size or DEFAULT_SIZE
    least, most = _asked(namespace, settings)
    if "SIZE-07" in profile.silent:
        # The documents do not say whether the size is that of a partition or of the whole entity.
        return Capacity((least // profile.partitions, None), (least, None))
    if profile.tier is v.Tier.PREMIUM:
        # How much an entity from before the tier forbade partitioning holds is not documented.
        most = None
    reading = profile.readings.get("GB-PARTITIONS", "sixteen")
    of_all = None if most is None else most * profile.partitions
    return Capacity(
        partition=(
            least if reading == "sixteen" else least // size,
            most // size if reading == "per-gb" and most is not None else most,
        ),
        whole=(least * profile.partitions, of_all),
    )


def bits(where: Partitions) -> Iterator[Partitions]:
    """Yield each of these partitions as a set of one."""
    while where:
        lowest = where & -where
        yield lowest
        where ^= lowest


def dead_letter_storage(namespace: Namespace, queue: Queue) -> Room:
    """SIZE-13: return the storage that the queue's dead letters use, which its quota includes."""
    dead = namespace.queues.get(queue.settings.queue + v.DEAD_LETTERS)
    return NO_ROOM_TAKEN if dead is None else dead.room


def weight(queue: Queue, message: v.Message) -> int:
    """Return the greatest number of bytes that a message may use in an entity.

    A topic may store the message itself, and a copy for each subscription and each rule with an
    action.
    """
    role = queue.role
    copies = 1 + len(role.subscriptions) + role.copiers if isinstance(role, Topic) else 1
    return copies * most(message)


def may_be_full(namespace: Namespace, queue: Queue, where: Partitions, size: int) -> bool:
    """SIZE-07, SIZE-10: return whether one of these partitions may lack room for `size` bytes.

    The bus may find that a partition is full one message earlier or later.
    """
    if any(feeding(namespace, queue.settings.queue)):
        # Dead letters that nobody has seen yet may use its storage.
        return True
    room, dead = queue.room, dead_letter_storage(namespace, queue)
    size = max(size, room.largest)
    there = room.taken + dead.taken + size
    if there <= LEAST_GB // namespace.profile.partitions:
        # This is less than the capacity of any partition, and spares the sums below.
        return False
    limits = capacity(namespace, queue.settings)
    if there <= limits.partition[0]:
        return False
    reading = namespace.reading("FULL-PARTITION")
    whole = there > limits.whole[0]
    # Where partitions share their room, none is full before the whole entity is, and then each is.
    if reading == "pooled" or (reading == "either" and whole):
        return whole
    # A copy need not be in the same partition as the topic's message.
    if isinstance(queue.role, Topic):
        return True
    return bool(where) and size + _fullest(room, dead, where) > limits.partition[0]


def may_be_full_somewhere(namespace: Namespace, queue: Queue) -> bool:
    """Return whether some partition may lack room for a message as large as the largest so far."""
    return may_be_full(namespace, queue, everywhere(namespace, queue.settings), 0)


def all_may_be_full(namespace: Namespace, queue: Queue, where: Partitions, size: int) -> bool:
    """Return whether each of these partitions may lack room for `size` bytes."""
    return all(may_be_full(namespace, queue, bit, size) for bit in bits(where))


def perhaps_full(namespace: Namespace, queue: Queue, message: v.Message) -> Iterator[Transition]:
    """Yield a refusal for lack of room beside a refusal of the message for another reason.

    The documents do not say which of several reasons a bus names.
    """
    where = everywhere(namespace, queue.settings)
    if may_be_full(namespace, queue, where, weight(queue, message)):
        yield refusal(namespace, v.Error.QUOTA_EXCEEDED)


def _fullest(room: Room, dead: Room, where: Partitions) -> int:
    """Return the most bytes in any of these partitions, with removed messages counted.

    Dead letters count here if they may be in another partition than before.
    """
    strayed = (
        (partitions, size)
        for partitions, size in dead.arrived.items()
        if partitions.bit_count() > 1
    )
    by_partition: dict[Partitions, int] = {}
    for partitions, size in chain(room.arrived.items(), strayed):
        known = partitions & where
        # Usually the partition is known, and each send checks every partition: so the loop is
        # avoided.
        for bit in (known,) if known.bit_count() == 1 else bits(known):
            by_partition[bit] = by_partition.get(bit, 0) + size
    return max(by_partition.values(), default=0)
