"""Steps for Premium: queues from when the tier still had partitioned ones, and their successors."""

from pytest_bdd import given, parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import QUEUE
from busproof.steps.definitions.topics import TOPIC
from busproof.steps.patience import described, described_topic


@given(
    parsers.re(
        r"an old partitioned queue(?P<sessions> that requires sessions)?"
        r"(?P<detects> with duplicate detection)?"
    ),
    target_fixture="queue",
)
def restore_queue(bus: Bus, sessions: str | None, detects: str | None) -> str:
    """Restore a queue that was created when the tier still permitted it."""
    bus.need(v.Capability.LEGACY_ENTITIES)
    restore = v.RestoreQueue(
        queue=QUEUE, requires_session=sessions is not None, duplicate_detection=detects is not None
    )
    bus.expect(bus.do(restore), v.Done)
    return QUEUE


@when("it is deleted, and a partitioned queue asked for in its place", target_fixture="outcome")
def ask_for_partitioned_instead(bus: Bus, queue: str) -> v.Outcome:
    """Delete the queue, which must succeed, and try to create it again."""
    bus.expect(bus.do(v.DeleteQueue(queue=queue)), v.Done)
    return bus.do(v.CreateQueue(queue=queue))


@when("a queue is requested without the option", target_fixture="outcome")
def ask_without_option(bus: Bus) -> v.Outcome:
    """Try to create a queue without saying whether it is partitioned."""
    return bus.do(v.CreateQueue(queue=QUEUE, partitioned=None))


@then("it is refused, or the queue is described as partitioned")
def is_partitioned(bus: Bus, outcome: v.Outcome) -> None:
    """Check that the queue was refused, or is partitioned."""
    assert isinstance(outcome, v.Done | v.Refused), outcome
    if isinstance(outcome, v.Done):
        assert described(bus, QUEUE, "partitioned").partitioned is True


@then("every partition that took some is one of the namespace")
def is_in_namespace(bus: Bus, queue: str) -> None:
    """Check that each message is in one of the partitions that the namespace has."""
    partitions = bus.located(queue, [message.body for message in bus.sent], None)
    assert {*partitions} <= {*range(bus.profile.partitions)}


@then("it is refused, or the queue is described as regular")
def is_not_partitioned(bus: Bus, outcome: v.Outcome) -> None:
    """Check that the queue was refused, or is not partitioned."""
    assert isinstance(outcome, v.Done | v.Refused), outcome
    if isinstance(outcome, v.Done):
        assert described(bus, QUEUE, "partitioned").partitioned is False


@then("it is refused, or the topic is described as regular")
def topic_is_not_partitioned(bus: Bus, outcome: v.Outcome) -> None:
    """Check that the topic was refused, or is not partitioned."""
    assert isinstance(outcome, v.Done | v.Refused), outcome
    if isinstance(outcome, v.Done):
        assert described_topic(bus, TOPIC, "partitioned").partitioned is False
