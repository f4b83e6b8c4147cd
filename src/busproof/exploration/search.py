"""Search for failures: record sequences, and keep the shortest failure of each rule.

Sequences come from the exploration, or from scenarios in other places.
"""

import sys
import time
from collections.abc import Callable
from typing import Final

from busproof import vocabulary as v
from busproof.errors import AdapterError, ConformanceError
from busproof.exploration.machine import Sequence as Run
from busproof.exploration.machine import Watch
from busproof.exploration.settling import Found, settle_failure
from busproof.exploration.sizes import Size
from busproof.exploration.trials import blame_rule, end_with
from busproof.history.records import Ended, Record, ScenarioVerdict, Started
from busproof.judging.applicability import Terms
from busproof.judging.scenario_outcome import Undeclared
from busproof.judging.violation import Violation

__all__ = ["Enough", "Failures", "Search"]

BREAKDOWNS: Final = 3
"""Breakdowns of the adapter that end the exploration."""

KEPT: Final = 3_000
"""Sequences that an endless exploration records in full; later ones only if they do not pass."""


class Enough(BaseException):
    """Signal to leave Hypothesis; it would report an `Exception` as a failure of the test."""


Failures = dict[v.RuleId, tuple[v.Event, ...]]
"""Each broken rule, with the events of its shortest failure."""


class Search(Watch):
    """Search for failures of one adapter; a subclass makes the sequences.

    Args:
        adapter: the implementation.
        terms: the rules in force, and the oracle.
        size: the limits.
        write: receives the records.
        failures: the rules found broken before, with their failures; further ones are added.
    """

    is_measured = False

    def __init__(
        self,
        adapter: v.Adapter,
        terms: Terms,
        *,
        size: Size,
        write: Callable[[Record], None],
        failures: Failures | None = None,
    ) -> None:
        super().__init__(adapter, terms)
        declaration = adapter.declaration
        self._real = declaration.clock is v.Clock.REAL
        self._size = size
        self._write = write
        self._waited = 0.0
        self.breakdowns = 0
        self._ending: Ended | None = None
        self._pending: list[Record] | None = None
        self.sequences = 0
        self.commands = 0
        self.failures: Failures = {} if failures is None else failures
        self.found: list[Found] = []

    def _goes_on(self) -> bool:
        return self.breakdowns < BREAKDOWNS and len(self.failures) < self._size.rules

    def _begin(self, started: Started) -> Run:
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
        """Keep the failure, unless a shorter one of its rule is known."""
        rule = blame_rule(violation, self.terms)
        detail = str(sequence.bus.complaint(sequence.events[-1], violation))
        self._ending = end_with(ScenarioVerdict.FAILED, detail)
        known = self.failures.get(rule)
        if known is None or len(sequence.events) < len(known):
            self.failures[rule] = tuple(sequence.events)

    def broke(self, sequence: Run, error: Exception) -> None:  # noqa: ARG002 - as `Watch.broke`
        """Record a breakdown as an error; a few of them end the exploration."""
        name = "" if isinstance(error, AdapterError | Undeclared) else f"{type(error).__name__}: "
        self.breakdowns += 1
        self._ending = end_with(ScenarioVerdict.ERRORED, f"{name}{error}")

    def closed(self, sequence: Run) -> None:
        """Record the outcome of a sequence, once; an interrupted sequence has none."""
        if self._ending is None or isinstance(
            sys.exception(), KeyboardInterrupt | ConformanceError
        ):
            self._write_pending()
            return
        ending, self._ending = self._ending, None
        if sequence.bus.exhausted:
            ending = end_with(ScenarioVerdict.INCONCLUSIVE, sequence.bus.exhausted)
        if self._pending is None or ending.verdict is not ScenarioVerdict.PASSED:
            self._write_pending()
            self._write(ending)
        self._pending = None

    def settle(self) -> None:
        """Shrink and replay each failure, one for each broken rule."""
        for rule, events in self.failures.items():
            self.found.append(
                settle_failure(
                    self.adapter,
                    self.terms,
                    self._size,
                    rule,
                    events,
                    write=self._write,
                    judges=self.judges,
                )
            )
