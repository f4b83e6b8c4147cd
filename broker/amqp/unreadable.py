"""Values from clients that are read by Proton's Python binding, which cannot read some."""

import inspect
import traceback
from collections.abc import Callable
from typing import Any, Final

from proton import Data, ProtonException
from proton import Message as ProtonMessage

from busproof.broker.amqp.encoding import values_in

__all__ = ["decoded", "is_unreadable", "readable"]

MOST: Final = 1_000
"""Number of values that are enough for most requests."""
UNREADABLE: Final = (RecursionError, UnicodeDecodeError)
"""Errors that the binding raises for deep nesting and for strings that are not UTF-8."""


def is_unreadable(error: Exception) -> bool:
    """Return whether the binding cannot represent a value, such as a map with an unhashable key."""
    # Where it was raised decides: the same error in our own code is a fault of ours.
    last = traceback.extract_tb(error.__traceback__)[-1]
    return isinstance(error, UNREADABLE) or (
        isinstance(error, TypeError | ValueError) and last.filename == inspect.getfile(Data)
    )


def readable(read: Callable[[], Any]) -> Any:
    """Return a name that a client sent, which may not be valid text."""
    try:
        return read()
    except UnicodeDecodeError:
        return "(no text)"


def decoded(raw: bytes, most: int = MOST) -> ProtonMessage:
    """Decode a message of at most this many values completely, with Proton.

    Raises:
        ValueError: the bytes are not an AMQP message, there are more values, or Python cannot
            represent one.
    """
    # The engine reads a value in a microsecond, and as many elements of an array as it has room.
    if values_in(raw, 0, most) > most:
        raise ValueError(f"the request has more than {most:,} values, which are not read")
    message = ProtonMessage()
    try:
        message.decode(raw)
    # Proton makes a dictionary of a map, and AMQP has keys that no dictionary can have.
    except (ProtonException, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"these bytes are no AMQP message: {error}") from None
    return message
