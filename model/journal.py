"""The journal: every change is recorded before it is made, so that it can be undone and stored.

The state consists of records and tables of records, and every change of it goes through a journal.
Structures that find records quickly (lines, heaps, timers) are *indexes*: they have every valid
entry, and perhaps stale ones, which are dropped when they are met. So an undo restores records and
tables only, and then lets each restored record enter its indexes again. A durable store has to
write exactly the changes in the journal.
"""

from collections.abc import Callable, Sequence, Set
from operator import attrgetter
from typing import Any, ClassVar, Final, TypeVar, dataclass_transform

import attrs

__all__ = ["MISSING", "Change", "Journal", "Record", "record"]

MISSING: Final = object()
Kind = TypeVar("Kind")
Change = tuple[Any, Any, Any]
"""A record, `None` and its old values; or a table, a key and the old entry."""


@attrs.define(eq=False, repr=False)
class Record:
    """A value that a journal can restore; `touched` is the epoch in which it was last saved."""

    touched: int = attrs.field(default=0, init=False)
    apart: ClassVar[Set[str]] = {"touched"}
    names: ClassVar[tuple[str, ...]]
    values: ClassVar[Callable[[Any], tuple[Any, ...]]]

    def index(self) -> None:
        """Add this record to the indexes that have to find it."""


@dataclass_transform(field_specifiers=(attrs.field,))
def record(*, indexes: Sequence[str] = ()) -> Callable[[type[Kind]], type[Kind]]:
    """Return a decorator that makes a class of records, which restores all but `indexes`."""

    def decorate(kind: type[Kind]) -> type[Kind]:
        made: Any = attrs.define(kind, eq=False, slots=True, repr=False)
        made.apart = {*made.apart, *indexes}
        fields = (field.name for field in attrs.fields(made))
        made.names = tuple(name for name in fields if name not in made.apart)
        made.values = attrgetter(*made.names, "touched")
        return made  # type: ignore[no-any-return]  # attrs says `Any`

    return decorate


class Journal:
    """Changes since the journal was last cleared, oldest first."""

    __slots__ = ("epoch", "log", "revealed")

    def __init__(self) -> None:
        self.epoch = 1
        self.log: list[Change] = []
        self.revealed: list[tuple[dict[Any, Any], Any, Any]] = []

    def forget(self) -> None:
        """Discard the recorded changes, so that they can no longer be undone."""
        self.epoch += 1
        if self.log or self.revealed:
            self.log.clear()
            self.revealed.clear()

    def forget_before(self, mark: int) -> None:
        """Discard the changes before a mark, which can no longer be undone."""
        del self.log[:mark]

    def mark(self) -> int:
        """Return a mark; `undo` can restore the state of this moment."""
        self.epoch += 1
        return len(self.log)

    def touch(self, thing: Any) -> None:
        """Save a record's values, unless that has been done in this epoch."""
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

    def reveal(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        """Set an entry that survives a refusal, because the refusal shows it to the client.

        A refusal in an outage shows the partition of a key. So the choice of the partition is
        permanent although the send has no effect (KEY-03, KEY-20).
        """
        self.put(table, key, value)
        self.revealed.append((table, key, value))

    def refuse(self, mark: int) -> None:
        """Undo everything since the mark, except revealed entries."""
        self.undo(mark)
        for entry in self.revealed:
            self.put(*entry)

    def undo(self, mark: int = 0) -> None:
        """Undo everything since the mark.

        Records enter their indexes only after all records and tables are restored, because a stale
        entry of an index may be a record that is restored later.
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
        for record in restored:
            record.index()

    def hand_over(self) -> Sequence[Change]:
        """Return all changes, without copying them, and begin anew; they cannot be undone."""
        log, self.log = self.log, []
        return log
