"""The clock of a history as the ticks of a spec's clock, where that loses nothing."""

from collections.abc import Sequence
from typing import Final

import attrs

from busproof.vocabulary.commands import Receive
from busproof.vocabulary.outcomes import Event, Received

__all__ = ["Ticks", "ticks_for"]

_TRIED: Final = (1, 2, 3, 4, 6, 12)
"""Ticks of a lock; more of them cost TLC states."""


@attrs.frozen
class Ticks:
    """A lock lasts `whole` ticks of `length` microseconds."""

    whole: int
    length: int

    def between(self, earlier: int, later: int) -> int:
        """Ticks from one moment to another."""
        return later // self.length - earlier // self.length


def ticks_for(lock: int, events: Sequence[Event]) -> Ticks | None:
    """The coarsest ticks by which every lock ends where it does by the microsecond.

    `None`: there are none among those that are tried, or a request came just as a lock ended, when
    both answers are allowed.
    """
    taken = sorted({event.called for event in events if _takes(event)})
    asked = sorted({event.called for event in events})
    for whole in _TRIED:
        if lock % whole == 0 and _is_exact(Ticks(whole, lock // whole), lock, taken, asked):
            return Ticks(whole, lock // whole)
    return None


def _takes(event: Event) -> bool:
    """Return whether a lock, or a cache's, may begin with this event."""
    return isinstance(event.command, Receive) and isinstance(event.outcome, Received)


def _is_exact(ticks: Ticks, lock: int, taken: Sequence[int], asked: Sequence[int]) -> bool:
    for begun in taken:
        for moment in asked:
            if moment - begun == lock:
                return False
            over = moment - begun > lock
            if moment > begun and (ticks.between(begun, moment) >= ticks.whole) is not over:
                return False
    return True
