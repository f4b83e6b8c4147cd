"""Steps for test controls that clients do not have: outages and the passing of time."""

from pytest_bdd import given, parsers, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import OTHER_QUEUE, create
from busproof.steps.waiting import waiting
from busproof.steps.wording import seconds


def _set_all(bus: Bus, queue: str, *, down: bool) -> None:
    bus.need(v.Capability.OUTAGES)
    change = bus.take_down if down else bus.bring_up
    for partition in range(bus.profile.partitions):
        change(queue, partition)


@given(parsers.parse("{number:d} partitions are down"), target_fixture="down")
@when(parsers.parse("{number:d} partitions go down"), target_fixture="down")
def some_down(bus: Bus, queue: str, number: int) -> set[int]:
    """Take the first partitions down, but leave at least one up."""
    bus.need(v.Capability.OUTAGES)
    down = range(min(number, bus.profile.partitions - 1))
    for partition in down:
        bus.take_down(queue, partition)
    return set(down)


@given("every partition is down")
@when("every partition goes down")
def all_down(bus: Bus, queue: str) -> None:
    """Take all partitions down."""
    _set_all(bus, queue, down=True)


@given("clocks that run on in an outage")
def need_clocks_that_run_on(bus: Bus) -> None:
    """Require the reading of OUTAGE-CLOCK that says so.

    Raises:
        NotApplicable: by the reading of the run they may stand still.
    """
    reading = bus.profile.readings.get("OUTAGE-CLOCK", "either")
    if reading != "runs":
        raise NotApplicable(f"reading: OUTAGE-CLOCK={reading}, clocks may stand still in an outage")


@when("every partition is down for a while")
def all_down_and_up(bus: Bus, queue: str) -> None:
    """Take all partitions down and bring them up again."""
    _set_all(bus, queue, down=True)
    _set_all(bus, queue, down=False)


@when("every partition is up again")
def all_up(bus: Bus, queue: str) -> None:
    """Bring all partitions up again."""
    _set_all(bus, queue, down=False)


@given("the partition that took it is down", target_fixture="partition")
def that_one_down(bus: Bus, queue: str) -> int:
    """Take down the partition of the latest message."""
    bus.need(v.Capability.OUTAGES)
    partition = bus.located(queue, [bus.sent[-1].body], None)[0]
    bus.take_down(queue, partition)
    return partition


@given("a partition of another queue is down")
def one_down_elsewhere(bus: Bus) -> None:
    """Take down a partition of another queue, which must not affect the first."""
    bus.need(v.Capability.OUTAGES)
    create(bus, v.CreateQueue(queue=OTHER_QUEUE, partitioned=bus.profile.may_partition))
    bus.take_down(OTHER_QUEUE, 0)


@given("a partition of another queue was down")
def one_was_down_elsewhere(bus: Bus) -> None:
    """Take a partition of another queue down and bring it up again."""
    one_down_elsewhere(bus)
    bus.bring_up(OTHER_QUEUE, 0)


@when("the partition is up again")
def that_one_up(bus: Bus, queue: str, partition: int) -> None:
    """Bring that partition up again."""
    bus.bring_up(queue, partition)


@when(parsers.parse("{number:d} seconds pass"))
@waiting
def passes(bus: Bus, number: int) -> None:
    """Let time pass."""
    bus.pass_time(seconds(number))


@when(parsers.parse("only {number:d} of {whole:d} seconds pass"))
@waiting
def passes_only(bus: Bus, number: int, whole: int) -> None:
    """Let time pass, but too little for a timer of `whole` seconds to fire by the next answer."""
    bus.pass_only(seconds(number), seconds(whole))


@when("a minute passes")
@waiting
def minute_passes(bus: Bus) -> None:
    """Let more time pass than the default lock duration."""
    bus.pass_time(seconds(60))
