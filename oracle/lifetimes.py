"""How long messages live in an entity."""

from busproof import vocabulary as v
from busproof.oracle.calendar import NEVER
from busproof.oracle.state import Queue
from busproof.oracle.window import Window

__all__ = ["lesser", "lifetime", "lifetimes"]


def lesser(one: int | None, other: int | None) -> int | None:
    """The shorter of two times to live, `None` being for ever."""
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def lifetime(queue: Queue, message: v.Message) -> int | None:
    """TTL-03, TTL-04: how long a message lives in an entity as it is now, in microseconds."""
    return lesser(queue.settings.time_to_live, message.time_to_live)


def lifetimes(queue: Queue, message: v.Message, came: Window | None = None) -> Window:
    """The shortest and the longest that a message may live; `NEVER` is for ever.

    Args:
        queue: the entity.
        message: the message.
        came: when it may have come, if that is not now, under the settings of now.
    """
    managed, own = queue.managed, message.time_to_live or NEVER
    before = came is not None and came.earliest <= managed.lifetimes_changed_at
    most = managed.lifetimes_ever if before else managed.lifetimes
    return Window(min(own, most.earliest), min(own, most.latest))
