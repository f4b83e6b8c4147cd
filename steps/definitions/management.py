"""Steps that update, disable and delete queues, topics and subscriptions."""

from collections.abc import Callable
from typing import Final

import pytest
from pytest_bdd import parsers, step, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.setup import basic_has_no_topics
from busproof.steps.sentences import TOPIC, entity_path, name_in, sentence
from busproof.steps.wording import changes, seconds

NOBODY: Final = "none"
"""The name of a queue or topic that does not exist."""
REQUESTS: Final[dict[str, Callable[[str], v.Command]]] = {
    "send to": lambda path: v.Send(queue=path, message=v.Message(body="m")),
    "send a batch to": lambda path: v.SendBatch(queue=path, messages=(v.Message(body="m"),)),
    "schedule a message for": lambda path: v.Schedule(
        queue=path, message=v.Message(body="m"), delay=seconds(5)
    ),
    "receive from": lambda path: v.Receive(queue=path),
    "peek at": lambda path: v.Peek(queue=path),
    "get": lambda path: v.GetQueue(queue=path),
    "update": lambda path: v.UpdateQueue(queue=path, max_delivery_count=3),
    "delete": lambda path: v.DeleteQueue(queue=path),
}
"""Requests to a queue, or to a subscription by its path."""
TOPIC_REQUESTS: Final[dict[str, v.Command]] = {
    "get": v.GetTopic(topic=NOBODY),
    "update": v.UpdateTopic(topic=NOBODY, time_to_live=seconds(60)),
    "delete": v.DeleteTopic(topic=NOBODY),
    "list the subscriptions of": v.ListSubscriptions(topic=NOBODY),
}


@step(sentence("{entity:Entity} {must:Tense} updated to {change}"), target_fixture="outcome")
def updates(
    request: pytest.FixtureRequest, bus: BusUnderTest, entity: str, must: bool, change: str
) -> v.Outcome:
    """Try to change settings; what was updated must have been accepted, and so deliveries alone."""
    changed = changes(change)
    path = entity_path(request, entity)
    if entity == "the topic":
        outcome = bus.do(v.UpdateTopic(topic=path, **changed))
    else:
        outcome = bus.do(v.UpdateQueue(queue=path, **changed))
    if must or [*changed] == ["max_delivery_count"]:
        bus.expect(outcome, v.Done)
    if "max_size" in changed and isinstance(outcome, v.Refused):
        _end_if_partitions_depend_on_size(bus)
    return outcome


def _end_if_partitions_depend_on_size(bus: BusUnderTest) -> None:
    """End a scenario in which a size is not changed, where partitions may depend on it.

    No document says what then becomes of those that the entity has (GB-PARTITIONS).
    """
    if bus.profile.readings.get("GB-PARTITIONS", "fixed") in ("per-gb", "either"):
        raise NotApplicable("reading: an entity may have as many partitions as its size asks for")


@when(sentence("{entity:Entity} is{asked:AskedTo?} {status:Status}"), target_fixture="outcome")
def changes_status(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    entity: str,
    asked: str | None,
    status: v.EntityStatus,
) -> v.Outcome:
    """Disable or enable an entity, which must succeed; if it is only requested, try to."""
    path = entity_path(request, entity)
    if entity == "the topic":
        outcome = bus.do(v.UpdateTopic(topic=path, status=status))
    else:
        outcome = bus.do(v.UpdateQueue(queue=path, status=status))
    if not asked:
        bus.expect(outcome, v.Done)
    return outcome


@step(sentence("{entity:Entity} {must:Tense} deleted"), target_fixture="outcome")
def deletes(
    request: pytest.FixtureRequest, bus: BusUnderTest, entity: str, must: bool
) -> v.Outcome:
    """Try to delete an entity; if it was deleted, that succeeded, with its messages."""
    path = entity_path(request, entity)
    command = v.DeleteTopic(topic=path) if entity == "the topic" else v.DeleteQueue(queue=path)
    outcome = bus.do(command)
    if must:
        bus.expect(outcome, v.Done)
        bus.sent.clear()
    return outcome


@when(
    parsers.re(
        r"a request to (?P<action>.+?) (?P<what>a (?:queue|topic) that does not exist"
        r'|subscription "[^"]+"|the subscription with a name of \d+ characters) is made'
        r"(?: (?P<number>\d+) times)?"
    ),
    target_fixture="outcome",
)
def makes_request(bus: BusUnderTest, action: str, what: str, number: str | None) -> v.Outcome:
    """Try a command on what need not exist, perhaps often; the judge checks each answer."""
    if what == "a topic that does not exist":
        basic_has_no_topics(bus)
        command = TOPIC_REQUESTS[action]
    elif what == "a queue that does not exist":
        command = REQUESTS[action](NOBODY)
    else:
        bus.need(v.Capability.TOPIC_MANAGEMENT)
        command = REQUESTS[action](v.subscription_path(TOPIC, name_in(what)))
    return [bus.do(command) for _ in range(int(number or 1))][-1]
