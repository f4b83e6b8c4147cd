"""Steps that schedule messages and cancel them."""

import attrs
import pytest
from pytest_bdd import parsers, step, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.sending import READ
from busproof.steps.sentences import Delay, sentence, transaction_of
from busproof.steps.waiting import waiting
from busproof.steps.wording import Properties


@step(
    sentence(
        "{number:Number} {messages:Messages} {carried} {must:Tense} scheduled{within:Within?} "
        "{due:Delay}"
    ),
    converters=READ,
    target_fixture="outcome",
)
def schedules(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    number: int,
    carried: Properties,
    must: bool,
    within: str | None,
    due: Delay,
) -> v.Outcome:
    """Schedule messages, and return the last answer; what was scheduled must have been accepted."""
    outcomes = []
    for _ in range(number):
        message = attrs.evolve(carried.message(bus), time_to_live=due.life)
        command = v.Schedule(
            queue=str(request.getfixturevalue("queue")),
            message=message,
            delay=due.delay,
            transaction=transaction_of(request, within),
        )
        outcome = bus.do(command)
        if must:
            bus.expect(outcome, v.Scheduled)
        if isinstance(outcome, v.Scheduled):
            bus.sent.append(message)
        outcomes.append(outcome)
    request.getfixturevalue("scheduled").extend(outcomes)
    return outcomes[-1]


def _number(outcome: v.Outcome) -> int:
    """Return the sequence number of a scheduled message, which is needed to cancel it."""
    assert isinstance(outcome, v.Scheduled), outcome
    if outcome.sequence_number is None:
        raise NotApplicable("sequence numbers: the adapter tells none for what is scheduled")
    return outcome.sequence_number


@when(
    parsers.re("(?P<which>the scheduled message|each of them) is cancelled"),
    target_fixture="outcome",
)
def cancels(bus: BusUnderTest, queue: str, scheduled: list[v.Outcome], which: str) -> v.Outcome:
    """Try to cancel the scheduled message; or cancel every one, which must succeed."""
    chosen = scheduled if which == "each of them" else scheduled[-1:]
    for number in map(_number, chosen):
        outcome = bus.do(v.CancelScheduled(queue=queue, sequence_number=number))
        if which == "each of them":
            bus.expect(outcome, v.Done)
    return outcome


@when(
    sentence(
        "{number:Number} {messages:Messages}{session_id:Session?}{below:DeadLetters?} {is:Tense} "
        "awaited{connection:Elsewhere?}{abandoned:AndAbandoned?}"
    )
)
@waiting
def awaits(
    request: pytest.FixtureRequest,
    bus: BusUnderTest,
    number: int,
    session_id: str | None,
    below: str | None,
    connection: str | None,
    abandoned: str | None,
) -> None:
    """Receive and complete until this many messages have arrived, or the time is up.

    A message that is abandoned must arrive.
    """
    path = str(request.getfixturevalue("queue")) + (below or "")
    if abandoned:
        _abandon_in_the_end(bus, path)
        return
    views = bus.awaited(path, number, connection or "c1", session_id)
    request.getfixturevalue("views").extend(views)


def _abandon_in_the_end(bus: BusUnderTest, path: str) -> None:
    """Receive a message once it arrives, and abandon it."""
    for _ in bus.tries():
        outcome = bus.receive(path)
        if isinstance(outcome, v.Received):
            bus.expect(bus.abandon(path, outcome.message), v.Done)
            return
    raise AssertionError("nothing came")


@then("it comes if it was scheduled, and otherwise never")
@waiting
def comes_if_scheduled(bus: BusUnderTest, queue: str, outcome: v.Outcome) -> None:
    """Check that a scheduled message arrives, and that a refused one does not."""
    assert isinstance(outcome, v.Scheduled | v.Refused), outcome
    expected = 1 if isinstance(outcome, v.Scheduled) else 0
    assert len(bus.awaited(queue, expected)) == expected
    assert isinstance(bus.receive(queue), v.Empty)
