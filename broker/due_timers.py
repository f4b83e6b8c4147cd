"""Due timers, run in slices: others have turns while thousands of messages expire at a time.

The clock of the bus stands at the moment of the timers that were run last, and so lags behind until
all are done: what is not done yet is simply not due yet.
"""

import time
from collections.abc import Callable
from typing import Any, Final

from busproof import vocabulary as v
from busproof.broker.direct_actions import rest
from busproof.model import Namespace

__all__ = ["SLICE", "DueTimers", "Spread"]

SLICE: Final = 0.01
"""CPU time of a slice, in seconds."""
MICROSECONDS_OF_ONE: Final = 1_000
# Messages that are due in one microsecond are one step, which has to be short.
AT_ONE_MOMENT: Final = 64

Step = Callable[[v.AdvanceClock, str], Any]


class DueTimers:
    """The timers of a namespace that are due."""

    def __init__(self) -> None:
        self._not_before = 0.0
        """Time of the next slice: one request that asks for the time often has a single slice."""

    def run(self, namespace: Namespace, until: int, step: Step) -> bool:
        """Advance the clock, one moment with timers after the other; return whether some are left.

        Args:
            namespace: the namespace.
            until: the time to reach, in microseconds.
            step: decides a command.
        """
        if time.perf_counter() < self._not_before:
            return True
        # CPU time, so that a loaded machine does not make slices shorter.
        ends = time.thread_time() + SLICE
        timers = namespace.timers
        while timers.is_due(until):
            step(v.AdvanceClock(duration=max(0, timers.heap[0][0] - namespace.now)), "clock")
            # At least one moment is run: otherwise a clock that is far behind could stand still.
            if time.thread_time() > ends and timers.is_due(until):
                self._not_before = time.perf_counter() + SLICE
                return True
        if until > namespace.now:
            rest(namespace, until)
        return False


class Spread:
    """Delays that keep messages from being due in the same microsecond, which is one step.

    Clients name milliseconds. Messages that are scheduled for the same one are spread over it, in
    the order in which they came, apart from every 64,000th.
    """

    def __init__(self) -> None:
        self._count = 0

    def next(self) -> int:
        """Return the next delay, in microseconds."""
        self._count += 1
        return self._count // AT_ONE_MOMENT % MICROSECONDS_OF_ONE
