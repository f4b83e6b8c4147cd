"""What a replay may forget of a long history: all that no step which can be undone may need.

A search keeps its last steps, and the journal what they changed. What lies behind the first of
them, the *floor*, cannot be undone. A message that left before the floor comes back by no undo, and
no later answer may show it; so all that is known of it is dropped, except its number, which no
other message may have.
"""

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, TypeVar

import attrs

from busproof import vocabulary as v
from busproof.model.journal import Record
from busproof.model.rules import Namespace
from busproof.model.state import BufferedSend, Entity, QueuedMessage

__all__ = ["Floor", "Numbers", "base_path", "messages_of"]

Key = TypeVar("Key")
Value = TypeVar("Value")
MOST: Final = 1 << 64


def base_path(path: str) -> str:
    """Return the path of the queue or topic whose partitions an entity shares."""
    owner, subscriptions, _ = v.owner_of(path).partition(v.SUBSCRIPTIONS)
    return owner if subscriptions else v.owner_of(path)


def messages_of(command: v.Command) -> tuple[v.Message, ...]:
    """Return the messages that a command sends."""
    match command:
        case v.Send() | v.Schedule():
            return (command.message,)
        case v.SendBatch():
            return command.messages
    return ()


@attrs.frozen
class Floor:
    """What lies behind the floor of a search.

    Attributes:
        index: the index of the first event that may be undone.
        bodies: how many messages with a body a queue or topic has, or may have after an undo.
        entities: the entities that are there, or may be.
        waiting: the requests without an answer that may still take effect.
        sends: the sends that a commit may still make.
    """

    index: int
    bodies: Counter[tuple[str, str]]
    entities: Collection[Entity]
    waiting: Collection[int]
    sends: Collection[BufferedSend]
    _records: Collection[Record]
    _keys: dict[int, set[Any]]

    @classmethod
    def of(cls, namespace: Namespace, index: int, waiting: Mapping[int, v.Event]) -> "Floor":
        """Return what lies behind the changes that the journal of a namespace still has."""
        records: set[Record] = set()
        keys: dict[int, set[Any]] = {}
        # An undo may restore those that have taken effect.
        lost = dict(waiting)
        for thing, key, before in namespace.journal.log:
            if thing is waiting and isinstance(before, v.Event):
                lost[key] = before
            if type(thing) is dict:
                keys.setdefault(id(thing), set()).add(key)
                values = (key, before, thing.get(key))
                records.update(value for value in values if isinstance(value, Record))
            elif isinstance(thing, Record):
                records.add(thing)
        for entity in namespace.entities.values():
            records.update(records_of(entity))
        bodies = Counter[tuple[str, str]]()
        entities = set()
        for record in records:
            if isinstance(record, Entity):
                entities.add(record)
            message: v.Message | None = getattr(record, "message", None)
            if message is not None:
                path = base_path(record.entity.path)  # type: ignore[attr-defined]  # of a message
                bodies[path, message.body] += 1
        for event in lost.values():
            path = base_path(getattr(event.command, "queue", ""))
            bodies.update((path, message.body) for message in messages_of(event.command))
        sends = {
            send
            for transaction in namespace.transactions.values()
            if transaction in records or not transaction.ended
            for send in transaction.sends
        }
        bodies.update((base_path(send.entity.path), send.message.body) for send in sends)
        return cls(index, bodies, entities, lost, sends, records, keys)

    def is_gone(self, record: Record) -> bool:
        """Return whether a record left before the floor."""
        return record not in self._records

    def is_final(self, table: dict[Key, Value], key: Key) -> bool:
        """Return whether a table has an entry that no undo removes."""
        return key in table and key not in self._keys.get(id(table), ())

    @property
    def messages(self) -> Iterator[QueuedMessage]:
        """The messages that are there, or may be after an undo."""
        return (record for record in self._records if isinstance(record, QueuedMessage))

    def drop(self, table: dict[Key, Value], is_over: Callable[[Key, Value], bool]) -> None:
        """Drop the entries of a table that are over, unless an undo restores or removes them."""
        kept = self._keys.get(id(table), ())
        over = [key for key, value in table.items() if key not in kept and is_over(key, value)]
        for key in over:
            del table[key]


def records_of(entity: Entity) -> Iterator[Record]:
    """Yield an entity and everything in it."""
    yield entity
    yield from entity.messages.values()
    yield from entity.scheduled.values()
    yield from entity.sessions.values()
    yield from entity.duplicates.values()


class Numbers:
    """A set of sequence numbers, as ranges: most buses leave no gaps."""

    def __init__(self) -> None:
        self._firsts = array("Q")
        self._lasts = array("Q")

    def __contains__(self, number: int) -> bool:
        """Return whether a number was added."""
        place = bisect_right(self._firsts, number) - 1
        return place >= 0 and number <= self._lasts[place]

    def add(self, number: int) -> None:
        """Add a number; one that is no sequence number is left out."""
        if not 0 <= number < MOST or number in self:
            return
        firsts = self._firsts
        lasts = self._lasts
        place = bisect_right(firsts, number)
        is_next = place > 0 and lasts[place - 1] == number - 1
        is_before = place < len(firsts) and firsts[place] == number + 1
        if is_next and is_before:
            lasts[place - 1] = lasts[place]
            del firsts[place]
            del lasts[place]
        elif is_next:
            lasts[place - 1] = number
        elif is_before:
            firsts[place] = number
        else:
            firsts.insert(place, number)
            lasts.insert(place, number)
