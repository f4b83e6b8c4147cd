"""The rules that decided each event of a long history, in four bytes for each."""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import overload

from busproof import vocabulary as v

__all__ = ["Decided"]

Rules = tuple[v.RuleId, ...]


class Decided(Sequence[Rules]):
    """The rules that decided each event: few combinations come again and again."""

    def __init__(self) -> None:
        self._numbers: dict[Rules, int] = {}
        self._rules: list[Rules] = []
        self._decided = array("I")

    def append(self, rules: Rules) -> None:
        """Add the rules of the next event."""
        number = self._numbers.setdefault(rules, len(self._rules))
        if number == len(self._rules):
            self._rules.append(rules)
        self._decided.append(number)

    def copy(self) -> "Decided":
        """Return a copy that goes on by itself."""
        return self.reordered(range(len(self)))

    def reordered(self, order: Iterable[int]) -> "Decided":
        """Return the rules of these events, in this order."""
        other = Decided()
        other._numbers = dict(self._numbers)
        other._rules = list(self._rules)
        other._decided = array("I", map(self._decided.__getitem__, order))
        return other

    def pop(self) -> None:
        """Remove the rules of the last event."""
        self._decided.pop()

    def __len__(self) -> int:
        return len(self._decided)

    @overload
    def __getitem__(self, index: int) -> Rules: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Rules, ...]: ...

    def __getitem__(self, index: int | slice) -> Rules | tuple[Rules, ...]:
        if isinstance(index, slice):
            return tuple(self._rules[number] for number in self._decided[index])
        return self._rules[self._decided[index]]

    def evidence(self) -> Counter[v.RuleId]:
        """Return how many events each rule decided."""
        evidence: Counter[v.RuleId] = Counter()
        for number, events in Counter(self._decided).items():
            for rule in self._rules[number]:
                evidence[rule] += events
        return evidence
