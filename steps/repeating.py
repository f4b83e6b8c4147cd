"""Scenarios to repeat at the end of a run, because chance may have prevented a verdict.

A lost answer, or one that a bus need not give, is not a violation, and may come in another attempt.
The results of all attempts count, above all a violation.
"""

from collections import defaultdict
from collections.abc import Set
from typing import Final, Generic, TypeVar

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import Missed

__all__ = ["Repeating"]

MOST_TRIES: Final = 20
"""Maximum number of attempts of a scenario that misses an answer."""

NO_CHANCE: Final = 3
"""Number of attempts in a row that miss the same answer before a scenario is given up."""

ROUNDS: Final = {v.Clock.VIRTUAL: 8, v.Clock.REAL: 2}
"""Number of times that passed scenarios are repeated if their rules have no evidence yet."""

T = TypeVar("T")


class Repeating(Generic[T]):
    """A queue of scenarios to repeat; each attempt starts with an empty namespace.

    Args:
        planned: the number of scenarios.
        clock: the clock of the implementation; attempts are expensive on a real one.
    """

    def __init__(self, planned: int, clock: v.Clock) -> None:
        self._left = planned
        self._rounds = ROUNDS[clock]
        self._missed: defaultdict[str, list[int]] = defaultdict(list)
        self._passed: dict[str, tuple[T, Set[v.RuleId]]] = {}
        self._ended: set[str] = set()
        self._seen: set[v.RuleId] = set()

    def tried(self, scenario: str) -> bool:
        """Return whether the scenario has ended before."""
        return scenario in self._ended

    def saw(self, rules: Set[v.RuleId]) -> None:
        """Record that there is evidence about these rules."""
        self._seen |= rules

    def after(
        self, test: T, scenario: str, rules: Set[v.RuleId], error: BaseException | None
    ) -> list[T]:
        """Return the tests to repeat after this one has ended.

        Args:
            test: the test that ended.
            scenario: the name of its scenario.
            rules: the rules that it may give evidence about.
            error: the exception that ended it; `None` if it passed.
        """
        self._left -= 1
        self._ended.add(scenario)
        again = [test] if isinstance(error, Missed) and self._by_chance(scenario, error) else []
        if error is None:
            self._passed[scenario] = test, rules
        # Passed scenarios come last, because earlier attempts may still bring the missing evidence.
        if not again and not self._left and self._rounds:
            self._rounds -= 1
            again = [other for other, shows in self._passed.values() if not shows <= self._seen]
        self._left += len(again)
        return again

    def _by_chance(self, scenario: str, missed: Missed) -> bool:
        places = self._missed[scenario]
        places.append(missed.place)
        latest = places[-NO_CHANCE:]
        always = len(latest) == NO_CHANCE and len({*latest}) == 1
        return not always and len(places) < MOST_TRIES
