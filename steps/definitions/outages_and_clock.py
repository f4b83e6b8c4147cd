"""Steps for test controls that clients do not have: outages and the passing of time."""

import pytest
from pytest_bdd import given, parsers, step, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.setup import OTHER_QUEUE, QUEUE, create
from busproof.steps.sentences import sentence
from busproof.steps.waiting import waiting
from busproof.steps.wording import seconds


@step(sentence("{which:Down} {goes:GoesDown} down{passing:ForAWhile?}"), target_fixture="down")
def goes_down(
    request: pytest.FixtureRequest, bus: BusUnderTest, which: str, passing: str | None
) -> tuple[str, set[int]]:
    """Take partitions down, for a while or until a step brings them up."""
    bus.need(v.Capability.OUTAGES)
    queue = str(request.getfixturevalue("queue"))
    chosen = _chosen(bus, queue, which)
    for partition in chosen:
        bus.take_down(queue, partition)
    if passing:
        for partition in chosen:
            bus.bring_up(queue, partition)
    return queue, set(chosen)


def _chosen(bus: BusUnderTest, queue: str, which: str) -> list[int]:
    """Return the partitions that a step is about; several leave at least one up."""
    partitions = bus.profile.partitions
    match which:
        case "every partition":
            return list(range(partitions))
        case "its only store":
            return [0]
        case "one of its partitions":
            return [partitions - 1]
        case "the partition that took it":
            return bus.located(queue, [bus.sent[-1].body], None)
        case "the partition that took the first message":
            return bus.located(queue, [bus.sent[0].body], None)
        case _:
            return list(range(min(int(which.removesuffix(" partitions")), partitions - 1)))


@when(
    parsers.re(
        "(?P<which>every partition|the partition|its only store) is up again"
        "(?P<maybe>, if it is still there)?"
    )
)
def goes_up(bus: BusUnderTest, down: tuple[str, set[int]], which: str, maybe: str | None) -> None:
    """Bring partitions up again: those that went down, or all.

    Raises:
        NotApplicable: the adapter cannot end an outage of what was deleted.
    """
    queue, partitions = down
    chosen = range(bus.profile.partitions) if which == "every partition" else sorted(partitions)
    for partition in chosen:
        outcome = bus.do(v.BringPartitionUp(queue=queue, partition=partition))
        if maybe and not isinstance(outcome, v.Done):
            raise NotApplicable("outages: only partitions of entities that exist can be brought up")
        bus.expect(outcome, v.Done)


@given("a partition of a queue to come is down", target_fixture="down")
def part_of_future_down(bus: BusUnderTest) -> tuple[str, set[int]]:
    """Take a partition down before its queue exists."""
    bus.need(v.Capability.OUTAGES)
    outcome = bus.do(v.TakePartitionDown(queue=QUEUE, partition=0))
    if not isinstance(outcome, v.Done):
        raise NotApplicable("outages: only partitions of queues that exist can be taken down")
    return QUEUE, {0}


@given("clocks that run on in an outage")
def need_clocks_that_run_on(bus: BusUnderTest) -> None:
    """Require the reading of OUTAGE-CLOCK that says so.

    Raises:
        NotApplicable: by the reading of the run they may stand still.
    """
    reading = bus.profile.readings.get("OUTAGE-CLOCK", "either")
    if reading != "runs":
        raise NotApplicable(f"reading: OUTAGE-CLOCK={reading}, clocks may stand still in an outage")


@given(sentence("a partition of another queue {was:Tense} down"))
def other_goes_down(bus: BusUnderTest, was: bool) -> None:
    """Take down a partition of another queue, which must not affect the first; or also end that."""
    bus.need(v.Capability.OUTAGES)
    create(bus, v.CreateQueue(queue=OTHER_QUEUE, partitioned=bus.profile.may_partition))
    bus.take_down(OTHER_QUEUE, 0)
    if was:
        bus.bring_up(OTHER_QUEUE, 0)


@when(parsers.parse("{number:d} seconds pass"))
@waiting
def passes(bus: BusUnderTest, number: int) -> None:
    """Let time pass."""
    bus.pass_time(seconds(number))


@when(parsers.parse("only {number:d} of {whole:d} seconds pass"))
@waiting
def passes_only(bus: BusUnderTest, number: int, whole: int) -> None:
    """Let time pass, but too little for a timer of `whole` seconds to fire by the next answer."""
    bus.pass_only(seconds(number), seconds(whole))


@when(parsers.parse("{number:d} hours pass"))
@waiting
def hours_pass(bus: BusUnderTest, number: int) -> None:
    """Let hours pass, which needs a virtual clock."""
    need_virtual_clock(bus)
    bus.pass_time(seconds(3600 * number))


def need_virtual_clock(bus: BusUnderTest) -> None:
    """Require that time can be advanced.

    Raises:
        NotApplicable: the clock is real.
    """
    if bus.clock is v.Clock.REAL:
        raise NotApplicable("clock: it is real, and the scenario would wait too long")
