"""Turns between clients: what one sends is handled for a while, then all others have a turn."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

__all__ = ["TURN", "Turns"]

TURN: Final = 0.03
"""CPU time for one client's requests before all others have a turn, in seconds.

It is not the time of a clock, so that a loaded machine does not shorten turns.
"""


class Turns:
    """The turns of one client.

    Args:
        loop: gives the others their turns.
        go_on: takes the next turn.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, go_on: Callable[[], None]) -> None:
        self._loop = loop
        self._go_on = go_on
        self._ends: float | None = None
        self._not_before = 0.0
        """Until when the turn cannot be over, by a clock that is cheap to read."""
        self._next: asyncio.Handle | None = None

    def begin(self) -> None:
        """Begin a turn."""
        self._next = None
        self._ends = time.thread_time() + TURN
        self._not_before = time.perf_counter() + TURN

    def end(self) -> None:
        """End the turn, whether everything is done or not."""
        self._ends = None

    def cancel(self) -> None:
        """Take no more turns."""
        self._ends = None
        if self._next is not None:
            self._next.cancel()

    @property
    def waits(self) -> bool:
        """Whether something is left for the next turn."""
        return self._next is not None

    @property
    def is_between(self) -> bool:
        """Whether others have their turns now, and something is left for the next one."""
        return self._next is not None and self._ends is None

    def is_over(self) -> bool:
        """Whether the turn is over; then the next one goes on."""
        if self._next is not None:
            return True
        if self._ends is None or time.perf_counter() < self._not_before:
            return False
        if time.thread_time() > self._ends:
            self._next = self._loop.call_soon(self._go_on)
        return self._next is not None
