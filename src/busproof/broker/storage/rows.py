"""The rows of the store: how each kind of record is stored.

Each record belongs to a database and has durable values. Everything else can be rebuilt: counts of
messages and bytes, lines and timers, lock tokens, and the sessions of messages. Transactions are
not stored, because a restart rolls them back.
"""

from typing import Any, Final

import attrs

from busproof.broker.amqp.messages import Content
from busproof.broker.payloads import Contents, Name
from busproof.broker.storage.codec import encode_value
from busproof.broker.storage.payload_codec import encode_additions, pack
from busproof.broker.storage.write_set import NAMESPACE, Changes, Statement, row_id
from busproof.model.choices import Choices
from busproof.model.state import (
    DuplicateEntry,
    Entity,
    Partition,
    QueuedMessage,
    ScheduledMessage,
    Session,
)
from busproof.model.values import Key

__all__ = ["DURABLE", "Rows", "arrival_of", "make_key", "place_of", "table_of"]

DURABLE: Final[dict[type, tuple[str, ...]]] = {
    Entity: ("settings", "status", "rules", "capacity"),
    Partition: ("arrivals",),
    Session: ("holder", "locked_until", "state"),
    QueuedMessage: ("state", "deliveries", "failed", "locked_until", "cached_by"),
    ScheduledMessage: (),
    DuplicateEntry: ("until",),
}
"""The values of each kind of record that are written again when they change."""

NUMBER: Final = (1 << 40) - 1
"""Mask for the bits of a sequence number that count within the partition."""


def place_of(record: Any, choices: Choices) -> int:
    """Return the database of a record: a partition, or `NAMESPACE`."""
    if isinstance(record, Entity):
        return NAMESPACE
    if isinstance(record, Partition):
        return record.number
    if isinstance(record, DuplicateEntry):
        return _home(record, choices)
    partition: int = record.partition
    return partition


def _home(entry: DuplicateEntry, choices: Choices) -> int:
    """Return the partition that a duplicate entry belongs to; 0 if no key selects one."""
    key, base = entry.name[0], entry.entity.base
    if key is None:
        return 0
    home = choices.home(key.value, len(base.partitions))
    return base.homes.get(key.value, 0) if home is None else home


def table_of(record: Any) -> tuple[dict[Any, Any], Any]:
    """Return the table that holds a record while the record exists, and its key there."""
    if isinstance(record, QueuedMessage):
        return record.entity.messages, record.number
    if isinstance(record, ScheduledMessage):
        return record.entity.scheduled, record.number
    if isinstance(record, Session):
        return record.entity.sessions, record.name
    return record.entity.duplicates, record.name


def arrival_of(number: int) -> int:
    """Return the part of a sequence number that counts within the partition."""
    return number & NUMBER


def make_key(source: str, value: str) -> Key | None:
    """Return the key with this source and value; `None` if the source is empty."""
    return Key(source, value) if source else None


@attrs.frozen
class Rows:
    """A writer of an entity's rows.

    Attributes:
        changes: the commit that gets the rows.
        contents: the properties that settlements added to messages.
        stated: path and session id to when the session's state was last set.
        number: the id of the entity.
    """

    changes: Changes
    contents: Contents
    stated: dict[tuple[str, str], int]
    number: int

    def put(self, place: int, record: Any, *, is_new: bool) -> None:
        """Write the row of a record that exists."""
        if isinstance(record, QueuedMessage):
            self._message(place, record, is_new=is_new)
        elif isinstance(record, Partition):
            self.changes.add(place, Statement.PUT_COUNTERS, self.number, record.arrivals)
        elif isinstance(record, Session):
            self._session(place, record)
        elif isinstance(record, ScheduledMessage):
            row = row_id(self.number, arrival_of(record.number))
            key = _key_columns(record.key)
            message = _message(record.message)
            self.changes.add(place, Statement.PUT_SCHEDULED, row, record.due, *key, *message)
        elif isinstance(record, DuplicateEntry):
            name = (*_key_columns(record.name[0]), record.name[1])
            self.changes.add(place, Statement.PUT_DUPLICATE, self.number, *name, record.until)
        elif isinstance(record, Entity):
            text = encode_value(_entity(record))
            self.changes.add(place, Statement.PUT_ENTITY, self.number, record.path, text)

    def drop(self, place: int, record: Any) -> None:
        """Delete the row of a record that was removed."""
        if isinstance(record, QueuedMessage):
            row = row_id(self.number, arrival_of(record.number))
            self.changes.add(place, Statement.DROP_MESSAGE, row)
        elif isinstance(record, ScheduledMessage):
            row = row_id(self.number, arrival_of(record.number))
            self.changes.add(place, Statement.DROP_SCHEDULED, row)
        elif isinstance(record, Session):
            self.changes.add(place, Statement.DROP_SESSION, self.number, record.name)
        elif isinstance(record, DuplicateEntry):
            name = (*_key_columns(record.name[0]), record.name[1])
            self.changes.add(place, Statement.DROP_DUPLICATE, self.number, *name)

    def _message(self, place: int, queued: QueuedMessage, *, is_new: bool) -> None:
        row = row_id(self.number, arrival_of(queued.number))
        standing = (int(queued.state), queued.deliveries, queued.failed, queued.locked_until)
        more = encode_additions(
            self.contents.more(queued.entity.path, queued.message.body, queued.reason)
        )
        # The contents of a message never change, so only its state is written again.
        if not is_new:
            values = (*standing, queued.cached_by, more, row)
            self.changes.add(place, Statement.SET_STANDING, *values)
            return
        self.changes.add(
            place,
            Statement.PUT_MESSAGE,
            row,
            *standing,
            queued.cached_by,
            queued.arrival,
            queued.enqueued_at,
            queued.expires_at,
            queued.reason,
            more,
            *_message(queued.message),
        )

    def _session(self, place: int, session: Session) -> None:
        """Write a session if it is held or has a state; others are rebuilt from their messages."""
        if session.holder is None and session.state is None:
            self.drop(place, session)
            return
        stated = self.stated.get((session.entity.path, session.name))
        self.changes.add(
            place,
            Statement.PUT_SESSION,
            self.number,
            session.name,
            session.holder,
            session.locked_until,
            session.state,
            stated,
        )


def _key_columns(key: Key | None) -> tuple[str, str]:
    return ("", "") if key is None else (key.source, key.value)


def _message(message: Any) -> tuple[str, str, bytes | None]:
    """Return the name of a message, the model's part of it, and its content."""
    name = message.body
    kept = name.packed if isinstance(name, Name) else None
    # A content that was loaded and never delivered is still encoded.
    content = pack(kept) if isinstance(kept, Content) else kept
    return str(name), encode_value(message, without=("body",)), content


def _entity(entity: Entity) -> tuple[Any, ...]:
    """Return the stored values of an entity, without its messages and sessions."""
    partitions = len(entity.partitions)
    values = (entity.kind.value, entity.settings, entity.status.value, entity.rules)
    return (*values, partitions, entity.capacity)
