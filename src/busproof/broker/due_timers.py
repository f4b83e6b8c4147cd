"""Due timers, run in slices, so that others have turns while thousands of messages expire.

Until all due timers have run, the clock of the bus stands at the moment of the last one, so timers
that have not run yet are not due yet.
"""

import time
from collections.abc import Callable
from typing import Any, Final

from busproof import vocabulary as v
from busproof.broker.direct_actions import rest
from busproof.model import Namespace

__all__ = ["SLICE", "DueTimers", "Spread"]

SLICE: Final = 0.01
"""CPU time for a slice, in seconds."""
MICROSECONDS_OF_ONE: Final = 1_000
# Messages due in one microsecond are handled in one step, which has to be short.
AT_ONE_MOMENT: Final = 64

Step = Callable[[v.AdvanceClock, str], Any]


class DueTimers:
    """The due timers of a namespace."""

    def __init__(self) -> None:
        self._not_before = 0.0
        """Earliest time of the next slice; requests before then do not begin one."""

    def run(self, namespace: Namespace, until: int, step: Step) -> bool:
        """Advance the clock from timer to timer; return whether some are left for later.

        Args:
            namespace: the namespace.
            until: the time to reach, in microseconds.
            step: a function that decides a command.
        """
        if time.perf_counter() < self._not_before:
            return True
        # Measure CPU time, because wall-clock time would make slices shorter on a loaded machine.
        ends = time.thread_time() + SLICE
        timers = namespace.timers
        while timers.is_due(until):
            step(v.AdvanceClock(duration=max(0, timers.heap[0][0] - namespace.now)), "clock")
            # Run at least one moment; otherwise a clock that is far behind might never advance.
            if time.thread_time() > ends and timers.is_due(until):
                self._not_before = time.perf_counter() + SLICE
                return True
        if until > namespace.now:
            rest(namespace, until)
        return False


class Spread:
    """Delays that keep messages from being due in the same microsecond.

    Clients name milliseconds. Messages scheduled for the same one are spread over it, 64 copies in
    each microsecond, in the order of their arrival; only after 64,000 does the order begin anew.
    """

    def __init__(self) -> None:
        self._count = 0

    def next(self, copies: int = 1) -> int:
        """Return the next delay, in microseconds, for a message of which copies are made."""
        self._count += copies
        return self._count // AT_ONE_MOMENT % MICROSECONDS_OF_ONE
