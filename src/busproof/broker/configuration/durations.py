"""Durations such as PT1M, in configurations and from administration clients."""

import re
from decimal import Decimal
from typing import Final

__all__ = ["duration_text", "for_ever", "microseconds_in"]

DURATION: Final = re.compile(
    r"P(?:(?P<years>\d{1,9})Y)?(?:(?P<months>\d{1,9})M)?(?:(?P<days>\d{1,15})D)?"
    r"(?:T(?:(?P<hours>\d{1,15})H)?(?:(?P<minutes>\d{1,15})M)?"
    r"(?:(?P<seconds>\d{1,15}(?:\.\d{1,15})?)S)?)?"
)
"""A duration; the lengths of its numbers are limited, but exceed any real need."""
SECONDS: Final = {
    "years": 365 * 86_400,
    "months": 30 * 86_400,
    "days": 86_400,
    "hours": 3_600,
    "minutes": 60,
    "seconds": 1,
}
"""How long each part is; a year and a month as .NET reads them, which the service runs on."""
LONGEST: Final = 10_000_000 * 86_400 * 1_000_000
"""Durations of at least this many microseconds are unlimited; clients write longer ones."""


def microseconds_in(text: str) -> int | None:
    """Parse a duration into microseconds; `None` if it is not a duration."""
    match = DURATION.fullmatch(text)
    if match is None or not any(match.groups()):
        return None
    return round(sum(Decimal(match[name] or 0) * SECONDS[name] for name in SECONDS) * 1_000_000)


def for_ever(duration: int) -> bool:
    """Return whether a duration in microseconds stands for an unlimited time."""
    return duration >= LONGEST


def duration_text(duration: int) -> str:
    """Return a duration in microseconds in its shortest form, as the service writes it: PT1M."""
    days, rest = divmod(duration, 86_400_000_000)
    hours, rest = divmod(rest, 3_600_000_000)
    minutes, rest = divmod(rest, 60_000_000)
    seconds = f"{rest / 1_000_000:.6f}".rstrip("0").rstrip(".")
    parts = ((hours, "H"), (minutes, "M"), (seconds if rest else 0, "S"))
    time = "".join(f"{number}{unit}" for number, unit in parts if number)
    date = f"{days}D" if days else ""
    return f"P{date}T{time}" if time else f"P{date or 'T0S'}"
