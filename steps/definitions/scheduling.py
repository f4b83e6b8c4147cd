"""Steps that schedule messages and cancel them."""

from collections.abc import Callable

from pytest_bdd import given, parsers, then, when

from busproof import vocabulary as v
from busproof.judging.scenario_outcome import NotApplicable
from busproof.steps.bus import Bus
from busproof.steps.definitions.setup import OTHER
from busproof.steps.waiting import waiting
from busproof.steps.wording import Properties, properties, seconds

READ: dict[str, Callable[[str], object]] = {"carried": properties}


def _schedule(
    bus: Bus, queue: str, carried: Properties, number: int, transaction: str | None = None
) -> v.Outcome:
    """Schedule the next message of a kind; an accepted one counts as sent."""
    message = carried.message(bus)
    command = v.Schedule(
        queue=queue, message=message, delay=seconds(number), transaction=transaction
    )
    outcome = bus.do(command)
    if isinstance(outcome, v.Scheduled):
        bus.sent.append(message)
    return outcome


def _number(outcome: v.Outcome) -> int:
    """Return the sequence number of a scheduled message, which is needed to cancel it."""
    assert isinstance(outcome, v.Scheduled), outcome
    if outcome.sequence_number is None:
        raise NotApplicable("sequence numbers: the adapter tells none for what is scheduled")
    return outcome.sequence_number


@given(
    parsers.parse("a message {carried} was scheduled in {number:d} seconds"),
    converters=READ,
    target_fixture="scheduled",
)
def has_scheduled(bus: Bus, queue: str, carried: Properties, number: int) -> v.Outcome:
    """Schedule one message; it must be accepted."""
    outcome = _schedule(bus, queue, carried, number)
    bus.expect(outcome, v.Scheduled)
    return outcome


@given(
    parsers.parse("{several:d} messages {carried} were scheduled in {number:d} seconds"),
    converters=READ,
    target_fixture="all_scheduled",
)
def has_scheduled_several(
    bus: Bus, queue: str, carried: Properties, several: int, number: int
) -> list[v.Outcome]:
    """Schedule this number of messages; each must be accepted."""
    return [has_scheduled(bus, queue, carried, number) for _ in range(several)]


@given(
    parsers.parse("a message {carried} was scheduled for a minute ago"),
    converters=READ,
    target_fixture="scheduled",
)
def has_scheduled_for_the_past(bus: Bus, queue: str, carried: Properties) -> v.Outcome:
    """Schedule one message for a past time; it must be accepted."""
    return has_scheduled(bus, queue, carried, -60)


@when(
    parsers.parse("a message {carried} is scheduled in {number:d} seconds"),
    converters=READ,
    target_fixture="outcome",
)
def schedules(bus: Bus, queue: str, carried: Properties, number: int) -> v.Outcome:
    """Try to schedule one message."""
    return _schedule(bus, queue, carried, number)


@when(
    parsers.parse("a message {carried} is scheduled in the transaction in {number:d} seconds"),
    converters=READ,
    target_fixture="outcome",
)
def schedules_in_transaction(
    bus: Bus, queue: str, carried: Properties, number: int, transaction: str
) -> v.Outcome:
    """Try to schedule one message in the transaction."""
    return _schedule(bus, queue, carried, number, transaction)


@when("the scheduled message is cancelled", target_fixture="outcome")
def cancels(bus: Bus, queue: str, scheduled: v.Outcome) -> v.Outcome:
    """Try to cancel the scheduled message."""
    return bus.do(v.CancelScheduled(queue=queue, sequence_number=_number(scheduled)))


@when("each of them is cancelled")
def cancels_each(bus: Bus, queue: str, all_scheduled: list[v.Outcome]) -> None:
    """Cancel every scheduled message; this must succeed."""
    for outcome in all_scheduled:
        bus.expect(cancels(bus, queue, outcome), v.Done)


@when(parsers.parse("{number:d} message is awaited"))
@when(parsers.parse("{number:d} messages are awaited"))
@waiting
def awaits(bus: Bus, queue: str, number: int, views: list[v.MessageView]) -> None:
    """Receive and complete until this many messages have arrived, or the time is up."""
    views.extend(bus.awaited(queue, number))


@when(parsers.parse('{number:d} messages of session "{session_id}" are awaited'))
@waiting
def awaits_in_session(
    bus: Bus, queue: str, number: int, session_id: str, views: list[v.MessageView]
) -> None:
    """Receive and complete in a session until this many have arrived, or the time is up."""
    views.extend(bus.awaited(queue, number, session_id=session_id))


@when(parsers.parse('a message of session "{session_id}" is awaited over another connection'))
@waiting
def awaits_in_session_elsewhere(
    bus: Bus, queue: str, session_id: str, views: list[v.MessageView]
) -> None:
    """Receive and complete in a session over a second connection until a message has arrived."""
    views.extend(bus.awaited(queue, 1, OTHER, session_id))


@when("a message is awaited and abandoned")
@waiting
def awaits_and_abandons(bus: Bus, queue: str) -> None:
    """Receive a message once it arrives, and abandon it."""
    for _ in bus.tries():
        outcome = bus.receive(queue)
        if isinstance(outcome, v.Received):
            bus.expect(bus.abandon(queue, outcome.message), v.Done)
            return
    raise AssertionError("nothing came")


@then("it comes if it was scheduled, and otherwise never")
@waiting
def comes_if_scheduled(bus: Bus, queue: str, outcome: v.Outcome) -> None:
    """Check that a scheduled message arrives, and that a refused one does not."""
    assert isinstance(outcome, v.Scheduled | v.Refused), outcome
    expected = 1 if isinstance(outcome, v.Scheduled) else 0
    assert len(bus.awaited(queue, expected)) == expected
    assert isinstance(bus.receive(queue), v.Empty)


@then("the scheduled message came last")
def came_last(bus: Bus, views: list[v.MessageView]) -> None:
    """Check that the scheduled message arrived after those sent before it was due."""
    scheduled = bus.sent[0].body
    assert scheduled in [view.body for view in views[-1:]], views


@then("its number is another one now")
def has_another_number(scheduled: v.Outcome, views: list[v.MessageView]) -> None:
    """Check that activation gave the message a new sequence number."""
    assert views, "no message came"
    number = views[0].sequence_number
    assert number is not None, views[0]
    assert number != _number(scheduled), views[0]


@then("it is shown as scheduled")
@then("it is shown as scheduled, if it is shown")
def shown_as_scheduled(peeked: tuple[v.MessageView, ...]) -> None:
    """Check that the peek shows the messages as scheduled, if it reports states."""
    assert all(view.state in (None, v.MessageState.SCHEDULED) for view in peeked), peeked
