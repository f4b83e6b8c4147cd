"""Asking found commands again: whether they break the same rule, and no other before it."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from busproof.adapters.base import Adapter
from busproof.errors import AdapterError
from busproof.exploration.machine import Sequence as Run
from busproof.exploration.machine import Watch
from busproof.exploration.replay import replay
from busproof.history.records import Ended, Record, ScenarioVerdict
from busproof.history.replay import Asked
from busproof.judging.applicability import Terms
from busproof.judging.judge import Violation
from busproof.judging.scenario_result import to_blame
from busproof.judging.shrinking import Spent
from busproof.vocabulary.outcomes import Event
from busproof.vocabulary.values import RuleId

__all__ = ["Trial", "Trials", "blamed", "ended_with"]

LONGEST_DETAIL: Final = 65536
"""Of how a sequence ended, in characters; an adapter may raise anything."""


def blamed(violation: Violation, terms: Terms) -> RuleId:
    """The rule that a violation is charged to, as verdicts do."""
    return to_blame(violation.rules, (), terms)


def ended_with(verdict: ScenarioVerdict, detail: str) -> Ended:
    """An ending whose cause is the first line of its detail."""
    told = detail[:LONGEST_DETAIL]
    return Ended(verdict=verdict, cause=(told.splitlines() or [""])[0], detail=told)


class Trial(Watch):
    """Replays that are to break one rule.

    Args:
        adapter: the implementation.
        terms: what it is held to, and which oracle judges.
        rule: the rule in question.
        write: where events go; by default nowhere.

    Attributes:
        ended: how the latest replay ended.
    """

    def __init__(
        self,
        adapter: Adapter,
        terms: Terms,
        rule: RuleId,
        write: Callable[[Record], None] | None = None,
    ) -> None:
        super().__init__(adapter, terms)
        self._rule = rule
        self._keep = write
        self._broken = False
        self.ended = Ended(verdict=ScenarioVerdict.PASSED)

    def breaks(self, commands: Sequence[Asked]) -> bool:
        """Return whether these commands break the rule, asked once on an empty namespace."""
        self._broken, self.ended = False, Ended(verdict=ScenarioVerdict.PASSED)
        try:
            replay(self.opened(), commands)
        except AdapterError as error:
            self.ended = ended_with(ScenarioVerdict.ERRORED, str(error))
        return self._broken

    def record(self, event: Event) -> None:
        """Write an event, if it is to be kept."""
        if self._keep is not None:
            self._keep(event)

    def violated(self, sequence: Run, violation: Violation) -> None:
        """Note whether it is the rule in question."""
        self._broken = blamed(violation, self.terms) == self._rule
        complaint = sequence.bus.complaint(sequence.events[-1], violation)
        self.ended = ended_with(ScenarioVerdict.FAILED, str(complaint))

    def broke(self, sequence: Run, error: Exception) -> None:  # noqa: ARG002
        """A breakdown is no violation."""
        self.ended = ended_with(ScenarioVerdict.ERRORED, str(error))


class Trials:
    """Replays within bounds, where each may be dear.

    Args:
        trial: what is replayed.
        most: how many replays there may be.
        seconds: how long they may take together.
    """

    def __init__(self, trial: Trial, *, most: int, seconds: float) -> None:
        self._trial = trial
        self._left = most
        self._until = time.monotonic() + seconds

    def fails(self, commands: Sequence[Asked]) -> bool:
        """Return whether these commands break the rule.

        Raises:
            Spent: no more may be tried.
        """
        if self._left == 0 or time.monotonic() > self._until:
            raise Spent
        self._left -= 1
        return self._trial.breaks(commands)
