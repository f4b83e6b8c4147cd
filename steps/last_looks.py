"""Last looks of the scenarios of a run."""

from typing import Final

from busproof.adapters.base import Adapter, Hearing
from busproof.history.records import StepResult
from busproof.judging.scenario_outcome import NotConforming
from busproof.steps.bus import Bus

__all__ = ["LastLooks"]

MOST_FAILED: Final = 3
"""Scenarios that may fail in their last look; further ones would repeat the same."""
STEP: Final = "everything that is left is looked at"


class LastLooks:
    """Last looks, until a few scenarios have failed in theirs.

    Args:
        adapter: the implementation; one that prefetches is slow to answer single requests, and
            gets no last look.
    """

    def __init__(self, adapter: Adapter) -> None:
        self._left = 0 if isinstance(adapter, Hearing) else MOST_FAILED

    def look(self, bus: Bus, steps: list[StepResult]) -> None:
        """Look at everything that a scenario has left behind, if all of its steps passed.

        Args:
            bus: the bus of the scenario.
            steps: the steps so far; a look that fails is added.

        Raises:
            NotConforming: no rule allows an answer.
            AdapterError: the adapter failed.
        """
        if not self._left or any(step.result != "passed" for step in steps):
            return
        steps.append(StepResult(keyword="Then", text=STEP, result="failed"))
        try:
            bus.look_at_everything()
        except NotConforming:
            self._left -= 1
            raise
        steps.pop()
