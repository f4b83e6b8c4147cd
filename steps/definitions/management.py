"""Steps that create, update, query, list and delete queues."""

from typing import Any

from pytest_bdd import given, parsers, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import QUEUE, basic_may_lack, create
from busproof.steps.patience import described, until
from busproof.steps.wording import queue_settings, seconds

KINDS = {"partitioned": True, "regular": False}
UPDATES: dict[str, dict[str, Any]] = {
    "to be partitioned": {"partitioned": True},
    "to be regular": {"partitioned": False},
    "to require sessions": {"requires_session": True},
    "to require no sessions": {"requires_session": False},
    "to detect duplicates": {"duplicate_detection": True},
    "to detect no duplicates": {"duplicate_detection": False},
}


@given("an empty namespace")
def empty(bus: Bus) -> None:
    """Start with an empty namespace, as every scenario does."""
    assert isinstance(bus, Bus)


@when(
    parsers.re(r"an? (?P<kind>partitioned|regular) queue(?: (?P<traits>.+))? is created"),
    target_fixture="outcome",
)
def creates(bus: Bus, kind: str, traits: str | None) -> v.Outcome:
    """Try to create a queue; end the scenario as not applicable if Basic may lack such queues."""
    settings = queue_settings(QUEUE, kind, traits or "")
    basic_may_lack(bus, settings)
    return bus.do(settings)


@when(
    parsers.re(r"an? (?P<kind>partitioned|regular) queue(?: (?P<traits>.+))? is requested"),
    target_fixture="outcome",
)
def asks_for(bus: Bus, kind: str, traits: str | None) -> v.Outcome:
    """Try to create a queue."""
    return bus.do(queue_settings(QUEUE, kind, traits or ""))


@given("a queue that is created without the option", target_fixture="queue")
def create_without_option(bus: Bus) -> str:
    """Create a queue without saying whether it is partitioned."""
    bus.expect(bus.do(v.CreateQueue(queue=QUEUE, partitioned=None)), v.Done)
    return QUEUE


@when(
    parsers.parse("a partitioned queue is created by a request of api-version {version}"),
    target_fixture="outcome",
)
def creates_by_version(bus: Bus, version: str) -> v.Outcome:
    """Try to create a queue with a given api-version."""
    bus.need(v.Capability.API_VERSIONS)
    version = "" if version == "none" else version
    return bus.do(v.CreateQueue(queue=QUEUE, api_version=version))


@given(parsers.re(r"a second queue, (?P<kind>partitioned|regular)"))
def second(bus: Bus, kind: str) -> None:
    """Create a second queue."""
    create(bus, queue_settings("invoices", kind, ""))


@when(
    parsers.re(r"(?:it|the queue) is updated (?P<change>to .+)"),
    target_fixture="outcome",
)
def updates(bus: Bus, queue: str, change: str) -> v.Outcome:
    """Try to change a setting that is fixed after creation."""
    return bus.do(v.UpdateQueue(queue=queue, **UPDATES[change]))


@when(parsers.parse("its locks are updated to {number:d} seconds"), target_fixture="outcome")
def updates_locks(bus: Bus, queue: str, number: int) -> v.Outcome:
    """Try to change the lock duration."""
    return bus.do(v.UpdateQueue(queue=queue, lock_duration=seconds(number)))


@given(parsers.parse("its locks were updated to {number:d} seconds"))
def has_updated_locks(bus: Bus, queue: str, number: int) -> None:
    """Change the lock duration; this must succeed."""
    bus.expect(updates_locks(bus, queue, number), v.Done)


@when("the queue is deleted", target_fixture="outcome")
def deletes(bus: Bus, queue: str) -> v.Outcome:
    """Try to delete the queue."""
    return bus.do(v.DeleteQueue(queue=queue))


@given("the queue was deleted")
def has_deleted(bus: Bus, queue: str) -> None:
    """Delete the queue; this must succeed."""
    bus.expect(deletes(bus, queue), v.Done)
    bus.sent.clear()


@when(parsers.re(r"it is created again as an? (?P<kind>partitioned|regular) queue(?P<traits>.*)"))
def creates_again(bus: Bus, queue: str, kind: str, traits: str) -> None:
    """Create a queue with the same name; this must succeed if the tier has such queues."""
    create(bus, queue_settings(queue, kind, traits.strip()))


@given("a partition of a queue to come is down", target_fixture="partition")
def part_of_future_down(bus: Bus) -> int:
    """Take a partition down before its queue exists."""
    bus.need(v.Capability.OUTAGES)
    outcome = bus.do(v.TakePartitionDown(queue=QUEUE, partition=0))
    if not isinstance(outcome, v.Done):
        raise NotApplicable("outages: only partitions of queues that exist can be taken down")
    return 0


@given("one of its partitions is down", target_fixture="partition")
def one_down(bus: Bus, queue: str) -> int:
    """Take the last partition down."""
    bus.need(v.Capability.OUTAGES)
    bus.take_down(queue, bus.profile.partitions - 1)
    return bus.profile.partitions - 1


@when("that partition is up again")
def one_up(bus: Bus, partition: int) -> None:
    """Bring the partition up again, which may be gone with its deleted queue."""
    bring_up_what_may_be_gone(bus, QUEUE, partition)


def bring_up_what_may_be_gone(bus: Bus, path: str, partition: int) -> None:
    """Bring a partition of an entity up again that may have been deleted.

    Raises:
        NotApplicable: the adapter cannot end an outage of what is gone.
    """
    outcome = bus.do(v.BringPartitionUp(queue=path, partition=partition))
    if not isinstance(outcome, v.Done):
        raise NotApplicable("outages: only partitions of entities that exist can be brought up")


@when("a message is received, and the queue deleted and created again", target_fixture="outcome")
def settles_what_was_deleted(bus: Bus, queue: str) -> v.Outcome:
    """Try to settle with a lock from a queue that was deleted and created again."""
    kept = bus.kept(queue)
    has_deleted(bus, queue)
    creates_again(bus, queue, "partitioned", "")
    return bus.do(v.Complete(queue=queue, lock_token=kept.lock_token or ""))


@when(parsers.re(r"a queue that does not exist is (?P<action>\w+)"), target_fixture="outcome")
def asks_the_missing(bus: Bus, action: str) -> v.Outcome:
    """Try a command on a queue that does not exist."""
    commands: dict[str, v.Command] = {
        "sent": v.Send(queue="none", message=v.Message(body="m")),
        "batched": v.SendBatch(queue="none", messages=(v.Message(body="m"),)),
        "scheduled": v.Schedule(queue="none", message=v.Message(body="m"), delay=seconds(5)),
        "received": v.Receive(queue="none"),
        "peeked": v.Peek(queue="none"),
        "got": v.GetQueue(queue="none"),
        "updated": v.UpdateQueue(queue="none", max_delivery_count=3),
        "deleted": v.DeleteQueue(queue="none"),
    }
    return bus.do(commands[action])


@when(
    parsers.re(r"(?P<number>\d+) times a queue that does not exist is (?P<action>\w+)"),
    target_fixture="outcome",
)
def asks_the_missing_often(bus: Bus, number: str, action: str) -> v.Outcome:
    """Try a command on a queue that does not exist; the judge checks each answer."""
    return [asks_the_missing(bus, action) for _ in range(int(number))][-1]


@when("all messages are received and kept", target_fixture="kept")
def keeps_all(bus: Bus, queue: str) -> list[v.MessageView]:
    """Lock messages one by one until none is left."""
    return bus.all_kept(queue)


@then(parsers.re(r"the queue is described as (?P<kind>partitioned|regular)"))
def describes_kind(bus: Bus, queue: str, kind: str) -> None:
    """Check in the queue's description whether it is partitioned."""
    assert described(bus, queue, "partitioned").partitioned is KINDS[kind]


@then(parsers.parse("it is described with locks of {number:d} seconds"))
def describes_locks(bus: Bus, queue: str, number: int) -> None:
    """Check the lock duration in the queue's description."""
    assert described(bus, queue, "lock_duration").lock_duration == seconds(number)


@then(
    parsers.parse(
        "it is described with locks of {number:d} seconds if it was refused, or of {other:d}"
    )
)
def describes_either_locks(
    bus: Bus, queue: str, outcome: v.Outcome, number: int, other: int
) -> None:
    """Check the lock duration in the description, which depends on the answer to an update."""
    describes_locks(bus, queue, number if isinstance(outcome, v.Refused) else other)


@then(parsers.parse("it is described as detecting duplicates over {number:d} seconds"))
def describes_window(bus: Bus, queue: str, number: int) -> None:
    """Check duplicate detection and its window in the queue's description."""
    assert described(bus, queue, "duplicate_detection").duplicate_detection is True
    assert described(bus, queue, "duplicate_window").duplicate_window == seconds(number)


@then(parsers.re(r"it is described as requiring (?P<none>no )?sessions"))
def describes_sessions(bus: Bus, queue: str, none: str | None) -> None:
    """Check in the queue's description whether it requires sessions."""
    assert described(bus, queue, "requires_session").requires_session is (none is None)


@then(parsers.re(r"it is described as detecting (?P<none>no )?duplicates"))
def describes_detection(bus: Bus, queue: str, none: str | None) -> None:
    """Check in the queue's description whether it detects duplicates."""
    assert described(bus, queue, "duplicate_detection").duplicate_detection is (none is None)


@then(parsers.parse("in the end its message count is {number:d}"))
def counts(bus: Bus, queue: str, number: int) -> None:
    """Check the message count, possibly after a delay (GET-LAG)."""
    description = until(bus, queue, "message_count", lambda latest: latest.message_count == number)
    assert description.message_count == number


@then(parsers.parse("in the end its message count is {low:d} or {high:d}"))
def counts_either(bus: Bus, queue: str, low: int, high: int) -> None:
    """Check the message count where the documents permit two, possibly after a delay (GET-LAG)."""
    either = (low, high)
    description = until(bus, queue, "message_count", lambda latest: latest.message_count in either)
    assert description.message_count in either


@then(parsers.parse("at most {number:d} messages are counted, or it is refused"))
def counts_at_most(bus: Bus, queue: str, number: int) -> None:
    """Check the maximum message count; messages in partitions that are down may be missing."""
    outcome = bus.do(v.GetQueue(queue=queue))
    assert isinstance(outcome, v.Described | v.Refused), outcome
    count = outcome.description.message_count if isinstance(outcome, v.Described) else None
    assert count is None or count <= number, outcome


@then(parsers.re(r"in the end its availability is (?P<text>available|limited)"))
def has_availability(bus: Bus, queue: str, text: str) -> None:
    """Check the maximum message count; partitions that are down may not be counted."""
    bus.need(v.Capability.AVAILABILITY)
    wanted = v.Availability(text)
    description = until(bus, queue, "availability", lambda latest: latest.availability is wanted)
    assert description.availability is wanted


@then(parsers.re(r"the list of queues names (?P<names>.+)"))
def lists(bus: Bus, names: str) -> None:
    """Check that the list contains exactly these queues, each once."""
    wanted = [] if names == "none" else names.split(" and ")
    assert sorted(bus.listed()) == sorted(wanted)
