"""Management history: changes of entities, attempted changes, and deleted entities."""

from typing import Any, Final

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.outages import Outages
from busproof.oracle.packed_map import NO_ENTRIES, PackedMap
from busproof.oracle.schedule import NEVER
from busproof.oracle.window import Window

Bodies = PackedMap[str, Any]
"""The bodies that a deleted queue knew, as keys."""
NO_TROUBLE: Final = Window(NEVER, -NEVER)
"""A window that contains no moment: no partition was ever down."""


@attrs.frozen(kw_only=True)
class Managed:
    """Management history of a queue.

    Attributes:
        lock_durations: the shortest and the longest lock duration that may be in force, in
            microseconds.
        lock_durations_ever: the shortest and the longest that ever were.
        delivery_counts: the least and the greatest delivery limit that may be in force.
        lifetimes: the shortest and the longest time to live that may be in force, in microseconds;
            `NEVER` is unlimited.
        lifetimes_ever: the shortest and the longest that ever were.
        lifetimes_changed_at: the latest moment at which the time to live changed, or may have.
        lifetimes_apply_from: how many messages had arrived by that moment.
        unsettled: whether an update was never answered and may still take effect.
        partially_applied: `create` or `delete`, if such a request was refused in an outage and may
            have changed some partitions; otherwise empty. Such a queue is not judged until the
            request is repeated.
        touched: whether the queue was used after that request.
        refused: the kinds of requests that were refused in an outage: `update`, `delete`.
        tried: the fixed settings that some request tried to change; `queue` if the queue was to be
            created again.
        updated: whether an update succeeded.
        changed_at: how many receives there had been when the settings last changed, or may have.
        disturbed: whether a partition of the queue was ever down, or may have been.
        trouble: the time span from the start of the first outage to the end of the last one.
        born: how many queues and topics had been created before this one.
        before: the bodies that a deleted queue of the same name knew.
        other_before: whether that queue was partitioned and this one is not, or the reverse.
        restored: whether it was created before the tier stopped permitting such queues.
        restored_before: whether the deleted queue was.
        redirected: whether an update started or stopped forwarding.
        status: which requests the entity takes: active, or disabled for some or all.
        suspended: whether it was ever disabled.
    """

    lock_durations: Window
    lock_durations_ever: Window
    delivery_counts: Window
    lifetimes: Window
    lifetimes_ever: Window
    lifetimes_changed_at: int = -1
    lifetimes_apply_from: int = 0
    unsettled: bool = False
    partially_applied: str = ""
    touched: bool = False
    refused: frozenset[str] = frozenset()
    tried: frozenset[str] = frozenset()
    updated: bool = False
    changed_at: int = 0
    disturbed: bool = False
    trouble: Window = NO_TROUBLE
    born: int = 0
    before: Bodies = NO_ENTRIES
    other_before: bool = False
    restored: bool = False
    restored_before: bool = False
    redirected: bool = False
    status: v.EntityStatus = v.EntityStatus.ACTIVE
    suspended: bool = False


def as_created(settings: v.CreateQueue) -> Managed:
    """Return the management history of a new queue."""
    durations = Window(settings.lock_duration, settings.lock_duration)
    counts = Window(settings.max_delivery_count, settings.max_delivery_count)
    life = settings.time_to_live or NEVER
    return Managed(
        lock_durations=durations,
        lock_durations_ever=durations,
        delivery_counts=counts,
        lifetimes=Window(life, life),
        lifetimes_ever=Window(life, life),
    )


def troubled(managed: Managed, now: Window) -> Managed:
    """Return the history of a queue that has an outage now, or had one until now."""
    known = managed.trouble
    trouble = Window(min(known.earliest, now.earliest), max(known.latest, now.latest))
    return evolve(managed, disturbed=True, trouble=trouble)


def troubled_like(managed: Managed, topic: Managed) -> Managed:
    """Return the history of a subscription with its topic's outages, whose partitions it shares."""
    if managed.trouble == topic.trouble:
        return managed
    return evolve(managed, disturbed=topic.disturbed, trouble=topic.trouble)


@attrs.frozen
class Tombstone:
    """Record of a deleted entity: the bodies that it knew, and whether it was partitioned.

    `restored` means that it was created before the tier stopped permitting it, and `with_topic`
    that it was a subscription and went with its topic.
    """

    bodies: Bodies
    partitioned: bool
    restored: bool = False
    with_topic: bool = False


@attrs.frozen(kw_only=True)
class Registry:
    """Management history of a namespace: deleted entities and unanswered requests.

    Attributes:
        creations: how many queues and topics were ever created.
        pending_effects: the names that unanswered requests may still affect, as keys.
        pending_forwards: the path in an unanswered creation to the destinations that it named.
        unjudged: the names of entities that are no longer judged, as keys.
        outages: the name of a queue that does not exist to its partitions that are down.
        tombstones: the name of a deleted entity to the record of it.
        refused: the names of queues whose creation was refused in an outage, as keys.
        dark: the names of entities that have a partition down, as keys.
        identified: MessageId to the entity with duplicate detection that last took a message with
            it.
        ends: the name of a transaction to whether an unanswered request may commit a later one of
            that name; false if it may only roll it back.
    """

    creations: int = 0
    pending_effects: Map[str, None] = Map()
    pending_forwards: Map[str, tuple[str, ...]] = Map()
    unjudged: Map[str, None] = Map()
    outages: Map[str, Outages] = Map()
    tombstones: Map[str, Tombstone] = Map()
    refused: Map[str, None] = Map()
    dark: Map[str, None] = Map()
    identified: Map[str, str] = Map()
    ends: Map[str, bool] = Map()


UNREGISTERED = Registry()
