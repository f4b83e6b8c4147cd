"""Steps for Premium: queues from when the tier still had partitioned ones, and their successors."""

from pytest_bdd import given, parsers

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.setup import QUEUE


@given(
    parsers.re(
        r"an old partitioned queue(?P<sessions> that requires sessions)?"
        r"(?P<detects> with duplicate detection)?"
    ),
    target_fixture="queue",
)
def restore_queue(bus: BusUnderTest, sessions: str | None, detects: str | None) -> str:
    """Restore a queue that was created when the tier still permitted it."""
    bus.need(v.Capability.LEGACY_ENTITIES)
    restore = v.RestoreQueue(
        queue=QUEUE, requires_session=sessions is not None, duplicate_detection=detects is not None
    )
    bus.expect(bus.do(restore), v.Done)
    return QUEUE
