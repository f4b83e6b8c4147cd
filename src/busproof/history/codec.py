"""The codec between the vocabulary and plain JSON values, strict in both directions.

Reading rejects a boolean for a number, a number for a text, fractions, unknown fields and unknown
names. It returns what was written; a missing field has its default.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast, get_args

import attrs

from busproof import vocabulary as v
from busproof.errors import HistoryError
from busproof.history.converters import strict_converter, tag_union
from busproof.history.decode_errors import complaint
from busproof.history.lines import excerpt

__all__ = [
    "PROTOCOL",
    "TaggedUnion",
    "check_protocol",
    "declare_union",
    "generate_code",
    "read_command",
    "read_outcome",
    "reader_of",
    "structure",
    "structure_union",
    "union_of",
    "unstructure",
]

PROTOCOL: Final = 1
"""Version of the wire format, for history files and the process protocol alike."""

T = TypeVar("T")

_SHORT: Final = strict_converter(omit_defaults=True)
_FULL: Final = strict_converter(omit_defaults=False)
_UNIONS: Final[dict[object, "TaggedUnion"]] = {}


@attrs.frozen
class TaggedUnion:
    """A declared union, whose members have their names in the field `tag`."""

    name: str
    tag: str
    members: dict[str, type]


def declare_union(union: object, tagged: TaggedUnion) -> None:
    """Declare `union` to the codec, so that it writes and reads the tags of its members."""
    _UNIONS[union] = tagged
    for converter in (_SHORT, _FULL):
        tag_union(converter, union, tagged.tag, tagged.members)


def union_of(union: object) -> TaggedUnion | None:
    """Return the declaration of a union; `None` if it was not declared."""
    return _UNIONS.get(union)


def structure(value: object, kind: type[T], what: str = "") -> T:
    """Return the instance of `kind` that `value` describes.

    Args:
        value: plain JSON values, as `unstructure` returns them.
        kind: an attrs class.
        what: the name of the value in messages; by default made from the class name.

    Raises:
        HistoryError: `value` does not describe one; the message names the field, its value and the
            allowed values.
    """
    return cast(T, structure_union(value, kind, what or f"the {kind.__name__}"))


def structure_union(value: object, union: object, what: str) -> object:
    """Return the member of a declared union that `value` describes.

    For mypy a union is not a type, so `structure` cannot return it.
    """
    return reader_of(union, what)(value)


def reader_of(union: object, what: str) -> Callable[[object], object]:
    """Return a function that does what `structure_union` does.

    What reads a union is looked up by the union, which takes as long as reading a small value.
    """
    read_as = _SHORT.get_structure_hook(cast(Any, union))

    def read(value: object) -> object:
        try:
            return cast(object, read_as(value, union))
        except Exception as error:  # noqa: BLE001 - cattrs lets through whatever a class raises
            raise HistoryError(complaint(error, what)) from None

    return read


def generate_code() -> None:
    """Generate the code that reads and writes commands and outcomes, for processes forked later.

    Otherwise each generates what it needs, at its first use.
    """
    for member in _HOME:
        _SHORT.get_structure_hook(member)
        _SHORT.get_unstructure_hook(member)


def read_command(value: object) -> v.Command:
    """Return the command that `value` describes; raise `HistoryError` if there is none."""
    return cast(v.Command, _COMMANDS(value))


def read_outcome(value: object) -> v.Outcome:
    """Return the outcome that `value` describes; raise `HistoryError` if there is none."""
    return cast(v.Outcome, _OUTCOMES(value))


def unstructure(value: object, *, union: object = None, full: bool = False) -> dict[str, Any]:
    """Return plain JSON values for an instance of an attrs class.

    Args:
        value: the instance.
        union: the declared union whose tag to write; commands and outcomes are always tagged.
        full: whether to write fields with their default values too.
    """
    converter = _FULL if full else _SHORT
    return cast(dict[str, Any], converter.unstructure(value, union or _HOME.get(type(value))))


def check_protocol(value: object) -> None:
    """Raise an error for a version of the wire format that this busproof does not read.

    Raises:
        HistoryError: the version is newer than `PROTOCOL`, or is not a version number.
    """
    if type(value) is int and value > PROTOCOL:
        raise HistoryError(
            f"protocol is {excerpt(value)}, and this busproof reads up to {PROTOCOL}: "
            "upgrade busproof"
        )
    if type(value) is not int or value < 1:
        raise HistoryError(f"protocol is {excerpt(value)}, and must be {PROTOCOL}")


_HOME: Final[dict[type, object]] = {
    member: union for union in (v.Command, v.Outcome) for member in get_args(union)
}

for _name, _union in (("Filter", v.Filter), ("Command", v.Command), ("Outcome", v.Outcome)):
    _members = {member.__name__: member for member in get_args(_union)}
    declare_union(_union, TaggedUnion(_name, "type", _members))

_COMMANDS: Final = reader_of(v.Command, "the command")
_OUTCOMES: Final = reader_of(v.Outcome, "the outcome")
