"""One run of the features under pytest: its adapter, its history, and how each scenario ended."""

import math
import sys
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from random import SystemRandom
from typing import NoReturn

import attrs
import pytest

from busproof import __version__
from busproof.adapters.base import Adapter, Capability, Declaration, Implementation
from busproof.adapters.finding import find
from busproof.errors import AdapterError, ConformanceError, HistoryError, UsageError
from busproof.history.commands import CommandFile, read_commands
from busproof.history.files import HistoryWriter, RecordTooLong
from busproof.history.lines import LIMIT
from busproof.history.records import (
    Ended,
    Header,
    Oracle,
    Record,
    ScenarioVerdict,
    Started,
    StepResult,
)
from busproof.judging.applicability import Terms, auto_oracle
from busproof.model.outcomes import Event
from busproof.model.profiles import profile_for
from busproof.model.values import Clock, Profile, RuleId
from busproof.spec import Catalogue, load
from busproof.steps.exploring import Exploration
from busproof.steps.harness import (
    Bus,
    Inconclusive,
    NotApplicable,
    NotConforming,
    Recording,
    Undeclared,
    blaming_the_adapter,
)
from busproof.steps.machine import Watch
from busproof.steps.replaying import replay
from busproof.steps.sizes import Size, size_named

__all__ = ["RUN", "Run", "give_up", "rule_asked_for", "verdict_on"]

DEFAULT_PARTITIONS = "16"
FEWEST_PARTITIONS = 2
"""Nothing can go round an outage of the only one."""

MOST_PARTITIONS = 65536
"""As many as the bits of a sequence number that name the partition can tell apart."""

MOST_DIGITS = 18
"""Of a seed: what 64 bits hold."""

DEFAULT_TIMEOUT = "10"
LONGEST_DETAIL = 65536
"""Of how a scenario ended, in characters."""

LONGEST_TIMEOUT = 86400
"""A day, in seconds."""


def _option(config: pytest.Config, name: str, default: str | None = None) -> str | None:
    value = config.getoption(f"--bus-{name}")
    return default if value is None else str(value)


def _partitions(config: pytest.Config, default: str) -> int:
    text = _option(config, "partitions", default) or ""
    number = int(text[:9]) if text.isascii() and text.isdecimal() else 0
    if not FEWEST_PARTITIONS <= number <= MOST_PARTITIONS:
        raise UsageError(
            f"the number of partitions is {text!r}; give a whole number from {FEWEST_PARTITIONS} "
            f"to {MOST_PARTITIONS}"
        )
    return number


def _timeout(config: pytest.Config) -> float:
    text = _option(config, "timeout", DEFAULT_TIMEOUT) or ""
    seconds = math.nan
    with suppress(ValueError):
        seconds = float(text)
    if not 0 < seconds <= LONGEST_TIMEOUT:
        raise UsageError(
            f"the timeout is {text!r}; give a number of seconds above 0, and at most "
            f"{LONGEST_TIMEOUT}"
        )
    return seconds


def _readings(texts: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    wrong = [text for text, pair in zip(texts, pairs, strict=True) if not pair[2]]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is no reading; write AMBIGUITY=READING")
    return {name: reading for name, _, reading in pairs}


def _oracle(text: str | None) -> Oracle | None:
    try:
        return None if text is None else Oracle(text)
    except ValueError:
        raise UsageError(f"there is no oracle {text!r}; choose strict or client") from None


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
        raise AdapterError(f"{wrong}a clock of busproof.model.values.Clock")
    return declared


def _profile(config: pytest.Config, catalogue: Catalogue, commands: CommandFile | None) -> Profile:
    """What was asked for; what was not is as it was where commands to replay were found."""
    before = None if commands is None else commands.profile
    given = _readings(config.getoption("--bus-reading"))
    return profile_for(
        catalogue,
        edition=_option(config, "edition", None if before is None else before.edition),
        tier=_tier(_option(config, "tier", before.tier.value if before else "standard")),
        readings={**(before.readings if before else {}), **given},
        partitions=_partitions(config, str(before.partitions) if before else DEFAULT_PARTITIONS),
    )


def _commands(config: pytest.Config) -> CommandFile | None:
    path = _option(config, "replay")
    try:
        return None if path is None else read_commands(path)
    except HistoryError as error:
        raise UsageError(str(error)) from None


def _size(config: pytest.Config) -> Size | None:
    name, minutes = _option(config, "profile"), _option(config, "minutes")
    if name is None and minutes is not None:
        raise UsageError("--minutes is for --profile soak")
    return None if name is None else size_named(name, minutes)


def _seed(config: pytest.Config) -> int:
    text = _option(config, "seed")
    if text is None:
        return SystemRandom().getrandbits(32)
    if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
        raise UsageError(
            f"the seed is {text!r}; give a whole number of at most {MOST_DIGITS} digits"
        )
    return int(text)


def _raise(ended: Ended) -> None:
    """How the exploration ended, as the test that ran it ends."""
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
        self.commands = _commands(config)
        self.profile: Profile = _profile(config, self.catalogue, self.commands)
        self.size = _size(config)
        self.seed = _seed(config) if self.size is not None else None
        oracle = _oracle(_option(config, "oracle"))
        self._config = config
        self.name = _option(config, "adapter", "model") or ""
        self.adapter: Adapter = find(self.name, timeout=_timeout(config))
        self.declaration = _declaration(self.adapter, self.name)
        told = [each.value for each in self.declaration.capabilities]
        self.oracle = oracle or auto_oracle(told)
        self.terms = Terms.of(self.catalogue, self._header(None), self.profile, self.oracle)
        path = _option(config, "history")
        self._writer = HistoryWriter(path) if path else None
        self.steps: list[StepResult] = []
        self._open = False

    def begin(self, planned: int) -> None:
        """Write the header, once it is known how many scenarios there will be."""
        self.write(self._header(planned))

    def _header(self, planned: int | None) -> Header:
        declaration = self.declaration
        return Header(
            busproof=__version__,
            adapter=_kind(self.name),
            oracle=self.oracle,
            implementation=attrs.asdict(declaration.implementation),
            capabilities=tuple(sorted(each.value for each in declaration.capabilities)),
            clock=declaration.clock,
            slack=declaration.slack,
            profile=self.profile,
            planned=planned,
            seed=self.seed,
        )

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

    def bus(self, scenario: str, rules: tuple[RuleId, ...]) -> Iterator[Bus]:
        """A bus for one scenario, from empty, if its rules apply."""
        self._begin_scenario(scenario, rules)
        for rule in rules:
            if cause := self.terms.inapplicable(self.catalogue.rule(rule)):
                raise NotApplicable(cause)
        with blaming_the_adapter():
            self.adapter.start(self.profile)
        recording = Recording(record=self.write, sentence=self._sentence)
        yield Bus(self.adapter, self.profile, self.oracle, recording)

    def explore(self) -> None:
        """Explore the adapter as much as was asked for, recording each sequence.

        Raises:
            NotConforming: a rule was broken.
            NotApplicable: there is nothing that could be explored.
            AdapterError: the adapter broke.
        """
        if self.size is None or self.seed is None:
            raise AssertionError("the exploration is selected only where it was asked for")
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
        about = (self.commands.rule,) if self.commands.rule else ()
        self._begin_scenario("Replay", about)
        replay(Replay(self).opened(), self.commands.commands)

    def _begin_scenario(self, name: str, rules: tuple[RuleId, ...] = ()) -> None:
        self.steps = []
        self.write(Started(scenario=name, rules=rules))
        self._open = True

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


def _bounded(detail: str) -> str:
    """A detail that is fit to be told; what an adapter raises may be of any length."""
    if len(detail) <= LONGEST_DETAIL:
        return detail
    return f"{detail[:LONGEST_DETAIL]}… and {len(detail) - LONGEST_DETAIL} characters more"


class Replay(Watch):
    """Records what comes of commands that are asked again."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.adapter, run.terms)
        self._run = run

    def record(self, event: Event) -> None:
        """Write the event."""
        self._run.write(event)


RUN: pytest.StashKey[Run] = pytest.StashKey()


def _tier(text: str | None) -> str:
    if text not in ("basic", "standard", "premium"):
        raise UsageError(f"there is no tier {text!r}; choose basic, standard or premium")
    return text


def _kind(name: str) -> str:
    """The adapter's name without what may tell of a machine, a user or a key."""
    if name.startswith("exec:"):
        return "exec"
    return name.partition("://")[0] if "://" in name else name


def rule_asked_for(config: pytest.Config) -> str | None:
    """The rule whose scenarios alone are to run, if there is one.

    Raises:
        UsageError: there is no such rule, or none that a scenario could show.
    """
    asked = _option(config, "rule")
    if asked is not None and (rule := load().rule(asked)).shown_by == "never":
        raise UsageError(f"no scenario shows {asked}: {rule.why_never}")
    return asked


def give_up(config: pytest.Config, error: ConformanceError) -> NoReturn:
    """End the session with one sentence."""
    _say(config, error)
    pytest.exit(str(error), returncode=2 if isinstance(error, UsageError) else 3)


def _say(config: pytest.Config, error: ConformanceError) -> None:
    """Say a sentence to the user, past what pytest captures and has begun to write.

    What belongs to it is indented, for `busproof run` to tell it from what does not.
    """
    capture = config.pluginmanager.getplugin("capturemanager")
    said = "\n" + f"busproof: {error}".replace("\n", "\n  ")
    released = nullcontext() if capture is None else capture.global_and_fixture_disabled()
    with released, suppress(OSError, ValueError):
        print(said, file=sys.stderr, flush=True)  # noqa: T201 - nobody else would tell


def verdict_on(error: BaseException | None) -> tuple[ScenarioVerdict, str]:
    """How a scenario ended that raised this, or nothing."""
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
