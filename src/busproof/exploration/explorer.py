"""Exploration of an implementation by sequences that Hypothesis generates."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from random import Random
from typing import Any, Final

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from busproof import vocabulary as v
from busproof.exploration.combinations.cells import plan_cells, repeat_cells
from busproof.exploration.combinations.search import Combinations
from busproof.exploration.machine import LOCK, Explored, machine_of, scope_of
from busproof.exploration.machine import Sequence as Run
from busproof.exploration.metamorphic.follow_ups import SourceSequence
from busproof.exploration.metamorphic.search import MetamorphicSearch
from busproof.exploration.prologues.table import openings, themes
from busproof.exploration.search import Enough, Failures, Search
from busproof.exploration.sizes import Size
from busproof.exploration.state import GENERAL, Theme
from busproof.exploration.strategies.table import generators
from busproof.exploration.trials import end_with
from busproof.history.records import EXPLORATION, Ended, Record, ScenarioVerdict, Started
from busproof.judging.applicability import Terms
from busproof.judging.garbage import seldom_collected

__all__ = ["ROUND", "Exploration", "explore"]

ROUND: Final = 10
"""Number of new sequences in each run of Hypothesis.

After these, Hypothesis would try five variants of each new sequence and keep all in memory.
Variants find less than new sequences do.
"""

TURNS: Final = 2
"""Number of sequences that begin with each prologue in turn, before chance decides."""

SHARE: Final = 2 / 3
"""Maximum share of an exploration's sequences that begin with a prologue in turn."""

REAL_LOCK: Final = 5 * v.MICROSECONDS
"""The queues' lock duration on a real clock, the shortest that the service accepts."""


def explore(
    adapter: v.Adapter,
    terms: Terms,
    *,
    size: Size,
    start: int,
    sources: Sequence[SourceSequence],
    write: Callable[[Record], None],
) -> Ended:
    """Send variants of the sequences of scenarios, then combinations, then explore at random.

    Args:
        adapter: the implementation.
        terms: the rules in force, and the oracle.
        size: the size of the exploration.
        start: the seed of the random choices.
        sources: the sequences of scenarios.
        write: receives the records.
    """
    metamorphic = MetamorphicSearch(
        adapter, terms, size=size, start=start, sources=sources, write=write
    )
    metamorphic.run()
    combined = Combinations(adapter, terms, size=size, write=write, failures=metamorphic.failures)
    combined.send_all(plan_cells(size.combinations, start) + repeat_cells(size.times))
    exploration = Exploration(
        adapter, terms, size=size, start=start, write=write, failures=combined.failures
    )
    return exploration.run()


class Exploration(Search):
    """One exploration of one adapter.

    Args:
        adapter: the implementation.
        terms: the rules in force, and the oracle.
        size: the size of the exploration.
        start: the seed of the random choices.
        write: function that receives the records.
        lock: the queues' lock duration in microseconds; the default depends on the clock.
        failures: the rules found broken before.
    """

    def __init__(
        self,
        adapter: v.Adapter,
        terms: Terms,
        *,
        size: Size,
        start: int,
        write: Callable[[Record], None],
        lock: int | None = None,
        failures: Failures | None = None,
    ) -> None:
        super().__init__(adapter, terms, size=size, write=write, failures=failures)
        default = REAL_LOCK if self._real else LOCK
        self._scope = scope_of(adapter, self.terms, lock or default)
        self._start = start
        self._number = 0
        self._until = 0
        self._is_first = True
        self._begun_at = 0.0
        self._machines: dict[tuple[Theme, ...], type[Explored]] = {}

    @seldom_collected()
    def run(self) -> Ended:
        """Explore until the size is reached, and settle the failures; return the outcome."""
        if not generators(self._scope):
            return Ended(
                verdict=ScenarioVerdict.NOT_APPLICABLE,
                cause=f"tier: {self.terms.profile.tier.value} has no queue that could be explored",
            )
        self.run_rounds()
        self.settle()
        return self._summary()

    def run_rounds(self) -> None:
        """Send the sequences of all rounds."""
        self._begun_at = time.monotonic()
        most = self._size.sequences
        for number in count() if most is None else range(-(-most // ROUND)):
            self.run_round(number)
            if not self._goes_on():
                break

    def run_round(self, number: int) -> None:
        """Send the sequences of one round, which depend on no other round.

        Hypothesis begins with the simplest sequence. Only the first round sends it; otherwise it
        stays blank, which Hypothesis reports as flaky.
        """
        most = self._size.sequences
        self._number = number * ROUND
        self._until = self._number + ROUND if most is None else min(self._number + ROUND, most)
        random = Random(f"{self._start}/{number}")  # noqa: S311 - repeatable choices, not secrets
        while self._number < self._until and self._goes_on():
            begun = self._number
            # Do not pass the class itself: Hypothesis would read and parse its source for a name.
            machine: Any = seed(random.getrandbits(64))(partial(self._machine(random)))
            self._is_first = True
            with suppress(Flaky, Enough):
                run_state_machine_as_test(
                    machine, settings=self._settings(self._until - self._number)
                )
            if begun == self._number:
                break

    def _goes_on(self) -> bool:
        minutes = self._size.minutes
        if minutes is not None and time.monotonic() - self._begun_at >= 60 * minutes:
            return False
        return super()._goes_on()

    def _machine(self, random: Random) -> type[Explored]:
        """Return a machine for general themes while prologues are due, else for a random theme."""
        there = themes(self._scope)
        due = self._number < self._due(len(set(openings(self._scope))))
        theme = Theme.QUEUES if due else random.choice(there)
        general = tuple(candidate for candidate in there if candidate in GENERAL)
        about = general if theme in GENERAL else (theme,)
        if about not in self._machines:
            self._machines[about] = machine_of(self, self._scope, about)
        return self._machines[about]

    def _settings(self, sequences: int) -> settings:
        return settings(
            max_examples=sequences + 1,
            stateful_step_count=self._size.steps,
            phases=[Phase.generate],
            deadline=None,
            database=None,
            derandomize=False,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
        )

    # Calls from the machine about its sequences.

    def opened(self) -> Run:
        """Start a sequence on an empty namespace, or a blank one if the adapter cannot start."""
        if self._number >= self._until or not self._goes_on():
            raise Enough
        first, self._is_first = self._is_first, False
        if first and self._number:
            return self._blank()
        self._number += 1
        name = f"Exploration, sequence {self._number}"
        return self._begin(Started(scenario=name, feature=EXPLORATION))

    def opening(self, ways: tuple[str, ...]) -> str | None:
        """Return the prologue that is due next; `None` once each has had its turns."""
        number = self._number - 1
        return ways[number % len(ways)] if number < self._due(len(ways)) else None

    def _due(self, ways: int) -> int:
        """Return how many sequences begin with one of so many prologues in turn."""
        most = self._size.sequences
        turns = TURNS * ways
        return turns if most is None else min(turns, int(SHARE * most))

    def _summary(self) -> Ended:
        """Return the outcome of the whole exploration, with a sentence about its extent."""
        extent = f"{self.sequences} sequences, {self.commands} commands"
        if self.failures:
            rules = ", ".join(self.failures)
            return end_with(ScenarioVerdict.FAILED, f"{extent}; broken: {rules}")
        if self.breakdowns:
            return end_with(ScenarioVerdict.ERRORED, f"{extent}; the adapter broke")
        return end_with(ScenarioVerdict.PASSED, extent)
