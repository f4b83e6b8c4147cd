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
    """Expiry times of messages; an entry of a removed message stays until its time comes.

    Attributes:
        ahead: (earliest expiry, arrival number) of messages that surely have not expired.
        due: (time, arrival number) of messages to examine again after that time.
        shown: the rules that an empty answer exercises because it did not give an expired message;
            by session id if the entity requires sessions.
        aside: whether a deferred message ever outlived its time to live.
        cached: the latest time at which a front end may still hold an expired message.
    """

    ahead: Heap[tuple[int, int]] = None
    due: Heap[tuple[int, int]] = None
    shown: Map[str | None, tuple[v.RuleId, ...]] = Map()
    aside: bool = False
    cached: int = -1

    def awaiting(self, number: int, dies: Window | None) -> "Deaths":
        """Return the index with a message that was added, or became available again; O(log n)."""
        # A message that never dies needs no entry, and most messages never die.
        if dies is None or dies.earliest >= NEVER:
            return self
        return evolve(self, ahead=push(self.ahead, (dies.earliest, number)))

    def looked_at_after(self, moment: int, number: int) -> "Deaths":
        """Return the index with an entry to examine this message after a given time; O(log n)."""
        if moment >= NEVER:
            return self
        return evolve(self, due=push(self.due, (moment, number)))

    def only(self, is_here: Callable[[int], bool]) -> "Deaths":
        """Return the index of the messages that are still in the queue, by arrival number."""
        ahead = filtered(self.ahead, lambda entry: is_here(entry[1]))
        return evolve(self, ahead=ahead, due=filtered(self.due, lambda entry: is_here(entry[1])))

    def first_ahead(self, now: Window) -> tuple[int, "Deaths"] | None:
        """Return a message that may have expired by now and the index without it, or `None`."""
        first = smallest(self.ahead)
        # It may have expired by the latest moment that it may be now, and surely has only before
        # the earliest (`first_due`).
        if first is None or first[0] > now.latest:
            return None
        return first[1], evolve(self, ahead=pop(self.ahead))

    def first_due(self, now: Window) -> tuple[int, "Deaths"] | None:
        """Return a message to examine now and the index without its entry, or `None`."""
        first = smallest(self.due)
        if first is None or first[0] >= now.earliest:
            return None
        return first[1], evolve(self, due=pop(self.due))

    def showing(self, session_id: str | None, rules: tuple[v.RuleId, ...]) -> "Deaths":
        """Return the index with further rules that an empty answer exercises."""
        known = self.shown.get(session_id, ())
        if set(rules) <= set(known):
            return self
        together = tuple(dict.fromkeys((*known, *rules)))
        return evolve(self, shown=self.shown.set(session_id, together))


NO_DEATHS = Deaths()
"""Index of a queue whose messages have never had a time to live."""
