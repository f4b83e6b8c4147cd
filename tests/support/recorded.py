"""Answers on record, as a bus would give them."""

from busproof.vocabulary.messages import SEQUENCE_BITS, MessageView
from busproof.vocabulary.outcomes import Done, Received

__all__ = ["DONE", "received", "view"]

DONE = Done()


def view(body: str, partition: int = 0, number: int = 1, **seen: object) -> MessageView:
    """A message as received: from this partition, with this number in it."""
    number += partition << SEQUENCE_BITS
    return MessageView(**{"body": body, "sequence_number": number, **seen})


def received(body: str, partition: int = 0, number: int = 1, **seen: object) -> Received:
    """The answer of a receive that is given this message."""
    return Received(message=view(body, partition, number, **seen))
