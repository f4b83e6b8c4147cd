"""What a search has found: the order of the events, and what each of them shows.

It takes a few bytes an event, so that it can be kept of a history of any length.
"""

from array import array
from collections.abc import Iterator, Sequence
from copy import copy

from busproof import vocabulary as v
from busproof.judging.coverage.across import Across
from busproof.judging.coverage.notes import Rules
from busproof.judging.decided import Decided

__all__ = ["Trail"]


class Trail:
    """The events of a path, in its order; those at its beginning are committed.

    Attributes:
        length: how many events are committed.
    """

    def __init__(self) -> None:
        self.length = 0
        self._order = array("L")
        self._is_in_order = True
        self._shown = Decided()
        self._ahead: dict[int, tuple[Rules, v.Event]] = {}
        self._across = Across()

    def copy(self) -> "Trail":
        """Return a trail to which events can be added without a change of this one."""
        other = copy(self)
        other._order = self._order[:]
        other._shown = self._shown.copy()
        other._ahead = dict(self._ahead)
        other._across = self._across.copy()
        return other

    def commit(self, index: int, rules: Rules, event: v.Event) -> None:
        """Add an event that is done for good."""
        self.length += 1
        self.add(index, rules, event)

    def add(self, index: int, rules: Rules, event: v.Event) -> None:
        """Add the next event of the path."""
        if self._is_in_order and index != self._count:
            self._order = array("L", range(self._count))
            self._is_in_order = False
        if not self._is_in_order:
            self._order.append(index)
        self._ahead[index] = rules, event
        # What events show together depends on the order of their recording.
        while (ready := self._ahead.pop(len(self._shown), None)) is not None:
            self._shown.append(self._across.shown(*ready))

    @property
    def _count(self) -> int:
        return len(self._shown) + len(self._ahead)

    @property
    def order(self) -> Sequence[int]:
        """The indices of the events in the order of the path; a recorded order is a range."""
        return range(self._count) if self._is_in_order else self._order

    @property
    def decided(self) -> Decided:
        """For each event, in the order of recording, the rules that it shows."""
        return self._shown

    def __iter__(self) -> Iterator[int]:
        """Iterate over the indices in the order of the path."""
        return iter(self.order)
