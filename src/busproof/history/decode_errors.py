"""Decode errors as one sentence: the path of the field, its value, and the allowed values."""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Final

import attrs
from cattrs.errors import (
    AttributeValidationNote,
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationError,
    IterableValidationNote,
)

from busproof.history.lines import excerpt

__all__ = ["Mismatch", "complaint", "one_of"]

_OUT_OF_BOUNDS: Final = re.compile(r"'(?P<field>\w+)' must be (?P<bound>\S+ \S+): (?P<value>.*)")
"""Pattern of attrs' message for a value out of bounds."""

_NEAR: Final = 80
"""How many characters of a value are compared with the allowed names."""

_Found = tuple[str, Exception, type | None]


class Mismatch(ValueError):
    """A value that is not allowed; `field` is the part at fault, if not the whole value."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field

    @classmethod
    def of(cls, value: object, allowed: str, field: str = "") -> "Mismatch":
        """Return the mismatch of a value with the description of the allowed values."""
        return cls(f"is {excerpt(value)}, and must be {allowed}", field)


def one_of(names: Iterable[str], near: object) -> str:
    """Return all names in quotes, with those that are similar to `near` first."""
    known = list(names)
    close = difflib.get_close_matches(str(near)[:_NEAR], known, n=3, cutoff=0.5)
    ordered = [*close, *(name for name in known if name not in close)]
    quoted = ", ".join(f'"{name}"' for name in ordered)
    return quoted if len(ordered) == 1 else f"one of {quoted}"


def complaint(error: Exception, what: str) -> str:
    """Return a sentence on the first error in an exception of cattrs.

    An unknown field is named before a missing one, because it usually is the missing one, misspelt.

    Args:
        error: the exception.
        what: the name of the whole value, such as "the event".
    """
    leaves = list(_leaves(error, "", None))
    unknown = [leaf for leaf in leaves if isinstance(leaf[1], ForbiddenExtraKeysError)]
    path, first, owner = (unknown or leaves)[0]
    return _sentence(path, first, owner, what)


def _leaves(error: Exception, path: str, owner: type | None) -> Iterator[_Found]:
    if not isinstance(error, ClassValidationError | IterableValidationError):
        yield path, error, owner
        return
    noted, plain = error.group_exceptions()
    for inner in plain:
        yield path, inner, error.cl
    for inner, note in noted:
        yield from _leaves(inner, _below(path, note), error.cl)


def _below(path: str, note: IterableValidationNote | AttributeValidationNote) -> str:
    if isinstance(note, IterableValidationNote):
        return f"{path}[{excerpt(note.index)}]"
    return _join(path, note.name)


def _join(path: str, field: str) -> str:
    return ".".join(part for part in (path, field) if part)


def _sentence(path: str, error: Exception, owner: type | None, what: str) -> str:
    if isinstance(error, Mismatch):
        return f"{_join(path, error.field) or what} {error}"
    if isinstance(error, ForbiddenExtraKeysError):
        return f"{path or what} {_unknown_field(error)}"
    if isinstance(error, KeyError) and owner is not None:
        return f"{path} is missing, and {owner.__name__} needs it"
    bounds = _OUT_OF_BOUNDS.fullmatch(str(error))
    if bounds:
        field = _join(path, bounds["field"])
        return f"{field} is {bounds['value']}, and must be {bounds['bound']}"
    return f"{path or what} is wrong: {error}"


def _unknown_field(error: ForbiddenExtraKeysError) -> str:
    unknown = min(error.extra_fields)
    names = [attribute.name for attribute in attrs.fields(error.cl)]
    if not names:
        return f"has the unknown field {excerpt(unknown)}, and {error.cl.__name__} has no fields"
    allowed = one_of(names, unknown).removeprefix("one of ")
    return f"has the unknown field {excerpt(unknown)}, and must have only {allowed}"
