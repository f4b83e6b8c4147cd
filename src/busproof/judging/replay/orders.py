"""Orders of events: as recorded on a virtual clock, otherwise any that their times permit.

Of overlapping requests, those that returned before another was called came first. Of two sends to
one partition, the one with the smaller number came first. Everything else is a choice.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence

from busproof import vocabulary as v
from busproof.judging.replay.evidence import views_of
from busproof.judging.replay.heuristics import Hints
from busproof.judging.replay.precedences import NEVER
from busproof.judging.replay.window import Window

__all__ = ["Order", "follow_one_another"]


class Order:
    """The events that are done, and those that may come next.

    Args:
        events: the events of the history.
        is_recorded: whether they took effect in the order of their recording; they did if each was
            answered before the next one was called.
        numbers_show_partitions: whether the top bits of a sequence number are its partition.

    Attributes:
        until: the index of the first event that need not be done yet; `None` if all have to be.
    """

    def __init__(
        self, events: Window[v.Event], *, is_recorded: bool, numbers_show_partitions: bool
    ) -> None:
        self._events = events
        self._is_virtual = is_recorded
        self.until: int | None = None
        self.is_recorded = is_recorded or follow_one_another(events.kept)
        self._first = 0
        self._ahead: set[int] = set()
        self._ends = Window(NEVER if e.returned is None else e.returned for e in events.kept)
        self._latest = max(self._ends.kept, default=-NEVER)
        self._is_numbered = numbers_show_partitions
        known = numbers_show_partitions and not self.is_recorded
        self._before = _sends_before(events) if known else {}
        self._hints: Hints | None = None

    @property
    def first(self) -> int:
        """The first event that is not done."""
        return self._first

    def add(self, event: v.Event) -> None:
        """Note that the list of events has one more, which came after all others."""
        if not self._is_virtual and event.called <= self._latest:
            self.is_recorded = False
        end = NEVER if event.returned is None else event.returned
        self._ends.append(end)
        self._latest = max(self._latest, end)
        self._hints = None

    def foresee(self, event: v.Event) -> None:
        """Note when an event was answered that comes after all others and need not be done."""
        self._ends.append(NEVER if event.returned is None else event.returned)

    def expect(self) -> None:
        """Find out, after events were added, which sends certainly come before others."""
        if self._is_numbered and not self.is_recorded:
            self._before = _sends_before(self._events)

    def forget(self, index: int) -> None:
        """Forget the events before this one, all of which are done for good."""
        self._ends.forget(index)
        self._hints = None

    @property
    def is_complete(self) -> bool:
        """Whether all events are done, or as many as have to be."""
        return self._first >= (len(self._events) if self.until is None else self.until)

    @property
    def done(self) -> Hashable:
        """The events that are done, as a value: their number, and those done before others."""
        return self._first, frozenset(self._ahead)

    def is_done(self, index: int) -> bool:
        """Return whether an event is done."""
        return index < self._first or index in self._ahead

    def end(self, index: int) -> int:
        """Return when an event was answered; `NEVER` if it was not."""
        return self._ends[index]

    def prefer(self, later: int, earlier: int) -> None:
        """Try an event after another one from now on, if both may come next."""
        if self._hints is not None:
            self._hints.add(later, earlier)

    def take(self, index: int) -> None:
        """Note that an event is done."""
        if index != self._first:
            self._ahead.add(index)
            return
        self._first += 1
        while self._first in self._ahead:
            self._ahead.discard(self._first)
            self._first += 1

    def give_back(self, index: int) -> None:
        """Note that an event is not done after all."""
        if index >= self._first:
            self._ahead.discard(index)
            return
        self._ahead.update(range(index + 1, self._first))
        self._first = index

    def candidates(self) -> Sequence[int]:
        """Return the events that may come next, best first."""
        if self.is_complete:
            return ()
        if self.is_recorded:
            return (self._first,)
        events = self._events
        ends = self._ends
        found: list[int] = []
        soonest = NEVER
        clients = set()
        for index in range(self._first, len(events)):
            if index in self._ahead:
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
            and all(map(self.is_done, self._before.get(index, ())))
        ]
        if len(possible) < 2:
            return possible
        if self._hints is None:
            self._hints = Hints(events.kept, events.first)
        return self._hints.ranked(possible, self.is_done)[::-1]


def follow_one_another(events: Sequence[v.Event]) -> bool:
    """Return whether each event returned before the next one was called: one order is possible."""
    barrier = -NEVER
    for event in events:
        if event.called <= barrier:
            return False
        barrier = NEVER if event.returned is None else event.returned
    return True


def _sends_before(events: Window[v.Event]) -> dict[int, tuple[int, ...]]:
    """Return for each send those that are certainly before it, by the numbers of their messages.

    Only a body that was sent once identifies a message. The numbers of a queue that is deleted say
    nothing, because those of a later queue of the name begin anew. A send without an answer may
    take effect long after its call, so that others may be before it only then.
    """
    kept = events.kept
    deleted = {event.command.queue for event in kept if isinstance(event.command, v.DeleteQueue)}
    numbers: dict[tuple[str, str], int] = {}
    for event in kept:
        for view in views_of(event.outcome):
            if view.sequence_number is not None:
                place = (getattr(event.command, "queue", ""), view.body)
                numbers.setdefault(place, view.sequence_number)
    sends: dict[tuple[str, str], list[int]] = defaultdict(list)
    for index, event in events.numbered():
        if not isinstance(event.command, v.Send) or event.command.queue in deleted:
            continue
        if event.command.transaction is None:
            sends[event.command.queue, event.command.message.body].append(index)
    lines: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for (queue, body), indices in sends.items():
        number = numbers.get((queue, body))
        if number is not None and len(indices) == 1:
            lines[queue, number >> v.SEQUENCE_BITS].append((number, indices[0]))
    before = {}
    for line in lines.values():
        earlier: list[int] = []
        for _, index in sorted(line):
            if isinstance(events[index].outcome, v.Indeterminate):
                earlier.append(index)
                continue
            before[index] = tuple(earlier)
            earlier = [index]
    return before
