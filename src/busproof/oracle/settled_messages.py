"""Compression of what a queue remembers of messages that it no longer holds.

However few messages a queue holds, the judge remembers the bodies, lock tokens and sequence numbers
of all that were ever there. From time to time, those of settled messages are compressed, and their
entries are removed from the heaps, where they would stay until they reach the front. The cost for
each message is constant.
"""

from typing import Final

from immutables import Map

from busproof.oracle.entity import Queue
from busproof.oracle.evolve import evolve
from busproof.oracle.heap import filtered

__all__ = ["with_packed_past"]

AT_LEAST: Final = 8_000
"""Number of entries that are compressed at once at least: less would compress badly."""

_AWAITED: Final = "SCHED-01"
"""Rule that keeps a body away only until its time."""


def with_packed_past(queue: Queue) -> Queue:
    """Return the same queue, after compressing what belongs to settled messages, if that is due."""
    if _unpacked(queue) < max(queue.packing_due, AT_LEAST):
        return queue
    messages = queue.messages

    def has_gone(number: int) -> bool:
        return number not in messages

    def is_here(number: int) -> bool:
        return number in messages

    def is_over(token: str, number: int) -> bool:
        stored = messages.get(number)
        return stored is None or stored.lock is None or stored.lock.token != token

    def is_settled(_: str, known: object) -> bool:
        return all(map(has_gone, known)) if isinstance(known, tuple) else known != _AWAITED

    packed = evolve(
        queue,
        bodies=queue.bodies.packed(is_settled),
        tokens=queue.tokens.packed(is_over),
        numbers=queue.numbers.packed(lambda _, number: has_gone(number)),
        timers=filtered(queue.timers, lambda timer: not is_over(timer[2], timer[1])),
        fronts=Map({place: filtered(heap, is_here) for place, heap in queue.fronts.items()}),
        deaths=queue.deaths.only(is_here),
    )
    return evolve(packed, packing_due=2 * _unpacked(packed))


def _unpacked(queue: Queue) -> int:
    # There are not more sequence numbers than bodies.
    return len(queue.bodies.recent) + len(queue.tokens.recent)
