"""Steps that update, disable and delete queues, topics and subscriptions."""

from typing import Final

import pytest
from pytest_bdd import parsers, step, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.setup import basic_has_no_topics
from busproof.steps.sentences import TOPIC, entity_path, sentence
from busproof.steps.wording import changes, seconds

NOBODY: Final = "none"
"""The name of a queue or topic that does not exist."""
MISSING_QUEUE: Final[dict[str, v.Command]] = {
    "sent": v.Send(queue=NOBODY, message=v.Message(body="m")),
    "batched": v.SendBatch(queue=NOBODY, messages=(v.Message(body="m"),)),
    "scheduled": v.Schedule(queue=NOBODY, message=v.Message(body="m"), delay=seconds(5)),
    "received": v.Receive(queue=NOBODY),
    "peeked": v.Peek(queue=NOBODY),
    "got": v.GetQueue(queue=NOBODY),
    "updated": v.UpdateQueue(queue=NOBODY, max_delivery_count=3),
    "deleted": v.DeleteQueue(queue=NOBODY),
}
MISSING_TOPIC: Final[dict[str, v.Command]] = {
    "got": v.GetTopic(topic=NOBODY),
    "updated": v.UpdateTopic(topic=NOBODY, time_to_live=seconds(60)),
    "deleted": v.DeleteTopic(topic=NOBODY),
    "asked for its subscriptions": v.ListSubscriptions(topic=NOBODY),
}


def _asked_of(path: str) -> dict[str, v.Command]:
    """Return the commands that address a subscription by its path, as if it were a queue."""
    return {
        "received from": v.Receive(queue=path),
        "peeked": v.Peek(queue=path),
        "got": v.GetQueue(queue=path),
        "updated": v.UpdateQueue(queue=path, max_delivery_count=3),
        "deleted": v.DeleteQueue(queue=path),
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


@step(parsers.re("one of (?:them|the others) (?:was|is) deleted"))
def deletes_one(bus: BusUnderTest) -> None:
    """Delete one of the queues; this must succeed."""
    bus.expect(bus.do(v.DeleteQueue(queue=next(iter(bus.settings)))), v.Done)


@when(
    parsers.re(
        r"(?:(?P<number>\d+) times )?a (?P<what>queue|topic) that does not exist is (?P<action>.+)"
    ),
    target_fixture="outcome",
)
def asks_the_missing(bus: BusUnderTest, number: str | None, what: str, action: str) -> v.Outcome:
    """Try a command on what does not exist, perhaps often; the judge checks each answer."""
    if what == "topic":
        basic_has_no_topics(bus)
    command = (MISSING_TOPIC if what == "topic" else MISSING_QUEUE)[action]
    return [bus.do(command) for _ in range(int(number or 1))][-1]


@when(
    parsers.re(r'subscription "(?P<name>[^"]+)" gets a request: (?P<action>.+)'),
    target_fixture="outcome",
)
def asks_subscription(bus: BusUnderTest, name: str, action: str) -> v.Outcome:
    """Try a command on a subscription, which may not exist."""
    bus.need(v.Capability.TOPIC_MANAGEMENT)
    return bus.do(_asked_of(v.subscription_path(TOPIC, name))[action])
