"""Steps that replace entities in a full namespace, and that check what a quota permits."""

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.sentences import TOPIC


@when(
    parsers.re(
        "(?:one of them is|two of them are) replaced by (?P<what>a partitioned queue|a topic with a"
        " subscription), where that is possible"
    ),
    target_fixture="replaced",
)
def replaces(bus: BusUnderTest, what: str) -> v.Outcome | None:
    """Replace a queue by a partitioned one, or two by a topic and its subscription.

    If a partitioned one is refused, create a regular one again. A topic and its subscription are as
    many as two queues if subscriptions count.
    """
    if v.Capability.MANAGEMENT not in bus.capabilities:
        return None
    if what == "a partitioned queue":
        bus.expect(bus.do(v.DeleteQueue(queue=next(iter(bus.settings)))), v.Done)
        outcome = bus.do(v.CreateQueue(queue="partitioned"))
        if isinstance(outcome, v.Refused):
            bus.do(v.CreateQueue(queue="put-back", partitioned=False))
        return outcome
    if v.Capability.TOPICS not in bus.capabilities or bus.profile.tier is v.Tier.BASIC:
        return None
    for name in list(bus.settings)[1:3]:
        bus.expect(bus.do(v.DeleteQueue(queue=name)), v.Done)
    bus.expect(bus.do(v.CreateTopic(topic=TOPIC, partitioned=False)), v.Done)
    return bus.do(v.CreateSubscription(topic=TOPIC, subscription="all"))


@then("that is accepted, where each queue counts once")
def counts_once(bus: BusUnderTest, replaced: v.Outcome | None) -> None:
    """Check that a partitioned queue counts once, under the reading that says so (QUOTA-WEIGHT)."""
    if bus.profile.readings.get("QUOTA-WEIGHT", "one") == "one":
        assert isinstance(replaced, v.Done | None), replaced


@then(parsers.parse("all of them were accepted, or the first {number:d} where so few may be all"))
def all_owed_accepted(bus: BusUnderTest, outcomes: list[v.Outcome], number: int) -> None:
    """Check the requests below the least quota that the readings name (QUOTA-ENTITIES)."""
    may_be_all = bus.profile.readings.get("QUOTA-ENTITIES") == "either"
    owed = outcomes[:number] if may_be_all else outcomes
    assert all(isinstance(outcome, v.Done) for outcome in owed), owed[-1]
