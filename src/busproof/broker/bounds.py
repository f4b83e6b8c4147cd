"""Bounds of the numbers that clients send.

A number outside its bounds is refused with a sentence before anything is decided or stored.
Otherwise a timestamp of more than 64 bits would reach the store, which cannot write it.
"""

from typing import Any, Final

import attrs

__all__ = ["LAST_MOMENT", "LAST_MOMENT_OF_CLOCK", "NUMBERS", "Bound", "check_bound", "number_in"]

FIRST_MOMENT: Final = -62_135_596_800_000
"""Start of the year 1, the earliest time that clients can represent, in ms since 1970."""
LAST_MOMENT: Final = 253_402_300_799_999
"""End of the year 9999, the latest time that clients can represent, in ms since 1970."""
LAST_MOMENT_OF_CLOCK: Final = (LAST_MOMENT - 100 * 366 * 86_400_000) * 1000
"""Limit of a virtual clock, in microseconds; locks that end after it still have a valid time."""
ANY_MOMENT: Final = (FIRST_MOMENT, LAST_MOMENT + 1)
"""Bounds of a time that is only compared; some clients round the latest time up."""
INT, UINT, LONG = 2**31 - 1, 2**32 - 1, 2**63 - 1
LONGEST_SHOWN: Final = 40
MOST_DIGITS: Final = 20


@attrs.frozen
class Bound:
    """The bounds of a number."""

    least: int
    most: int

    def __contains__(self, value: Any) -> bool:
        """Return whether a value is an integer within the bounds; a boolean is not."""
        # In Python, a boolean is an integer.
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and self.least <= value <= self.most


NUMBERS: Final = {
    # The header of a message.
    "priority": Bound(0, 255),
    "ttl": Bound(0, UINT),
    # A message due after the year 9999 could not be shown to any client.
    "x-opt-scheduled-enqueue-time": Bound(FIRST_MOMENT, LAST_MOMENT),
    "x-opt-busproof-size": Bound(0, LONG),
    # Clients begin a peek at 0; lower numbers mean the beginning, too.
    "from-sequence-number": Bound(-LONG - 1, LONG),
    "sequence-numbers": Bound(-LONG - 1, LONG),
    "message-count": Bound(1, INT),
    "receiver-settle-mode": Bound(0, 1),
    "enqueued-time-utc": Bound(*ANY_MOMENT),
    "last-updated-time": Bound(*ANY_MOMENT),
    "skip": Bound(0, INT),
    "top": Bound(0, INT),
    # The properties of a link.
    "com.microsoft:timeout": Bound(0, UINT),
    # Descriptions of entities, and the query of a list.
    "MaxDeliveryCount": Bound(1, INT),
    "MaxMessageSizeInKilobytes": Bound(0, INT),
    "MaxSizeInMegabytes": Bound(1, INT),
    "$skip": Bound(0, INT),
    "$top": Bound(0, INT),
    # The expiry of a token, in seconds.
    "se": Bound(0, LAST_MOMENT // 1000),
    # How long a receive over HTTP waits, in seconds.
    "timeout": Bound(0, 86_400),
    # Requests under /busproof/.
    "after": Bound(0, LONG),
    "microseconds": Bound(0, 10**17 - 1),
    "partition": Bound(0, 63),
    "partitions": Bound(1, 64),
    "namespace_partitions": Bound(1, 4),
    "messaging_units": Bound(1, 64),
    "max_size": Bound(1, INT),
}
"""Bounds of each number, by the name of its field."""


def check_bound(name: str, value: Any) -> int:
    """Return the value of a field as a number.

    Raises:
        ValueError: the value is not an integer within the field's bounds.
    """
    bound = NUMBERS[name]
    if value not in bound:
        # Python refuses to write a number of more than 4,300 digits.
        shown = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "too large"
        raise ValueError(
            f"{name} is {shown[:LONGEST_SHOWN]}; it has to be a whole number from {bound.least} "
            f"to {bound.most}"
        )
    return int(value)


def number_in(name: str, text: str) -> int:
    """Parse a number that is written as text.

    Raises:
        ValueError: the text is not an integer within the field's bounds.
    """
    # Python's `int` accepts digits of every script, signs and underscores, in quadratic time.
    plain = text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
    return check_bound(name, int(text) if plain else text)
