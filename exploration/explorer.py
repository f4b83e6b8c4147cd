"""Exploring an implementation: sequences of commands, each recorded, each failure made small.

A failure is made small one rule at a time, by replays of fewer of its commands, which are not
recorded; what they come to is asked three times more, and that is. Hypothesis only makes up the
sequences: it shrinks what it drew, of which a command is a small part, and took ten to thirty times
as long to come to failures of the same size.
"""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Final

import attrs
from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

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
from busproof.history.replay import Asked, commands_of, numbered
from busproof.judging.applicability import Terms
from busproof.judging.judge import Violation
from busproof.judging.scenario_outcome import Undeclared
from busproof.judging.shrinking import Spent, minimised, off_the_wire, simplified
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.values import MICROSECONDS, Clock, RuleId

__all__ = ["Exploration", "Found"]

ROUND: Final = 10
"""New sequences that one run of Hypothesis makes up. After these it would go on with five variants
of each new one, which find less than new ones do; and it remembers all of them, which takes room.
"""

TURNS: Final = 2
"""How often an exploration begins its sequences in each of the ways that there are."""

SHARE: Final = 2 / 3
"""Of an exploration's sequences, how many begin so at most: the rest is for chance."""

TIMES: Final = 3
"""How often a small failure is asked once more."""

BREAKDOWNS: Final = 3
"""Breakdowns of the adapter after which nothing more is tried."""

MANY: Final = 10_000
"""Replays of a failure where they are cheap; time ends them before."""

KEPT: Final = 3_000
"""Sequences recorded in full by an exploration without end; later ones only if they do not pass."""

DEAR: Final = 0.005
"""Seconds an answer from which on nothing is asked without need."""

REAL_LOCK: Final = 5 * MICROSECONDS
"""The queues' lock duration on a real clock, the shortest that the service takes."""


class Enough(BaseException):
    """Leave Hypothesis at once: an `Exception` would be taken for a failure of the test."""


@attrs.frozen(kw_only=True)
class Found:
    """A rule that was broken, by how few commands, and how often they broke it again."""

    rule: RuleId
    commands: tuple[Asked, ...]
    again: int

    @property
    def repeats(self) -> bool:
        """Whether it does so each time."""
        return self.again == TIMES


class Exploration(Watch):
    """One exploration of one adapter.

    Args:
        adapter: the implementation.
        terms: what it is held to, and which oracle judges.
        size: how much.
        start: what the random choices begin from.
        write: where records go.
        lock: the queues' lock duration in microseconds; by default what suits the clock.
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
        self._real = declaration.clock is Clock.REAL
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
        self._failure: tuple[RuleId, tuple[Event, ...]] | None = None
        self._ending: Ended | None = None
        self._pending: list[Record] | None = None
        self.sequences = 0
        self.commands = 0
        self.found: list[Found] = []

    def run(self) -> Ended:
        """Explore until the size is reached; how the whole of it ended.

        The first sequence of each round is the simplest that there is, and is asked once; to
        Hypothesis it is flaky.
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
        machine = seed(self._random.getrandbits(64))(self._machine())
        self._is_first = True
        with suppress(Flaky, Enough):
            run_state_machine_as_test(machine, settings=self._settings(min(ROUND, left)))
        if self._failure is not None:
            self._settle(*self._failure)
            self._failure = None

    def _machine(self) -> type[Explored]:
        """One for sequences about anything, as long as these have to begin in each way, or not."""
        there = themes(self._scope)
        due = self.sequences < self._due(len(set(openings(self._scope))))
        theme = Theme.QUEUES if due else self._random.choice(there)
        general = tuple(each for each in there if each in GENERAL)
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

    # What the machine tells of its sequences.

    def opened(self) -> Run:
        """A sequence on an empty namespace; one that is over, where the adapter cannot start."""
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
        """A sequence in which nothing is asked, because it was before or cannot be."""
        run = Run(self.bus(self.record), self)
        run.over = True
        return run

    def record(self, event: Event) -> None:
        """Write an event."""
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
        """The first sequences begin in each way, a few times over."""
        number = self.sequences - 1
        return ways[number % len(ways)] if number < self._due(len(ways)) else None

    def _due(self, ways: int) -> int:
        """Return how many sequences begin in one of so many ways in turn."""
        most = self._size.sequences
        turns = TURNS * ways
        return turns if most is None else min(turns, int(SHARE * most))

    def asked(self, seconds: float) -> None:
        """Note how long an answer took."""
        self._asking += seconds

    def waits(self, duration: int) -> None:
        """Wait on a real clock, as long as there is time for it."""
        seconds = duration / MICROSECONDS
        if self._waited + seconds <= self._size.waiting:
            self._waited += seconds
            time.sleep(seconds)

    def violated(self, sequence: Run, violation: Violation) -> None:
        """Leave Hypothesis with a failure, unless its rule was found broken before."""
        rule = blamed(violation, self.terms)
        detail = str(sequence.bus.complaint(sequence.events[-1], violation))
        self._ending = ended_with(ScenarioVerdict.FAILED, detail)
        self.closed(sequence)
        if all(each.rule != rule for each in self.found):
            self._failure = rule, tuple(sequence.events)
            raise Enough

    def broke(self, sequence: Run, error: Exception) -> None:  # noqa: ARG002
        """The adapter broke: no violation, and after a few of them the end."""
        name = "" if isinstance(error, AdapterError | Undeclared) else f"{type(error).__name__}: "
        self._breakdowns += 1
        self._ending = ended_with(ScenarioVerdict.ERRORED, f"{name}{error}")

    def closed(self, sequence: Run) -> None:
        """Write how a recorded sequence ended, once; one that was interrupted has no end."""
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

    # Making a failure small, and asking it again.

    def _settle(self, rule: RuleId, events: Sequence[Event]) -> None:
        commands = self._shrunk(rule, events)
        again = sum(self._asked_again(rule, commands, time_) for time_ in range(1, TIMES + 1))
        self.found.append(Found(rule=rule, commands=commands, again=again))

    def _shrunk(self, rule: RuleId, events: Sequence[Event]) -> tuple[Asked, ...]:
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

    def _asked_again(self, rule: RuleId, commands: Sequence[Asked], time_: int) -> bool:
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
        """Return how the whole exploration ended, in a sentence."""
        told = f"{self.sequences} sequences, {self.commands} commands"
        if self.found:
            rules = ", ".join(found.rule for found in self.found)
            return ended_with(ScenarioVerdict.FAILED, f"{told}; broken: {rules}")
        if self._breakdowns:
            return ended_with(ScenarioVerdict.ERRORED, f"{told}; the adapter broke")
        return ended_with(ScenarioVerdict.PASSED, told)
