"""How many entities a namespace has, as far as that is known.

The numbers are kept up as entities come and go, for no request may take the longer the more of them
there are.
"""

from enum import Enum
from typing import Any, Final

import attrs

from busproof.oracle.evolve import evolve
from busproof.oracle.window import Window

__all__ = ["MOST_PARTITIONED", "NOBODY", "Census", "Counted", "Kind"]

MOST_PARTITIONED: Final = 100
"""QUOTA-01: partitioned queues, or topics, of a namespace."""
NONE: Final = Window(0, 0)


class Kind(Enum):
    """What an entity counts as; the value is the field of the census that counts it."""

    QUEUE = "queues"
    TOPIC = "topics"
    REGULAR = "regular"
    RESTORED = "restored"
    SUBSCRIPTION = "subscriptions"


@attrs.frozen
class Counted:
    """One entity as it counts.

    Attributes:
        kind: what it is.
        surely: whether it is known to be there.
        stores: how many partitions it has.
    """

    kind: Kind
    surely: bool
    stores: int


@attrs.frozen(kw_only=True)
class Census:
    """The least and the most entities that there may be.

    Attributes:
        entities: all queues and topics.
        partitioned: queues and topics that are partitioned, and not restored.
        queues: that are partitioned.
        topics: that are partitioned.
        regular: queues and topics that are not partitioned.
        restored: partitioned ones from before Premium stopped permitting them.
        subscriptions: of all topics.
        stores: partitions of all queues and topics, a regular one having one.
        unknown: names of which nothing is told any more; each may be anything, or nothing.
        crowded: whether there ever were as many partitioned queues and topics as may be.
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
    crowded: bool = False

    def with_one(self, entity: Counted) -> "Census":
        """The census with this entity in it."""
        return self._changed(entity, 1)

    def without_one(self, entity: Counted) -> "Census":
        """The census without this entity."""
        return self._changed(entity, -1)

    def with_unknown(self, names: int) -> "Census":
        """The census in which so many names more may be anything."""
        return evolve(self, unknown=self.unknown + names)

    def _changed(self, entity: Counted, by: int) -> "Census":
        field, surely = entity.kind.value, entity.surely
        changes: dict[str, Any] = {field: _moved(getattr(self, field), by, surely=surely)}
        if entity.kind is not Kind.SUBSCRIPTION:
            changes["entities"] = _moved(self.entities, by, surely=surely)
            changes["stores"] = _moved(self.stores, by * entity.stores, surely=surely)
        if entity.kind in (Kind.QUEUE, Kind.TOPIC):
            partitioned = _moved(self.partitioned, by, surely=surely)
            crowded = self.crowded or partitioned.earliest >= MOST_PARTITIONED
            changes |= {"partitioned": partitioned, "crowded": crowded}
        return evolve(self, **changes)


def _moved(window: Window, by: int, *, surely: bool) -> Window:
    return Window(window.earliest + (by if surely else 0), window.latest + by)


NOBODY: Final = Census()
"""An empty namespace."""
