"""What the actions of rules change in the seeded bus; their values are left to SQLite."""

import re
import sqlite3
from typing import Any, Final

import attrs

from busproof.adapters.seeded.filtering import SYSTEM, value_of
from busproof.vocabulary.messages import Message

__all__ = ["RULE_NAME", "acted_on", "is_valid_action"]

RULE_NAME: Final = "RuleName"
_STATEMENT: Final = re.compile(
    r"""\s*(?:SET\s+(?P<set>(?:(?:sys|user)\s*\.\s*)?[^\W\d]\w*)\s*=\s*(?P<value>.+)
      | REMOVE\s+(?P<removed>(?:(?:sys|user)\s*\.\s*)?[^\W\d]\w*))\s*""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_PIECES: Final = re.compile(r"""(?:'(?:[^']|'')*'|[^;'])+""")


def acted_on(message: Message, rule: str, action: str) -> Message:
    """The copy of a message that a rule makes.

    Raises:
        ValueError: the action has something of no SQL.
        sqlite3.Error: SQLite cannot read it.
    """
    after = message
    for piece in _PIECES.findall(action):
        statement = _STATEMENT.fullmatch(piece)
        if statement is None:
            raise ValueError(f"{piece!r} is no part of an action")
        after = _after(statement, message, after)
    properties = {**after.properties, RULE_NAME: rule}
    return attrs.evolve(after, properties=properties)


def _after(statement: re.Match[str], message: Message, after: Message) -> Message:
    scope, _, name = (statement["set"] or statement["removed"]).rpartition(".")
    value = None if statement["set"] is None else value_of(statement["value"], message)
    if scope.strip().lower() == "sys":
        changes: dict[str, Any] = {SYSTEM[name.strip().lower()]: value}
        return attrs.evolve(after, **changes)
    rest = {own: each for own, each in after.properties.items() if own != name.strip()}
    return attrs.evolve(after, properties=rest if value is None else {**rest, name.strip(): value})


def is_valid_action(action: str) -> bool:
    """Whether an action can be evaluated at all."""
    try:
        acted_on(Message(body=""), "", action)
    except (sqlite3.Error, ValueError, KeyError):
        return False
    return True
