"""Search for failures: record sequences, shrink each failure, and replay it.

Sequences come from the exploration, or from scenarios in other places. Hypothesis's shrinker works
on the choices it drew, and a command is a small part of those: it took ten to thirty times as long
to reach failures of the same size. So each failure is shrunk here, one rule at a time, by replaying
fewer of its commands. These replays are not recorded; the shrunk failure is then replayed three
more times, with a record.
"""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import attrs

from busproof import vocabulary as v
from busproof.adapters.base import Adapter, Hearing
from busproof.errors import AdapterError, ConformanceError
from busproof.exploration.machine import Sequence as Run
from busproof.exploration.machine import Watch
from busproof.exploration.sizes import Size
from busproof.exploration.trials import Trial, Trials, blamed, ended_with
from busproof.history.records import AGAIN, Ended, Record, ScenarioVerdict, Started
from busproof.history.replay import RecordedCommand, commands_of, numbered
from busproof.judging.applicability import Terms
from busproof.judging.judge import Violation
from busproof.judging.scenario_outcome import Undeclared
from busproof.judging.shrinking import Spent, minimised, off_the_wire, simplified

__all__ = ["Enough", "Found", "Search"]

TIMES: Final = 3
"""Replays of a shrunk failure, to see whether it repeats."""

BREAKDOWNS: Final = 3
"""Breakdowns of the adapter that end the exploration."""

KEPT: Final = 3_000
"""Sequences that an endless exploration records in full; later ones only if they do not pass."""


class Enough(BaseException):
    """Signal to leave Hypothesis; it would report an `Exception` as a failure of the test."""


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


class Search(Watch):
    """Search for failures of one adapter; a subclass makes the sequences.

    Args:
        adapter: the implementation.
        terms: the rules in force, and the oracle.
        size: the limits.
        write: receives the records.
        broken: the rules found broken before, with their failures; further ones are added.
    """

    def __init__(
        self,
        adapter: Adapter,
        terms: Terms,
        *,
        size: Size,
        write: Callable[[Record], None],
        broken: list[Found] | None = None,
    ) -> None:
        super().__init__(adapter, terms)
        declaration = adapter.declaration
        self._real = declaration.clock is v.Clock.REAL
        self._observability = declaration.observability
        self._size = size
        self._write = write
        self._waited = 0.0
        self._breakdowns = 0
        self._failure: tuple[v.RuleId, tuple[v.Event, ...]] | None = None
        self._ending: Ended | None = None
        self._pending: list[Record] | None = None
        self.sequences = 0
        self.commands = 0
        self.found: list[Found] = [] if broken is None else broken

    def _goes_on(self) -> bool:
        return self._breakdowns < BREAKDOWNS and len(self.found) < self._size.rules

    @property
    def _is_dear(self) -> bool:
        return self._size.dear or self._real or isinstance(self.adapter, Hearing)

    def _begun(self, started: Started) -> Run:
        """Start a sequence on an empty namespace, or a blank one if the adapter cannot start."""
        self.sequences += 1
        endless = self._size.sequences is None
        self._pending = [] if endless and self.sequences > KEPT else None
        self._keep(started)
        self._ending = Ended(verdict=ScenarioVerdict.PASSED)
        try:
            return super().opened()
        except AdapterError as error:
            run = self._blank()
            self.broke(run, error)
            return run

    def _blank(self) -> Run:
        """Return a sequence that sends nothing: a repeated one, or one that could not start."""
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

    def waits(self, duration: int) -> None:
        """Wait on a real clock, up to the waiting time that the size allows."""
        seconds = duration / v.MICROSECONDS
        if self._waited + seconds <= self._size.waiting:
            self._waited += seconds
            time.sleep(seconds)

    def violated(self, sequence: Run, violation: Violation) -> None:
        """Leave Hypothesis with the failure, unless its rule was already found broken."""
        rule = blamed(violation, self.terms)
        detail = str(sequence.bus.complaint(sequence.events[-1], violation))
        self._ending = ended_with(ScenarioVerdict.FAILED, detail)
        self.closed(sequence)
        if all(finding.rule != rule for finding in self.found):
            self._failure = rule, tuple(sequence.events)
            raise Enough

    def broke(self, sequence: Run, error: Exception) -> None:  # noqa: ARG002 - as `Watch.broke`
        """Record a breakdown as an error; a few of them end the exploration."""
        name = "" if isinstance(error, AdapterError | Undeclared) else f"{type(error).__name__}: "
        self._breakdowns += 1
        self._ending = ended_with(ScenarioVerdict.ERRORED, f"{name}{error}")

    def closed(self, sequence: Run) -> None:
        """Record the outcome of a sequence, once; an interrupted sequence has none."""
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
        trial = Trial(self.adapter, self.terms, rule)
        replays = self._size.replays if self._is_dear else None
        trials = Trials(trial, replays=replays, commands=self._size.shrinking)
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
