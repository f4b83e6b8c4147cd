"""A budget of time for code that may never return, such as a mutant whose loop has no end.

The time is that of the processor: a mutant must not break because other programs run beside it.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

__all__ = ["SECONDS", "OutOfTime", "within"]

SECONDS: Final = 10.0
"""Seconds of the processor for one sequence on a mutant; the model needs some milliseconds."""


class OutOfTime(Exception):  # noqa: N818 - what it means depends on who asked
    """The budget is used up."""


@contextmanager
def within(seconds: float = SECONDS) -> Iterator[None]:
    """Interrupt the block after this many seconds of the processor.

    Only the main thread can be interrupted, and only where the system has timers; elsewhere there
    is no budget.

    Raises:
        OutOfTime: the budget is used up.
    """
    has_timers = hasattr(signal, "setitimer")
    if not has_timers or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise OutOfTime(f"no end within {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
