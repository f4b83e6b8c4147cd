"""Bounds on the number of entities in a namespace.

The numbers are updated when entities are created and deleted, so that a request's cost does not
grow with their number.
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
    """One entity, as it is counted.

    Attributes:
        kind: its kind.
        surely: whether it surely exists.
        stores: how many partitions it has.
    """

    kind: Kind
    surely: bool
    stores: int


@attrs.frozen(kw_only=True)
class EntityCounts:
    """Least and greatest numbers of entities.

    Attributes:
        entities: all queues and topics.
        partitioned: queues and topics that are partitioned, and not restored.
        queues: partitioned queues.
        topics: partitioned topics.
        regular: queues and topics that are not partitioned.
        restored: partitioned ones from before Premium stopped permitting them.
        subscriptions: of all topics.
        stores: partitions of all queues and topics; a regular one has one.
        unknown: names that are no longer judged; each may be anything, or nothing.
        quota_reached: whether the quota of partitioned queues and topics was ever reached.
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
        """Return the counts with this many more names that may be anything."""
        return evolve(self, unknown=self.unknown + names)

    def _changed(self, entity: Counted, by: int) -> "EntityCounts":
        field, surely = entity.kind.value, entity.surely
        changes: dict[str, Any] = {field: _moved(getattr(self, field), by, surely=surely)}
        if entity.kind is not Kind.SUBSCRIPTION:
            changes["entities"] = _moved(self.entities, by, surely=surely)
            changes["stores"] = _moved(self.stores, by * entity.stores, surely=surely)
        if entity.kind in (Kind.QUEUE, Kind.TOPIC):
            partitioned = _moved(self.partitioned, by, surely=surely)
            quota_reached = self.quota_reached or partitioned.earliest >= MOST_PARTITIONED
            changes |= {"partitioned": partitioned, "quota_reached": quota_reached}
        return evolve(self, **changes)


def _moved(window: Window, by: int, *, surely: bool) -> Window:
    return Window(window.earliest + (by if surely else 0), window.latest + by)


NO_ENTITIES: Final = EntityCounts()
"""Counts of an empty namespace."""
