"""How many messages are locked and set aside, and which: counted as they change, never anew."""

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from busproof.model import Namespace
from busproof.model.journal import Change, Record
from busproof.model.life_cycle import ACTIVE, State
from busproof.model.state import Entity, QueuedMessage, Session, is_there

__all__ = ["Tallies", "Tally", "records_of"]

DEFERRED: Final = (State.DEFERRED, State.DEFERRED_LOCKED)


def records_of(changes: Sequence[Change]) -> Iterator[Record]:
    """Return the records that were changed, that came and that left; some of them twice."""
    for thing, key, before in changes:
        if type(thing) is dict:
            if isinstance(before, Record):
                yield before
            if isinstance(after := thing.get(key), Record):
                yield after
        elif isinstance(thing, Record):
            yield thing


@attrs.frozen
class Tally:
    """Of one entity, in the order of the changes.

    Attributes:
        aside: of each partition, the messages that no ordinary receive gives now.
        locked: the messages under a lock.
        deferred: the messages that were deferred.
        held: the sessions that somebody holds.
    """

    aside: tuple[dict[QueuedMessage, None], ...]
    locked: dict[QueuedMessage, None] = attrs.field(factory=dict)
    deferred: dict[QueuedMessage, None] = attrs.field(factory=dict)
    held: dict[Session, None] = attrs.field(factory=dict)

    def count(self, queued: QueuedMessage) -> None:
        """Count a message as it is now."""
        there = is_there(queued)
        _put(self.aside[queued.partition], queued, there and queued.state is not ACTIVE)
        _put(self.locked, queued, there and queued.token is not None)
        _put(self.deferred, queued, there and queued.state in DEFERRED)


class Tallies:
    """Of all entities of a namespace.

    Args:
        namespace: as it is now; its messages are gone through once.
    """

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._of: dict[Entity, Tally] = {}
        for entity in namespace.entities.values():
            for table in (entity.messages, entity.sessions):
                for record in table.values():
                    self._count(record)

    def of(self, entity: Entity) -> Tally:
        """Return the tally of an entity."""
        tally = self._of.get(entity)
        if tally is None:
            tally = self._of[entity] = Tally(tuple({} for _ in entity.partitions))
        return tally

    def hear(self, records: Sequence[Record]) -> None:
        """Take note of records that were changed."""
        for record in records:
            self._count(record)

    def _count(self, record: object) -> None:
        if isinstance(record, QueuedMessage):
            self.of(record.entity).count(record)
        elif isinstance(record, Session):
            there = record.entity.sessions.get(record.name) is record
            held = self.of(record.entity).held
            _put(held, record, there and record.holder is not None)
        elif isinstance(record, Entity) and self._is_gone(record):
            self._of.pop(record, None)

    def _is_gone(self, entity: Entity) -> bool:
        return self._namespace.entities.get(entity.path) is not entity


def _put(table: dict[QueuedMessage, None] | dict[Session, None], key: object, there: bool) -> None:
    if there:
        table[key] = None  # type: ignore[index] # each table has its own kind of records
    else:
        table.pop(key, None)  # type: ignore[call-overload]
