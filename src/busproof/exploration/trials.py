"""Replays of a failure, to check whether its commands break the same rule before any other."""

from collections.abc import Callable, Sequence
from typing import Final

from busproof import vocabulary as v
from busproof.errors import AdapterError
from busproof.exploration.machine import Sequence as Run
from busproof.exploration.machine import Watch
from busproof.exploration.replay import replay
from busproof.history.records import Ended, Record, ScenarioVerdict
from busproof.history.replay import RecordedCommand
from busproof.judging.applicability import Terms
from busproof.judging.scenario_result import to_blame
from busproof.judging.simplifying import Spent
from busproof.judging.violation import Violation

__all__ = ["Trial", "Trials", "blame_rule", "end_with"]

LONGEST_DETAIL: Final = 65536
"""Maximum length of a cause and its detail, in characters; adapters' errors may be longer."""


def blame_rule(violation: Violation, terms: Terms, about: Sequence[v.RuleId] = ()) -> v.RuleId:
    """Return the rule that a violation is charged to, as in the verdicts on a scenario.

    Args:
        violation: the violation.
        terms: the rules in force.
        about: the rules that the scenario is about, which are charged first.
    """
    return to_blame(violation.rules, about, terms)


def end_with(verdict: ScenarioVerdict, detail: str) -> Ended:
    """Return an outcome whose cause is the first line of its detail."""
    excerpt = detail[:LONGEST_DETAIL]
    return Ended(verdict=verdict, cause=(excerpt.splitlines() or [""])[0], detail=excerpt)


class Trial(Watch):
    """Replays that test whether commands break a certain rule.

    Args:
        adapter: the implementation.
        terms: the rules in force, and the oracle.
        rule: the rule in question.
        write: function that receives the events; by default they are not kept.

    Attributes:
        ended: the outcome of the latest replay.
        steps: how many steps of the model it took to judge the latest replay.
    """

    def __init__(
        self,
        adapter: v.Adapter,
        terms: Terms,
        rule: v.RuleId,
        write: Callable[[Record], None] | None = None,
    ) -> None:
        super().__init__(adapter, terms)
        self._rule = rule
        self._keep = write
        self._broken = False
        self.ended = Ended(verdict=ScenarioVerdict.PASSED)
        self.steps = 0

    def breaks(self, commands: Sequence[RecordedCommand]) -> bool:
        """Return whether these commands break the rule when replayed once on an empty namespace."""
        self._broken, self.ended = False, Ended(verdict=ScenarioVerdict.PASSED)
        try:
            run = self.opened()
            replay(run, commands)
            self.steps = run.bus.steps
        except AdapterError as error:
            self.ended = end_with(ScenarioVerdict.ERRORED, str(error))
        return self._broken

    def record(self, event: v.Event) -> None:
        """Write an event, if events are kept."""
        if self._keep is not None:
            self._keep(event)

    def violated(self, sequence: Run, violation: Violation) -> None:
        """Record whether the broken rule is the one in question."""
        # A scenario about this rule has broken it, maybe together with rules that come first.
        self._broken = blame_rule(violation, self.terms, (self._rule,)) == self._rule
        complaint = sequence.bus.complaint(sequence.events[-1], violation)
        self.ended = end_with(ScenarioVerdict.FAILED, str(complaint))

    def broke(self, sequence: Run, error: Exception) -> None:  # noqa: ARG002 - as `Watch.broke`
        """Record the breakdown of the adapter as an error, which is not a violation."""
        self.ended = end_with(ScenarioVerdict.ERRORED, str(error))


class Trials:
    """Replays within limits of their number and of their commands, because each takes a while.

    A proof that something should have come by now takes many steps of the model for one command;
    each of them counts as a command.

    Args:
        trial: the trial that runs the replays.
        commands: maximum number of commands in all replays together.
        replays: maximum number of replays; `None` if only the commands are limited.
    """

    def __init__(self, trial: Trial, *, commands: int, replays: int | None = None) -> None:
        self._trial = trial
        self._commands = commands
        self._replays = replays

    def allow(self, commands: Sequence[RecordedCommand]) -> bool:
        """Return whether the limits allow one more replay of these commands."""
        return self._replays != 0 and len(commands) <= self._commands

    def fails(self, commands: Sequence[RecordedCommand]) -> bool:
        """Return whether these commands break the rule.

        Raises:
            Spent: a limit is reached.
        """
        self._commands -= len(commands)
        if self._commands < 0 or self._replays == 0:
            raise Spent
        if self._replays is not None:
            self._replays -= 1
        has_broken = self._trial.breaks(commands)
        self._commands -= max(0, self._trial.steps - len(commands))
        return has_broken
