"""Changes to a namespace since the last commit.

The model's journal names each record that a step changes and each table entry that it sets. The log
keeps their state at the last commit; the next commit writes their current state. So a message that
comes and goes in between costs nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, Final

import attrs

from busproof.broker.payloads import Contents
from busproof.broker.storage.codec import encode_value
from busproof.broker.storage.rows import DURABLE, Rows, place_of, table_of
from busproof.broker.storage.write_set import NAMESPACE, Changes, Statement
from busproof.model import Namespace
from busproof.model.journal import MISSING, Change, Record
from busproof.model.state import Entity, Partition

__all__ = ["ChangeLog"]

TABLES: Final = ("readings", "down")
"""Tables of the namespace that are stored as notes."""


@attrs.define
class _Noted:
    """A record that may have to be written.

    Attributes:
        record: the record, in its current state.
        before: the record's values in the store, or `None` if it is not there.
    """

    record: Any
    before: Any


def _nothing(_: Any) -> tuple[()]:
    return ()


def _select_durable(kind: type) -> Callable[[Any], Any]:
    """Return a function that selects the durable values from the values in the journal."""
    names: tuple[str, ...] = kind.names  # type: ignore[attr-defined]  # `record` sets it
    places = [names.index(name) for name in DURABLE[kind]]
    return itemgetter(*places) if places else _nothing


JOURNALED: Final = {kind: _select_durable(kind) for kind in DURABLE}
CURRENT: Final = {
    kind: attrgetter(*names) if names else _nothing for kind, names in DURABLE.items()
}
"""Functions that select the durable values of a record; a single value is not in a tuple."""


class ChangeLog:
    """A log of the changes to a namespace.

    Args:
        namespace: the namespace, whose current state counts as written.
        numbers: ids of entities by path.
        entities: the number of entities ever created.
    """

    def __init__(
        self, namespace: Namespace, numbers: Mapping[str, int] | None = None, entities: int = 0
    ) -> None:
        self._entities = entities
        self._gone: list[int] = []
        self._strays: dict[int, set[int]] = {}
        self._spans = False
        self.widest = 0
        """The highest number of partitions of any entity so far."""
        self._follow(namespace)
        for path, number in (numbers or {}).items():
            self._meet(namespace.entities[path], number)

    def _follow(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._noted: dict[int, _Noted] = {}
        self._numbers: dict[Entity, int] = {}
        self._owners: dict[Partition, Entity] = {}
        self._homes: dict[int, Entity] = {}
        self._new_homes: dict[tuple[Entity, str], int] = {}
        self._notes: set[str] = set()
        self.widest = max(self.widest, namespace.profile.partitions)

    @property
    def any(self) -> bool:
        """Whether there is anything to write."""
        return bool(self._noted or self._gone or self._notes or self._new_homes or self._strays)

    def begin(self, namespace: Namespace) -> None:
        """Follow another namespace, which is not written yet."""
        self._gone.extend(self._numbers.values())
        self._follow(namespace)
        # The store replaces the old namespace as a whole or not at all.
        self._spans = True
        self._notes.update(("entities", *TABLES))
        for entity in namespace.entities.values():
            self._note_entry(MISSING, entity)
            self._new_homes.update(((entity, key), home) for key, home in entity.homes.items())
            for table in (entity.messages, entity.scheduled, entity.sessions, entity.duplicates):
                for record in table.values():
                    self._note_entry(MISSING, record)
            for partition in entity.partitions:
                if partition.arrivals:
                    self._noted[id(partition)] = _Noted(partition, None)

    def note(self, changes: Sequence[Change]) -> None:
        """Record the changes of one step."""
        places = set(self._places(changes))
        self._spans |= len(places) > 1

    def clear(self, strays: Mapping[int, set[int]]) -> None:
        """Delete the rows of entities that no longer exist."""
        self._strays = dict(strays)

    def changes(
        self, number: int, now: int, contents: Contents, stated: dict[tuple[str, str], int]
    ) -> Changes:
        """Return the changes to write, and count them as written from now on."""
        changes = Changes(number, now, spans=self._spans)
        for place, numbers in self._strays.items():
            for stray in sorted(numbers):
                changes.drop(place, stray)
        for gone in self._gone:
            changes.add(NAMESPACE, Statement.DROP_ENTITY, gone)
            # Its rows may be in any partition; entities created later have other ids.
            for place in range(self.widest):
                changes.drop(place, gone)
        for name in sorted(self._notes):
            changes.add(NAMESPACE, Statement.PUT_NOTE, name, self._text(name))
        for noted in self._noted.values():
            owner = self._owner(noted.record)
            # If the entity is gone by now, all of its rows are deleted together.
            if (known := self._numbers.get(owner)) is not None:
                self._write(Rows(changes, contents, stated, known), noted)
        for (entity, key), home in self._new_homes.items():
            if (known := self._numbers.get(entity)) is not None:
                changes.add(home, Statement.PUT_HOME, known, key)
        self._noted, self._new_homes, self._gone, self._strays = {}, {}, [], {}
        self._notes, self._spans = set(), False
        changes.close()
        return changes

    def _places(self, changes: Sequence[Change]) -> Iterator[int]:
        """Record changes; yield the databases that they affect."""
        for thing, key, before in changes:
            if type(thing) is dict:
                yield from self._note_table(thing, key, before)
            elif type(thing) in DURABLE:
                yield from self._note_record(thing, before)

    def _note_record(self, record: Any, values: tuple[Any, ...]) -> Iterator[int]:
        before = JOURNALED[type(record)](values)
        # A step may change nothing durable, or take its own change back.
        if before == _durable(record):
            return
        if id(record) not in self._noted:
            self._noted[id(record)] = _Noted(record, before)
        if not isinstance(record, Partition):
            yield place_of(record, self._namespace.choices)

    def _note_table(self, table: dict[Any, Any], key: Any, before: Any) -> Iterator[int]:
        after = table.get(key, MISSING)
        if isinstance(before, Record) or isinstance(after, Record):
            for record in self._note_entry(before, after):
                yield place_of(record, self._namespace.choices)
        elif table is self._namespace.readings or table is self._namespace.down:
            # The namespace's database is written first, and each note is valid without the others.
            self._notes.add("readings" if table is self._namespace.readings else "down")
        elif (entity := self._homes.get(id(table))) is not None and after is not MISSING:
            self._new_homes[entity, key] = after
            yield after

    def _note_entry(self, before: Any, after: Any) -> list[Any]:
        """Record entries that were added to a table or removed; return those that are durable."""
        records = [record for record in (before, after) if type(record) in DURABLE]
        for record in records:
            if id(record) not in self._noted:
                written_before = _durable(record) if record is before else None
                self._noted[id(record)] = _Noted(record, written_before)
        if isinstance(before, Entity):
            self._lose(before)
        if isinstance(after, Entity):
            self._entities += 1
            self._notes.add("entities")
            self._meet(after, self._entities)
        return records

    def _meet(self, entity: Entity, number: int) -> None:
        self._numbers[entity] = number
        self._homes[id(entity.homes)] = entity
        self.widest = max(self.widest, len(entity.partitions))
        for partition in entity.partitions:
            self._owners[partition] = entity

    def _lose(self, entity: Entity) -> None:
        self._gone.append(self._numbers.pop(entity))
        del self._homes[id(entity.homes)]
        for partition in entity.partitions:
            del self._owners[partition]

    def _owner(self, record: Any) -> Any:
        if isinstance(record, Entity):
            return record
        return self._owners.get(record) if isinstance(record, Partition) else record.entity

    def _write(self, rows: Rows, noted: _Noted) -> None:
        """Add the row of a record to the commit, or its deletion."""
        record, before = noted.record, noted.before
        place = place_of(record, self._namespace.choices)
        is_there, replaced = True, False
        if not isinstance(record, Entity | Partition):
            table, key = table_of(record)
            current = table.get(key)
            is_there, replaced = current is record, current is not None
        if not is_there:
            # A row that was replaced under its key must not be deleted afterwards.
            if before is not None and not replaced:
                rows.drop(place, record)
        elif before is None or before != _durable(record):
            rows.put(place, record, is_new=before is None)

    def _text(self, name: str) -> str:
        if name == "entities":
            return str(self._entities)
        table = self._namespace.readings if name == "readings" else self._namespace.down
        return encode_value(tuple((key, table[key]) for key in sorted(table)))


def _durable(record: Any) -> Any:
    return CURRENT[type(record)](record)
