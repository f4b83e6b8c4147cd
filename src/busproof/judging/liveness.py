"""Patience: how long somebody waited in vain for what has to come, event by event.

No document says how soon a bus does what it does by itself, how soon a description is right, or how
soon the room of what was removed is free. The readings `bounded` of SCHEDULE-DELAY, FORWARD-DELAY,
DEAD-LETTER-DELAY, GET-LAG and ROOM-DELAY allow two minutes. One empty answer or refusal proves
nothing; a series of them over that time does, if nobody asked for anything else meanwhile. So the
replay lets a bus be late until such a series ends.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

import attrs

from busproof import vocabulary as v

__all__ = ["BOUND", "CHANGES_NOTHING", "FEW", "PAUSE", "TRIES", "Patience", "Waited"]

T = TypeVar("T")

BOUND: Final = 120 * v.MICROSECONDS
"""Maximum delay in microseconds under the reading `bounded`; scenarios wait as long."""
TRIES: Final = 20
"""Number of empty answers in a row, within that time, before a receiver gives up."""
FEW: Final = 4
"""Number of empty answers that is enough if they span half as long again."""
PAUSE: Final = 7 * v.MICROSECONDS
"""Time between two empty answers, in microseconds."""

CHANGES_NOTHING: Final = (
    v.AdvanceClock,
    v.GetQueue,
    v.GetTopic,
    v.ListQueues,
    v.ListRules,
    v.ListSessions,
    v.ListSubscriptions,
    v.ListTopics,
    v.Peek,
)
"""Requests that change no description."""


LONG: Final = BOUND + BOUND // 2
"""How long a few empty answers must span."""

FULL: Final = v.Refused(error=v.Error.QUOTA_EXCEEDED)


@attrs.frozen
class Waited:
    """A series of answers in vain: when it began, when it ended, and how many there were."""

    since: int
    until: int
    answers: int

    @property
    def seconds(self) -> float:
        """How long it took."""
        return (self.until - self.since) / v.MICROSECONDS


class Patience:
    """The events of a history at which somebody has waited long enough.

    Args:
        events: the events so far.
        forgiven: the index of the first event at which nobody is impatient any more.
    """

    def __init__(self, events: Iterable[v.Event] = (), forgiven: int | None = None) -> None:
        self._events = 0
        self._since = 0
        self._is_blind = False
        self._vain: dict[v.Receive, list[int]] = {}
        self._refused: dict[v.Command, list[int]] = {}
        self._full: dict[str, list[int]] = {}
        self._received: dict[int, Waited] = {}
        self._settled: dict[int, int] = {}
        self._denied: dict[int, Waited] = {}
        self._excluded: dict[int, Waited] = {}
        self._updated: dict[str, int] = {}
        self._answered: dict[str, int] = {}
        self._forgiven = forgiven
        for event in events:
            self.add(event)

    def add(self, event: v.Event) -> None:
        """Note one more event."""
        index = self._events
        self._events += 1
        command = event.command
        outcome = event.outcome
        asked = self._when_asked(event)
        if isinstance(outcome, v.Indeterminate) or isinstance(command, v.RestoreQueue):
            # It may take effect at any time, or in some partitions only.
            self._is_blind = True
        if not isinstance(command, CHANGES_NOTHING):
            self._since = asked if event.returned is None else event.returned
            self._refused.clear()
        if isinstance(command, v.Receive) and isinstance(outcome, v.Empty):
            times = self._vain.setdefault(command, [])
            times.append(asked)
            first = max(last_start(times, TRIES, BOUND), last_start(times, FEW, LONG))
            if first >= 0:
                self._received[index] = Waited(times[first], asked, len(times) - first)
                del times[:first]
        elif not isinstance(command, v.AdvanceClock):
            self._vain.clear()
        if isinstance(command, v.Send) and outcome == FULL:
            times = self._full.setdefault(command.queue, [])
            times.append(asked)
            first = last_start(times, FEW, LONG)
            if first >= 0:
                self._excluded[index] = Waited(times[first], asked, len(times) - first)
        elif not isinstance(command, CHANGES_NOTHING):
            self._full.clear()
        if isinstance(command, v.UpdateQueue | v.UpdateTopic):
            self._updated.setdefault(v.concerned(command) or "", index)
        if isinstance(command, v.GetQueue | v.GetTopic) and not self._is_blind:
            self._describe(index, event, asked)

    def _when_asked(self, event: v.Event) -> int:
        """Return the earliest moment at which a request may have been made.

        Histories need not say when; but the requests of one client never overlap.
        """
        asked = max(event.called, self._answered.get(event.client, 0))
        if event.returned is not None:
            self._answered[event.client] = event.returned
        return asked

    def _describe(self, index: int, event: v.Event, asked: int) -> None:
        described = isinstance(event.outcome, v.Described | v.TopicDescribed)
        if described and asked - self._since >= BOUND:
            self._settled[index] = self._since
        if not isinstance(event.outcome, v.Refused):
            self._refused.pop(event.command, None)
            return
        times = self._refused.setdefault(event.command, [])
        times.append(asked)
        first = last_start(times, TRIES, BOUND)
        if first >= 0:
            self._denied[index] = Waited(times[first], asked, len(times) - first)

    def of(self, indices: Sequence[int]) -> "Patience":
        """Return the patience at some of the events, which are numbered anew."""
        some = Patience()
        some._updated = {path: bisect_left(indices, at) for path, at in self._updated.items()}
        kept = {i: at for at, i in enumerate(indices) if not self._is_forgiven(i)}
        some._received = renumber(self._received, kept)
        some._settled = renumber(self._settled, kept)
        some._denied = renumber(self._denied, kept)
        some._excluded = renumber(self._excluded, kept)
        return some

    def was_updated(self, path: str, index: int) -> bool:
        """Return whether an entity was updated before an event."""
        return self._updated.get(path, index) < index

    def received_until(self, index: int) -> Waited | None:
        """Return how long a receiver has waited, if an event ends its patience.

        Whatever had to come before the series began has to be there by now.
        """
        return None if self._is_forgiven(index) else self._received.get(index)

    def described_since(self, index: int) -> int | None:
        """GET-LAG: return since when nothing was changed, if a description must be right by now."""
        return None if self._is_forgiven(index) else self._settled.get(index)

    def refused_until(self, index: int) -> Waited | None:
        """COUNTS-IN-OUTAGE: return how long all descriptions were refused, if one has to come."""
        return None if self._is_forgiven(index) else self._denied.get(index)

    def full_until(self, index: int) -> Waited | None:
        """ROOM-DELAY: return how long all sends to an entity were refused as it was full.

        What was removed from it before the series began has given its room by now.
        """
        return None if self._is_forgiven(index) else self._excluded.get(index)

    @property
    def ended(self) -> bool:
        """Whether anybody's patience has ended."""
        return bool(self._received or self._settled or self._denied or self._excluded)

    def _is_forgiven(self, index: int) -> bool:
        return self._forgiven is not None and index >= self._forgiven


def renumber(table: Mapping[int, T], places: Mapping[int, int]) -> dict[int, T]:
    """Return the entries of some events under their new numbers."""
    return {places[index]: value for index, value in table.items() if index in places}


def last_start(times: Sequence[int], answers: int, duration: int) -> int:
    """Return the last start of a series that has so many answers and lasts so long.

    Args:
        times: when each answer came; the series ends with the last one.
        answers: how many answers the series needs.
        duration: how many microseconds it needs.

    Returns:
        The index of its first answer; negative if there is no such series.
    """
    return min(len(times) - answers, bisect_right(times, times[-1] - duration) - 1)
