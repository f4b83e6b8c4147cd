"""Values from clients that are read by Proton's Python binding, which cannot read some."""

import inspect
import traceback
from collections.abc import Callable
from typing import Any, Final

from proton import Data, ProtonException
from proton import Message as ProtonMessage

from busproof.broker.amqp.encoding import values_in

__all__ = ["decoded", "is_unreadable", "readable"]

UNREADABLE: Final = (RecursionError, UnicodeDecodeError)
"""Errors that the binding raises for deep nesting and for strings that are not UTF-8."""


def is_unreadable(error: Exception) -> bool:
    """Return whether the binding cannot represent a value, such as a map with an unhashable key."""
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


def decoded(raw: bytes) -> ProtonMessage:
    """Decode a message completely, with Proton.

    Raises:
        ValueError: the bytes are not an AMQP message, or Python cannot represent a value.
    """
    if values_in(raw, 0) > len(raw):
        # The engine would read as many elements as it has room for, one by one.
        raise ValueError("these bytes are no AMQP message: an array has more elements than bytes")
    message = ProtonMessage()
    try:
        message.decode(raw)
    except (ProtonException, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"these bytes are no AMQP message: {error}") from None
    return message
