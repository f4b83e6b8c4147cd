"""Return of memory to the system after many clients have gone.

The C library keeps what was freed for later, so that a broker would stay as large as it once was.
"""

import asyncio
import ctypes
from collections.abc import Callable
from typing import Final

__all__ = ["MANY", "FreedMemory"]

MANY: Final = 100
"""Number of clients that have gone after which their memory is returned."""
A_WHILE: Final = 0.5
"""Time for more of them to go, in seconds."""


def _trimming() -> Callable[[int], int] | None:
    """Return the function of the C library that returns memory; only glibc has one."""
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return found


class FreedMemory:
    """The memory of clients that have gone.

    Args:
        loop: the event loop; the memory is returned in another thread.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._trim = _trimming()
        self._gone = 0
        self._timer: asyncio.TimerHandle | None = None

    def note(self, clients: int = 1) -> None:
        """Record that clients have gone."""
        self._gone += clients
        if self._gone >= MANY and self._timer is None and self._trim is not None:
            self._timer = self._loop.call_later(A_WHILE, self._give_back, self._trim)

    def close(self) -> None:
        """Return nothing more."""
        if self._timer is not None:
            self._timer.cancel()

    def _give_back(self, trim: Callable[[int], int]) -> None:
        self._gone, self._timer = 0, None
        self._loop.run_in_executor(None, trim, 0)
