"""Last looks of the scenarios of a run."""

from typing import Final

from busproof import vocabulary as v
from busproof.history.records import StepResult
from busproof.judging.last_look import look_at_everything
from busproof.judging.past import is_eventful
from busproof.judging.scenario_outcome import NotConforming
from busproof.steps.bus import BusUnderTest

__all__ = ["MOST_FAILED", "LastLooks", "look_at"]

MOST_FAILED: Final = 3
"""Number of scenarios that may fail in their last look; further ones would repeat the failure."""
STEP: Final = "everything that is left is looked at"


class LastLooks:
    """Last looks, until a few scenarios have failed in theirs.

    Args:
        adapter: the implementation; one that prefetches gets no last look, because it is slow to
            answer single requests.
        explores: whether the run explores; a run of scenarios only sends no other commands, so that
            it is the scenarios that notice a fault.
        most: the number of scenarios that may fail in their last look.
    """

    def __init__(self, adapter: v.Adapter, *, explores: bool, most: int = MOST_FAILED) -> None:
        self._left = most if explores and not isinstance(adapter, v.Hearing) else 0

    def look(self, bus: BusUnderTest, steps: list[StepResult]) -> None:
        """Take a last look after an eventful scenario, if all of its steps have passed.

        Args:
            bus: the bus of the scenario.
            steps: the steps so far; a look that fails is added.

        Raises:
            NotConforming: no rule allows an answer.
            AdapterError: the adapter failed.
        """
        if not self._left or any(step.result != "passed" for step in steps):
            return
        # If nothing was updated, refused or down, a look seldom sees what the steps do not.
        if not any(map(is_eventful, bus.events)):
            return
        steps.append(StepResult(keyword="Then", text=STEP, result="failed"))
        try:
            look_at(bus)
        except NotConforming:
            self._left -= 1
            raise
        steps.pop()


def look_at(bus: BusUnderTest) -> None:
    """Look at everything left in a bus, unless that would need waiting on a real clock.

    Raises:
        NotConforming: no rule allows an answer.
        AdapterError: the adapter failed.
    """

    def ask(command: v.Command, connection: str) -> v.Event | None:
        event, violation = bus.ask(command, connection)
        if violation is not None:
            raise bus.complaint(event, violation)
        return None if bus.exhausted else event

    if bus.events and bus.clock is v.Clock.VIRTUAL and not bus.exhausted:
        look_at_everything(bus.events, bus.capabilities, ask)
