"""The adapter and the terms of a run, and its scenarios one after another."""

import linecache
import re
from collections.abc import Iterator
from itertools import islice

import attrs

from busproof import __version__
from busproof import vocabulary as v
from busproof.adapters.finding import find, resolve_name
from busproof.errors import AdapterError
from busproof.history.files import HistoryWriter, RecordTooLong
from busproof.history.lines import LIMIT, excerpt
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
from busproof.judging.judge import Judge
from busproof.judging.scenario_outcome import (
    Inconclusive,
    NotApplicable,
    Undeclared,
    blaming_the_adapter,
)
from busproof.spec import Catalogue, load
from busproof.steps.bus import BusUnderTest
from busproof.steps.last_looks import MOST_FAILED, LastLooks
from busproof.steps.options import (
    Given,
    commands_of,
    option,
    oracle_of,
    profile_of,
    seed_of,
    size_of,
    timeout_of,
)
from busproof.steps.reporting import bounded

__all__ = ["Stage", "explained", "verdict_on", "write_to"]


def _declaration(adapter: v.Adapter, name: str) -> v.Declaration:
    """Validate and return the declaration of an adapter, which may be third-party code."""
    with blaming_the_adapter():
        declared = adapter.declaration
    wrong = f"{_kind(name)} declares {declared!r}, and must declare "
    if not isinstance(declared, v.Declaration):
        raise AdapterError(f"{wrong}a busproof.adapters.base.Declaration")
    if not isinstance(declared.implementation, v.Implementation):
        raise AdapterError(f"{wrong}an Implementation of busproof.adapters.base")
    if not all(isinstance(capability, v.Capability) for capability in declared.capabilities):
        raise AdapterError(f"{wrong}capabilities of busproof.adapters.base.Capability")
    if not isinstance(declared.clock, v.Clock):
        raise AdapterError(f"{wrong}a clock of busproof.vocabulary.values.Clock")
    return declared


class Stage:
    """The adapter, the terms of a run, and the scenario that is running.

    Args:
        given: the options of the run.

    Raises:
        UsageError: the value of an option is invalid.
        AdapterError: the adapter's declaration is invalid.
    """

    def __init__(self, given: Given) -> None:
        self.catalogue: Catalogue = load()
        self.commands = commands_of(given)
        self.profile: v.Profile = profile_of(given, self.catalogue, self.commands)
        self.size = size_of(given)
        self.explores = self.size is not None and self.size.explores
        self.seed = seed_of(given) if self.explores else None
        oracle = oracle_of(option(given, "oracle"))
        self._given = given
        self.name = resolve_name(option(given, "adapter", "model") or "")
        self.adapter: v.Adapter = find(self.name, timeout=timeout_of(given))
        self.declaration = _declaration(self.adapter, self.name)
        capabilities = [capability.value for capability in self.declaration.capabilities]
        self.oracle = oracle or auto_oracle(capabilities)
        self.terms = Terms.of(self.catalogue, self.header(None), self.profile, self.oracle)
        self.steps: list[StepResult] = []
        self.scenario, self.shows = "", frozenset[v.RuleId]()
        self.current: BusUnderTest | None = None
        self._open = False
        self._most_failed = MOST_FAILED
        self._looks = self._fresh_looks()

    def header(self, planned: int | None) -> Header:
        """Return the header of the history, with the number of its scenarios if it is known."""
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
            return tuple(dict.fromkeys(self._given.getoption("--bus-rule")))
        known = {rule.id for rule in self.catalogue.rules if rule.shown_by != "never"}
        return tuple(known & {self.commands.rule})

    def write(self, record: Record) -> None:
        """Record something; subclasses write it to a history."""

    def judges(self, judge: Judge) -> None:
        """Take the judge of the scenario that begins; subclasses may read its result."""

    def bus(
        self, scenario: str, rules: tuple[v.RuleId, ...], *, any_reading: bool = False
    ) -> Iterator[BusUnderTest]:
        """Yield a bus with an empty namespace for one scenario, if its rules apply.

        Args:
            scenario: the name of the scenario.
            rules: the rules that it gives evidence about.
            any_reading: whether it applies even under readings that exclude one of its rules.

        Raises:
            NotApplicable: one of its rules does not apply; nothing was sent.
        """
        self.begin_scenario(scenario, rules)
        if cause := self.terms.exclude(rules, any_reading=any_reading):
            raise NotApplicable(cause)
        about = map(self.catalogue.rule, rules)
        self.shows = frozenset(rule.id for rule in about if not self.terms.inapplicable(rule))
        with blaming_the_adapter():
            self.adapter.start(self.profile)
        recording = Recording(record=self.write, sentence=self._sentence, judges=self.judges)
        self.current = BusUnderTest(self.adapter, self.profile, self.oracle, recording)
        yield self.current

    def replay(self) -> None:
        """Replay the commands of the given file, recording the answers.

        Raises:
            NotConforming: a rule was violated.
            AdapterError: the adapter failed.
        """
        if self.commands is None:
            raise AssertionError("the replay is selected only where it was asked for")
        # Import it here, because Hypothesis needs a tenth of a second, and scenarios do not use it.
        from busproof.exploration.replay import Replay, replay

        about = (self.commands.rule,) if self.commands.rule else ()
        self.begin_scenario("Replay", about)
        watch = Replay(self.adapter, self.terms, self.write)
        watch.judges = self.judges
        replay(watch.opened(), self.commands.commands)

    def begin_scenario(self, name: str, rules: tuple[v.RuleId, ...] = ()) -> None:
        """Record the start of a scenario."""
        self.steps, self.current = [], None
        self.write(
            Started(scenario=name, rules=rules, feature=REPEATED if self.is_repeated(name) else "")
        )
        self.scenario, self.shows, self._open = name, frozenset(), True

    def is_repeated(self, scenario: str) -> bool:  # noqa: ARG002 - for subclasses
        """Return whether a scenario has ended before."""
        return False

    def show_nothing(self) -> None:
        """Do not repeat this scenario for lack of evidence; it only looks for a violation."""
        self.shows = frozenset()

    def look_at_everything(self) -> None:
        """Take a last look at what the scenario has left, with the errors of `LastLooks.look`."""
        if self.current is not None:
            self._looks.look(self.current, self.steps)

    def _fresh_looks(self) -> LastLooks:
        return LastLooks(self.adapter, explores=self.explores, most=self._most_failed)

    def _sentence(self, rule: v.RuleId) -> str:
        return self.catalogue.rule(rule).statement

    def scenario_ended(self, verdict: ScenarioVerdict, detail: str) -> None:
        """Record the outcome of a scenario, once."""
        if self._open:
            self._open = False
            detail = bounded(detail)
            first = detail.splitlines()[0] if detail else ""
            self.write(Ended(verdict=verdict, cause=first, detail=detail, steps=tuple(self.steps)))

    def stop(self) -> None:
        """Stop the adapter.

        Raises:
            AdapterError: it cannot be stopped.
        """
        with blaming_the_adapter():
            self.adapter.stop()


def _kind(name: str) -> str:
    """Return an adapter's name without details of a machine, a user or a key."""
    if name.startswith("exec:"):
        return "exec"
    return name.partition("://")[0] if "://" in name else name


def write_to(writer: HistoryWriter, record: Record) -> None:
    """Write a record; as over the wire, an answer that does not fit is an error of the adapter.

    Raises:
        AdapterError: the adapter's answer is too large for a history.
        HistoryError: the history cannot be written.
    """
    try:
        writer.write(record)
    except RecordTooLong:
        if not isinstance(record, v.Event):
            raise
        raise AdapterError(
            f"the adapter answered {type(record.command).__name__} with so much that it does "
            f"not fit on a line of the history, which holds {LIMIT} bytes; it is not recorded"
        ) from None


def explained(error: BaseException) -> str:
    """Return the source of an assert that failed without a message, and the values of its names."""
    trace = error.__traceback__
    if not isinstance(error, AssertionError) or trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    first, last, *_ = next(islice(code.co_positions(), trace.tb_lasti // 2, None))
    lines = linecache.getlines(code.co_filename)[(first or 1) - 1 : last or first]
    source = " ".join(line.strip() for line in lines)
    values = (
        f"{name} is {excerpt(value)}"
        for name, value in trace.tb_frame.f_locals.items()
        if re.search(rf"\b{name}\b", source)
    )
    return "\n".join([source or "an assert failed", *values])


def verdict_on(error: BaseException | None) -> tuple[ScenarioVerdict, str]:
    """Return the verdict on a scenario and its detail, from its exception if it raised one."""
    if error is None:
        return ScenarioVerdict.PASSED, ""
    detail = str(error) or explained(error)
    if isinstance(error, NotApplicable):
        return ScenarioVerdict.NOT_APPLICABLE, detail
    if isinstance(error, Inconclusive):
        return ScenarioVerdict.INCONCLUSIVE, detail
    if isinstance(error, AssertionError):
        return ScenarioVerdict.FAILED, detail
    if isinstance(error, AdapterError | Undeclared):
        return ScenarioVerdict.ERRORED, detail
    return ScenarioVerdict.ERRORED, f"{type(error).__name__}: {detail}"
