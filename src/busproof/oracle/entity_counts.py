"""Bounds on the number of entities in a namespace.

Creations and deletions update the bounds, so that no request has to count all entities.
"""

from enum import Enum
from typing import Any, Final

import attrs

from busproof.oracle.evolve import evolve
from busproof.oracle.window import Window

MOST_PARTITIONED: Final = 100
"""QUOTA-01: maximum of partitioned queues, or topics, in a namespace."""
NONE: Final = Window(0, 0)


class Kind(Enum):
    """Kind of an entity in the counts; the value is the field that counts it."""

    QUEUE = "queues"
    TOPIC = "topics"
    REGULAR = "regular"
    RESTORED = "restored"
    SUBSCRIPTION = "subscriptions"


@attrs.frozen
class Counted:
    """One entity, with the properties that decide in which counts it is.

    Attributes:
        kind: its kind.
        surely: whether it surely exists.
        stores: how many partitions it has, each with a messaging store.
    """

    kind: Kind
    surely: bool
    stores: int


@attrs.frozen(kw_only=True)
class EntityCounts:
    """Least and greatest possible numbers of entities in a namespace.

    Attributes:
        entities: all queues and topics.
        partitioned: queues and topics that are partitioned, and not restored.
        queues: partitioned queues.
        topics: partitioned topics.
        regular: queues and topics that are not partitioned.
        restored: partitioned ones that were created before Premium stopped permitting them.
        subscriptions: subscriptions of all topics.
        stores: partitions of all queues and topics; an entity that is not partitioned counts as
            one.
        unknown: names that are no longer judged; each may name any entity, or none.
        quota_reached: whether the namespace ever had as many partitioned queues and topics as it
            may.
    """

    entities: Window = NONE
    partitioned: Window = NONE
    queues: Window = NONE
    topics: Window = NONE
    regular: Window = NONE
    restored: Window = NONE
    subscriptions: Window = NONE
    stores: Window = NONE
    unknown: int = 0
    quota_reached: bool = False

    def with_one(self, entity: Counted) -> "EntityCounts":
        """Return the counts with this entity added."""
        return self._changed(entity, 1)

    def without_one(self, entity: Counted) -> "EntityCounts":
        """Return the counts without this entity."""
        return self._changed(entity, -1)

    def with_unknown(self, names: int) -> "EntityCounts":
        """Return the counts with this many more names that may name any entity, or none."""
        return evolve(self, unknown=self.unknown + names)

    def _changed(self, entity: Counted, by: int) -> "EntityCounts":
        field, surely = entity.kind.value, entity.surely
        changes: dict[str, Any] = {field: _moved(getattr(self, field), by, surely=surely)}
        # Whether subscriptions count among the entities is open (QUOTA-10), so they have their own
        # count.
        if entity.kind is not Kind.SUBSCRIPTION:
            changes["entities"] = _moved(self.entities, by, surely=surely)
            changes["stores"] = _moved(self.stores, by * entity.stores, surely=surely)
        if entity.kind in (Kind.QUEUE, Kind.TOPIC):
            partitioned = _moved(self.partitioned, by, surely=surely)
            # Once reached, always reached: creating an entity after a deletion shows QUOTA-05.
            quota_reached = self.quota_reached or partitioned.earliest >= MOST_PARTITIONED
            changes |= {"partitioned": partitioned, "quota_reached": quota_reached}
        return evolve(self, **changes)


def _moved(window: Window, by: int, *, surely: bool) -> Window:
    # An entity that may not exist raises only the greatest possible number.
    return Window(window.earliest + (by if surely else 0), window.latest + by)


NO_ENTITIES: Final = EntityCounts()
"""Counts of an empty namespace."""
