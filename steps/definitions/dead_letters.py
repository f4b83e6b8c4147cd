"""Steps for delivery counts and the dead-letter queue."""

from pytest_bdd import given, parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.definitions.receiving import PEEKED_AT_ONCE
from busproof.steps.waiting import waiting
from busproof.steps.wording import seconds

REASON = "unreadable"


def _received(bus: Bus, queue: str) -> v.MessageView:
    """Receive a message, which must arrive, and leave it locked."""
    outcome = bus.do(v.Receive(queue=queue))
    bus.expect(outcome, v.Received)
    assert isinstance(outcome, v.Received)
    return outcome.message


def dead_letter_it(bus: Bus, queue: str, view: v.MessageView, reason: str = REASON) -> v.Outcome:
    """Try to dead-letter a locked message."""
    return bus.do(v.DeadLetter(queue=queue, lock_token=view.lock_token or "", reason=reason))


def _abandon(bus: Bus, queue: str) -> None:
    bus.abandon(queue, _received(bus, queue))


@when(parsers.parse("one message is received and abandoned, {number:d} times"))
def abandons_so_often(bus: Bus, queue: str, number: int) -> None:
    """Receive a message and abandon it, several times."""
    for _ in range(number):
        _abandon(bus, queue)


@when("one message is received and abandoned, as often as permitted")
def abandons_as_permitted(bus: Bus, queue: str) -> None:
    """Receive and abandon a message until it reaches the maximum delivery count."""
    _spend(bus, queue, bus.deliveries[queue], expiring_after=None)


@when(
    parsers.parse(
        'one message of session "{session_id}" is received and abandoned, as often as permitted'
    )
)
def abandons_in_session_as_permitted(bus: Bus, queue: str, session_id: str) -> None:
    """Receive and abandon a session's message until it reaches the maximum delivery count."""
    _spend(bus, queue, bus.deliveries[queue], expiring_after=None, session_id=session_id)


@when(parsers.parse("one message is received and abandoned, {number:d} times by default"))
def abandons_by_default(bus: Bus, queue: str, number: int) -> None:
    """Receive and abandon a message as often as the default maximum delivery count permits."""
    _spend(bus, queue, number, expiring_after=None)


@when(
    parsers.parse(
        "a message is received and its lock expires after {number:d} seconds, as often as permitted"
    )
)
@waiting
def expires_as_permitted(bus: Bus, queue: str, number: int) -> None:
    """Receive a message and let its lock expire, until it reaches the maximum delivery count."""
    _spend(bus, queue, bus.deliveries[queue], expiring_after=number)


def _spend(
    bus: Bus,
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


@when("one message is received and completed")
def completes_one(bus: Bus, queue: str) -> None:
    """Receive a message and complete it."""
    bus.complete(queue, _received(bus, queue))


@then(parsers.parse("it is delivery {number:d}"))
def counts_deliveries(kept: v.MessageView, number: int) -> None:
    """Check the delivery count of the locked message, which includes this delivery."""
    assert kept.delivery_count == number, kept


@then(parsers.parse("each of them is delivery {number:d}"))
def counts_deliveries_of_each(several: tuple[v.MessageView, ...], number: int) -> None:
    """Check the delivery counts of messages that were received together."""
    assert [view.delivery_count for view in several] == [number] * len(several), several


@when(parsers.parse('a message is received and dead-lettered because of "{reason}"'))
def dead_letters(bus: Bus, queue: str, reason: str) -> None:
    """Receive a message and dead-letter it; this must succeed."""
    bus.expect(dead_letter_it(bus, queue, _received(bus, queue), reason), v.Done)


@given("a message was dead-lettered")
def has_dead_letters(bus: Bus, queue: str) -> None:
    """Send, receive and dead-letter a message."""
    bus.expect(bus.send(v.Send(queue=queue, message=bus.message(partition_key="a"))), v.Done)
    dead_letters(bus, queue, REASON)


@when("the message kept is dead-lettered", target_fixture="outcome")
def dead_letters_kept(bus: Bus, queue: str, kept: v.MessageView) -> v.Outcome:
    """Try to dead-letter the locked message."""
    return dead_letter_it(bus, queue, kept)


@when("everything is received and dead-lettered")
def dead_letters_everything(bus: Bus, queue: str) -> None:
    """Receive and dead-letter as many messages as were sent."""
    for _ in range(len(bus.sent)):
        dead_letter_it(bus, queue, _received(bus, queue))


@when("all dead letters are received and completed")
def receives_dead_letters(bus: Bus, queue: str, views: list[v.MessageView]) -> None:
    """Receive and complete dead letters until none arrives."""
    bus.need(v.Capability.DEAD_LETTER)
    views.extend(bus.received(queue + v.DEAD_LETTERS))


@when(parsers.parse("dead letters are received and completed until {number:d} has come"))
@waiting
def awaits_dead_letters(bus: Bus, queue: str, views: list[v.MessageView], number: int) -> None:
    """Receive and complete dead letters, with retries for those in transit."""
    views.extend(bus.awaited(queue + v.DEAD_LETTERS, number))


@when("a dead letter is received and abandoned")
def abandons_dead_letter(bus: Bus, queue: str) -> None:
    """Receive a dead letter and abandon it."""
    _abandon(bus, queue + v.DEAD_LETTERS)


@when(parsers.parse("a dead letter is received and abandoned, {number:d} times"))
def abandons_dead_letter_so_often(bus: Bus, queue: str, number: int) -> None:
    """Receive a dead letter and abandon it, several times."""
    for _ in range(number):
        _abandon(bus, queue + v.DEAD_LETTERS)


@when("a dead letter is received and kept", target_fixture="kept")
def keeps_dead_letter(bus: Bus, queue: str) -> v.MessageView:
    """Receive a dead letter and leave it locked."""
    return _received(bus, queue + v.DEAD_LETTERS)


@when("the dead letter kept is dead-lettered", target_fixture="outcome")
def dead_letters_again(bus: Bus, queue: str, kept: v.MessageView) -> v.Outcome:
    """Try to dead-letter a dead letter."""
    return dead_letter_it(bus, queue + v.DEAD_LETTERS, kept)


@when("dead letters are peeked", target_fixture="peeked")
def peeks_dead_letters(bus: Bus, queue: str) -> tuple[v.MessageView, ...]:
    """Peek at the dead letters."""
    return bus.peeked(v.Peek(queue=queue + v.DEAD_LETTERS, count=PEEKED_AT_ONCE))


@when("a receive of dead letters is tried")
def tries_dead_letters(bus: Bus, queue: str, views: list[v.MessageView]) -> None:
    """Try to receive a dead letter, and remember one that arrives."""
    outcome = bus.do(v.Receive(queue=queue + v.DEAD_LETTERS, mode=v.ReceiveMode.RECEIVE_AND_DELETE))
    if isinstance(outcome, v.Received):
        views.append(outcome.message)


@then(parsers.parse('it is a dead letter because of "{reason}"'))
def tells_why(bus: Bus, views: list[v.MessageView], reason: str) -> None:
    """Check the reason of the first dead letter, which only an adapter for reasons must show."""
    is_shown = v.Capability.DEAD_LETTER_REASONS in bus.capabilities
    assert views, "no dead letter came"
    assert views[0].dead_letter_reason in ((reason,) if is_shown else (None, reason)), views[0]
