"""Messages that have to come in the end, though nobody says when: what is forwarded or scheduled.

A single empty answer tells nothing of them. One after another does, once it is long ago that they
could have come; how long is for whoever asks to say. So nothing here is part of what one answer may
be: `accept` knows no patience.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival
from busproof.oracle.messages.keys import keys_conflict
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import NEVER, Namespace, Queue

__all__ = ["is_owed", "owed", "owed_by"]

SURE_HOPS: Final = 3
"""How often a message is forwarded by every reading of FORWARD-HOPS."""
AMPLE: Final = 2**29
"""Bytes that every entity has room for: half of the least size that there is."""
OF_ARRIVAL: Final = frozenset(
    {"FWD-01", "FWD-02", "FWD-03", "FWD-06", "FWD-16", "FWD-26", "FWD-30"}
)
"""The rules that say that what is forwarded arrives."""
DELAYS: Final = ("SCHEDULE-DELAY", "FORWARD-DELAY")
"""Nothing is ever too late where one of these is read as `unbounded`."""


def is_owed(destination: Queue, arrival: Arrival) -> bool:
    """Whether what is forwarded surely arrives, as far as can be told when it sets out.

    Whatever may keep it, by one reading or another, or is not over at once, is enough to say no.
    """
    message = arrival.message
    detects = destination.settings.duplicate_detection and message.message_id is not None
    sessions = destination.settings.requires_session and message.session_id is None
    return (
        (arrival.certain or arrival.owed)
        and arrival.hops < SURE_HOPS
        and destination.managed.status.takes
        and destination.managed.status.gives
        and not destination.outages.any
        and not (detects or sessions or keys_conflict(message))
    )


def owed_by(arrival: Arrival) -> v.RuleId:
    """The rule by which a message that is forwarded arrives, the one of most consequence."""
    return next(rule for rule in arrival.shows if rule in OF_ARRIVAL)


def owed(namespace: Namespace, name: str, session_id: str | None, since: int) -> v.RuleId | None:
    """The rule by which a receive has to come to a message here in the end, if any has.

    Args:
        namespace: as it is.
        name: of the entity.
        session_id: of the session that is received from, where sessions are required.
        since: how many messages had arrived there when something happened last by which they might
            be kept.
    """
    queue = namespace.queues.get(name)
    if queue is None or not _gives(queue) or _is_hurt(namespace) or _is_unbounded(namespace):
        return None
    required = queue.settings.requires_session
    waiting = (
        stored.owed
        for number, stored in queue.messages.items()
        if number >= since
        and _is_on_its_way(stored)
        and (not required or stored.message.session_id == session_id)
    )
    return next((rule for rule in waiting if rule is not None), None)


def _is_on_its_way(stored: Stored) -> bool:
    """Whether it may not have been seen yet, and does not die of age meanwhile."""
    lasts = stored.dies is None or stored.dies.earliest >= NEVER
    return lasts and not stored.certain and stored.deferred is False


def _gives(queue: Queue) -> bool:
    """Whether whoever receives here is given what there is: nothing is full or disabled."""
    return queue.managed.status.gives and queue.room.taken < AMPLE


def _is_unbounded(namespace: Namespace) -> bool:
    """SCHEDULE-DELAY, FORWARD-DELAY: whether what has to come has no time by which it must."""
    return any(namespace.profile.readings.get(name) == "unbounded" for name in DELAYS)


def _is_hurt(namespace: Namespace) -> bool:
    """Whether something is down on whose way a message may be."""
    return any(each.outages.any for each in namespace.queues.values())
