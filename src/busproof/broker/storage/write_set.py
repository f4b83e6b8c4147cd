"""The changes of one commit: rows for the namespace's database and for the partitions."""

from enum import IntEnum
from typing import Any, Final

import attrs

__all__ = ["ARGUMENTS", "NAMESPACE", "PARAMETERS", "STATEMENTS", "Changes", "Statement", "row_id"]

NAMESPACE: Final = -1
"""Number that stands for the namespace's database where others are partitions."""

NUMBERS: Final = 40
"""Bits of a row id for a message's number in its partition; the higher bits are the entity's id."""


# A move stores these numbers, so none of them may ever change.
class Statement(IntEnum):
    """Operations on rows of the store."""

    PUT_MESSAGE = 0
    SET_STANDING = 1
    DROP_MESSAGE = 2
    PUT_SCHEDULED = 3
    DROP_SCHEDULED = 4
    PUT_SESSION = 5
    DROP_SESSION = 6
    PUT_DUPLICATE = 7
    DROP_DUPLICATE = 8
    PUT_HOME = 9
    PUT_COUNTERS = 10
    PUT_ENTITY = 11
    DROP_ENTITY = 12
    PUT_NOTE = 13
    DROP_MESSAGES = 14
    DROP_ALL_SCHEDULED = 15
    DROP_SESSIONS = 16
    DROP_DUPLICATES = 17
    DROP_HOMES = 18
    DROP_COUNTERS = 19
    PUT_DESCRIPTION = 20
    DROP_DESCRIPTION = 21


def _put(table: str, values: int) -> str:
    return f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * values)})"  # noqa: S608 - constant names


STATEMENTS: Final[dict[Statement, str]] = {
    Statement.PUT_MESSAGE: _put("messages", 14),
    Statement.SET_STANDING: (
        "UPDATE messages SET state = ?, deliveries = ?, failed = ?, locked_until = ?, "
        "cached_by = ?, more = ? WHERE id = ?"
    ),
    Statement.DROP_MESSAGE: "DELETE FROM messages WHERE id = ?",
    Statement.PUT_SCHEDULED: _put("scheduled", 7),
    Statement.DROP_SCHEDULED: "DELETE FROM scheduled WHERE id = ?",
    Statement.PUT_SESSION: _put("sessions", 6),
    Statement.DROP_SESSION: "DELETE FROM sessions WHERE entity = ? AND name = ?",
    Statement.PUT_DUPLICATE: _put("duplicates", 5),
    Statement.DROP_DUPLICATE: (
        "DELETE FROM duplicates WHERE entity = ? AND source = ? AND key = ? AND message_id = ?"
    ),
    Statement.PUT_HOME: _put("homes", 2),
    Statement.PUT_COUNTERS: _put("counters", 2),
    Statement.PUT_ENTITY: _put("entities", 3),
    Statement.DROP_ENTITY: "DELETE FROM entities WHERE id = ?",
    Statement.PUT_NOTE: _put("notes", 2),
    Statement.DROP_MESSAGES: "DELETE FROM messages WHERE id BETWEEN ? AND ?",
    Statement.DROP_ALL_SCHEDULED: "DELETE FROM scheduled WHERE id BETWEEN ? AND ?",
    Statement.DROP_SESSIONS: "DELETE FROM sessions WHERE entity = ?",
    Statement.DROP_DUPLICATES: "DELETE FROM duplicates WHERE entity = ?",
    Statement.DROP_HOMES: "DELETE FROM homes WHERE entity = ?",
    Statement.DROP_COUNTERS: "DELETE FROM counters WHERE entity = ?",
    Statement.PUT_DESCRIPTION: _put("descriptions", 2),
    Statement.DROP_DESCRIPTION: "DELETE FROM descriptions WHERE path = ?",
}


PARAMETERS: Final = {statement: sql.count("?") for statement, sql in STATEMENTS.items()}
"""Number of parameters of each statement."""
ARGUMENTS: Final = max(PARAMETERS.values())


def row_id(entity: int, number: int = 0) -> int:
    """Return the row id of a message; with number 0, the lowest of its entity."""
    return (entity << NUMBERS) + number


@attrs.define
class Changes:
    """The rows that one commit writes and deletes.

    Attributes:
        number: the number of the commit.
        now: the time of the bus, in microseconds.
        rows: partition or `NAMESPACE` to the statements and their parameters.
        spans: whether one command changed rows in several databases, so that the commit is
            atomic.
        left: the databases that are not written yet, in order; the namespace's is first, because
            rows of entities missing from it count as deleted.
    """

    number: int
    now: int
    rows: dict[int, dict[Statement, list[tuple[Any, ...]]]] = attrs.field(factory=dict)
    spans: bool = False
    left: list[int] = attrs.field(factory=list)

    def add(self, place: int, statement: Statement, *values: Any) -> None:
        """Add a statement for one row."""
        self.rows.setdefault(place, {}).setdefault(statement, []).append(values)

    def drop(self, place: int, entity: int) -> None:
        """Delete all rows with an entity id, even if no such entity exists."""
        # The entity's id is in the high bits of a row id, so its rows are one range.
        between = row_id(entity), row_id(entity + 1) - 1
        self.add(place, Statement.DROP_MESSAGES, *between)
        self.add(place, Statement.DROP_ALL_SCHEDULED, *between)
        self.add(place, Statement.DROP_SESSIONS, entity)
        self.add(place, Statement.DROP_DUPLICATES, entity)
        self.add(place, Statement.DROP_HOMES, entity)
        self.add(place, Statement.DROP_COUNTERS, entity)

    def close(self) -> None:
        """Complete the commit; no statements may follow."""
        places = set(self.rows)
        # Rows that came and went within the commit are not written, so one database may be left.
        self.spans = self.spans and len(places) > 1
        self.left = sorted(places | {NAMESPACE} if self.spans else places)
