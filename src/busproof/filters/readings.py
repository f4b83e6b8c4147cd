"""What the documents leave open about SQL, as the register of ambiguities names it."""

from collections.abc import Mapping
from typing import Any, Final

import attrs

__all__ = ["EVERY", "OURS", "Readings", "read"]

_NAMES: Final = {
    "SQL-TYPES": "types",
    "SQL-NULL": "nulls",
    "SQL-OVERFLOW": "overflow",
    "LIKE-CASE": "like_case",
    "ACTION-NULL": "set_null",
}


@attrs.frozen(cache_hash=True)
class Readings:
    """How open questions about SQL are read; `either` permits every answer.

    Attributes:
        types: SQL-TYPES; what comes of operands that C# has no operator for, such as a text and a
            number, or two texts and `<`: `unknown`, or `either`.
        nulls: SQL-NULL; what comes of a comparison or of arithmetic with NULL: `unknown`, or
            `either`.
        overflow: SQL-OVERFLOW; the result of arithmetic that 64 bits or a double cannot hold, and
            of a division by zero: `unknown`, or `either`.
        like_case: LIKE-CASE; whether LIKE distinguishes upper and lower case: `sensitive`,
            `insensitive`, or `either`.
        set_null: ACTION-NULL; what becomes of a property that is set to NULL or to an unknown
            value: `removed`, or `either`.
    """

    types: str = "either"
    nulls: str = "either"
    overflow: str = "either"
    like_case: str = "either"
    set_null: str = "either"


EVERY: Final = Readings()
"""The readings that permit every answer."""

OURS: Final = Readings("unknown", "unknown", "unknown", "sensitive", "removed")
"""The readings of the reference model, where its profile names no others."""


def read(readings: Mapping[str, Any]) -> Readings:
    """Return the readings of SQL among those of a profile; those that it lacks are `either`."""
    named = {field: str(readings[name]) for name, field in _NAMES.items() if name in readings}
    return Readings(**named) if named else EVERY
