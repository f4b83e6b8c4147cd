"""Exploration of an implementation: generate sequences, record them, and shrink each failure.

Hypothesis only generates the sequences. Its shrinker works on all the choices that it drew, and
commands are a small part of those: it took ten to thirty times as long to reach failures of the
same size. So this module shrinks each failure, one rule at a time, by replaying fewer of its
commands. These replays are not recorded; the shrunk failure is then replayed three more times and
recorded.
"""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any, Final

import attrs
from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from busproof import vocabulary as v
from busproof.adapters.base import Adapter
from busproof.errors import AdapterError, ConformanceError
from busproof.exploration.machine import LOCK, Explored, Watch, machine_of, scope_of
from busproof.exploration.machine import Sequence as Run
from busproof.exploration.prologues.table import openings, themes
from busproof.exploration.sizes import Size
from busproof.exploration.state import GENERAL, Theme
from busproof.exploration.strategies.table import generators
from busproof.exploration.trials import Trial, Trials, blamed, ended_with
from busproof.history.records import (
    AGAIN,
    EXPLORATION,
    Ended,
    Record,
    ScenarioVerdict,
    Started,
)
from busproof.history.replay import RecordedCommand, commands_of, numbered
from busproof.judging.applicability import Terms
from busproof.judging.garbage import seldom_collected
from busproof.judging.judge import Violation
from busproof.judging.scenario_outcome import Undeclared
from busproof.judging.shrinking import Spent, minimised, off_the_wire, simplified

__all__ = ["Exploration", "Found"]

ROUND: Final = 10
"""Number of new sequences in each run of Hypothesis.

After these, Hypothesis would try five variants of each new sequence and keep all in memory.
Variants find less than new sequences do.
"""

TURNS: Final = 2
"""Number of sequences that begin with each prologue in turn, before chance decides."""

SHARE: Final = 2 / 3
"""Maximum share of an exploration's sequences that begin with a prologue in turn."""

TIMES: Final = 3
"""Number of replays of a shrunk failure, to see whether it repeats."""

BREAKDOWNS: Final = 3
"""Number of breakdowns of the adapter that end the exploration."""

MANY: Final = 10_000
"""Maximum number of replays of a failure if requests are cheap; a time limit comes first."""

KEPT: Final = 3_000
"""Number of sequences that an endless exploration records in full; later only failing ones."""

DEAR: Final = 0.005
"""Time per answer above which requests are expensive and replays are avoided, in seconds."""

REAL_LOCK: Final = 5 * v.MICROSECONDS
"""The queues' lock duration on a real clock, the shortest that the service accepts."""


class Enough(BaseException):
    """Signal to leave Hypothesis, which would report an `Exception` as a failure of the test."""


@attrs.frozen(kw_only=True)
class Found:
    """A broken rule, the commands of its shrunk failure, and how many replays broke it again."""

    rule: v.RuleId
    commands: tuple[RecordedCommand, ...]
    again: int

    @property
    def repeats(self) -> bool:
        """Whether every replay broke the rule."""
        return self.again == TIMES


class Exploration(Watch):
    """One exploration of one adapter.

    Args:
        adapter: the implementation.
        terms: the rules in force, and the oracle.
        size: the size of the exploration.
        start: the seed of the random choices.
        write: function that receives the records.
        lock: the queues' lock duration in microseconds; the default depends on the clock.
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
    ) -> None:
        super().__init__(adapter, terms)
        declaration = adapter.declaration
        self._real = declaration.clock is v.Clock.REAL
        self._observability = declaration.observability
        default = REAL_LOCK if self._real else LOCK
        self._scope = scope_of(adapter, self.terms, lock or default)
        self._size = size
        self._random = Random(start)  # noqa: S311 - repeatable choices, not secrets
        self._write = write
        self._until = 0.0
        self._waited = 0.0
        self._asking = 0.0
        self._breakdowns = 0
        self._is_first = True
        self._machines: dict[tuple[Theme, ...], type[Explored]] = {}
        self._failure: tuple[v.RuleId, tuple[v.Event, ...]] | None = None
        self._ending: Ended | None = None
        self._pending: list[Record] | None = None
        self.sequences = 0
        self.commands = 0
        self.found: list[Found] = []

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
        self._until = time.monotonic() + self._size.seconds
        with suppress(Enough):
            while self._goes_on():
                self._round()
        return self._summary()

    def _goes_on(self) -> bool:
        most = self._size.sequences
        left = most is None or self.sequences < most
        sound = self._breakdowns < BREAKDOWNS and len(self.found) < self._size.rules
        return left and sound and time.monotonic() < self._until

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

    @property
    def _is_dear(self) -> bool:
        slow = self._asking > DEAR * max(1, self.commands)
        return self._size.dear or self._real or slow

    # Calls from the machine about its sequences.

    def opened(self) -> Run:
        """Start a sequence on an empty namespace, or a blank one if the adapter cannot start."""
        if not self._goes_on():
            raise Enough
        first, self._is_first = self._is_first, False
        if first and self.sequences:
            return self._blank()
        self.sequences += 1
        endless = self._size.sequences is None
        self._pending = [] if endless and self.sequences > KEPT else None
        name = f"Exploration, sequence {self.sequences}"
        self._keep(Started(scenario=name, feature=EXPLORATION))
        self._ending = Ended(verdict=ScenarioVerdict.PASSED)
        try:
            return super().opened()
        except AdapterError as error:
            run = self._blank()
            self.broke(run, error)
            return run

    def _blank(self) -> Run:
        """Return a blank sequence: for one that would repeat, or for one that could not start."""
        run = Run(self.bus(self.record), self)
        run.over = True
        return run

    def record(self, event: v.Event) -> None:
        """Count and record an event."""
        self.commands += 1
        self._keep(event)

    def _keep(self, record: Record) -> None:
        if self._pending is None:
            self._write(record)
        else:
            self._pending.append(record)

    def _write_pending(self) -> None:
        pending, self._pending = self._pending, None
        for record in pending or ():
            self._write(record)

    def opening(self, ways: tuple[str, ...]) -> str | None:
        """Return the prologue that is due next; `None` once each has had its turns."""
        number = self.sequences - 1
        return ways[number % len(ways)] if number < self._due(len(ways)) else None

    def _due(self, ways: int) -> int:
        """Return how many sequences begin with one of so many prologues in turn."""
        most = self._size.sequences
        turns = TURNS * ways
        return turns if most is None else min(turns, int(SHARE * most))

    def asked(self, seconds: float) -> None:
        """Add the seconds that an answer took."""
        self._asking += seconds

    def waits(self, duration: int) -> None:
        """Wait on a real clock, as long as the waiting time of the size allows."""
        seconds = duration / v.MICROSECONDS
        if self._waited + seconds <= self._size.waiting:
            self._waited += seconds
            time.sleep(seconds)

    def violated(self, sequence: Run, violation: Violation) -> None:
        """Leave Hypothesis because of a failure, unless its rule was found broken before."""
        rule = blamed(violation, self.terms)
        detail = str(sequence.bus.complaint(sequence.events[-1], violation))
        self._ending = ended_with(ScenarioVerdict.FAILED, detail)
        self.closed(sequence)
        if all(finding.rule != rule for finding in self.found):
            self._failure = rule, tuple(sequence.events)
            raise Enough

    def broke(self, sequence: Run, error: Exception) -> None:  # noqa: ARG002
        """Record a breakdown of the adapter as an error; a few of them end the exploration."""
        name = "" if isinstance(error, AdapterError | Undeclared) else f"{type(error).__name__}: "
        self._breakdowns += 1
        self._ending = ended_with(ScenarioVerdict.ERRORED, f"{name}{error}")

    def closed(self, sequence: Run) -> None:
        """Record the outcome of a sequence once; an interrupted sequence has no outcome."""
        if self._ending is None or isinstance(
            sys.exception(), KeyboardInterrupt | ConformanceError
        ):
            self._write_pending()
            return
        ending, self._ending = self._ending, None
        if sequence.bus.exhausted:
            ending = ended_with(ScenarioVerdict.INCONCLUSIVE, sequence.bus.exhausted)
        if self._pending is None or ending.verdict is not ScenarioVerdict.PASSED:
            self._write_pending()
            self._write(ending)
        self._pending = None

    # Shrinking a failure and replaying it.

    def _settle(self, rule: v.RuleId, events: Sequence[v.Event]) -> None:
        commands = self._shrunk(rule, events)
        again = sum(self._asked_again(rule, commands, time_) for time_ in range(1, TIMES + 1))
        self.found.append(Found(rule=rule, commands=commands, again=again))

    def _shrunk(self, rule: v.RuleId, events: Sequence[v.Event]) -> tuple[RecordedCommand, ...]:
        most = self._size.replays if self._is_dear else MANY
        trial = Trial(self.adapter, self.terms, rule)
        trials = Trials(trial, most=most, seconds=self._size.shrinking)
        if self._is_dear:
            needed = off_the_wire(
                events, rule, self.terms.profile, self._observability, self.terms.oracle
            )
            guess = commands_of(needed, self._observability.clock)
            with suppress(Spent):
                if trials.fails(guess):
                    return numbered(guess)
        commands = minimised(commands_of(events, self._observability.clock), trials.fails)
        return numbered(simplified(commands, trials.fails))

    def _asked_again(self, rule: v.RuleId, commands: Sequence[RecordedCommand], time_: int) -> bool:
        self._write(
            Started(
                scenario=f"Exploration, {rule} once more ({time_} of {TIMES})",
                rules=(rule,),
                feature=AGAIN,
            )
        )
        trial = Trial(self.adapter, self.terms, rule, self._write)
        broken = trial.breaks(commands)
        self._write(trial.ended)
        return broken

    def _summary(self) -> Ended:
        """Return the outcome of the whole exploration, with a sentence about its extent."""
        extent = f"{self.sequences} sequences, {self.commands} commands"
        if self.found:
            rules = ", ".join(finding.rule for finding in self.found)
            return ended_with(ScenarioVerdict.FAILED, f"{extent}; broken: {rules}")
        if self._breakdowns:
            return ended_with(ScenarioVerdict.ERRORED, f"{extent}; the adapter broke")
        return ended_with(ScenarioVerdict.PASSED, extent)
