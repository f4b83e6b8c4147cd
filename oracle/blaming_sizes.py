"""Which rules on sizes a send breaks that was answered as nothing allowed."""

from busproof import vocabulary as v
from busproof.oracle.state import Namespace, Queue, everywhere
from busproof.oracle.stored import Key
from busproof.oracle.transition import Sighting

__all__ = ["is_about_room", "is_beyond", "room_denied"]


def is_beyond(namespace: Namespace, queue: Queue, seen: Sighting) -> bool:
    """Whether a partition took the message that the queue cannot have (SIZE-05)."""
    partitions = everywhere(namespace, queue.settings)
    return seen.witness is not None and not partitions >> seen.witness.partition & 1


def is_about_room(queue: Queue, outcome: v.Refused) -> bool:
    """Whether a refusal says that there is no room, or comes where there was none lately."""
    return outcome.error is v.Error.QUOTA_EXCEEDED or len(queue.room.refused) > 0


def room_denied(queue: Queue, key: Key | None) -> tuple[v.RuleId, ...]:
    """What is broken where there is room, or where the refusal names another reason."""
    if not queue.settings.partitioned:
        return ("SIZE-11", "SIZE-12", "SIZE-10", "SIZE-06")
    if key is None:
        return ("SIZE-11", "SIZE-09", "SIZE-04")
    if not len(queue.room.refused):
        return ("SIZE-07", "SIZE-04", "SIZE-11")
    return ("SIZE-08", "SIZE-11", "SIZE-12", "SIZE-07", "SIZE-04")
