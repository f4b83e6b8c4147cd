"""What the service puts into a queue by itself: dead letters, and what was scheduled."""

from collections.abc import Iterator

from busproof.model import activating, dead_letters
from busproof.model.state import Namespace, Queue
from busproof.model.stored import Stored

__all__ = ["arrivals"]


def arrivals(namespace: Namespace, queue: Queue, body: str) -> Iterator[tuple[Namespace, Stored]]:
    """What may have arrived by itself, if it is seen now, and the namespace in which it has."""
    yield from dead_letters.arrivals(namespace, queue, body)
    yield from activating.coming(namespace, queue, body)
