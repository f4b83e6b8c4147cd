"""Recovery of a namespace from a store: rebuild records from rows, and index them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.broker.client_descriptions import Written
from busproof.broker.payloads import Name
from busproof.broker.storage.codec import read
from busproof.broker.storage.databases import damage_error
from busproof.broker.storage.payload_codec import check_packed, decode_additions
from busproof.broker.storage.rows import arrival_of, make_key
from busproof.broker.storage.store import Store
from busproof.broker.storage.write_set import NAMESPACE, NUMBERS
from busproof.model import Namespace
from busproof.model.life_cycle import LOCKED_STATES, State
from busproof.model.state import (
    NO_PARTITIONS,
    DuplicateEntry,
    Entity,
    Partition,
    QueuedMessage,
    ScheduledMessage,
)
from busproof.model.values import EntityKind, EntitySettings

__all__ = ["Loaded", "load_store"]

STATES: Final = {int(state): state for state in State}


@attrs.define
class Loaded:
    """State from a store that the model does not have.

    Attributes:
        numbers: path of an entity to its id.
        stated: path and session id to when the session's state was last set.
        descriptions: path to what administration clients wrote about the entity.
        strays: partition to the ids of deleted entities that still have rows there.
    """

    numbers: dict[str, int] = attrs.field(factory=dict)
    stated: dict[tuple[str, str], int] = attrs.field(factory=dict)
    descriptions: dict[str, Written] = attrs.field(factory=dict)
    strays: dict[int, set[int]] = attrs.field(factory=dict)


def load_store(store: Store, namespace: Namespace) -> Loaded:
    """Load a store into an empty namespace with the same profile.

    Raises:
        UsageError: a row cannot be read.
    """
    return _Reading(store, namespace).done()


class _Reading:
    def __init__(self, store: Store, namespace: Namespace) -> None:
        self._store = store
        self._namespace = namespace
        self._found = Loaded()
        self._entities: dict[int, Entity] = {}
        self._names: dict[str, Name] = {}

    def done(self) -> Loaded:
        namespace = self._namespace
        with self._reading(NAMESPACE, "notes"):
            self._notes()
        with self._reading(NAMESPACE, "entities"):
            # By id, because owners come first: topics before subscriptions, for example.
            for row in self._store.rows(NAMESPACE, "SELECT * FROM entities ORDER BY id"):
                self._entity(*row)
        with self._reading(NAMESPACE, "descriptions"):
            self._descriptions()
        for place in self._store.partitions:
            for table, reader in (
                ("counters", self._counters),
                ("homes", self._homes),
                ("sessions", self._sessions),
                ("duplicates", self._duplicates),
                ("messages", self._messages),
                ("scheduled", self._load_scheduled),
            ):
                with self._reading(place, table):
                    reader(place)
        namespace.now = self._store.last[1]
        # These records are in the store already and must not be written again.
        namespace.journal.forget()
        return self._found

    @contextmanager
    def _reading(self, place: int, table: str) -> Iterator[None]:
        """Name the table in errors about rows that cannot be read."""
        try:
            yield
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise damage_error(self._store.path(place), f"of its {table}, {error}") from None

    def _notes(self) -> None:
        sql = "SELECT name, value FROM notes WHERE name IN ('readings', 'down')"
        for name, value in self._store.rows(NAMESPACE, sql):
            table: Any = self._namespace.readings if name == "readings" else self._namespace.down
            table.update(read(value))

    def _descriptions(self) -> None:
        for path, text in self._store.rows(NAMESPACE, "SELECT * FROM descriptions"):
            description = read(text)
            if not isinstance(description, Written):
                raise TypeError(f"{text[:80]!r} is not a description")
            self._found.descriptions[path] = description

    def _entity(self, number: int, path: str, text: str) -> None:
        """Create an entity; its owner exists already, because it has a lower id."""
        namespace, entities = self._namespace, self._namespace.entities
        kind, settings, status, rules, count, capacity = read(text)
        if not isinstance(settings, EntitySettings):
            raise TypeError(f"{text[:80]!r} has no settings")
        kind = EntityKind(kind)
        partitions = tuple(Partition(number) for number in range(count))
        entity = Entity(namespace, path, kind, settings, partitions, capacity)
        entity.status, entity.rules = v.EntityStatus(status), rules
        entity.base = entity.owner = entity
        if kind is EntityKind.TOPIC:
            entity.subscriptions = ()
        elif kind is EntityKind.SUBSCRIPTION:
            topic = entity.base = entities[path.partition(v.SUBSCRIPTIONS)[0]]
            topic.subscriptions = (*(topic.subscriptions or ()), entity)
        elif kind is not EntityKind.QUEUE:
            owner = entity.owner = entities[v.owner_of(path)]
            entity.base = owner.base
            if kind is EntityKind.DEAD_LETTERS:
                owner.dead_letters = entity
            else:
                owner.transfers = entity
        if entity.owner is entity:
            namespace.rules.quotas.count(entity, 1)
        # A subscription is down exactly where its topic is, so only topics and queues have outages.
        if entity.base is entity:
            down = namespace.down.get(path, NO_PARTITIONS)
            entity.down = frozenset(partition for partition in down if partition < count)
        entities[path] = self._entities[number] = entity
        self._found.numbers[path] = number

    def _find_entity(self, place: int, number: int) -> Entity | None:
        entity = self._entities.get(number)
        if entity is None:
            # Deleting an entity changes the namespace's database first; a kill then leaves its
            # other rows.
            self._found.strays.setdefault(place, set()).add(number)
        return entity

    def _rows_of(self, place: int, table: str) -> Iterator[tuple[Entity, tuple[Any, ...]]]:
        """Yield the rows of existing entities in a partition's table."""
        for number, *values in self._store.rows(place, f"SELECT * FROM {table}"):  # noqa: S608 - constant names
            if (entity := self._find_entity(place, number)) is not None:
                yield entity, tuple(values)

    def _counters(self, place: int) -> None:
        for entity, (arrivals,) in self._rows_of(place, "counters"):
            entity.partitions[place].arrivals = arrivals

    def _homes(self, place: int) -> None:
        for entity, (name,) in self._rows_of(place, "homes"):
            entity.homes[name] = place

    def _sessions(self, place: int) -> None:
        namespace = self._namespace
        for entity, (name, holder, until, state, stated) in self._rows_of(place, "sessions"):
            session = namespace.rules.sessions.known(entity, name, place)
            session.holder, session.locked_until, session.state = holder, until, state
            session.index()
            if state:
                namespace.rules.sizes.charge(entity, place, len(state))
            if stated is not None:
                self._found.stated[entity.path, name] = stated

    def _duplicates(self, place: int) -> None:
        for entity, (source, key, message_id, until) in self._rows_of(place, "duplicates"):
            name = make_key(source, key), message_id
            entry = entity.duplicates[name] = DuplicateEntry(entity, name, until)
            entry.index()

    def _messages(self, place: int) -> None:
        namespace = self._namespace
        sizes = dict[Entity, int]()
        latest = namespace.arrivals
        enqueued_at = 0
        for (
            row,
            state,
            deliveries,
            failed,
            locked_until,
            cached_by,
            order,
            moment,
            expires_at,
            reason,
            more,
            name,
            text,
            content,
        ) in self._store.rows(place, "SELECT * FROM messages ORDER BY id"):
            if (entity := self._find_entity(place, row >> NUMBERS)) is None:
                continue
            message = self._message(name, text, content)
            if more is not None:
                self._names[name].more = {
                    **(self._names[name].more or {}),
                    entity.path: decode_additions(more),
                }
            if moment != enqueued_at:
                # Messages of one moment share its number, as they did when they came.
                enqueued_at = moment
            session = None
            if entity.settings.requires_session and message.session_id is not None:
                session_id = message.session_id
                session = namespace.rules.sessions.known(entity, session_id, place)
                session.messages += 1
            number = (place << v.SEQUENCE_BITS) + arrival_of(row)
            queued = QueuedMessage(
                entity, number, place, message, order, enqueued_at, session, expires_at, reason
            )
            queued.state, queued.deliveries = STATES[state], deliveries
            queued.failed, queued.locked_until = failed, locked_until
            queued.cached_by = cached_by
            if queued.state in LOCKED_STATES:
                # Derive the same token as before: clients may settle with it after they reconnect.
                queued.token = f"{number}/{queued.deliveries}"
            entity.messages[number] = queued
            entity.partitions[place].messages += 1
            latest = max(latest, order)
            if message.size:
                sizes[entity] = sizes.get(entity, 0) + message.size
            # Lines, timers, counts and sums are derived, because they are not stored.
            queued.index()
        namespace.arrivals = latest
        for entity, size in sizes.items():
            namespace.rules.sizes.charge(entity, place, size)

    def _load_scheduled(self, place: int) -> None:
        namespace = self._namespace
        sql = "SELECT * FROM scheduled ORDER BY id"
        for row, due, source, key, name, text, content in self._store.rows(place, sql):
            if (entity := self._find_entity(place, row >> NUMBERS)) is None:
                continue
            message = self._message(name, text, content)
            number = (place << v.SEQUENCE_BITS) + arrival_of(row)
            waiting = ScheduledMessage(entity, number, place, message, make_key(source, key), due)
            entity.scheduled[number] = waiting
            if message.size:
                namespace.rules.sizes.charge(entity, place, message.size)
            waiting.index()

    def _message(self, name: str, text: str, content: bytes | None) -> Any:
        """Return the message of a row; copies of a message share their content."""
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = Name(name)
            known.packed = None if content is None else check_packed(content)
        return read(text, body=known)
