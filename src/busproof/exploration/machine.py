"""The machine that explores: any command, in any order, on any adapter, judged as it runs.

`machine_for(adapter)` returns a Hypothesis state machine; `accept` is its only assertion.
"""

import sys
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

import attrs
import hypothesis
from hypothesis import stateful
from hypothesis import strategies as st

from busproof import vocabulary as v
from busproof.errors import AdapterError
from busproof.exploration.prologues.table import openings, play_prologue, themes
from busproof.exploration.state import (
    GENERAL,
    KEYS,
    PALETTE,
    Receipt,
    Scope,
    Shape,
    Theme,
    World,
)
from busproof.exploration.strategies.filters import MARKS, filters
from busproof.exploration.strategies.row import Generator
from busproof.exploration.strategies.table import generators
from busproof.history.render.events import event_words
from busproof.judging.applicability import Terms, auto_oracle
from busproof.judging.coverage_goals import met
from busproof.judging.driver import Driver, Recording
from busproof.judging.judge import Judge
from busproof.judging.last_look import look_at_everything
from busproof.judging.scenario_outcome import Undeclared, blaming_the_adapter
from busproof.judging.violation import Violation
from busproof.spec import load

__all__ = [
    "LOCK",
    "Explored",
    "Sequence",
    "Watch",
    "machine_for",
    "machine_of",
    "scope_of",
    "terms_of",
]

LOCK = 30 * v.MICROSECONDS
"""The queues' lock duration on a virtual clock."""

CONNECTIONS = ("c1", "c1", "c1", "c2")

FILTERS = 3
"""Number of subscriptions in a sequence about filter conditions."""


class Watch:
    """An observer of the machine, which starts sequences and reacts to their outcomes.

    Args:
        adapter: the implementation.
        terms: the rules in force, and the oracle.

    Attributes:
        judges: takes the judge of each sequence, if somebody reads its result.
        is_measured: whether Hypothesis is told which rules and goals each sequence has reached.
    """

    judges: Callable[[Judge], None] | None = None
    is_measured = True

    def __init__(self, adapter: v.Adapter, terms: Terms) -> None:
        self.adapter = adapter
        self.terms = terms

    def opened(self) -> "Sequence":
        """Start a sequence on an empty namespace."""
        with blaming_the_adapter():
            self.adapter.start(self.terms.profile)
        return Sequence(self.bus(self.record), self)

    def bus(self, record: Callable[[v.Event], None]) -> Driver:
        """Return a driver for the adapter, which has been started."""
        catalogue = self.terms.catalogue
        recording = Recording(record=record, sentence=lambda rule: catalogue.rule(rule).statement)
        if self.judges is not None:
            recording = attrs.evolve(recording, judges=self.judges)
        return Driver(self.adapter, self.terms.profile, self.terms.oracle, recording)

    def record(self, event: v.Event) -> None:
        """Take an event; subclasses may record it."""

    def opening(self, ways: tuple[str, ...]) -> str | None:  # noqa: ARG002 - for subclasses
        """Return the prologue for this sequence; `None` to choose one at random."""
        return None

    def waits(self, duration: int) -> None:
        """Let a duration of real time pass, in microseconds."""
        time.sleep(duration / v.MICROSECONDS)

    def violated(self, sequence: "Sequence", violation: Violation) -> None:
        """Report that no rule allows the last answer of the sequence.

        Raises:
            NotConforming: always.
        """
        raise sequence.bus.complaint(sequence.events[-1], violation)

    def broke(self, sequence: "Sequence", error: Exception) -> None:  # noqa: ARG002 - for subclasses
        """Report that the adapter broke, or does not support a capability that it declared.

        Raises:
            Exception: the error, always.
        """
        raise error

    def closed(self, sequence: "Sequence") -> None:
        """Report the end of the sequence."""


class Sequence:
    """A sequence of commands on a namespace that is empty at its start.

    Attributes:
        events: the events so far.
        over: whether the sequence sends no more commands.
    """

    def __init__(self, bus: Driver, watch: Watch) -> None:
        self.bus = bus
        self.watch = watch
        self.events: list[v.Event] = []
        self.over = False

    def ask(self, command: v.Command, connection: str) -> v.Event | None:
        """Send a command; return its event, or `None` if the sequence is over."""
        if self.over:
            return None
        if isinstance(command, v.AdvanceClock) and self.bus.clock is v.Clock.REAL:
            self.watch.waits(command.duration)
            return None
        try:
            event, violation = self.bus.ask(command, connection)
        except (AdapterError, RuntimeError) as error:
            self.over = True
            self.watch.broke(self, error)
            return None
        self.events.append(event)
        if violation is None and not self.bus.exhausted:
            violation = self.bus.overdue
        if violation is not None:
            self.over = True
            self.watch.violated(self, violation)
        elif self.bus.exhausted:
            self.over = True
        elif isinstance(event.outcome, v.Unsupported):
            self.over = True
            self.watch.broke(self, Undeclared(f"declared, yet unsupported: {event_words(event)}"))
        return event

    def look_at_everything(self) -> None:
        """Take a last look at everything left, unless that would need waiting on a real clock."""
        if self.events and self.bus.clock is v.Clock.VIRTUAL:
            look_at_everything(tuple(self.events), self.bus.capabilities, self.ask)


class Explored(stateful.RuleBasedStateMachine):
    """The Hypothesis state machine, with a rule for each row of the table of generators."""

    watch: ClassVar[Watch]
    scope: ClassVar[Scope]

    def __init__(self) -> None:
        super().__init__()
        self.sequence = self.watch.opened()
        self.world = World(scope=self.scope)

    def issue(self, row: Generator, connection: str, times: int, drawn: dict[str, Any]) -> Any:
        """Make and send commands of a row, up to this many times or until the row ends."""
        receipt = Receipt(drawn["queue"].queue) if "queue" in drawn else None
        made: v.Command | None = None
        self.world.connection = connection
        for _ in range(times):
            made = row.make(self.world, **drawn)
            event = None
            # The entity of a row may be one that the bus cannot have, and no prologue created.
            if made is not None and self.world.scope.allows(made):
                event = self.sequence.ask(made, connection)
            if event is None:
                continue
            self.world.learn(event, receipt)
            if row.until(event):
                break
        return row.left_behind(made, receipt)

    def begin(self, row: Generator, opening: str, drawn: dict[str, Any]) -> Any:
        """Create the first queue and run the prologue; return the entities for later commands."""
        queue = self.issue(row, CONNECTIONS[0], 1, drawn)
        for command in play_prologue(opening, self.world, queue):
            event = self.sequence.ask(command, CONNECTIONS[0])
            if event is not None:
                self.world.learn(event, None)
        return stateful.multiple(*self.world.at_hand())

    def teardown(self) -> None:
        """Take a last look unless interrupted, and report the end of the sequence."""
        if sys.exception() is None:
            self.sequence.look_at_everything()
            if self.watch.is_measured:
                self._measure()
        self.watch.closed(self.sequence)

    def _measure(self) -> None:
        """Tell Hypothesis which rules and goals the sequence has reached.

        `pytest --hypothesis-show-statistics` prints them, and Hypothesis looks for sequences that
        reach more rules.
        """
        bus = self.sequence.bus
        for rule in sorted(bus.evidence):
            hypothesis.event(f"rule {rule}")
        for goal in met(self.sequence.events, bus.decided).times:
            hypothesis.event(f"goal: {goal}")
        hypothesis.target(float(len(bus.evidence)), label="rules reached")


def scope_of(adapter: v.Adapter, terms: Terms, lock: int = LOCK) -> Scope:
    """Return the scope of an exploration: the declared capabilities that a rule in force needs.

    A tier without rules about transactions, for example, is explored without transactions.
    """
    declared = adapter.declaration.capabilities
    in_force = [rule for rule in terms.catalogue.rules if not terms.inapplicable(rule)]
    needed = {name for rule in in_force for need in rule.needs for name in need.split("|")}
    about = {capability for capability in declared if capability.value in needed}
    # A regular queue is one without partitions, so no rule needs this capability.
    regular = set() if terms.profile.is_partitioned else declared & {v.Capability.REGULAR_QUEUES}
    return Scope(
        capabilities=frozenset(about | regular),
        tier=terms.profile.tier,
        may_partition=terms.profile.may_partition,
        partitions=terms.profile.partitions,
        lock=lock,
        clock=adapter.declaration.clock,
    )


def machine_for(
    adapter: v.Adapter,
    profile: v.Profile | None = None,
    *,
    watch: Watch | None = None,
    lock: int = LOCK,
) -> type[Explored]:
    """Return the machine that explores an adapter; pytest can run its `TestCase`.

    Args:
        adapter: the implementation.
        profile: the profile; by default the default edition on the Standard tier.
        watch: the observer; by default a violation fails the test.
        lock: the queues' lock duration in microseconds; use a short one on a real clock.

    Raises:
        UsageError: the adapter cannot have any queue under this profile.
    """
    terms = terms_of(adapter, profile)
    return machine_of(watch or Watch(adapter, terms), scope_of(adapter, terms, lock))


def terms_of(adapter: v.Adapter, profile: v.Profile | None = None) -> Terms:
    """Return the rules in force for an adapter, and the oracle for its capabilities."""
    catalogue = load()
    capabilities = frozenset(capability.value for capability in adapter.declaration.capabilities)
    return Terms(
        catalogue=catalogue,
        profile=profile or v.profile_for(catalogue),
        capabilities=capabilities,
        oracle=auto_oracle(capabilities),
    )


def machine_of(
    watch: Watch, scope: Scope, about: tuple[Theme, ...] | None = None
) -> type[Explored]:
    """Return the machine for an observer and a scope.

    Args:
        watch: the observer.
        scope: the capabilities and limits to explore within.
        about: themes of the sequences; by default all. Fewer themes make the machine faster,
            because Hypothesis checks each of its rules in each step.
    """
    machine = _machine(scope, themes(scope) if about is None else about)
    return type("Explored", (machine,), {"watch": watch})


@lru_cache(maxsize=32)
def _machine(scope: Scope, about: tuple[Theme, ...]) -> type[Explored]:
    """Return the machine without an observer, cached because Hypothesis compiles each rule."""
    rows = generators(scope)
    body: dict[str, Any] = {"scope": scope, "start": _draw_start(rows, scope, about)}
    for row in rows:
        if row.themes and not set(row.themes) & set(about):
            continue
        for number in range(row.weight):
            name = f"{row.label}_{number}" if number else row.label
            body[name] = _rule(row, name)
    return type("Explored", (Explored,), body)


def _draw_start(rows: tuple[Generator, ...], scope: Scope, about: tuple[Theme, ...]) -> Any:
    """Return the first step, which chooses a theme, keys, shapes of messages and a queue."""
    row = next(row for row in rows if row.kind is v.CreateQueue)
    ways = tuple(dict.fromkeys(openings(scope)))

    def start(
        self: Explored,
        theme: Theme,
        keys: tuple[str, ...],
        palette: list[Shape],
        opening: str,
        filters: list[v.Filter] | None = None,
        marks: int = 0,
        **drawn: Any,
    ) -> Any:
        due = self.watch.opening(ways)
        theme, opening = (theme, opening) if due is None else (Theme.QUEUES, due)
        self.world.theme, self.world.keys, self.world.palette = theme, keys, tuple(palette)
        self.world.filters, self.world.marks = tuple(filters or ()), marks
        return self.begin(row, opening, drawn)

    draws = {
        "theme": st.sampled_from(about),
        "keys": st.sampled_from(KEYS),
        "palette": PALETTE,
        "opening": st.sampled_from(openings(scope)),
        **row.draws,
    }
    if set(about) & {*GENERAL, Theme.CONDITIONS}:
        one = filters(sql=v.Capability.SQL_FILTERS in scope.capabilities)
        draws |= {"filters": st.lists(one, min_size=FILTERS, max_size=FILTERS), "marks": MARKS}
    return stateful.initialize(targets=row.into, **draws)(start)


def _rule(row: Generator, name: str) -> Any:
    def rule(self: Explored, connection: str, times: int = 1, **drawn: Any) -> Any:
        return self.issue(row, connection, times, drawn)

    rule.__name__ = name
    draws = {"connection": st.sampled_from(CONNECTIONS), **row.draws}
    if row.times is not None:
        draws["times"] = row.times
    made: Any = stateful.rule(targets=row.into, **draws)(rule)
    return stateful.precondition(lambda self: row.suits(self.world))(made)
