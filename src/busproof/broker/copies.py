"""How many copies of a message are made at once, as it goes on from entity to entity."""

from collections.abc import Sequence
from typing import Final

from busproof.model import Namespace
from busproof.model.journal import Change
from busproof.model.state import Entity

__all__ = ["Copies"]

MOST_HOPS: Final = 4
"""How often in a row a message is forwarded at most (FWD-16)."""


class Copies:
    """The copies of a message that is sent to an entity: one for each subscription that it reaches.

    Filters are left out, so there may be fewer.

    Args:
        namespace: the namespace.
    """

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._known: dict[tuple[str, int], int] = {}

    def hear(self, changes: Sequence[Change]) -> None:
        """Forget what is known if an entity has changed."""
        if self._known:
            entities = self._namespace.entities
            for thing, _, _ in changes:
                if thing is entities or type(thing) is Entity:
                    self._known.clear()
                    break

    def of(self, path: str, hops: int = MOST_HOPS) -> int:
        """Return the copies of a message sent to an entity that forwards it so often at most."""
        known = self._known.get((path, hops))
        if known is None:
            entity = self._namespace.entities.get(path)
            known = self._known[path, hops] = 1 if entity is None else self._count(entity, hops)
        return known

    def _count(self, entity: Entity, hops: int) -> int:
        if entity.subscriptions is not None:
            return max(1, sum(self.of(each.path, hops) for each in entity.subscriptions))
        # A message that expires is forwarded as a dead letter, in one step, too.
        dead = entity.dead_letters
        onward = [entity.settings.forward_to, None if dead is None else dead.settings.forward_to]
        reached = [self.of(path, hops - 1) for path in onward if path is not None and hops > 0]
        return max(reached, default=1)
