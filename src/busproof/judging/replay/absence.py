"""Messages that are not where an answer shows them, whatever else has moved by then.

A search that goes back from such an answer need not ask when other messages were forwarded, became
due or were unlocked: in the plainest histories none of them decides where another one goes.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.judging.replay.bindings import Bindings
from busproof.judging.replay.evidence import Evidence, base_path, views_of
from busproof.judging.replay.timers import key_that_orders
from busproof.model.rules import Namespace

__all__ = ["find_absent_body"]

LITTLE: Final = 100_000_000
"""Bytes of all messages together that fill no partition."""


def find_absent_body(
    event: v.Event, namespace: Namespace, evidence: Evidence, bindings: Bindings
) -> str | None:
    """Return the body of a message that an answer shows where no such message is.

    A message with a key is in no other partition, either. What is among the dead letters of the
    same entity is there, and what has expired: whether it has got there may depend on what front
    ends have cached, and that on other messages.

    Args:
        event: a receive; a peek shows scheduled messages, too, which are not looked for.
        namespace: the state at that moment.
        evidence: all events.
        bindings: the messages that each entity has, or had.
    """
    if evidence.all_bytes_sent > LITTLE:
        return None
    queue = getattr(event.command, "queue", "")
    base = base_path(queue)
    here = [path for path in namespace.entities if base_path(path) == base]
    for view in views_of(event.outcome):
        those = [
            queued
            for path in here
            for queued in bindings.ever(path, view.body)
            if queued.entity.messages.get(queued.number) is queued or bindings.has_expired(queued)
        ]
        number = view.sequence_number
        if evidence.numbers_show_partitions and number is not None and queue == base:
            partition = number >> v.SEQUENCE_BITS
            those = [
                queued
                for queued in those
                if queued.partition == partition or key_that_orders(queued.message) is None
            ]
        if not those:
            return view.body
    return None
