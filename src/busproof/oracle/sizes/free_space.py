"""Sends that are refused for lack of room, alone or in a transaction (SIZE-07 to SIZE-14)."""

from collections.abc import Iterator

import attrs

from busproof import vocabulary as v
from busproof.oracle.messages.releasing import without_perhaps_spent
from busproof.oracle.outages import Partitions
from busproof.oracle.queued_messages import Key
from busproof.oracle.rule_lists import rules_if
from busproof.oracle.schedule import Calendar
from busproof.oracle.sizes.entity_size import (
    MOST_GB,
    all_may_be_full,
    bits,
    capacity,
    dead_letter_storage,
    may_be_full,
    weight,
)
from busproof.oracle.state import (
    NEVER,
    Namespace,
    Queue,
    Staged,
    Topic,
    everywhere,
    feeding,
    with_queue,
)
from busproof.oracle.storage_used import Room, least
from busproof.oracle.transition import Observation, Transition, refusal


def with_room(
    namespace: Namespace,
    queue: Queue,
    message: v.Message,
    key: Key | None,
    spared: Partitions,
    observed: Observation,
) -> Partitions:
    """SIZE-07, SIZE-09, SIZE-10: return those of the partitions that may accept the message."""
    # A copy of an earlier message is dropped and uses no storage, so it may always be accepted.
    copied = message.message_id in queue.copies
    # Room matters only if the message was accepted, or may be.
    if copied or not isinstance(observed.outcome, v.Done | None):
        return spared
    # No partition is surely full below one GB, which spares most sends the sums.
    if _surely_held(queue.room, dead_letter_storage(namespace, queue), queue.calendar) < MOST_GB:
        return spared
    if _surely_full(namespace, queue, spared, key):
        return 0
    return sum(bit for bit in bits(spared) if not _surely_full(namespace, queue, bit, key))


def _surely_full(namespace: Namespace, queue: Queue, where: Partitions, key: Key | None) -> bool:
    """Return whether these partitions, or that of the key, surely have no room left.

    A message that may have expired, or may be a dead letter in any partition, does not count.
    """
    if namespace.observability.left_out or isinstance(queue.role, Topic) or not where:
        return False
    # Any of its messages may have expired and freed its storage.
    if queue.managed.lifetimes_ever.earliest < NEVER:
        return False
    if not _is_full(namespace, queue, where, key):
        return False
    return _is_full(namespace, without_perhaps_spent(namespace, queue), where, key)


def _is_full(namespace: Namespace, queue: Queue, where: Partitions, key: Key | None) -> bool:
    room, dead = queue.room, dead_letter_storage(namespace, queue)
    limits = capacity(namespace, queue.settings)
    partition, whole = limits.partition[1], limits.whole[1]
    # Without an upper bound on its size, nothing is ever surely full.
    if partition is None or whole is None:
        return False
    # An unanswered receive may have removed a message, or a dead letter.
    dlq = namespace.queues.get(queue.settings.queue + v.DEAD_LETTERS)
    lost_beyond = 0 if dlq is None else dlq.receivers.lost
    lost = queue.receivers.lost * room.largest + lost_beyond * dead.largest
    # A message with a time to live may have expired.
    lost += room.mortal + dead.mortal
    used = _surely_held(room, dead, queue.calendar) - queue.calendar.mortal
    if used - lost >= whole:
        return True
    # Under the other readings the partition may use room of the others.
    if namespace.reading("FULL-PARTITION", "per-partition") != "per-partition":
        return False
    if key is not None and room.keys.get(key, 0) - lost >= partition:
        return True
    return all(
        room.certain.get(bit, 0) + dead.certain.get(bit, 0) - lost >= partition
        for bit in bits(where)
    )


def _surely_held(room: Room, dead: Room, calendar: Calendar) -> int:
    """Return the least number of bytes that a queue and its dead letters use."""
    return sum((*room.certain.values(), *dead.certain.values(), calendar.size))


def no_room(
    namespace: Namespace,
    queue: Queue,
    message: v.Message,
    key: Key | None,
    where: Partitions,
    *,
    within: bool = False,
) -> Iterator[Transition]:
    """SIZE-07, SIZE-09 to SIZE-11: refuse because the quota is exceeded, and for no other reason.

    SIZE-14: in a transaction, its other messages may use the storage already. They are counted as
    arrived.

    Args:
        namespace: the state before the send.
        queue: the destination.
        message: the sent message.
        key: its key, if it has one.
        where: the partitions that may be chosen for it.
        within: whether it is sent in a transaction.
    """
    # Dead letters may have been forwarded here unseen and fill the entity.
    if any(feeding(namespace, queue.settings.queue)):
        # No rule is credited, because the storage in use is unknown.
        yield refusal(namespace, v.Error.QUOTA_EXCEEDED, *rules_if((within, "SIZE-14")))
        return
    size = weight(queue, message)
    if not may_be_full(namespace, queue, where, size):
        return
    up = where & ~(queue.outages.down | queue.outages.doubt)
    goes_round = namespace.reading("FULL-UNKEYED") == "goes-round"
    # A message without a key goes to a partition that is not full (FULL-UNKEYED).
    if key is None and goes_round and not all_may_be_full(namespace, queue, up, size):
        return
    room, partitioned = queue.room, queue.settings.partitioned
    everything = everywhere(namespace, queue.settings)
    whole = not partitioned or (key is None and _surely_full(namespace, queue, everything, None))
    rules = rules_if(
        (within, "SIZE-14"),
        (partitioned, "SIZE-09" if key is None else "SIZE-07"),
        (whole, "SIZE-10"),
        (_is_by_others(namespace, queue, size, where), "SIZE-13"),
        (True, "SIZE-11"),
    )
    full = room.full | where if where.bit_count() == 1 else room.full
    known = attrs.evolve(room, full=full, refused=room.refused.set(key, False))
    noted = with_queue(namespace, attrs.evolve(queue, room=known))
    yield refusal(noted, v.Error.QUOTA_EXCEEDED, *rules)


def _is_by_others(namespace: Namespace, queue: Queue, size: int, where: Partitions) -> bool:
    """Return whether only locked, deferred, scheduled or dead-lettered messages fill the entity."""
    room = queue.room
    dead = dead_letter_storage(namespace, queue).certain
    apart = sum((*room.apart.values(), *dead.values(), queue.calendar.size))
    if apart <= 0:
        return False
    # The check is repeated as if so many bytes had never arrived in these partitions.
    arrived = {
        partitions: max(0, taken - apart)
        for partitions, taken in room.arrived.items()
        if partitions & where
    }
    less = attrs.evolve(
        room, arrived=room.arrived.update(arrived), taken=max(0, room.taken - apart)
    )
    return not may_be_full(namespace, attrs.evolve(queue, room=less), where, size)


def why_taken(queue: Queue, key: Key | None, where: Partitions) -> tuple[v.RuleId, ...]:
    """SIZE-08, SIZE-09, SIZE-12: return the rules that acceptance exercises after a refusal."""
    room = queue.room
    any_place = key is None and queue.settings.partitioned and len(room.refused)
    beside = not any_place and room.full and where.bit_count() == 1 and not where & room.full
    return rules_if((room.refused.get(key), "SIZE-12"), (any_place, "SIZE-09"), (beside, "SIZE-08"))


def taken_in(queue: Queue, key: Key | None, where: Partitions) -> Queue:
    """Return the queue after a message was accepted, so that its partition is not full."""
    room = queue.room
    if not len(room.refused):
        return queue
    refused = room.refused.delete(key) if key in room.refused else room.refused
    return attrs.evolve(queue, room=attrs.evolve(room, full=room.full & ~where, refused=refused))


def lacks_room(
    namespace: Namespace, staged: list[Staged], observed: Observation
) -> tuple[bool, bool]:
    """SIZE-14: return whether a commit may lack room, and whether it surely does."""
    sent: dict[str, list[Staged]] = {}
    for send in staged:
        if send.queue in namespace.queues:
            sent.setdefault(send.queue, []).append(send)
    perhaps_full = []
    for name, messages in sent.items():
        queue, where = namespace.queues[name], 0
        for message in messages:
            where |= message.where
        if may_be_full(namespace, queue, where, 0):
            perhaps_full.append((queue, messages))
    matters = isinstance(observed.outcome, v.Done | None)
    return bool(perhaps_full), matters and any(
        _surely_lacks(namespace, queue, messages) for queue, messages in perhaps_full
    )


def _surely_lacks(namespace: Namespace, queue: Queue, staged: list[Staged]) -> bool:
    """Return whether these sends have one key and surely fill its partition without the largest.

    It is not sure if some may be dropped as copies, or went to an earlier queue of this name.
    """
    keys = {send.key for send in staged if send.waiting is None}
    if queue.settings.duplicate_detection or len(keys) != 1:
        return False
    if any(send.born != queue.managed.born for send in staged):
        return False
    # The bus may accept the message that crosses the limit, so the largest is left out.
    sizes = [least(send.message) for send in staged if send.waiting is None]
    key, where = staged[0].key, staged[-1].where
    room, size = queue.room, sum(sizes) - max(sizes)
    by_partition = room.certain.set(where, room.certain.get(where, 0) + size)
    own = room.keys if key is None else room.keys.set(key, room.keys.get(key, 0) + size)
    fuller = attrs.evolve(queue, room=attrs.evolve(room, certain=by_partition, keys=own))
    return _surely_full(namespace, fuller, where, key)
