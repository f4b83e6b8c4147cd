"""Turns between clients: one client's requests are handled for a while, then the others'."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Final

__all__ = ["TURN", "Turns"]

TURN: Final = 0.03
"""CPU time for one client's requests before the others have a turn, in seconds.

CPU time, so that turns are not shorter on a loaded machine.
"""


class Turns:
    """The turns of one client.

    Args:
        loop: gives the other clients their turns.
        go_on: takes the next turn.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, go_on: Callable[[], None]) -> None:
        self._loop = loop
        self._go_on = go_on
        self._ends: float | None = None
        self._not_before = 0.0
        """Earliest end of the turn on a wall clock, which is cheaper to read than CPU time."""
        self._next: asyncio.Handle | None = None
        self._steps: Iterator[bool] | None = None
        """What is left of a request."""

    def begin(self) -> None:
        """Begin a turn."""
        self._next = None
        self._ends = time.thread_time() + TURN
        self._not_before = time.perf_counter() + TURN

    def end(self) -> None:
        """End the turn, whether or not everything is done."""
        self._ends = None

    def work(self, steps: Iterator[bool]) -> None:
        """Do a request step by step; what is left when the turn is over waits for the next one.

        A step yields whether the next one is long, and so needs a turn that has just begun.
        """
        self._steps = steps
        self.is_done()

    def is_done(self) -> bool:
        """Go on with a request that is left; return whether it is done."""
        while self._steps is not None:
            is_next_long = next(self._steps, None)
            if is_next_long is None:
                self._steps = None
            # Outside of a turn there is no end to bring forward: the step is done at once.
            elif self.is_over() or (is_next_long and self._end()):
                return False
        return True

    def _end(self) -> bool:
        """End the turn early; return whether there is one."""
        if self._ends is not None:
            # Behind what other clients have sent meanwhile, which the loop handles first.
            self._next = self._loop.call_soon(self._go_on)
        return self._next is not None

    def cancel(self) -> None:
        """Cancel the next turn, and what is left of a request."""
        self._ends = self._steps = None
        if self._next is not None:
            self._next.cancel()

    @property
    def waits(self) -> bool:
        """Whether work is left for the next turn."""
        return self._next is not None

    @property
    def is_between(self) -> bool:
        """Whether the others have their turns now and work is left for the next one."""
        return self._next is not None and self._ends is None

    def is_over(self) -> bool:
        """Return whether the turn is over; if so, the next one is scheduled."""
        if self._next is not None:
            return True
        if self._ends is None or (now := time.perf_counter()) < self._not_before:
            return False
        if (left := self._ends - time.thread_time()) >= 0:
            # CPU time passes no faster than the clock, so it need not be read again before then.
            self._not_before = now + left
            return False
        return self._end()
