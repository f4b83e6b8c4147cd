"""JSON with comments, whose errors name the line."""

import json
import re
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import yaml

from busproof.broker.configuration.durations import microseconds_in
from busproof.errors import UsageError

__all__ = ["Value", "parse", "read"]

ALIKE: Final = 0.8
"""How much an unknown field has to be like a known one to be taken for a slip, from 0 to 1."""
SHOWN: Final = 80
"""Maximum number of characters of an unknown field's name in a message."""
TOKEN: Final = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
LAST_COMMA: Final = re.compile(r'("(?:\\.|[^"\\\n])*")|(?<=[^\s,\[{:]),(?=\s*[\]}])')
"""A comma after the last member, which the emulator's own reader takes; or a text."""
WHOLE: Final = re.compile(r"[0-9]{1,15}(?:\.0{1,15})?")
ESCAPE: Final = re.compile(
    r"\\u(?P<high>[dD][89abAB][\da-fA-F]{2})(?:\\u(?P<low>[dD][c-fC-F][\da-fA-F]{2}))?"
    r"|\\u(?P<lone>[dD][c-fC-F][\da-fA-F]{2})|\\."
)
"""An escape in a text; UTF-16 has two for one character."""


def read(path: Path, unknown: list[str] | None = None) -> "Value":
    """Read a file of JSON with comments.

    Args:
        path: the file.
        unknown: takes a sentence for each unknown field; without it, such a field is an error.

    Raises:
        UsageError: the file cannot be read, or is not JSON.
    """
    try:
        written = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    try:
        text = written.decode(json.detect_encoding(written)).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {path}: {error}; save it in UTF-8") from None
    return parse(text, str(path), unknown)


def parse(text: str, name: str, unknown: list[str] | None = None) -> "Value":
    """Parse a text of JSON with comments; errors call it `name`.

    Raises:
        UsageError: the text is not JSON.
    """
    if not text.strip():
        raise UsageError(f"{name} is empty; it has to have an object in JSON")
    # The blanks keep lines and columns as they are.
    bare = LAST_COMMA.sub(lambda match: match[1] or " ", TOKEN.sub(_blank, text))
    try:
        json.loads(bare)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"{name}:{error.lineno}: this is not JSON: {error.msg} at column {error.colno}"
        ) from None
    except RecursionError:
        raise UsageError(f"{name}: this is nested too deeply to be read") from None
    # JSON is also YAML, whose parser reports the line of each value but rejects tabs.
    spaced = re.sub(r'("(?:\\.|[^"\\\n])*")|\t', lambda match: _join_escapes(match[1]) or " ", bare)
    try:
        node = yaml.compose(spaced, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        # The parser's message would quote the text, which may have keys in it.
        mark = getattr(error, "problem_mark", None)
        place = name if mark is None else f"{name}:{mark.line + 1}"
        raise UsageError(
            f"{place}: this cannot be read: it is nested too deeply, a name has more than 1,000 "
            "characters, or it has a character that YAML does not allow"
        ) from None
    return Value(name, node, "the file", unknown=unknown)


def _join_escapes(text: str | None) -> str | None:
    """Return a text with one character for each pair of escapes of UTF-16."""
    return None if text is None else ESCAPE.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    if match["low"]:
        return str(json.loads(f'"{match[0]}"'))
    # Half of a character is none: what cannot be read is shown as such.
    return "\N{REPLACEMENT CHARACTER}" if match["high"] or match["lone"] else match[0]


def _blank(match: re.Match[str]) -> str:
    """Return a string unchanged, and a comment as blanks, so that columns stay the same."""
    return match[0] if match[0].startswith('"') else re.sub(r"[^\n]", " ", match[0])


class Value:
    """A value in the file, with its position; errors do not show a hidden value."""

    def __init__(
        self,
        file: str,
        node: Any,
        where: str,
        *,
        hidden: bool = False,
        unknown: list[str] | None = None,
    ) -> None:
        self._file = file
        self.node = node
        self._hidden = hidden
        self._unknown = unknown
        self.where = where

    def kept_secret(self) -> "Value":
        """Return the value as a hidden one: errors show neither it nor anything within it."""
        return Value(self._file, self.node, self.where, hidden=True, unknown=self._unknown)

    def part(self, node: Any, where: str) -> "Value":
        """Return a node of the same file as a value."""
        return Value(self._file, node, where, hidden=self._hidden, unknown=self._unknown)

    def wrong(self, expected: str) -> UsageError:
        """Return the error for a value other than expected."""
        shown = isinstance(self.node, yaml.ScalarNode) and not self._hidden
        actual = f" is {self.node.value!r}" if shown else ""
        return UsageError(f"{self.place}: {self.where}{actual}; expected {expected}")

    @property
    def place(self) -> str:
        """The file and the line of the value."""
        return f"{self._file}:{self.node.start_mark.line + 1}"

    @property
    def written(self) -> str | None:
        """The text of a string, number or boolean as it is written; `None` for other values."""
        return str(self.node.value) if isinstance(self.node, yaml.ScalarNode) else None

    @property
    def is_null(self) -> bool:
        """Whether the value is null or an empty string."""
        return isinstance(self.node, yaml.ScalarNode) and (
            self.node.tag.endswith(":null") or not self.node.value
        )

    @property
    def is_missing(self) -> bool:
        """Whether the value is null."""
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag.endswith(":null")

    def fields(self, known: Collection[str]) -> dict[str, "Value"]:
        """Return the fields of an object that are not null; their names may be in any case.

        Null stands for an object without fields.

        Raises:
            UsageError: the value is not an object, or has an unknown field where that is an error.
        """
        if self.is_missing:
            return {}
        if not isinstance(self.node, yaml.MappingNode):
            raise self.wrong(f"an object with {', '.join(known)}")
        by_low = {name.lower(): name for name in known}
        parts: dict[str, Value] = {}
        written: set[str] = set()
        for key, value in self.node.value:
            name = by_low.get(str(key.value).lower())
            if name is None:
                self._complain(key, known)
                continue
            part = self.part(value, f"{self.where}.{name}")
            if name in written:
                self._note(self.part(key, part.where), "stands twice; the last one counts")
            written.add(name)
            parts.pop(name, None)
            if not part.is_missing:
                parts[name] = part
        return parts

    def _note(self, value: "Value", sentence: str) -> None:
        """Note something that is odd, or raise an error where it is one."""
        sentence = f"{value.place}: {value.where} {sentence}"
        if self._unknown is None:
            raise UsageError(sentence)
        self._unknown.append(sentence)

    def _complain(self, key: Any, known: Collection[str]) -> None:
        """Note an unknown field, or raise an error where such a field is one."""
        place = self.part(key, f"a field of {self.where}")
        if self._unknown is None:
            raise place.wrong(f"one of {', '.join(known)}")
        likely = get_close_matches(str(key.value), known, 1, ALIKE)
        advice = f"; did you mean {likely[0]!r}?" if likely else ""
        sentence = f"{place.where}, {str(key.value)[:SHOWN]!r}, is unknown and has no effect"
        self._unknown.append(f"{place.place}: {sentence}{advice}")

    def items(self) -> list["Value"]:
        """Return the elements of an array; none if it is null."""
        if self.is_null:
            return []
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.wrong("an array")
        return [
            self.part(node, f"{self.where}[{place}]") for place, node in enumerate(self.node.value)
        ]

    def pairs(self) -> dict[str, "Value"]:
        """Return the fields of an object whose names are arbitrary; none if it is null."""
        if self.is_null:
            return {}
        if not isinstance(self.node, yaml.MappingNode):
            raise self.wrong("an object")
        return {
            str(key.value): self.part(value, f"{self.where}.{key.value}")
            for key, value in self.node.value
        }

    def text(self) -> str:
        """Return the value, which must be a string."""
        if not isinstance(self.node, yaml.ScalarNode) or self.node.style != '"':
            raise self.wrong("a text")
        return str(self.node.value)

    def scalar(self) -> str | int | float | bool:
        """Return the value, which must be a string, a number or a boolean."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.wrong("a text, a number, true or false")
        value = json.loads(self.node.value) if self.node.style != '"' else self.node.value
        if not isinstance(value, str | int | float | bool):
            raise self.wrong("a text, a number, true or false")
        return value

    def one_of(self, allowed: Collection[str]) -> str:
        """Return the value, which must be one of the allowed words in any case."""
        value = self.text()
        for choice in allowed:
            if choice.lower() == value.lower():
                return choice
        raise self.wrong(f"one of {', '.join(allowed)}")

    def truth(self) -> bool:
        """Return the value, which must be a boolean."""
        if not isinstance(self.node, yaml.ScalarNode) or self.node.value.lower() not in (
            "true",
            "false",
        ):
            raise self.wrong("true or false")
        return bool(self.node.value.lower() == "true")

    def number(self, least: int, most: int) -> int:
        """Return the value, which must be an integer from `least` to `most`; maybe in quotes."""
        if isinstance(self.node, yaml.ScalarNode) and WHOLE.fullmatch(self.node.value):
            value = int(self.node.value.partition(".")[0])
            if least <= value <= most:
                return value
        raise self.wrong(f"a whole number from {least} to {most}")

    def duration(self, least: int, most: int) -> int:
        """Return a duration such as PT1M in microseconds; its bounds are in seconds."""
        plain = isinstance(self.node, yaml.ScalarNode)
        microseconds = microseconds_in(self.node.value) if plain else None
        if microseconds is not None and least * 1_000_000 <= microseconds <= most * 1_000_000:
            return microseconds
        raise self.wrong(f"a duration from {least} to {most} seconds, such as PT1M")
