"""What the service puts into a queue by itself: dead letters, wherever from, and the scheduled."""

from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.oracle.messages import activation, dead_letters
from busproof.oracle.messages.dead_letters import seen_beyond
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import Namespace, Queue, feeding

__all__ = ["arrivals"]


def arrivals(namespace: Namespace, queue: Queue, body: str) -> Iterator[tuple[Namespace, Stored]]:
    """What may have arrived by itself, if it is seen now, and the namespace in which it has."""
    yield from dead_letters.arrivals(namespace, queue, body)
    yield from activation.coming(namespace, queue, body)
    yield from _died_unseen(namespace, queue, body)
    for name in feeding(namespace, queue.settings.queue):
        dead = namespace.queues[name]
        for after, letter in _letters(namespace, dead, body):
            yield seen_beyond(after, after.queues[name], letter, queue.settings.queue)


def _letters(namespace: Namespace, dead: Queue, body: str) -> Iterator[tuple[Namespace, Stored]]:
    """FWD-35: what is among the dead letters, or may have come to be, and may have gone on."""
    numbers = dead.bodies.get(body, ())
    for number in numbers if isinstance(numbers, tuple) else ():
        if number in dead.messages:
            yield namespace, dead.messages[number]
    yield from arrivals(namespace, dead, body)


def _died_unseen(
    namespace: Namespace, dead: Queue, body: str
) -> Iterator[tuple[Namespace, Stored]]:
    """TTL-07, SESS-01: what was scheduled may have become active and died before it was seen."""
    owner = namespace.queues.get(v.owner_of(dead.settings.queue))
    if owner is None or owner is dead:
        return
    if not (owner.settings.dead_letter_expired or owner.settings.requires_session):
        return
    for active, _ in activation.coming(namespace, owner, body):
        yield from dead_letters.arrivals(active, dead, body)
