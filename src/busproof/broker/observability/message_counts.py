"""Counts of locked and deferred messages, updated on each change instead of recounted."""

from collections.abc import Sequence
from typing import Final, TypeVar

import attrs

from busproof.model import Namespace
from busproof.model.journal import Change, Record
from busproof.model.life_cycle import ACTIVE, State
from busproof.model.state import Entity, Partition, QueuedMessage, Session

__all__ = ["Tallies", "Tally", "records_of"]

Thing = TypeVar("Thing")
DEFERRED: Final = (State.DEFERRED, State.DEFERRED_LOCKED)


def records_of(changes: Sequence[Change]) -> list[Record]:
    """Return the records that changes concern; a record may be in the list twice."""
    records: list[Record] = []
    for thing, key, before in changes:
        if type(thing) is dict:
            after = thing.get(key)
            records += [record for record in (before, after) if isinstance(record, Record)]
        elif isinstance(thing, Record):
            records.append(thing)
    return records


@attrs.frozen
class Tally:
    """The counted messages and sessions of an entity.

    Attributes:
        aside: for each partition, the messages that a receive cannot deliver now.
        locked: the locked messages.
        deferred: the deferred messages.
        sessions: the locked sessions.
        locks: the number of locked messages in each partition.
    """

    aside: tuple[dict[QueuedMessage, None], ...]
    locked: dict[QueuedMessage, None] = attrs.field(factory=dict)
    deferred: dict[QueuedMessage, None] = attrs.field(factory=dict)
    sessions: dict[Session, None] = attrs.field(factory=dict)
    locks: list[int] = attrs.field(init=False)

    @locks.default
    def _no_locks(self) -> list[int]:
        return [0] * len(self.aside)

    def count(self, queued: QueuedMessage) -> None:
        """Count a message in its current state."""
        partition = queued.partition
        aside = self.aside[partition]
        is_aside = queued.state is not ACTIVE and queued.is_there
        if is_aside:
            aside[queued] = None
        elif queued in aside:
            del aside[queued]
        else:
            return
        if is_aside and queued.token is not None:
            if queued not in self.locked:
                self.locked[queued] = None
                self.locks[partition] += 1
        elif queued in self.locked:
            del self.locked[queued]
            self.locks[partition] -= 1
        if (is_deferred := is_aside and queued.state in DEFERRED) or self.deferred:
            _put(self.deferred, queued, there=is_deferred)

    def count_session(self, session: Session) -> None:
        """Count a session in its current state."""
        is_known = session.entity.sessions.get(session.name) is session
        _put(self.sessions, session, there=is_known and session.holder is not None)


class Tallies:
    """The counts for all entities of a namespace.

    Args:
        namespace: the namespace; its messages are scanned once, at the beginning.
    """

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._of: dict[Entity, Tally] = {}
        for entity in namespace.entities.values():
            for table in (entity.messages, entity.sessions):
                for record in table.values():
                    self._count(record)

    def is_all_aside(self, entity: Entity) -> bool:
        """Return whether a receive can deliver no message of an entity now."""
        return len(entity.messages) == sum(map(len, self.of(entity).aside))

    def of(self, entity: Entity) -> Tally:
        """Return the counts for an entity."""
        tally = self._of.get(entity)
        if tally is None:
            tally = self._of[entity] = Tally(tuple({} for _ in entity.partitions))
        return tally

    def hear(self, changes: Sequence[Change]) -> None:
        """Update the counts after changes."""
        for thing, key, before in changes:
            kind = type(thing)
            if kind is QueuedMessage:
                self.of(thing.entity).count(thing)
            elif kind is dict:
                for record in (before, thing.get(key)):
                    if isinstance(record, Record):
                        self._count(record)
            elif kind is not Partition:
                self._count(thing)

    def _count(self, record: object) -> None:
        if type(record) is QueuedMessage:
            self.of(record.entity).count(record)
        elif type(record) is Session:
            self.of(record.entity).count_session(record)
        elif type(record) is Entity and self._is_gone(record):
            self._of.pop(record, None)

    def _is_gone(self, entity: Entity) -> bool:
        return self._namespace.entities.get(entity.path) is not entity


def _put(table: dict[Thing, None], key: Thing, *, there: bool) -> None:
    if there:
        table[key] = None
    else:
        table.pop(key, None)
