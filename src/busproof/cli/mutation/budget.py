"""A time budget for code that may never return, such as a mutant that loops for ever.

It counts processor time, so that a mutant does not fail because other programs are running.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

__all__ = ["SECONDS", "OutOfTime", "within"]

SECONDS: Final = 10.0
"""Processor time for one sequence on a mutant, in seconds; the model needs milliseconds."""


class OutOfTime(Exception):
    """The time budget is used up."""


@contextmanager
def within(seconds: float = SECONDS) -> Iterator[None]:
    """Interrupt the block after this much processor time, in seconds.

    Only the main thread can be interrupted, and only on systems with timers; otherwise the time is
    not limited.

    Raises:
        OutOfTime: the budget is used up.
    """
    has_timers = hasattr(signal, "setitimer")
    if not has_timers or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - a handler's signature
        raise OutOfTime(f"no end within {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
