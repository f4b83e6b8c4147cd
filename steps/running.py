"""One run of the features under pytest: its adapter, its history, and the scenarios' outcomes."""

import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from io import BufferedReader, FileIO
from typing import NoReturn

import attrs
import pytest

from busproof import __version__
from busproof import vocabulary as v
from busproof.adapters.base import Adapter, Declaration, Implementation
from busproof.adapters.finding import find, resolved
from busproof.errors import AdapterError, ConformanceError, HistoryError, UsageError
from busproof.history.files import HistoryWriter, RecordTooLong
from busproof.history.files import load as load_history
from busproof.history.lines import LIMIT
from busproof.history.records import (
    REPEATED,
    Ended,
    Header,
    Record,
    ScenarioVerdict,
    Started,
    StepResult,
)
from busproof.judging.applicability import Terms, auto_oracle
from busproof.judging.driver import Recording
from busproof.judging.scenario_outcome import (
    Inconclusive,
    NotApplicable,
    NotConforming,
    Undeclared,
    blaming_the_adapter,
)
from busproof.judging.verdicts import conformance
from busproof.spec import Catalogue, load
from busproof.steps.bus import Bus
from busproof.steps.last_looks import LastLooks
from busproof.steps.options import (
    commands_of,
    option,
    oracle_of,
    profile_of,
    seed_of,
    size_of,
    timeout_of,
)
from busproof.steps.played import PlayedScenarios
from busproof.steps.repeating import Repeating
from busproof.steps.reporting import bounded, verdict_lines

__all__ = ["RUN", "Run", "give_up", "verdict_on"]


def _declaration(adapter: Adapter, name: str) -> Declaration:
    """Validate and return the declaration of an adapter, which may be third-party code."""
    with blaming_the_adapter():
        declared = adapter.declaration
    wrong = f"{_kind(name)} declares {declared!r}, and must declare "
    if not isinstance(declared, Declaration):
        raise AdapterError(f"{wrong}a busproof.adapters.base.Declaration")
    if not isinstance(declared.implementation, Implementation):
        raise AdapterError(f"{wrong}an Implementation of busproof.adapters.base")
    if not all(isinstance(capability, v.Capability) for capability in declared.capabilities):
        raise AdapterError(f"{wrong}capabilities of busproof.adapters.base.Capability")
    if not isinstance(declared.clock, v.Clock):
        raise AdapterError(f"{wrong}a clock of busproof.vocabulary.values.Clock")
    return declared


def _raise(ended: Ended) -> None:
    """Raise the exception that reports how an exploration ended; return if it passed."""
    match ended.verdict:
        case ScenarioVerdict.FAILED:
            raise NotConforming(ended.detail)
        case ScenarioVerdict.NOT_APPLICABLE:
            raise NotApplicable(ended.cause)
        case ScenarioVerdict.ERRORED:
            raise AdapterError(ended.detail)


class Run:
    """The state shared by all scenarios of a run.

    Raises:
        UsageError: the value of an option is invalid.
        AdapterError: the adapter's declaration is invalid.
        HistoryError: the history cannot be written.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.catalogue: Catalogue = load()
        self.commands = commands_of(config)
        self.profile: v.Profile = profile_of(config, self.catalogue, self.commands)
        self.size = size_of(config)
        self.seed = seed_of(config) if self.size is not None else None
        oracle = oracle_of(option(config, "oracle"))
        self._config = config
        self.name = resolved(option(config, "adapter", "model") or "")
        self.adapter: Adapter = find(self.name, timeout=timeout_of(config))
        self.declaration = _declaration(self.adapter, self.name)
        capabilities = [capability.value for capability in self.declaration.capabilities]
        self.oracle = oracle or auto_oracle(capabilities)
        self.terms = Terms.of(self.catalogue, self._header(None), self.profile, self.oracle)
        self._writer: HistoryWriter | None = None
        self._own: FileIO | None = None
        self._about = frozenset[v.RuleId]()
        self._open_history(option(config, "history"))
        self.steps: list[StepResult] = []
        self._open = False
        self._repeating: Repeating[pytest.Item] = Repeating(0, self.declaration.clock)
        self._scenario, self._shows = "", frozenset[v.RuleId]()
        self._bus: Bus | None = None
        self._looks = LastLooks(self.adapter, explores=self.size is not None)
        self._played = PlayedScenarios()

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
        self.write(self._header(planned))

    def _header(self, planned: int | None) -> Header:
        declaration = self.declaration
        return Header(
            busproof=__version__,
            adapter=_kind(self.name),
            oracle=self.oracle,
            implementation={
                name: text
                for name, text in attrs.asdict(declaration.implementation).items()
                if text
            },
            capabilities=tuple(sorted(capability.value for capability in declaration.capabilities)),
            clock=declaration.clock,
            slack=declaration.slack,
            profile=self.profile,
            planned=planned,
            seed=self.seed,
            rules=self._asked_for(),
        )

    def _asked_for(self) -> tuple[str, ...]:
        """Return the rules and families that limit the run; for a replay, the violated rule."""
        if self.commands is None:
            return tuple(dict.fromkeys(self._config.getoption("--bus-rule")))
        known = {rule.id for rule in self.catalogue.rules if rule.shown_by != "never"}
        return tuple(known & {self.commands.rule})

    def write(self, record: Record) -> None:
        """Write a record, if the run is recorded.

        As over the wire, an answer that does not fit into a history is an error of the adapter.

        Raises:
            AdapterError: the adapter's answer is too large for a history.
        """
        if self._writer is None:
            return
        try:
            self._writer.write(record)
        except RecordTooLong:
            if not isinstance(record, v.Event):
                raise
            raise AdapterError(
                f"the adapter answered {type(record.command).__name__} with so much that it does "
                f"not fit on a line of the history, which holds {LIMIT} bytes; it is not recorded"
            ) from None
        except HistoryError as error:
            give_up(self._config, error)

    def bus(
        self, scenario: str, rules: tuple[v.RuleId, ...], *, any_reading: bool = False
    ) -> Iterator[Bus]:
        """Yield a bus with an empty namespace for one scenario, if its rules apply.

        Args:
            scenario: the name of the scenario.
            rules: the rules that it gives evidence about.
            any_reading: whether it applies even under readings that exclude one of its rules.
        """
        self._begin_scenario(scenario, rules)
        about = [self.catalogue.rule(rule) for rule in rules]
        for rule in about:
            if cause := self.terms.inapplicable(rule, any_reading=any_reading):
                raise NotApplicable(cause)
        self._shows = frozenset(rule.id for rule in about if not self.terms.inapplicable(rule))
        with blaming_the_adapter():
            self.adapter.start(self.profile)
        recording = Recording(record=self.write, sentence=self._sentence)
        self._bus = Bus(self.adapter, self.profile, self.oracle, recording)
        yield self._bus

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

        played, size, start = self._played.sequences, self.size, self.seed
        ended = explore(
            self.adapter, self.terms, size=size, start=start, played=played, write=self.write
        )
        self._begin_scenario("Exploration")
        _raise(ended)

    def replay(self) -> None:
        """Replay the commands of the given file, recording the answers.

        Raises:
            NotConforming: a rule was violated.
            AdapterError: the adapter failed.
        """
        if self.commands is None:
            raise AssertionError("the replay is selected only where it was asked for")
        from busproof.exploration.replay import Replay, replay  # as above

        about = (self.commands.rule,) if self.commands.rule else ()
        self._begin_scenario("Replay", about)
        replay(Replay(self.adapter, self.terms, self.write).opened(), self.commands.commands)

    def _begin_scenario(self, name: str, rules: tuple[v.RuleId, ...] = ()) -> None:
        self.steps = []
        feature = REPEATED if self._repeating.tried(name) else ""
        self.write(Started(scenario=name, rules=rules, feature=feature))
        self._scenario, self._shows, self._open = name, frozenset(), True

    def show_nothing(self) -> None:
        """Do not repeat this scenario for lack of evidence; it only looks for a violation."""
        self._shows = frozenset()

    def look_at_everything(self) -> None:
        """Take a last look at what the scenario has left, with the errors of `LastLooks.look`."""
        if self._bus is not None:
            self._played.keep(self._scenario, self._bus.events, self.steps)
            self._looks.look(self._bus, self.steps)

    def again(self, test: pytest.Item, error: BaseException | None) -> list[pytest.Item]:
        """Return the tests to repeat after this one has ended, by an exception or without."""
        if self._bus is not None:
            self._repeating.saw(self._bus.evidence)
            self._bus = None
        return self._repeating.after(test, self._scenario, self._shows, error)

    def _sentence(self, rule: v.RuleId) -> str:
        return self.catalogue.rule(rule).statement

    def scenario_ended(self, verdict: ScenarioVerdict, detail: str) -> None:
        """Write the outcome of a scenario, once."""
        if self._open:
            self._open = False
            detail = bounded(detail)
            first = detail.splitlines()[0] if detail else ""
            ended = Ended(verdict=verdict, cause=first, detail=detail, steps=tuple(self.steps))
            self.write(ended)

    def end(self) -> None:
        """Stop the adapter and close the history, unless the summary still reads it."""
        try:
            with blaming_the_adapter():
                self.adapter.stop()
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


def _kind(name: str) -> str:
    """Return an adapter's name without details of a machine, a user or a key."""
    if name.startswith("exec:"):
        return "exec"
    return name.partition("://")[0] if "://" in name else name


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


def verdict_on(error: BaseException | None) -> tuple[ScenarioVerdict, str]:
    """Return the verdict on a scenario and its detail, from its exception if it raised one."""
    if error is None:
        return ScenarioVerdict.PASSED, ""
    detail = str(error)
    if isinstance(error, NotApplicable):
        return ScenarioVerdict.NOT_APPLICABLE, detail
    if isinstance(error, Inconclusive):
        return ScenarioVerdict.INCONCLUSIVE, detail
    if isinstance(error, AssertionError):
        return ScenarioVerdict.FAILED, detail
    if isinstance(error, AdapterError | Undeclared):
        return ScenarioVerdict.ERRORED, detail
    return ScenarioVerdict.ERRORED, f"{type(error).__name__}: {detail}"
