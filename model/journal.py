"""Changes are written down before they are made, so that they can be undone and stored.

The truth is in records and in tables of records; every change of it goes through a journal.
Whatever finds records quickly (lines, heaps, timers) is an *index*: it holds everything that it
should, and perhaps more, which is dropped when it is met. So undoing restores records and tables
only, and asks each restored record to enter its indexes again. What a durable store has to write
after a step is exactly what the journal holds.
"""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, ClassVar, Final, TypeVar, dataclass_transform

import attrs

__all__ = ["MISSING", "Change", "Journal", "Record", "record"]

MISSING: Final = object()
Kind = TypeVar("Kind")
Change = tuple[Any, Any, Any]
"""A record, `None` and its values before; or a table, a key and the entry before."""


class Record:
    """Something that a journal can restore; `touched` is the epoch in which it was written down."""

    __slots__ = ()
    touched: int
    names: ClassVar[tuple[str, ...]]
    values: ClassVar[Callable[[Any], tuple[Any, ...]]]

    def index(self) -> None:
        """Enter the indexes that this belongs to."""


@dataclass_transform(field_specifiers=(attrs.field,))
def record(*, indexes: Sequence[str] = ()) -> Callable[[type[Kind]], type[Kind]]:
    """Make a class of records, whose fields named in `indexes` are not restored."""

    def decorate(kind: type[Kind]) -> type[Kind]:
        made: Any = attrs.define(kind, eq=False, slots=True, repr=False)
        apart = {"touched", *indexes}
        made.names = tuple(field.name for field in attrs.fields(made) if field.name not in apart)
        made.values = attrgetter(*made.names, "touched")
        return made  # type: ignore[no-any-return]

    return decorate


class Journal:
    """What was changed since it was last forgotten, oldest first."""

    __slots__ = ("epoch", "log", "revealed")

    def __init__(self) -> None:
        self.epoch = 1
        self.log: list[Change] = []
        self.revealed: list[tuple[dict[Any, Any], Any, Any]] = []

    def forget(self) -> None:
        """Give up undoing what was changed so far."""
        self.epoch += 1
        self.log.clear()

    def begin(self) -> int:
        """Return a place to undo to, at the beginning of a step that has revealed nothing yet."""
        self.revealed.clear()
        return self.mark()

    def mark(self) -> int:
        """Return a place to undo to."""
        self.epoch += 1
        return len(self.log)

    def touch(self, thing: Any) -> None:
        """Write a record down that is about to be changed; free after the first time."""
        if thing.touched != self.epoch:
            self.log.append((thing, None, thing.values(thing)))
            thing.touched = self.epoch

    def put(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        """Set an entry of a table."""
        self.log.append((table, key, table.get(key, MISSING)))
        table[key] = value

    def drop(self, table: dict[Any, Any], key: Any) -> None:
        """Remove an entry from a table."""
        self.log.append((table, key, table.pop(key)))

    def passed(self, restore: Callable[[Any], None], timer: Any) -> None:
        """Write down a timer that has run: if time goes back, it has to run again."""
        self.log.append((restore, None, timer))

    def reveal(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        """Set an entry that a client can infer even from a refusal, and that outlives one.

        A refusal in an outage shows which partition a key selects: that choice was made for good,
        although the send that made it has no effect (KEY-03, KEY-20).
        """
        self.put(table, key, value)
        self.revealed.append((table, key, value))

    def refuse(self, mark: int) -> None:
        """Undo everything since the mark except for what was revealed."""
        self.undo(mark)
        for entry in self.revealed:
            self.put(*entry)

    def undo(self, mark: int = 0) -> None:
        """Undo everything since the mark.

        A record that has left may be met again in an index, so records enter theirs anew only
        after all of them and all tables are as they were.
        """
        log = self.log
        restored: list[Record] = []
        while len(log) > mark:
            thing, key, before = log.pop()
            if isinstance(thing, Record):
                for name, value in zip((*thing.names, "touched"), before, strict=True):
                    setattr(thing, name, value)
                restored.append(thing)
            elif type(thing) is not dict:
                thing(before)
            elif before is MISSING:
                del thing[key]
            else:
                thing[key] = before
                if isinstance(before, Record):
                    restored.append(before)
        self.epoch += 1
        for each in restored:
            each.index()

    def since(self, mark: int) -> tuple[Change, ...]:
        """Return the changes since the mark."""
        return tuple(self.log[mark:])

    @staticmethod
    def changed(changes: Sequence[Change]) -> list[tuple[Any, Any]]:
        """Return each record that was changed, and each table with the key of a changed entry."""
        found: dict[tuple[int, Any], tuple[Any, Any]] = {}
        for thing, key, _ in changes:
            if isinstance(thing, Record | dict):
                found[id(thing), key] = (thing, key)
        return list(found.values())
