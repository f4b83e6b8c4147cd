"""Messages that the service itself adds to a queue: dead letters and scheduled messages."""

import itertools
from collections.abc import Iterator

from busproof import vocabulary as v
from busproof.oracle.messages import activation, dead_letters
from busproof.oracle.messages.dead_letters import seen_beyond
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import Namespace, Queue, feeding


def arrivals(namespace: Namespace, queue: Queue, body: str) -> Iterator[tuple[Namespace, Stored]]:
    """Yield the messages that may have arrived without a request, each with its namespace."""
    yield from dead_letters.arrivals(namespace, queue, body)
    yield from _coming(namespace, queue, body)
    yield from _died_unseen(namespace, queue, body)


def _coming(namespace: Namespace, queue: Queue, body: str) -> Iterator[tuple[Namespace, Stored]]:
    """FWD-35: yield scheduled messages and other entities' dead letters that may have arrived."""
    yield from activation.coming(namespace, queue, body)
    for name in feeding(namespace, queue.settings.queue):
        dead = namespace.queues[name]
        there = ((namespace, letter) for letter in dead.with_body(body))
        for after, letter in itertools.chain(there, arrivals(namespace, dead, body)):
            yield seen_beyond(after, after.queues[name], letter, queue.settings.queue)


def _died_unseen(
    namespace: Namespace, dead: Queue, body: str
) -> Iterator[tuple[Namespace, Stored]]:
    """TTL-07, SESS-01: yield messages that may have arrived and become dead letters unseen."""
    owner = namespace.queues.get(v.owner_of(dead.settings.queue))
    if owner is None or owner is dead:
        return
    if not (owner.settings.dead_letter_expired or owner.settings.requires_session):
        return
    for arrived, _ in _coming(namespace, owner, body):
        yield from dead_letters.arrivals(arrived, dead, body)
