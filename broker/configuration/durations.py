"""Durations as configurations and administration clients write them, such as PT1M."""

import re
from decimal import Decimal
from typing import Final

__all__ = ["for_ever", "microseconds_in"]

DURATION: Final = re.compile(
    r"P(?:(?P<days>\d{1,15})D)?(?:T(?:(?P<hours>\d{1,15})H)?(?:(?P<minutes>\d{1,15})M)?"
    r"(?:(?P<seconds>\d{1,15}(?:\.\d{1,15})?)S)?)?"
)
"""No number in it is longer than what any time takes."""
SECONDS: Final = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
LONGEST: Final = 10_000_000 * 86_400 * 1_000_000
"""From here on a time is for ever: clients write the longest that they know, in microseconds."""


def microseconds_in(text: str) -> int | None:
    """The duration that a text says; `None` if it says none."""
    found = DURATION.fullmatch(text)
    if found is None or not any(found.groups()):
        return None
    return round(sum(Decimal(found[name] or 0) * SECONDS[name] for name in SECONDS) * 1_000_000)


def for_ever(duration: int) -> bool:
    """Whether so many microseconds are what clients write for a time without end."""
    return duration >= LONGEST
