#!/usr/bin/env python3
"""Print docs/sql.md: what SQL filters take, by busproof and by SQLite, a second opinion."""

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Final

from busproof import spec
from busproof import vocabulary as v
from busproof.filters.matching import takes
from busproof.filters.readings import OURS

HEAD: Final = """# SQL of filters

`make diagrams` writes this page from `tools/sql_page.py`, and a test compares the two.
Filters and actions have the whole SQL of Microsoft's pages on their syntax.
Three columns say whether a message with these properties is taken.
The first is by the documents; *open* means that they do not say, and that the register asks.
The others are by the reference model, and by SQLite.

SQLite is a second opinion, from outside.
Drawn conditions are compared with it in `tests/filters/test_drawn.py`, where both mean the same.
That is so for operands of one type and for properties of the application's own.
It is not so for `newid()`, `property()`, `EXISTS` and `%`.
"""
SQLITE_DIFFERS: Final = """
## Where SQLite means something else

- It has an order of types: a text is greater than each number (SQL-TYPES).
- It makes a number of a text in arithmetic, and a text of a number before LIKE (SQL-TYPES).
- It makes whole numbers of the operands of `%`.
- It compares a whole number with a double exactly; C# makes a double of the number first.
- TRUE is 1, and FALSE is 0 (FILTER-28).
- A whole number that does not fit into 64 bits becomes a double (SQL-OVERFLOW).
- LIKE ignores the case of ASCII letters; here SQLite is told to regard it (LIKE-CASE).
- A bracket cannot be written in a name in brackets, and two minus signs begin a comment.
- `EXISTS` wants a query, and there are no `newid()`, `property()` and `sys.`.
"""

Properties = Mapping[str, v.PropertyValue]
ROWS: Final[tuple[tuple[str, Properties, str], ...]] = (
    ("a = 1", {"a": 1}, ""),
    ("a = 1", {"a": 1.0}, ""),
    ("a = 1", {"a": "1"}, "FILTER-28"),
    ("NOT a = 1", {"a": "1"}, "SQL-TYPES"),
    ("a = TRUE", {"a": True}, ""),
    ("a = TRUE", {"a": 1}, "FILTER-28"),
    ("a < 'b'", {"a": "a"}, "SQL-TYPES"),
    ("a < 2", {"a": "1"}, "SQL-TYPES"),
    ("a = 'x'", {"a": "X"}, ""),
    ("a = 1", {}, "FILTER-17"),
    ("NOT a = 1", {}, "FILTER-17"),
    ("a = 1 OR b = 1", {"b": 1}, "FILTER-17"),
    ("NOT (a = 1 AND b = 1)", {"b": 2}, "FILTER-17"),
    ("a IS NULL", {}, ""),
    ("a IS NOT NULL", {"a": 0}, ""),
    ("a = NULL", {"a": 1}, "SQL-NULL"),
    ("NULL = NULL", {}, "SQL-NULL"),
    ("a <> NULL", {"a": 1}, "SQL-NULL"),
    ("a NOT IN (1, NULL)", {"a": 2}, "SQL-NULL"),
    ("a NOT IN (1, 2)", {}, "FILTER-17"),
    ("a LIKE 'x%'", {"a": "xy"}, ""),
    ("a LIKE 'X%'", {"a": "xy"}, "LIKE-CASE"),
    ("a LIKE '1'", {"a": 1}, "SQL-TYPES"),
    ("a LIKE '!%' ESCAPE '!'", {"a": "%"}, ""),
    ("a / 2 = 2", {"a": 5}, ""),
    ("a / 2 = -2", {"a": -5}, ""),
    ("a % 3 = -2", {"a": -5}, ""),
    ("a / 2.0 = 2.5", {"a": 5}, ""),
    ("a / 0 = 1", {"a": 1}, "SQL-OVERFLOW"),
    ("a + 1 < 0", {"a": 2**63 - 1}, "SQL-OVERFLOW"),
    ("a + 'x' = 1", {"a": 1}, "SQL-TYPES"),
    ("a + NULL = 1", {"a": 1}, "SQL-NULL"),
    ("a = 9007199254740993.0", {"a": 2**53 + 1}, ""),
)
"""Conditions, the properties of a message, and the rule or the entry of the register."""


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_table(), SQLITE_DIFFERS]).rstrip("\n")


def _table() -> Iterator[str]:
    yield "| condition | properties | documents | model | SQLite | by |"
    yield "| --- | --- | --- | --- | --- | --- |"
    entries = {entry.id for entry in spec.load().ambiguities}
    for expression, properties, why in ROWS:
        wanted = v.SqlFilter(expression=expression)
        message = v.Message(body="m", properties=properties)
        documents = takes(wanted, message)
        if (documents is None) is not (why in entries) and why != "SQL-NULL":
            raise ValueError(f"{expression!r} with {dict(properties)} is not of {why}")
        model = takes(wanted, message, readings=OURS) is True
        shown = ", ".join(f"{name} = {value!r}" for name, value in properties.items())
        words = [_word(each) for each in (documents, model, _by_sqlite(expression, properties))]
        yield f"| `{expression}` | {shown or 'none'} | {' | '.join(words)} | {why} |"


def _word(taken: bool | None) -> str:
    return "open" if taken is None else "taken" if taken else "not taken"


def _by_sqlite(expression: str, properties: Properties) -> bool:
    base = sqlite3.connect(":memory:")
    base.execute("PRAGMA case_sensitive_like = ON")
    base.execute("CREATE TABLE message (a, b)")
    base.execute("INSERT INTO message VALUES (?, ?)", (properties.get("a"), properties.get("b")))
    query = f"SELECT 1 FROM message WHERE {expression}"  # noqa: S608 - the rows above
    return bool(base.execute(query).fetchall())


if __name__ == "__main__":
    print(page())
