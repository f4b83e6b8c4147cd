"""Asking again where an answer may be of a while ago."""

from collections.abc import Callable
from typing import Final

from busproof.model.commands import GetQueue
from busproof.model.outcomes import Described, QueueDescription, Refused
from busproof.model.values import MICROSECONDS, Clock
from busproof.steps.ending import NotApplicable, NotConforming
from busproof.steps.harness import Bus

__all__ = ["described", "until"]

TRIES: Final = 40
PAUSES: Final = {Clock.VIRTUAL: 1 * MICROSECONDS, Clock.REAL: MICROSECONDS // 4}
"""How long to wait between two tries, in microseconds: ten seconds in all on a real clock."""

Holds = Callable[[QueueDescription], bool]


def described(bus: Bus, queue: str, field: str) -> QueueDescription:
    """What is told of a queue.

    Raises:
        NotConforming: nothing is.
        NotApplicable: this field is not told, or nothing is told in an outage (MGMT-23).
    """
    return until(bus, queue, field, lambda _: True)


def until(bus: Bus, queue: str, field: str, holds: Holds) -> QueueDescription:
    """What is told of a queue once it is as it should be, or after the last try.

    Raises:
        NotConforming: nothing is told.
        NotApplicable: this field is not told, or nothing is told in an outage (MGMT-23).
    """
    told = _told(bus, queue, field)
    for _ in range(TRIES - 1):
        if told is not None and holds(told):
            break
        bus.wait(PAUSES[bus.clock])
        told = _told(bus, queue, field)
    if told is None:
        raise NotApplicable("description: none is given while a partition is down")
    return told


def _told(bus: Bus, queue: str, field: str) -> QueueDescription | None:
    """What is told of a queue; `None` where the judge permits that nothing is."""
    outcome = bus.do(GetQueue(queue=queue))
    if isinstance(outcome, Refused):
        return None
    if not isinstance(outcome, Described):
        raise NotConforming(f"the scenario expects Described and got {type(outcome).__name__}")
    if getattr(outcome.description, field) is None:
        raise NotApplicable(f"description: {field} is not told")
    return outcome.description
