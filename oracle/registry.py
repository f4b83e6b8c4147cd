"""Management history of entities: changes, attempts and deletions."""

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
"""The bodies that a deleted queue knew."""
NO_TROUBLE: Final = Window(NEVER, -NEVER)
"""No partition was ever down."""


@attrs.frozen(kw_only=True)
class Managed:
    """Management history of a queue.

    Attributes:
        lock_durations: the least and the greatest one that may be in force, in microseconds.
        lock_durations_ever: the same, of all times.
        delivery_counts: the least and the greatest limit that may be in force.
        lifetimes: the least and the greatest time to live that may be in force, in microseconds;
            `NEVER` is unlimited.
        lifetimes_ever: the same, of all times.
        lifetimes_changed_at: the latest time at which it was or may have been changed.
        lifetimes_apply_from: how many messages had arrived by then.
        unsettled: whether an update was never answered and may still take effect.
        partially_applied: the kind of request that was refused in an outage and may have changed
            some partitions, `create` or `delete`; empty if there is none. Such a queue is not
            judged until the request is repeated.
        touched: whether it was used since then.
        refused: the kinds of requests refused in an outage: `update`, `delete`.
        tried: fixed settings that a request tried to change; `queue` if its creation was requested
            again.
        updated: whether an update succeeded.
        changed_at: how many receives there had been at the latest change, or possible change.
        disturbed: whether a partition of it may ever have been down.
        trouble: the time span from the first outage to the end of the last.
        born: how many queues and topics had been created before it.
        before: the bodies that its deleted predecessor knew.
        other_before: whether its predecessor had the other partitioning option.
        restored: whether it existed before the tier stopped permitting it.
        restored_before: whether its predecessor did.
        redirected: whether an update started or stopped forwarding.
        status: whether it is disabled.
        suspended: whether it ever was.
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
    """Return the history of a queue with a partition that is down, or was until now."""
    known = managed.trouble
    trouble = Window(min(known.earliest, now.earliest), max(known.latest, now.latest))
    return evolve(managed, disturbed=True, trouble=trouble)


def troubled_like(managed: Managed, topic: Managed) -> Managed:
    """Return the history of a subscription, whose partitions are its topic's."""
    if managed.trouble == topic.trouble:
        return managed
    return evolve(managed, disturbed=topic.disturbed, trouble=topic.trouble)


@attrs.frozen
class Tombstone:
    """Record of a deleted entity: the bodies that it knew, and whether it was partitioned.

    `restored` means that it existed before the tier stopped permitting it, and `with_topic` that it
    was a subscription deleted with its topic.
    """

    bodies: Bodies
    partitioned: bool
    restored: bool = False
    with_topic: bool = False


@attrs.frozen(kw_only=True)
class Registry:
    """Management history of a namespace.

    Attributes:
        creations: how many queues and topics were ever created.
        pending_effects: names in requests that were never answered.
        pending_forwards: names to the forwarding destinations in unanswered creations.
        unjudged: names that are no longer judged.
        outages: name to the partitions that are down of a queue that does not exist.
        tombstones: name to the record of a deleted queue.
        refused: names of queues whose creation was refused in an outage.
        dark: names of entities with partitions that are down.
        identified: MessageId to the entity with duplicate detection that took it last.
        ends: name to whether a later transaction of that name may be committed by an unanswered
            request; false if it may only be rolled back.
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
