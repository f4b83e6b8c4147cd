"""One run of the features under pytest: its adapter, its history, and how each scenario ended."""

import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import NoReturn

import attrs
import pytest

from busproof import __version__
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
from busproof.steps.options import (
    commands_of,
    option,
    oracle_of,
    profile_of,
    seed_of,
    size_of,
    timeout_of,
)
from busproof.steps.repeating import Repeating
from busproof.steps.reporting import verdict_lines
from busproof.vocabulary.capabilities import Capability
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.profile import Profile
from busproof.vocabulary.values import Clock, RuleId

__all__ = ["RUN", "Run", "give_up", "verdict_on"]

LONGEST_DETAIL = 65536
"""Of how a scenario ended, in characters."""


def _declaration(adapter: Adapter, name: str) -> Declaration:
    """What the adapter declares, looked at closely: it may be anybody's code."""
    with blaming_the_adapter():
        declared = adapter.declaration
    wrong = f"{_kind(name)} declares {declared!r}, and must declare "
    if not isinstance(declared, Declaration):
        raise AdapterError(f"{wrong}a busproof.adapters.base.Declaration")
    if not isinstance(declared.implementation, Implementation):
        raise AdapterError(f"{wrong}an Implementation of busproof.adapters.base")
    if not all(isinstance(each, Capability) for each in declared.capabilities):
        raise AdapterError(f"{wrong}capabilities of busproof.adapters.base.Capability")
    if not isinstance(declared.clock, Clock):
        raise AdapterError(f"{wrong}a clock of busproof.vocabulary.values.Clock")
    return declared


def _raise(ended: Ended) -> None:
    """Return how the exploration ended, as the test that ran it ends."""
    match ended.verdict:
        case ScenarioVerdict.FAILED:
            raise NotConforming(ended.detail)
        case ScenarioVerdict.NOT_APPLICABLE:
            raise NotApplicable(ended.cause)
        case ScenarioVerdict.ERRORED:
            raise AdapterError(ended.detail)


class Run:
    """What all scenarios of a run share.

    Raises:
        UsageError: an option names what does not exist.
        AdapterError: the adapter cannot say what it is.
        HistoryError: the history cannot be written.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.catalogue: Catalogue = load()
        self.commands = commands_of(config)
        self.profile: Profile = profile_of(config, self.catalogue, self.commands)
        self.size = size_of(config)
        self.seed = seed_of(config) if self.size is not None else None
        oracle = oracle_of(option(config, "oracle"))
        self._config = config
        self.name = resolved(option(config, "adapter", "model") or "")
        self.adapter: Adapter = find(self.name, timeout=timeout_of(config))
        self.declaration = _declaration(self.adapter, self.name)
        told = [each.value for each in self.declaration.capabilities]
        self.oracle = oracle or auto_oracle(told)
        self.terms = Terms.of(self.catalogue, self._header(None), self.profile, self.oracle)
        self._writer: HistoryWriter | None = None
        self._own: Path | None = None
        self._about = frozenset[RuleId]()
        self._open_history(option(config, "history"))
        self.steps: list[StepResult] = []
        self._open = False
        self._repeating: Repeating[pytest.Item] = Repeating(0, self.declaration.clock)
        self._scenario, self._shows = "", frozenset[RuleId]()
        self._bus: Bus | None = None

    def _open_history(self, path: str | None) -> None:
        """Record where it was asked for; else for the summary, where one process has everything."""
        if path is None and not hasattr(self._config, "workerinput"):
            handle, path = tempfile.mkstemp(prefix="busproof-", suffix=".jsonl")
            os.close(handle)
            self._own = Path(path)
        self._writer = HistoryWriter(path) if path else None

    def begin(self, planned: int, about: frozenset[RuleId] = frozenset()) -> None:
        """Write the header, once it is known how many scenarios there will be, and on what."""
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
                name: said
                for name, said in attrs.asdict(declaration.implementation).items()
                if said
            },
            capabilities=tuple(sorted(each.value for each in declaration.capabilities)),
            clock=declaration.clock,
            slack=declaration.slack,
            profile=self.profile,
            planned=planned,
            seed=self.seed,
            rules=self._asked_for(),
        )

    def _asked_for(self) -> tuple[str, ...]:
        """The rules and families that the run is limited to; a replay is about the one it broke."""
        if self.commands is None:
            return tuple(dict.fromkeys(self._config.getoption("--bus-rule")))
        known = {rule.id for rule in self.catalogue.rules if rule.shown_by != "never"}
        return tuple(known & {self.commands.rule})

    def write(self, record: Record) -> None:
        """Record, if the run is recorded; what no history can hold is no answer, as over the wire.

        Raises:
            AdapterError: the adapter answered with more than a history can hold.
        """
        if self._writer is None:
            return
        try:
            self._writer.write(record)
        except RecordTooLong:
            if not isinstance(record, Event):
                raise
            raise AdapterError(
                f"the adapter answered {type(record.command).__name__} with so much that it does "
                f"not fit on a line of the history, which holds {LIMIT} bytes; it is not recorded"
            ) from None
        except HistoryError as error:
            give_up(self._config, error)

    def bus(
        self, scenario: str, rules: tuple[RuleId, ...], *, any_reading: bool = False
    ) -> Iterator[Bus]:
        """A bus for one scenario, from empty, if its rules apply.

        Args:
            scenario: its name.
            rules: that it shows.
            any_reading: whether it holds as well where a reading leaves one of them out.
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
        """Explore the adapter as much as was asked for, recording each sequence.

        Raises:
            NotConforming: a rule was broken.
            NotApplicable: there is nothing that could be explored.
            AdapterError: the adapter broke.
        """
        if self.size is None or self.seed is None:
            raise AssertionError("the exploration is selected only where it was asked for")
        # Hypothesis takes a tenth of a second, which no scenario needs.
        from busproof.exploration.explorer import Exploration  # noqa: PLC0415

        exploration = Exploration(
            self.adapter, self.terms, size=self.size, start=self.seed, write=self.write
        )
        ended = exploration.run()
        self._begin_scenario("Exploration")
        _raise(ended)

    def replay(self) -> None:
        """Ask the commands of the file that was named, recording what comes.

        Raises:
            NotConforming: a rule was broken.
            AdapterError: the adapter broke.
        """
        if self.commands is None:
            raise AssertionError("the replay is selected only where it was asked for")
        from busproof.exploration.replay import Replay, replay  # noqa: PLC0415 - as above

        about = (self.commands.rule,) if self.commands.rule else ()
        self._begin_scenario("Replay", about)
        replay(Replay(self.adapter, self.terms, self.write).opened(), self.commands.commands)

    def _begin_scenario(self, name: str, rules: tuple[RuleId, ...] = ()) -> None:
        self.steps = []
        feature = REPEATED if self._repeating.tried(name) else ""
        self.write(Started(scenario=name, rules=rules, feature=feature))
        self._scenario, self._shows, self._open = name, frozenset(), True

    def again(self, test: pytest.Item, error: BaseException | None) -> list[pytest.Item]:
        """The scenarios to try again once this one has ended so."""
        if self._bus is not None:
            self._repeating.saw(self._bus.evidence)
            self._bus = None
        return self._repeating.after(test, self._scenario, self._shows, error)

    def _sentence(self, rule: RuleId) -> str:
        return self.catalogue.rule(rule).statement

    def scenario_ended(self, verdict: ScenarioVerdict, detail: str) -> None:
        """Write how a scenario ended, once."""
        if self._open:
            self._open = False
            detail = _bounded(detail)
            first = detail.splitlines()[0] if detail else ""
            ended = Ended(verdict=verdict, cause=first, detail=detail, steps=tuple(self.steps))
            self.write(ended)

    def end(self) -> None:
        """Stop the adapter and close the history."""
        try:
            with blaming_the_adapter():
                self.adapter.stop()
        except AdapterError as error:
            _say(self._config, error)
        if self._writer is not None:
            self._writer.close()

    def summary(self) -> Iterator[str]:
        """The verdicts in a few lines, where nobody else has asked for the history."""
        if self._own is None:
            return
        try:
            with suppress(ConformanceError):
                adapter = option(self._config, "adapter", "model") or ""
                found = conformance(load_history(self._own), self.catalogue)
                yield from verdict_lines(found, self._about, adapter)
        finally:
            self._own.unlink(missing_ok=True)


def _bounded(detail: str) -> str:
    """A detail that is fit to be told; what an adapter raises may be of any length."""
    if len(detail) <= LONGEST_DETAIL:
        return detail
    return f"{detail[:LONGEST_DETAIL]}… and {len(detail) - LONGEST_DETAIL} characters more"


RUN: pytest.StashKey[Run] = pytest.StashKey()


def _kind(name: str) -> str:
    """The adapter's name without what may tell of a machine, a user or a key."""
    if name.startswith("exec:"):
        return "exec"
    return name.partition("://")[0] if "://" in name else name


def give_up(config: pytest.Config, error: ConformanceError) -> NoReturn:
    """End the session with one sentence, after the traceback of the adapter's own code."""
    if isinstance(error, AdapterError) and error.__cause__ is not None:
        _write_aside(config, "".join(traceback.format_exception(error.__cause__)))
    _say(config, error)
    pytest.exit(str(error), returncode=2 if isinstance(error, UsageError) else 3)


def _say(config: pytest.Config, error: ConformanceError) -> None:
    """Say a sentence to the user, past what pytest captures and has begun to write.

    What belongs to it is indented, for `busproof run` to tell it from what does not.
    """
    _write_aside(config, "\n" + f"busproof: {error}".replace("\n", "\n  "))


def _write_aside(config: pytest.Config, said: str) -> None:
    capture = config.pluginmanager.getplugin("capturemanager")
    released = nullcontext() if capture is None else capture.global_and_fixture_disabled()
    with released, suppress(OSError, ValueError):
        print(said, file=sys.stderr, flush=True)  # noqa: T201 - nobody else would tell


def verdict_on(error: BaseException | None) -> tuple[ScenarioVerdict, str]:
    """Return how a scenario ended that raised this, or nothing."""
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
