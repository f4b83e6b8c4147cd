"""Messages that must arrive eventually: forwarded and scheduled ones, and dead letters.

One empty answer proves nothing, because no document sets a deadline. Several in a row do, long
after the message could have arrived; the caller chooses how long that is. `accept`, which judges
single answers, does not use this module.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from busproof import vocabulary as v
from busproof.oracle.arrivals import Arrival
from busproof.oracle.messages.expiry import is_mortal
from busproof.oracle.messages.keys import keys_conflict
from busproof.oracle.messages.partitions import cached_elsewhere
from busproof.oracle.queued_messages import Stored
from busproof.oracle.state import Namespace, Queue, feeding, is_unsure

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
    # Every reason for which a message may stay away ends the promise; what is left must arrive.
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


def owed(
    namespace: Namespace,
    name: str,
    session_id: str | None,
    since: int,
    sent: Mapping[str, int] | None = None,
    *,
    calm: bool = False,
) -> v.RuleId | None:
    """Return the rule that requires a receive to return a message eventually, if there is one.

    Args:
        namespace: the current state.
        name: the entity.
        session_id: the session of the receive, if sessions are required.
        since: how many messages had arrived there at the last event that may have delayed them.
        sent: MessageId to how many messages with it were sent there, none of which was ever shown;
            by default nobody has counted.
        calm: whether there was no such event anywhere.
    """
    queue = namespace.queues.get(name)
    owner = namespace.queues.get(v.owner_of(name))
    # What an entity gives that may exist in part only is not judged, nor taken from its messages.
    if queue is None or owner is None or is_unsure(owner):
        return None
    # An entity that may be full need not take the message, for however long.
    if not queue.managed.status.gives or queue.room.taken >= AMPLE:
        return None
    # The message may have to pass a partition that is down, in any entity.
    if any(queue.outages.any for queue in namespace.queues.values()):
        return None
    if any(namespace.reading(delay) == "unbounded" for delay in DELAYS):
        return None
    required = queue.settings.requires_session
    # The front end of another connection may have the message in its cache.
    if not required and cached_elsewhere(namespace, queue):
        return None
    waiting = (
        stored.owed
        for number, stored in queue.messages.items()
        if number >= since
        and _is_on_its_way(namespace, stored)
        and (not required or stored.message.session_id == session_id)
    )
    due = next((rule for rule in waiting if rule is not None), None)
    forwarded = _owed_from_dead_letter_queues(namespace, queue) if calm else None
    dead_letter = _owed_dead_letter(namespace, name)
    return due or forwarded or dead_letter or _owed_copy(namespace, queue, since, sent or {})


def _owed_copy(
    namespace: Namespace, queue: Queue, since: int, sent: Mapping[str, int]
) -> v.RuleId | None:
    """SCHED-02, KEY-11: return the rule by which one of several copies must arrive.

    Which of them is dropped is open (SCHEDULED-COPIES), but only for another one. So all that were
    ever sent must be due, and none of them may have been seen or have expired.
    """
    if not sent or queue.settings.requires_session:
        return None
    copies = defaultdict[str, list[Stored]](list)
    for stored in queue.messages.values():
        if stored.message.message_id is not None:
            copies[stored.message.message_id].append(stored)
    for message_id, alike in copies.items():
        rule = next((stored.rivalled for stored in alike if stored.rivalled), None)
        due = (one.number >= since and _is_on_its_way(namespace, one) for one in alike)
        if rule is not None and len(alike) == sent.get(message_id) and all(due):
            return rule
    return None


def _owed_from_dead_letter_queues(namespace: Namespace, queue: Queue) -> v.RuleId | None:
    """FWD-35: return this rule if a dead letter of another entity must arrive here."""
    settings, observability = queue.settings, namespace.observability
    kept_away = settings.requires_session or settings.duplicate_detection or settings.forward_to
    if kept_away or settings.time_to_live is not None or not observability.dead_letters:
        return None
    if may_lack_room(namespace, queue):
        return None
    feeding_here = [namespace.queues[source] for source in feeding(namespace, settings.queue)]
    owners = [namespace.queues[v.owner_of(dead.settings.queue)] for dead in feeding_here]
    # A message that was forwarded before may have reached the limit of hops.
    destinations = set(namespace.forwarding.values())
    for dead, owner in zip(feeding_here, owners, strict=True):
        if (
            owner.settings.time_to_live is None
            and owner.settings.queue not in destinations
            and any(map(_must_go_on, dead.messages.values()))
        ):
            return "FWD-35"
    return None


def may_lack_room(namespace: Namespace, destination: Queue) -> bool:
    """Return whether dead letters that were forwarded to this entity may have found no room."""
    sources = feeding(namespace, destination.settings.queue)
    owners = (namespace.queues[v.owner_of(source)] for source in sources)
    return sum(entity.room.taken for entity in (destination, *owners)) >= AMPLE


def _must_go_on(letter: Stored) -> bool:
    """Return whether this message surely became a dead letter, and lives until it is received."""
    message = letter.message
    return letter.certain and message.time_to_live is None and not keys_conflict(message)


def _owed_dead_letter(namespace: Namespace, name: str) -> v.RuleId | None:
    """DLQ-02, TTL-07: return the rule by which a dead letter that nobody has seen is due."""
    owner = namespace.queues.get(v.owner_of(name))
    if owner is None or name != owner.settings.queue + v.DEAD_LETTERS:
        return None
    managed = owner.managed
    # An update may have raised the limit in time, and an outage may have stopped the clock.
    is_open = managed.updated or managed.disturbed or owner.settings.forward_dead_letters_to
    if is_open or owner.room.taken >= AMPLE:
        return None
    # A bus without dead letters may drop the message, and a cache may lose it under one reading.
    lost = namespace.reading("MESSAGES-EXPIRE") == "message"
    unbounded = namespace.reading("DEAD-LETTER-DELAY") == "unbounded"
    if lost or unbounded or not namespace.observability.dead_letters:
        return None
    rules = (_why_due(owner, stored) for stored in owner.messages.values())
    return next((rule for rule in rules if rule is not None), None)


def _why_due(owner: Queue, stored: Stored) -> v.RuleId | None:
    """Return the rule that surely moves this message to the dead-letter queue, if any."""
    if stored.spent and not is_mortal(stored):
        return "DLQ-02"
    # One that may be in a front end's cache may be lost there (TTL-14).
    is_cached = stored.since < owner.receivers.count or stored.deferred is not False
    surely_expired = stored.aged and stored.gone and not is_cached
    return "TTL-07" if surely_expired and owner.settings.dead_letter_expired else None


def _is_on_its_way(namespace: Namespace, stored: Stored) -> bool:
    """TTL-02: return whether the message was not seen yet, and surely lives still.

    One that was seen may be uncertain for another reason: it may have been dead-lettered.
    """
    lasts = stored.dies is None or stored.dies.earliest > namespace.now.latest
    is_new = not stored.certain and not stored.deliveries and stored.sequence_number is None
    return lasts and is_new and stored.deferred is False
