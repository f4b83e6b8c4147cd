"""Values from clients that Proton's Python binding cannot read."""

import inspect
import traceback
from collections.abc import Callable
from typing import Any, Final

from proton import Data

__all__ = ["is_unreadable", "readable"]

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
