"""Judging events that overlap in time: any order that the clocks permit may be the true one."""

from collections import Counter
from collections.abc import Sequence

import attrs

from busproof.judging.judge import STATES_LIMIT, Violation
from busproof.model.outcomes import Event
from busproof.model.state import NEVER, Namespace, fresh_namespace
from busproof.model.step import Acceptance, accept
from busproof.model.values import Clock, Profile, RuleId, Vantage

__all__ = ["Judged", "judged"]

STEPS_AN_EVENT = 200
STEPS_AT_LEAST = 20_000
"""How many steps the search for an order may take before it gives up as inconclusive."""


@attrs.frozen(kw_only=True)
class Judged:
    """What judging a run of events found.

    Attributes:
        evidence: rule id to how many events it decided.
        violation: the event that nothing allowed, in any order.
        decided: the rules that decided each event, in `order`.
        order: the order in which the events were judged, as indices.
        exhausted: why there is no verdict, if there is none.
    """

    evidence: Counter[RuleId]
    decided: tuple[tuple[RuleId, ...], ...] = ()
    violation: Violation | None = None
    order: tuple[int, ...] = ()
    exhausted: str = ""


@attrs.frozen(eq=False)
class _Point:
    """A place in the search; the way to it is kept by its parents.

    Attributes:
        parent: the point before, `None` at the start.
        possible: the states reached.
        chosen: index of the event that led here.
        rules: the rules that decided it.
        depth: events taken so far.
        first: the first place in the order of calls at which an event may be left.
        untried: events that may come next.
    """

    parent: "_Point | None"
    possible: tuple[Namespace, ...]
    chosen: int
    rules: tuple[RuleId, ...]
    depth: int
    first: int
    untried: list[int]

    def way(self) -> "list[_Point]":
        """The points from the start to here, without the start."""
        points: list[_Point] = []
        point: _Point | None = self
        while point is not None and point.parent is not None:
            points.append(point)
            point = point.parent
        return points[::-1]


def judged(events: Sequence[Event], profile: Profile, vantage: Vantage) -> Judged:
    """Judge events in whichever permitted order allows them all, looked for depth first.

    Events in the order of their times cost one step each; each overlap may cost more, up to a
    budget whose end is no verdict.
    """
    return _Search(events, profile, vantage).run()


class _Search:
    def __init__(self, events: Sequence[Event], profile: Profile, vantage: Vantage) -> None:
        self._events = events
        self._start = (fresh_namespace(profile, vantage),)
        self._virtual = vantage.clock is Clock.VIRTUAL
        self._order = _by_time(events, virtual=self._virtual)
        self._taken: set[int] = set()
        self._left = max(STEPS_AT_LEAST, STEPS_AN_EVENT * len(events))
        self._deepest: tuple[_Point, int, Acceptance] | None = None
        self._wide = False

    def run(self) -> Judged:
        """The verdict on all events."""
        here = self._point(None, self._start, -1, ())
        while here.depth < len(self._events):
            if self._left <= 0:
                return _given_up(here)
            further = self._descended(here)
            if further is None and here.parent is None:
                return _given_up(here) if self._wide else self._failed()
            if further is None:
                self._taken.discard(here.chosen)
            here = further or here.parent or here
        return _found(here)

    def _point(
        self,
        parent: _Point | None,
        possible: tuple[Namespace, ...],
        chosen: int,
        rules: tuple[RuleId, ...],
    ) -> _Point:
        first = 0 if parent is None else parent.first
        while first < len(self._order) and self._order[first] in self._taken:
            first += 1
        depth = 0 if parent is None else parent.depth + 1
        return _Point(parent, possible, chosen, rules, depth, first, self._candidates(first))

    def _descended(self, here: _Point) -> _Point | None:
        """The point after the next untried event that is allowed, if there is one."""
        while here.untried:
            index = here.untried.pop(0)
            self._left -= 1
            accepted = accept(here.possible, self._events[index])
            if not accepted.possible:
                if self._deepest is None or here.depth > self._deepest[0].depth:
                    self._deepest = (here, index, accepted)
            elif len(accepted.possible) > STATES_LIMIT:
                self._wide = True
            else:
                self._taken.add(index)
                return self._point(here, accepted.possible, index, accepted.rules)
        return None

    def _candidates(self, first: int) -> list[int]:
        """The events that may come next: nothing left returned before they were called."""
        if self._virtual:
            return self._order[first : first + 1]
        found: list[int] = []
        clients: set[str] = set()
        barrier = NEVER
        for place in range(first, len(self._order)):
            index = self._order[place]
            event = self._events[index]
            if event.called > barrier:
                break
            if index in self._taken:
                continue
            if event.client not in clients:
                found.append(index)
            clients.add(event.client)
            barrier = min(barrier, NEVER if event.returned is None else event.returned)
        return found

    def _failed(self) -> Judged:
        if self._deepest is None:
            raise AssertionError("a search that ends without an order has failed somewhere")
        point, index, accepted = self._deepest
        way = _found(point)
        violation = Violation(index=point.depth, rules=accepted.rules, allowed=accepted.allowed)
        return attrs.evolve(way, violation=violation, order=(*way.order, index))


def _given_up(point: _Point) -> Judged:
    return attrs.evolve(
        _found(point),
        exhausted="the overlapping requests have too many possible orders to try them all",
    )


def _found(point: _Point) -> Judged:
    way = point.way()
    evidence: Counter[RuleId] = Counter()
    for each in way:
        evidence.update(each.rules)
    return Judged(
        evidence=evidence,
        decided=tuple(each.rules for each in way),
        order=tuple(each.chosen for each in way),
    )


def _by_time(events: Sequence[Event], *, virtual: bool) -> list[int]:
    """The events' indices by call time; recorded order decides where times are equal."""
    if virtual:
        return list(range(len(events)))
    return sorted(range(len(events)), key=lambda index: (events[index].called, index))
