"""Steps for test controls that clients do not have: outages and the passing of time."""

import pytest
from pytest_bdd import given, parsers, step, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.sending import send
from busproof.steps.definitions.setup import OTHER_QUEUE, QUEUE, create
from busproof.steps.sentences import TIME_UNITS, sentence
from busproof.steps.waiting import waiting
from busproof.steps.wording import properties, seconds


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
        r'(?:a message (?P<carried>.+) is sent|session "(?P<session_id>[^"]*)" is accepted and '
        r"closed) while each partition in turn is down"
    ),
    target_fixture="outcomes",
)
def tries_in_outages(
    bus: BusUnderTest,
    queue: str,
    past: list[object],
    carried: str | None,
    session_id: str | None,
) -> list[v.Outcome]:
    """Try to send a message, or to use a session, once while each partition is down."""
    if session_id is None:
        wanted = properties(str(carried))
        outcomes = bus.with_each_partition_down(queue, lambda: send(bus, queue, wanted))
    else:
        outcomes = _accept_in_outages(bus, queue, session_id)
    past.append([type(outcome) for outcome in outcomes])
    return outcomes


def _accept_in_outages(bus: BusUnderTest, queue: str, session_id: str) -> list[v.Outcome]:
    """Accept and close a session once while each partition is down.

    While the session's partition is down, closing may be refused; it is then repeated later.
    """
    left_open = False

    def use() -> v.Outcome:
        nonlocal left_open
        if left_open:
            bus.expect(bus.do(v.CloseSession(queue=queue, session_id=session_id)), v.Done)
        outcome = bus.do(v.AcceptSession(queue=queue, session_id=session_id))
        left_open = isinstance(outcome, v.Done) and isinstance(
            bus.do(v.CloseSession(queue=queue, session_id=session_id)), v.Refused
        )
        return outcome

    return bus.with_each_partition_down(queue, use)


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


@given("clocks that run on in an outage")
def need_clocks_that_run_on(bus: BusUnderTest) -> None:
    """Require the reading of OUTAGE-CLOCK that says so.

    Raises:
        NotApplicable: by the reading of the run they may stand still.
    """
    reading = bus.profile.readings.get("OUTAGE-CLOCK", "either")
    if reading != "runs":
        raise NotApplicable(f"reading: OUTAGE-CLOCK={reading}, clocks may stand still in an outage")


@given(sentence("a partition of {which:OtherQueue} {was:Tense} down"), target_fixture="down")
def other_goes_down(bus: BusUnderTest, which: str, was: bool) -> tuple[str, set[int]]:
    """Take down a partition of another queue, or of one that does not exist yet; or also end that.

    Raises:
        NotApplicable: the adapter cannot take down partitions of queues that do not exist.
    """
    bus.need(v.Capability.OUTAGES)
    queue = QUEUE if which == "a queue to come" else OTHER_QUEUE
    if queue == OTHER_QUEUE:
        create(bus, v.CreateQueue(queue=queue, partitioned=bus.profile.may_partition))
    outcome = bus.do(v.TakePartitionDown(queue=queue, partition=0))
    if queue == QUEUE and not isinstance(outcome, v.Done):
        raise NotApplicable("outages: only partitions of queues that exist can be taken down")
    bus.expect(outcome, v.Done)
    if was:
        bus.bring_up(queue, 0)
    return queue, {0}


@when(sentence("{part:Part?}{number:d} {unit:TimeUnit} pass"))
@waiting
def passes(bus: BusUnderTest, part: int | None, number: int, unit: int) -> None:
    """Let time pass, or only so little that no timer of the whole fires by the next answer.

    Hours need a virtual clock.
    """
    if unit > TIME_UNITS["seconds"]:
        need_virtual_clock(bus)
    whole = seconds(number * unit)
    if part is None:
        bus.pass_time(whole)
    else:
        bus.pass_only(seconds(part * unit), whole)


def need_virtual_clock(bus: BusUnderTest) -> None:
    """Require that time can be advanced.

    Raises:
        NotApplicable: the clock is real.
    """
    if bus.clock is v.Clock.REAL:
        raise NotApplicable("clock: it is real, and the scenario would wait too long")
