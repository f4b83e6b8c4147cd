"""Mapping of a history's clock to ticks of a spec's clock, where that loses nothing."""

from collections.abc import Sequence
from typing import Final

import attrs

from busproof import vocabulary as v

__all__ = ["Ticks", "ticks_for"]

_TRIED: Final = (1, 2, 3, 4, 6, 12)
"""Numbers of ticks per lock that are tried; larger ones cost TLC more states."""


@attrs.frozen
class Ticks:
    """A division of the clock: a lock lasts `whole` ticks of `length` microseconds."""

    whole: int
    length: int

    def between(self, earlier: int, later: int) -> int:
        """Return the number of ticks between two moments."""
        return later // self.length - earlier // self.length


def ticks_for(lock: int, events: Sequence[v.Event]) -> Ticks | None:
    """Return the coarsest ticks that keep the order of requests and the ends of locks.

    Return `None` if no number of ticks that is tried keeps it, or if a request came exactly when a
    lock ended, where both answers are allowed.
    """
    taken = sorted({event.called for event in events if _takes(event)})
    moments = sorted({event.called for event in events})
    for whole in _TRIED:
        if lock % whole == 0 and _is_exact(Ticks(whole, lock // whole), lock, taken, moments):
            return Ticks(whole, lock // whole)
    return None


def _takes(event: v.Event) -> bool:
    """Return whether a lock, perhaps that of a cached message, may begin with this event."""
    return isinstance(event.command, v.Receive) and isinstance(event.outcome, v.Received)


def _is_exact(ticks: Ticks, lock: int, taken: Sequence[int], moments: Sequence[int]) -> bool:
    for begun in taken:
        for moment in moments:
            if moment - begun == lock:
                return False
            over = moment - begun > lock
            if moment > begun and (ticks.between(begun, moment) >= ticks.whole) is not over:
                return False
    return True
