"""KEY-14: messages without a key reach every partition in time.

No single choice of a partition is uneven; many together are. So the choices that the record shows
are counted, and one that leaves too few messages for the partitions which are still without is no
way.
"""

from typing import Final

from busproof import vocabulary as v
from busproof.model.rules import Namespace
from busproof.model.state import Entity

__all__ = ["Evenness"]

ROUNDS: Final = 25
"""Number of messages per partition within which every partition must be used (ROUND-ROBIN).

A fair random choice among 16 partitions leaves one out in 400 messages once in 10 billion runs.
"""
LITTLE: Final = 50_000_000
"""Bytes in an entity up to which no partition is avoided because it may be full."""


class Evenness:
    """The partitions that messages without a key went to.

    Args:
        namespace: the model's namespace.
        strict: whether the observer sees partitions.
    """

    def __init__(self, namespace: Namespace, *, strict: bool) -> None:
        self._namespace = namespace
        profile = namespace.profile
        is_count_open = profile.readings.get("GB-PARTITIONS") == "either"
        self._is_judged = strict and "KEY-14" not in profile.silent
        self._most = profile.partitions if is_count_open else None
        # By entity: how many messages went anywhere since each partition was used, and where.
        self._spread: dict[Entity, tuple[int, frozenset[int]]] = {}

    def allows(self, entity: Entity, event: v.Event | None, chosen: int) -> bool:
        """Return whether a message may go to a partition; from now on it has gone there."""
        base = entity.base
        count = len(entity.partitions)
        if not self._is_judged or event is None or event.witness is None or base.down:
            return True
        is_one = isinstance(event.command, v.Send) and event.command.queue == entity.path
        if not is_one or (self._most is not None and count > self._most):
            return True
        if sum(partition.bytes for partition in entity.partitions) > LITTLE:
            return True
        sent, used = self._spread.get(base, (0, frozenset()))
        used |= {chosen}
        is_complete = len(used) == count
        entry = (0, frozenset[int]()) if is_complete else (sent + 1, used)
        self._namespace.journal.put(self._spread, base, entry)
        return count - len(used) <= ROUNDS * count - sent - 1
