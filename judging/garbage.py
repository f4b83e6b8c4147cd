"""Garbage collection while judging.

Beliefs are hardly ever cyclic garbage, but each event makes many objects and most of them live on:
at Python's default rate, collections took a seventh of the time.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["seldom_collected"]

_NEW_OBJECTS: Final = 50_000
"""New objects between two collections; Python's default is 700."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Collect garbage less often, until the end of the block or the decorated function."""
    before = gc.get_threshold()
    # A higher threshold, or none, is somebody's choice.
    if 0 < before[0] < _NEW_OBJECTS:
        gc.set_threshold(_NEW_OBJECTS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
