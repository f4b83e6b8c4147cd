"""Steps that create many entities, up to the quota and beyond."""

from typing import Final

from pytest_bdd import given, parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import QUEUE, basic_has_no_topics, refuse_where_missing

TOPIC: Final = "news"
ONE_MORE: Final = "one-more"


def _asked(count: int, kind: str, what: str) -> list[v.CreateQueue | v.CreateTopic]:
    """Return the requests for this number of queues or topics."""
    partitioned = kind == "partitioned"
    names = [f"{kind}-{what}-{number}" for number in range(count)]
    if what == "queue":
        return [v.CreateQueue(queue=name, partitioned=partitioned) for name in names]
    return [v.CreateTopic(topic=name, partitioned=partitioned) for name in names]


def _need_room(bus: Bus, kind: str, what: str) -> None:
    """Require that the namespace may be filled, and that the tier has such entities.

    Raises:
        NotApplicable: the namespace may not be filled, or the tier has no such entities.
    """
    bus.need(v.Capability.DISPOSABLE_NAMESPACE)
    refuse_where_missing(bus, v.CreateQueue(queue=QUEUE, partitioned=kind == "partitioned"))
    if what == "topic":
        bus.need(v.Capability.TOPICS)
        basic_has_no_topics(bus)


@given(parsers.re(r"(?P<count>\d+) (?P<kind>partitioned|regular) (?P<what>queue|topic)s"))
def create_many(bus: Bus, count: str, kind: str, what: str) -> None:
    """Create this number of entities; each must succeed."""
    _need_room(bus, kind, what)
    for outcome in bus.do_all(_asked(int(count), kind, what)):
        bus.expect(outcome, v.Done)


@when(
    parsers.re(r"(?P<count>\d+) (?P<kind>partitioned|regular) (?P<what>queue|topic)s are created"),
    target_fixture="outcomes",
)
def creates(bus: Bus, count: str, kind: str, what: str) -> list[v.Outcome]:
    """Try to create this number of entities."""
    _need_room(bus, kind, what)
    return list(bus.do_all(_asked(int(count), kind, what)))


@when(
    parsers.parse("{count:d} queues for each messaging unit are created"), target_fixture="outcomes"
)
def creates_a_unit(bus: Bus, count: int) -> list[v.Outcome]:
    """Try to create this number of queues for each messaging unit of the namespace."""
    kind = "partitioned" if bus.profile.may_partition else "regular"
    return creates(bus, str(count * bus.profile.messaging_units), kind, "queue")


@when("one more queue is created", target_fixture="outcome")
def creates_one_more(bus: Bus) -> v.Outcome:
    """Try to create one more queue, of the kind that the namespace has."""
    return bus.do(v.CreateQueue(queue=ONE_MORE, partitioned=bus.profile.may_partition))


@when(
    parsers.re(r"another (?P<kind>partitioned|regular) queue is requested"),
    target_fixture="outcome",
)
def asks_for_another(bus: Bus, kind: str) -> v.Outcome:
    """Try to create one more queue."""
    return bus.do(v.CreateQueue(queue=ONE_MORE, partitioned=kind == "partitioned"))


@when(
    parsers.re(r"an? (?P<kind>partitioned|regular) topic is requested"),
    target_fixture="outcome",
)
def asks_for_topic(bus: Bus, kind: str) -> v.Outcome:
    """Try to create a topic."""
    return bus.do(v.CreateTopic(topic=TOPIC, partitioned=kind == "partitioned"))


@when("a subscription of one of them is requested", target_fixture="outcome")
def asks_for_subscription(bus: Bus) -> v.Outcome:
    """Try to create a subscription of the first of many partitioned topics."""
    topic = _asked(1, "partitioned", "topic")[0]
    assert isinstance(topic, v.CreateTopic), topic
    return bus.do(v.CreateSubscription(topic=topic.topic, subscription="one"))


@given("one of them was deleted")
def one_was_deleted(bus: Bus) -> None:
    """Delete one of the queues; this must succeed."""
    deletes_one(bus)


@when("one of the others is deleted")
def deletes_one(bus: Bus) -> None:
    """Delete one of the queues; this must succeed."""
    bus.expect(bus.do(v.DeleteQueue(queue=next(iter(bus.settings)))), v.Done)


@when("a message is sent to it nevertheless", target_fixture="outcome")
def sends_nevertheless(bus: Bus) -> v.Outcome:
    """Try to send to a queue whose creation was refused."""
    return bus.do(v.Send(queue=QUEUE, message=bus.message()))


@when(
    "one of them is replaced by a partitioned queue, where queues can be deleted",
    target_fixture="replaced",
)
def replace_by_partitioned(bus: Bus) -> v.Outcome | None:
    """Replace a queue by a partitioned one; if that is refused, create a regular one again."""
    if v.Capability.MANAGEMENT not in bus.capabilities:
        return None
    deletes_one(bus)
    outcome = bus.do(v.CreateQueue(queue="partitioned"))
    if isinstance(outcome, v.Refused):
        bus.do(v.CreateQueue(queue="put-back", partitioned=False))
    return outcome


@then("that is accepted, where each queue counts once")
def counts_once(bus: Bus, replaced: v.Outcome | None) -> None:
    """Check that a partitioned queue counts once, under the reading that says so (QUOTA-WEIGHT)."""
    if bus.profile.readings.get("QUOTA-WEIGHT", "one") == "one":
        assert isinstance(replaced, v.Done | None), replaced


@when("two of them are replaced by a topic with a subscription, where there are topics")
def replace_by_topic(bus: Bus) -> None:
    """Replace two queues by a topic and a subscription, as many if subscriptions count."""
    there = {v.Capability.TOPICS, v.Capability.MANAGEMENT} <= bus.capabilities
    if there and bus.profile.tier is not v.Tier.BASIC:
        for name in list(bus.settings)[1:3]:
            bus.expect(bus.do(v.DeleteQueue(queue=name)), v.Done)
        bus.expect(bus.do(v.CreateTopic(topic=TOPIC, partitioned=False)), v.Done)
        bus.do(v.CreateSubscription(topic=TOPIC, subscription="all"))


@then(parsers.parse("all of them were accepted, or the first {number:d} where so few may be all"))
def all_owed_accepted(bus: Bus, outcomes: list[v.Outcome], number: int) -> None:
    """Check the requests below the least quota that the readings name (QUOTA-ENTITIES)."""
    may_be_all = bus.profile.readings.get("QUOTA-ENTITIES") == "either"
    owed = outcomes[:number] if may_be_all else outcomes
    assert all(isinstance(outcome, v.Done) for outcome in owed), owed[-1]
