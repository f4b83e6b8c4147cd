"""Orders of events: as recorded on a virtual clock, otherwise any that their times permit.

Of overlapping requests, those that returned before another was called came first. Of two sends to
one partition, the one with the smaller number came first. Everything else is a choice.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Final

from busproof import vocabulary as v
from busproof.judging.replay.evidence import views_of

__all__ = ["Order"]

NEVER: Final = 1 << 62
READS_FIRST: Final[dict[type, int]] = {
    v.Empty: 1,
    v.Refused: 2,
    v.Peeked: 3,
    v.Received: 4,
    v.ReceivedSeveral: 4,
    v.Indeterminate: 9,
}
"""Answers in the order in which they are best tried; all others come in between."""
OTHERS: Final = 5


class Order:
    """The events that are done, and those that may come next.

    Args:
        events: the events of the history.
        is_recorded: whether they took effect in the order of their recording.
        numbers_show_partitions: whether the top bits of a sequence number are its partition.
    """

    def __init__(
        self, events: Sequence[v.Event], *, is_recorded: bool, numbers_show_partitions: bool
    ) -> None:
        self._events = events
        self._is_recorded = is_recorded
        self._done: set[int] = set()
        self._first = 0
        self._ends = [NEVER if e.returned is None else e.returned for e in events]
        known = numbers_show_partitions and not is_recorded
        self._before = _sends_before(events) if known else {}

    def add(self, event: v.Event) -> None:
        """Note that the list of events has one more, which came after all others."""
        self._ends.append(NEVER if event.returned is None else event.returned)

    @property
    def is_complete(self) -> bool:
        """Whether all events are done."""
        return len(self._done) == len(self._events)

    @property
    def done(self) -> Hashable:
        """The events that are done, as a value: their number, and those done before others."""
        first = self._first
        return first, frozenset(index for index in self._done if index > first)

    def take(self, index: int) -> None:
        """Note that an event is done."""
        self._done.add(index)
        while self._first in self._done:
            self._first += 1

    def give_back(self, index: int) -> None:
        """Note that an event is not done after all."""
        self._done.discard(index)
        self._first = min(self._first, index)

    def candidates(self) -> Sequence[int]:
        """Return the events that may come next, best first."""
        if self._first == len(self._events):
            return ()
        if self._is_recorded:
            return (self._first,)
        events, ends = self._events, self._ends
        found: list[int] = []
        soonest, clients = NEVER, set()
        for index in range(self._first, len(events)):
            if index in self._done:
                continue
            if events[index].called > soonest:
                break
            soonest = min(soonest, ends[index])
            if events[index].client not in clients:
                clients.add(events[index].client)
                found.append(index)
        possible = [
            index
            for index in found
            if events[index].called <= soonest
            and (index not in self._before or self._before[index] in self._done)
        ]
        possible.sort(key=lambda i: (READS_FIRST.get(type(events[i].outcome), OTHERS), ends[i]))
        return possible


def _sends_before(events: Sequence[v.Event]) -> dict[int, int]:
    """Return for each send the one that is certainly before it, by the numbers of their messages.

    Only a body that was sent once identifies a message.
    """
    numbers: dict[tuple[str, str], int] = {}
    for event in events:
        for view in views_of(event.outcome):
            if view.sequence_number is not None:
                place = (getattr(event.command, "queue", ""), view.body)
                numbers.setdefault(place, view.sequence_number)
    sends: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, event in enumerate(events):
        if isinstance(event.command, v.Send) and event.command.transaction is None:
            sends[event.command.queue, event.command.message.body].append(index)
    lines: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for (queue, body), indices in sends.items():
        number = numbers.get((queue, body))
        if number is not None and len(indices) == 1:
            lines[queue, number >> v.SEQUENCE_BITS].append((number, indices[0]))
    before = {}
    for line in lines.values():
        line.sort()
        for (_, earlier), (_, later) in pairwise(line):
            before[later] = earlier
    return before
