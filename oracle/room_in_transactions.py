"""Room for what is sent in a transaction: for all of it together, or for nothing (SIZE-14)."""

from collections.abc import Iterator

import attrs

from busproof.oracle.filling import bits, has_plenty, has_room, may_be_full
from busproof.oracle.fullness import no_room, surely_full
from busproof.oracle.limits import waiting_for
from busproof.oracle.outages import Partitions
from busproof.oracle.room import least
from busproof.oracle.state import Namespace, Queue, Staged, Transaction
from busproof.oracle.stored import Key
from busproof.oracle.transition import Sighting, Transition
from busproof.vocabulary.messages import Message
from busproof.vocabulary.outcomes import Done

__all__ = ["has_room_within", "lacks_room", "no_room_within"]


def no_room_within(
    namespace: Namespace,
    queue: Queue,
    transaction: Transaction,
    message: Message,
    key: Key | None,
    where: Partitions,
) -> Iterator[Transition]:
    """SIZE-14: refused because there is no room beside what waits in the transaction.

    Args:
        namespace: before it.
        queue: what the message is for.
        transaction: in which it is sent or scheduled.
        message: the message.
        key: its key, if it has one.
        where: the partitions that may be chosen for it.
    """
    staged = _waiting(namespace, queue, transaction)
    for refused in no_room(namespace, queue, message, key, where, staged):
        yield attrs.evolve(refused, rules=("SIZE-14", *refused.rules))


def has_room_within(
    namespace: Namespace,
    queue: Queue,
    transaction: Transaction,
    message: Message,
    where: Partitions,
) -> bool:
    """Whether a bus of its own has room for the message; a judge waits for the commit."""
    if not namespace.vantage.decides:
        return True
    size = _waiting(namespace, queue, transaction) + least(message)
    if has_plenty(namespace, queue, size):
        return True
    return any(has_room(namespace, queue, bit, size) for bit in bits(where))


def _waiting(namespace: Namespace, queue: Queue, transaction: Transaction) -> int:
    """How many bytes wait in the transaction for the queue, where a bus of its own counts them."""
    if not namespace.vantage.decides or has_plenty(namespace, queue, transaction.bytes):
        return 0
    return waiting_for(transaction, queue.settings.queue)


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
    if namespace.vantage.decides:
        lacks = _own_lacks(namespace, queue, staged)
        return lacks, lacks
    where = 0
    for each in staged:
        where |= each.where
    if not may_be_full(namespace, queue, where, 0):
        return False, False
    if not isinstance(seen.outcome, Done | None):
        return True, False
    return True, _surely_lacks(namespace, queue, staged)


def _own_lacks(namespace: Namespace, queue: Queue, staged: list[Staged]) -> bool:
    sizes: dict[Partitions, int] = {}
    for each in staged:
        sizes[each.where] = sizes.get(each.where, 0) + least(each.message)
    return any(
        not any(has_room(namespace, queue, bit, size) for bit in bits(where))
        for where, size in sizes.items()
    )


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
