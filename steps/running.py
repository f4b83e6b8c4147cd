"""One run of the features under pytest: its adapter, its history, and how each scenario ended."""

import sys
from collections.abc import Iterator

import attrs
import pytest

from busproof import __version__
from busproof.adapters.base import Adapter
from busproof.adapters.finding import find
from busproof.errors import AdapterError, HistoryError, UsageError
from busproof.history.files import HistoryWriter
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
from busproof.model.profiles import profile_for
from busproof.model.values import Profile, RuleId
from busproof.spec import Catalogue, load
from busproof.steps.harness import (
    Bus,
    Inconclusive,
    NotApplicable,
    Recording,
    Undeclared,
)

__all__ = ["RUN", "Run", "verdict_on"]

DEFAULT_TIMEOUT = 10.0


def _option(config: pytest.Config, name: str, default: str | None = None) -> str | None:
    value = config.getoption(f"--bus-{name}")
    return default if value is None else str(value)


def _number(config: pytest.Config, name: str, default: float) -> float:
    text = _option(config, name)
    try:
        number = default if text is None else float(text)
    except ValueError:
        number = 0.0
    if number <= 0:
        raise UsageError(f"--bus-{name} is {text!r}; give a number above 0")
    return number


def _readings(texts: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    wrong = [text for text, pair in zip(texts, pairs, strict=True) if not pair[2]]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is no reading; write AMBIGUITY=READING")
    return {name: reading for name, _, reading in pairs}


def _oracle(config: pytest.Config, adapter: Adapter) -> Oracle:
    text = _option(config, "oracle")
    if text is None:
        return auto_oracle([each.value for each in adapter.declaration.capabilities])
    try:
        return Oracle(text)
    except ValueError:
        raise UsageError(f"there is no oracle {text!r}; choose strict or client") from None


class Run:
    """What all scenarios of a run share.

    Raises:
        UsageError: an option names what does not exist.
        AdapterError: the adapter cannot say what it is.
        HistoryError: the history cannot be written.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.catalogue: Catalogue = load()
        self.profile: Profile = profile_for(
            self.catalogue,
            edition=_option(config, "edition"),
            tier=_tier(_option(config, "tier", "standard")),
            readings=_readings(config.getoption("--bus-reading")),
            partitions=int(_number(config, "partitions", 16)),
        )
        self.name = _option(config, "adapter", "model") or "model"
        self.adapter: Adapter = find(self.name, timeout=_number(config, "timeout", DEFAULT_TIMEOUT))
        self.oracle = _oracle(config, self.adapter)
        self.terms = Terms.of(self.catalogue, self._header(None), self.profile, self.oracle)
        path = _option(config, "history")
        self._writer = HistoryWriter(path) if path else None
        self.steps: list[StepResult] = []
        self._open = False

    def begin(self, planned: int) -> None:
        """Write the header, once it is known how many scenarios there will be."""
        self._write(self._header(planned))

    def _header(self, planned: int | None) -> Header:
        declaration = self.adapter.declaration
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
        )

    def _write(self, record: Record) -> None:
        if self._writer is None:
            return
        try:
            self._writer.write(record)
        except HistoryError as error:
            print(f"busproof: {error}", file=sys.stderr)  # noqa: T201 - the run ends here
            pytest.exit(str(error), returncode=3)

    def bus(self, scenario: str, rules: tuple[RuleId, ...]) -> Iterator[Bus]:
        """A bus for one scenario, from empty, if its rules apply."""
        self.steps = []
        self._write(Started(scenario=scenario, rules=rules))
        self._open = True
        for rule in rules:
            if cause := self.terms.inapplicable(self.catalogue.rule(rule)):
                raise NotApplicable(cause)
        self.adapter.start(self.profile)
        recording = Recording(record=self._write, sentence=self._sentence)
        yield Bus(self.adapter, self.profile, self.oracle, recording)

    def _sentence(self, rule: RuleId) -> str:
        return self.catalogue.rule(rule).statement

    def scenario_ended(self, verdict: ScenarioVerdict, detail: str) -> None:
        """Write how a scenario ended, once."""
        if self._open:
            self._open = False
            first = detail.splitlines()[0] if detail else ""
            ended = Ended(verdict=verdict, cause=first, detail=detail, steps=tuple(self.steps))
            self._write(ended)

    def end(self) -> None:
        """Stop the adapter and close the history."""
        try:
            self.adapter.stop()
        except AdapterError as error:
            print(f"busproof: {error}", file=sys.stderr)  # noqa: T201 - nobody else would tell
        if self._writer is not None:
            self._writer.close()


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
