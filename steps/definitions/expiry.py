"""Steps for messages with a time to live."""

from collections.abc import Callable

import attrs
from pytest_bdd import given, parsers, then, when

from busproof import vocabulary as v
from busproof.steps.bus import Bus
from busproof.steps.patience import described
from busproof.steps.wording import Properties, properties, seconds

READ: dict[str, Callable[[str], object]] = {"carried": properties}


@given(
    parsers.parse("a message {carried} was sent that lives for {number:d} seconds"),
    converters=READ,
)
def has_sent_mortal(bus: Bus, queue: str, carried: Properties, number: int) -> None:
    """Send one message with a time to live; it must be accepted."""
    message = attrs.evolve(carried.message(bus), time_to_live=seconds(number))
    bus.expect(bus.send(v.Send(queue=queue, message=message)), v.Done)


@given(
    parsers.parse("{number:d} messages {carried} were sent at once that live for {life:d} seconds"),
    converters=READ,
)
def has_sent_mortal_batch(
    bus: Bus, queue: str, number: int, carried: Properties, life: int
) -> None:
    """Send a batch of messages with a time to live; it must be accepted."""
    messages = [carried.message(bus) for _ in range(number)]
    mortal = tuple(attrs.evolve(message, time_to_live=seconds(life)) for message in messages)
    bus.expect(bus.send_batch(v.SendBatch(queue=queue, messages=mortal)), v.Done)


@when(
    parsers.parse(
        "a message {carried} is sent in the transaction that lives for {number:d} seconds"
    ),
    converters=READ,
)
def sends_mortal_in_transaction(
    bus: Bus, queue: str, carried: Properties, number: int, transaction: str
) -> None:
    """Send one message with a time to live in the transaction; it must be accepted."""
    message = attrs.evolve(carried.message(bus), time_to_live=seconds(number))
    bus.expect(bus.send(v.Send(queue=queue, message=message, transaction=transaction)), v.Done)


@given(
    parsers.parse(
        "a message {carried} was scheduled in {number:d} seconds, to live for {life:d} seconds"
    ),
    converters=READ,
)
def has_scheduled_mortal(bus: Bus, queue: str, carried: Properties, number: int, life: int) -> None:
    """Schedule one message with a time to live; it must be accepted."""
    message = attrs.evolve(carried.message(bus), time_to_live=seconds(life))
    command = v.Schedule(queue=queue, message=message, delay=seconds(number))
    bus.expect(bus.do(command), v.Scheduled)
    bus.sent.append(message)


@when(parsers.parse("its time to live is updated to {number:d} seconds"), target_fixture="outcome")
def updates_life(bus: Bus, queue: str, number: int) -> v.Outcome:
    """Try to change the queue's default time to live."""
    return bus.do(v.UpdateQueue(queue=queue, time_to_live=seconds(number)))


@given(parsers.parse("its time to live was updated to {number:d} seconds"))
def has_updated_life(bus: Bus, queue: str, number: int) -> None:
    """Change the queue's default time to live; this must succeed."""
    bus.expect(updates_life(bus, queue, number), v.Done)


@then(parsers.parse("it is described with a time to live of {number:d} seconds"))
def describes_life(bus: Bus, queue: str, number: int) -> None:
    """Check the default time to live in the queue's description."""
    assert described(bus, queue, "time_to_live").time_to_live == seconds(number)


@when("the message kept is deferred", target_fixture="outcome")
def defers_kept(bus: Bus, queue: str, kept: v.MessageView) -> v.Outcome:
    """Try to defer the locked message."""
    return bus.do(v.Defer(queue=queue, lock_token=kept.lock_token or ""))
