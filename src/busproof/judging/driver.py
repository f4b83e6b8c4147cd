"""Driver of a bus: it sends one command after another, records the answers and judges them."""

import time
from collections.abc import Callable, Sequence, Set

import attrs

from busproof import vocabulary as v
from busproof.errors import AdapterError, HistoryError
from busproof.history.codec import read_outcome, unstructure
from busproof.history.records import Oracle
from busproof.history.render.events import event_words
from busproof.judging.judge import Judge, observability_for
from busproof.judging.scenario_outcome import (
    NotConforming,
    blaming_the_adapter,
)
from busproof.judging.violation import Violation, compare_answers

__all__ = ["Driver", "Recording"]


def _ignore(judge: Judge) -> None:
    """Take a judge whose result nobody reads."""


@attrs.frozen(kw_only=True)
class Recording:
    """Recorder of events, and the sentences of the rules for messages to users.

    Attributes:
        record: takes each event, before it is judged.
        sentence: returns the sentence of a rule.
        judges: takes the judge of a new namespace, whose result may be read at the end.
    """

    record: Callable[[v.Event], None]
    sentence: Callable[[v.RuleId], str]
    judges: Callable[[Judge], None] = _ignore


class Driver:
    """Driver for one scenario in a new namespace of a bus.

    Args:
        adapter: the adapter of the bus, started with `profile`.
        profile: the terms that the bus is judged by.
        oracle: the oracle that judges while the scenario runs.
        recording: where to record events, and the sentences of rules.
    """

    def __init__(
        self, adapter: v.Adapter, profile: v.Profile, oracle: Oracle, recording: Recording
    ) -> None:
        declaration = adapter.declaration
        self._adapter = adapter
        # Adapters of busproof answer only with what a history can hold: the model's own outcomes,
        # or what was decoded from the wire.
        self._is_ours = type(adapter).__module__.startswith("busproof.adapters.")
        self._judge = Judge(profile, observability_for(declaration.observability, oracle))
        recording.judges(self._judge)
        self._recording = recording
        self._events: list[v.Event] = []
        self._virtual_now = 0
        self._started = time.monotonic()
        self.profile = profile
        self.clock = declaration.clock
        self.capabilities = declaration.capabilities
        self.partition_of: dict[str, int] = {}

    @property
    def steps(self) -> int:
        """How many steps of the model the judge took so far."""
        return self._judge.steps

    def ask(self, command: v.Command, connection: str) -> tuple[v.Event, Violation | None]:
        """Send a command; return the recorded event, and its violation if there is one.

        Raises:
            AdapterError: the adapter raised an error, or its answer cannot be recorded.
        """
        called = self._now()
        observed = self._observe(command, connection)
        if isinstance(command, v.AdvanceClock) and isinstance(observed.outcome, v.Done):
            self._virtual_now += command.duration
        lost = isinstance(observed.outcome, v.Indeterminate)
        event = v.Event(
            client=connection,
            connection=connection,
            called=called,
            returned=None if lost else self._now(),
            command=command,
            outcome=observed.outcome,
            witness=observed.witness,
        )
        self._recording.record(event)
        self._events.append(event)
        self._note_partitions(event)
        return event, self._violation(event)

    def _observe(self, command: v.Command, connection: str) -> v.Observed:
        with blaming_the_adapter():
            observed: object = self._adapter.do(command, connection)
        if not (isinstance(observed, v.Observed) and isinstance(observed.outcome, v.Outcome)):
            raise AdapterError(
                f"the adapter answered {type(command).__name__} with {observed!r}, "
                "and must return an Observed with an Outcome"
            )
        if self._is_ours:
            return observed
        try:
            # The answer must be readable from the file, because `busproof check` judges it again.
            read_outcome(unstructure(observed.outcome, union=v.Outcome))
        except HistoryError as error:
            raise AdapterError(
                f"the adapter answered {type(command).__name__} with what no history can hold: "
                f"{error}"
            ) from None
        return observed

    def _now(self) -> int:
        if self.clock is v.Clock.VIRTUAL:
            return self._virtual_now
        return int((time.monotonic() - self._started) * v.MICROSECONDS)

    def _violation(self, event: v.Event) -> Violation | None:
        try:
            return self._judge.saw(event)
        except AssertionError as error:
            # An assertion that fails in the judge is a defect of busproof, and not of the bus.
            raise RuntimeError(f"busproof cannot judge {event_words(event)}: {error}") from error

    def complaint(self, event: v.Event, violation: Violation) -> NotConforming:
        """Return the error to raise for a violation, with the rule and the allowed answers."""
        rule = violation.rules[0]
        _, allowed = compare_answers(violation, event)
        instead = "; ".join(allowed) or "no possible state allows an answer"
        return NotConforming(
            f"{rule}: {self._recording.sentence(rule)}\n"
            f"  asked and came: {event_words(event)}\n"
            f"  allowed: {instead}"
        )

    @property
    def overdue(self) -> Violation | None:
        """The violation if something was overdue after some answer so far."""
        return self._judge.overdue

    @property
    def events(self) -> tuple[v.Event, ...]:
        """The events so far."""
        return tuple(self._events)

    @property
    def evidence(self) -> Set[v.RuleId]:
        """The rules that have decided some event."""
        return self._judge.evidence.keys()

    @property
    def decided(self) -> Sequence[tuple[v.RuleId, ...]]:
        """For each event that was allowed, the rules that decided it."""
        return self._judge.decided

    @property
    def exhausted(self) -> str:
        """The reason why judging stopped without a verdict; empty if it did not."""
        return self._judge.exhausted

    def _note_partitions(self, event: v.Event) -> None:
        command, outcome = event.command, event.outcome
        if isinstance(command, v.Send) and event.witness is not None:
            self.partition_of[command.message.body] = event.witness.partition
        if isinstance(command, v.SendBatch) and event.witness is not None:
            for message in command.messages:
                self.partition_of[message.body] = event.witness.partition
        named = self.profile.numbers_name_partitions
        if v.Capability.WITNESS not in self.capabilities or not named:
            return
        for view in _views(outcome):
            if view.sequence_number is not None:
                self.partition_of[view.body] = view.sequence_number >> v.SEQUENCE_BITS


def _views(outcome: v.Outcome) -> tuple[v.MessageView, ...]:
    if isinstance(outcome, v.Received):
        return (outcome.message,)
    return outcome.messages if isinstance(outcome, v.Peeked | v.ReceivedSeveral) else ()
