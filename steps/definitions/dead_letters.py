"""Steps for delivery counts and the dead-letter queue."""

import pytest
from pytest_bdd import parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import BusUnderTest
from busproof.steps.definitions.receiving import kept_message
from busproof.steps.sentences import Times, sentence
from busproof.steps.wording import seconds


@when(
    sentence(
        "one message{session_id:Session?}{below:DeadLetters?} is received and abandoned"
        "{times:Times?}"
    )
)
def abandons(
    bus: BusUnderTest, queue: str, session_id: str | None, below: str | None, times: Times | None
) -> None:
    """Receive a message and abandon it, this often or until it has had all its deliveries."""
    path = queue + (below or "")
    if times is not None and times.spends:
        deliveries = times.number or bus.deliveries[path]
        spend_deliveries(bus, path, deliveries, expiring_after=None, session_id=session_id)
        return
    number = 1 if times is None else times.number or 1
    for _ in range(number):
        bus.abandon(path, kept_message(bus, path, session_id))


def spend_deliveries(
    bus: BusUnderTest,
    queue: str,
    deliveries: int,
    *,
    expiring_after: int | None,
    session_id: str | None = None,
) -> None:
    """Use up the deliveries of a message, and one more if a reading allows it (MAX-DELIVERIES)."""
    reading = bus.profile.readings.get("MAX-DELIVERIES")
    for number in range(deliveries + (reading in ("one-more", "either"))):
        outcome = bus.do(v.Receive(queue=queue, session_id=session_id))
        if number == deliveries and reading == "either" and isinstance(outcome, v.Empty):
            return
        bus.expect(outcome, v.Received)
        assert isinstance(outcome, v.Received)
        if expiring_after is None:
            bus.do(v.Abandon(queue=queue, lock_token=outcome.message.lock_token or ""))
        else:
            bus.pass_time(seconds(expiring_after))


@then(
    parsers.re(r"(?P<which>it|each of them) is delivery (?P<number>\d+)"),
    converters={"number": int},
)
def counts_deliveries(request: pytest.FixtureRequest, which: str, number: int) -> None:
    """Check the delivery count of the locked message, or of each, which includes this delivery."""
    if which == "it":
        views = [request.getfixturevalue("kept")]
    else:
        views = request.getfixturevalue("several")
    assert [view.delivery_count for view in views] == [number] * len(views), views


@then(
    parsers.re(r'(?P<which>it|each of them) is a dead letter because of "(?P<reason>[^"]*)"'),
)
def tells_why(bus: BusUnderTest, views: list[v.MessageView], which: str, reason: str) -> None:
    """Check the reason of the first dead letter, or of each, and that they have the same one.

    Only an adapter for reasons must show it.
    """
    is_shown = v.Capability.DEAD_LETTER_REASONS in bus.capabilities
    assert views, "no dead letter came"
    reasons = {view.dead_letter_reason for view in (views[:1] if which == "it" else views)}
    assert len(reasons) == 1, views
    assert reasons <= ({reason} if is_shown else {None, reason}), views
