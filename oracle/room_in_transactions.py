"""Room for what is sent in a transaction: for all of it together, or for nothing (SIZE-14)."""

from collections.abc import Iterator

import attrs

from busproof import vocabulary as v
from busproof.oracle.filling import may_be_full
from busproof.oracle.fullness import no_room, surely_full
from busproof.oracle.outages import Partitions
from busproof.oracle.room import least
from busproof.oracle.state import Namespace, Queue, Staged
from busproof.oracle.stored import Key
from busproof.oracle.transition import Sighting, Transition

__all__ = ["lacks_room", "no_room_within"]


def no_room_within(
    namespace: Namespace,
    queue: Queue,
    message: v.Message,
    key: Key | None,
    where: Partitions,
) -> Iterator[Transition]:
    """SIZE-14: refused because there is no room beside what waits in the transaction.

    Args:
        namespace: before it.
        queue: what the message is for.
        message: what is sent or scheduled.
        key: its key, if it has one.
        where: the partitions that may be chosen for it.
    """
    for refused in no_room(namespace, queue, message, key, where):
        yield attrs.evolve(refused, rules=("SIZE-14", *refused.rules))


def lacks_room(namespace: Namespace, staged: list[Staged], seen: Sighting) -> tuple[bool, bool]:
    """SIZE-14: whether a commit may find no room for what was sent, and whether it surely does."""
    sent: dict[str, list[Staged]] = {}
    for each in staged:
        if each.queue in namespace.queues:
            sent.setdefault(each.queue, []).append(each)
    found = [
        _lacks(namespace, namespace.queues[name], messages, seen) for name, messages in sent.items()
    ]
    return any(may for may, _ in found), any(surely for _, surely in found)


def _lacks(
    namespace: Namespace, queue: Queue, staged: list[Staged], seen: Sighting
) -> tuple[bool, bool]:
    where = 0
    for each in staged:
        where |= each.where
    if not may_be_full(namespace, queue, where, 0):
        return False, False
    if not isinstance(seen.outcome, v.Done | None):
        return True, False
    return True, _surely_lacks(namespace, queue, staged)


def _surely_lacks(namespace: Namespace, queue: Queue, staged: list[Staged]) -> bool:
    """Whether what was sent of one key, but for its largest message, fills the partition.

    Not where some of it may be dropped as a copy, or be sent to a queue that was there before.
    """
    keys = {each.key for each in staged if each.waiting is None}
    if queue.settings.duplicate_detection or len(keys) != 1:
        return False
    if any(each.born != queue.managed.born for each in staged):
        return False
    sizes = [least(each.message) for each in staged if each.waiting is None]
    key, where = staged[0].key, staged[-1].where
    room, size = queue.room, sum(sizes) - max(sizes)
    held = room.held.set(where, room.held.get(where, 0) + size)
    own = room.keys if key is None else room.keys.set(key, room.keys.get(key, 0) + size)
    fuller = attrs.evolve(queue, room=attrs.evolve(room, held=held, keys=own))
    return surely_full(namespace, fuller, where, key)
