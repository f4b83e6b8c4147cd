"""An event loop that hears few clients at a time, so that those who come later are heard, too.

asyncio reads from every socket that has bytes in one iteration of its loop. However little is done
for each, thousands of clients that speak at the same moment would keep all others waiting.
"""

import asyncio
import selectors
import sys
from collections import deque
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

__all__ = ["HEARD_AT_ONCE", "FairSelector", "run"]

HEARD_AT_ONCE: Final = 32
"""Maximum number of sockets that are read or written in an iteration of the loop."""

Ready = tuple[selectors.SelectorKey, int]
Returned = TypeVar("Returned")


class FairSelector(selectors.DefaultSelector):
    """A selector that returns few sockets at a time, and each before any of them again."""

    def __init__(self) -> None:
        super().__init__()
        self._left = deque[Ready]()
        """Sockets that were ready and have not been returned."""

    def select(self, timeout: float | None = None) -> list[Ready]:
        """Return sockets that are ready, with what each is ready for."""
        if not self._left:
            ready = super().select(timeout)
            if len(ready) <= HEARD_AT_ONCE:
                return ready
            self._left.extend(ready)
        known = self.get_map()
        some = list[Ready]()
        while self._left and len(some) < HEARD_AT_ONCE:
            one = self._left.popleft()
            # By now, it may be closed or wait for something else; if it is ready, it will be found.
            if known.get(one[0].fd) is one[0]:
                some.append(one)
        return some


def run(main: Coroutine[Any, Any, Returned]) -> Returned:
    """Run a coroutine in such a loop, until it is done."""
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        return runner.run(main)


def _new_loop() -> asyncio.AbstractEventLoop:
    if sys.platform == "win32":
        return asyncio.new_event_loop()  # not made of a selector
    return asyncio.SelectorEventLoop(FairSelector())
