"""Exploration of an implementation by sequences that Hypothesis generates."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, Final

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from busproof import vocabulary as v
from busproof.adapters.base import Adapter
from busproof.exploration.elsewhere.playing import Played
from busproof.exploration.elsewhere.search import Elsewhere
from busproof.exploration.machine import LOCK, Explored, machine_of, scope_of
from busproof.exploration.machine import Sequence as Run
from busproof.exploration.prologues.table import openings, themes
from busproof.exploration.search import Enough, Found, Search
from busproof.exploration.sizes import Size
from busproof.exploration.state import GENERAL, Theme
from busproof.exploration.strategies.table import generators
from busproof.exploration.trials import ended_with
from busproof.history.records import EXPLORATION, Ended, Record, ScenarioVerdict, Started
from busproof.judging.applicability import Terms
from busproof.judging.garbage import seldom_collected

__all__ = ["Exploration", "explore"]

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
    adapter: Adapter,
    terms: Terms,
    *,
    size: Size,
    start: int,
    played: Sequence[Played],
    write: Callable[[Record], None],
) -> Ended:
    """Send the sequences of scenarios elsewhere, then explore; return the outcome of both.

    Args:
        adapter: the implementation.
        terms: the rules in force, and the oracle.
        size: the size of the exploration.
        start: the seed of the random choices.
        played: the sequences of scenarios.
        write: receives the records.
    """
    elsewhere = Elsewhere(adapter, terms, size=size, start=start, played=played, write=write)
    elsewhere.run()
    broken = elsewhere.found
    return Exploration(adapter, terms, size=size, start=start, write=write, broken=broken).run()


class Exploration(Search):
    """One exploration of one adapter.

    Args:
        adapter: the implementation.
        terms: the rules in force, and the oracle.
        size: the size of the exploration.
        start: the seed of the random choices.
        write: function that receives the records.
        lock: the queues' lock duration in microseconds; the default depends on the clock.
        broken: the rules found broken before.
    """

    def __init__(
        self,
        adapter: Adapter,
        terms: Terms,
        *,
        size: Size,
        start: int,
        write: Callable[[Record], None],
        lock: int | None = None,
        broken: list[Found] | None = None,
    ) -> None:
        super().__init__(adapter, terms, size=size, write=write, broken=broken)
        default = REAL_LOCK if self._real else LOCK
        self._scope = scope_of(adapter, self.terms, lock or default)
        self._random = Random(start)  # noqa: S311 - repeatable choices, not secrets
        self._is_first = True
        self._begun_at = 0.0
        self._machines: dict[tuple[Theme, ...], type[Explored]] = {}

    @seldom_collected()
    def run(self) -> Ended:
        """Explore until the size is reached; return the outcome of the whole exploration.

        Hypothesis begins each round with the simplest sequence. Only the first round sends it; in
        later rounds it stays blank, which Hypothesis reports as flaky.
        """
        if not generators(self._scope):
            return Ended(
                verdict=ScenarioVerdict.NOT_APPLICABLE,
                cause=f"tier: {self.terms.profile.tier.value} has no queue that could be explored",
            )
        self._begun_at = time.monotonic()
        with suppress(Enough):
            while self._goes_on():
                self._round()
        return self._summary()

    def _goes_on(self) -> bool:
        most, minutes = self._size.sequences, self._size.minutes
        if minutes is not None and time.monotonic() - self._begun_at >= 60 * minutes:
            return False
        return (most is None or self.sequences < most) and super()._goes_on()

    def _round(self) -> None:
        left = ROUND if self._size.sequences is None else self._size.sequences - self.sequences
        # Do not pass the class itself: Hypothesis would read and parse its source to find a name.
        machine: Any = seed(self._random.getrandbits(64))(partial(self._machine()))
        self._is_first = True
        with suppress(Flaky, Enough):
            run_state_machine_as_test(machine, settings=self._settings(min(ROUND, left)))
        if self._failure is not None:
            self._settle(*self._failure)
            self._failure = None

    def _machine(self) -> type[Explored]:
        """Return a machine for general themes while prologues are due, else for a random theme."""
        there = themes(self._scope)
        due = self.sequences < self._due(len(set(openings(self._scope))))
        theme = Theme.QUEUES if due else self._random.choice(there)
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
        if not self._goes_on():
            raise Enough
        first, self._is_first = self._is_first, False
        if first and self.sequences:
            return self._blank()
        name = f"Exploration, sequence {self.sequences + 1}"
        return self._begun(Started(scenario=name, feature=EXPLORATION))

    def opening(self, ways: tuple[str, ...]) -> str | None:
        """Return the prologue that is due next; `None` once each has had its turns."""
        number = self.sequences - 1
        return ways[number % len(ways)] if number < self._due(len(ways)) else None

    def _due(self, ways: int) -> int:
        """Return how many sequences begin with one of so many prologues in turn."""
        most = self._size.sequences
        turns = TURNS * ways
        return turns if most is None else min(turns, int(SHARE * most))

    def _summary(self) -> Ended:
        """Return the outcome of the whole exploration, with a sentence about its extent."""
        extent = f"{self.sequences} sequences, {self.commands} commands"
        if self.found:
            rules = ", ".join(finding.rule for finding in self.found)
            return ended_with(ScenarioVerdict.FAILED, f"{extent}; broken: {rules}")
        if self._breakdowns:
            return ended_with(ScenarioVerdict.ERRORED, f"{extent}; the adapter broke")
        return ended_with(ScenarioVerdict.PASSED, extent)
