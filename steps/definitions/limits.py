"""Steps for requests at the limits of lengths and sizes, and beyond."""

from typing import Final

from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.waiting import waiting
from busproof.steps.wording import seconds

TOO_LARGE: Final = {
    v.Tier.BASIC: 256 * 1024 + 1,
    v.Tier.STANDARD: 256 * 1024 + 1,
    v.Tier.PREMIUM: 100 * 1024 * 1024 + 1,
}
"""LIMIT-02, LIMIT-04: size of a body that each tier refuses, in bytes."""

KEYS: Final = {
    "MessageId": "message_id",
    "SessionId": "session_id",
    "PartitionKey": "partition_key",
}
LETTER: Final = "x"


@when(
    parsers.parse('session "{session_id}" is given a state of {number:d} characters'),
    target_fixture="outcome",
)
def gives_large_state(bus: Bus, queue: str, session_id: str, number: int) -> v.Outcome:
    """Try to set a session state of this length."""
    state = LETTER * number
    return bus.do(v.SetSessionState(queue=queue, session_id=session_id, state=state))


@then(parsers.parse('the state of session "{session_id}" has {number:d} characters'))
def has_large_state(bus: Bus, queue: str, session_id: str, number: int) -> None:
    """Check the length of the session state."""
    outcome = bus.do(v.GetSessionState(queue=queue, session_id=session_id))
    assert isinstance(outcome, v.SessionState), outcome
    assert len(outcome.state or "") == number


@when(
    parsers.parse(
        "a message and, when only {gap:d} of {window:d} seconds are over, its copy are sent, "
        "if there is a queue"
    ),
    target_fixture="taken",
)
@waiting
def sends_copy_within(bus: Bus, maybe: str | None, gap: int, window: int) -> int:
    """Send a MessageId twice within the window; return the number of messages received."""
    if maybe is None:
        return 0
    _send_copy(bus, maybe)
    bus.pass_only(seconds(gap), seconds(window))
    _send_copy(bus, maybe)
    return len(bus.received(maybe))


@when(
    parsers.parse(
        "a message and, when {gap:d} seconds are over, its copy are sent, if there is a queue"
    ),
    target_fixture="taken",
)
@waiting
def sends_copy_after(bus: Bus, maybe: str | None, gap: int) -> int:
    """Send a MessageId twice with a gap in between; return the number of messages received.

    Raises:
        NotApplicable: the clock is real, and the gap may be days.
    """
    if bus.clock is v.Clock.REAL:
        raise NotApplicable("clock: nobody waits for days")
    if maybe is None:
        return 0
    _send_copy(bus, maybe)
    bus.pass_time(seconds(gap))
    _send_copy(bus, maybe)
    return len(bus.received(maybe))


def _send_copy(bus: Bus, queue: str) -> None:
    bus.expect(bus.send(v.Send(queue=queue, message=bus.message(message_id="x"))), v.Done)


@then(parsers.parse("{number:d} of the two is received, if there is a queue"))
@then(parsers.parse("{number:d} of the two are received, if there is a queue"))
def so_many_of_two(maybe: str | None, taken: int, number: int) -> None:
    """Check the number of messages received, if the queue exists."""
    assert maybe is None or taken == number
