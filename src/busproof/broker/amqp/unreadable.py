"""Values from clients that Proton's Python binding fails to read."""

import inspect
import traceback
from collections.abc import Callable
from typing import Any, Final

from proton import Data, ProtonException
from proton import Message as ProtonMessage

from busproof.broker.amqp.encoding import values_in

__all__ = ["decode_completely", "is_unreadable", "readable"]

MOST: Final = 1_000
"""Maximum number of values in most requests."""
UNREADABLE: Final = (RecursionError, UnicodeDecodeError)
"""Errors that the binding raises for deep nesting and for strings that are not UTF-8."""


def is_unreadable(error: Exception) -> bool:
    """Return whether Proton's binding raised the error, as for a map with an unhashable key."""
    # The place of the error decides: raised in the broker's own code, it is a fault of the broker.
    last = traceback.extract_tb(error.__traceback__)[-1]
    return isinstance(error, UNREADABLE) or (
        isinstance(error, TypeError | ValueError) and last.filename == inspect.getfile(Data)
    )


def readable(read: Callable[[], Any]) -> Any:
    """Return a name that a client sent, or a placeholder if it is not valid text."""
    try:
        return read()
    except UnicodeDecodeError:
        return "(no text)"


def decode_completely(raw: bytes, most: int = MOST) -> ProtonMessage:
    """Decode a message of at most this many values completely, with Proton.

    Raises:
        ValueError: the bytes are not an AMQP message, there are more values, or Python cannot
            represent one.
    """
    # The engine needs a microsecond for a value, and an array may have any number of them.
    if values_in(raw, 0, most) > most:
        raise ValueError(f"the request has more than {most:,} values, which are not read")
    message = ProtonMessage()
    try:
        message.decode(raw)
    # Proton makes dictionaries of maps, but AMQP allows keys that dictionaries cannot have.
    except (ProtonException, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"these bytes are no AMQP message: {error}") from None
    return message
