"""Summaries of many scenarios: all that the verdicts on a history need.

Pieces of a history can be summarized anywhere and in any order; merged, they are the summary of the
whole. Each scenario has a place, a number that rises in the order of recording.
"""

from collections.abc import Iterator
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.history.codec import structure, unstructure
from busproof.history.conformance import Counterexample
from busproof.history.lines import encode_line
from busproof.history.records import AGAIN, EXPLORATION, METAMORPHIC, REPEATED
from busproof.judging.coverage_goals import Met
from busproof.judging.scenario_result import Heard, Part, add_counts, joined

__all__ = ["EXHAUSTED", "UNBLAMED", "OfRule", "Remark", "Summary", "in_order"]

EXHAUSTED: Final = "exhausted"
UNBLAMED: Final = "unblamed"


@attrs.frozen
class Remark:
    """A sentence about a scenario, with the scenario's place."""

    place: int
    text: str


@attrs.frozen
class Shortest:
    """The shortest counterexample so far, with the place of its scenario."""

    place: int
    counterexample: Counterexample

    @property
    def rank(self) -> tuple[int, int, int]:
        """The sort key: fewer events come first, then smaller commands, then earlier places."""
        events = self.counterexample.events
        size = sum(len(encode_line(unstructure(event.command))) for event in events)
        return len(events), size, self.place


@attrs.frozen
class Ending:
    """End of a scenario; `repeated` if it was another attempt at the same scenario."""

    place: int
    name: str
    text: str
    repeated: bool = False


@attrs.define
class OfRule:
    """Evidence about one rule from several scenarios.

    Attributes:
        events: how many events the rule decided.
        deciding: the names of scenarios with such events, each with its first place.
        breaking: the names of scenarios that broke the rule, each with its first place.
        broken: how many scenarios broke the rule.
        shortest: the shortest counterexample; `None` if there is none.
        own: for scenarios about the rule, each kind of ending with the first sentence about it.
        replays: how many replays of a failure of the rule there were.
        broken_again: how many of them broke the rule again.
    """

    events: int = 0
    deciding: dict[str, int] = attrs.field(factory=dict)
    breaking: dict[str, int] = attrs.field(factory=dict)
    broken: int = 0
    shortest: Shortest | None = None
    own: dict[str, Remark] = attrs.field(factory=dict)
    replays: int = 0
    broken_again: int = 0

    def decided(self, place: int, heard: Heard, events: int) -> None:
        """Add a scenario with events that the rule decided."""
        self.events += events
        _earliest(self.deciding, heard.title, place)

    def broke(self, place: int, heard: Heard) -> None:
        """Add a scenario that broke the rule."""
        self.broken += 1
        _earliest(self.breaking, heard.title, place)
        if heard.counterexample is not None:
            self._take(Shortest(place, heard.counterexample))

    def is_about(self, place: int, heard: Heard, rule: v.RuleId) -> None:
        """Add the ending of a scenario that is about the rule."""
        _first(self.own, heard.ending, Remark(place, heard.explanation))
        if heard.exhausted:
            _first(self.own, EXHAUSTED, Remark(place, heard.exhausted))
        if heard.counterexample is not None and not heard.blamed:
            _first(self.own, UNBLAMED, Remark(place, heard.name))
        if heard.feature == AGAIN:
            self.replays += 1
            self.broken_again += rule in heard.blamed

    def add(self, other: "OfRule") -> None:
        """Add the evidence from other scenarios."""
        self.events += other.events
        self.broken += other.broken
        self.replays += other.replays
        self.broken_again += other.broken_again
        for mine, theirs in ((self.deciding, other.deciding), (self.breaking, other.breaking)):
            for name, place in theirs.items():
                _earliest(mine, name, place)
        for kind, remark in other.own.items():
            _first(self.own, kind, remark)
        if other.shortest is not None:
            self._take(other.shortest)

    def moved(self, by: int) -> "OfRule":
        """Return the evidence with all places increased."""
        shortest = self.shortest
        return attrs.evolve(
            self,
            deciding=_later(by, self.deciding),
            breaking=_later(by, self.breaking),
            own={kind: Remark(remark.place + by, remark.text) for kind, remark in self.own.items()},
            shortest=shortest and Shortest(shortest.place + by, shortest.counterexample),
        )

    def _take(self, other: Shortest) -> None:
        if self.shortest is None or other.rank < self.shortest.rank:
            self.shortest = other


@attrs.define
class Summary:
    """Summary of several scenarios.

    Attributes:
        rules: each rule with the evidence about it.
        scenarios: how many scenarios there were.
        events: how many events they had.
        sequences: how many of the scenarios were sequences of the exploration.
        explored: how many events these sequences had.
        metamorphic: how many of the scenarios were transformed sequences of others.
        endings: how each named scenario ended; sequences are not included.
        unnamed: each kind of ending with the number of unnamed scenarios that had it.
        first_unnamed: each kind of ending with the first place of such a scenario.
        goals: the coverage goals that were reached.
        interrupted: sentences about scenarios in which the run stopped, with their first places.
        exhausted: sentences about why some scenarios have no verdict, with their first places.
        unjudged: the name of a reason to each entity with how many of its events were not judged.
        uncreated: entities that are used and never created, with the first place of each.
        cut: whether the last line of a history was incomplete and left out.
        parts: the place of each scenario that is judged in parts, with the parts joined so far.
    """

    rules: dict[v.RuleId, OfRule] = attrs.field(factory=dict)
    scenarios: int = 0
    events: int = 0
    sequences: int = 0
    explored: int = 0
    metamorphic: int = 0
    endings: list[Ending] = attrs.field(factory=list)
    unnamed: dict[str, int] = attrs.field(factory=dict)
    first_unnamed: dict[str, int] = attrs.field(factory=dict)
    goals: Met = attrs.field(factory=Met)
    interrupted: dict[str, int] = attrs.field(factory=dict)
    exhausted: dict[str, int] = attrs.field(factory=dict)
    unjudged: dict[str, dict[str, int]] = attrs.field(factory=dict)
    uncreated: dict[str, int] = attrs.field(factory=dict)
    cut: bool = False
    parts: dict[str, Part] = attrs.field(factory=dict)

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "Summary":
        """Return the summary that these plain values describe, as `told` returns them.

        Raises:
            HistoryError: the values do not describe a summary.
        """
        return structure(fields, cls, "the summary")

    def told(self) -> dict[str, Any]:
        """Return the summary as plain values, which `of` reads."""
        return unstructure(self)

    def add(self, place: int, heard: Heard) -> None:
        """Add the result of a scenario."""
        self.scenarios += 1
        self.events += heard.events
        self.goals.add(heard.goals)
        if heard.feature == EXPLORATION:
            self.sequences += 1
            self.explored += heard.events
        self.metamorphic += heard.feature == METAMORPHIC
        self._end(place, heard)
        add_counts(self.unjudged, heard.unjudged)
        for name in heard.uncreated:
            _earliest(self.uncreated, name, place)
        for rule, events in heard.evidence.items():
            self._rule(rule).decided(place, heard, events)
        for rule in heard.blamed:
            self._rule(rule).broke(place, heard)
        for rule in dict.fromkeys(heard.about):
            self._rule(rule).is_about(place, heard, rule)

    def add_part(self, place: int, part: Part) -> None:
        """Add the result of a part of a scenario."""
        before = self.parts.get(str(place))
        self.parts[str(place)] = part if before is None else joined(before, part)

    def merge(self, other: "Summary") -> None:
        """Add another summary to this one."""
        for rule, summary in other.rules.items():
            self._rule(rule).add(summary)
        self.scenarios += other.scenarios
        self.events += other.events
        self.sequences += other.sequences
        self.explored += other.explored
        self.metamorphic += other.metamorphic
        self.endings += other.endings
        self.goals.add(other.goals)
        self.cut = self.cut or other.cut
        add_counts(self.unjudged, other.unjudged)
        for ending, number in other.unnamed.items():
            self.unnamed[ending] = self.unnamed.get(ending, 0) + number
        for mine, theirs in (
            (self.first_unnamed, other.first_unnamed),
            (self.interrupted, other.interrupted),
            (self.exhausted, other.exhausted),
            (self.uncreated, other.uncreated),
        ):
            for name, place in theirs.items():
                _earliest(mine, name, place)
        for name, part in other.parts.items():
            self.add_part(int(name), part)

    def moved(self, by: int) -> "Summary":
        """Return the summary with all places increased, as for a later file."""
        return attrs.evolve(
            self,
            rules={rule: summary.moved(by) for rule, summary in self.rules.items()},
            endings=[attrs.evolve(ending, place=ending.place + by) for ending in self.endings],
            first_unnamed=_later(by, self.first_unnamed),
            interrupted=_later(by, self.interrupted),
            exhausted=_later(by, self.exhausted),
            uncreated=_later(by, self.uncreated),
            parts={str(int(name) + by): part for name, part in self.parts.items()},
        )

    def close(self) -> None:
        """Add the scenarios that were judged in parts, once all their parts are joined."""
        for place, part in self.parts.items():
            if part.usable:
                self.add(int(place), part.heard)
        self.parts = {}

    def ended(self) -> dict[str, int]:
        """Return each kind of ending with the number of scenarios, by first occurrence.

        Sequences are not counted. Of several attempts at a scenario only the last one counts.
        """
        kept: list[Ending] = []
        places: dict[str, int] = {}
        for current in sorted(self.endings, key=lambda ending: ending.place):
            if current.repeated and current.name in places:
                number = places[current.name]
                kept[number] = attrs.evolve(kept[number], text=current.text)
            else:
                places[current.name] = len(kept)
                kept.append(current)
        first = dict(self.first_unnamed)
        count = dict(self.unnamed)
        for latest in kept:
            _earliest(first, latest.text, latest.place)
            count[latest.text] = count.get(latest.text, 0) + 1
        return {text: count[text] for text in sorted(first, key=lambda text: first[text])}

    def _rule(self, rule: v.RuleId) -> OfRule:
        return self.rules.setdefault(rule, OfRule())

    def _end(self, place: int, heard: Heard) -> None:
        if heard.exhausted:
            _earliest(self.exhausted, heard.exhausted, place)
        if heard.ending == "interrupted":
            _earliest(self.interrupted, heard.explanation, place)
        if heard.is_sequence:
            return
        if heard.name:
            repeated = heard.feature == REPEATED
            self.endings.append(Ending(place, heard.name, heard.ending, repeated))
        else:
            self.unnamed[heard.ending] = self.unnamed.get(heard.ending, 0) + 1
            _earliest(self.first_unnamed, heard.ending, place)


def _later(by: int, places: dict[str, int]) -> dict[str, int]:
    return {name: place + by for name, place in places.items()}


def _earliest(places: dict[str, int], name: str, place: int) -> None:
    places[name] = min(place, places.get(name, place))


def _first(firsts: dict[str, Remark], kind: str, remark: Remark) -> None:
    if kind not in firsts or remark.place < firsts[kind].place:
        firsts[kind] = remark


def in_order(places: dict[str, int]) -> Iterator[str]:
    """Return the keys in the order of their places."""
    return iter(sorted(places, key=lambda name: places[name]))
