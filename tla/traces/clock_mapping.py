"""Map the clock of a history to ticks of a spec's clock, if that loses nothing."""

from collections.abc import Sequence
from typing import Final

import attrs

from busproof import vocabulary as v

__all__ = ["Ticks", "ticks_for"]

_TRIED: Final = (1, 2, 3, 4, 6, 12)
"""Numbers of ticks in a lock; larger numbers cost TLC more states."""


@attrs.frozen
class Ticks:
    """A division of the clock: a lock lasts `whole` ticks of `length` microseconds."""

    whole: int
    length: int

    def between(self, earlier: int, later: int) -> int:
        """Return the number of ticks between two moments."""
        return later // self.length - earlier // self.length


def ticks_for(lock: int, events: Sequence[v.Event]) -> Ticks | None:
    """Return the coarsest ticks that preserve the order of lock ends and requests.

    `None` if no tried number of ticks preserves it, or if a request came exactly as a lock ended:
    there both answers are allowed.
    """
    taken = sorted({event.called for event in events if _takes(event)})
    moments = sorted({event.called for event in events})
    for whole in _TRIED:
        if lock % whole == 0 and _is_exact(Ticks(whole, lock // whole), lock, taken, moments):
            return Ticks(whole, lock // whole)
    return None


def _takes(event: v.Event) -> bool:
    """Return whether a lock, or the lock of a cached message, may begin with this event."""
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
