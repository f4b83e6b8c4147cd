"""Summaries of many scenarios: everything that the verdicts on a history need.

Summaries of pieces of a history can be made anywhere, in any order, and merged; the result is that
of the whole. The order of scenarios is given by their places, numbers that rise with the order of
recording.
"""

from collections.abc import Iterator
from typing import Any, Final

import attrs

from busproof import vocabulary as v
from busproof.history.codec import structure, unstructure
from busproof.history.conformance import Counterexample
from busproof.history.records import AGAIN, EXPLORATION, REPEATED
from busproof.judging.coverage_goals import Met
from busproof.judging.scenario_result import Heard, Part, joined

__all__ = ["EXHAUSTED", "UNBLAMED", "OfRule", "Remark", "Summary", "in_order"]

EXHAUSTED: Final = "exhausted"
UNBLAMED: Final = "unblamed"


@attrs.frozen
class Remark:
    """A sentence, and the place of its scenario."""

    place: int
    text: str


@attrs.frozen
class Shortest:
    """The shortest counterexample so far, and the place of its scenario."""

    place: int
    counterexample: Counterexample

    @property
    def rank(self) -> tuple[int, int]:
        """The sort key: shorter ones first, then earlier ones."""
        return len(self.counterexample.events), self.place


@attrs.frozen
class Ending:
    """End of a scenario."""

    place: int
    name: str
    text: str
    repeated: bool = False


@attrs.define
class OfRule:
    """The evidence of scenarios about one rule.

    Attributes:
        events: how many it decided.
        deciding: the scenarios with such events, each by name with its first place.
        breaking: the scenarios that broke it, likewise.
        broken: how many scenarios broke it.
        shortest: the shortest counterexample.
        own: of scenarios about the rule, the first with each ending.
        replays: how many times a failure of it was replayed.
        broken_again: how many of these replays broke it.
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
        """Count events of a scenario that the rule decided."""
        self.events += events
        _earliest(self.deciding, heard.title, place)

    def broke(self, place: int, heard: Heard) -> None:
        """Count a scenario that broke the rule."""
        self.broken += 1
        _earliest(self.breaking, heard.title, place)
        if heard.counterexample is not None:
            self._take(Shortest(place, heard.counterexample))

    def is_about(self, place: int, heard: Heard, rule: v.RuleId) -> None:
        """Record how a scenario about this rule ended."""
        _first(self.own, heard.ending, Remark(place, heard.explanation))
        if heard.exhausted:
            _first(self.own, EXHAUSTED, Remark(place, heard.exhausted))
        if heard.counterexample is not None and not heard.blamed:
            _first(self.own, UNBLAMED, Remark(place, heard.name))
        if heard.feature == AGAIN:
            self.replays += 1
            self.broken_again += rule in heard.blamed

    def add(self, other: "OfRule") -> None:
        """Add the evidence of other scenarios about the rule."""
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
        """Return the same with all places increased by an offset."""
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
    """The summary of several scenarios.

    Attributes:
        rules: the evidence about each rule.
        scenarios: how many there were.
        events: how many they had.
        sequences: how many of them the exploration generated.
        explored: how many events those had.
        endings: how each named scenario ended, sequences excluded.
        unnamed: how many unnamed scenarios had each ending.
        first_unnamed: the first place of these, by ending.
        goals: the coverage goals that they reached.
        interrupted: the scenarios during which the run stopped.
        exhausted: why there is no verdict on some, each sentence with its first place.
        cut: whether the last line of a history was cut off and left out.
        parts: by place, scenarios with parts still to come.
    """

    rules: dict[v.RuleId, OfRule] = attrs.field(factory=dict)
    scenarios: int = 0
    events: int = 0
    sequences: int = 0
    explored: int = 0
    endings: list[Ending] = attrs.field(factory=list)
    unnamed: dict[str, int] = attrs.field(factory=dict)
    first_unnamed: dict[str, int] = attrs.field(factory=dict)
    goals: Met = attrs.field(factory=Met)
    interrupted: dict[str, int] = attrs.field(factory=dict)
    exhausted: dict[str, int] = attrs.field(factory=dict)
    cut: bool = False
    parts: dict[str, Part] = attrs.field(factory=dict)

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "Summary":
        """Return the summary that plain values describe.

        Raises:
            HistoryError: the values describe none.
        """
        return structure(fields, cls, "the summary")

    def told(self) -> dict[str, Any]:
        """Return plain values that `of` can read."""
        return unstructure(self)

    def add(self, place: int, heard: Heard) -> None:
        """Add the judgement of a scenario."""
        self.scenarios += 1
        self.events += heard.events
        self.goals.add(heard.goals)
        if heard.feature == EXPLORATION:
            self.sequences += 1
            self.explored += heard.events
        self._end(place, heard)
        for rule, events in heard.evidence.items():
            self._rule(rule).decided(place, heard, events)
        for rule in heard.blamed:
            self._rule(rule).broke(place, heard)
        for rule in dict.fromkeys(heard.about):
            self._rule(rule).is_about(place, heard, rule)

    def add_part(self, place: int, part: Part) -> None:
        """Add the judgement of a part of a scenario."""
        before = self.parts.get(str(place))
        self.parts[str(place)] = part if before is None else joined(before, part)

    def merge(self, other: "Summary") -> None:
        """Add another summary."""
        for rule, summary in other.rules.items():
            self._rule(rule).add(summary)
        self.scenarios += other.scenarios
        self.events += other.events
        self.sequences += other.sequences
        self.explored += other.explored
        self.endings += other.endings
        self.goals.add(other.goals)
        self.cut = self.cut or other.cut
        for ending, number in other.unnamed.items():
            self.unnamed[ending] = self.unnamed.get(ending, 0) + number
        for mine, theirs in (
            (self.first_unnamed, other.first_unnamed),
            (self.interrupted, other.interrupted),
            (self.exhausted, other.exhausted),
        ):
            for name, place in theirs.items():
                _earliest(mine, name, place)
        for name, part in other.parts.items():
            self.add_part(int(name), part)

    def moved(self, by: int) -> "Summary":
        """Return the same with all places increased, as for a later file."""
        return attrs.evolve(
            self,
            rules={rule: summary.moved(by) for rule, summary in self.rules.items()},
            endings=[attrs.evolve(ending, place=ending.place + by) for ending in self.endings],
            first_unnamed=_later(by, self.first_unnamed),
            interrupted=_later(by, self.interrupted),
            exhausted=_later(by, self.exhausted),
            parts={str(int(name) + by): part for name, part in self.parts.items()},
        )

    def close(self) -> None:
        """Join the scenarios that were judged in parts, once all parts are there."""
        for place, part in self.parts.items():
            if part.usable:
                self.add(int(place), part.heard)
        self.parts = {}

    def ended(self) -> dict[str, int]:
        """Return how many scenarios had each ending, in the order of first occurrence.

        Sequences are left out; for a scenario with several attempts the last one counts.
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
    """Return names, or sentences, by their first places."""
    return iter(sorted(places, key=lambda name: places[name]))
