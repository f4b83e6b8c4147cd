"""Values that Proton's Python cannot read, whatever a client has said."""

import inspect
import traceback
from collections.abc import Callable
from typing import Any, Final

from proton import Data

__all__ = ["is_unreadable", "readable"]

UNREADABLE: Final = (RecursionError, UnicodeDecodeError)
"""What Proton's Python raises of values that are nested too deeply, and of texts that are none."""


def is_unreadable(error: Exception) -> bool:
    """Whether Proton's Python has no such value: a map may have keys that no dict can have."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return isinstance(error, UNREADABLE) or (
        isinstance(error, TypeError | ValueError) and last.filename == inspect.getfile(Data)
    )


def readable(read: Callable[[], Any]) -> Any:
    """What a client calls something, which need not be a text."""
    try:
        return read()
    except UnicodeDecodeError:
        return "(no text)"
