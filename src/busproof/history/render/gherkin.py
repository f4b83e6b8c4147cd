"""Commands as sentences of Gherkin, and back; the wording is made from the fields.

`c1 asks: Send, queue "q1", message body "m1", timeout 10 s` is a `Send` over the connection c1. A
field that is left out has its default.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, get_args

import attrs

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.codec import read_command, unstructure
from busproof.history.render.phrases import seconds
from busproof.history.replay import RecordedCommand

__all__ = ["ASKS", "VERDICT", "request_of", "scenario_of", "sentence"]

ASKS: Final = r"(?P<connection>\S+) asks: (?P<request>.+)"
"""Pattern of a sentence."""

VERDICT: Final = "every answer was allowed"

_TIMES: Final = frozenset(
    {"duration", "lock_duration", "duplicate_window", "time_to_live", "timeout"}
)
_FIELD: Final = re.compile(r", ([a-z][a-z ]*?) (?=[\"\[{\d-]|true|false|null)")
_SECONDS: Final = re.compile(r"(\d+(?:\.\d+)?) s(?=,|$)")
_WORD: Final = re.compile(r"(?<!^)(?=[A-Z])")


def _words(kind: type) -> str:
    return _WORD.sub(" ", kind.__name__).capitalize()


_KINDS: Final[Mapping[str, type[Any]]] = {_words(kind): kind for kind in get_args(v.Command)}


def sentence(recorded: RecordedCommand) -> str:
    """Return the sentence for a command."""
    fields = unstructure(recorded.command)
    fields.pop("type")
    parts = [_words(type(recorded.command)), *_parts(fields)]
    return f"{recorded.connection} asks: {', '.join(parts)}"


def _parts(fields: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for name, value in fields.items():
        words = f"{above}{name.replace('_', ' ')}"
        # Application properties can have any name, so they are rendered as one value.
        if isinstance(value, dict) and name != "properties":
            yield from _parts(value, f"{words} ")
        else:
            yield f"{words} {_value(name, value)}"


def _value(name: str, value: object) -> str:
    if name in _TIMES and isinstance(value, int):
        return seconds(value)
    return json.dumps(value, ensure_ascii=False)


def request_of(text: str) -> v.Command:
    """Return the command in a sentence, which is given without `c1 asks: `.

    Raises:
        HistoryError: the sentence does not describe a command.
    """
    words, comma, rest = text.partition(",")
    if words not in _KINDS:
        raise HistoryError(f"nothing is called {words!r}; there are {', '.join(_KINDS)}")
    kind = _KINDS[words]
    fields: dict[str, Any] = {"type": kind.__name__}
    for name, value in _fields(comma + rest, text):
        _put(fields, kind, name, value)
    return read_command(fields)


def _fields(rest: str, text: str) -> Iterator[tuple[str, object]]:
    place = 0
    while place < len(rest):
        match = _FIELD.match(rest, place)
        if match is None:
            raise HistoryError(
                f"{text!r} cannot be read from {rest[place:]!r} on; a comma, a field's name and "
                "its value should follow"
            )
        value, place = _read(rest, match.end())
        yield match[1], value


def _read(rest: str, place: int) -> tuple[object, int]:
    if time := _SECONDS.match(rest, place):
        return int(Decimal(time[1]) * v.MICROSECONDS), time.end()
    try:
        value, end = json.JSONDecoder().raw_decode(rest, place)
    except ValueError:
        raise HistoryError(f"{rest[place:]!r} does not begin with a value") from None
    return value, end


def _put(fields: dict[str, Any], kind: type[Any], words: str, value: object) -> None:
    """Set a field by its name; a name may begin with that of an outer field."""
    name = words.replace(" ", "_")
    known = {field.name for field in attrs.fields(kind)}
    outer = next((prefix for prefix in known if name.startswith(f"{prefix}_")), None)
    if name in known or outer is None:
        fields[name] = value
    else:
        fields.setdefault(outer, {})[name.removeprefix(f"{outer}_")] = value


def scenario_of(rule: v.RuleId, commands: Sequence[RecordedCommand], name: str) -> str:
    """Return a scenario with these commands, to be copied into a feature file."""
    keywords = ["When", *["And"] * (len(commands) - 1)]
    steps = [
        f"{word} {sentence(recorded)}" for word, recorded in zip(keywords, commands, strict=True)
    ]
    lines = [f"@{rule}", f"Scenario: {name}", *(f"  {step}" for step in steps)]
    return "\n".join([*lines, f"  Then {VERDICT}"])
