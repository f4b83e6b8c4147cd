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
    yield from activation.coming(namespace, queue, body)
    yield from _died_unseen(namespace, queue, body)
    for name in feeding(namespace, queue.settings.queue):
        dead = namespace.queues[name]
        # FWD-35: a message that is a dead letter, or may be one, may have been forwarded.
        there = ((namespace, letter) for letter in dead.with_body(body))
        for after, letter in itertools.chain(there, arrivals(namespace, dead, body)):
            yield seen_beyond(after, after.queues[name], letter, queue.settings.queue)


def _died_unseen(
    namespace: Namespace, dead: Queue, body: str
) -> Iterator[tuple[Namespace, Stored]]:
    """TTL-07, SESS-01: yield scheduled messages that may have become dead letters unseen."""
    owner = namespace.queues.get(v.owner_of(dead.settings.queue))
    if owner is None or owner is dead:
        return
    if not (owner.settings.dead_letter_expired or owner.settings.requires_session):
        return
    # The message may have become active and then a dead letter, without being seen in between.
    for active, _ in activation.coming(namespace, owner, body):
        yield from dead_letters.arrivals(active, dead, body)
