"""Steps for settings beyond their limits, with which a queue may be created or refused.

The steps say what holds if there is a queue.
"""

from pytest_bdd import given, parsers, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.receiving import kept_message
from busproof.steps.definitions.setup import QUEUE, refuse_where_missing
from busproof.steps.sentences import KIND
from busproof.steps.waiting import waiting
from busproof.steps.wording import queue_settings, seconds


@given(parsers.re(rf"perhaps an? {KIND} queue (?P<traits>.+)"), target_fixture="maybe")
def create_queue_if_served(bus: BusUnderTest, kind: str, traits: str) -> str | None:
    """Try to create a queue; return its name, or `None` if it was refused."""
    settings = queue_settings(QUEUE, kind, traits)
    refuse_where_missing(bus, settings)
    outcome = bus.do(settings)
    assert isinstance(outcome, v.Done | v.Refused), outcome
    return QUEUE if isinstance(outcome, v.Done) else None


@when(
    parsers.re(
        r"a message and, when (?:only (?P<gap>\d+) of )?(?P<whole>\d+) seconds are over, its copy "
        "are sent, if there is a queue"
    ),
    converters={"whole": int},
    target_fixture="taken",
)
@waiting
def sends_copy(bus: BusUnderTest, maybe: str | None, gap: str | None, whole: int) -> int:
    """Send a MessageId twice, within a window or with a gap; return how many were received.

    Raises:
        NotApplicable: the clock is real, and the gap may be days.
    """
    if gap is None and bus.clock is v.Clock.REAL:
        raise NotApplicable("clock: nobody waits for days")
    if maybe is None:
        return 0
    _send_copy(bus, maybe)
    if gap is None:
        bus.pass_time(seconds(whole))
    else:
        bus.pass_only(seconds(int(gap)), seconds(whole))
    _send_copy(bus, maybe)
    return len(bus.received(maybe))


def _send_copy(bus: BusUnderTest, queue: str) -> None:
    bus.expect(bus.send(v.Send(queue=queue, message=bus.message(message_id="x"))), v.Done)


@then(
    parsers.re(r"(?P<number>\d+) of the two (?:is|are) received, if there is a queue"),
    converters={"number": int},
)
def so_many_of_two(maybe: str | None, taken: int, number: int) -> None:
    """Check the number of messages received, if the queue exists."""
    assert maybe is None or taken == number


@then(
    parsers.parse(
        "a message that is kept for {number:d} seconds is received again, if there is a queue"
    )
)
@waiting
def comes_again(bus: BusUnderTest, maybe: str | None, number: int) -> None:
    """Send a message, lock it and let time pass; check that the lock has ended."""
    if maybe is None:
        return
    bus.expect(bus.send(v.Send(queue=maybe, message=bus.message())), v.Done)
    kept_message(bus, maybe)
    bus.pass_time(seconds(number))
    assert isinstance(bus.receive(maybe), v.Received)
