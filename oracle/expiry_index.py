"""When the messages of a queue outlive their time to live, and what that has come to so far."""

import attrs
from immutables import Map

from busproof import vocabulary as v
from busproof.oracle.heap import Heap, pop, push, smallest
from busproof.oracle.schedule import NEVER
from busproof.oracle.window import Window

__all__ = ["NO_DEATHS", "Deaths"]


@attrs.frozen(kw_only=True)
class Deaths:
    """Whose time to live ends when; entries of messages that have left are dropped at their time.

    Attributes:
        ahead: (earliest death, arrival number) of those that may still be alive for sure.
        due: (a moment, arrival number) of those that are looked at again once it has passed.
        shown: what an empty answer shows by what was not given; session id to rules, where
            sessions are required.
        aside: whether a deferred message has outlived its time to live.
        cached: until when a front end may hold one that has.
    """

    ahead: Heap[tuple[int, int]] = None
    due: Heap[tuple[int, int]] = None
    shown: Map[str | None, tuple[v.RuleId, ...]] = Map()
    aside: bool = False
    cached: int = -1

    def awaiting(self, number: int, dies: Window | None) -> "Deaths":
        """These, and that of one more message, or of one that is free again; O(log n)."""
        if dies is None or dies.earliest >= NEVER:
            return self
        return attrs.evolve(self, ahead=push(self.ahead, (dies.earliest, number)))

    def looked_at_after(self, moment: int, number: int) -> "Deaths":
        """These, of which one is looked at once a moment has passed; O(log n)."""
        if moment >= NEVER:
            return self
        return attrs.evolve(self, due=push(self.due, (moment, number)))

    def first_ahead(self, now: Window) -> tuple[int, "Deaths"] | None:
        """A message that may have died by now, and the others."""
        first = smallest(self.ahead)
        if first is None or first[0] > now.latest:
            return None
        return first[1], attrs.evolve(self, ahead=pop(self.ahead))

    def first_due(self, now: Window) -> tuple[int, "Deaths"] | None:
        """A message whose moment has passed, and the others."""
        first = smallest(self.due)
        if first is None or first[0] >= now.earliest:
            return None
        return first[1], attrs.evolve(self, due=pop(self.due))

    def showing(self, session_id: str | None, rules: tuple[v.RuleId, ...]) -> "Deaths":
        """These, by which an empty answer shows rules."""
        known = self.shown.get(session_id, ())
        if set(rules) <= set(known):
            return self
        together = tuple(dict.fromkeys((*known, *rules)))
        return attrs.evolve(self, shown=self.shown.set(session_id, together))


NO_DEATHS = Deaths()
"""Of a queue whose messages have all lived for ever so far."""
