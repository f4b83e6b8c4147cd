"""Messages that must arrive eventually, without a time limit: forwarded and scheduled ones.

One empty answer proves nothing, because no document sets a deadline. Several in a row do, long
after the message could have arrived; the caller chooses how long that is. `accept`, which judges
single answers, does not use this module.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival
from busproof.oracle.messages.keys import keys_conflict
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import NEVER, Namespace, Queue

SURE_HOPS: Final = 3
"""How many times a message is forwarded under every reading of FORWARD-HOPS."""
AMPLE: Final = 2**29
"""Number of bytes that every entity has storage for: half of the least possible size."""
OF_ARRIVAL: Final = frozenset(
    {"FWD-01", "FWD-02", "FWD-03", "FWD-06", "FWD-16", "FWD-26", "FWD-30"}
)
"""Rules that say that a forwarded message arrives."""
DELAYS: Final = ("SCHEDULE-DELAY", "FORWARD-DELAY")
"""Ambiguities that set no deadline at all when read as `unbounded`."""


def is_owed(destination: Queue, arrival: Arrival) -> bool:
    """Return whether a forwarded message surely arrives, as far as is known at the forwarding.

    It does not if anything may prevent or delay it under any reading.
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
    """Return the most specific rule that requires a forwarded message to arrive."""
    return next(rule for rule in arrival.shows if rule in OF_ARRIVAL)


def owed(namespace: Namespace, name: str, session_id: str | None, since: int) -> v.RuleId | None:
    """Return the rule that requires a receive to return a message eventually, if there is one.

    Args:
        namespace: the current state.
        name: the entity.
        session_id: the session of the receive, if sessions are required.
        since: how many messages had arrived there at the last event that may have delayed them.
    """
    queue = namespace.queues.get(name)
    if queue is None or not queue.managed.status.gives or queue.room.taken >= AMPLE:
        return None
    # The message may have to pass a partition that is down, in any entity.
    if any(queue.outages.any for queue in namespace.queues.values()):
        return None
    if any(namespace.reading(delay) == "unbounded" for delay in DELAYS):
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
    """Return whether the message may not have been seen yet, and cannot expire meanwhile."""
    lasts = stored.dies is None or stored.dies.earliest >= NEVER
    return lasts and not stored.certain and stored.deferred is False
