"""One run of the features under pytest: its history, its repeated scenarios, and its summary."""

import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from io import BufferedReader, FileIO
from typing import NoReturn

import pytest

from busproof import vocabulary as v
from busproof.errors import AdapterError, ConformanceError, HistoryError, UsageError
from busproof.history.files import HistoryWriter
from busproof.history.files import load as load_history
from busproof.history.records import Ended, Record, ScenarioVerdict
from busproof.judging.scenario_outcome import NotApplicable, NotConforming
from busproof.judging.verdicts import conformance
from busproof.steps.options import option
from busproof.steps.repeating import Repeating
from busproof.steps.reporting import verdict_lines
from busproof.steps.source_sequences import SourceSequences
from busproof.steps.stage import Stage, write_to

__all__ = ["RUN", "Run", "give_up"]


def _raise(ended: Ended) -> None:
    """Raise the exception that reports how an exploration ended; return if it passed."""
    match ended.verdict:
        case ScenarioVerdict.FAILED:
            raise NotConforming(ended.detail)
        case ScenarioVerdict.NOT_APPLICABLE:
            raise NotApplicable(ended.cause)
        case ScenarioVerdict.ERRORED:
            raise AdapterError(ended.detail)


class Run(Stage):
    """The state shared by all scenarios of a session of pytest.

    Raises:
        UsageError: the value of an option is invalid.
        AdapterError: the adapter's declaration is invalid.
        HistoryError: the history cannot be written.
    """

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        if self.size is not None and not self.size.waits:
            raise UsageError(f"--profile {self.size.name} is for busproof run")
        self._config = config
        self._writer: HistoryWriter | None = None
        self._own: FileIO | None = None
        self._about = frozenset[v.RuleId]()
        self._open_history(option(config, "history"))
        self._repeating: Repeating[pytest.Item] = Repeating(0, self.declaration.clock)
        self._sources = SourceSequences()

    def _open_history(self, path: str | None) -> None:
        """Record into the given file or, without one, into an unnamed file for the summary.

        The unnamed file disappears with the process. Workers of xdist write no summary.
        """
        if path is not None:
            self._writer = HistoryWriter(path)
        elif not hasattr(self._config, "workerinput"):
            try:
                self._own = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - read at the end
            except OSError as error:
                raise HistoryError(f"cannot make a temporary file: {error.strerror}") from None
            self._writer = HistoryWriter(tempfile.gettempdir(), self._own)

    def begin(self, planned: int, about: frozenset[v.RuleId] = frozenset()) -> None:
        """Write the header, once the number of scenarios and their rules are known."""
        self._about = about
        self._repeating = Repeating(planned, self.declaration.clock)
        self.write(self.header(planned))

    def write(self, record: Record) -> None:
        """Write a record, if the run is recorded.

        Raises:
            AdapterError: the adapter's answer is too large for a history.
        """
        if self._writer is None:
            return
        try:
            write_to(self._writer, record)
        except HistoryError as error:
            give_up(self._config, error)

    def is_repeated(self, scenario: str) -> bool:
        """Return whether a scenario has ended before."""
        return self._repeating.tried(scenario)

    def explore(self) -> None:
        """Explore the adapter to the given size, recording each sequence.

        Raises:
            NotConforming: a rule was violated.
            NotApplicable: there is nothing to explore.
            AdapterError: the adapter failed.
        """
        if self.size is None or self.seed is None:
            raise AssertionError("the exploration is selected only where it was asked for")
        # Import it here, because Hypothesis needs a tenth of a second, and scenarios do not use it.
        from busproof.exploration.explorer import explore

        sources, size, start = self._sources.sequences, self.size, self.seed
        ended = explore(
            self.adapter, self.terms, size=size, start=start, sources=sources, write=self.write
        )
        self.begin_scenario("Exploration")
        _raise(ended)

    def look_at_everything(self) -> None:
        """Keep the sequence of the scenario, and take a last look at what it has left."""
        if self.current is not None:
            self._sources.keep(self.scenario, self.current.events, self.steps)
        super().look_at_everything()

    def again(self, test: pytest.Item, error: BaseException | None) -> list[pytest.Item]:
        """Return the tests to repeat after this one has ended, by an exception or without."""
        if self.current is not None:
            self._repeating.saw(self.current.evidence)
            self.current = None
        return self._repeating.after(test, self.scenario, self.shows, error)

    def end(self) -> None:
        """Stop the adapter and close the history, unless the summary still reads it."""
        try:
            self.stop()
        except AdapterError as error:
            _say(self._config, error)
        if self._writer is not None and self._own is None:
            self._writer.close()

    def summary(self) -> Iterator[str]:
        """Yield the verdicts in a few lines, unless a history file was given."""
        if self._own is None:
            return
        with suppress(ConformanceError):
            self._own.seek(0)
            adapter = option(self._config, "adapter", "model") or ""
            history = load_history(tempfile.gettempdir(), BufferedReader(self._own))
            yield from verdict_lines(conformance(history, self.catalogue), self._about, adapter)


RUN: pytest.StashKey[Run] = pytest.StashKey()


def give_up(config: pytest.Config, error: ConformanceError) -> NoReturn:
    """Exit the session with one sentence, after the traceback of the adapter's code."""
    if isinstance(error, AdapterError) and error.__cause__ is not None:
        _write_aside(config, "".join(traceback.format_exception(error.__cause__)))
    _say(config, error)
    pytest.exit(str(error), returncode=2 if isinstance(error, UsageError) else 3)


def _say(config: pytest.Config, error: ConformanceError) -> None:
    """Print a message to the user on a new line, bypassing pytest's capture.

    Continuation lines are indented, so that `busproof run` recognizes them.
    """
    _write_aside(config, "\n" + f"busproof: {error}".replace("\n", "\n  "))


def _write_aside(config: pytest.Config, text: str) -> None:
    capture = config.pluginmanager.getplugin("capturemanager")
    released = nullcontext() if capture is None else capture.global_and_fixture_disabled()
    with released, suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - stderr is the only channel here
