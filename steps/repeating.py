"""Which scenarios are tried again after all others: those that chance may have kept from a verdict.

An answer that was lost, or that a bus need not give, says nothing against the bus; another time it
may come. What was found in any of the tries counts, a violation above all.
"""

from collections import defaultdict
from collections.abc import Set
from typing import Final, Generic, TypeVar

from busproof.judging.scenario_outcome import Missed
from busproof.vocabulary.values import Clock, RuleId

__all__ = ["Repeating"]

MOST_TRIES: Final = 20
"""Of a scenario that misses an answer."""

NO_CHANCE: Final = 3
"""Tries in a row that missed the same answer: whoever never gives it is not waited for."""

ROUNDS: Final = {Clock.VIRTUAL: 8, Clock.REAL: 2}
"""How often scenarios are tried again that have passed, and whose rule nothing has shown."""

T = TypeVar("T")


class Repeating(Generic[T]):
    """What is still to be tried: each try has an empty namespace of its own.

    Args:
        planned: how many scenarios there are.
        clock: of the implementation; on a real one tries are dear.
    """

    def __init__(self, planned: int, clock: Clock) -> None:
        self._left = planned
        self._rounds = ROUNDS[clock]
        self._missed: defaultdict[str, list[int]] = defaultdict(list)
        self._passed: dict[str, tuple[T, Set[RuleId]]] = {}
        self._ended: set[str] = set()
        self._seen: set[RuleId] = set()

    def tried(self, scenario: str) -> bool:
        """Return whether it has ended once before."""
        return scenario in self._ended

    def saw(self, rules: Set[RuleId]) -> None:
        """Something decided these rules."""
        self._seen |= rules

    def after(
        self, test: T, scenario: str, rules: Set[RuleId], error: BaseException | None
    ) -> list[T]:
        """What to try again, once this has ended.

        Args:
            test: what is tried again.
            scenario: its name.
            rules: that it may show.
            error: how it ended; `None` if it passed.
        """
        self._left -= 1
        self._ended.add(scenario)
        again = [test] if isinstance(error, Missed) and self._by_chance(scenario, error) else []
        if error is None:
            self._passed[scenario] = test, rules
        if not again and not self._left and self._rounds:
            self._rounds -= 1
            again = [each for each, shows in self._passed.values() if not shows <= self._seen]
        self._left += len(again)
        return again

    def _by_chance(self, scenario: str, missed: Missed) -> bool:
        places = self._missed[scenario]
        places.append(missed.place)
        latest = places[-NO_CHANCE:]
        always = len(latest) == NO_CHANCE and len({*latest}) == 1
        return not always and len(places) < MOST_TRIES
