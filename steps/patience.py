"""Queries of descriptions, which are repeated because an answer may be out of date (GET-LAG)."""

from collections.abc import Callable
from typing import TypeVar

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable, NotConforming
from busproof.steps.bus import DELAYS, BusUnderTest

__all__ = ["until", "until_topic"]

Description = TypeVar("Description", v.QueueDescription, v.TopicDescription)


def until(
    bus: BusUnderTest, queue: str, field: str, holds: Callable[[v.QueueDescription], bool]
) -> v.QueueDescription:
    """Return the description of a queue once `holds` is true of it, or after the last attempt.

    Raises:
        NotConforming: the answer is not a description.
        NotApplicable: the field is not reported, or an outage prevents any answer (MGMT-23).
    """
    return _await_description(bus, lambda: _told(bus, queue, field), holds)


def until_topic(
    bus: BusUnderTest, topic: str, field: str, holds: Callable[[v.TopicDescription], bool]
) -> v.TopicDescription:
    """Return the description of a topic once `holds` is true of it; otherwise as `until`."""
    return _await_description(bus, lambda: _told_of_topic(bus, topic, field), holds)


def _await_description(
    bus: BusUnderTest,
    describe: Callable[[], Description | None],
    holds: Callable[[Description], bool],
) -> Description:
    description = None
    for _ in bus.tries("GET-LAG", *DELAYS):
        description = describe()
        if description is not None and holds(description):
            break
    if description is None:
        raise NotApplicable("description: none is given while a partition is down")
    return description


def _told(bus: BusUnderTest, queue: str, field: str) -> v.QueueDescription | None:
    """Return the description of a queue; `None` if the bus refuses, which the judge allows."""
    outcome = bus.do(v.GetQueue(queue=queue))
    if isinstance(outcome, v.Refused):
        return None
    if not isinstance(outcome, v.Described):
        raise NotConforming(f"the scenario expects Described and got {type(outcome).__name__}")
    _insist(outcome.description, field)
    return outcome.description


def _told_of_topic(bus: BusUnderTest, topic: str, field: str) -> v.TopicDescription | None:
    """Return the description of a topic; `None` if the bus refuses, which the judge allows."""
    outcome = bus.do(v.GetTopic(topic=topic))
    if isinstance(outcome, v.Refused):
        return None
    if not isinstance(outcome, v.TopicDescribed):
        raise NotConforming(f"the scenario expects TopicDescribed and got {type(outcome).__name__}")
    _insist(outcome.description, field)
    return outcome.description


def _insist(description: v.QueueDescription | v.TopicDescription, field: str) -> None:
    if getattr(description, field) is None:
        raise NotApplicable(f"description: {field} is missing")
