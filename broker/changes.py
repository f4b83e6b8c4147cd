"""What is written by one commit: rows for the namespace's own database and for the partitions'."""

from enum import IntEnum
from typing import Any, Final

import attrs

__all__ = ["NAMESPACE", "PARAMETERS", "STATEMENTS", "Changes", "Statement", "row_id"]

NAMESPACE: Final = -1
"""In the place of a partition: the namespace's own database."""

NUMBERS: Final = 40
"""Bits of a row's id for the message's number within its entity; the entity's id is above."""


class Statement(IntEnum):
    """What may be done to a row."""

    PUT_MESSAGE = 0
    SET_STANDING = 1
    DROP_MESSAGE = 2
    PUT_WAITING = 3
    DROP_WAITING = 4
    PUT_PIECE = 5
    DROP_PIECE = 6
    PUT_REST = 7
    DROP_MESSAGES = 8
    DROP_ALL_WAITING = 9
    DROP_PIECES = 10
    DROP_REST = 11
    PUT_ENTITY = 12
    DROP_ENTITY = 13
    PUT_NOTE = 14


STATEMENTS: Final[dict[Statement, str]] = {
    Statement.PUT_MESSAGE: "INSERT OR REPLACE INTO messages VALUES (?, ?, ?, ?, ?)",
    Statement.SET_STANDING: "UPDATE messages SET standing = ?2, more = ?3 WHERE id = ?1",
    Statement.DROP_MESSAGE: "DELETE FROM messages WHERE id = ?",
    Statement.PUT_WAITING: "INSERT OR REPLACE INTO waiting VALUES (?, ?, ?, ?)",
    Statement.DROP_WAITING: "DELETE FROM waiting WHERE id = ?",
    Statement.PUT_PIECE: "INSERT OR REPLACE INTO pieces VALUES (?, ?, ?, ?)",
    Statement.DROP_PIECE: "DELETE FROM pieces WHERE entity = ? AND map = ? AND name = ?",
    Statement.PUT_REST: "INSERT OR REPLACE INTO rests VALUES (?, ?, ?)",
    Statement.DROP_MESSAGES: "DELETE FROM messages WHERE id BETWEEN ? AND ?",
    Statement.DROP_ALL_WAITING: "DELETE FROM waiting WHERE id BETWEEN ? AND ?",
    Statement.DROP_PIECES: "DELETE FROM pieces WHERE entity = ?",
    Statement.DROP_REST: "DELETE FROM rests WHERE entity = ?",
    Statement.PUT_ENTITY: "INSERT OR REPLACE INTO entities VALUES (?, ?, ?)",
    Statement.DROP_ENTITY: "DELETE FROM entities WHERE id = ?",
    Statement.PUT_NOTE: "INSERT OR REPLACE INTO notes VALUES (?, ?)",
}


PARAMETERS: Final = {
    statement: 3 if statement is Statement.SET_STANDING else sql.count("?")
    for statement, sql in STATEMENTS.items()
}
"""How many values each of them takes."""


def row_id(entity: int, number: int = 0) -> int:
    """The id of a message's row."""
    return (entity << NUMBERS) + number


@attrs.define
class Changes:
    """One commit.

    Attributes:
        number: how many commits there were with it.
        now: the time of the bus, in microseconds.
        rows: partition, or `NAMESPACE`, to what is done there to which rows.
        spans: whether one command has changed rows in several databases, so that either all of
            this is kept or nothing.
        left: the databases in which it is not done yet, in their order: the namespace's own comes
            first, for what is of an entity that it does not know counts as gone.
    """

    number: int
    now: int
    rows: dict[int, dict[Statement, list[tuple[Any, ...]]]] = attrs.field(factory=dict)
    spans: bool = False
    left: list[int] = attrs.field(factory=list)

    def add(self, place: int, statement: Statement, *values: Any) -> None:
        """Do this to one row."""
        self.rows.setdefault(place, {}).setdefault(statement, []).append(values)

    def drop(self, place: int, entity: int) -> None:
        """Do away with all rows of an entity, or of what no entity is known of."""
        between = row_id(entity), row_id(entity + 1) - 1
        self.add(place, Statement.DROP_MESSAGES, *between)
        self.add(place, Statement.DROP_ALL_WAITING, *between)
        self.add(place, Statement.DROP_PIECES, entity)
        self.add(place, Statement.DROP_REST, entity)

    def close(self) -> None:
        """Nothing more is to be done."""
        places = set(self.rows)
        self.spans = self.spans and len(places) > 1
        self.left = sorted(places | {NAMESPACE} if self.spans else places)
