"""What the rules of a subscription take in the seeded bus; SQL is left to SQLite.

SQLite is an implementation of SQL that owes nothing to ours. Properties become parameters of a
query of one row, so that nothing of a filter but its syntax reaches the database.
"""

import re
import sqlite3
from collections.abc import Mapping
from typing import Final

import attrs

from busproof.vocabulary.messages import Message
from busproof.vocabulary.subscription_rules import (
    CorrelationFilter,
    FalseFilter,
    Filter,
    SqlFilter,
    TrueFilter,
)

__all__ = ["SYSTEM", "is_valid", "takes", "value_of"]

SYSTEM: Final = {
    "messageid": "message_id",
    "sessionid": "session_id",
    "correlationid": "correlation_id",
    "to": "to",
    "replyto": "reply_to",
    "label": "subject",
    "replytosessionid": "reply_to_session_id",
    "contenttype": "content_type",
}
_WORDS: Final = frozenset(
    ("and", "or", "not", "is", "null", "in", "like", "escape", "true", "false")
)
_PIECE: Final = re.compile(
    r"""(?P<text>'(?:[^']|'')*')
      | exists\s*\(\s*(?P<asked>(?:(?:sys|user)\s*\.\s*)?[^\W\d]\w*)\s*\)
      | (?P<name>(?:(?:sys|user)\s*\.\s*)?[^\W\d]\w*)
      | (?P<number>\d+(?:\.\d+)?)
      | (?P<sign><>|!=|<=|>=|[-+*/%<>=(),])
      | (?P<blank>\s+)
      | (?P<wrong>.)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)

Value = str | int | float | bool | None


def takes(wanted: Filter, message: Message) -> bool:
    """Whether a filter takes a message."""
    match wanted:
        case TrueFilter():
            return True
        case FalseFilter():
            return False
        case CorrelationFilter():
            return _correlates(wanted, message)
        case SqlFilter(expression=expression):
            return _asked(expression, message) == 1


def is_valid(wanted: Filter) -> bool:
    """Whether a filter can be evaluated at all."""
    if not isinstance(wanted, SqlFilter):
        return True
    try:
        _asked(wanted.expression, Message(body=""))
    except (sqlite3.Error, ValueError):
        return False
    return True


def _correlates(wanted: CorrelationFilter, message: Message) -> bool:
    given = attrs.asdict(wanted, recurse=False)
    own = given.pop("properties")
    system = all(getattr(message, name) == value for name, value in given.items() if value)
    return system and all(message.properties.get(name) == value for name, value in own.items())


def _asked(expression: str, message: Message) -> object:
    """What SQLite makes of the condition: 1, 0 or `None`.

    Raises:
        ValueError: the condition has a character of no SQL, or compares nothing.
        sqlite3.Error: SQLite cannot read it.
    """
    if not re.search(r"[<>=]|\b(?:in|like|is|exists)\b", expression, re.IGNORECASE):
        raise ValueError("the condition compares nothing")
    return value_of(expression, message)


def value_of(expression: str, message: Message) -> Value:
    """What SQLite makes of an expression.

    Raises:
        ValueError: it has a character of no SQL.
        sqlite3.Error: SQLite cannot read it.
    """
    query, values = "", []
    for piece in _PIECE.finditer(expression):
        kind, text = piece.lastgroup, piece[0]
        if kind == "wrong":
            raise ValueError(f"{text!r} is no part of an expression")
        if kind == "asked":
            query += str(int(_property(piece["asked"], message) is not None))
        elif kind == "name" and text.lower() not in _WORDS:
            query += "?"
            values.append(_property(text, message))
        else:
            query += text
    with sqlite3.connect(":memory:") as database:
        database.execute("PRAGMA case_sensitive_like = ON")
        row: tuple[Value] = database.execute(f"SELECT ({query})", values).fetchone()
    database.close()
    return row[0]


def _property(name: str, message: Message) -> Value:
    scope, _, rest = name.rpartition(".")
    bare = rest.strip().lower()
    if scope.strip().lower() == "sys":
        return getattr(message, SYSTEM[bare]) if bare in SYSTEM else None
    own: Mapping[str, Value] = {key.lower(): value for key, value in message.properties.items()}
    return own.get(bare)
