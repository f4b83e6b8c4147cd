"""What the model's own bus offers to a receive: the oldest messages, and word of their locks."""

import heapq
from collections.abc import Iterator
from operator import attrgetter
from typing import Any, Final

from busproof.oracle.keys import SESSION_ID
from busproof.oracle.ledger import first_in_line, first_ready
from busproof.oracle.sessions import session_at
from busproof.oracle.sighting import sequence_number
from busproof.oracle.state import Namespace, Queue
from busproof.oracle.stored import Key, Stored

__all__ = ["heads", "told_of_lock"]

KEYS_OFFERED: Final = 64
"""How many keys a queue may have for the first message of each to be offered.

Of more there are only the oldest of each partition, so that a receive does not grow with the keys.
"""


def heads(queue: Queue, session_id: str | None) -> Iterator[Stored]:
    """What a bus of its own may offer, the oldest first; what comes later is not looked for before.

    Of a session only its first message.
    """
    if session_id is not None:
        first = first_in_line(queue, Key(SESSION_ID, session_id))
        if first is not None:
            yield first
        return
    if not len(queue.lines):
        yield from _of_partitions(queue)
        return
    given = -1
    for head in heapq.merge(_of_partitions(queue), _of_keys(queue), key=attrgetter("number")):
        if head.number != given:
            given = head.number
            yield head


def _of_partitions(queue: Queue) -> Iterator[Stored]:
    """The oldest message of each partition, the oldest of all first.

    None is older than the smallest entry of its heap, so that most heaps need not be tidied.
    """
    waiting = [(heap[1], where) for where, heap in queue.ready.items() if heap is not None]
    heapq.heapify(waiting)
    while waiting:
        number, where = waiting[0]
        first = first_ready(queue, where)
        if first is None:
            heapq.heappop(waiting)
        elif first.number == number:
            heapq.heappop(waiting)
            yield first
        else:
            heapq.heapreplace(waiting, (first.number, where))


def _of_keys(queue: Queue) -> list[Stored]:
    """The oldest message of each key, the oldest of all first, unless there are many keys."""
    if len(queue.lines) > KEYS_OFFERED:
        return []
    heads = (first_in_line(queue, line) for line in queue.lines)
    return sorted((head for head in heads if head is not None), key=attrgetter("number"))


def told_of_lock(
    namespace: Namespace, queue: Queue, session_id: str | None, stored: Stored
) -> dict[str, Any]:
    """What a receiver is told of the lock that it gets."""
    until = namespace.now.earliest + queue.settings.lock_duration
    if session_id is not None:
        until = session_at(queue, session_id).expiry.earliest
    return {
        "delivery_count": stored.counted + 1,
        "lock_token": f"{sequence_number(stored)}/{stored.deliveries + 1}",
        "locked_until": until,
    }
