"""Simplifying of a failure: smaller values in its commands, as long as it still fails.

Commands are changed as plain JSON values, so that every field of every command is reached. A
candidate that is no command any more is not tried.
"""

import copy
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import read_command, unstructure
from busproof.history.replay import RecordedCommand

__all__ = ["Spent", "simplified"]

Fails = Callable[[Sequence[RecordedCommand]], bool]
Plain = list[dict[str, Any]]
"""The connections and commands of a failure, as plain values."""
Place = tuple[Any, ...]
"""The keys and indices that lead to a value in the plain values."""

SECOND: Final = v.MICROSECONDS

MOST_COPIED: Final = 100_000
"""Maximum number of commands in all attempts together, whether they are tried or not."""

REFERRING: Final = frozenset(
    {"lock_token", "lock_tokens", "sequence_number", "sequence_numbers", "from_sequence_number"}
)
"""Fields that refer to earlier answers."""

SHORT_NAMES: Final = {
    "queue": "q",
    "topic": "t",
    "subscription": "s",
    "body": "m",
    "session_id": "a",
    "partition_key": "a",
    "message_id": "a",
    "transaction": "tx",
}
"""The beginnings of short names, by field."""

ENTITIES: Final = ("queue", "topic", "forward_to", "forward_dead_letters_to")
"""Fields with paths of entities."""


class Spent(Exception):
    """The budget of candidates is used up."""


def simplified(commands: Sequence[RecordedCommand], fails: Fails) -> tuple[RecordedCommand, ...]:
    """Return the commands with the smallest values with which they still fail.

    Optional fields are left out, names become short, texts one letter, and numbers as small as
    possible; one connection is used if one is enough.

    Args:
        commands: the failing commands.
        fails: the test whether a candidate still fails; it may raise `Spent`.
    """
    work = _Work(commands, fails)
    with suppress(Spent):
        work.use_one_connection()
        work.leave_out_fields()
        work.shorten_names()
        work.shrink_values()
    return work.best


class _Work:
    """The smallest failure so far, and attempts to make it smaller."""

    def __init__(self, commands: Sequence[RecordedCommand], fails: Fails) -> None:
        self.best = tuple(commands)
        self._fails = fails
        self._copied = 0
        self._plain: Plain = [
            {"connection": recorded.connection, "command": unstructure(recorded.command)}
            for recorded in commands
        ]

    def use_one_connection(self) -> None:
        """Send everything over one connection, or as much as possible."""
        everything = copy.deepcopy(self._plain)
        for recorded in everything:
            recorded["connection"] = "c1"
        if not self._try(everything):
            for place in range(len(self._plain)):
                self._try_value((place, "connection"), "c1")

    def leave_out_fields(self) -> None:
        """Leave out each field of a command that it does not need: all at once, or one by one."""
        for number in range(len(self._plain)):
            bare = copy.deepcopy(self._plain)
            for place in reversed(list(_places(bare[number]["command"]))):
                if place[-1] not in REFERRING | {"type"}:
                    _delete_if_optional(bare, (number, "command", *place))
            if not self._try(bare):
                self._leave_out_one_by_one(number)

    def _leave_out_one_by_one(self, number: int) -> None:
        for place in reversed(list(_places(self._plain[number]["command"]))):
            if place[-1] not in REFERRING | {"type"}:
                changed = copy.deepcopy(self._plain)
                with suppress(KeyError, IndexError):
                    _delete(changed, (number, "command", *place))
                    self._try(changed)

    def shorten_names(self) -> None:
        """Give short names to entities, messages, sessions and transactions."""
        names = _short_names(self._plain)
        if not self._try(_rename(self._plain, names)):
            for name, short in names.items():
                self._try(_rename(self._plain, {name: short}))

    def shrink_values(self) -> None:
        """Make numbers and other texts smaller."""
        for number in range(len(self._plain)):
            for place in list(_places(self._plain[number]["command"])):
                if place[-1] in REFERRING | {"type"}:
                    continue
                whole = (number, "command", *place)
                value = _value(self._plain, whole)
                if type(value) is int:
                    self._shrink_number(whole, value)
                elif isinstance(value, str) and len(value) > 1 and place[-1] not in SHORT_NAMES:
                    self._shrink_text(whole, value)

    def _shrink_number(self, place: Place, value: int) -> None:
        for small in (0, 1, SECOND):
            if small < value and self._try_value(place, small):
                return
        unit = SECOND if value > SECOND else 1
        low, high = 0, value // unit
        while high - low > 1:
            middle = (low + high) // 2
            if self._try_value(place, middle * unit):
                high = middle
            else:
                low = middle

    def _shrink_text(self, place: Place, value: str) -> None:
        if self._try_value(place, "x"):
            return
        low, high = 1, len(value)
        while high - low > 1:
            middle = (low + high) // 2
            if self._try_value(place, value[:middle]):
                high = middle
            else:
                low = middle

    def _try_value(self, place: Place, value: object) -> bool:
        if _value(self._plain, place) == value:
            return False
        changed = copy.deepcopy(self._plain)
        _value(changed, place[:-1])[place[-1]] = value
        return self._try(changed)

    def _try(self, changed: Plain) -> bool:
        """Keep the changed commands if they still fail; return whether they do.

        Raises:
            Spent: there were too many attempts.
        """
        self._copied += len(changed)
        if self._copied > MOST_COPIED:
            raise Spent
        if changed == self._plain:
            return False
        try:
            candidate = tuple(
                RecordedCommand(
                    number=recorded.number,
                    connection=plain["connection"],
                    command=read_command(plain["command"]),
                )
                for recorded, plain in zip(self.best, changed, strict=True)
            )
        except HistoryError:
            return False
        if not self._fails(candidate):
            return False
        self.best, self._plain = candidate, changed
        return True


def _places(value: object, before: Place = ()) -> Iterator[Place]:
    """Yield the places of all values within a value, each before those within it."""
    if isinstance(value, dict):
        for key in value:
            yield (*before, key)
            yield from _places(value[key], (*before, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield (*before, index)
            yield from _places(value[index], (*before, index))


def _value(whole: Any, place: Place) -> Any:
    for key in place:
        whole = whole[key]
    return whole


def _delete(whole: Any, place: Place) -> None:
    del _value(whole, place[:-1])[place[-1]]


def _delete_if_optional(whole: Plain, place: Place) -> None:
    """Delete a value unless its command needs it."""
    changed = copy.deepcopy(whole[place[0]])
    with suppress(KeyError, IndexError, HistoryError):
        _delete(changed, place[1:])
        read_command(changed["command"])
        _delete(whole, place)


def _short_names(plain: Plain) -> dict[str, str]:
    """Return a short name for each long one, so that different names stay different."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for recorded in plain:
        for place in _places(recorded["command"]):
            value = _value(recorded["command"], place)
            if isinstance(value, str) and place[-1] in (*SHORT_NAMES, *ENTITIES):
                for kind, name in _names_in(str(place[-1]), value):
                    if name not in names:
                        names[name] = _fresh(SHORT_NAMES[kind], taken)
                        taken.add(names[name])
    return {name: short for name, short in names.items() if name != short}


def _names_in(field: str, value: str) -> Iterator[tuple[str, str]]:
    """Yield the names in a value with the field that each would have."""
    if field not in ENTITIES:
        yield field, value
        return
    kind = "topic" if field == "topic" or "/subscriptions/" in value else "queue"
    for segment in value.split("/"):
        if segment == "subscriptions":
            kind = "subscription"
        elif segment and not segment.startswith("$"):
            yield kind, segment


def _fresh(begin: str, taken: set[str]) -> str:
    if begin == "m":
        return next(name for number in count(1) if (name := f"m{number}") not in taken)
    if begin == "a":
        letters = (chr(code) for code in range(ord("a"), ord("z") + 1))
        free = next((letter for letter in letters if letter not in taken), None)
        if free is not None:
            return free
    names = (begin if number == 1 else f"{begin}{number}" for number in count(1))
    return next(name for name in names if name not in taken)


def _rename(plain: Plain, names: dict[str, str]) -> Plain:
    changed = copy.deepcopy(plain)
    for recorded in changed:
        for place in list(_places(recorded["command"])):
            value = _value(recorded["command"], place)
            if not isinstance(value, str) or place[-1] not in (*SHORT_NAMES, *ENTITIES):
                continue
            segments = re.split("(/)", value) if place[-1] in ENTITIES else [value]
            new = "".join(names.get(segment, segment) for segment in segments)
            _value(recorded["command"], place[:-1])[place[-1]] = new
    return changed
