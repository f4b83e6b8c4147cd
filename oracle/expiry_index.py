"""Index of the times at which messages of a queue expire."""

from collections.abc import Callable

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.evolve import evolve
from busproof.oracle.heap import Heap, filtered, pop, push, smallest
from busproof.oracle.schedule import NEVER
from busproof.oracle.window import Window


@attrs.frozen(kw_only=True)
class Deaths:
    """Expiry times of messages; entries of removed messages are dropped when their time comes.

    Attributes:
        ahead: (earliest expiry, arrival number) of messages that are surely still alive.
        due: (a time, arrival number) of messages to check again after that time.
        shown: rules that an empty answer exercises because expired messages were not given; by
            session id if sessions are required.
        aside: whether a deferred message has exceeded its time to live.
        cached: until when a front end may hold an expired message.
    """

    ahead: Heap[tuple[int, int]] = None
    due: Heap[tuple[int, int]] = None
    shown: Map[str | None, tuple[v.RuleId, ...]] = Map()
    aside: bool = False
    cached: int = -1

    def awaiting(self, number: int, dies: Window | None) -> "Deaths":
        """Return the index with one more message, or one that became available again; O(log n)."""
        if dies is None or dies.earliest >= NEVER:
            return self
        return evolve(self, ahead=push(self.ahead, (dies.earliest, number)))

    def looked_at_after(self, moment: int, number: int) -> "Deaths":
        """Return the index with a check of a message after a given time; O(log n)."""
        if moment >= NEVER:
            return self
        return evolve(self, due=push(self.due, (moment, number)))

    def only(self, is_here: Callable[[int], bool]) -> "Deaths":
        """Return the index of the messages that are still in the queue, by arrival number."""
        if self.ahead is None and self.due is None:
            return self
        ahead = filtered(self.ahead, lambda entry: is_here(entry[1]))
        return evolve(self, ahead=ahead, due=filtered(self.due, lambda entry: is_here(entry[1])))

    def first_ahead(self, now: Window) -> tuple[int, "Deaths"] | None:
        """Return a message that may have expired by now, and the other entries."""
        first = smallest(self.ahead)
        # It may have expired by the latest moment that it may be now, and surely has only before
        # the earliest (`first_due`).
        if first is None or first[0] > now.latest:
            return None
        return first[1], evolve(self, ahead=pop(self.ahead))

    def first_due(self, now: Window) -> tuple[int, "Deaths"] | None:
        """Return a message whose check is due, and the other entries."""
        first = smallest(self.due)
        if first is None or first[0] >= now.earliest:
            return None
        return first[1], evolve(self, due=pop(self.due))

    def showing(self, session_id: str | None, rules: tuple[v.RuleId, ...]) -> "Deaths":
        """Return the index with rules that an empty answer exercises."""
        known = self.shown.get(session_id, ())
        if set(rules) <= set(known):
            return self
        together = tuple(dict.fromkeys((*known, *rules)))
        return evolve(self, shown=self.shown.set(session_id, together))


NO_DEATHS = Deaths()
"""Index of a queue whose messages have never had a time to live."""
