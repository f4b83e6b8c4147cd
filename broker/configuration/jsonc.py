"""JSON with comments, read so that each complaint names the line."""

import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

import yaml

from busproof.broker.configuration.durations import microseconds_in
from busproof.errors import UsageError

__all__ = ["Value", "parsed", "read"]

TOKEN: Final = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)


def read(path: Path) -> "Value":
    """The whole of a file.

    Raises:
        UsageError: it cannot be read, or is no JSON.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    return parsed(text, str(path))


def parsed(text: str, name: str) -> "Value":
    """The whole of a text that is called so.

    Raises:
        UsageError: it is no JSON.
    """
    bare = TOKEN.sub(_blanked, text)
    try:
        json.loads(bare)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{name}:{error.lineno}: this is not JSON: {error.msg} at column {error.colno}"
        ) from None
    except RecursionError:
        raise UsageError(f"{name}: this is nested too deeply to be read") from None
    # JSON is YAML, whose reader says on which line each value stands; but it knows no tabs.
    spaced = re.sub(r'("(?:\\.|[^"\\\n])*")|\t', lambda found: found[1] or " ", bare)
    try:
        node = yaml.compose(spaced, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        # What it says shows the text, and keys may be in it.
        mark = getattr(error, "problem_mark", None)
        place = name if mark is None else f"{name}:{mark.line + 1}"
        raise UsageError(
            f"{place}: this cannot be read: it is nested too deeply, a name has more than 1,000 "
            "characters, or there is a character that no text has"
        ) from None
    return Value(name, node, "the file")


def _blanked(found: re.Match[str]) -> str:
    """A text as it is; a comment as white space of as many lines and columns."""
    return found[0] if found[0].startswith('"') else re.sub(r"[^\n]", " ", found[0])


class Value:
    """A value of the file, with its place in it; of one that is hidden no complaint tells it."""

    def __init__(self, file: str, node: Any, where: str, *, hidden: bool = False) -> None:
        self._file = file
        self._node = node
        self._hidden = hidden
        self.where = where

    def kept_secret(self) -> "Value":
        """The same, with no complaint that tells what it or anything in it is."""
        return Value(self._file, self._node, self.where, hidden=True)

    def _part(self, node: Any, where: str) -> "Value":
        return Value(self._file, node, where, hidden=self._hidden)

    def wrong(self, expected: str) -> UsageError:
        """The complaint that the value is not what was expected."""
        shown = isinstance(self._node, yaml.ScalarNode) and not self._hidden
        found = f" is {self._node.value!r}" if shown else ""
        return UsageError(f"{self.place}: {self.where}{found}; expected {expected}")

    @property
    def place(self) -> str:
        """The file, and the line of it on which the value begins."""
        return f"{self._file}:{self._node.start_mark.line + 1}"

    @property
    def written(self) -> str | None:
        """A text, number or truth value as it is written; `None` of all else."""
        return str(self._node.value) if isinstance(self._node, yaml.ScalarNode) else None

    @property
    def is_null(self) -> bool:
        """Whether it is null, or an empty text, which say nothing."""
        return isinstance(self._node, yaml.ScalarNode) and (
            self._node.tag.endswith(":null") or not self._node.value
        )

    def fields(self, known: Collection[str]) -> dict[str, "Value"]:
        """The fields of an object.

        Raises:
            UsageError: it is none, or has a field that is not known.
        """
        if not isinstance(self._node, yaml.MappingNode):
            raise self.wrong(f"an object with {', '.join(known)}")
        by_low = {name.lower(): name for name in known}
        found = {}
        for key, value in self._node.value:
            name = by_low.get(str(key.value).lower())
            if name is None:
                place = self._part(key, f"a field of {self.where}")
                raise place.wrong(f"one of {', '.join(known)}")
            found[name] = self._part(value, f"{self.where}.{name}")
        return found

    def items(self) -> list["Value"]:
        """The elements of an array; of null, none."""
        if self.is_null:
            return []
        if not isinstance(self._node, yaml.SequenceNode):
            raise self.wrong("an array")
        return [
            self._part(node, f"{self.where}[{place}]")
            for place, node in enumerate(self._node.value)
        ]

    def pairs(self) -> dict[str, "Value"]:
        """The fields of an object whose names are free."""
        if self.is_null:
            return {}
        if not isinstance(self._node, yaml.MappingNode):
            raise self.wrong("an object")
        return {
            str(key.value): self._part(value, f"{self.where}.{key.value}")
            for key, value in self._node.value
        }

    def text(self) -> str:
        """A text."""
        if not isinstance(self._node, yaml.ScalarNode) or self._node.style != '"':
            raise self.wrong("a text")
        return str(self._node.value)

    def scalar(self) -> str | int | float | bool:
        """A text, a number or a truth value."""
        if not isinstance(self._node, yaml.ScalarNode):
            raise self.wrong("a text, a number, true or false")
        value = json.loads(self._node.value) if self._node.style != '"' else self._node.value
        if not isinstance(value, str | int | float | bool):
            raise self.wrong("a text, a number, true or false")
        return value

    def one_of(self, allowed: Collection[str]) -> str:
        """One of these words."""
        value = self.text()
        for each in allowed:
            if each.lower() == value.lower():
                return each
        raise self.wrong(f"one of {', '.join(allowed)}")

    def truth(self) -> bool:
        """True or false."""
        if not isinstance(self._node, yaml.ScalarNode) or self._node.value.lower() not in (
            "true",
            "false",
        ):
            raise self.wrong("true or false")
        return bool(self._node.value.lower() == "true")

    def number(self, least: int, most: int) -> int:
        """A whole number between these."""
        plain = isinstance(self._node, yaml.ScalarNode) and self._node.style != '"'
        if plain and re.fullmatch(r"\d+", self._node.value):
            value = int(self._node.value)
            if least <= value <= most:
                return value
        raise self.wrong(f"a whole number from {least} to {most}")

    def duration(self, least: int, most: int) -> int:
        """A duration in microseconds, written as PT1M; `least` and `most` are seconds."""
        plain = isinstance(self._node, yaml.ScalarNode)
        found = microseconds_in(self._node.value) if plain else None
        if found is not None and least * 1_000_000 <= found <= most * 1_000_000:
            return found
        raise self.wrong(f"a duration from {least} to {most} seconds, such as PT1M")
